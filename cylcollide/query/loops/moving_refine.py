"""Accurate contacts of flying bullets: where and when, from what bounds have decided."""

from math import inf, nan
from typing import NamedTuple

from cylcollide._types import BoolArray, Face, Float64Array, Int8Array, Int64Array
from cylcollide.kernels.double_double import DoubleDouble, Vector, dd_add, dd_multiply, dd_subtract
from cylcollide.kernels.inside_policy import HitBounds
from cylcollide.kernels.moving_contact import AccurateMotion, Contact, accurate_contact, accurate_motion
from cylcollide.kernels.ray import as_vector, largest_component
from cylcollide.query.loops.moving import MovingColumns
from cylcollide.query.loops.moving_rows import (
    ALPHA0,
    ALPHA1,
    BOX,
    END,
    EXTENT,
    HERE,
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
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.entry_point import entry_point

INSIDE, NONE = int(Face.INSIDE), int(Face.NONE)


class ContactRows(NamedTuple):
    """First contacts of n bullets."""

    fraction: Float64Array  # (n, 2): s of the piece, high and low word, inf for a miss
    time: Float64Array  # (n,): the bullet's, nan for a miss, and so on
    target_time: Float64Array
    alpha: Float64Array
    piece: Int64Array  # -1 for a miss
    tick: Int64Array  # -1 for a miss
    face: Int8Array
    accurate: BoolArray  # False for one that needs exact arithmetic


@entry_point(reads_all=True)
def refine_contacts(
    flights: FlightRows,
    stretches: StretchRows,
    table: MovingRows,
    hits: MovingColumns,
    first_tick: int,
    begin: int,
    end: int,
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
            contact = Contact(ZERO, is_known)
            if table.solid[hits.limb[i]] == BOX:
                is_exact = is_still(stretches.rows[j], table.paths[table.box[hits.limb[i]]])
                contact = Contact((0.5 * hits.lower[i] + 0.5 * hits.upper[i], 0.0), is_known and not is_exact)
            elif hits.face[i] != INSIDE and is_known:
                contact = limb_contact(flights, stretches, table, hits, i, limits)
            contacts.piece[i], contacts.tick[i] = stretches.piece[j], first_tick + stretches.tick[j]
            contacts.face[i], contacts.accurate[i] = hits.face[i], contact.accurate
            s = dd_add(limits.s[0], dd_multiply(contact.time, dd_subtract(limits.s[1], limits.s[0])))
            change = dd_subtract(limits.alpha[1], limits.alpha[0])
            contacts.fraction[i, 0], contacts.fraction[i, 1] = s
            contacts.alpha[i] = dd_add(limits.alpha[0], dd_multiply(contact.time, change))[0]
            contacts.time[i] = time_at(flights.t0, flights.t1, stretches.piece[j], s)[0]
            contacts.target_time[i] = time_at(flights.target_t0, flights.target_t1, stretches.piece[j], s)[0]


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
