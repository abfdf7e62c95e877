"""The cylinder, and the tube: a cylinder with a bore.

Slab between the caps ∩ wall: no separate cap test, no case for a start inside. Sources: the slab first and one dot
product after Greg James, "Fast Point-In-Cylinder Test", and his remark on tubes; the quadratic about the line's closest
approach follows the CC0 "Ray/cylinder intersections" derivation; the result is an interval as in Embree's and
Geometric Tools' cylinders.
"""

from cylcollide._types import Face
from cylcollide.kernels.axis import SurfacePoint, cap_normal, disc_half_widths, ends_aabb
from cylcollide.kernels.curve import Curve, cap_curve, cap_step, wall_curve, wall_step
from cylcollide.kernels.double_double import DoubleDouble, DoubleDoubleVector, Vector, two_product
from cylcollide.kernels.interval import NOTHING, UNDECIDED_FACE, Span, empty, select_interval
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.line import axis_approach, capped, line_about, slab, within
from cylcollide.kernels.ray import Ray
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import Real, absolute, larger, select, smaller, square_root

SIDE, BORE = float(Face.SIDE), float(Face.BORE)


@inlined
def ray_cylinder(ray: Ray, limb: Limb) -> Span:
    """Bounds of when the ray's line is inside, metres."""
    line = line_about(ray, limb)
    walls = within(*axis_approach(line), limb.radius, line.delta)
    return capped(walls, slab(line, limb.half_length), line.rate > 0.0)


@inlined
def ray_tube(ray: Ray, limb: Limb, piece: int) -> Span:
    """Bounds of when the ray's line is inside, before the bore (piece 0) or behind it (piece 1); metres.

    If the ray misses the bore, piece 0 is the whole chord. If the bounds do not decide whether it enters the bore, they
    do not decide whether piece 1 exists.
    """
    line = line_about(ray, limb)
    approach = axis_approach(line)
    walls, bore = within(*approach, limb.radius, line.delta), within(*approach, limb.radius2, line.delta)
    whole = capped(walls, slab(line, limb.half_length), line.rate > 0.0)
    if piece == 0:
        last = select(whole.outer[1] < bore.outer[0], whole.last_face, UNDECIDED_FACE)
        return Span(
            (whole.outer[0], smaller(whole.outer[1], bore.inner[0])),
            (whole.inner[0], smaller(whole.inner[1], bore.outer[0])),
            whole.first_face,
            select(bore.inner[0] < whole.inner[1], BORE, last),
        )
    first = select(whole.outer[0] > bore.outer[1], whole.first_face, UNDECIDED_FACE)
    outer = (larger(whole.outer[0], bore.inner[1]), whole.outer[1])
    inner = (larger(whole.inner[0], bore.outer[1]), whole.inner[1])
    return Span(
        select_interval(empty(bore.outer), NOTHING, outer),
        select_interval(empty(bore.inner), NOTHING, inner),
        select(bore.inner[1] > whole.inner[0], BORE, first),
        whole.last_face,
    )


@inlined
def cylinder_curve(origin: Vector, displacement: DoubleDoubleVector, fraction: Real, limb: Limb, face: float) -> Curve:
    """The `Curve` of the wall, a bore or a cap along the ray."""
    if face == SIDE:
        return wall_curve(origin, displacement, fraction, limb, two_product(limb.radius, limb.radius))
    if face == BORE:
        return wall_curve(origin, displacement, fraction, limb, two_product(limb.radius2, limb.radius2))
    return cap_curve(origin, displacement, fraction, limb, face)


@inlined
def cylinder_step(
    origin: Vector, displacement: DoubleDoubleVector, fraction: float, limb: Limb, face: float, entering: bool
) -> DoubleDouble:
    """The step from the guess to the wall, a bore or a cap."""
    if face == SIDE:
        return wall_step(origin, displacement, fraction, limb, limb.radius, entering)
    if face == BORE:  # the tube is left where a cylinder of the bore's radius is entered
        return wall_step(origin, displacement, fraction, limb, limb.radius2, not entering)
    return cap_step(origin, displacement, fraction, limb, face)


@inlined
def cylinder_normal(point: SurfacePoint, face: float) -> Vector:
    """The outward direction, of any length: away from the axis for SIDE, towards it for BORE, along it for a cap."""
    if face == SIDE:
        return point.radial
    if face == BORE:
        x, y, z = point.radial
        return -x, -y, -z
    return cap_normal(point, face)


@inlined
def cylinder_outside_by(height: Real, distance: Real, limb: Limb) -> Real:
    """Larger of a point's distances beyond the caps and beyond the wall, metres; negative inside."""
    return larger(absolute(height) - limb.half_length, distance - limb.radius)


@inlined
def tube_outside_by(height: Real, distance: Real, limb: Limb) -> Real:
    """Largest of a point's distances beyond the caps, beyond the wall and into the bore, metres; negative inside."""
    return larger(cylinder_outside_by(height, distance, limb), limb.radius2 - distance)


@inlined
def cylinder_distance(height: Real, distance: Real, limb: Limb) -> Real:
    """Signed distance of a point from the surface, negative inside; metres."""
    return rectangle_distance(absolute(height) - limb.half_length, distance - limb.radius)


@inlined
def tube_distance(height: Real, distance: Real, limb: Limb) -> Real:
    """Signed distance of a point from the surface, negative between wall and bore; metres."""
    beyond_walls = larger(distance - limb.radius, limb.radius2 - distance)
    return rectangle_distance(absolute(height) - limb.half_length, beyond_walls)


@inlined
def rectangle_distance(x: Real, y: Real) -> Real:
    """Signed distance of a point from a rectangle, given its signed distances beyond the sides along both axes."""
    out_x, out_y = larger(x, 0.0), larger(y, 0.0)
    return square_root(out_x * out_x + out_y * out_y) + smaller(larger(x, y), 0.0)


@inlined
def cylinder_aabb(limb: Limb) -> tuple[Vector, Vector]:
    """Low and high corner around both discs."""
    return ends_aabb(limb, limb.radius, limb.radius, disc_half_widths(limb))
