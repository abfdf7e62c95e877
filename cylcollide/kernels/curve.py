"""Accurate crossings of a ray and a face: the face's equation along the ray, and the step from a guess to its root.

A face is a surface f = 0 with f a polynomial of degree two along the ray, expanded about a guess near the crossing. A
`Curve` is f for one Newton step from there, its value computed in double-double (`docs/numerics.md`, "Accuracy of a
hit"). At a graze, where that step is not small against the chord, f = 0 is solved in double-double throughout.
"""

from math import nan
from typing import NamedTuple

from cylcollide._types import Face
from cylcollide.constants import SLOPE_ERROR, STEP_ERROR
from cylcollide.kernels.double_double import (
    DoubleDouble,
    DoubleDoubleVector,
    Vector,
    dd_add,
    dd_cross,
    dd_divide,
    dd_dot,
    dd_multiply,
    dd_square_root,
    dd_subtract,
    high_words,
    renormalised,
    two_difference,
    two_product,
    two_sum,
    vector_difference,
)
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.ray import cross, dot
from cylcollide.kernels.traits import WITH_AXES
from cylcollide.runtime.compile import inlined, linkonce
from cylcollide.runtime.simd import Real, Truth, absolute, broadcast_like

SIDE, CAP2, BORE = float(Face.SIDE), float(Face.CAP2), float(Face.BORE)


class Curve(NamedTuple):
    """A surface along the ray, f(t) = value + 2 half_slope t + curvature t², t the fraction less the guess."""

    value: Real  # rounded from double-double
    half_slope: Real  # its error is at most 8.5 u √size
    curvature: Real
    size: Real  # square of the magnitude of the terms of half_slope


@inlined
def unknown_curve(like: Real) -> Curve:
    """The curve of a shape without kernels: NaN."""
    number = broadcast_like(nan, like)
    return Curve(number, number, number, number)


@inlined
def difference(a: DoubleDouble, b: DoubleDouble) -> Real:
    """A - b of two double-doubles of nearly the same value, rounded."""
    return (a[0] - b[0]) + (a[1] - b[1])


@inlined
def relative_to(origin: Vector, displacement: DoubleDoubleVector, fraction: Real, base: Vector) -> DoubleDoubleVector:
    """Origin + fraction displacement - base; error at most 16 u² times the largest term."""
    return (
        relative_coordinate(origin[0], displacement[0], fraction, base[0]),
        relative_coordinate(origin[1], displacement[1], fraction, base[1]),
        relative_coordinate(origin[2], displacement[2], fraction, base[2]),
    )


@inlined
def moved_by(x: DoubleDoubleVector, displacement: DoubleDoubleVector, step: Real) -> DoubleDoubleVector:
    """X + step displacement, for a step of a few units in the last place of the fraction that led to x."""
    return (
        renormalised(x[0][0], x[0][1] + step * displacement[0][0]),
        renormalised(x[1][0], x[1][1] + step * displacement[1][0]),
        renormalised(x[2][0], x[2][1] + step * displacement[2][0]),
    )


@inlined
def relative_coordinate(origin: Real, displacement: DoubleDouble, fraction: Real, base: Real) -> DoubleDouble:
    """`relative_to` for one coordinate."""
    product, error_product = two_product(fraction, displacement[0])
    start, error_start = two_difference(origin, base)
    high, error = two_sum(start, product)
    return renormalised(high, (error + error_start) + (error_product + fraction * displacement[1]))


@inlined
def wall_curve(
    origin: Vector, displacement: DoubleDoubleVector, fraction: Real, limb: Limb, radius_squared: DoubleDouble
) -> Curve:
    """A cylinder's wall: f = |m|² - r² a² with m = x × a, for x from p1.

    Projected across the axis, turned by 90 degrees and scaled by |a|, the ray is m + t n with n = d × a. A ray nearly
    parallel to the axis stays accurate: an error in m only displaces the ray.
    """
    d, axis = high_words(displacement), vector_difference(limb.p2, limb.p1)
    m, a = dd_cross(relative_to(origin, displacement, fraction, limb.p1), axis), high_words(axis)
    n = cross(d, a)
    square, top = dd_dot(m, m), dd_dot(axis, axis)
    value = difference(square, dd_multiply(radius_squared, top))
    return Curve(value, dot(high_words(m), n), dot(n, n), square[0] * top[0] * dot(d, d))


@inlined
def ball_curve(x: DoubleDoubleVector, d: Vector, radius: Real) -> Curve:
    """A ball: f = |x|² - r², for x from its centre."""
    square = dd_dot(x, x)
    value = difference(square, two_product(radius, radius))
    return Curve(value, dot(high_words(x), d), dot(d, d), square[0] * dot(d, d))


