"""What is asked of a shape, and which kernel answers: the one place that a new shape is entered at.

A limb is one convex piece, but for a tube, which is two: before and behind its bore. Eight limbs at once are of one
shape. The cylinder is merged into every loop that asks; the other shapes stay behind a call.
"""

from cylcollide._types import Face, Shape
from cylcollide.constants import LARGEST_SAFE
from cylcollide.kernels.axis import Aside, height_and_distance
from cylcollide.kernels.box import box_aabb, box_curve, box_frame, box_normal, box_outside_by, box_step, ray_box
from cylcollide.kernels.capsule import (
    ball_step,
    capsule_aabb,
    capsule_curve,
    capsule_normal,
    capsule_outside_by,
    capsule_step,
    ray_capsule,
    ray_sphere,
    sphere_curve,
)
from cylcollide.kernels.curve import Curve
from cylcollide.kernels.cylinder import (
    cylinder_aabb,
    cylinder_curve,
    cylinder_normal,
    cylinder_outside_by,
    cylinder_step,
    ray_cylinder,
    ray_tube,
    tube_outside_by,
)
from cylcollide.kernels.double_double import DoubleDouble, DoubleDoubleVector, Vector, exactly, vector_difference
from cylcollide.kernels.interval import Span, unless
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.line import rounding_bound
from cylcollide.kernels.ray import Ray
from cylcollide.kernels.revolution import (
    ellipsoid_aabb,
    ellipsoid_growth_to_reach,
    ellipsoid_normal,
    ellipsoid_outside_by,
    ray_ellipsoid,
    ray_tapered,
    sloping_curve,
    sloping_step,
    tapered_aabb,
    tapered_normal,
    tapered_outside_by,
)
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.simd import Real

CYLINDER, TUBE, TAPERED = int(Shape.CYLINDER), int(Shape.TUBE), int(Shape.TAPERED)
ELLIPSOID, CAPSULE, SPHERE = int(Shape.ELLIPSOID), int(Shape.CAPSULE), int(Shape.SPHERE)
BOX = int(Shape.BOX)
NEG_X, INSIDE = int(Face.NEG_X), int(Face.INSIDE)


# When is a ray inside? ----------------------------------------------------------------------------------------------


@inlined
def pieces(kind: int) -> int:
    """How many stretches of a line a limb can have: one, or two."""
    return 2 if kind == TUBE else 1


@inlined
def faces(kind: int) -> tuple[int, int]:
    """The codes of a shape's faces begin with the one and end before the other."""
    return (NEG_X, INSIDE) if kind == BOX else (0, NEG_X)


@inlined
def ray_limb(ray: Ray, limb: Limb, piece: int) -> Span:
    """When the ray's line is inside the limb, bounded from both sides; unknown where float64 is not to be trusted."""
    return trusted(ray, limb, ray_shape(ray, limb, piece))


@inlined
def ray_limbs(one: Ray, two: Ray, limb_of_one: Limb, limb_of_two: Limb) -> tuple[Span, Span]:
    """`ray_limb` of twice eight rays, piece 0, with limbs of one shape."""
    if limb_of_one.kind == CYLINDER:
        first, second = ray_cylinder(one, limb_of_one), ray_cylinder(two, limb_of_two)
    else:
        first, second = ray_other(one, limb_of_one, 0), ray_other(two, limb_of_two, 0)
    return trusted(one, limb_of_one, first), trusted(two, limb_of_two, second)


@inlined
def trusted(ray: Ray, limb: Limb, span: Span) -> Span:
    """The span, unless its rounding errors are beyond what float64 can hold."""
    return unless(rounding_bound(ray, limb.frame.extent) > LARGEST_SAFE, span)


@inlined
def ray_shape(ray: Ray, limb: Limb, piece: int) -> Span:
    """`ray_limb` where float64 is trusted."""
    if limb.kind == CYLINDER:
        return ray_cylinder(ray, limb)
    return ray_other(ray, limb, piece)


@compiled
def ray_other(ray: Ray, limb: Limb, piece: int) -> Span:
    """`ray_shape` for the shapes beside the cylinder."""
    if limb.kind == CAPSULE:
        return ray_capsule(ray, limb)
    if limb.kind == SPHERE:
        return ray_sphere(ray, limb)
    if limb.kind == TAPERED:
        return ray_tapered(ray, limb)
    if limb.kind == ELLIPSOID:
        return ray_ellipsoid(ray, limb)
    if limb.kind == TUBE:
        return ray_tube(ray, limb, piece)
    return ray_box(ray, limb)


# Where does it cross a face, and which way does the face look? ------------------------------------------------------


