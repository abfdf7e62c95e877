"""When is a ray certainly, and when possibly, inside a capped cylinder?

The answer is given twice: for the cylinder grown by delta, and for the cylinder shrunk by delta, where delta covers
every rounding error made here (`docs/numerics.md` derives it). The true interval lies between the two. Intersecting the
slab between the caps with the infinite wall needs no cap test of its own and no case for a start inside.

Sources: the slab first and one dot product after Greg James, "Fast Point-In-Cylinder Test"; the quadratic about the
line's closest approach follows the CC0 "Ray/cylinder intersections" derivation; a primitive answers with an interval as
in Embree's and Geometric Tools' cylinders.
"""

from math import copysign, inf, sqrt
from typing import NamedTuple, TypeAlias

from cylcollide._types import HIT, LARGEST_SAFE, MISS, ROUNDING_BOUND, SLOPE_FLOOR, SMALLEST_SAFE, UNSURE, Face
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.ray import Ray, dot, largest_component
from cylcollide.simd import compiled

Interval: TypeAlias = tuple[float, float]

SIDE, CAP1, CAP2 = int(Face.SIDE), int(Face.CAP1), int(Face.CAP2)
UNDECIDED = -1  # a face the bounds do not decide


class Cylinder(NamedTuple):
    """A limb prepared for the kernels; lengths in metres, each value right to a few units of roundoff."""

    centre: Vector
    axis: Vector  # unit vector from p1 to p2
    half_length: float
    radius: float
    extent: float  # largest |coordinate| of the ends, plus the radius; inf if beyond what the kernels trust


class Crossing(NamedTuple):
    """When the ray is inside the wall and between the caps, in metres: of the grown (outer) and shrunk (inner) limb."""

    outer_wall: Interval
    inner_wall: Interval
    outer_slab: Interval
    inner_slab: Interval
    along: bool  # the ray runs from p1 towards p2


@compiled
def make_cylinder(p1: Vector, p2: Vector, radius: float) -> Cylinder:
    """Prepare a limb. Sizes that float64 products cannot hold get an infinite extent: every ray is unsure."""
    centre = (0.5 * (p1[0] + p2[0]), 0.5 * (p1[1] + p2[1]), 0.5 * (p1[2] + p2[2]))
    axis = (p2[0] - p1[0], p2[1] - p1[1], p2[2] - p1[2])
    size = largest_component(axis)
    extent = max(largest_component(p1), largest_component(p2)) + radius
    if not (min(size, radius) >= SMALLEST_SAFE and extent <= LARGEST_SAFE):
        return Cylinder(centre, axis, 0.0, radius, inf)
    length = sqrt(dot(axis, axis))
    return Cylinder(centre, (axis[0] / length, axis[1] / length, axis[2] / length), 0.5 * length, radius, extent)


@compiled
def interval_about(middle: float, half: float, offset: float) -> Interval:
    """[middle - half, middle + half], moved by offset."""
    return middle - half + offset, middle + half + offset


@compiled
def intersection(a: Interval, b: Interval) -> Interval:
    """What two intervals share; empty if the first end comes out after the second."""
    return max(a[0], b[0]), min(a[1], b[1])


@compiled
def ray_cylinder(ray: Ray, limb: Cylinder) -> Crossing:
    """When the ray's line is inside the limb's wall and slab, bracketed from both sides."""
    everything, nothing = (-inf, inf), (inf, -inf)
    delta = ROUNDING_BOUND * (ray.extent + limb.extent)
    if not delta <= LARGEST_SAFE:
        return Crossing(everything, nothing, everything, nothing, True)

    # move the origin to the line's closest approach to the centre
    d, w = ray.direction, limb.axis
    o = (ray.origin[0] - limb.centre[0], ray.origin[1] - limb.centre[1], ray.origin[2] - limb.centre[2])
    shift = -dot(o, d)
    x = (o[0] + shift * d[0], o[1] + shift * d[1], o[2] + shift * d[2])

    # split position and direction along and across the axis
    height, rate = dot(x, w), dot(d, w)
    q = (x[0] - height * w[0], x[1] - height * w[1], x[2] - height * w[2])
    p = (d[0] - rate * w[0], d[1] - rate * w[1], d[2] - rate * w[2])

    # across: least distance from the axis, and the half chord of the wall about it
    speed_squared = max(dot(p, p), SLOPE_FLOOR * SLOPE_FLOOR)
    middle = -dot(q, p) / speed_squared
    nearest = (q[0] + middle * p[0], q[1] + middle * p[1], q[2] + middle * p[2])
    gap_squared = dot(nearest, nearest)
    outer_square = (limb.radius + delta) * (limb.radius + delta) - gap_squared
    inner_square = (limb.radius - delta) * (limb.radius - delta) - gap_squared
    outer_wall, inner_wall = nothing, nothing
    if outer_square >= 0.0:
        outer_wall = interval_about(middle, sqrt(outer_square / speed_squared), shift)
    if inner_square >= 0.0 and limb.radius > delta:
        inner_wall = interval_about(middle, sqrt(inner_square / speed_squared), shift)

    # along: between the two cap planes
    rate = copysign(max(abs(rate), SLOPE_FLOOR), rate)
    crossing = -height / rate
    outer_slab = interval_about(crossing, (limb.half_length + delta) / abs(rate), shift)
    inner_slab = nothing
    if limb.half_length > delta:
        inner_slab = interval_about(crossing, (limb.half_length - delta) / abs(rate), shift)
    return Crossing(outer_wall, inner_wall, outer_slab, inner_slab, rate > 0.0)


@compiled
def hit_verdict(outer: Interval, inner: Interval, limit: float) -> int:
    """HIT if even the shrunk limb meets [0, limit], MISS if not even the grown one does, else UNSURE."""
    if outer[0] > outer[1] or outer[1] < 0.0 or outer[0] > limit:
        return MISS
    if inner[0] <= inner[1] and inner[1] >= 0.0 and inner[0] <= limit:
        return HIT
    return UNSURE


@compiled
def start_verdict(outer: Interval, inner: Interval) -> int:
    """HIT if the start certainly lies in the limb, MISS if it certainly does not, else UNSURE."""
    if outer[0] > 0.0 or outer[1] < 0.0 or outer[0] > outer[1]:
        return MISS
    if inner[0] <= 0.0 <= inner[1]:
        return HIT
    return UNSURE


@compiled
def entry_face(c: Crossing) -> int:
    """The face the ray enters through: the later of wall and cap, if the bounds tell which that is."""
    if c.outer_wall[0] > c.inner_slab[0]:
        return SIDE
    if c.inner_wall[0] <= c.outer_slab[0] and c.inner_slab[0] <= c.inner_wall[1]:
        return CAP1 if c.along else CAP2
    return UNDECIDED


@compiled
def exit_face(c: Crossing) -> int:
    """The face the ray leaves through: the earlier of wall and cap, if the bounds tell which that is."""
    if c.outer_wall[1] < c.inner_slab[1]:
        return SIDE
    if c.inner_wall[0] <= c.inner_slab[1] and c.outer_slab[1] <= c.inner_wall[1]:
        return CAP2 if c.along else CAP1
    return UNDECIDED
