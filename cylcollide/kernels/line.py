"""A ray's line in coordinates of a limb's axis: well-conditioned numbers, the input of every shape's kernel.

The origin is first moved to the line's closest approach to the limb's centre, so that all later numbers are of the
limb's size however far away the ray begins; position and direction are then split along and across the axis.
"""

from typing import NamedTuple

from cylcollide._types import Face
from cylcollide.constants import ROUNDING_BOUND, SLOPE_FLOOR
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.interval import UNDECIDED_FACE, Bracket, Interval, Span, centred_interval, intersect_brackets
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.ray import Ray, dot, subtract
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import Real, Truth, absolute, fused_multiply_add, larger, select, with_sign

SIDE, CAP1, CAP2 = float(Face.SIDE), float(Face.CAP1), float(Face.CAP2)


class Line(NamedTuple):
    """A line split along and across an axis.

    The point at s metres is at height + rate (s - shift) along the axis and at q + p (s - shift) across it.
    """

    shift: Real  # metres to the closest approach to the limb's centre
    height: Real  # from the centre
    rate: Real
    q: Vector  # at right angles to the axis
    p: Vector  # at right angles to the axis
    delta: Real  # bound on all rounding errors, as a displacement


@inlined
def rounding_bound(ray: Ray, extent: Real) -> Real:
    """Bound on all rounding errors for a ray and a limb of this extent, as a displacement in metres."""
    return ROUNDING_BOUND * (ray.extent + extent)


@inlined
def closest_approach(ray: Ray, centre: Vector) -> tuple[Real, Vector]:
    """Metres from the start to the line's closest approach to a point, and the vector from the point to there."""
    d = ray.direction
    o = subtract(ray.origin, centre)
    shift = -dot(o, d)
    return shift, along(o, d, shift)


@inlined
def along(start: Vector, direction: Vector, s: Real) -> Vector:
    """Start + s direction."""
    return (
        fused_multiply_add(s, direction[0], start[0]),
        fused_multiply_add(s, direction[1], start[1]),
        fused_multiply_add(s, direction[2], start[2]),
    )


@inlined
def line_about(ray: Ray, limb: Limb) -> Line:
    """The ray's line split along and across the axis of a limb."""
    shift, x = closest_approach(ray, limb.centre)
    d, w = ray.direction, limb.axis
    height, rate = dot(x, w), dot(d, w)
    return Line(shift, height, rate, along(x, w, -height), along(d, w, -rate), rounding_bound(ray, limb.extent))


@inlined
def slab(line: Line, half_length: Real) -> Bracket:
    """Bounds of when the line is between the planes at -half_length and +half_length along the axis."""
    return slab_about(line.height, line.rate, half_length, line.shift, line.delta)


@inlined
def slab_about(height: Real, rate: Real, half: Real, shift: Real, delta: Real) -> Bracket:
    """Bounds of the s at which |height + rate (s - shift)| <= half, for errors of at most delta."""
    per_height = 1.0 / with_sign(larger(absolute(rate), SLOPE_FLOOR), rate)
    crossing = fused_multiply_add(-height, per_height, shift)
    longest, shortest = (half + delta) * absolute(per_height), (half - delta) * absolute(per_height)
    return Bracket((crossing - longest, crossing + longest), (crossing - shortest, crossing + shortest))


@inlined
def axis_approach(line: Line) -> tuple[Real, Real, Real]:
    """The line's closest approach to the axis, as `within` takes it: metres along the ray, gap², and 1 / speed².

    The gap is the least distance, the speed the length of the direction's part across the axis. On a nearly parallel
    ray the metres may have a large error, the gap does not.
    """
    speed_squared, least = dot(line.p, line.p), SLOPE_FLOOR * SLOPE_FLOOR
    per_speed_squared = 1.0 / larger(speed_squared, least)
    middle = -select(speed_squared < least, 0.0, dot(line.q, line.p)) * per_speed_squared
    nearest = along(line.q, line.p, middle)
    return line.shift + middle, dot(nearest, nearest), per_speed_squared


@inlined
def within(middle: Real, gap_squared: Real, per_speed_squared: Real, radius: Real, delta: Real) -> Bracket:
    """Bounds of the s at which gap² + speed² (s - middle)² <= radius², for errors of at most delta."""
    grown, shrunk = radius + delta, radius - delta
    outer = centred_interval(middle, fused_multiply_add(grown, grown, -gap_squared) * per_speed_squared, grown > 0.0)
    inner = centred_interval(middle, fused_multiply_add(shrunk, shrunk, -gap_squared) * per_speed_squared, shrunk > 0.0)
    return Bracket(outer, inner)


@inlined
def ball(ray: Ray, centre: Vector, radius: Real, delta: Real) -> Bracket:
    """Bounds of when the line is within `radius` of a point."""
    shift, x = closest_approach(ray, centre)
    return within(shift, dot(x, x), 1.0, radius, delta)


@inlined
def capped(walls: Bracket, slabs: Bracket, forward: Truth) -> Span:
    """The intersection of wall and slab, with the faces of its ends; `forward`: the line runs from cap 1 to cap 2."""
    inside = intersect_brackets(walls, slabs)
    first = face_between(walls.outer[0] > slabs.inner[0], walls.inner, (slabs.outer[0], slabs.inner[0]))
    last = face_between(walls.outer[1] < slabs.inner[1], walls.inner, (slabs.inner[1], slabs.outer[1]))
    cap = select(forward, CAP1, CAP2)
    return Span(
        inside.outer, inside.inner, select(first == CAP1, cap, first), select(last == CAP1, CAP1 + CAP2 - cap, last)
    )


@inlined
def face_between(side: Truth, shrunk_wall: Interval, plane: Interval) -> Real:
    """The face of one end of wall ∩ slab: SIDE, CAP1 for either cap, or `UNDECIDED_FACE`.

    SIDE is certain if the ray crosses even the grown wall inside the shrunk slab; a cap, if the ray is inside the
    shrunk wall at every time at which it may cross the cap's plane. At a rim neither holds.
    """
    cap = (shrunk_wall[0] <= plane[0]) & (plane[1] <= shrunk_wall[1])
    return select(side, SIDE, select(cap, CAP1, UNDECIDED_FACE))
