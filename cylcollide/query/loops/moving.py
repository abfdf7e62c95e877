"""The loop over flying bullets, each against the limbs that it comes near in each tick interval of its flight."""

from math import inf
from typing import NamedTuple

import numpy as np

from cylcollide._types import NO_LIMB, Column, Face, Rows
from cylcollide.kernels.hit_bounds import Closest, is_undecided, no_hit
from cylcollide.kernels.inside_policy import HitBounds
from cylcollide.kernels.interval import UNDECIDED_FACE
from cylcollide.kernels.ray import broadcast_index
from cylcollide.kernels.ties import TIED, UNKNOWN, ball_at, closer_by, overlap
from cylcollide.moving.bounds import certain_miss, moving_hit_bounds
from cylcollide.moving.box import first_box_contact, relative_flight
from cylcollide.query.loops.moving_pair import (
    LEFT_OUT,
    MovingQuery,
    box_path,
    is_candidate,
    moving_limb,
    pair_of,
    pairs_at,
)
from cylcollide.query.loops.moving_rows import (
    ALPHA0,
    ALPHA1,
    BOX,
    END,
    EXTENT,
    P1,
    P1_NEXT,
    RADIUS,
    START,
    MovingRows,
    vector,
)
from cylcollide.query.loops.packets import SHAPES, prefetch_limb
from cylcollide.runtime.compile import compiled, compiled_loop, inlined, linkonce, noinline
from cylcollide.runtime.simd import LANES, lane, movemask

NONE = int(Face.NONE)

ROUNDING_OF_UNTIL = 2.0**-48
"""Four times the error of `MovingQuery.until`: contacts so near to it are left to exact arithmetic."""


class PairLanes(NamedTuple):
    """Pairs of an interval and a limb, queued by shape until there are eight; each array has one row per shape."""

    interval: Rows[np.int32]  # (SHAPES, LANES)
    limb: Rows[np.int32]  # (SHAPES, LANES)
    pair: Rows[np.int64]  # (SHAPES, LANES): place in `MovingQuery.limb`
    queued: Column[np.int64]  # (SHAPES,): how many


def make_pair_lanes() -> PairLanes:
    """Empty queues."""
    interval, limb = np.zeros((2, SHAPES, LANES), np.int32)
    return PairLanes(interval, limb, np.zeros((SHAPES, LANES), np.int64), np.zeros(SHAPES, np.int64))


class MovingColumns(NamedTuple):
    """The first contact of each bullet, (bullets,) each: bounds, and what `moving_refine` computes from them."""

    fraction: Rows[np.float64]  # (bullets, 2): s of the piece, high and low word, inf for a miss
    interval: Column[np.int64]  # of the contact, -1 for a miss; if undecided, the first undecided one
    limb: Column[np.int32]  # -1 for a miss
    lower: Column[np.float64]  # bounds of the contact, as u of the interval
    upper: Column[np.float64]
    face: Column[np.int8]
    undecided: Column[np.bool_]
    time: Column[np.float64]  # the bullet's; this and the next two are nan for a miss
    target_time: Column[np.float64]
    alpha: Column[np.float64]
    piece: Column[np.int64]  # -1 for a miss
    tick: Column[np.int64]  # -1 for a miss
    accurate: Column[np.bool_]  # False for one that needs exact arithmetic


@compiled_loop
def leave_out_misses(query: MovingQuery, begin: int, end: int, lanes: PairLanes) -> None:
    """Leave out most of the candidates that bullets from `begin` to `end` certainly miss; write `earliest` of all.

    Open intervals, whose places are known only roughly, are left to exact arithmetic; boxes have bounds of their own.
    """
    intervals, table = query.intervals, query.table
    for j in range(intervals.offsets[begin], intervals.offsets[end]):
        for pair in range(query.offsets[j], query.offsets[j + 1]):
            k, query.earliest[pair] = query.limb[pair], 0.0
            if k != LEFT_OUT and table.kernel_shape[k] != BOX and not intervals.is_open[j]:
                shape = table.kernel_shape[k]
                place = lanes.queued[shape]
                lanes.interval[shape, place], lanes.limb[shape, place], lanes.pair[shape, place] = j, k, pair
                lanes.queued[shape] = place + 1
                prefetch_limb(table.rows, k)
                if place + 1 == LANES:
                    test_lanes(query, shape, lanes)
    for shape in range(SHAPES):
        if lanes.queued[shape] > 0:
            test_lanes(query, shape, lanes)


@compiled
def test_lanes(query: MovingQuery, shape: int, lanes: PairLanes) -> None:
    """Test the queued pairs of one shape, and empty its queue. Empty lanes repeat the first pair."""
    count = lanes.queued[shape]
    for k in range(count, LANES):
        lanes.interval[shape, k], lanes.limb[shape, k] = lanes.interval[shape, 0], lanes.limb[shape, 0]
    pair = pairs_at(query, shape, lanes.interval.reshape(-1), lanes.limb.reshape(-1), shape * LANES)
    missed, earliest = certain_miss(pair.flight, moving_limb(pair), pair.extent)
    misses = movemask(missed)
    for k in range(count):
        place = lanes.pair[shape, k]
        query.earliest[place] = lane(earliest, k)
        if misses >> k & 1:
            query.limb[place] = LEFT_OUT
    lanes.queued[shape] = 0


