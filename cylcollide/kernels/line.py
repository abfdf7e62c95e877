"""A ray's line seen from a limb's axis: the conditioned numbers that every shape starts from.

The origin is moved to the line's closest approach to the limb's centre first, so that what follows is of the limb's
size however far away the ray begins; position and direction are then split along and across the axis.
"""

from typing import NamedTuple

from cylcollide._types import Face
from cylcollide.constants import ROUNDING_BOUND, SLOPE_FLOOR
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.interval import UNDECIDED_FACE, Bracket, Interval, Span, about, both
from cylcollide.kernels.ray import Ray, dot
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import Real, Truth, absolute, fused_multiply_add, larger, select, with_sign

SIDE, CAP1, CAP2 = float(Face.SIDE), float(Face.CAP1), float(Face.CAP2)


class Frame(NamedTuple):
    """A limb prepared for the kernels; lengths in metres, each value right to a few units of roundoff."""

    centre: Vector
    axis: Vector  # unit vector from p1 to p2; zero for a sphere
    half_length: Real
    radius: Real  # at p1, where there are several
    extent: Real  # largest |coordinate| of any point of it; inf if beyond what the kernels trust


class Line(NamedTuple):
    """The point at s metres has the axial place height + rate (s - shift) and lies across at q + p (s - shift)."""

    shift: Real
    height: Real
    rate: Real
    q: Vector
    p: Vector
    delta: Real  # bound on all rounding errors, as a displacement


@inlined
def rounding_bound(ray: Ray, extent: Real) -> Real:
    """Delta for a ray and a limb: what all rounding errors together may displace, in metres."""
    return ROUNDING_BOUND * (ray.extent + extent)


@inlined
def closest_approach(ray: Ray, centre: Vector) -> tuple[Real, Vector]:
    """Metres from the start to the line's closest approach to a point, and the vector from the point to there."""
    d = ray.direction
    o = (ray.origin[0] - centre[0], ray.origin[1] - centre[1], ray.origin[2] - centre[2])
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
def line_about(ray: Ray, limb: Frame) -> Line:
    """The ray's line, conditioned."""
    shift, x = closest_approach(ray, limb.centre)
    d, w = ray.direction, limb.axis
    height, rate = dot(x, w), dot(d, w)
    return Line(shift, height, rate, along(x, w, -height), along(d, w, -rate), rounding_bound(ray, limb.extent))


@inlined
def slab(line: Line, half_length: Real) -> Bracket:
    """When the line is between the planes at -half_length and +half_length along the axis."""
    return slab_about(line.height, line.rate, half_length, line.shift, line.delta)


@inlined
def slab_about(height: Real, rate: Real, half: Real, shift: Real, delta: Real) -> Bracket:
    """When |height + rate (s - shift)| <= half."""
    per_height = 1.0 / with_sign(larger(absolute(rate), SLOPE_FLOOR), rate)
    crossing = fused_multiply_add(-height, per_height, shift)
    longest, shortest = (half + delta) * absolute(per_height), (half - delta) * absolute(per_height)
    return Bracket((crossing - longest, crossing + longest), (crossing - shortest, crossing + shortest))


class Passage(NamedTuple):
    """How the line passes the axis: its least distance, when, and how fast it moves across."""

    middle: Real  # metres along the ray
    gap_squared: Real
    per_speed_squared: Real


@inlined
def passage(line: Line) -> Passage:
    """Least distance from the axis. The minimiser may be far off along a nearly parallel ray, the distance is not."""
    per_speed_squared = 1.0 / larger(dot(line.p, line.p), SLOPE_FLOOR * SLOPE_FLOOR)
    middle = -dot(line.q, line.p) * per_speed_squared
    nearest = along(line.q, line.p, middle)
    return Passage(line.shift + middle, dot(nearest, nearest), per_speed_squared)


@inlined
def wall(way: Passage, radius: Real, delta: Real) -> Bracket:
    """When the line is within `radius` of the axis."""
    return within(way.middle, way.gap_squared, way.per_speed_squared, radius, delta)


@inlined
def within(middle: Real, gap_squared: Real, per_speed_squared: Real, radius: Real, delta: Real) -> Bracket:
    """When the line is within `radius` of something it passes at `middle`, with a gap, at a speed."""
    grown, shrunk = radius + delta, radius - delta
    outer = about(middle, fused_multiply_add(grown, grown, -gap_squared) * per_speed_squared, grown > 0.0)
    inner = about(middle, fused_multiply_add(shrunk, shrunk, -gap_squared) * per_speed_squared, shrunk > 0.0)
    return Bracket(outer, inner)


@inlined
def ball(ray: Ray, centre: Vector, radius: Real, delta: Real) -> Bracket:
    """When the line is within `radius` of a point."""
    shift, x = closest_approach(ray, centre)
    return within(shift, dot(x, x), 1.0, radius, delta)


@inlined
def capped(walls: Bracket, slabs: Bracket, along: Truth) -> Span:
    """The span between wall and caps. The later beginning and the earlier end name the faces."""
    inside = both(walls, slabs)
    first = face_between(walls.outer[0] > slabs.inner[0], walls.inner, (slabs.outer[0], slabs.inner[0]))
    last = face_between(walls.outer[1] < slabs.inner[1], walls.inner, (slabs.inner[1], slabs.outer[1]))
    cap = select(along, CAP1, CAP2)
    return Span(
        inside.outer,
        inside.inner,
        select(first == CAP1, cap, first),
        select(last == CAP1, CAP1 + CAP2 - cap, last),
    )


@inlined
def face_between(side: Truth, shrunk_wall: Interval, plane: Interval) -> Real:
    """SIDE, CAP1 for either cap, or undecided.

    A side is certain if even the grown wall is crossed on the inner side of the shrunk slab; a cap if, at every time at
    which its plane may be crossed, the ray is inside the shrunk wall. At a rim neither holds.
    """
    cap = (shrunk_wall[0] <= plane[0]) & (plane[1] <= shrunk_wall[1])
    return select(side, SIDE, select(cap, CAP1, UNDECIDED_FACE))
