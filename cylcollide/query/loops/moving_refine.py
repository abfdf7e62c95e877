"""Accurate contacts of flying bullets: where and when, from what bounds have decided."""

from math import inf, nan
from typing import NamedTuple

import numpy as np

from cylcollide._types import Column, Face, Float64Array, Rows
from cylcollide.kernels.double_double import (
    DoubleDouble,
    DoubleDoubleVector,
    Vector,
    dd_add,
    dd_multiply,
    dd_subtract,
)
from cylcollide.kernels.inside_policy import HitBounds
from cylcollide.kernels.ray import as_vector, largest_component
from cylcollide.moving.contact import AccurateMotion, Contact, accurate_contact, accurate_motion, first_step
from cylcollide.query.loops.moving import MovingColumns, pairs_at
from cylcollide.query.loops.moving_rows import (
    ALPHA0,
    ALPHA1,
    BOX,
    END,
    EXTENT,
    HERE,
    MOVING_ROW,
    P1,
    P1_NEXT,
    P2,
    P2_NEXT,
    RADIUS,
    RADIUS2,
    START,
    THERE,
    TURN,
    TURN_NEXT,
    ZERO,
    FlightRows,
    Limits,
    MovingRows,
    StretchRows,
    dd_between,
    limits_of,
    number_between,
    vector,
)
from cylcollide.query.loops.packets import vectors_at
from cylcollide.query.loops.pair_queue import SHAPES
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.simd import LANES, Real, load, load_at, load_rows, movemask, prefetch, select, store

INSIDE, NONE = int(Face.INSIDE), int(Face.NONE)

FACES = int(Face.BORE) + 1
GROUPS = SHAPES * FACES
"""Contacts of one shape and one face of it go together: side, caps and bore come first among the faces."""


class ContactRows(NamedTuple):
    """First contacts of n bullets."""

    fraction: Rows[np.float64]  # (n, 2): s of the piece, high and low word, inf for a miss
    time: Column[np.float64]  # the bullet's, nan for a miss, and so on
    target_time: Column[np.float64]
    alpha: Column[np.float64]
    piece: Column[np.int64]  # -1 for a miss
    tick: Column[np.int64]  # -1 for a miss
    face: Column[np.int8]
    accurate: Column[np.bool_]  # False for one that needs exact arithmetic


class RefineLanes(NamedTuple):
    """Contacts whose accurate time is not yet known, queued by shape and face until there are eight."""

    bullet: Rows[np.int64]  # (GROUPS, LANES)
    stretch: Rows[np.int32]  # (GROUPS, LANES)
    piece: Rows[np.int32]  # (GROUPS, LANES)
    limb: Rows[np.int32]  # (GROUPS, LANES)
    place: Rows[np.int32]  # (GROUPS, LANES): 0, 1, 2, ...
    limits: Rows[np.float64]  # (GROUPS · LANES, 8): `Limits`, both words of each
    bounds: Rows[np.float64]  # (2, GROUPS · LANES): lower and upper
    queued: Column[np.int64]  # (GROUPS,): how many
    found: Rows[np.float64]  # (5, LANES): s, both words, alpha and both times


def make_refine_lanes() -> RefineLanes:
    """Empty queues."""
    stretch, piece, limb = np.zeros((3, GROUPS, LANES), np.int32)
    bullet, place = np.zeros((GROUPS, LANES), np.int64), np.arange(GROUPS * LANES, dtype=np.int32)
    limits, bounds, queued = (
        np.zeros((GROUPS * LANES, LANES)),
        np.zeros((2, GROUPS * LANES)),
        np.zeros(GROUPS, np.int64),
    )
    return RefineLanes(
        bullet, stretch, piece, limb, place.reshape(GROUPS, LANES), limits, bounds, queued, np.zeros((5, LANES))
    )


@compiled_loop
def refine_contacts(
    flights: FlightRows,
    stretches: StretchRows,
    table: MovingRows,
    hits: MovingColumns,
    first_tick: int,
    begin: int,
    end: int,
    lanes: RefineLanes,
    contacts: ContactRows,
) -> None:
    """Write the contacts of bullets from `begin` to `end`; `first_tick` is the number of the first tick."""
    for i in range(begin, end):
        j = hits.stretch[i]
        contacts.fraction[i, 0], contacts.fraction[i, 1], contacts.accurate[i] = inf, 0.0, j < 0
        contacts.time[i] = contacts.target_time[i] = contacts.alpha[i] = nan
        contacts.piece[i], contacts.tick[i], contacts.face[i] = -1, -1, NONE
        if j >= 0 and not hits.undecided[i]:
            limits, is_known = limits_of(flights, stretches.piece[j], stretches.tick[j])
            solid = table.solid[hits.limb[i]]
            contacts.piece[i], contacts.tick[i] = stretches.piece[j], first_tick + stretches.tick[j]
            contacts.face[i] = hits.face[i]
            if solid == BOX:
                is_exact = is_still(stretches.rows[j], table.paths[table.box[hits.limb[i]]])
                contact = Contact((0.5 * hits.lower[i] + 0.5 * hits.upper[i], 0.0), is_known and not is_exact)
                write_contact(flights, stretches, hits, i, limits, contact, contacts)
            elif hits.face[i] == INSIDE or not is_known:
                write_contact(flights, stretches, hits, i, limits, Contact(ZERO, is_known), contacts)
            else:
                group = int(solid) * FACES + int(hits.face[i])
                enqueue(stretches, table, hits, i, group, limits, lanes)
                if lanes.queued[group] == LANES:
                    refine_lanes(flights, stretches, table, hits, group, lanes, contacts)
    for group in range(GROUPS):
        if lanes.queued[group] > 0:
            refine_lanes(flights, stretches, table, hits, group, lanes, contacts)


