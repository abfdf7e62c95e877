"""Which limbs contain each point: from a request to `PointHits`."""

from functools import partial

import numpy as np

from cylcollide import validate
from cylcollide._types import Float64Array, Int32Array
from cylcollide.constants import SMALLEST_BATCH
from cylcollide.kernels.limb_table import LimbRows
from cylcollide.query import exact_fallback, scratch
from cylcollide.query.hits import PointHits
from cylcollide.query.loops import points as point_loops
from cylcollide.query.loops.points import Held
from cylcollide.query.request import State
from cylcollide.runtime import memory
from cylcollide.runtime.threads import in_chunks


def containing(state: State, given: Float64Array, threads: int | None) -> PointHits:
    """Which limb holds each point; the points are still to be checked, and may be the caller's own."""
    n, tree = len(given), state.tree
    if n < SMALLEST_BATCH:
        room = np.empty((point_loops.FEW_COLUMNS, n))
        points, kinds = room[:3].reshape(n, 3), (np.int32, np.int32, np.bool_)
        held = Held._make(row.view(kind)[:n] for row, kind in zip(room[3:], kinds, strict=True))
        unsure = [point_loops.locate_few.call(state.seen, tree, given, room)]
    else:
        points, (limb, holders, doubtful) = memory.rows(given.shape), memory.columns(n, *point_loops.KINDS)
        held = Held(limb, holders, doubtful)

        def task(begin: int, end: int) -> int:
            return point_loops.locate_many.call(state.seen, tree, given, points, *scratch.room(tree), begin, end, held)

        unsure = in_chunks(n, threads, task)
    if min(unsure) < 0:
        validate.vectors(given, "points")
        raise ValueError(
            "points: expected numbers that stay while a query reads them, got some that changed from bad to good; "
            "pass copies"
        )
    if any(unsure):
        rows = np.flatnonzero(held.unsure)
        exact_fallback.settle_points(points, state.table, tree, rows, held.limb, held.holders)
    return PointHits(held.limb, held.holders, partial(_axis_distances, points, state.seen, held.limb))


def _axis_distances(points: Float64Array, limbs: LimbRows, limb: Int32Array) -> Float64Array:
    """Squared distance of each point from the axis of its limb."""
    squared = np.empty(len(limb))
    point_loops.axis_distances(points, limbs, limb, squared)
    return squared
