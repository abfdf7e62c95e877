"""Where flying bullets leave the limbs that they hit: the time until which they are certainly inside, then refined."""

from math import inf, nan

import numpy as np

from cylcollide._types import Column
from cylcollide.constants import CONTACT_ERROR, MOVING_ROUNDING_BOUND, NARROW_CONTACT
from cylcollide.kernels.double_double import DoubleDouble, dd_multiply, dd_subtract, two_difference
from cylcollide.kernels.inside_policy import HitBounds
from cylcollide.kernels.interval import UNDECIDED_FACE
from cylcollide.kernels.ray import as_vector
from cylcollide.moving.bounds import (
    MovingLimb,
    ball_times,
    contact_errors,
    longest_half_squared,
    near_squared,
    relative_motion,
    window_between,
)
from cylcollide.moving.box import end_of_box_contact, first_box_contact, place_in_box, relative_flight
from cylcollide.moving.contact import accurate_contact
from cylcollide.moving.solids import Affine, window_crossing
from cylcollide.query.loops.moving import MovingColumns
from cylcollide.query.loops.moving_pair import (
    LEFT_OUT,
    MovingQuery,
    box_path,
    is_candidate,
    motion_of,
    moving_limb,
    pair_of,
)
from cylcollide.query.loops.moving_refine import at_share, is_wall, plane_crossing, time_at
from cylcollide.query.loops.moving_rows import ALPHA0, ALPHA1, BOX, END, START, STAYS, ZERO, limits_of, vector
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.simd import square_root

MOST_PARTS = 96
"""Most parts of an interval that are examined: thirty halvings lead to `NARROW_CONTACT`, as many doublings back."""

MOST_GAPS = 8
"""Most doublings of the last part until the bullet is certainly outside; float64 does not decide slower exits."""


@compiled_loop
def find_exits(
    query: MovingQuery,
    hits: MovingColumns,
    fraction: Column[np.float64],
    time: Column[np.float64],
    duration: Column[np.float64],
    piece: Column[np.int64],
    accurate: Column[np.bool_],
) -> None:
    """Write where bullets leave the limbs that they hit, as far as float64 decides it, from interval to interval.

    The columns are s of a piece, the bullet's time, and the time since the contact; inf, nan, nan and piece -1 for a
    miss. Rows that are not accurate need exact arithmetic.
    """
    flights, intervals = query.flights, query.intervals
    for i in range(fraction.size):
        j = hits.interval[i]
        fraction[i], time[i], duration[i], piece[i], accurate[i] = inf, nan, nan, -1, j < 0
        if j >= 0 and hits.accurate[i]:
            j, u, is_accurate = last_contact(query, hits, i)
            last, entered = intervals.piece[j], intervals.piece[hits.interval[i]]
            ends, _, is_known = limits_of(flights, last, intervals.tick[j])
            s = at_share((ends[1], ends[0]), u)
            since: DoubleDouble = (hits.fraction[i, 0], hits.fraction[i, 1])
            left = time_at(flights.t0, flights.t1, last, s)
            span = two_difference(flights.t1[last], flights.t0[last])
            stay = dd_multiply(dd_subtract(s, since), span)
            if last != entered:
                stay = dd_subtract(left, time_at(flights.t0, flights.t1, entered, since))
            fraction[i], time[i], duration[i] = s[0], left[0], stay[0]
            piece[i], accurate[i] = last, is_known and is_accurate


@compiled
def last_contact(query: MovingQuery, hits: MovingColumns, i: int) -> tuple[int, DoubleDouble, bool]:
    """The interval in which the contact of bullet i ends, then u and whether it is accurate, as in `exit_contact`."""
    j, k, begin = hits.interval[i], hits.limb[i], hits.upper[i]
    while True:
        u, accurate, stays = exit_contact(query, j, k, begin)
        if not stays or j + 1 == query.intervals.offsets[i + 1]:
            return j, u, accurate
        k, begin = same_limb(query, i, j, k), 0.0
        if k < 0:
            return j, ZERO, False
        j += 1


@inlined
def same_limb(query: MovingQuery, i: int, j: int, k: int) -> int:
    """Limb k of interval j, as numbered in the next interval; -1 if it is not certainly there from its begin on."""
    intervals, table = query.intervals, query.table
    ticks = intervals.tick[j + 1] - intervals.tick[j]
    row = table.row[k] if ticks == 0 else table.next_row[k] if ticks == 1 else STAYS
    for pair in range(query.offsets[j + 1], query.offsets[j + 2]):
        other = query.limb[pair]
        if other != LEFT_OUT and row >= 0 and table.row[other] == row:
            return other if is_candidate(query, other, i) and not intervals.is_open[j + 1] else -1
    return -1