@inlined
def face_curve(origin: Vector, displacement: DoubleDoubleVector, fraction: Real, limb: Limb, face: float) -> Curve:
    """The surface of a face along the ray, seen from a fraction near it."""
    if limb.kind == CYLINDER or limb.kind == TUBE:
        return cylinder_curve(origin, displacement, fraction, limb, face)
    return other_curve(origin, displacement, fraction, limb, face)


@compiled
def other_curve(origin: Vector, displacement: DoubleDoubleVector, fraction: Real, limb: Limb, face: float) -> Curve:
    """`face_curve` for the shapes beside cylinder and tube."""
    if limb.kind == BOX:
        return box_curve(origin, displacement, fraction, limb, face)
    if limb.kind == SPHERE:
        return sphere_curve(origin, displacement, fraction, limb)
    if limb.kind == CAPSULE:
        return capsule_curve(origin, displacement, fraction, limb, face)
    return sloping_curve(origin, displacement, fraction, limb, face)


@compiled
def graze_step(
    origin: Vector, displacement: DoubleDoubleVector, fraction: float, limb: Limb, face: float, entering: bool
) -> DoubleDouble:
    """The step from the guess to a face of one limb, solved in full."""
    if limb.kind == BOX:
        return box_step(origin, displacement, fraction, limb, face)
    if limb.kind == SPHERE:
        return ball_step(origin, displacement, fraction, limb, face, entering)
    if limb.kind == CAPSULE:
        return capsule_step(origin, displacement, fraction, limb, face, entering)
    if limb.kind == ELLIPSOID or limb.kind == TAPERED:
        return sloping_step(origin, displacement, fraction, limb, face, entering)
    return cylinder_step(origin, displacement, fraction, limb, face, entering)


@inlined
def face_normal(beside: Aside, limb: Limb, face: float) -> Vector:
    """The outward direction of a face at a point of it, of any length."""
    if limb.kind == BOX:
        return box_normal(limb, face)
    if limb.kind == SPHERE:
        return beside.place
    if limb.kind == CAPSULE:
        return capsule_normal(beside, face)
    if limb.kind == TAPERED:
        return tapered_normal(beside, face)
    if limb.kind == ELLIPSOID:
        return ellipsoid_normal(beside)
    return cylinder_normal(beside, face)


# Points and boxes ---------------------------------------------------------------------------------------------------


@inlined
def outside_by(point: Vector, limb: Limb) -> Real:
    """How far outside a point is, in metres: negative inside, and never changing faster than the point moves."""
    if limb.kind == CYLINDER:
        height, distance = height_and_distance(point, limb.frame)
        return cylinder_outside_by(height, distance, limb)
    return other_outside_by(point, limb)


@compiled
def other_outside_by(point: Vector, limb: Limb) -> Real:
    """`outside_by` for the shapes beside the cylinder."""
    if limb.kind == BOX:
        return box_outside_by(point, limb)
    height, distance = height_and_distance(point, limb.frame)  # of a sphere 0, and the distance from its centre
    if limb.kind == SPHERE:
        return distance - limb.radius
    if limb.kind == CAPSULE:
        return capsule_outside_by(height, distance, limb)
    if limb.kind == ELLIPSOID:
        return ellipsoid_outside_by(height, distance, limb)
    if limb.kind == TAPERED:
        return tapered_outside_by(height, distance, limb)
    return tube_outside_by(height, distance, limb)


@compiled
def growth_to_reach(point: Vector, limb: Limb) -> float:
    """Growth at which the limb's surface reaches the point, in metres: positive outside, negative inside."""
    if limb.kind == ELLIPSOID:
        return ellipsoid_growth_to_reach(point, limb)
    return outside_by(point, limb)


@compiled
def limb_aabb(limb: Limb) -> tuple[Vector, Vector]:
    """Low and high corner of the axis-aligned box around the limb, not yet rounded outward."""
    if limb.kind == BOX:
        return box_aabb(limb)
    if limb.kind == SPHERE or limb.kind == CAPSULE:
        return capsule_aabb(limb)
    if limb.kind == ELLIPSOID:
        return ellipsoid_aabb(limb)
    if limb.kind == TAPERED:
        return tapered_aabb(limb)
    return cylinder_aabb(limb)


@inlined
def axis_point(limb: Limb) -> Vector:
    """A point of the axis that `axis_distance_squared` means."""
    return limb.frame.centre if limb.kind == BOX else limb.p1


@inlined
def main_axis(limb: Limb) -> DoubleDoubleVector:
    """The direction of that axis, of any length: the third of a box, none of a sphere."""
    if limb.kind == BOX:
        return exactly(box_frame(limb).axes[2])
    return vector_difference(limb.p2, limb.p1)
