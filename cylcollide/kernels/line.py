"""A ray's line seen from a limb's axis: the conditioned numbers that every shape starts from.

The origin is moved to the line's closest approach to the limb's centre first, so that what follows is of the limb's
size however far away the ray begins; position and direction are then split along and across the axis.
"""

from math import copysign
from typing import NamedTuple

from cylcollide._types import ROUNDING_BOUND, SLOPE_FLOOR
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.interval import NOTHING, Bracket, about
from cylcollide.kernels.ray import Ray, dot
from cylcollide.simd import compiled, merged


class Frame(NamedTuple):
    """A limb prepared for the kernels; lengths in metres, each value right to a few units of roundoff."""

    centre: Vector
    axis: Vector  # unit vector from p1 to p2; zero for a sphere
    half_length: float
    radius: float  # the largest, where there are several
    extent: float  # largest |coordinate| of any point of it; inf if beyond what the kernels trust


class Line(NamedTuple):
    """The point at s metres has the axial place height + rate (s - shift) and lies across at q + p (s - shift)."""

    shift: float
    height: float
    rate: float
    q: Vector
    p: Vector
    delta: float  # bound on all rounding errors, as a displacement


@merged
def rounding_bound(ray: Ray, extent: float) -> float:
    """Delta for a ray and a limb: what all rounding errors together may displace, in metres."""
    return ROUNDING_BOUND * (ray.extent + extent)


@merged
def closest_approach(ray: Ray, centre: Vector) -> tuple[float, Vector]:
    """Metres from the start to the line's closest approach to a point, and the vector from the point to there."""
    d = ray.direction
    o = (ray.origin[0] - centre[0], ray.origin[1] - centre[1], ray.origin[2] - centre[2])
    shift = -dot(o, d)
    return shift, (o[0] + shift * d[0], o[1] + shift * d[1], o[2] + shift * d[2])


@merged
def line_about(ray: Ray, limb: Frame) -> Line:
    """The ray's line, conditioned."""
    shift, x = closest_approach(ray, limb.centre)
    d, w = ray.direction, limb.axis
    height, rate = dot(x, w), dot(d, w)
    q = (x[0] - height * w[0], x[1] - height * w[1], x[2] - height * w[2])
    p = (d[0] - rate * w[0], d[1] - rate * w[1], d[2] - rate * w[2])
    return Line(shift, height, rate, q, p, rounding_bound(ray, limb.extent))


@merged
def slab(line: Line, half_length: float) -> Bracket:
    """When the line is between the planes at -half_length and +half_length along the axis."""
    return slab_about(line.height, line.rate, half_length, line.shift, line.delta)


@merged
def slab_about(height: float, rate: float, half: float, shift: float, delta: float) -> Bracket:
    """When |height + rate (s - shift)| <= half."""
    rate = copysign(max(abs(rate), SLOPE_FLOOR), rate)
    crossing = shift - height / rate
    longest = (half + delta) / abs(rate)
    outer, inner = (crossing - longest, crossing + longest), NOTHING
    if half > delta:
        shortest = (half - delta) / abs(rate)
        inner = (crossing - shortest, crossing + shortest)
    return Bracket(outer, inner)


class Passage(NamedTuple):
    """How the line passes the axis: its least distance, when, and how fast it moves across."""

    middle: float  # metres along the ray
    gap_squared: float
    speed_squared: float


@merged
def passage(line: Line) -> Passage:
    """Least distance from the axis. The minimiser may be far off along a nearly parallel ray, the distance is not."""
    speed_squared = max(dot(line.p, line.p), SLOPE_FLOOR * SLOPE_FLOOR)
    middle = -dot(line.q, line.p) / speed_squared
    nearest = (
        line.q[0] + middle * line.p[0],
        line.q[1] + middle * line.p[1],
        line.q[2] + middle * line.p[2],
    )
    return Passage(line.shift + middle, dot(nearest, nearest), speed_squared)


@merged
def wall(way: Passage, radius: float, delta: float) -> Bracket:
    """When the line is within `radius` of the axis."""
    grown, shrunk = radius + delta, radius - delta
    outer = about(way.middle, (grown * grown - way.gap_squared) / way.speed_squared)
    inner = NOTHING
    if shrunk > 0.0:
        inner = about(way.middle, (shrunk * shrunk - way.gap_squared) / way.speed_squared)
    return Bracket(outer, inner)


@compiled
def ball(ray: Ray, centre: Vector, radius: float, delta: float) -> Bracket:
    """When the line is within `radius` of a point."""
    shift, x = closest_approach(ray, centre)
    gap_squared, grown, shrunk = dot(x, x), radius + delta, radius - delta
    outer = about(shift, grown * grown - gap_squared)
    inner = about(shift, shrunk * shrunk - gap_squared) if shrunk > 0.0 else NOTHING
    return Bracket(outer, inner)
