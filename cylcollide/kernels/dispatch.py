"""Dispatch by shape: each operation on a limb calls the kernel of its shape. A new shape is registered here.

For unregistered shapes, bounds and boxes exclude nothing, exact arithmetic decides, and faces and normals are NaN.

A line crosses a limb in one piece, but a tube in two: before and behind its bore. Eight limbs at once have one shape.
The cylinder's kernels are inlined into every loop; those of other shapes are called.
"""

from math import inf, nan

from cylcollide._types import Face, Shape
from cylcollide.constants import LARGEST_SAFE
from cylcollide.kernels import box, capsule, cylinder, revolution
from cylcollide.kernels.axis import SurfacePoint, height_and_distance
from cylcollide.kernels.curve import Curve, unknown_curve
from cylcollide.kernels.double_double import (
    DoubleDouble,
    DoubleDoubleVector,
    Vector,
    as_double_double,
    vector_difference,
)
from cylcollide.kernels.interval import Interval, Span, nothing_known, undecided_where
from cylcollide.kernels.limb_table import Limb, box_axes
from cylcollide.kernels.line import rounding_bound
from cylcollide.kernels.ray import Ray
from cylcollide.kernels.traits import WITH_AXES
from cylcollide.runtime.compile import compiled, inlined, linkonce
from cylcollide.runtime.simd import Real, broadcast_like

CYLINDER, TUBE, TAPERED = int(Shape.CYLINDER), int(Shape.TUBE), int(Shape.TAPERED)
ELLIPSOID, CAPSULE, SPHERE = int(Shape.ELLIPSOID), int(Shape.CAPSULE), int(Shape.SPHERE)
BOX = int(Shape.BOX)
NEG_X, INSIDE = int(Face.NEG_X), int(Face.INSIDE)


# When a ray is inside -----------------------------------------------------------------------------------------------


@inlined
def pieces(kind: int) -> int:
    """Largest number of pieces in which a line crosses a limb of this kind: 2 for a tube, else 1."""
    return 2 if kind == TUBE else 1


@inlined
def faces(kind: int) -> tuple[int, int]:
    """The range of a shape's face codes: the first, and one past the last."""
    return (NEG_X, INSIDE) if kind == BOX else (0, NEG_X)


@inlined
def ray_limb(ray: Ray, limb: Limb, piece: int) -> Span:
    """Bounds of when the ray's line is inside one piece of the limb, metres; undecided where float64 is not trusted."""
    return trusted(ray, limb, ray_shape(ray, limb, piece))


@inlined
def ray_limbs(one: Ray, two: Ray, limb_of_one: Limb, limb_of_two: Limb) -> tuple[Span, Span]:
    """`ray_limb` of two sets of eight rays and limbs, all of one shape, piece 0."""
    if limb_of_one.kind == CYLINDER:
        first, second = cylinder.ray_cylinder(one, limb_of_one), cylinder.ray_cylinder(two, limb_of_two)
    else:
        first, second = ray_other(one, limb_of_one, 0), ray_other(two, limb_of_two, 0)
    return trusted(one, limb_of_one, first), trusted(two, limb_of_two, second)


@inlined
def trusted(ray: Ray, limb: Limb, span: Span) -> Span:
    """The span, undecided where its rounding errors may exceed `LARGEST_SAFE`."""
    return undecided_where(rounding_bound(ray, limb.extent) > LARGEST_SAFE, span)


@inlined
def ray_shape(ray: Ray, limb: Limb, piece: int) -> Span:
    """`ray_limb` without the check of `trusted`."""
    if limb.kind == CYLINDER:
        return cylinder.ray_cylinder(ray, limb)
    return ray_other(ray, limb, piece)


@compiled
def ray_other(ray: Ray, limb: Limb, piece: int) -> Span:
    """`ray_shape` for shapes other than the cylinder."""
    if limb.kind == CAPSULE:
        return capsule.ray_capsule(ray, limb)
    if limb.kind == SPHERE:
        return capsule.ray_sphere(ray, limb)
    if limb.kind == TAPERED:
        return revolution.ray_tapered(ray, limb)
    if limb.kind == ELLIPSOID:
        return revolution.ray_ellipsoid(ray, limb)
    if limb.kind == TUBE:
        return cylinder.ray_tube(ray, limb, piece)
    if limb.kind == BOX:
        return box.ray_box(ray, limb)
    return nothing_known(ray.limit)


# Crossings and normals of faces -------------------------------------------------------------------------------------


@inlined
def face_curve(origin: Vector, displacement: DoubleDoubleVector, fraction: Real, limb: Limb, face: float) -> Curve:
    """The `Curve` of a face along the ray, expanded about a fraction near the crossing."""
    if limb.kind == CYLINDER or limb.kind == TUBE:
        return cylinder.cylinder_curve(origin, displacement, fraction, limb, face)
    return other_curve(origin, displacement, fraction, limb, face)


@linkonce
def other_curve(origin: Vector, displacement: DoubleDoubleVector, fraction: Real, limb: Limb, face: float) -> Curve:
    """`face_curve` for shapes other than cylinder and tube."""
    if limb.kind == BOX:
        return box.box_curve(origin, displacement, fraction, limb, face)
    if limb.kind == SPHERE:
        return capsule.sphere_curve(origin, displacement, fraction, limb)
    if limb.kind == CAPSULE:
        return capsule.capsule_curve(origin, displacement, fraction, limb, face)
    if limb.kind == TAPERED or limb.kind == ELLIPSOID:
        return revolution.sloping_curve(origin, displacement, fraction, limb, face)
    return unknown_curve(fraction)


