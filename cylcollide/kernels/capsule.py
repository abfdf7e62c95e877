"""The sphere, and the capsule: the union of a cylinder and a ball around each end."""

from math import inf

from cylcollide._types import Face
from cylcollide.kernels.axis import SurfacePoint, ends_aabb
from cylcollide.kernels.curve import Curve, ball_curve, end_of, near_root, relative_to, wall_curve, wall_step
from cylcollide.kernels.double_double import (
    DoubleDouble,
    DoubleDoubleVector,
    Vector,
    dd_dot,
    dd_subtract,
    high_words,
    two_product,
)
from cylcollide.kernels.interval import UNDECIDED_FACE, Interval, Span, hull, intersect_brackets
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.line import Line, axis_approach, ball, line_about, rounding_bound, slab, within
from cylcollide.kernels.ray import Ray
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import Real, absolute, broadcast_like, larger, select, smaller, square_root

SIDE, CAP1, CAP2 = float(Face.SIDE), float(Face.CAP1), float(Face.CAP2)


@inlined
def ray_sphere(ray: Ray, limb: Limb) -> Span:
    """Bounds of when the ray's line is inside the ball around the limb's centre, metres."""
    inside = ball(ray, limb.centre, limb.radius, rounding_bound(ray, limb.extent))
    side = broadcast_like(SIDE, ray.limit)
    return Span(inside.outer, inside.inner, side, side)


@inlined
def ray_capsule(ray: Ray, limb: Limb) -> Span:
    """Bounds of when the ray's line is inside, metres: the hull of its three parts, since their union is convex."""
    line, radius, half_length = line_about(ray, limb), limb.radius, limb.half_length
    body = intersect_brackets(within(*axis_approach(line), radius, line.delta), slab(line, half_length))
    first, last = ball(ray, limb.p1, radius, line.delta), ball(ray, limb.p2, radius, line.delta)
    outer = hull(hull(body.outer, first.outer), last.outer)
    inner = hull(hull(body.inner, first.inner), last.inner)
    return Span(
        outer, inner, zone(line, half_length, (outer[0], inner[0])), zone(line, half_length, (inner[1], outer[1]))
    )


@inlined
def zone(line: Line, half_length: Real, times: Interval) -> Real:
    """The face during a whole interval of times: a ball's beyond its end of the axis, SIDE between the ends.

    `UNDECIDED_FACE` if the height, height + rate (time - shift) with an error below delta, allows several faces.
    """
    a = line.height + line.rate * (times[0] - line.shift)
    b = line.height + line.rate * (times[1] - line.shift)
    low, high = smaller(a, b) - line.delta, larger(a, b) + line.delta
    side = select((low > -half_length) & (high < half_length), SIDE, UNDECIDED_FACE)
    face = select(high < -half_length, CAP1, select(low > half_length, CAP2, side))
    known = (absolute(times[0]) < inf) & (absolute(times[1]) < inf)
    return select(known, face, UNDECIDED_FACE)


@inlined
def sphere_curve(origin: Vector, displacement: DoubleDoubleVector, fraction: Real, limb: Limb) -> Curve:
    """The `Curve` of the sphere along the ray."""
    return ball_curve(relative_to(origin, displacement, fraction, limb.p1), high_words(displacement), limb.radius)


@inlined
def capsule_curve(origin: Vector, displacement: DoubleDoubleVector, fraction: Real, limb: Limb, face: float) -> Curve:
    """The `Curve` of the wall, or of the ball that the face belongs to, along the ray."""
    if face == SIDE:
        return wall_curve(origin, displacement, fraction, limb, two_product(limb.radius, limb.radius))
    end = relative_to(origin, displacement, fraction, end_of(limb, face))
    return ball_curve(end, high_words(displacement), limb.radius)


@inlined
def ball_step(
    origin: Vector, displacement: DoubleDoubleVector, fraction: float, limb: Limb, face: float, entering: bool
) -> DoubleDouble:
    """The step from the guess to the ball around p2 if the face is CAP2, else around p1."""
    x = relative_to(origin, displacement, fraction, end_of(limb, face))
    value = dd_subtract(dd_dot(x, x), two_product(limb.radius, limb.radius))
    return near_root(dd_dot(displacement, displacement), dd_dot(x, displacement), value, entering)


@inlined
def capsule_step(
    origin: Vector, displacement: DoubleDoubleVector, fraction: float, limb: Limb, face: float, entering: bool
) -> DoubleDouble:
    """The step from the guess to the wall or to a ball."""
    if face == SIDE:
        return wall_step(origin, displacement, fraction, limb, limb.radius, entering)
    return ball_step(origin, displacement, fraction, limb, face, entering)


@inlined
def capsule_normal(point: SurfacePoint, face: float) -> Vector:
    """The outward direction, of any length: away from the axis, or from an end of it."""
    return point.radial if face == SIDE else point.from_end


@inlined
def capsule_outside_by(height: Real, distance: Real, limb: Limb) -> Real:
    """Distance of a point from the segment between the ends, less the radius; metres."""
    beyond = larger(absolute(height) - limb.half_length, 0.0)
    return square_root(distance * distance + beyond * beyond) - limb.radius


@inlined
def capsule_aabb(limb: Limb) -> tuple[Vector, Vector]:
    """Low and high corner around both balls; a sphere's coincide."""
    return ends_aabb(limb, limb.radius, limb.radius, (1.0, 1.0, 1.0))
