"""After calls, also interrupted ones, no memory is leaked, and garbage collection is as before."""

import gc
import resource
import signal
import sys
import time

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
    assert leak(lambda: mirror.rayTestBatch(starts, ends), 5, count) < 30.0


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_collection_is_as_it_was(mirror, enabled):
    rays = scenes.rays(np.random.default_rng(3), 20_000, 1.5)
    was = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        assert sum(answer[0] >= 0 for answer in mirror.rayTestBatch(*rays)) > 5000
        assert gc.isenabled() == enabled
        with pytest.raises(ValueError, match="rayToPositions"):
            mirror.rayTestBatch(rays[0], [[np.nan] * 3] * 20_000)
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if was else gc.disable)()


class Stop(BaseException):
    """Raised by the signal handler."""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="signals")
@pytest.mark.parametrize("count", [30, pytest.param(1000, marks=pytest.mark.long)])
def test_garbage_collection_is_as_it_was_after_an_interrupt(mirror, count):
    rays = scenes.rays(np.random.default_rng(3), 20_000, 1.5)
    rng = np.random.default_rng(4)

    def stop(*_):
        raise Stop

    callbacks = gc.callbacks[:]  # hypothesis': an exception raised in one is lost
    gc.callbacks.clear()
    before, disabled, interrupted, length = signal.signal(signal.SIGALRM, stop), 0, 0, 1.0
    try:
        for _ in range(100 * count):
            begun = time.perf_counter()
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(0.05, 1.2) * length)
                mirror.rayTestBatch(*rays)
                signal.setitimer(signal.ITIMER_REAL, 0)
                length = time.perf_counter() - begun  # under the machine's present load
            except Stop:
                interrupted += 1
            disabled += not gc.isenabled()
            if interrupted == count:
                break
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.callbacks.extend(callbacks)
    assert interrupted == count
    assert disabled == 0
