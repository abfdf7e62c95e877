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
from cylcollide.query.loops.points import PointColumns
from cylcollide.query.request import State
from cylcollide.runtime import memory
from cylcollide.runtime.threads import in_chunks


def contains(state: State, raw: Float64Array, threads: int | None) -> PointHits:
    """Which limb holds each point; the points are still to be checked, and may be the caller's own."""
    n, tree = len(raw), state.tree
    if n < SMALLEST_BATCH:
        room = np.empty((point_loops.SINGLE_ROWS, n))
        points, kinds = room[:3].reshape(n, 3), (np.int32, np.int32, np.bool_)
        held = PointColumns._make(row.view(kind)[:n] for row, kind in zip(room[3:], kinds, strict=True))
        counts = [point_loops.locate_single_points.call(state.kernel_rows, tree, raw, room)]
    else:
        points, (limb, limb_count, undecided) = memory.rows(raw.shape), memory.columns(n, *point_loops.POINT_DTYPES)
        held = PointColumns(limb, limb_count, undecided)

        def task(begin: int, end: int) -> int:
            return point_loops.locate_points.call(
                state.kernel_rows, tree, raw, points, *scratch.scratch_for_points(tree), begin, end, held
            )

        counts = in_chunks(n, threads, task)
    if min(counts) < 0:
        validate.vectors(raw, "points")
        raise ValueError(
            "points: expected numbers that stay while a query reads them, got some that changed from bad to good; "
            "pass copies"
        )
    if any(counts):
        rows = np.flatnonzero(held.undecided)
        exact_fallback.resolve_points(points, state.table, tree, rows, held.limb, held.limb_count)
    return PointHits(held.limb, held.limb_count, partial(_axis_distances, points, state.kernel_rows, held.limb))


def _axis_distances(points: Float64Array, limbs: LimbRows, limb: Int32Array) -> Float64Array:
    """Squared distance of each point from the axis of its limb."""
    squared = np.empty(len(limb))
    point_loops.axis_distances(points, limbs, limb, squared)
    return squared
