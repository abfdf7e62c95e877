"""When is a ray inside a sphere, or inside a capsule: a cylinder with a ball about each end?"""

from math import inf

from cylcollide._types import Face
from cylcollide.compiling import merged
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.interval import UNDECIDED, Interval, Span, both, hull
from cylcollide.kernels.line import Frame, Line, ball, line_about, passage, rounding_bound, slab, wall
from cylcollide.kernels.ray import Ray
from cylcollide.simd import Real, alike, larger, magnitude, select, smaller

SIDE, CAP1, CAP2 = float(Face.SIDE), float(Face.CAP1), float(Face.CAP2)


@merged
def ray_sphere(ray: Ray, limb: Frame) -> Span:
    """When the ray's line is inside the ball about the limb's centre."""
    inside = ball(ray, limb.centre, limb.radius, rounding_bound(ray, limb.extent))
    side = alike(SIDE, ray.limit)
    return Span(inside.outer, inside.inner, side, side)


@merged
def ray_capsule(ray: Ray, limb: Frame, p1: Vector, p2: Vector) -> Span:
    """From the first beginning to the last end of the three parts: their union is convex."""
    line = line_about(ray, limb)
    body = both(wall(passage(line), limb.radius, line.delta), slab(line, limb.half_length))
    first, last = ball(ray, p1, limb.radius, line.delta), ball(ray, p2, limb.radius, line.delta)
    outer = hull(hull(body.outer, first.outer), last.outer)
    inner = hull(hull(body.inner, first.inner), last.inner)
    return Span(
        outer,
        inner,
        zone(line, limb.half_length, (outer[0], inner[0])),
        zone(line, limb.half_length, (inner[1], outer[1])),
    )


@merged
def zone(line: Line, half_length: Real, times: Interval) -> Real:
    """The face by the axial place at some time between two: beyond an end its ball, between them the side."""
    a = line.height + line.rate * (times[0] - line.shift)
    b = line.height + line.rate * (times[1] - line.shift)
    low, high = smaller(a, b) - line.delta, larger(a, b) + line.delta
    side = select((low > -half_length) & (high < half_length), SIDE, UNDECIDED)
    face = select(high < -half_length, CAP1, select(low > half_length, CAP2, side))
    known = (magnitude(times[0]) < inf) & (magnitude(times[1]) < inf)
    return select(known, face, UNDECIDED)
