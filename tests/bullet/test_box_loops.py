"""Segments that enter a box up to their fractions: all are found, and few others; compared with exact arithmetic."""

import numpy as np
import pytest

import cylcollide as cc
from cylcollide.bullet.box_loops import entering_rows
from cylcollide.bvh.build import build
from cylcollide.constants import TREE_WIDTH


def entering(low, high, starts, ends, until):
    """Whether the loop finds each segment."""
    tree, rows = build(low, high), np.empty(len(starts), np.int64)
    count = entering_rows(tree, starts, ends, until, np.empty(tree.stack_size + TREE_WIDTH), rows)
    found = np.zeros(len(starts), bool)
    found[rows[:count]] = True
    assert found.sum() == count
    return found


def occluded(low, high, starts, ends, grown=0.0):
    """Whether each segment enters a box grown on every side, exactly."""
    boxes = cc.Limbs.boxes((low + high) / 2.0, [0.0, 0.0, 0.0, 1.0], (high - low) / 2.0 + grown)
    return cc.HitWorld(boxes).occluded_segments(starts, ends)


def scene(rng, boxes, n):
    """Boxes with integer coordinates, some overlapping, and segments into and out of them, some in planes of faces."""
    low = rng.integers(-8, 8, (boxes, 3)).astype(float)
    starts, ends = rng.integers(-16, 16, (2, n, 3)) / 2.0
    starts[n // 2 :] += 0.3 * rng.normal(size=(n - n // 2, 3))
    return low, low + rng.integers(1, 4, (boxes, 3)), starts, ends


@pytest.mark.parametrize("boxes", [1, 3, 9, 40])
@pytest.mark.parametrize("scale", [2.0**-30, 1.0, 2.0**40])
def test_finds_entering_and_few_others(boxes, scale):
    low, high, starts, ends = (scale * x for x in scene(np.random.default_rng(boxes), boxes, 3000))
    for until in (1.0, 0.25):
        found = entering(low, high, starts, ends, np.full(3000, until))
        last = starts + until * (ends - starts)
        enter, near = (occluded(low, high, starts, last, grown * scale) for grown in (0.0, 1e-4))
        assert found[enter].all()
        assert near[found].all()
        assert 20 < enter.sum() < 2980


def test_each_segment_up_to_its_own_fraction():
    low, high = np.zeros((1, 3)), np.ones((1, 3))
    starts = np.tile([[-1.0, 0.5, 0.5]], (6, 1))
    ends = starts + np.array([4.0, 0.0, 0.0])
    until = np.array([np.inf, 1.0, 0.26, 0.24, 0.0, -0.5])
    assert entering(low, high, starts, ends, until).tolist() == [True] * 3 + [False] * 3


def test_segments_without_length_and_beyond_float64():
    low, high = np.full((2, 3), [[-1.0], [3.0]]), np.full((2, 3), [[1.0], [4.0]])
    starts = np.array([[0.0, 0.0, 0.0], [2.0, 2.0, 2.0], [1e140, 0.0, 0.0], [1e12, 0.0, 0.0]])
    ends = np.array([[0.0, 0.0, 0.0], [2.0, 2.0, 2.0], [1e150, 0.0, 0.0], [0.0, 100.0, 0.0]])
    found = entering(low, high, starts, ends, np.ones(4)).tolist()
    assert found == [True, False, True, True], "what is too far away to tell is taken for one that enters"


def test_no_boxes():
    low = np.empty((0, 3))
    assert not entering(low, low, np.zeros((3, 3)), np.ones((3, 3)), np.ones(3)).any()
