"""Which limbs contain each point: from points to `PointHits`. Exact arithmetic decides what bounds do not."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import ClassVar

import numpy as np

from cylcollide import validate
from cylcollide._types import NO_LIMB, Float64Array, Int8Array, Int32Array, Int64Array, Side
from cylcollide.bvh.traverse import STACK_ENTRY_SIZE
from cylcollide.constants import SMALLEST_BATCH
from cylcollide.exact.numbers import squared_distance_from_line
from cylcollide.kernels.limb_table import LimbRows, LimbTable
from cylcollide.process.threads import in_chunks
from cylcollide.query.exact_fallback import exact_limb
from cylcollide.query.loops import points as point_loops
from cylcollide.query.loops.columns import CompressedRows, columns_of, ray_of_each
from cylcollide.query.loops.inputs import INVALID, PointFilters
from cylcollide.query.loops.places import empty_places, write_places
from cylcollide.query.loops.points import PointColumns
from cylcollide.query.near_requests import NearRequest
from cylcollide.query.nearest import candidates_of
from cylcollide.query.request import ANY_LIMB, PointRequest, State, raise_changed
from cylcollide.query.result import Computed, TimedResult
from cylcollide.query.scratch import scratch_for_points, scratch_for_surface
from cylcollide.runtime import memory
from cylcollide.runtime.compile import pack
from cylcollide.runtime.memory import frozen


class PointHits(TimedResult):
    """For each point: the limb that holds it, how many do, and the squared distance from its axis.

    No array can be written. A slice, a mask, an index or an array of indices chooses points.
    """

    _what = "points"
    fields: ClassVar[tuple[str, ...]] = ("limb", "count", "axis_distance_squared")

    def __init__(self, limb: Int32Array, count: Int32Array, distances: Callable[[], Float64Array]) -> None:
        self._limb, self._limb_count, self._distances, self._columns = limb, count, distances, {}

    def __len__(self) -> int:
        return len(self.limb)

    def _summary(self) -> str:
        return f"PointHits({len(self)} points, {np.count_nonzero(self.count)} in a limb)"

    @property
    def limb(self) -> Int32Array:
        """Lowest index of a limb that holds the point, -1 if none does; int32 (n,)."""
        return frozen(self._limb)

    @property
    def count(self) -> Int32Array:
        """How many limbs hold the point; int32 (n,)."""
        return frozen(self._limb_count)

    @Computed
    def axis_distance_squared(self) -> Float64Array:
        """Squared distance from that limb's axis, -1.0 if none holds the point; (n,)."""
        return frozen(self._distances())

    def _take(self, rows: Int64Array) -> PointHits:
        return type(self)(self.limb[rows], self.count[rows], partial(self._some_distances, rows))

    def _some_distances(self, rows: Int64Array) -> Float64Array:
        return self.axis_distance_squared[rows]


def contains(state: State, request: PointRequest) -> PointHits:
    """Which limbs contain each point."""
    (raw, filters, threads), tree = request, state._tree
    n = len(raw)
    if n < SMALLEST_BATCH:
        points, columns, status = locate_single(state, raw, filters)
        statuses = [status]
    else:
        points, columns = memory.rows(raw.shape), columns_of(PointColumns, n)

        def task(begin: int, end: int) -> int:
            buffers = points, *scratch_for_points(tree)
            return point_loops.locate_points(state._kernel_rows, tree, raw, filters, *buffers, begin, end, columns)

        statuses = in_chunks(n, threads, task)
    if INVALID in statuses:
        validate.vectors(raw, "points")
        raise_changed("points")
    if any(statuses):
        rows = np.flatnonzero(columns.undecided)
        near = NearRequest(points, ON_LIMB, filters, threads).rows(rows, ON_LIMB)
        offsets, codes = candidates_of(state, near, 0, len(rows))
        resolve_points(points, rows, state._table, (offsets, codes >> 1), columns)
    return PointHits(
        columns.limb,
        columns.limb_count,
        partial(axis_distances, points, state._table, state._kernel_rows, columns.limb),
    )


ON_LIMB = np.zeros(1)
"""The reach within which the limbs that contain a point are."""
INT32, BOOL = np.dtype(np.int32), np.dtype(np.bool_)
PACKED_ANY_LIMB = pack(ANY_LIMB)
INSIDE, SURFACE, OUTSIDE = int(Side.INSIDE), int(Side.SURFACE), int(Side.OUTSIDE)


def locate_single(state: State, raw: Float64Array, filters: PointFilters) -> tuple[Float64Array, PointColumns, int]:
    """Locate points one after another by `locate_single_points`.

    Returns copies of the points, the columns, and how many rows are undecided, or INVALID.
    """
    n, tree = len(raw), state._tree
    memory = np.empty((n + STACK_ENTRY_SIZE * tree.stack_size // 3 + 1, 3))
    columns = PointColumns(np.empty(n, INT32), np.empty(n, INT32), np.empty(n, BOOL))  # twice as fast as a loop
    considered = PACKED_ANY_LIMB if filters is ANY_LIMB else filters
    status = point_loops.locate_single_points(*state._packed, raw, considered, memory, columns)
    return memory[:n], columns, status


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


def resolve_points(
    points: Float64Array, rows: Int64Array, table: LimbTable, lists: CompressedRows, columns: PointColumns
) -> None:
    """Write the lowest limb that contains each of these rows, of those on its list, ascending, and how many do."""
    row, limb = rows[ray_of_each(lists[0])], lists[1]
    held = np.flatnonzero(sides(points[row], table, limb) != OUTSIDE)
    row, limb = row[held], limb[held]
    columns.limb[rows], columns.limb_count[rows] = NO_LIMB, 0
    columns.limb[row[::-1]] = limb[::-1]  # the lowest is written last
    np.add.at(columns.limb_count, row, 1)


def sides(points: Float64Array, table: LimbTable, limb: Int32Array) -> Int8Array:
    """On which `Side` of limb `limb[i]` point i is: by its nearest place in double-double, or exactly; int8 (n,)."""
    places, uncertain = empty_places(len(limb)), np.empty(len(limb), bool)
    write_places(points, table.kernel_rows, limb, scratch_for_surface()[0], places, uncertain)
    is_off, is_outside = places.distance != 0.0, places.distance > 0.0
    side = np.where(is_outside, OUTSIDE, np.where(is_off, INSIDE, SURFACE)).astype(np.int8)
    for i in np.flatnonzero(uncertain).tolist():
        side[i] = exact_limb(table, limb.item(i)).side(tuple(points[i].tolist()))
    return side
