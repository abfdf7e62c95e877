"""Accurate contacts of flying bullets: bounds have decided limb and face; this computes place and time."""

from math import inf, nan
from typing import NamedTuple

import numpy as np

from cylcollide._types import Column, Face, Float64Array, Rows
from cylcollide.constants import LARGEST_SAFE, SMALLEST_SAFE
from cylcollide.kernels.double_double import (
    DoubleDouble,
    DoubleDoubleVector,
    Vector,
    dd_add,
    dd_divide,
    dd_multiply,
    dd_subtract,
)
from cylcollide.kernels.inside_policy import HitBounds
from cylcollide.kernels.ray import as_vector, largest_component
from cylcollide.moving.contact import accurate_contact, first_step
from cylcollide.query.loops.moving import MovingColumns
from cylcollide.query.loops.moving_pair import MovingQuery, motion_of, pair_of, pairs_at
from cylcollide.query.loops.moving_rows import (
    ALPHA0,
    ALPHA1,
    AXES,
    BOX,
    CENTRE,
    HALF,
    HERE,
    STAYS,
    THERE,
    TURN,
    TURN_NEXT,
    ZERO,
    Ends,
    FlightRows,
    end_at,
    limits_of,
    number_between,
    vector,
)
from cylcollide.query.loops.packets import SHAPES, prefetch_limb, vectors_at
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.simd import LANES, load, load_at, load_rows, movemask, store

INSIDE, NONE = int(Face.INSIDE), int(Face.NONE)

NEG_X = int(Face.NEG_X)

LEAST_FALL = 2.0**-41
"""Least approach of a bullet to a plane, relative to coordinates. Double-doubles err by less than 2⁻⁹⁹ of coordinates,
so that u errs by less than 2⁻⁵⁸."""

FACES = int(Face.BORE) + 1
GROUPS = SHAPES * FACES
"""Contacts are grouped by shape and face; side, caps and bore come first among the faces."""


class RefineLanes(NamedTuple):
    """Contacts whose accurate time is not yet computed, queued by shape and face until there are eight."""

    bullet: Rows[np.int64]  # (GROUPS, LANES)
    interval: Rows[np.int32]  # (GROUPS, LANES)
    piece: Rows[np.int32]  # (GROUPS, LANES)
    limb: Rows[np.int32]  # (GROUPS, LANES)
    place: Rows[np.int32]  # (GROUPS, LANES): 0, 1, 2, ...
    limits: Rows[np.float64]  # (GROUPS · LANES, 8): s and alpha at both ends of the interval, both words of each
    bounds: Rows[np.float64]  # (2, GROUPS · LANES): lower and upper
    queued: Column[np.int64]  # (GROUPS,): how many
    found: Rows[np.float64]  # (5, LANES): s, both words, alpha and both times


def make_refine_lanes() -> RefineLanes:
    """Empty queues."""
    interval, piece, limb = np.zeros((3, GROUPS, LANES), np.int32)
    bullet, place = np.zeros((GROUPS, LANES), np.int64), np.arange(GROUPS * LANES, dtype=np.int32)
    limits, bounds = np.zeros((GROUPS * LANES, LANES)), np.zeros((2, GROUPS * LANES))
    numbers = place.reshape(GROUPS, LANES), limits, bounds, np.zeros(GROUPS, np.int64), np.zeros((5, LANES))
    return RefineLanes(bullet, interval, piece, limb, *numbers)


@compiled_loop
def refine_contacts(
    query: MovingQuery, hits: MovingColumns, first_tick: int, begin: int, end: int, lanes: RefineLanes
) -> None:
    """Complete the contacts of bullets from `begin` to `end`; `first_tick` is the number of the first tick."""
    flights, intervals, table = query.flights, query.intervals, query.table
    for i in range(begin, end):
        j = hits.interval[i]
        hits.fraction[i, 0], hits.fraction[i, 1], hits.accurate[i] = inf, 0.0, j < 0
        hits.time[i] = hits.target_time[i] = hits.alpha[i] = nan
        hits.piece[i], hits.tick[i] = -1, -1
        if hits.undecided[i]:
            hits.face[i] = NONE
        elif j >= 0:
            s, alpha, is_known = limits_of(flights, intervals.piece[j], intervals.tick[j])
            shape = table.kernel_shape[hits.limb[i]]
            hits.piece[i], hits.tick[i] = intervals.piece[j], first_tick + intervals.tick[j]
            if hits.face[i] == INSIDE or not is_known:
                write_contact(query, hits, i, s, alpha, ZERO, is_known)
            elif shape == BOX:
                u, accurate = box_contact(query, hits, i, s)
                write_contact(query, hits, i, s, alpha, u, accurate)
            else:
                group = int(shape) * FACES + int(hits.face[i])
                enqueue(query, hits, i, group, s, alpha, lanes)
                if lanes.queued[group] == LANES:
                    refine_lanes(query, hits, group, lanes)
    for group in range(GROUPS):
        if lanes.queued[group] > 0:
            refine_lanes(query, hits, group, lanes)


