"""A request for flying bullets: their checked pieces, cut into tick intervals, and the limbs near them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import ALL_LAYERS, POLICY_HIT, BoolArray, Float64Array, Int32Array, Int64Array
from cylcollide.bvh.traverse import make_stack
from cylcollide.history.flight import FlightPath
from cylcollide.history.moving.limbs import MovingLimbs
from cylcollide.history.requests import NO_PROTECTION, ProtectedSince, protected_by, repeated
from cylcollide.history.sample_times import ON_OLD, OnOld, raise_not_kept
from cylcollide.history.ticks import Ring
from cylcollide.kernels.ray import Rays
from cylcollide.moving.box import RESOLUTION
from cylcollide.query.loops.columns import columns_of
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.loops.moving_pair import LEFT_OUT, MovingQuery
from cylcollide.query.loops.moving_rows import END, INTERVAL_ROW, START, FlightRows, IntervalRows, fill_intervals
from cylcollide.query.loops.ray_sort import sorted_by_tick
from cylcollide.query.loops.recorded_candidates import Protection, rows_near_many, rows_near_rays
from cylcollide.query.request import as_pairs
from cylcollide.query.scratch import scratch_for_streams
from cylcollide.runtime import memory
from cylcollide.validate import EVERY_LAYER, IGNORE_NONE, NO_LIMIT, NO_RADIUS

NEVER = np.array([np.inf])
"""`MovingQuery.until` if no character is protected."""

MANY_BULLETS = 100
"""From this number on, the limbs near all bullets of a tick are found together."""

TARGET_TIMES = ("target_t0", "target_t1")

Times: TypeAlias = tuple[ArrayLike | None, ArrayLike | None]
"""Begin and end times."""


def moving_request(
    starts: ArrayLike | FlightPath,
    ends: ArrayLike | None = None,
    t0: ArrayLike | None = None,
    t1: ArrayLike | None = None,
    target_t0: ArrayLike | None = None,
    target_t1: ArrayLike | None = None,
    *,
    resolution: float = RESOLUTION,
    mask: ArrayLike = ALL_LAYERS,
    ignore_character: ArrayLike | None = None,
    protected_since: ProtectedSince | None = None,
    on_old: OnOld = "error",
    threads: int | None = None,
) -> Callable[[Ring], MovingRequest]:
    """A function that makes the request for flying bullets from the kept ticks."""
    return lambda ring: MovingRequest(
        ring, starts, ends, (t0, t1), (target_t0, target_t1),
        resolution, mask, ignore_character, protected_since, on_old, threads,
    )  # fmt: skip


class MovingRequest:
    """Checked bullets, their tick intervals, and the limbs that they may hit."""

    def __init__(
        self,
        ring: Ring,
        starts: ArrayLike | FlightPath,
        ends: ArrayLike | None,
        times: Times,
        target_times: Times,
        resolution: float,
        mask: ArrayLike,
        ignore_character: ArrayLike | None,
        protected_since: ProtectedSince | None,
        on_old: OnOld,
        threads: int | None,
    ) -> None:
        """Bullets from starts (n, 3) to ends (n, 3), each between two times, or the pieces of a path.

        Raises
        ------
        ValueError
            For numbers, shapes or times that are not accepted; the message names the first bad row.
        """
        resolution, self.threads = _resolution(resolution), validate.workers(threads)
        protected = (column.tolist() for column in protected_by(protected_since))
        self.until: dict[int, float] = dict(zip(*protected, strict=True))
        """The targets' time from which on each protected character is not hit."""
        self.ring, self.ticks = ring, ring.ticks
        pieces = _checked_pieces(ring, starts, ends, times, target_times, on_old)
        self.flights, self.offsets, self.error, self.clamped, kept = pieces
        self.bullets = len(self.offsets) - 1
        layers = validate.masks(mask, self.bullets)
        ignored = validate.ignored_characters(ignore_character, self.bullets)
        self.intervals = _intervals_of(self.flights, self.offsets, kept)
        offsets, tick, row = self._near_rows()
        self.limbs, number = _distinct(ring, tick, row)
        until = NEVER
        if self.until:
            until = self._protected_from(np.diff(offsets), number)
            number = np.where(until > 0.0, number, np.int32(LEFT_OUT))
        near = offsets, number, memory.rows((len(number),)), until
        self.query = MovingQuery(self.flights, self.intervals, self.limbs.table, *near, layers, ignored, resolution)
        """The request in the form that loops read."""

    def _near_rows(self) -> tuple[Int64Array, Int32Array, Int32Array]:
        """The limbs that the bullet may hit in each interval: offsets, ticks and rows."""
        intervals, flights, ring = self.intervals, self.flights, self.ring
        start, end = (intervals.rows[:, k : k + 3].copy() for k in (START, END))
        known_roughly = np.flatnonzero(intervals.is_open)  # so the whole piece is used
        start[known_roughly] = flights.starts[intervals.piece[known_roughly]]
        end[known_roughly] = flights.ends[intervals.piece[known_roughly]]
        rays, tick = Rays(start, end, True, NO_LIMIT, NO_RADIUS), intervals.tick.astype(np.int32)
        if len(tick) >= MANY_BULLETS:
            order, _ = sorted_by_tick(rays, rays, tick, np.zeros(len(tick)), len(ring.ticks))
            offsets, row = rows_near_many(ring.recorded, order, True, scratch_for_streams(ring.deepest_tree, 0))
        else:
            batch = RayBatch(rays, EVERY_LAYER, IGNORE_NONE, POLICY_HIT)
            nobody = Protection(*NO_PROTECTION, np.empty(0))
            offsets, row = rows_near_rays(batch, ring.recorded, tick, nobody, True, make_stack(ring.deepest_tree))
        return offsets, np.repeat(tick, np.diff(offsets)), row

    def _protected_from(self, count: Int64Array, number: Int32Array) -> Float64Array:
        """The u, for each pair of interval and limb, from which on its character is not hit; 0: the whole interval."""
        intervals, flights, limbs = self.intervals, self.flights, self.limbs
        since = np.array([self.until.get(who, np.inf) for who in limbs.table.character.tolist()])[number]
        interval = np.repeat(np.arange(len(count)), count)
        times, k = self.ring.times, intervals.tick[interval]
        after = np.where(k + 1 == len(times), np.inf, times[np.minimum(k + 1, len(times) - 1)])
        begin = np.maximum(flights.target_t0[intervals.piece[interval]], times[k])
        end = np.minimum(flights.target_t1[intervals.piece[interval]], after)
        ends_in_it = (since < end) | ((since == end) & intervals.is_last[interval])
        until: Float64Array = np.where(begin < since, np.inf, 0.0)
        cut = np.flatnonzero((begin < since) & ends_in_it)
        until[cut] = (since[cut] - begin[cut]) / (end[cut] - begin[cut])
        return until