@compiled
def exit_contact(query: MovingQuery, j: int, k: int, begin: float) -> tuple[DoubleDouble, bool, bool]:
    """When a bullet in limb k at `begin` leaves it, as u of interval j flown backwards.

    Also returns whether u is accurate, and whether the bullet stays in the limb. The bullet must certainly be in the
    limb at `begin`, unless `begin` is 0: then only what the bounds prove counts.
    """
    if query.table.kernel_shape[k] == BOX:
        return box_exit(query, j, k, begin)
    flights, piece, pair = query.flights, query.intervals.piece[j], pair_of(query, j, k)
    bounds = exit_bounds(pair.flight, moving_limb(pair), pair.extent, begin)
    if not bounds.possible:
        return ZERO, True, True
    s, alpha, is_known = limits_of(flights, piece, query.intervals.tick[j])
    if not (bounds.certain and is_known and bounds.lower > 0.0):
        return ZERO, False, False
    start, goal, backwards = as_vector(flights.starts, piece), as_vector(flights.ends, piece), (s[1], s[0])
    motion = motion_of(pair, start, goal, backwards, (alpha[1], alpha[0]))
    # one minus a time is rounded
    lower = max(1.0 - bounds.upper - 2.0 * CONTACT_ERROR, 0.0)
    upper = min(1.0 - bounds.lower + 2.0 * CONTACT_ERROR, 1.0)
    reversed_bounds = HitBounds(True, True, lower, upper, False, bounds.face)
    u, accurate = accurate_contact(motion, pair.shape, pair.radius, pair.radius2, reversed_bounds, pair.extent)
    return u, accurate, False


@compiled
def box_exit(query: MovingQuery, j: int, k: int, begin: float) -> tuple[DoubleDouble, bool, bool]:
    """As `exit_contact`, for a wall; the exit from any other box is not accurate."""
    intervals, path = query.intervals, query.table.paths[query.table.box[k]]
    row = intervals.rows[j]
    if not is_wall(query, j, k):
        return ZERO, False, False
    flight = relative_flight(vector(row, START), vector(row, END), row[ALPHA0], row[ALPHA1], box_path(path))
    found = first_box_contact(flight, query.resolution)
    if begin == 0.0 and not found.inside:
        return ZERO, False, False
    left = end_of_box_contact(flight, begin, query.resolution)
    if not left.possible:
        return ZERO, True, True
    if not (left.certain and left.face != UNDECIDED_FACE):
        return ZERO, False, False
    s, _, is_known = limits_of(query.flights, intervals.piece[j], intervals.tick[j])
    u, accurate = plane_crossing(query.flights, intervals.piece[j], (s[1], s[0]), path, int(left.face))
    earliest, latest = 1.0 - left.upper - CONTACT_ERROR, 1.0 - left.lower + CONTACT_ERROR
    return u, accurate and is_known and earliest <= u[0] <= latest, False


@compiled
def exit_bounds(bullet: Affine, limb: MovingLimb, extent: float, begin: float) -> HitBounds:
    """Bounds of the u at which a bullet, certainly in a limb at `begin`, leaves it first; not possible: it stays.

    Not certain: float64 does not decide it. The face is the one that it leaves through.
    """
    motion, delta = relative_motion(bullet, limb), MOVING_ROUNDING_BOUND * extent
    kind, radius, radius2 = limb.kind, limb.radius, limb.radius2
    half_squared, width = longest_half_squared(motion), max(radius, radius2)
    near = near_squared(kind, half_squared, width, delta)
    last = ball_times(motion, near)[1]
    errors = contact_errors(kind, half_squared, square_root(near), width, delta)
    undecided = HitBounds(True, False, begin, inf, False, UNDECIDED_FACE)
    inside, size = begin, last - begin
    for _ in range(MOST_PARTS):
        if inside >= last or size < 0.5 * NARROW_CONTACT:
            break
        until = min(inside + size, last)
        signs, _face = window_crossing(window_between(motion, inside, until), kind, radius, radius2, errors)
        if signs.negative:
            inside, size = until, 2.0 * size
        else:
            size *= 0.5
    if inside >= last:
        return HitBounds(False, False, inf, inf, False, UNDECIDED_FACE) if last >= 1.0 else undecided
    for _ in range(MOST_GAPS):
        size *= 2.0
        until = min(inside + size, 1.0)
        signs, _face = window_crossing(window_between(motion, inside, until), kind, radius, radius2, errors)
        if signs.positive_from < 1.0:
            _passage, face = window_crossing(window_between(motion, until, inside), kind, radius, radius2, errors)
            return HitBounds(True, face != UNDECIDED_FACE, inside, until, False, face)
    return undecided


BOX_BOUNDS = 11
"""Numbers that `bound_box` writes."""


@compiled_loop
def bound_box(
    interval: Column[np.float64], path: Column[np.float64], resolution: float, bounds: Column[np.float64]
) -> None:
    """Write bounds of the contact of one bullet with one box, as u of an interval.

    `interval` is a row of `IntervalRows.rows`, `path` one of `MovingRows.paths`. The bounds: whether a contact is
    possible, whether it is certain, its lower and upper bound, its face or `UNDECIDED_FACE`. If it is certain, also
    whether the bullet certainly leaves the box within the interval, lower and upper bound of that, and the place of the
    bullet at the upper bound of the contact, along the axes of the box from its centre.
    """
    start, end, box = vector(interval, START), vector(interval, END), box_path(path)
    flight = relative_flight(start, end, interval[ALPHA0], interval[ALPHA1], box)
    found = first_box_contact(flight, resolution)
    bounds[0], bounds[1], bounds[2], bounds[3] = found.possible, found.certain, found.lower, found.upper
    bounds[4], bounds[5] = found.face, False
    if found.certain:
        left = end_of_box_contact(flight, found.upper, resolution)
        bounds[5], bounds[6], bounds[7] = left.certain, left.lower, left.upper
        bounds[8], bounds[9], bounds[10] = place_in_box(flight, found.upper)