@compiled_loop
def cast_moving_rows(query: MovingQuery, begin: int, end: int, hits: MovingColumns) -> None:
    """Find the first contacts of bullets `begin` to `end` with their candidates."""
    intervals = query.intervals
    for i in range(begin, end):
        hits.interval[i], hits.limb[i], hits.undecided[i], hits.face[i] = -1, NO_LIMB, False, NONE
        hits.lower[i] = hits.upper[i] = inf
        for j in range(intervals.offsets[i], intervals.offsets[i + 1]):
            if query.offsets[j] < query.offsets[j + 1]:
                (limb, _, hit), undecided = first_in_interval(query, i, j)
                if undecided or limb >= 0.0:
                    hits.interval[i], hits.undecided[i], hits.limb[i] = j, undecided, int(limb)
                    hits.lower[i], hits.upper[i], hits.face[i] = hit.lower, hit.upper, int(hit.face)
                    break


@compiled
def first_in_interval(query: MovingQuery, i: int, j: int) -> tuple[Closest, bool]:
    """The first contact of bullet i in interval j, and whether it is undecided.

    The limb that may be hit first is bounded first, then those that may be hit before its contact.
    """
    best, least, nearest = no_hit(1.0), inf, -1
    begin, end = query.offsets[j], query.offsets[j + 1]
    for pair in range(begin, end):
        if query.earliest[pair] < least and is_candidate(query, query.limb[pair], i):
            least, nearest = query.earliest[pair], pair
    if nearest >= 0:
        k = query.limb[nearest]
        best = merged(query, best, k, bounds_until_protected(query, j, nearest))
    for pair in range(begin, end):
        k = query.limb[pair]
        if pair != nearest and query.earliest[pair] <= best[2].upper and is_candidate(query, k, i):
            best = merged(query, best, k, bounds_until_protected(query, j, pair))
    # the last moment of an interval that is not the last belongs to the next one
    limb, next_possible, hit = best
    is_possible = (limb >= 0.0) | (next_possible < inf)
    ends_late = (hit.upper >= 1.0) & (not query.intervals.is_last[j])
    return best, is_undecided(best) | (is_possible & ends_late) | (query.intervals.is_open[j] & (nearest >= 0))


@inlined
def merged(query: MovingQuery, closest: Closest, k: int, bounds: HitBounds) -> Closest:
    """As `closer`, but of limbs that are certainly hit at the same time, the lower row is first."""
    best, _, hit = closest
    is_tied = overlap(closest, bounds) and are_tied(query.table, (k, bounds.face), (int(best), hit.face))
    return closer_by(TIED if is_tied else UNKNOWN, closest, k, bounds)


@noinline
def are_tied(table: MovingRows, one: tuple[int, float], other: tuple[int, float]) -> bool:
    """Whether two limbs, each hit at a face, are equal, or are hit at a ball that both have, as bones at a joint."""
    rows, shapes = table.rows, table.kernel_shape
    (k, face), (j, other_face) = one, other
    end, other_end = ball_at(shapes[k], face), ball_at(shapes[j], other_face)
    if end >= 0 and other_end >= 0:
        equal = rows[k, RADIUS] == rows[j, RADIUS]
        for i in range(3):
            for first in (P1, P1_NEXT):
                equal &= rows[k, first + 3 * end + i] == rows[j, first + 3 * other_end + i]
        return bool(equal)
    equal = shapes[k] == shapes[j] and shapes[k] != BOX
    for i in range(P1, EXTENT):
        equal &= rows[k, i] == rows[j, i]
    return bool(equal)


@compiled_loop
def write_lower_bounds(query: MovingQuery, j: int, limbs: Column[np.int32], lower: Column[np.float64]) -> None:
    """Write a u of interval j before which its bullet does not hit each of these limbs, inf where it never does."""
    for k in range(limbs.size):
        lower[k] = 0.0
        if not query.intervals.is_open[j]:
            bounds = limb_bounds(query, j, limbs[k])
            lower[k] = bounds.lower if bounds.possible else inf


@compiled
def bounds_until_protected(query: MovingQuery, j: int, pair: int) -> HitBounds:
    """`limb_bounds` of a candidate, which cannot be hit once its protection begins."""
    bounds, until = limb_bounds(query, j, query.limb[pair]), query.until[broadcast_index(query.until, pair)]
    if bounds.lower > until + ROUNDING_OF_UNTIL:
        return HitBounds(False, False, inf, inf, False, UNDECIDED_FACE)
    if bounds.upper < until - ROUNDING_OF_UNTIL:
        return bounds
    return HitBounds(bounds.possible, False, bounds.lower, inf, bounds.inside, bounds.face)


@linkonce
def limb_bounds(query: MovingQuery, j: int, k: int) -> HitBounds:
    """Bounds of the first contact of the bullet of interval j with limb k, as u of the interval."""
    if query.table.kernel_shape[k] == BOX:
        interval, path = query.intervals.rows[j], box_path(query.table.paths[query.table.box[k]])
        start, end = vector(interval, START), vector(interval, END)
        return first_box_contact(
            relative_flight(start, end, interval[ALPHA0], interval[ALPHA1], path), query.resolution
        )
    pair = pair_of(query, j, k)
    return moving_hit_bounds(pair.flight, moving_limb(pair), pair.extent)
