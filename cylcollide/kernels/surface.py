"""Where is a point of a ray, and which way does a limb's surface look there?"""

from math import sqrt

from cylcollide._types import Face, Shape
from cylcollide.compiling import compiled
from cylcollide.kernels.crossing import box_face
from cylcollide.kernels.double_double import (
    DoubleDouble,
    DoubleDoubleVector,
    Vector,
    dd_add,
    dd_divide,
    dd_dot,
    dd_multiply,
    dd_subtract,
    heads,
    scaled,
    two_difference,
    two_product,
    vector_difference,
)
from cylcollide.kernels.ray import dot, largest_component
from cylcollide.kernels.table import Limb

SIDE, CAP1, CAP2, BORE, INSIDE = (
    float(Face.SIDE),
    float(Face.CAP1),
    float(Face.CAP2),
    float(Face.BORE),
    float(Face.INSIDE),
)
NEG_X = float(Face.NEG_X)
TAPERED, ELLIPSOID = int(Shape.TAPERED), int(Shape.ELLIPSOID)
CAPSULE, SPHERE = int(Shape.CAPSULE), int(Shape.SPHERE)


@compiled
def point_at(origin: Vector, displacement: DoubleDoubleVector, fraction: DoubleDouble) -> DoubleDoubleVector:
    """Origin + fraction displacement."""
    return (
        dd_add((origin[0], 0.0), dd_multiply(fraction, displacement[0])),
        dd_add((origin[1], 0.0), dd_multiply(fraction, displacement[1])),
        dd_add((origin[2], 0.0), dd_multiply(fraction, displacement[2])),
    )


@compiled
def from_point(place: DoubleDoubleVector, base: Vector) -> DoubleDoubleVector:
    """Place - base."""
    return (
        dd_add(place[0], (-base[0], 0.0)),
        dd_add(place[1], (-base[1], 0.0)),
        dd_add(place[2], (-base[2], 0.0)),
    )


@compiled
def unit(v: Vector) -> Vector:
    """V / |v|, for any v but zero; scaled first, so that nothing overflows."""
    size = largest_component(v)
    if size == 0.0:
        return v
    x, y, z = v[0] / size, v[1] / size, v[2] / size
    length = sqrt(dot((x, y, z), (x, y, z)))
    return x / length + 0.0, y / length + 0.0, z / length + 0.0  # no negative zeros


@compiled
def outward_normal(point: DoubleDoubleVector, limb: Limb, face: float) -> Vector:
    """Unit outward normal of a face at a point of it; zero where there is no face, and at the apex of a cone.

    Caps look along the axis, balls away from their centre, a bore towards the axis. On a wall of radius ρ(u) it is the
    part M (P - p1) across the axis (M = I - d dᵗ, the lecture note's projection) less half the slope of ρ² along it.
    """
    p1, p2 = limb.p1, limb.p2
    radius, radius2 = limb.radius, limb.radius2
    if face == INSIDE:
        return 0.0, 0.0, 0.0
    if face >= NEG_X:
        normal, height = box_face(limb, face)
        sign = 1.0 if height > 0.0 else -1.0
        return unit((sign * normal[0], sign * normal[1], sign * normal[2]))
    if limb.kind == SPHERE or (limb.kind == CAPSULE and face != SIDE):
        return unit(heads(from_point(point, p2 if face == CAP2 else p1)))
    if face == CAP2:
        return unit((p2[0] - p1[0], p2[1] - p1[1], p2[2] - p1[2]))
    if face == CAP1:
        return unit((p1[0] - p2[0], p1[1] - p2[1], p1[2] - p2[2]))
    axis = vector_difference(p2, p1)
    x, top = from_point(point, p1), dd_dot(axis, axis)
    along = dd_divide(dd_dot(x, axis), top)
    across = (
        dd_subtract(x[0], dd_multiply(along, axis[0])),
        dd_subtract(x[1], dd_multiply(along, axis[1])),
        dd_subtract(x[2], dd_multiply(along, axis[2])),
    )
    if face == BORE:
        return unit((-across[0][0], -across[1][0], -across[2][0]))
    if limb.kind != TAPERED and limb.kind != ELLIPSOID:
        return unit(heads(across))
    if limb.kind == TAPERED:
        taper = two_difference(radius2, radius)
        slope = dd_multiply(dd_add((radius, 0.0), dd_multiply(taper, along)), taper)
    else:
        squared = scaled(two_product(radius, radius), 2.0)
        slope = dd_multiply(squared, dd_subtract((1.0, 0.0), scaled(along, 2.0)))
    tilt = dd_divide(slope, top)
    return unit(
        (
            dd_subtract(across[0], dd_multiply(tilt, axis[0]))[0],
            dd_subtract(across[1], dd_multiply(tilt, axis[1]))[0],
            dd_subtract(across[2], dd_multiply(tilt, axis[2]))[0],
        )
    )
