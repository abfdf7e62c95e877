"""When is a ray inside a sphere, or inside a capsule: a cylinder with a ball about each end?"""

from math import inf

from cylcollide._types import Face
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.interval import UNDECIDED, Interval, Span, both, hull
from cylcollide.kernels.line import Frame, Line, ball, line_about, passage, rounding_bound, slab, wall
from cylcollide.kernels.ray import Ray
from cylcollide.simd import compiled

SIDE, CAP1, CAP2 = int(Face.SIDE), int(Face.CAP1), int(Face.CAP2)


@compiled
def ray_sphere(ray: Ray, limb: Frame) -> Span:
    """When the ray's line is inside the ball about the limb's centre."""
    delta = rounding_bound(ray, limb.extent)
    inside = ball(ray, limb.centre, limb.radius, delta)
    return Span(inside.outer, inside.inner, SIDE, SIDE)


@compiled
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


@compiled
def zone(line: Line, half_length: float, times: Interval) -> int:
    """The face by the axial place at some time between two: beyond an end its ball, between them the side."""
    if not (abs(times[0]) < inf and abs(times[1]) < inf):
        return UNDECIDED
    a = line.height + line.rate * (times[0] - line.shift)
    b = line.height + line.rate * (times[1] - line.shift)
    low, high = min(a, b) - line.delta, max(a, b) + line.delta
    if high < -half_length:
        return CAP1
    if low > half_length:
        return CAP2
    if low > -half_length and high < half_length:
        return SIDE
    return UNDECIDED