@inlined
def plane_curve(x: DoubleDoubleVector, d: Vector, normal: DoubleDoubleVector, height: Real) -> Curve:
    """A plane: f = x·normal - height."""
    gap, n = dd_dot(x, normal), high_words(normal)
    rate = dot(d, n)
    return Curve((gap[0] - height) + gap[1], 0.5 * rate, broadcast_like(0.0, rate), 0.25 * dot(d, d) * dot(n, n))


@inlined
def cap_curve(origin: Vector, displacement: DoubleDoubleVector, fraction: Real, limb: Limb, face: float) -> Curve:
    """The plane of a cap: x·a = 0, for x from its end of the axis."""
    x = relative_to(origin, displacement, fraction, end_of(limb, face))
    return plane_curve(x, high_words(displacement), vector_difference(limb.p2, limb.p1), 0.0)


@inlined
def end_of(limb: Limb, face: float) -> Vector:
    """The end of the axis that a face is computed from: p2 for CAP2, else p1; for a shape with axes, the centre."""
    if limb.kind in WITH_AXES:
        return limb.centre
    if face == CAP2:
        return limb.p2
    return limb.p1


@inlined
def short_step(curve: Curve, guess: Real) -> tuple[Real, Truth]:
    """The step from the guess to the surface, and whether guess + step is right to about one unit of roundoff.

    The root is step (1 - step a / 2b + ...) with a, b the curvature and half the slope. The omitted terms must be below
    0.3 u of the guess, the effect of the error of b below 0.54 u.
    """
    step = -0.5 * curve.value / curve.half_slope
    scale = absolute(guess * curve.half_slope)
    straight = step * step * absolute(curve.curvature) <= STEP_ERROR * scale
    return step, straight & (step * step * curve.size <= SLOPE_ERROR * scale * scale)


# Grazes: the same surfaces as f = a t² + 2 b t + c in double-double, for x the point at the guess.


@inlined
def wall_quadratic(
    x: DoubleDoubleVector, d: DoubleDoubleVector, axis: DoubleDoubleVector
) -> tuple[DoubleDouble, DoubleDouble, DoubleDouble]:
    """Coefficients (a, b, c) of |m + t n|² = a t² + 2 b t + c, see `wall_curve`."""
    m, n = dd_cross(x, axis), dd_cross(d, axis)
    return dd_dot(n, n), dd_dot(m, n), dd_dot(m, m)


@linkonce
def near_root(a: DoubleDouble, b: DoubleDouble, c: DoubleDouble, falling: bool) -> DoubleDouble:
    """The root of a t² + 2 b t + c at which it falls or rises: a t + b = -√(b² - a c) or +√(b² - a c)."""
    root = dd_square_root(dd_subtract(dd_multiply(b, b), dd_multiply(a, c)))
    if falling:
        root = (-root[0], -root[1])
    if (root[0] > 0.0) == (b[0] > 0.0) or a[0] == 0.0:
        # no cancellation in b + root
        return dd_divide((-c[0], -c[1]), dd_add(b, root))
    return dd_divide(dd_subtract(root, b), a)


@inlined
def plane_step(x: DoubleDoubleVector, d: DoubleDoubleVector, normal: DoubleDoubleVector, height: float) -> DoubleDouble:
    """The step from x to the plane x·normal = height."""
    return dd_divide(dd_subtract((height, 0.0), dd_dot(x, normal)), dd_dot(d, normal))


@linkonce
def cap_step(
    origin: Vector, displacement: DoubleDoubleVector, fraction: float, limb: Limb, face: float
) -> DoubleDouble:
    """The step from the guess to the plane of a cap."""
    x = relative_to(origin, displacement, fraction, end_of(limb, face))
    return plane_step(x, displacement, vector_difference(limb.p2, limb.p1), 0.0)


@linkonce
def wall_step(
    origin: Vector, displacement: DoubleDoubleVector, fraction: float, limb: Limb, radius: float, entering: bool
) -> DoubleDouble:
    """The step from the guess to the wall of a cylinder about the axis, where the ray enters or leaves it."""
    axis = vector_difference(limb.p2, limb.p1)
    a, b, c = wall_quadratic(relative_to(origin, displacement, fraction, limb.p1), displacement, axis)
    c = dd_subtract(c, dd_multiply(two_product(radius, radius), dd_dot(axis, axis)))
    return near_root(a, b, c, entering)
