"""Thick rays in the bore of a tube: when a point in the bore comes within a radius R of the wall or of a rim.

In the half plane through the axis, the bore is bounded by a half strip, |z| <= h and ρ >= the inner radius, which is
convex. The distance from the half strip falls as ρ grows. Along a line ρ is convex, so between two points it is at most
its chord, and the distance is at least that of the chord from any plane with the half strip behind it. The plane at the
nearest place thus bounds the contact from below as in `first_contact.py`, with the slope of the chord in place of that
of ρ; the nearest place itself bounds it from above (`docs/numerics.md`).
"""

from math import inf

from cylcollide.constants import SLOPE_FLOOR
from cylcollide.kernels.first_contact import MOST_STEPS, STEEP, TIGHT, certain_contact, newton_step
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.line import Line, axis_approach, within
from cylcollide.kernels.near_line import LEAST_SLOPE, Spot, backwards, near_tube, spot_at
from cylcollide.runtime.compile import compiled, inlined, linkonce
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
    """Distances of a point of the half plane beyond the caps, and from the bore's wall towards the axis; or 0."""
    return larger(absolute(z) - limb.half_length, 0.0), larger(limb.radius2 - distance, 0.0)


@inlined
def bore_distance(line: Line, limb: Limb, t: Real) -> Real:
    """The distance of the point at t from the half strip."""
    spot = spot_at(line, t)
    beyond, gap = from_half_strip(spot.z, spot.distance, limb)
    return square_root(beyond * beyond + gap * gap)


@inlined
def first_contact_in_tube(
    line: Line, limb: Limb, lower: Real, upper: Real, last: Real, radius: Real
) -> tuple[Real, Real]:
    """The first contact with a tube, given the results of `first_contact` for the cylinder around it."""
    known = upper < inf
    on_ring = known & (spot_at(line, select(known, upper, lower)).distance > limb.radius2 + line.delta)
    is_open = (lower <= last) & logical_not(on_ring)
    if movemask(is_open) == 0:
        return lower, upper
    sooner, later = first_in_bore(line, limb, lower, last, is_open, radius)
    return select(is_open, sooner, lower), select(is_open, later, upper)


@inlined
def along_chord(spot: Spot, chord: Real, limb: Limb) -> tuple[Real, Real]:
    """Distance of a point from the half strip, and its slope along a chord of ρ, which is at least -1."""
    beyond, gap = from_half_strip(spot.z, spot.distance, limb)
    distance = square_root(beyond * beyond + gap * gap)
    rise = select(spot.z > 0.0, spot.rate, -spot.rate)
    return distance, (beyond * rise - gap * chord) / larger(distance, LEAST_SLOPE)


@linkonce
def first_in_bore(line: Line, limb: Limb, begin: Real, last: Real, is_open: Truth, radius: Real) -> tuple[Real, Real]:
    """Earliest and latest t of the first contact in begin <= t <= last, where the line is within the grown cylinder.

    No contact exists if the earliest is inf; none is certain if the latest is inf.
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
        # the chord ends at t if the point there has no contact, else at the certain contact, if any
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
def is_inside_throughout(line: Line, limb: Limb, a: Real, b: Real, is_open: Truth, radius: Real) -> Truth:
    """Whether the line is certainly within a radius of the half strip from a to b, given that it is at both times.

    It is so between two times if the tangent of ρ at one of them, a straight line below ρ, stays within the radius. The
    rest of the interval is halved until this holds.
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
def bore_gap(
    line: Line, limb: Limb, entry: tuple[Real, Real], leave: tuple[Real, Real], radius: Real
) -> tuple[Truth, Truth, tuple[Real, Real], tuple[Real, Real]]:
    """The gap in which a line is in the bore of a grown tube, between its first entry and its last exit.

    `entry` and `leave` are the outermost and innermost times of these two. Returns whether there is certainly no gap,
    whether there is certainly exactly one, and the outermost and innermost times, seen from the tube, of the exit into
    the gap and of the entry behind it.
    """
    shrunk = radius - 0.5 * line.delta  # certain contacts are deeper by another 0.5 delta
    is_known = (entry[1] < inf) & (leave[1] > -inf) & (entry[1] <= leave[1])
    a, b = select(is_known, entry[1], 0.0), select(is_known, leave[1], 0.0)
    middle = larger(a, smaller(axis_approach(line)[0] - line.shift, b))
    distance = bore_distance(line, limb, middle)
    is_free = is_known & (distance > radius + line.delta)
    filled = is_inside_throughout(line, limb, a, middle, is_known & (distance <= shrunk), shrunk)
    filled = is_inside_throughout(line, limb, middle, b, filled, shrunk)
    none = broadcast_like(inf, a)
    if movemask(is_free) == 0:
        return filled, is_free, (none, none), (none, none)
    back = backwards(line)
    sooner, later = first_in_bore(back, limb, -middle, -select(is_known, entry[0], 0.0), is_free, radius)
    comes, returns = first_in_bore(line, limb, middle, select(is_known, leave[0], 0.0), is_free, radius)
    is_single = is_free & (later < inf) & (returns < inf)
    c, d = select(is_single, -later, a), select(is_single, returns, b)
    is_single = is_inside_throughout(line, limb, a, c, is_single, shrunk)
    is_single = is_inside_throughout(line, limb, d, b, is_single, shrunk)
    return filled, is_single, (-sooner, -later), (comes, returns)
