"""Which limbs contain each point: from points to `PointHits`; what bounds leave open is decided in rationals."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cached_property, partial

import numpy as np

from cylcollide import validate
from cylcollide._types import Float64Array, Int32Array, Int64Array, Side
from cylcollide.constants import SMALLEST_BATCH, TREE_WIDTH
from cylcollide.exact.numbers import squared_distance_from_line
from cylcollide.kernels.limb_table import LimbRows, LimbTable
from cylcollide.query.exact_fallback import exact_limb
from cylcollide.query.loops import points as point_loops
from cylcollide.query.loops.columns import CompressedRows
from cylcollide.query.loops.inputs import INVALID
from cylcollide.query.loops.points import POINT_DTYPES, PointColumns, limbs_near_point
from cylcollide.query.request import LabelledLimbs, State, raise_changed
from cylcollide.query.results import Result
from cylcollide.query.scratch import scratch_for_points
from cylcollide.runtime import memory
from cylcollide.runtime.memory import frozen
from cylcollide.runtime.threads import in_chunks


class PointHits(Result):
    """For each point: the limb that holds it, how many limbs do, and the squared distance from that limb's axis.

    No array can be written. A slice, a mask, an index or an array of indices chooses points.
    """

    _what = "points"

    def __init__(self, limb: Int32Array, count: Int32Array, distances: Callable[[], Float64Array]) -> None:
        self._limb, self._limb_count, self._distances, self._columns = limb, count, distances, {}

    def __len__(self) -> int:
        return len(self.limb)

    def __repr__(self) -> str:
        return f"PointHits({len(self)} points, {np.count_nonzero(self.count)} in a limb)"

    @property
    def limb(self) -> Int32Array:
        """Lowest index of a limb that holds the point, -1 if none does; int32 (n,)."""
        return frozen(self._limb)

    @property
    def count(self) -> Int32Array:
        """How many limbs hold the point; int32 (n,)."""
        return frozen(self._limb_count)

    @cached_property
    def axis_distance_squared(self) -> Float64Array:
        """Squared distance from that limb's axis, -1.0 if none holds the point; (n,)."""
        return frozen(self._distances())

    def _take(self, rows: Int64Array) -> "PointHits":
        return type(self)(self.limb[rows], self.count[rows], partial(self._some_distances, rows))

    def _some_distances(self, rows: Int64Array) -> Float64Array:
        return self.axis_distance_squared[rows]


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
        resolve_points(points, state.table, lambda row: limbs_near_point(points[row], tree), columns)
    return PointHits(
        columns.limb,
        columns.limb_count,
        partial(axis_distances, points, state.table, state.kernel_rows, columns.limb),
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


def contains_listed(limbs: LabelledLimbs, points: Float64Array, lists: CompressedRows) -> PointHits:
    """The limbs of each point's list that contain it."""
    columns = PointColumns(*memory.columns(len(points), *POINT_DTYPES))
    table, (offsets, listed) = limbs.table, lists
    if point_loops.locate_listed(points, limbs.kernel_rows, offsets, listed, columns):
        near, ends = listed.tolist(), offsets.tolist()
        resolve_points(points, table, lambda row: near[ends[row] : ends[row + 1]], columns)
    row, limb = limbs.state_row, columns.limb
    shown = limb if row is None or not len(row) else np.where(limb >= 0, row[limb], -1).astype(np.int32)
    return PointHits(shown, columns.limb_count, partial(axis_distances, points, table, limbs.kernel_rows, limb))


def axis_distances(points: Float64Array, table: LimbTable, rows: LimbRows, limbs: Int32Array) -> Float64Array:
    """Squared distance (n,) of each point (n, 3) from the axis of its limb, -1.0 where that is NO_LIMB."""
    squared = np.empty(len(limbs))
    if point_loops.axis_distances(points, rows, limbs, squared):
        for i in np.flatnonzero(np.isnan(squared)).tolist():
            limb = limbs.item(i)
            base, end = table.p1[limb].tolist(), table.p2[limb].tolist()
            axis = [Fraction(b) - Fraction(a) for a, b in zip(base, end, strict=True)]
            if table.box.item(limb) >= 0:
                axis = [Fraction(x) for x in table.boxes[table.box.item(limb), 6:9].tolist()]
            squared[i] = float(squared_distance_from_line(points[i].tolist(), base, axis))
    return squared


def resolve_point(point: Float64Array, table: LimbTable, limb: int) -> Side:
    """Where one point (3,) lies with respect to one limb."""
    return exact_limb(table, limb).side(tuple(point.tolist()))


def resolve_points(
    points: Float64Array, table: LimbTable, near: Callable[[int], Iterable[int]], columns: PointColumns
) -> None:
    """Write the lowest limb that contains each undecided point, of those `near` its row, and how many do."""
    for i in np.flatnonzero(columns.undecided).tolist():
        containing = [limb for limb in near(i) if resolve_point(points[i], table, limb) != Side.OUTSIDE]
        columns.limb[i], columns.limb_count[i] = min(containing, default=-1), len(containing)