@inlined
def write_contact(
    flights: FlightRows,
    stretches: StretchRows,
    hits: MovingColumns,
    i: int,
    limits: Limits,
    contact: Contact,
    contacts: ContactRows,
) -> None:
    """Write what one contact of bullet i is as s, alpha and times."""
    piece = stretches.piece[hits.stretch[i]]
    s, alpha = along_stretch(limits, contact.time)
    contacts.fraction[i, 0], contacts.fraction[i, 1] = s
    contacts.alpha[i], contacts.accurate[i] = alpha, contact.accurate
    contacts.time[i] = time_at(flights.t0, flights.t1, piece, s)[0]
    contacts.target_time[i] = time_at(flights.target_t0, flights.target_t1, piece, s)[0]


@inlined
def along_stretch(limits: Limits, time: DoubleDouble) -> tuple[DoubleDouble, Real]:
    """S and alpha at u of a stretch; of one, or of eight."""
    change = dd_subtract(limits.alpha[1], limits.alpha[0])
    s = dd_add(limits.s[0], dd_multiply(time, dd_subtract(limits.s[1], limits.s[0])))
    return s, dd_add(limits.alpha[0], dd_multiply(time, change))[0]


@inlined
def enqueue(
    stretches: StretchRows,
    table: MovingRows,
    hits: MovingColumns,
    i: int,
    group: int,
    limits: Limits,
    lanes: RefineLanes,
) -> None:
    """Queue the contact of bullet i."""
    k, j = lanes.queued[group], hits.stretch[i]
    lanes.bullet[group, k], lanes.stretch[group, k], lanes.limb[group, k] = i, j, hits.limb[i]
    lanes.piece[group, k], place = stretches.piece[j], group * LANES + k
    lanes.bounds[0, place], lanes.bounds[1, place] = hits.lower[i], hits.upper[i]
    row = lanes.limits[place]
    row[0], row[1] = limits.s[0]
    row[2], row[3] = limits.s[1]
    row[4], row[5] = limits.alpha[0]
    row[6], row[7] = limits.alpha[1]
    prefetch(table.rows, MOVING_ROW * hits.limb[i])
    prefetch(table.rows, MOVING_ROW * hits.limb[i] + LANES)
    lanes.queued[group] = k + 1


