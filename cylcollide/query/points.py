"""Which limbs contain each point: from a request to `PointHits`."""

from functools import partial

import numpy as np

from cylcollide import validate
from cylcollide._types import Float64Array
from cylcollide.constants import SMALLEST_BATCH
from cylcollide.query import exact_fallback
from cylcollide.query.hits import PointHits
from cylcollide.query.loops import points as point_loops
from cylcollide.query.loops.inputs import INVALID
from cylcollide.query.loops.points import POINT_DTYPES, PointColumns
from cylcollide.query.request import State
from cylcollide.query.scratch import scratch_for_points
from cylcollide.runtime import memory
from cylcollide.runtime.threads import in_chunks


def contains(state: State, raw: Float64Array, threads: int | None) -> PointHits:
    """Which limbs contain each point; `raw` (n, 3) is not checked yet, and may be the caller's memory."""
    n, tree = len(raw), state.tree
    if n < SMALLEST_BATCH:
        record = np.empty((point_loops.RECORD_ROWS, n))
        points = record[:3].reshape(n, 3)
        columns = PointColumns._make(row.view(kind)[:n] for row, kind in zip(record[3:], POINT_DTYPES, strict=True))
        statuses = [point_loops.locate_single_points.call(state.kernel_rows, tree, raw, record)]
    else:
        points, columns = memory.rows(raw.shape), PointColumns(*memory.columns(n, *POINT_DTYPES))

        def task(begin: int, end: int) -> int:
            scratch = scratch_for_points(tree)
            return point_loops.locate_points.call(state.kernel_rows, tree, raw, points, *scratch, begin, end, columns)

        statuses = in_chunks(n, threads, task)
    if INVALID in statuses:
        validate.vectors(raw, "points")
        validate.raise_changed("points")
    if any(statuses):
        rows = np.flatnonzero(columns.undecided)
        exact_fallback.resolve_points(points, state.table, tree, rows, columns.limb, columns.limb_count)
    return PointHits(
        columns.limb,
        columns.limb_count,
        partial(exact_fallback.axis_distances, points, state.table, state.kernel_rows, columns.limb),
    )
