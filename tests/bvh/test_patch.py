"""Removal and insertion of items: every item is in one slot, and every box contains the boxes below it."""

import numpy as np
import pytest

from cylcollide.bvh.build import build
from cylcollide.bvh.layout import EMPTY, HIGH, Tree, TreeFrame
from cylcollide.bvh.patch import patched
from cylcollide.bvh.refit import fit_bounds, refit, refit_some, slots, tree_cost, with_corners
from cylcollide.constants import TREE_WIDTH

pytestmark = pytest.mark.plain_python


def random_boxes(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Low and high corners (n, 3) of boxes in groups of 17, like the limbs of characters."""
    groups = rng.uniform(-30.0, 30.0, (-(-n // 17), 1, 3)) + rng.normal(size=(-(-n // 17), 17, 3))
    low = groups.reshape(-1, 3)[:n]
    return low, low + rng.uniform(0.01, 0.5, (n, 3))


def writable(tree: Tree) -> Tree:
    """The tree with bounds of its own."""
    return tree._replace(bounds=tree.bounds.copy())


def refitted(tree: Tree, low: np.ndarray, high: np.ndarray) -> Tree:
    """A tree with the same nodes around these boxes."""
    return refit(writable(tree), low, high)


def without(tree: Tree, number: np.ndarray, items: int) -> Tree:
    """The tree of `items` items, renumbered; items of number -1 are removed."""
    return patched(tree, number, np.empty(0, np.int32), np.empty((0, 3)), np.empty((0, 3)), items)


def check_structure(tree: Tree, items: int) -> None:
    """Every item has one slot; every node but the root has one slot of an earlier node, and 2 children or more."""
    codes = tree.child[tree.child != EMPTY]
    assert sorted((-2 - codes[codes < 0]).tolist()) == list(range(items))
    assert tree.items == items
    assert sorted(codes[codes >= 0].tolist()) == list(range(1, len(tree.child)))
    node, _ = np.nonzero(tree.child >= 0)
    assert (tree.child[tree.child >= 0] > node).all()
    children = np.count_nonzero(tree.child != EMPTY, axis=1)
    assert (children[1:] >= 2).all()
    depth = np.ones(len(tree.child), int)
    for parent, code in zip(node, tree.child[tree.child >= 0], strict=True):
        depth[code] = depth[parent] + 1
    assert tree.stack_size == depth.max() * (TREE_WIDTH - 1) + 2


def check_frame(frame: TreeFrame, low: np.ndarray, high: np.ndarray) -> None:
    """The frame's corners are outside of all boxes."""
    assert (np.array(frame.low) < ((low - frame.centre) * frame.scale).min(axis=0)).all()
    assert (np.array(frame.high) > ((high - frame.centre) * frame.scale).max(axis=0)).all()


def check_boxes(tree: Tree, low: np.ndarray, high: np.ndarray) -> None:
    """Every slot's box contains its items' boxes; an empty slot's box intersects nothing."""
    frame = tree.frame
    inside = {}
    for node in range(len(tree.child) - 1, -1, -1):
        below = []
        for slot, code in enumerate(tree.child[node].tolist()):
            box = tree.bounds[node, :, slot]
            if code == EMPTY:
                assert (box[:HIGH] > box[HIGH:]).all()
                continue
            items = inside[code] if code >= 0 else [-2 - code]
            first = (low[items].min(axis=0) - frame.centre) * frame.scale
            last = (high[items].max(axis=0) - frame.centre) * frame.scale
            assert (box[:HIGH] < first).all()
            assert (box[HIGH:] > last).all()
            below += items
        inside[node] = below


@pytest.mark.parametrize("n", [1, 2, 7, 40, 400])
def test_removal(n: int):
    rng = np.random.default_rng(n)
    low, high = random_boxes(rng, n)
    tree = build(low, high)
    for share in (0.0, 0.2, 0.9, 1.0):
        kept = np.flatnonzero(rng.random(n) >= share)
        number = np.full(n, -1, np.int32)
        number[kept] = rng.permutation(len(kept))
        part = without(tree, number, len(kept))
        check_structure(part, len(kept))
        order = np.argsort(number[kept])
        check_boxes(part, low[kept][order], high[kept][order])


@pytest.mark.parametrize(
    ("before", "added"), [(0, 1), (0, 60), (1, 1), (3, 17), (17, 17), (500, 17), (500, 200), (40, 400)]
)
def test_insertion(before: int, added: int):
    rng = np.random.default_rng(before + added)
    low, high = random_boxes(rng, before + added)
    number = rng.permutation(before + added).astype(np.int32)
    old, new = number[:before], number[before:]
    tree = without(build(low[:before], high[:before]), np.arange(before, dtype=np.int32), before)
    moved = patched(tree, old, new, low[before:], high[before:], before + added)
    order = np.argsort(number)
    check_structure(moved, before + added)
    check_boxes(moved, low[order], high[order])


def test_boxes_after_a_removal_are_as_tight_as_built_ones():
    rng = np.random.default_rng(3)
    low, high = random_boxes(rng, 400)
    kept = np.sort(rng.choice(400, 350, replace=False))
    number = np.full(400, -1, np.int32)
    number[kept] = np.arange(350)
    part = without(build(low, high), number, 350)
    fit_bounds(part.child, low[kept], high[kept], part.frame, wanted := np.empty_like(part.bounds))
    assert np.array_equal(part.bounds, wanted)


def test_frame_corners_hold_all_boxes_unless_one_leaves_the_frame():
    low, high = random_boxes(np.random.default_rng(4), 60)
    tree, new = build(low, high), np.array([60], np.int32)
    for beyond, is_known in ((0.0, True), (200.0, False)):
        low, high = np.vstack([low[:60], low[7] + beyond]), np.vstack([high[:60], high[7] + beyond])
        more = patched(tree, None, new, low[60:], high[60:], 61)
        frame = with_corners(more.frame, more.bounds)
        assert (frame is not None) == is_known
        if frame is not None:
            check_frame(frame, low, high)


@pytest.mark.machine_code
def test_long_series_of_patches():
    rng = np.random.default_rng(5)
    low, high = random_boxes(rng, 170)
    tree = build(low, high)
    worst = 0.0
    for k in range(60):
        gone = rng.integers(0, max(len(low) // 17, 1)) * 17
        number = np.full(len(low), -1, np.int32)
        rows = np.r_[: min(gone, len(low)), min(gone + 17, len(low)) : len(low)]
        number[rows] = np.arange(len(rows))
        low, high = low[rows], high[rows]
        more_low, more_high = random_boxes(rng, 17 * rng.integers(0, 3))
        new = np.arange(len(low), len(low) + len(more_low), dtype=np.int32)
        low, high = np.vstack([low, more_low]), np.vstack([high, more_high])
        tree = patched(tree, number, new, more_low, more_high, len(low))
        if k % 4 == 0:
            check_boxes(tree, low, high)
        frame = with_corners(tree.frame, tree.bounds)
        tree = refitted(tree, low, high) if frame is None or rng.random() < 0.2 else tree._replace(frame=frame)
        if k % 4 == 0:
            check_structure(tree, len(low))
            check_boxes(tree, low, high)
        if len(low):
            fresh = build(low, high)
            cost = [tree_cost(one.bounds, one.frame.scale) for one in (tree, fresh)]
            worst = max(worst, cost[0] / cost[1])
            assert len(tree.child) <= 3 * len(fresh.child) + 1
    assert 1.0 < worst < 2.5, worst


@pytest.mark.parametrize("n", [1, 9, 300])
def test_partial_refit_equals_full_refit(n: int):
    rng = np.random.default_rng(n)
    low, high = random_boxes(rng, n)
    tree = writable(build(low, high))
    at = slots(tree)
    for _ in range(20):
        moved = rng.choice(n, rng.integers(1, n + 1), replace=False).astype(np.int32)
        low[moved] += (step := rng.normal(scale=0.01, size=(len(moved), 3)))
        high[moved] += step
        frame = refit_some(tree, at, moved, low[moved], high[moved])
        if frame is None:
            tree = refitted(tree, low, high)
            continue
        tree = tree._replace(frame=frame)
        want = refitted(tree, low, high)
        check_boxes(tree, low, high)
        same_frame = want.frame.centre == frame.centre and want.frame.scale == frame.scale
        assert not same_frame or np.array_equal(want.bounds, tree.bounds)
        check_frame(frame, low, high)


@pytest.mark.parametrize(
    ("rows", "change"),
    [([4], lambda corners: corners + 1e3), (range(30), lambda corners: corners * 1e-3)],
    ids=["one leaves it", "all shrink"],
)
def test_boxes_that_do_not_fit_the_frame_need_another(rows, change):
    low, high = random_boxes(np.random.default_rng(1), 30)
    tree, moved = writable(build(low, high)), np.array(rows, np.int32)
    assert refit_some(tree, slots(tree), moved, change(low[moved]), change(high[moved])) is None
