"""The box: the intersection of three slabs, each bounded by two faces."""

from cylcollide._types import Face
from cylcollide.kernels.axis import centred_aabb, from_centre
from cylcollide.kernels.curve import Curve, plane_curve, plane_step, relative_to
from cylcollide.kernels.double_double import (
    DoubleDouble,
    DoubleDoubleVector,
    Vector,
    as_double_double,
    high_words,
)
from cylcollide.kernels.interval import UNDECIDED_FACE, Bracket, Span, intersect_brackets
from cylcollide.kernels.limb_table import Limb, box_axes
from cylcollide.kernels.line import closest_approach, rounding_bound, slab_about
from cylcollide.kernels.ray import Ray, dot
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import Real, absolute, larger, select, smaller, square_root

NEG_X, NEG_Y, NEG_Z = float(Face.NEG_X), float(Face.NEG_Y), float(Face.NEG_Z)


@inlined
def ray_box(ray: Ray, limb: Limb) -> Span:
    """Bounds of when the ray's line is inside, metres.

    The entry face is certain if the ray enters its grown slab after the shrunk slabs of both other axes.
    """
    delta, (axes, half) = rounding_bound(ray, limb.extent), box_axes(limb)
    shift, point = closest_approach(ray, limb.centre)
    d = ray.direction
    rate_x, rate_y, rate_z = dot(d, axes[0]), dot(d, axes[1]), dot(d, axes[2])
    x = slab_about(dot(point, axes[0]), rate_x, half[0], shift, delta)
    y = slab_about(dot(point, axes[1]), rate_y, half[1], shift, delta)
    z = slab_about(dot(point, axes[2]), rate_z, half[2], shift, delta)
    inside = intersect_brackets(intersect_brackets(x, y), z)
    first, last = faces_through(x, y, z, (rate_x, rate_y, rate_z))
    return Span(inside.outer, inside.inner, first, last)


@inlined
def faces_through(x: Bracket, y: Bracket, z: Bracket, rates: Vector) -> tuple[Real, Real]:
    """The faces through which a ray certainly enters and leaves a box, from its slabs; else `UNDECIDED_FACE`.

    At most one slab is certainly entered last.
    """
    faces_x = faces_of(x, intersect_brackets(y, z), rates[0], NEG_X)
    faces_y = faces_of(y, intersect_brackets(z, x), rates[1], NEG_Y)
    faces_z = faces_of(z, intersect_brackets(x, y), rates[2], NEG_Z)
    return (
        larger(larger(faces_x[0], faces_y[0]), faces_z[0]),
        larger(larger(faces_x[1], faces_y[1]), faces_z[1]),
    )


@inlined
def faces_of(one: Bracket, others: Bracket, rate: Real, low: Real) -> tuple[Real, Real]:
    """The faces of a slab through which the ray certainly enters and leaves the box, else `UNDECIDED_FACE`.

    `others` is the intersection of the other two slabs, `low` the code of the slab's lower face.
    """
    enters, leaves = one.outer[0] > others.inner[0], one.outer[1] < others.inner[1]
    first, last = select(rate > 0.0, low, low + 1.0), select(rate > 0.0, low + 1.0, low)
    return select(enters, first, UNDECIDED_FACE), select(leaves, last, UNDECIDED_FACE)


@inlined
def box_face(limb: Limb, face: float) -> tuple[Vector, Real]:
    """The axis at right angles to a face, and the signed distance of the face from the centre along it."""
    axes, halves = box_axes(limb)
    axis, half = axes[1], halves[1]
    if face < NEG_Y:
        axis, half = axes[0], halves[0]
    elif face >= NEG_Z:
        axis, half = axes[2], halves[2]
    if face in (NEG_X, NEG_Y, NEG_Z):
        half = -half
    return axis, half


@inlined
def box_curve(origin: Vector, displacement: DoubleDoubleVector, fraction: Real, limb: Limb, face: float) -> Curve:
    """The `Curve` of the plane of a face along the ray."""
    normal, height = box_face(limb, face)
    x = relative_to(origin, displacement, fraction, limb.centre)
    return plane_curve(x, high_words(displacement), as_double_double(normal), height)


@inlined
def box_step(
    origin: Vector, displacement: DoubleDoubleVector, fraction: float, limb: Limb, face: float
) -> DoubleDouble:
    """The step from the guess to the plane of a face, in units of the fraction."""
    normal, height = box_face(limb, face)
    x = relative_to(origin, displacement, fraction, limb.centre)
    return plane_step(x, displacement, as_double_double(normal), height)


@inlined
def box_normal(limb: Limb, face: float) -> Vector:
    """The outward unit normal of a face."""
    normal, _ = box_face(limb, face)
    sign = -1.0 if face in (NEG_X, NEG_Y, NEG_Z) else 1.0
    return sign * normal[0], sign * normal[1], sign * normal[2]


@inlined
def beyond_slabs(point: Vector, limb: Limb) -> Vector:
    """The point's distances from the three slabs, metres; negative inside."""
    (axes, half), v = box_axes(limb), from_centre(point, limb)
    return (
        absolute(dot(v, axes[0])) - half[0],
        absolute(dot(v, axes[1])) - half[1],
        absolute(dot(v, axes[2])) - half[2],
    )


@inlined
def box_outside_by(point: Vector, limb: Limb) -> Real:
    """Largest of the point's distances from the three slabs, metres; negative inside."""
    x, y, z = beyond_slabs(point, limb)
    return larger(larger(x, y), z)


@inlined
def box_distance(point: Vector, limb: Limb) -> Real:
    """Signed distance of a point from the surface, negative inside; metres."""
    x, y, z = beyond_slabs(point, limb)
    outside = larger(x, 0.0), larger(y, 0.0), larger(z, 0.0)
    return square_root(dot(outside, outside)) + smaller(larger(larger(x, y), z), 0.0)


@inlined
def box_aabb(limb: Limb) -> tuple[Vector, Vector]:
    """Low and high corner of the axis-aligned box around the box."""
    (x, y, z), (a, b, c) = box_axes(limb)
    reach = (
        abs(x[0]) * a + abs(y[0]) * b + abs(z[0]) * c,
        abs(x[1]) * a + abs(y[1]) * b + abs(z[1]) * c,
        abs(x[2]) * a + abs(y[2]) * b + abs(z[2]) * c,
    )
    return centred_aabb(limb.centre, reach)