@inlined
def write_contact(
    query: MovingQuery, hits: MovingColumns, i: int, ends: Ends, alphas: Ends, u: DoubleDouble, accurate: bool
) -> None:
    """Write s, alpha and times of the contact of bullet i at u of its interval."""
    flights, piece = query.flights, query.intervals.piece[hits.interval[i]]
    s, alpha = at_share(ends, u), at_share(alphas, u)
    hits.fraction[i, 0], hits.fraction[i, 1] = s
    hits.alpha[i], hits.accurate[i] = alpha[0], accurate
    hits.time[i] = time_at(flights.t0, flights.t1, piece, s)[0]
    hits.target_time[i] = time_at(flights.target_t0, flights.target_t1, piece, s)[0]


@inlined
def at_share(ends: Ends, u: DoubleDouble) -> DoubleDouble:
    """The number at u between its values at both ends of an interval; one, or eight."""
    return dd_add(ends[0], dd_multiply(u, dd_subtract(ends[1], ends[0])))


@inlined
def enqueue(
    query: MovingQuery, hits: MovingColumns, i: int, group: int, s: Ends, alpha: Ends, lanes: RefineLanes
) -> None:
    """Queue the contact of bullet i."""
    k, j = lanes.queued[group], hits.interval[i]
    lanes.bullet[group, k], lanes.interval[group, k], lanes.limb[group, k] = i, j, hits.limb[i]
    lanes.piece[group, k], place = query.intervals.piece[j], group * LANES + k
    lanes.bounds[0, place], lanes.bounds[1, place] = hits.lower[i], hits.upper[i]
    row = lanes.limits[place]
    (row[0], row[1]), (row[2], row[3]), (row[4], row[5]), (row[6], row[7]) = *s, *alpha
    prefetch_limb(query.table.rows, hits.limb[i])
    lanes.queued[group] = k + 1


@compiled
def refine_lanes(query: MovingQuery, hits: MovingColumns, group: int, lanes: RefineLanes) -> None:
    """Write the queued contacts of one shape and face, and empty the queue; one by one if a step is not enough."""
    flights, first, count = query.flights, group * LANES, lanes.queued[group]
    shape, face = group // FACES, group % FACES
    for k in range(count, LANES):
        lanes.interval[group, k], lanes.limb[group, k] = lanes.interval[group, 0], lanes.limb[group, 0]
        lanes.piece[group, k] = lanes.piece[group, 0]
    pieces, found = lanes.piece.reshape(-1), lanes.found
    a, b, c, d, e, f, g, h = load_rows(lanes.limits, lanes.place.reshape(-1), first, 0)
    ends, alphas = ((a, b), (c, d)), ((e, f), (g, h))
    pair = pairs_at(query, shape, lanes.interval.reshape(-1), lanes.limb.reshape(-1), first)
    start, goal = vectors_at(flights.starts, pieces, first), vectors_at(flights.ends, pieces, first)
    lower, upper = load(lanes.bounds, first), load(lanes.bounds, GROUPS * LANES + first)
    bounds = HitBounds(True, True, lower, upper, False, float(face))
    motion = motion_of(pair, start, goal, ends, alphas)
    u, is_accurate = first_step(motion, shape, pair.radius, pair.radius2, bounds, pair.extent)
    s, alpha = at_share(ends, u), at_share(alphas, u)
    t0, t1 = load_at(flights.t0, pieces, first, 1, 0), load_at(flights.t1, pieces, first, 1, 0)
    u0, u1 = load_at(flights.target_t0, pieces, first, 1, 0), load_at(flights.target_t1, pieces, first, 1, 0)
    store(found, 0, s[0])
    store(found, LANES, s[1])
    store(found, 2 * LANES, alpha[0])
    store(found, 3 * LANES, number_between(t0, t1, s)[0])
    store(found, 4 * LANES, number_between(u0, u1, s)[0])
    accurate = movemask(is_accurate)
    for k in range(count):
        i = lanes.bullet[group, k]
        if accurate >> k & 1:
            hits.fraction[i, 0], hits.fraction[i, 1], hits.alpha[i] = found[0, k], found[1, k], found[2, k]
            hits.time[i], hits.target_time[i], hits.accurate[i] = found[3, k], found[4, k], True
        else:
            solve_contact(query, hits, i)
    lanes.queued[group] = 0