def _distinct(ring: Ring, tick: Int32Array, row: Int32Array) -> tuple[MovingLimbs, Int32Array]:
    """The distinct limbs among rows of ticks, and the index of each among them."""
    first = np.cumsum([0, *(one.structure.rows for one in ring.ticks)])
    key = first[tick] + row
    used = np.zeros(first[-1], np.bool_)
    used[key] = True
    distinct = np.flatnonzero(used)
    number = np.empty(first[-1], np.int32)
    number[distinct] = np.arange(len(distinct))
    of_tick = (np.searchsorted(first, distinct, side="right") - 1).astype(np.int32)
    return MovingLimbs(ring, of_tick, (distinct - first[of_tick]).astype(np.int32)), number[key]


# Pieces and tick intervals ------------------------------------------------------------------------------------------


def _resolution(resolution: float) -> float:
    share = validate.one_number(resolution)
    if not 0.0 < share <= 1.0:
        got = validate.shown(resolution)
        raise ValueError(f"resolution: expected a number above 0 and at most 1, a share of a tick, got {got}")
    return share


def _checked_pieces(
    ring: Ring, starts: ArrayLike | FlightPath, ends: ArrayLike | None, times: Times, target_times: Times, on_old: OnOld
) -> tuple[FlightRows, Int64Array, Float64Array, BoolArray, BoolArray]:
    """The pieces of flights, bullet by bullet in the order of time, and their offsets by bullet, (bullets + 1,).

    Also, (pieces,) each: the bound on the distance from the curve, whether the targets' times were clamped, and whether
    they are kept.
    """
    if isinstance(starts, FlightPath):
        if not (ends is None and times[0] is None and times[1] is None):
            raise ValueError(
                "path: expected a path alone, which has ends, t0 and t1, got some of these, too; leave them out"
            )
        path, names = starts, ("path.starts", "path.ends", "path.t0", "path.t1")
        first, last = validate.vectors(path.starts, names[0]), validate.vectors(path.ends, names[1], len(path.starts))
        given: tuple[ArrayLike, ArrayLike] = (path.t0, path.t1)
    else:
        if ends is None or times[0] is None or times[1] is None:
            raise ValueError("ends, t0, t1: expected all three beside starts, got None; or pass a path alone")
        path, names, given = None, ("starts", "ends", "t0", "t1"), (times[0], times[1])
        every_time = dict(zip((*names[2:], *TARGET_TIMES), (*times, *target_times), strict=True))
        pair = as_pairs(repeated({"starts": starts, "ends": ends}, every_time), ends, names[:2])
        first, last = (validate.vectors(one, name) for one, name in zip(pair, names[:2], strict=True))
    n = len(first)
    t0, t1 = (validate.per_row(values, name, n) for values, name in zip(given, names[2:], strict=True))
    _check_order(t0, t1, names[2:])
    offsets, error = np.arange(n + 1), np.zeros(n)
    if path is not None:
        offsets, error = _offsets(path, n, t0, t1), validate.per_row(path.error, "path.error", n)
    begin, end = (
        own if values is None else validate.per_row(values, name, n)
        for own, values, name in zip((t0, t1), target_times, TARGET_TIMES, strict=True)
    )
    called = [
        own if one is None else name for own, one, name in zip(names[2:], target_times, TARGET_TIMES, strict=True)
    ]
    _check_order(begin, end, called)
    clamped, kept = _kept(ring, begin, end, on_old, called)
    earliest, latest = ring.times[0], ring.times[-1]
    targets = np.clip(begin, earliest, latest), np.clip(end, earliest, latest)
    return FlightRows(first, last, t0, t1, *targets, np.append(ring.times, latest)), offsets, error, clamped, kept


