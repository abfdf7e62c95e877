"""Which limbs contain each point: from a request to `PointHits`."""

from functools import partial

import numpy as np

from cylcollide import validate
from cylcollide._types import Float64Array
from cylcollide.constants import SMALLEST_BATCH, TREE_WIDTH
from cylcollide.query import exact_points
from cylcollide.query.loops import points as point_loops
from cylcollide.query.loops.inputs import INVALID
from cylcollide.query.loops.points import POINT_DTYPES, PointColumns, limbs_near_point
from cylcollide.query.point_hits import PointHits
from cylcollide.query.request import State, raise_changed
from cylcollide.query.scratch import scratch_for_points
from cylcollide.runtime import memory
from cylcollide.runtime.threads import in_chunks


def contains(state: State, raw: Float64Array, threads: int | None) -> PointHits:
    """Which limbs contain each point; `raw` (n, 3) is not checked yet, and may be the caller's memory."""
    n, tree = len(raw), state.tree
    if n < SMALLEST_BATCH:
        points, columns, status = locate_single(state, raw)
        statuses = [status]
    else:
        points, columns = memory.rows(raw.shape), PointColumns(*memory.columns(n, *POINT_DTYPES))

        def task(begin: int, end: int) -> int:
            scratch = scratch_for_points(tree)
            return point_loops.locate_points(state.kernel_rows, tree, raw, points, *scratch, begin, end, columns)

        statuses = in_chunks(n, threads, task)
    if INVALID in statuses:
        validate.vectors(raw, "points")
        raise_changed("points")
    if any(statuses):
        exact_points.resolve_points(points, state.table, lambda row: limbs_near_point(points[row], tree), columns)
    return PointHits(
        columns.limb,
        columns.limb_count,
        partial(exact_points.axis_distances, points, state.table, state.kernel_rows, columns.limb),
    )


def locate_single(state: State, raw: Float64Array) -> tuple[Float64Array, PointColumns, int]:
    """Points located one after another by `locate_single_points`.

    Returns their copies, what was found, and how many are undecided, or INVALID.
    """
    n, tree = len(raw), state.tree
    memory = np.empty(3 * n + tree.stack_size + TREE_WIDTH)
    columns = PointColumns(*[np.empty(n, kind) for kind in POINT_DTYPES])
    status = point_loops.locate_single_points(*state.packed, raw, memory, columns)
    return memory[: 3 * n].reshape(n, 3), columns, status
