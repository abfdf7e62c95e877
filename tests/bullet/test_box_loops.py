"""Segments that enter a wrapped box up to their fractions: all are found, and few others."""

import numpy as np
import pytest

import cylcollide as cc
from cylcollide.bullet import passthrough
from cylcollide.bullet.client import BodyLink
from cylcollide.bullet.passthrough import LARGEST, PADDING, Wrapped


@pytest.fixture(params=["one by one", "tree"])
def entering(request, monkeypatch):
    """Which segments enter a padded box (k, 2, 3) up to a fraction: a function that takes all four arrays."""
    monkeypatch.setattr(passthrough, "FEW_PAIRS", 0 if request.param == "tree" else np.inf)

    def found(low, high, starts, ends, until):
        wrapped = Wrapped(None, [BodyLink(k, -1) for k in range(len(low))], np.stack([low, high], axis=1))
        is_found = np.zeros(len(starts), bool)
        is_found[wrapped._entering(np.asarray(starts, float), np.asarray(ends, float), np.asarray(until, float))] = True
        return is_found

    return found


def occluded(low, high, starts, ends, grown=0.0):
    """Whether each segment enters a box grown on every side, exactly."""
    boxes = cc.Limbs.boxes((low + high) / 2.0, [0.0, 0.0, 0.0, 1.0], (high - low) / 2.0 + grown)
    return cc.HitWorld(boxes).occluded_segments(starts, ends)


@pytest.mark.parametrize(("boxes", "scale"), [(1, 1.0), (9, 2.0**30), (40, 1.0)])
def test_finds_entering_and_few_others(entering, boxes, scale):
    """Boxes with integer coordinates, some overlapping, and segments into and out of them, some in planes of faces."""
    rng, n = np.random.default_rng(boxes), 2000
    low = scale * rng.integers(-8, 8, (boxes, 3))
    high = low + scale * rng.integers(1, 4, (boxes, 3))
    starts, ends = scale * rng.integers(-16, 16, (2, n, 3)) / 2.0
    starts[n // 2 :] += 0.3 * scale * rng.normal(size=(n - n // 2, 3))
    for until in (1.0, 0.25):
        found = entering(low + PADDING, high - PADDING, starts, ends, np.full(n, until))
        last = starts + until * (ends - starts)
        enter, near = (occluded(low, high, starts, last, grown * scale) for grown in (0.0, 1e-4))
        assert found[enter].all()
        assert near[found].all()
        assert 5 < enter.sum() < n - 5


def test_each_segment_up_to_its_own_fraction(entering):
    starts, until = np.full((6, 3), [-1.0, 0.5, 0.5]), [np.inf, 1.0, 0.26, 0.24, 0.0, -0.5]
    low, high = np.full((1, 3), PADDING), np.full((1, 3), 1.0 - PADDING)
    assert entering(low, high, starts, starts + np.array([4.0, 0.0, 0.0]), until).tolist() == [True] * 3 + [False] * 3


def test_segments_without_length(entering):
    low, high = np.full((2, 3), [[-1.0], [3.0]]), np.full((2, 3), [[1.0], [4.0]])
    assert entering(low, high, [[0.0] * 3, [2.0] * 3], [[0.0] * 3, [2.0] * 3], np.ones(2)).tolist() == [True, False]


def test_a_side_without_a_bound(entering):
    low, high = np.zeros((1, 3)), np.array([[1.0, 1.0, 1e30]])
    starts, ends = [[0.5, 0.5, 9.0 * LARGEST], [0.5, 9.0, 5.0]], [[0.5, 0.5, 0.5 * LARGEST], [0.5, 8.0, 5.0]]
    assert entering(low, high, starts, ends, np.ones(2))[0], "even if a tree cannot tell the other segment's distance"


def test_no_boxes(entering):
    assert not entering(np.empty((0, 3)), np.empty((0, 3)), np.zeros((3, 3)), np.ones((3, 3)), np.ones(3)).any()
