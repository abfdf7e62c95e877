"""The limb nearest to each point, and all limbs within a radius: results and searches.

Float64 bounds find the limbs, double-doubles the nearest places on them. Exact arithmetic decides what bounds do not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import NO_LIMB, BoolArray, Float64Array, Int8Array, Int32Array, Int64Array
from cylcollide.bvh.traverse import make_stack
from cylcollide.exact.nearest import is_within, nearest, nearest_solid
from cylcollide.exact.solid import LimbSolid
from cylcollide.kernels.at_surface import INSIDE, UNKNOWN
from cylcollide.kernels.limb_table import LimbRows, LimbTable
from cylcollide.process.files import Columns
from cylcollide.process.threads import in_chunks
from cylcollide.query.contenders import contenders
from cylcollide.query.exact_fallback import exact_limb
from cylcollide.query.loops.columns import INT32, CompressedRows, chords_of_rays, find_rows, offsets_of, ray_of_each
from cylcollide.query.loops.nearest import find_nearest, missed_nearest
from cylcollide.query.loops.places import PlaceColumns, empty_places, write_places, write_sides
from cylcollide.query.loops.within import find_within
from cylcollide.query.near_requests import NearRequest
from cylcollide.query.record import Record
from cylcollide.query.request import LabelledLimbs, State
from cylcollide.query.result import Computed, Field
from cylcollide.query.results import HitFields, LimbFields, Surface
from cylcollide.query.scratch import scratch_for_near_points, scratch_for_surface
from cylcollide.runtime import memory
from cylcollide.runtime.memory import frozen
from cylcollide.runtime.simd import LANES

# Results ------------------------------------------------------------------------------------------------------------


def places_of(points: Float64Array, limbs: LabelledLimbs, row: Int32Array) -> PlaceColumns:
    """The nearest place to each point on its limb; a limb of -1 is a miss."""
    return places_on(points, limbs._kernel_rows, row, lambda limb: exact_limb(limbs._table, limb))


def places_on(points: Float64Array, rows: LimbRows, row: Int32Array, solid: Callable[[int], LimbSolid]) -> PlaceColumns:
    """`places_of` limbs given as kernel rows; `solid` makes the exact solid of a limb where it is needed."""
    places, uncertain = empty_places(len(row)), np.empty(len(row), bool)
    if write_places(points, rows, row, scratch_for_surface()[0], places, uncertain):
        for i in np.flatnonzero(uncertain).tolist():
            found = nearest(solid(row.item(i)), tuple(points[i].tolist()))
            places.distance[i], places.position[i], places.normal[i], places.face[i] = found
    return places


@dataclass(frozen=True, eq=False)
class ClosestPoint(Record):
    """One row of `ClosestPoints`, as plain Python values and small arrays."""

    hit: bool
    distance: float
    position: Float64Array
    normal: Float64Array
    face: int
    limb: int
    limb_name: str | None
    hit_group: int
    character: int
    static: int
    bone: int
    rig_limb: int
    local_position: Float64Array
    local_normal: Float64Array


class ClosestPoints(HitFields):
    """The limb of least distance from each point, and its nearest place; read-only arrays.

    `position` is that place, `normal` the unit vector away from the limb: (point - position) /
    distance, or on the surface the outward normal of `face`. A miss has distance inf, limb and
    character -1, face NONE, and NaN elsewhere. `points[i]` is one row, as a `ClosestPoint`; a
    slice, a mask or an array of indices chooses rows.
    """

    _what = "points"
    _kind_of_row = ClosestPoint
    fields: ClassVar[tuple[str, ...]] = tuple(ClosestPoint.__annotations__)

    distance = Field[Float64Array](
        "Distance from the surface of the limb, negative inside it, inf for a miss; (n,).", "_surface_columns"
    )
    face = Field[Int8Array]("`Face` of the nearest place, NONE for a miss; int8 (n,).", "_surface_columns")

    def __init__(self, points: Float64Array, limbs: LabelledLimbs, row: Int32Array) -> None:
        self._points, self._limbs, self._row, self._columns = points, limbs, row, {}

    def _take(self, rows: Int64Array) -> Self:
        return type(self)(self._points[rows], self._limbs, self._row[rows])

    def _summary(self) -> str:
        return f"ClosestPoints({len(self)} points, {np.count_nonzero(self._row >= 0)} near a limb)"

    def _surface_columns(self) -> Columns:
        return places_of(self._points, self._limbs, self._row)._asdict()


class LimbLists(LimbFields):
    """The limbs of each query, in compressed rows; arrays that cannot be written.

    The limbs of query i are rows `offsets[i]:offsets[i + 1]`; all other columns have one entry a
    limb. An index, a slice, a mask or an array of queries chooses the limbs of these queries, which
    are numbered anew. `len` counts limbs.
    """

    _what = "queries"
    fields: ClassVar[tuple[str, ...]] = (
        *("query", "limb", "character", "static", "limb_name", "hit_group", "bone", "rig_limb"),
    )

    def __init__(
        self,
        limbs: LabelledLimbs,
        offsets: Int64Array,
        row: Int32Array,
        per_limb: tuple[NDArray[Any], ...] = (),
        per_query: tuple[NDArray[Any], ...] = (),
    ) -> None:
        self._limbs, self._offsets, self._row, self._columns = limbs, offsets, row, {}
        self._per_limb, self._per_query = per_limb, per_query

    @property
    def _count(self) -> int:
        return len(self._offsets) - 1

    def _take(self, rows: Int64Array) -> Self:
        offsets, taken = chords_of_rays(self._offsets, rows)
        more = tuple(own[taken] for own in self._per_limb), tuple(own[rows] for own in self._per_query)
        return type(self)(self._limbs, offsets, self._row[taken], *more)

    @property
    def _ray_of_row(self) -> Int64Array:
        return self.query

    def _summary(self) -> str:
        return f"{type(self).__name__}({len(self)} limbs of {self._count} queries)"

    @property
    def offsets(self) -> Int64Array:
        """Where the limbs of each query begin, and the last end; int64 (queries + 1,)."""
        return frozen(self._offsets)

    @Computed
    def query(self) -> Int64Array:
        """Row of the query; int64, one per limb."""
        return frozen(ray_of_each(self._offsets))

    @property
    def _surface(self) -> Surface:
        raise AttributeError(f"{type(self).__name__}: expected limbs with nearest places, as overlap_spheres has")


class NearLimbs(LimbLists):
    """Limbs that overlap balls, or are near points, each with its place nearest to the centre."""

    fields: ClassVar[tuple[str, ...]] = (
        *LimbLists.fields, "distance", "position", "normal", "face", "local_position", "local_normal",
    )  # fmt: skip

    distance = Field[Float64Array](
        "Distance of the centre from the surface, negative inside; one per limb.", "_surface_columns"
    )
    position = Field[Float64Array]("The nearest place of the limb; (limbs, 3).", "_surface_columns")
    normal = Field[Float64Array]("Unit normal from there to the centre, or outward; (limbs, 3).", "_surface_columns")
    face = Field[Int8Array]("`Face` of that place; int8, one per limb.", "_surface_columns")

    def _by_distance(self) -> Self:
        """A copy with the limbs of each point sorted by distance."""
        order, known = np.lexsort((self.distance, self.query)), self._columns
        same = type(self)(self._limbs, self._offsets, self._row[order], (), self._per_query)
        same._columns = {name: column[order] for name, column in known.items()}
        return same if self._sample_times is None else same._rewound(self._sample_times, self._present)

    @property
    def _surface(self) -> Surface:
        return self.position, self.normal

    def _surface_columns(self) -> Columns:
        return places_of(self._per_query[0][self.query], self._limbs, self._row)._asdict()


# Searches -----------------------------------------------------------------------------------------------------------


def closest_points(state: State, request: NearRequest) -> ClosestPoints:
    """The nearest limb of each point."""
    points, (table, tree), n = request.points, (state._kernel_rows, state._tree), len(request.points)
    columns = missed_nearest(n)

    def task(begin: int, end: int) -> int:
        args = points, request.reach, request.filters, make_stack(tree), *scratch_for_near_points(tree)
        return find_nearest(table, tree, *args, begin, end, columns)

    if any(in_chunks(n, request.threads, task)):
        rows = np.flatnonzero(columns.undecided)
        offsets, codes = candidates(state, request.rows(rows, columns.upper[rows]))
        resolve_nearest(request, state._table, rows, (offsets, codes >> 1), columns.limb)
    return ClosestPoints(points, state, columns.limb)


def resolve_nearest(
    request: NearRequest, table: LimbTable, rows: Int64Array, lists: CompressedRows, limb: Int32Array
) -> None:
    """Write the nearest limb of each of these rows, among those on its list, which ascend."""
    points, reach = request.points[rows], np.broadcast_to(request.reach, len(request.points))[rows]
    of, listed, upper = contenders(points, table.kernel_rows, ray_of_each(lists[0]), lists[1])
    counts, limb[rows] = np.bincount(of, minlength=len(rows)), NO_LIMB
    alone = (counts[of] == 1) & (upper <= reach[of])
    limb[rows[of[alone]]] = listed[alone]
    offsets = offsets_of(of, len(rows))
    counts[of[alone]] = 0
    for k in np.flatnonzero(counts).tolist():
        point, near = tuple(points[k].tolist()), listed[offsets[k] : offsets[k + 1]].tolist()
        best = nearest_solid(point, [(one, exact_limb(table, one)) for one in near])
        if is_within(exact_limb(table, best), point, reach.item(k)):
            limb[rows[k]] = best


def near_limbs(state: State, request: NearRequest) -> NearLimbs:
    """All limbs within each radius, touching ones included, by row."""
    lists = resolve_within(request, state._table, candidates(state, request))
    return NearLimbs(state, *lists, (), (request.points,))


def candidates(state: State, request: NearRequest) -> CompressedRows:
    """Codes of the limbs that may be within the reach of each point, ascending: twice the limb, plus 1 if uncertain."""
    return rows_in_chunks(request, partial(candidates_of, state, request))


def candidates_of(state: State, request: NearRequest, begin: int, end: int) -> CompressedRows:
    """`candidates` of the points from `begin` to `end`."""
    place, pairs, queue, _ = scratch_for_near_points(state._tree)
    args = *state._packed, request.points, request.reach, request.filters, place, pairs, queue, begin, end

    def find(offsets: Int64Array, codes: Int32Array) -> int:
        found = memory.rows((2, len(codes) + LANES), INT32), np.zeros(1, np.int64)
        return find_within(*args, found, offsets, codes)

    return find_rows(end - begin, find)


def rows_in_chunks(request: NearRequest, task: Callable[[int, int], CompressedRows]) -> CompressedRows:
    """Compressed rows of all points, joined from those that `task(begin, end)` returns."""
    n = len(request.points)
    parts = in_chunks(n, request.threads, task, n if request.threads == 1 else None)
    if len(parts) == 1:
        return parts[0]
    counts = np.concatenate([np.diff(offsets) for offsets, _ in parts])
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(counts))), np.concatenate([codes for _, codes in parts])


def resolve_within(request: NearRequest, table: LimbTable, found: CompressedRows) -> CompressedRows:
    """The limbs within the reach of each point, among those of `candidates`; overwrites its codes with limbs."""
    offsets, codes = found
    is_open, n = np.bitwise_or.reduce(codes, initial=0) & 1, len(request.points)
    opened = np.flatnonzero(codes & 1) if is_open else None
    limb = np.right_shift(codes, 1, out=codes)
    if opened is None:
        return offsets, limb
    kept, point_of_each = np.ones(len(codes), bool), ray_of_each(offsets)
    kept[opened] = _touches(request, point_of_each[opened], table, limb[opened])
    return offsets_of(point_of_each[kept], n), limb[kept]


def are_within(request: NearRequest, table: LimbTable, bounds: tuple[Float64Array, Float64Array]) -> BoolArray:
    """Whether limb i, or the only one, is within the reach of point i; `bounds`: lower and upper, of its distance."""
    reach = np.broadcast_to(request.reach, len(request.points))
    lower, upper = bounds
    within = np.asarray(upper <= reach)
    rows = np.flatnonzero(~within & (lower <= reach))
    if rows.size:
        limb = rows.astype(np.int32) if len(table.radius) > 1 else np.zeros(len(rows), np.int32)
        within[rows] = _touches(request, rows, table, limb)
    return within


def _touches(request: NearRequest, row: Int64Array, table: LimbTable, limb: Int32Array) -> BoolArray:
    """Whether limb `limb[k]` is within the reach of point `row[k]`: by sides in double-double, or exactly."""
    points, reach = request.points[row], np.broadcast_to(request.reach, len(request.points))[row]
    side = np.empty(len(row), np.int8)
    write_sides(points, table.kernel_rows, limb, reach, side)
    touches = np.asarray(side >= INSIDE)
    for k in np.flatnonzero(side == UNKNOWN).tolist():
        touches[k] = is_within(exact_limb(table, limb.item(k)), tuple(points[k].tolist()), reach.item(k))
    return touches