@linkonce
def graze_step(
    origin: Vector, displacement: DoubleDoubleVector, fraction: float, limb: Limb, face: float, entering: bool
) -> DoubleDouble:
    """The step from the guess to a face of one limb, the quadratic solved in double-double."""
    if limb.kind == BOX:
        return box.box_step(origin, displacement, fraction, limb, face)
    if limb.kind == SPHERE:
        return capsule.ball_step(origin, displacement, fraction, limb, face, entering)
    if limb.kind == CAPSULE:
        return capsule.capsule_step(origin, displacement, fraction, limb, face, entering)
    if limb.kind == ELLIPSOID or limb.kind == TAPERED:
        return revolution.sloping_step(origin, displacement, fraction, limb, face, entering)
    if limb.kind == CYLINDER or limb.kind == TUBE:
        return cylinder.cylinder_step(origin, displacement, fraction, limb, face, entering)
    return nan, nan


@inlined
def face_normal(point: SurfacePoint, limb: Limb, face: float) -> Vector:
    """The outward direction of a face at a point of it, of any length."""
    if limb.kind == BOX:
        return box.box_normal(limb, face)
    if limb.kind == SPHERE:
        return point.from_end
    if limb.kind == CAPSULE:
        return capsule.capsule_normal(point, face)
    if limb.kind == TAPERED:
        return revolution.tapered_normal(point, face)
    if limb.kind == ELLIPSOID:
        return revolution.ellipsoid_normal(point)
    if limb.kind == CYLINDER or limb.kind == TUBE:
        return cylinder.cylinder_normal(point, face)
    unknown = broadcast_like(nan, point.from_end[0])
    return unknown, unknown, unknown


# Points and boxes ---------------------------------------------------------------------------------------------------


@inlined
def outside_by(point: Vector, limb: Limb) -> Real:
    """Amount by which a point is outside, metres; negative inside. As a function of the point, 1-Lipschitz."""
    if limb.kind == CYLINDER:
        height, distance = height_and_distance(point, limb)
        return cylinder.cylinder_outside_by(height, distance, limb)
    return other_outside_by(point, limb)


@compiled
def other_outside_by(point: Vector, limb: Limb) -> Real:
    """`outside_by` for shapes other than the cylinder."""
    if limb.kind == BOX:
        return box.box_outside_by(point, limb)
    height, distance = height_and_distance(point, limb)  # for a sphere, 0 and the distance from its centre
    if limb.kind == SPHERE:
        return distance - limb.radius
    if limb.kind == CAPSULE:
        return capsule.capsule_outside_by(height, distance, limb)
    if limb.kind == ELLIPSOID:
        return revolution.ellipsoid_outside_by(height, distance, limb)
    if limb.kind == TAPERED:
        return revolution.tapered_outside_by(height, distance, limb)
    if limb.kind == TUBE:
        return cylinder.tube_outside_by(height, distance, limb)
    return broadcast_like(nan, height)


@inlined
def distance_to(point: Vector, limb: Limb) -> Interval:
    """Bounds of the signed distance of a point from the limb's surface, negative inside, up to rounding; metres."""
    if limb.kind == CYLINDER:
        height, distance = height_and_distance(point, limb)
        return exactly(cylinder.cylinder_distance(height, distance, limb))
    return other_distance_to(point, limb)


@compiled
def other_distance_to(point: Vector, limb: Limb) -> Interval:
    """`distance_to` for shapes other than the cylinder."""
    if limb.kind == BOX:
        return exactly(box.box_distance(point, limb))
    height, distance = height_and_distance(point, limb)
    if limb.kind == SPHERE:
        return exactly(distance - limb.radius)
    if limb.kind == CAPSULE:
        return exactly(capsule.capsule_outside_by(height, distance, limb))
    if limb.kind == ELLIPSOID:
        return revolution.ellipsoid_distance(height, distance, limb)
    if limb.kind == TAPERED:
        return exactly(revolution.tapered_distance(height, distance, limb))
    if limb.kind == TUBE:
        return exactly(cylinder.tube_distance(height, distance, limb))
    return broadcast_like(-inf, height), broadcast_like(inf, height)


@inlined
def exactly(number: Real) -> Interval:
    """The interval of one number."""
    return number, number


@compiled
def growth_to_reach(point: Vector, limb: Limb) -> float:
    """Growth at which the limb's surface reaches the point, in metres: positive outside, negative inside."""
    if limb.kind == ELLIPSOID:
        return revolution.ellipsoid_growth_to_reach(point, limb)
    return outside_by(point, limb)


@compiled
def limb_aabb(limb: Limb) -> tuple[Vector, Vector]:
    """Low and high corner of the axis-aligned box around the limb, not yet rounded outward."""
    if limb.kind == BOX:
        return box.box_aabb(limb)
    if limb.kind == SPHERE or limb.kind == CAPSULE:
        return capsule.capsule_aabb(limb)
    if limb.kind == ELLIPSOID:
        return revolution.ellipsoid_aabb(limb)
    if limb.kind == TAPERED:
        return revolution.tapered_aabb(limb)
    if limb.kind == CYLINDER or limb.kind == TUBE:
        return cylinder.cylinder_aabb(limb)
    return (-limb.extent, -limb.extent, -limb.extent), (limb.extent, limb.extent, limb.extent)


@inlined
def axis_point(limb: Limb) -> Vector:
    """A point of the axis that `axis_distance_squared` is measured from."""
    return limb.centre if limb.kind in WITH_AXES else limb.p1


@inlined
def main_axis(limb: Limb) -> DoubleDoubleVector:
    """The direction of that axis, of any length: the third axis of a shape that has axes, zero for a sphere."""
    if limb.kind in WITH_AXES:
        return as_double_double(box_axes(limb)[0][2])
    return vector_difference(limb.p2, limb.p1)
