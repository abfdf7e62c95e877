"""Pairs of a bullet in a tick interval and a limb at two ticks, or of eight of each: what loops over bullets test."""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Column, Float64Array, Int32Array, LayerMasks
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.limb_table import eight_of, is_considered
from cylcollide.kernels.ray import broadcast_index, largest_component
from cylcollide.moving.bounds import MovingLimb
from cylcollide.moving.box import BoxPath
from cylcollide.moving.contact import AccurateMotion, accurate_motion
from cylcollide.moving.solids import Affine
from cylcollide.query.loops.moving_rows import (
    AXES,
    CENTRE,
    HALF,
    HERE,
    THERE,
    TURN,
    TURN_NEXT,
    Ends,
    FlightRows,
    IntervalRows,
    MovingRows,
    dd_between,
    place_between,
    vector,
)
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import LANES, Real, larger, load_rows

LEFT_OUT = -1
"""In place of a limb that is certainly not hit: its character is protected, or the bullet misses it."""


class MovingQuery(NamedTuple):
    """Bullets, and the limbs that they may hit: in each of n intervals, those whose boxes the bullet intersects."""

    flights: FlightRows
    intervals: IntervalRows
    table: MovingRows
    offsets: Column[np.int64]  # (n + 1,): of the limbs of each interval
    limb: Column[np.int32]  # or LEFT_OUT
    earliest: Column[np.float64]  # u of the interval before which it is certainly not hit
    until: Column[np.float64]  # u from which on it is protected, inf for never; errs by at most 2⁻⁵⁰. Or (1,) for all
    mask: LayerMasks  # (bullets,), or (1,) for all
    ignored: Column[np.int64]  # (bullets,), or (1,) for all
    resolution: float  # of contacts with boxes, in ticks


class Pair(NamedTuple):
    """A bullet in a tick interval and a limb at both ticks, any but a box; or eight of each, with one shape."""

    flight: Affine  # where the bullet is at both ends of the interval
    alpha: tuple[Real, Real]  # at both ends of the interval
    shape: int
    radius: Real
    radius2: Real
    ends: tuple[Vector, Vector]  # p1 and p2
    next_ends: tuple[Vector, Vector]  # at the next tick
    extent: Real  # as in `moving_hit_bounds`


@inlined
def pair_of(query: MovingQuery, j: int, k: int) -> Pair:
    """Interval j and limb k."""
    rows = query.table.rows
    numbers = eight_of(query.intervals.rows, j, 0), eight_of(rows, k, 0), eight_of(rows, k, LANES)
    return as_pair(query.table.kernel_shape[k], *numbers)


@inlined
def pairs_at(query: MovingQuery, shape: int, chosen: Int32Array, limb: Int32Array, first: int) -> Pair:
    """The intervals `chosen[first]` to `chosen[first + 7]`, and the limbs of one shape at the same places."""
    rows = query.table.rows
    intervals = load_rows(query.intervals.rows, chosen, first, 0)
    return as_pair(shape, intervals, load_rows(rows, limb, first, 0), load_rows(rows, limb, first, LANES))


@inlined
def as_pair(shape: int, interval: tuple[Real, ...], low: tuple[Real, ...], high: tuple[Real, ...]) -> Pair:
    """The pair of a row of `IntervalRows.rows` and a row of `MovingRows.rows`, given in halves; or of eight of each."""
    x0, y0, z0, x1, y1, z1, alpha0, alpha1 = interval
    a, b, c, d, e, f, u, v = low
    w, x, y, z, radius, radius2, own, _ = high
    flight = ((x0, y0, z0), (x1, y1, z1))
    extent = larger(largest_component(flight[0]), largest_component(flight[1])) + own
    ends, next_ends = ((a, b, c), (d, e, f)), ((u, v, w), (x, y, z))
    return Pair(flight, (alpha0, alpha1), shape, radius, radius2, ends, next_ends, extent)


@inlined
def moving_limb(pair: Pair) -> MovingLimb:
    """The limb of a pair during the interval."""
    (p, q), (u, v), (begin, end) = pair.ends, pair.next_ends, pair.alpha
    first, last = (
        (place_between(p, u, begin), place_between(q, v, begin)),
        (place_between(p, u, end), place_between(q, v, end)),
    )
    return MovingLimb(pair.shape, pair.radius, pair.radius2, *first, *last)


@inlined
def is_candidate(query: MovingQuery, k: int, i: int) -> bool:
    """Whether a candidate is not left out, and bullet i considers it."""
    mask, ignored = query.mask[broadcast_index(query.mask, i)], query.ignored[broadcast_index(query.ignored, i)]
    return k != LEFT_OUT and is_considered(query.table.character[k], query.table.mask[k], mask, ignored)


@inlined
def motion_of(pair: Pair, start: Vector, goal: Vector, s: Ends, alpha: Ends) -> AccurateMotion:
    """The motion of a bullet from start to goal, in an interval, relative to a limb; or of eight."""
    (p, q), (u, v), (s0, s1), (a, b) = pair.ends, pair.next_ends, s, alpha
    return accurate_motion(
        (dd_between(start, goal, s0), dd_between(start, goal, s1)),
        (dd_between(p, u, a), dd_between(q, v, a)),
        (dd_between(p, u, b), dd_between(q, v, b)),
    )


@inlined
def box_path(path: Float64Array) -> BoxPath:
    """A row of `MovingRows.paths`."""
    turn = (path[TURN], path[TURN + 1], path[TURN + 2], path[TURN + 3])
    turn_next = (path[TURN_NEXT], path[TURN_NEXT + 1], path[TURN_NEXT + 2], path[TURN_NEXT + 3])
    axes = (vector(path, AXES), vector(path, AXES + 3), vector(path, AXES + 6))
    return BoxPath(
        vector(path, HERE), vector(path, THERE), turn, turn_next, vector(path, CENTRE), axes, vector(path, HALF)
    )
