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
    two_difference,
)
from cylcollide.kernels.interval import EVERYTHING, NOTHING, UNDECIDED_FACE, Bracket, Span, intersect_brackets
from cylcollide.kernels.limb_table import Limb, box_axes
from cylcollide.kernels.line import closest_approach, rounding_bound, slab_about
from cylcollide.kernels.ray import Ray, dot
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import Real, absolute, larger, select, smaller, square_root

NEG_X, NEG_Y, NEG_Z = float(Face.NEG_X), float(Face.NEG_Y), float(Face.NEG_Z)
NONE = float(Face.NONE)


@inlined
def ray_box(ray: Ray, limb: Limb) -> Span:
    """Bounds of when the ray's line is inside, metres.

    The face of entry is certain if its slab, even grown, is entered after the shrunk slabs of both other axes.
    """
    return span_between(*box_slabs(ray, limb))


@inlined
def box_slabs(ray: Ray, limb: Limb) -> tuple[Bracket, Bracket, Bracket, Vector]:
    """Bounds of when the line is inside each of the three slabs, metres; and its rates along their axes."""
    delta, (axes, half) = rounding_bound(ray, limb.extent), box_axes(limb)
    shift, point = closest_approach(ray, limb.centre)
    d = ray.direction
    rate_x, rate_y, rate_z = dot(d, axes[0]), dot(d, axes[1]), dot(d, axes[2])
    x = slab_about(dot(point, axes[0]), rate_x, half[0], shift, delta)
    y = slab_about(dot(point, axes[1]), rate_y, half[1], shift, delta)
    z = slab_about(dot(point, axes[2]), rate_z, half[2], shift, delta)
    return x, y, z, (rate_x, rate_y, rate_z)


@inlined
def span_between(x: Bracket, y: Bracket, z: Bracket, rates: Vector) -> Span:
    """Bounds of when the line is inside all three slabs, and the faces."""
    inside = intersect_brackets(intersect_brackets(x, y), z)
    first, last = faces_through(x, y, z, rates)
    return Span(inside.outer, inside.inner, first, last)


@inlined
def parallel_box_span(ray: Ray, displacement: DoubleDoubleVector, limb: Limb) -> Span:
    """`ray_box` of one ray, without error for slabs across x, y or z that it is parallel to.

    Faces are those that are crossed; an edge belongs to the lowest one.
    """
    (axes, half), (x, y, z, rates) = box_axes(limb), box_slabs(ray, limb)
    return span_between(
        parallel_slab(ray, displacement, limb, axes[0], half[0], x),
        parallel_slab(ray, displacement, limb, axes[1], half[1], y),
        parallel_slab(ray, displacement, limb, axes[2], half[2], z),
        rates,
    )


@inlined
def parallel_slab(
    ray: Ray, displacement: DoubleDoubleVector, limb: Limb, axis: Vector, half: float, slab: Bracket
) -> Bracket:
    """Everything or nothing, if the axis is one of space, at right angles to the displacement; else the given slab."""
    for k in range(3):
        if displacement[k][0] == 0.0 and is_level(axis, k):
            high, low = two_difference(ray.origin[k], limb.centre[k])
            is_beyond = abs(high) > half or (abs(high) == half and low != 0.0 and (low > 0.0) == (high > 0.0))
            return Bracket(NOTHING, NOTHING) if is_beyond else Bracket(EVERYTHING, EVERYTHING)
    return slab


@inlined
def level_face(height: float, limb: Limb, k: int) -> float:
    """The face across x, y or z on which a coordinate is exactly, if an axis of the box is one of these; else NONE."""
    axes, half = box_axes(limb)
    for axis in range(3):
        if is_level(axes[axis], k):
            high, low = two_difference(height, limb.centre[k])
            if abs(high) == half[axis] and low == 0.0:
                return NEG_X + 2.0 * axis + (1.0 if (high > 0.0) == (axes[axis][k] > 0.0) else 0.0)
    return NONE


@inlined
def is_level(axis: Vector, k: int) -> bool:
    """Whether an axis of a box is exactly x, y or z, in either direction."""
    return bool(abs(axis[k]) == 1.0 and abs(axis[(k + 1) % 3]) + abs(axis[(k + 2) % 3]) == 0.0)


@inlined
def faces_through(x: Bracket, y: Bracket, z: Bracket, rates: Vector) -> tuple[Real, Real]:
    """The faces through which a box is certainly entered and left, given by its slabs; else `UNDECIDED_FACE`.

    At most one slab is certain to be entered last.
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
def box_outside_by(point: Vector, limb: Limb) -> Real:
    """Largest of the point's distances from the three slabs, metres; negative inside."""
    (axes, half), x = box_axes(limb), from_centre(point, limb)
    beyond_x = absolute(dot(x, axes[0])) - half[0]
    beyond_y = absolute(dot(x, axes[1])) - half[1]
    beyond_z = absolute(dot(x, axes[2])) - half[2]
    return larger(larger(beyond_x, beyond_y), beyond_z)


@inlined
def box_distance(point: Vector, limb: Limb) -> Real:
    """Signed distance of a point from the surface, negative inside; metres."""
    (axes, half), v = box_axes(limb), from_centre(point, limb)
    x, y, z = (
        absolute(dot(v, axes[0])) - half[0],
        absolute(dot(v, axes[1])) - half[1],
        absolute(dot(v, axes[2])) - half[2],
    )
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
