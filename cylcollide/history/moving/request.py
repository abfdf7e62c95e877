"""A request about flying bullets, as loops read it: stretches, and the limbs that each comes near."""

import numpy as np

from cylcollide._types import POLICY_HIT, BoolArray, Float64Array, Int32Array, Int64Array
from cylcollide.bvh.traverse import make_stack
from cylcollide.constants import SMALLEST_STREAM
from cylcollide.history.moving.flights import Filters, Flights
from cylcollide.history.moving.limbs import MovingLimbs
from cylcollide.history.ring import Ring
from cylcollide.kernels.ray import Rays
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.loops.moving_pair import LEFT_OUT, Candidates, MovingQuery
from cylcollide.query.loops.moving_rows import END, START, STRETCH_ROW, FlightRows, StretchRows, fill_stretches
from cylcollide.query.loops.ray_sort import sorted_by_tick
from cylcollide.query.loops.recorded import Protection, rows_near_many, rows_near_rays
from cylcollide.query.scratch import scratch_for_streams
from cylcollide.runtime import memory
from cylcollide.validate import EVERY_LAYER, IGNORE_NONE, NO_LIMIT

INTERVAL_COLUMNS = [np.dtype(kind) for kind in (np.int64, np.int64, np.bool_, np.bool_)]
"""Of piece, tick, is_last, is_open."""


class MovingRequest:
    """Stretches of bullets, and the limbs that they may hit."""

    def __init__(self, ring: Ring, flights: Flights, filters: Filters) -> None:
        self.ring, self.ticks, self.flights, self.resolution = ring, ring.ticks, flights, filters.resolution
        self.flight_rows, self.stretches = _intervals_of(ring.times, flights)
        self.until: dict[int, float] = dict(zip(*(column.tolist() for column in filters.protected), strict=True))
        """Of each protected character the targets' time from which on it is not hit."""
        offsets, tick, row = self._near_rows()
        self.limbs, number = _distinct(ring, tick, row)
        if self.until:
            number = np.where(self._is_hit(np.diff(offsets), number), number, np.int32(LEFT_OUT))
        self.candidates = Candidates(offsets, number, memory.rows((len(number),)))
        self.table = self.limbs.table
        filters_of_bullets = flights.mask, flights.ignored, filters.resolution
        self.query = MovingQuery(self.flight_rows, self.stretches, self.table, self.candidates, *filters_of_bullets)
        """The same for loops."""

    def limbs_near(self, stretch: int) -> list[int]:
        """The limbs that the bullet of a stretch does not certainly miss there, by row."""
        offsets, limb, _ = self.candidates
        near = limb[offsets.item(stretch) : offsets.item(stretch + 1)]
        return sorted(near[near != LEFT_OUT].tolist())

    def _near_rows(self) -> tuple[Int64Array, Int32Array, Int32Array]:
        """Of each stretch the limbs that its bullet does not certainly miss: offsets, their ticks and rows."""
        stretches, flights, ring = self.stretches, self.flights, self.ring
        start, end = (stretches.rows[:, k : k + 3].copy() for k in (START, END))
        known_roughly = np.flatnonzero(stretches.is_open)  # so the whole piece is looked at
        start[known_roughly] = flights.starts[stretches.piece[known_roughly]]
        end[known_roughly] = flights.ends[stretches.piece[known_roughly]]
        batch = RayBatch(Rays(start, end, True, NO_LIMIT), EVERY_LAYER, IGNORE_NONE, POLICY_HIT)
        tick = stretches.tick.astype(np.int32)
        offsets, row = (
            _rows_near_many(batch, ring, tick) if len(tick) >= SMALLEST_STREAM else _rows_near(batch, ring, tick)
        )
        return offsets, np.repeat(tick, np.diff(offsets)), row

    def _is_hit(self, count: Int64Array, number: Int32Array) -> BoolArray:
        """Of pairs of stretches and limbs whether characters are hit at the beginnings; opens stretches."""
        stretches, flights, limbs = self.stretches, self.flights, self.limbs
        since = np.array([self.until.get(who, np.inf) for who in limbs.character.tolist()])[number]
        stretch = np.repeat(np.arange(len(count)), count)
        times, k = self.ring.times, stretches.tick[stretch]
        after = np.where(k + 1 == len(times), np.inf, times[np.minimum(k + 1, len(times) - 1)])
        begin = np.maximum(flights.target_t0[stretches.piece[stretch]], times[k])
        end = np.minimum(flights.target_t1[stretches.piece[stretch]], after)
        is_hit: BoolArray = begin < since
        ends_in_it = (since < end) | ((since == end) & stretches.is_last[stretch])
        stretches.is_open[stretch[is_hit & ends_in_it]] = True
        return is_hit


def _rows_near(batch: RayBatch, ring: Ring, tick: Int32Array) -> tuple[Int64Array, Int32Array]:
    """The rows that each ray does not certainly miss at its tick: offsets and rows, ascending for each."""
    nobody = Protection(np.empty(0, np.int64), np.empty(0), np.empty(0))
    return rows_near_rays(batch, ring.recorded, tick, nobody, True, make_stack(ring.deepest_tree))


def _rows_near_many(batch: RayBatch, ring: Ring, tick: Int32Array) -> tuple[Int64Array, Int32Array]:
    """The same, by streams."""
    n, tree = len(tick), ring.deepest_tree
    order, _ = sorted_by_tick(batch.rays, batch.rays, tick, np.zeros(n), len(ring.ticks))
    return rows_near_many(ring.recorded, order, scratch_for_streams(tree, 0))


def _distinct(ring: Ring, tick: Int32Array, row: Int32Array) -> tuple[MovingLimbs, Int32Array]:
    """The different limbs among rows of ticks, and which of them each is."""
    first = np.cumsum([0, *(one.structure.rows for one in ring.ticks)])
    key = first[tick] + row
    used = np.zeros(first[-1], np.bool_)
    used[key] = True
    distinct = np.flatnonzero(used)
    number = np.empty(first[-1], np.int32)
    number[distinct] = np.arange(len(distinct))
    of_tick = (np.searchsorted(first, distinct, side="right") - 1).astype(np.int32)
    return MovingLimbs(ring, of_tick, (distinct - first[of_tick]).astype(np.int32)), number[key]


def _intervals_of(times: Float64Array, flights: Flights) -> tuple[FlightRows, StretchRows]:
    """The pieces of flights, and their parts within one tick each; none of a piece whose times are not kept."""
    given = (flights.starts, flights.ends, flights.t0, flights.t1, flights.target_t0, flights.target_t1)
    rows = FlightRows(*given, np.append(times, times[-1]))
    first, last = (np.searchsorted(times, t, side="right") - 1 for t in (rows.target_t0, rows.target_t1))
    before = np.zeros(len(first) + 1, np.int64)
    np.cumsum(np.where(flights.kept, last - first + 1, 0), out=before[1:])
    n = int(before[-1])
    piece, tick, is_last, is_open = memory.columns(n, *INTERVAL_COLUMNS)
    intervals = StretchRows(before[flights.offsets], piece, tick, memory.rows((n, STRETCH_ROW)), is_last, is_open)
    fill_stretches(rows, first, last, before, intervals)
    return rows, intervals
