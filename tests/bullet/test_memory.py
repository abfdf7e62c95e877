"""Calls leak no memory."""

import gc
import resource
import sys

import numpy as np
import pybullet as p
import pytest
import support.pybullet_scenes as scenes

from cylcollide.bullet import Mirror


@pytest.fixture
def mirror():
    with scenes.client() as c:
        scenes.geometry(c, np.random.default_rng(1))
        p.loadURDF("duck_vhacd.urdf", physicsClientId=c)
        yield Mirror(c, mesh="wrap", follow=False)


def resident():
    """Peak resident memory of the process, in megabytes."""
    unit = 1024.0 if sys.platform == "linux" else 1024.0**2
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def leak(call, warm, count):
    """Growth of the process in megabytes over `count` calls, after `warm` calls that fill pools and caches."""
    for _ in range(warm):
        call()
    gc.collect()
    before = resident()
    for _ in range(count):
        call()
    return resident() - before


@pytest.mark.parametrize("count", [3000, pytest.param(10**6, marks=[pytest.mark.long, pytest.mark.timeout(1800)])])
def test_single_rays_do_not_leak(mirror, count):
    # 3,000 calls that each leak one tuple of their result would be 1 MB, a million 300 MB
    assert leak(lambda: mirror.rayTest([0.0, 0.1, 3.0], [0.0, 0.1, -3.0]), 500, count) < (1.0 if count < 10**4 else 8.0)


@pytest.mark.parametrize("count", [3, pytest.param(1000, marks=[pytest.mark.long, pytest.mark.timeout(1800)])])
def test_batches_of_100_000_do_not_leak(mirror, count):
    starts, ends = scenes.rays(np.random.default_rng(2), 100_000, 1.5)
    assert sum(answer[0] >= 0 for answer in mirror.rayTestBatch(starts, ends)) > 1000
    # one batch is 100,000 results of 8 bytes, and tuples for the hits
    assert leak(lambda: mirror.rayTestBatch(starts, ends), 3, count) < 30.0