@compiled
def refine_lanes(
    flights: FlightRows,
    stretches: StretchRows,
    table: MovingRows,
    hits: MovingColumns,
    group: int,
    lanes: RefineLanes,
    contacts: ContactRows,
) -> None:
    """Write the queued contacts of one shape and face, and empty the queue; one by one if a step is not enough."""
    first, count, solid, face = group * LANES, lanes.queued[group], group // FACES, group % FACES
    for k in range(count, LANES):
        lanes.stretch[group, k], lanes.limb[group, k] = lanes.stretch[group, 0], lanes.limb[group, 0]
        lanes.piece[group, k] = lanes.piece[group, 0]
    pieces, found = lanes.piece.reshape(-1), lanes.found
    a, b, c, d, e, f, g, h = load_rows(lanes.limits, lanes.place.reshape(-1), first, 0)
    limits = Limits(((a, b), (c, d)), ((e, f), (g, h)))
    pair = pairs_at(stretches, table, lanes.stretch.reshape(-1), lanes.limb.reshape(-1), first)
    start, goal = vectors_at(flights.starts, pieces, first), vectors_at(flights.ends, pieces, first)
    motion = accurate_motion(
        (eight_between(start, goal, limits.s[0]), eight_between(start, goal, limits.s[1])),
        (eight_between(pair.p1, pair.p1_next, limits.alpha[0]), eight_between(pair.p2, pair.p2_next, limits.alpha[0])),
        (eight_between(pair.p1, pair.p1_next, limits.alpha[1]), eight_between(pair.p2, pair.p2_next, limits.alpha[1])),
    )
    lower, upper = load(lanes.bounds, first), load(lanes.bounds, GROUPS * LANES + first)
    bounds = HitBounds(True, True, lower, upper, False, float(face))
    contact = first_step(motion, solid, pair.radius, pair.radius2, bounds, pair.extent)
    s, alpha = along_stretch(limits, contact.time)
    t0, t1 = load_at(flights.t0, pieces, first, 1, 0), load_at(flights.t1, pieces, first, 1, 0)
    u0, u1 = load_at(flights.target_t0, pieces, first, 1, 0), load_at(flights.target_t1, pieces, first, 1, 0)
    store(found, 0, s[0])
    store(found, LANES, s[1])
    store(found, 2 * LANES, alpha)
    store(found, 3 * LANES, number_between(t0, t1, s)[0])
    store(found, 4 * LANES, number_between(u0, u1, s)[0])
    accurate = movemask(contact.accurate)
    for k in range(count):
        i = lanes.bullet[group, k]
        if accurate >> k & 1:
            contacts.fraction[i, 0], contacts.fraction[i, 1], contacts.alpha[i] = found[0, k], found[1, k], found[2, k]
            contacts.time[i], contacts.target_time[i], contacts.accurate[i] = found[3, k], found[4, k], True
        else:
            own, _ = limits_of(flights, stretches.piece[hits.stretch[i]], stretches.tick[hits.stretch[i]])
            one = limb_contact(flights, stretches, table, hits, i, own)
            write_contact(flights, stretches, hits, i, own, one, contacts)
    lanes.queued[group] = 0


@inlined
def eight_between(a: Vector, b: Vector, share: DoubleDouble) -> DoubleDoubleVector:
    """`dd_between` of eight."""
    begins, ends = share[0] == 0.0, (share[0] == 1.0) & (share[1] == 0.0)
    x, y, z = number_between(a[0], b[0], share), number_between(a[1], b[1], share), number_between(a[2], b[2], share)
    exact = begins | ends
    return (
        (select(begins, a[0], select(ends, b[0], x[0])), select(exact, 0.0, x[1])),
        (select(begins, a[1], select(ends, b[1], y[0])), select(exact, 0.0, y[1])),
        (select(begins, a[2], select(ends, b[2], z[0])), select(exact, 0.0, z[1])),
    )


@inlined
def is_still(stretch: Float64Array, path: Float64Array) -> bool:
    """Whether a box stands still in a stretch, so that exact arithmetic knows its contact."""
    moves = False
    for column in range(3):
        moves |= path[HERE + column] != path[THERE + column]
    for column in range(4):
        moves |= path[TURN + column] != path[TURN_NEXT + column]
    return stretch[ALPHA0] == stretch[ALPHA1] or not moves


@compiled
def limb_contact(
    flights: FlightRows, stretches: StretchRows, table: MovingRows, hits: MovingColumns, i: int, limits: Limits
) -> Contact:
    """The contact of bullet i with the limb that it is known to hit, as u of its stretch."""
    j, row = hits.stretch[i], table.rows[hits.limb[i]]
    piece, stretch = stretches.piece[j], stretches.rows[j]
    start, goal = as_vector(flights.starts, piece), as_vector(flights.ends, piece)
    motion = motion_between(start, goal, row, limits)
    extent = extent_of(stretch, row)
    bounds = HitBounds(True, True, hits.lower[i], hits.upper[i], False, float(hits.face[i]))
    return accurate_contact(motion, table.solid[hits.limb[i]], row[RADIUS], row[RADIUS2], bounds, extent)


@compiled
def motion_between(start: Vector, goal: Vector, row: Float64Array, limits: Limits) -> AccurateMotion:
    """The motion of a bullet from start to goal, on a stretch, relative to a limb."""
    p1, p2, p1_next, p2_next = vector(row, P1), vector(row, P2), vector(row, P1_NEXT), vector(row, P2_NEXT)
    return accurate_motion(
        (dd_between(start, goal, limits.s[0]), dd_between(start, goal, limits.s[1])),
        (dd_between(p1, p1_next, limits.alpha[0]), dd_between(p2, p2_next, limits.alpha[0])),
        (dd_between(p1, p1_next, limits.alpha[1]), dd_between(p2, p2_next, limits.alpha[1])),
    )


@inlined
def extent_of(stretch: Float64Array, row: Float64Array) -> float:
    """What the rounding errors of a bullet on a stretch and of a limb are proportional to."""
    own: float = row[EXTENT]
    return max(largest_component(vector(stretch, START)), largest_component(vector(stretch, END))) + own


@inlined
def time_at(begin: Float64Array, end: Float64Array, piece: int, s: DoubleDouble) -> DoubleDouble:
    """A time of a piece at s."""
    return number_between(begin[piece], end[piece], s)
