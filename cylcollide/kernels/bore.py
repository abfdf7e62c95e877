"""Thick rays in the bore of a tube: when a point in it comes within a radius R of the wall or of a rim.

In the half plane through the axis the bore lies beside a half strip, |z| <= h and ρ >= the inner radius, which is
convex. The distance from the half strip falls as ρ grows. Along a line ρ is convex, so between two points it is at most
the chord: the distance is at least that of the chord from any plane with the half strip behind it. So the plane at the
nearest place bounds the contact from below as in `first_contact.py`, with the slope of the chord for that of ρ; the
nearest place itself bounds it from above (`docs/numerics.md`).
"""

from math import inf

from cylcollide.constants import SLOPE_FLOOR
from cylcollide.kernels.first_contact import MOST_STEPS, STEEP, TIGHT, certain_contact, newton_step
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.line import Line, axis_approach, within
from cylcollide.kernels.near_line import LEAST_SLOPE, Spot, backwards, near_tube, spot_at
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.simd import (
    Real,
    Truth,
    absolute,
    broadcast_like,
    larger,
    logical_not,
    movemask,
    select,
    smaller,
    square_root,
)


@inlined
def from_half_strip(z: Real, distance: Real, limb: Limb) -> tuple[Real, Real]:
    """How far a point of the half plane is beyond the caps, and nearer to the axis than the bore's wall; 0 if not."""
    return larger(absolute(z) - limb.half_length, 0.0), larger(limb.radius2 - distance, 0.0)


@inlined
def bore_distance(line: Line, limb: Limb, t: Real) -> Real:
    """The distance of the point at t from the half strip."""
    spot = spot_at(line, t)
    beyond, gap = from_half_strip(spot.z, spot.distance, limb)
    return square_root(beyond * beyond + gap * gap)


@inlined
def past_bore(line: Line, limb: Limb, lower: Real, upper: Real, last: Real, radius: Real) -> tuple[Real, Real]:
    """The first contact with a tube, given that with the cylinder around it; arguments as of `first_contact`."""
    known = upper < inf
    on_ring = known & (spot_at(line, select(known, upper, lower)).distance > limb.radius2 + line.delta)
    is_open = (lower <= last) & logical_not(on_ring)
    if movemask(is_open) == 0:
        return lower, upper
    sooner, later = first_in_bore(line, limb, lower, last, is_open, radius)
    return select(is_open, sooner, lower), select(is_open, later, upper)


@inlined
def along_chord(spot: Spot, chord: Real, limb: Limb) -> tuple[Real, Real]:
    """Distance of a point from the half strip, and the slope from there along a chord of ρ, not below -1."""
    beyond, gap = from_half_strip(spot.z, spot.distance, limb)
    distance = square_root(beyond * beyond + gap * gap)
    rise = select(spot.z > 0.0, spot.rate, -spot.rate)
    return distance, (beyond * rise - gap * chord) / larger(distance, LEAST_SLOPE)


@compiled
def first_in_bore(line: Line, limb: Limb, begin: Real, last: Real, is_open: Truth, radius: Real) -> tuple[Real, Real]:
    """Earliest and latest t of the first contact in begin <= t <= last, where the line is within the grown cylinder.

    There is none if the earliest is inf; none is certain if the latest is.
    """
    grown, shrunk, lower = radius + line.delta, radius - line.delta, begin
    wall = within(*axis_approach(line), limb.radius2 - radius, line.delta).outer[1] - line.shift
    wall = larger(begin, smaller(wall, last))
    upper = smaller(
        certain_contact(near_tube(spot_at(line, begin), limb), shrunk, begin, begin, last),
        certain_contact(near_tube(spot_at(line, wall), limb), shrunk, wall, begin, last),
    )
    for _ in range(MOST_STEPS):
        if movemask(is_open) == 0:
            break
        here, top = spot_at(line, lower), smaller(upper, last)
        t = lower + newton_step(near_tube(here, limb), radius)
        t = smaller(select(t > lower, t, select(upper < inf, 0.5 * (lower + top), top)), top)
        near = near_tube(spot_at(line, t), limb)
        upper = select(is_open, smaller(upper, certain_contact(near, shrunk, t, begin, last)), upper)
        # the chord to t, if there is no contact yet; else to the contact that is known
        end = select(near.height > grown, t, smaller(upper, last))
        there = spot_at(line, end)
        chord = (there.distance - here.distance) / larger(end - lower, SLOPE_FLOOR)
        (distance, slope), (left, rise) = along_chord(here, chord, limb), along_chord(there, chord, limb)
        reached = select(slope < -SLOPE_FLOOR, lower - (distance - grown) / smaller(slope, -SLOPE_FLOOR), inf)
        from_there = end - (left - grown) / larger(rise, SLOPE_FLOOR)
        passes = (reached >= end) | ((left > grown) & (from_there <= reached))
        reached = select(distance > grown, select(passes, end, reached), lower)
        never = (reached >= last) & (distance > grown) & logical_not(upper < inf)
        lower = select(is_open, select(never, inf, reached), lower)
        wide = (upper - lower) * larger(-slope, STEEP) > TIGHT * line.delta
        is_open = is_open & (lower < upper) & wide & (upper > begin)
    return lower, upper