def _kept(
    ring: Ring, begin: Float64Array, end: Float64Array, on_old: OnOld, names: Sequence[str]
) -> tuple[BoolArray, BoolArray]:
    """Whether the targets' times of each piece are clamped to kept ones, and whether the piece is evaluated."""
    validate.one_of(on_old, "on_old", *ON_OLD)
    outside = [(times < ring.times[0]) | (times > ring.times[-1]) for times in (begin, end)]
    if on_old == "error":
        for name, times, bad in zip(names, (begin, end), outside, strict=True):
            if bad.any():
                raise_not_kept((ring.times[0], ring.times[-1]), name, times, bad)
    bad = outside[0] | outside[1]
    clamped = bad if on_old == "clamp" else np.zeros(len(bad), np.bool_)
    return clamped, ~bad | clamped


def _check_order(begin: Float64Array, end: Float64Array, names: Sequence[str]) -> None:
    """Raise ValueError for an end before its begin."""
    row = validate.first_bad_row(end < begin)
    if row is not None:
        raise ValueError(
            f"{names[1]}: expected at least {names[0]}, got {end[row]} < {begin[row]} in row {row}; time does not "
            "run backwards"
        )


def _offsets(path: FlightPath, pieces: int, t0: Float64Array, t1: Float64Array) -> Int64Array:
    """The offsets of the pieces of each bullet, (bullets + 1,); ValueError if they are not in order."""
    bullet = validate.integers(path.bullet, "path.bullet", pieces, 0, 2**31 - 1, one=False)
    step = np.diff(bullet)
    row = validate.first_bad_row((step < 0) | ((step == 0) & (t0[1:] < t1[:-1])))
    if row is not None:
        raise ValueError(
            f"path.bullet: expected pieces in the order of bullets and, of each, of time, got bullet {bullet[row + 1]} "
            f"at {t0[row + 1]} after bullet {bullet[row]} until {t1[row]} in row {row + 1}; sort them"
        )
    count = int(bullet[-1]) + 1 if pieces else 0
    return np.searchsorted(bullet, np.arange(count + 1))


def _intervals_of(flights: FlightRows, offsets: Int64Array, kept: BoolArray) -> IntervalRows:
    """The parts of pieces within one tick each; no parts for a piece whose times are not kept."""
    times = flights.times[:-1]
    first, last = (np.searchsorted(times, t, side="right") - 1 for t in (flights.target_t0, flights.target_t1))
    before = np.zeros(len(first) + 1, np.int64)
    np.cumsum(np.where(kept, last - first + 1, 0), out=before[1:])
    n = int(before[-1])
    intervals = columns_of(IntervalRows, n, before[offsets], memory.rows((n, INTERVAL_ROW)))
    fill_intervals(flights, first, last, before, intervals)
    return intervals
