"""Loops over single rays and points keep their stack in memory of the caller, and write only there."""

import numpy as np
import pytest

import cylcollide as cc
from cylcollide import validate
from cylcollide.constants import TREE_WIDTH
from cylcollide.query.loops.columns import HIT_ROWS, hits_in
from cylcollide.query.loops.inputs import COPY_ROWS, PointFilters
from cylcollide.query.loops.points import PointColumns, locate_single_points
from cylcollide.query.loops.single import cast_single_rays

CANARY, AROUND, NESTED = 7.25e77, 40, 700
"""The guard value, the number of guards on each side, and the number of nested spheres."""


@pytest.fixture(scope="module")
def state() -> cc.Snapshot:
    """A snapshot of nested spheres: near their centre every box of the tree is entered, and the stack fills up."""
    return cc.HitWorld(cc.Limbs.spheres(np.zeros((NESTED, 3)), 1.0 + np.arange(NESTED))).snapshot()


def guarded(rows: int, state: cc.Snapshot) -> tuple[np.ndarray, np.ndarray]:
    """Memory of `rows` numbers and the smallest stack, and the whole array with canaries around it."""
    size = rows + state._tree.stack_size + TREE_WIDTH // 2
    every = np.full(AROUND + size + AROUND, CANARY)
    return every[AROUND : AROUND + size], every


def check_canaries(every: np.ndarray, rows: int, entries: int) -> None:
    """Assert that the canaries are unchanged, and that the stack held at least `entries` entries."""
    assert (every[:AROUND] == CANARY).all()
    assert (every[-AROUND:] == CANARY).all()
    assert (every[AROUND + rows : -AROUND].view(np.int32) != np.array([CANARY]).view(np.int32)[0]).sum() >= entries


@pytest.mark.parametrize("n", [1, 3, 50])
def test_rays(state: cc.Snapshot, n: int):
    memory, every = guarded((HIT_ROWS + COPY_ROWS) * n, state)
    starts, ends = np.tile([2000.0, 0.25, 0.0], (n, 1)), np.tile([-2000.0, 0.25, 0.0], (n, 1))
    ends[:, 2] = np.linspace(0.0, 900.0, n)
    options = (True, validate.NO_LIMIT, validate.EVERY_LAYER, validate.IGNORE_NONE, 0)
    status = cast_single_rays(state._kernel_rows, state._tree, starts, ends, options, validate.NO_RADIUS, memory)
    assert status == 0
    assert (hits_in(memory, n).limb == NESTED - 1).all()
    check_canaries(every, HIT_ROWS * n, TREE_WIDTH)
    assert (memory[-COPY_ROWS * n :].reshape(2, n, 3) == (starts, ends)).all()  # the stack ends before the copies


@pytest.mark.parametrize("n", [1, 3, 50])
def test_points(state: cc.Snapshot, n: int):
    memory, every = guarded(3 * n, state)
    rows = -(-len(memory) // 3)
    memory = every[AROUND : AROUND + 3 * rows].reshape(rows, 3)  # the last row may reach into the canaries
    points = np.zeros((n, 3))
    points[:, 0] = np.arange(n) + 0.5
    filters = PointFilters(validate.EVERY_LAYER, validate.IGNORE_NONE)
    columns = PointColumns(np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, bool))
    assert locate_single_points(state._kernel_rows, state._tree, points, filters, memory, columns) == 0
    assert columns.limb.tolist() == list(range(n))
    assert columns.limb_count.tolist() == [NESTED - k for k in range(n)]
    check_canaries(every, 3 * n, 2 * TREE_WIDTH)