@compiled
def solve_contact(query: MovingQuery, hits: MovingColumns, i: int) -> None:
    """Write the contact of bullet i, by as many steps as are needed."""
    j, flights = hits.interval[i], query.flights
    piece, pair = query.intervals.piece[j], pair_of(query, j, hits.limb[i])
    s, alpha, _ = limits_of(flights, piece, query.intervals.tick[j])
    motion = motion_of(pair, as_vector(flights.starts, piece), as_vector(flights.ends, piece), s, alpha)
    bounds = HitBounds(True, True, hits.lower[i], hits.upper[i], False, float(hits.face[i]))
    u, accurate = accurate_contact(motion, pair.shape, pair.radius, pair.radius2, bounds, pair.extent)
    write_contact(query, hits, i, s, alpha, u, accurate)


@compiled
def box_contact(query: MovingQuery, hits: MovingColumns, i: int, ends: Ends) -> tuple[DoubleDouble, bool]:
    """The u of the interval at which bullet i enters a box, and whether it is accurate.

    For a moving box it is the middle of the bounds. A wall is entered where the distance from the plane of the face,
    which changes linearly, is zero. Other boxes are left to exact arithmetic.
    """
    j = hits.interval[i]
    path, piece = query.table.paths[query.table.box[hits.limb[i]]], query.intervals.piece[j]
    if not is_still(query.intervals.rows[j], path):
        return (0.5 * hits.lower[i] + 0.5 * hits.upper[i], 0.0), True
    if not is_wall(query, j, hits.limb[i]):
        return ZERO, False
    u, accurate = plane_crossing(query.flights, piece, ends, path, hits.face[i])
    return u, accurate and hits.lower[i] <= u[0] <= hits.upper[i]


@compiled
def plane_crossing(
    flights: FlightRows, piece: int, ends: Ends, path: Float64Array, face: int
) -> tuple[DoubleDouble, bool]:
    """The u between two s at which a bullet crosses the plane of a wall's face inwards, and whether it is accurate."""
    axis = (face - NEG_X) // 2
    outward = 1.0 if (face - NEG_X) % 2 == 1 else -1.0
    centre, normal, half = vector(path, HERE), vector(path, AXES + 3 * axis), path[HALF + axis]
    start, goal = as_vector(flights.starts, piece), as_vector(flights.ends, piece)
    first = beyond_plane(end_at(start, goal, ends[0]), centre, normal, outward, half)
    last = beyond_plane(end_at(start, goal, ends[1]), centre, normal, outward, half)
    fall = dd_subtract(first, last)
    size = max(largest_component(start), largest_component(goal), largest_component(centre)) + half
    accurate = fall[0] >= LEAST_FALL * size and size <= LARGEST_SAFE and fall[0] >= SMALLEST_SAFE
    return dd_divide(first, fall), accurate


@inlined
def beyond_plane(
    place: DoubleDoubleVector, centre: Vector, normal: Vector, outward: float, half: float
) -> DoubleDouble:
    """How far a place is beyond the face of a box, times the length of the axis."""
    x = dd_multiply((outward * normal[0], 0.0), dd_subtract(place[0], (centre[0], 0.0)))
    y = dd_multiply((outward * normal[1], 0.0), dd_subtract(place[1], (centre[1], 0.0)))
    z = dd_multiply((outward * normal[2], 0.0), dd_subtract(place[2], (centre[2], 0.0)))
    return dd_subtract(dd_add(dd_add(x, y), z), (half, 0.0))


@inlined
def is_wall(query: MovingQuery, j: int, k: int) -> bool:
    """Whether a box stands still in an interval, with given float64 numbers as its centre and axes in the world.

    At one moment between two ticks with equal poses they are not the given ones: there they are rounded once more.
    """
    row, path = query.intervals.rows[j], query.table.paths[query.table.box[k]]
    given = path[TURN + 3] == 1.0
    for column in range(3):
        given &= path[TURN + column] == 0.0 and path[CENTRE + column] == 0.0
    passes = row[ALPHA0] != row[ALPHA1] or row[ALPHA0] == 0.0 or query.table.next_row[k] == STAYS
    return given and passes and is_still(row, path)


@inlined
def is_still(interval: Float64Array, path: Float64Array) -> bool:
    """Whether a box stands still in an interval, so that exact arithmetic can compute its contact."""
    moves = False
    for column in range(3):
        moves |= path[HERE + column] != path[THERE + column]
    for column in range(4):
        moves |= path[TURN + column] != path[TURN_NEXT + column]
    return interval[ALPHA0] == interval[ALPHA1] or not moves


@inlined
def time_at(begin: Float64Array, end: Float64Array, piece: int, s: DoubleDouble) -> DoubleDouble:
    """A time of a piece at s."""
    return number_between(begin[piece], end[piece], s)
