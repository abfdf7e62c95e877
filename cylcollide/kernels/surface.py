"""Points of rays, and unit outward normals of limbs at them."""

from math import frexp

import numpy as np

from cylcollide._types import Face
from cylcollide.constants import SMALLEST_SQUARE
from cylcollide.kernels.axis import safe_surface_point, surface_point
from cylcollide.kernels.curve import end_of, moved_by, relative_to, short_step
from cylcollide.kernels.dispatch import face_curve, face_normal, main_axis
from cylcollide.kernels.double_double import (
    DoubleDouble,
    DoubleDoubleVector,
    Vector,
    dd_add,
    dd_multiply,
    high_words,
    two_product,
    two_sum,
)
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.ray import dot, largest_component
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.simd import Real, Truth, square_root

INSIDE = float(Face.INSIDE)


@inlined
def spot_near(
    origin: Vector, displacement: DoubleDoubleVector, fraction: Real, limb: Limb, face: float
) -> tuple[Vector, Vector, Truth]:
    """Point and unit normal where rays cross faces of their limbs, near a rounded fraction; and whether accurate.

    Takes one step from there, as `chord.face_crossing` does. Not accurate at a graze and next to an axis.
    """
    curve = face_curve(origin, displacement, fraction, limb, face)
    step, short = short_step(curve, fraction)
    x = moved_by(relative_to(origin, displacement, fraction, end_of(limb, face)), displacement, step)
    outward = face_normal(safe_surface_point(x, limb), limb, face)
    accurate = short & (dot(outward, outward) > SMALLEST_SQUARE)
    position = (
        coordinate_at(origin[0], displacement[0], fraction, step),
        coordinate_at(origin[1], displacement[1], fraction, step),
        coordinate_at(origin[2], displacement[2], fraction, step),
    )
    return position, over_length(outward), accurate


@inlined
def coordinate_at(origin: Real, displacement: DoubleDouble, fraction: Real, step: Real) -> Real:
    """Origin + (fraction + step) displacement of one coordinate, rounded once but for an error of u² of the terms."""
    product, error_product = two_product(fraction, displacement[0])
    total, error = two_sum(origin, product)
    return total + (error + (error_product + (fraction * displacement[1] + step * displacement[0])))


@compiled
def point_at(origin: Vector, displacement: DoubleDoubleVector, fraction: DoubleDouble) -> DoubleDoubleVector:
    """Origin + fraction displacement, in double-double."""
    return (
        dd_add((origin[0], 0.0), dd_multiply(fraction, displacement[0])),
        dd_add((origin[1], 0.0), dd_multiply(fraction, displacement[1])),
        dd_add((origin[2], 0.0), dd_multiply(fraction, displacement[2])),
    )


@inlined
def over_length(v: Vector) -> Vector:
    """V / |v|, for a vector whose square neither overflows nor underflows."""
    per_length = 1.0 / square_root(dot(v, v))
    return v[0] * per_length + 0.0, v[1] * per_length + 0.0, v[2] * per_length + 0.0  # no negative zeros


@compiled
def unit(v: Vector) -> Vector:
    """V / |v|, for any v but zero; scaled first by a power of two, so that nothing overflows and no bit changes."""
    size = largest_component(v)
    if size == 0.0:
        return v
    exponent = frexp(size)[1]
    return over_length((np.ldexp(v[0], -exponent), np.ldexp(v[1], -exponent), np.ldexp(v[2], -exponent)))


@compiled
def outward_normal(point: DoubleDoubleVector, limb: Limb, face: float) -> Vector:
    """Unit outward normal of a face at a point of it; zero for the face INSIDE."""
    if face == INSIDE:
        return 0.0, 0.0, 0.0
    outward = face_normal(surface_point(point, end_of(limb, face), limb), limb, face)
    if largest_component(outward) == 0.0:
        return any_perpendicular(high_words(main_axis(limb)))  # on the axis, to the point's digits
    return unit(outward)


@compiled
def any_perpendicular(axis: Vector) -> Vector:
    """A unit vector at right angles to an axis; x if the axis is zero."""
    x, y, z = unit(axis)
    if abs(x) <= min(abs(y), abs(z)):
        return unit((1.0 - x * x, -x * y, -x * z))
    if abs(y) <= abs(z):
        return unit((-y * x, 1.0 - y * y, -y * z))
    return unit((-z * x, -z * y, 1.0 - z * z))