@inlined
def in_half_strip(z: Real, distance: Real, limb: Limb, radius: Real) -> Truth:
    """Whether a point of the half plane is within a radius of the half strip."""
    beyond, gap = from_half_strip(z, distance, limb)
    return beyond * beyond + gap * gap <= radius * radius


@compiled
def is_filled(line: Line, limb: Limb, a: Real, b: Real, is_open: Truth, radius: Real) -> Truth:
    """Whether the line is certainly within a radius of the half strip from a to b, given that it is at both times.

    It is between two times if a tangent of ρ is, from either of them: that is a straight line below ρ. What is left is
    halved until it is.
    """
    c = b
    for _ in range(MOST_STEPS):
        if movemask(is_open & (a < b)) == 0:
            break
        one, other = spot_at(line, a), spot_at(line, c)
        ahead = in_half_strip(other.z, one.distance + one.slope * (c - a), limb, radius)
        back = in_half_strip(one.z, other.distance + other.slope * (a - c), limb, radius)
        a, c = select(ahead | back, c, a), select(ahead | back, b, 0.5 * (a + c))
    return is_open & (a >= b)


@inlined
def gap_in_bore(
    line: Line, limb: Limb, entry: tuple[Real, Real], leave: tuple[Real, Real], radius: Real
) -> tuple[Truth, Truth, tuple[Real, Real], tuple[Real, Real]]:
    """Where a line leaves the grown tube for its bore and comes back, between its first entry and its last exit.

    `entry` and `leave` are the outermost and the innermost times of both. Returns whether there is certainly no gap,
    whether there is certainly one and only one, and the outermost and innermost times, seen from the tube, of the exit
    into the gap and of the entry behind it.
    """
    shrunk = radius - 0.5 * line.delta  # certain contacts are deeper by half of that again
    is_known = (entry[1] < inf) & (leave[1] > -inf) & (entry[1] <= leave[1])
    a, b = select(is_known, entry[1], 0.0), select(is_known, leave[1], 0.0)
    middle = larger(a, smaller(axis_approach(line)[0] - line.shift, b))
    distance = bore_distance(line, limb, middle)
    is_free = is_known & (distance > radius + line.delta)
    filled = is_filled(line, limb, a, middle, is_known & (distance <= shrunk), shrunk)
    filled = is_filled(line, limb, middle, b, filled, shrunk)
    none = broadcast_like(inf, a)
    if movemask(is_free) == 0:
        return filled, is_free, (none, none), (none, none)
    back = backwards(line)
    sooner, later = first_in_bore(back, limb, -middle, -select(is_known, entry[0], 0.0), is_free, radius)
    comes, returns = first_in_bore(line, limb, middle, select(is_known, leave[0], 0.0), is_free, radius)
    is_single = is_free & (later < inf) & (returns < inf)
    c, d = select(is_single, -later, a), select(is_single, returns, b)
    is_single = is_filled(line, limb, a, c, is_single, shrunk)
    is_single = is_filled(line, limb, d, b, is_single, shrunk)
    return filled, is_single, (-sooner, -later), (comes, returns)
