"""Where exactly does a ray cross a face?

Verdict and face are known when these are called, and so is a guess: the middle of the bracket that the bounds give. A
face is a surface f = 0 with f a polynomial of degree two along the ray, so one step from the guess is enough,
if f is evaluated in double-double there (`docs/numerics.md`, "Accuracy of a hit"). Only where the step is not
small against the chord, at a graze, the quadratic is solved, in double-double throughout.
"""

from typing import NamedTuple

from cylcollide._types import SLOPE_ERROR, STEP_ERROR, Face, Shape
from cylcollide.compiling import compiled, merged
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
    heads,
    renormalised,
    scaled,
    two_difference,
    two_product,
    two_sum,
    vector_difference,
)
from cylcollide.kernels.ray import Ray, dot
from cylcollide.kernels.table import Limb, box_frame
from cylcollide.simd import Real, Truth, alike, magnitude, select

SIDE, CAP1, CAP2, BORE = float(Face.SIDE), float(Face.CAP1), float(Face.CAP2), float(Face.BORE)
NEG_X, NEG_Y, NEG_Z = float(Face.NEG_X), float(Face.NEG_Y), float(Face.NEG_Z)
CYLINDER, TUBE, TAPERED, ELLIPSOID = (
    int(Shape.CYLINDER),
    int(Shape.TUBE),
    int(Shape.TAPERED),
    int(Shape.ELLIPSOID),
)
CAPSULE, SPHERE, BOX = int(Shape.CAPSULE), int(Shape.SPHERE), int(Shape.BOX)


class Curve(NamedTuple):
    """A surface along the ray, from the guess: f(t) = value + 2 half_slope t + curvature t²."""

    value: Real  # from double-double
    half_slope: Real  # its error is at most 8.5 u √size
    curvature: Real
    size: Real


@merged
def relative_to(origin: Vector, displacement: DoubleDoubleVector, fraction: Real, base: Vector) -> DoubleDoubleVector:
    """Origin + fraction displacement - base; error at most 16 u² times the largest term."""
    return (
        relative_coordinate(origin[0], displacement[0], fraction, base[0]),
        relative_coordinate(origin[1], displacement[1], fraction, base[1]),
        relative_coordinate(origin[2], displacement[2], fraction, base[2]),
    )


@merged
def relative_coordinate(origin: Real, displacement: DoubleDouble, fraction: Real, base: Real) -> DoubleDouble:
    """`relative_to` for one coordinate."""
    product, error_product = two_product(fraction, displacement[0])
    start, error_start = two_difference(origin, base)
    high, error = two_sum(start, product)
    return renormalised(high, (error + error_start) + (error_product + fraction * displacement[1]))


@merged
def wall_curve(x: DoubleDoubleVector, d: Vector, axis: DoubleDoubleVector, top: DoubleDouble, radius: Real) -> Curve:
    """A cylinder's wall: f = |m|² - r² a² with m = x × a, for x from p1; `top` is a².

    Across the axis, turned by 90 degrees and scaled by |a|, the ray is m + t n with n = d × a. That keeps a ray nearly
    parallel to the axis accurate: an error in m displaces the ray, and no more.
    """
    m, a = dd_cross(x, axis), heads(axis)
    n = (d[1] * a[2] - d[2] * a[1], d[2] * a[0] - d[0] * a[2], d[0] * a[1] - d[1] * a[0])
    square, room = dd_dot(m, m), dd_multiply(two_product(radius, radius), top)
    value = (square[0] - room[0]) + (square[1] - room[1])
    return Curve(value, dot(heads(m), n), dot(n, n), square[0] * top[0] * dot(d, d))


@merged
def ball_curve(x: DoubleDoubleVector, d: Vector, radius: Real) -> Curve:
    """A ball: f = |x|² - r², for x from its centre."""
    square, room = dd_dot(x, x), two_product(radius, radius)
    value = (square[0] - room[0]) + (square[1] - room[1])
    return Curve(value, dot(heads(x), d), dot(d, d), square[0] * dot(d, d))


@merged
def plane_curve(x: DoubleDoubleVector, d: Vector, normal: DoubleDoubleVector, height: DoubleDouble) -> Curve:
    """A plane: f = x·normal - height."""
    gap, n = dd_dot(x, normal), heads(normal)
    rate = dot(d, n)
    value = (gap[0] - height[0]) + (gap[1] - height[1])
    return Curve(value, 0.5 * rate, alike(0.0, rate), 0.25 * dot(d, d) * dot(n, n))


@merged
def chosen_curve(truth: Truth, a: Curve, b: Curve) -> Curve:
    """`a` where `truth`, else `b`."""
    return Curve(
        select(truth, a.value, b.value),
        select(truth, a.half_slope, b.half_slope),
        select(truth, a.curvature, b.curvature),
        select(truth, a.size, b.size),
    )


@merged
def chosen_vector(truth: Truth, a: Vector, b: Vector) -> Vector:
    """`a` where `truth`, else `b`."""
    return select(truth, a[0], b[0]), select(truth, a[1], b[1]), select(truth, a[2], b[2])


@merged
def box_face(limb: Limb, face: Real) -> tuple[Vector, Real]:
    """Axis that belongs to a face of a box, and the signed height of the face along it."""
    box, is_x, is_z = box_frame(limb), face < NEG_Y, face >= NEG_Z
    axis = chosen_vector(is_x, box.axes[0], chosen_vector(is_z, box.axes[2], box.axes[1]))
    half = select(is_x, box.half[0], select(is_z, box.half[2], box.half[1]))
    lower = (face == NEG_X) | (face == NEG_Y) | (face == NEG_Z)
    return axis, select(lower, -half, half)


@merged
def exactly(v: Vector) -> DoubleDoubleVector:
    """The vector with low words of zero."""
    zero = alike(0.0, v[0])
    return (v[0], zero), (v[1], zero), (v[2], zero)


@merged
def face_curve(origin: Vector, displacement: DoubleDoubleVector, fraction: Real, limb: Limb, face: Real) -> Curve:
    """The surface of a face along the ray, seen from a fraction near it."""
    if limb.kind == CYLINDER or limb.kind == TUBE:
        d, axis = heads(displacement), vector_difference(limb.p2, limb.p1)
        x, top = relative_to(origin, displacement, fraction, limb.p1), dd_dot(axis, axis)
        wall = wall_curve(x, d, axis, top, select(face == BORE, limb.radius2, limb.radius))
        return with_caps(wall, x, d, axis, top, face)
    return other_curve(origin, displacement, fraction, limb, face)


@compiled
def other_curve(origin: Vector, displacement: DoubleDoubleVector, fraction: Real, limb: Limb, face: Real) -> Curve:
    """`face_curve` for the shapes beside cylinder and tube."""
    d = heads(displacement)
    if limb.kind == BOX:
        normal, height = box_face(limb, face)
        x = relative_to(origin, displacement, fraction, limb.frame.centre)
        return plane_curve(x, d, exactly(normal), (height, alike(0.0, height)))
    x = relative_to(origin, displacement, fraction, limb.p1)
    if limb.kind == SPHERE:
        return ball_curve(x, d, limb.radius)
    axis = vector_difference(limb.p2, limb.p1)
    top = dd_dot(axis, axis)
    if limb.kind == CAPSULE:
        end = relative_to(origin, displacement, fraction, chosen_vector(face == CAP2, limb.p2, limb.p1))
        return chosen_curve(face == SIDE, wall_curve(x, d, axis, top, limb.radius), ball_curve(end, d, limb.radius))
    a, b, c = sloping_quadratic(x, displacement, axis, limb)
    curve = Curve(c[0], b[0], a[0], b[0] * b[0])
    if limb.kind == ELLIPSOID:
        return curve
    return with_caps(curve, x, d, axis, top, face)


@merged
def with_caps(
    wall: Curve, x: DoubleDoubleVector, d: Vector, axis: DoubleDoubleVector, top: DoubleDouble, face: Real
) -> Curve:
    """The wall, or the cap that the face is: x·a = 0 or a²."""
    far = face == CAP2
    cap = plane_curve(x, d, axis, (select(far, top[0], 0.0), select(far, top[1], 0.0)))
    return chosen_curve((face == SIDE) | (face == BORE), wall, cap)


@merged
def short_step(curve: Curve, guess: Real) -> tuple[Real, Truth]:
    """The step from the guess to the surface, and whether both together are right to about a unit of roundoff.

    The root is step (1 - step a / 2b + ...) with a, b the curvature and half the slope. What is left out must be below
    0.3 u of the guess, what the error of b does below 0.54 u.
    """
    step = -0.5 * curve.value / curve.half_slope
    room = magnitude(guess * curve.half_slope)
    straight = step * step * magnitude(curve.curvature) <= STEP_ERROR * room
    return step, straight & (step * step * curve.size <= SLOPE_ERROR * room * room)


# Grazes: the same surfaces as f = a t² + 2 b t + c in double-double, for x the place of the guess.


@merged
def sloping_quadratic(
    x: DoubleDoubleVector, d: DoubleDoubleVector, axis: DoubleDoubleVector, limb: Limb
) -> tuple[DoubleDouble, DoubleDouble, DoubleDouble]:
    """The wall of a tapered cylinder or an ellipsoid, x from p1: a² |m + t n|² <= a⁴ ρ²(u)."""
    a, b, c = wall_quadratic(x, d, axis)
    top = dd_dot(axis, axis)
    height, rate = dd_dot(x, axis), dd_dot(d, axis)
    a, b, c = dd_multiply(a, top), dd_multiply(b, top), dd_multiply(c, top)
    if limb.kind == TAPERED:
        # a⁴ ρ² = (r1 a² + (r2 - r1) h)² = (start + t change)²
        taper = two_difference(limb.radius2, limb.radius)
        start = dd_add(dd_multiply((limb.radius, alike(0.0, limb.radius)), top), dd_multiply(taper, height))
        change = dd_multiply(taper, rate)
        return (
            dd_subtract(a, dd_multiply(change, change)),
            dd_subtract(b, dd_multiply(start, change)),
            dd_subtract(c, dd_multiply(start, start)),
        )
    # a⁴ ρ² = 4 r² h (a² - h)
    four = scaled(two_product(limb.radius, limb.radius), 4.0)
    rest = dd_subtract(top, height)
    return (
        dd_add(a, dd_multiply(four, dd_multiply(rate, rate))),
        dd_subtract(b, scaled(dd_multiply(four, dd_multiply(rate, dd_subtract(rest, height))), 0.5)),
        dd_subtract(c, dd_multiply(four, dd_multiply(height, rest))),
    )


@merged
def wall_quadratic(
    x: DoubleDoubleVector, d: DoubleDoubleVector, axis: DoubleDoubleVector
) -> tuple[DoubleDouble, DoubleDouble, DoubleDouble]:
    """|m + t n|², see `wall_curve`."""
    m, n = dd_cross(x, axis), dd_cross(d, axis)
    return dd_dot(n, n), dd_dot(m, n), dd_dot(m, m)


@compiled
def near_root(a: DoubleDouble, b: DoubleDouble, c: DoubleDouble, falling: bool) -> DoubleDouble:
    """The root of a t² + 2 b t + c at which it falls or rises: a t + b = -√(b² - a c) or +√(b² - a c)."""
    root = dd_square_root(dd_subtract(dd_multiply(b, b), dd_multiply(a, c)))
    if falling:
        root = (-root[0], -root[1])
    if (root[0] > 0.0) == (b[0] > 0.0) or a[0] == 0.0:
        # no cancellation in b + root
        return dd_divide((-c[0], -c[1]), dd_add(b, root))
    return dd_divide(dd_subtract(root, b), a)


@merged
def plane_step(x: DoubleDoubleVector, d: DoubleDoubleVector, normal: DoubleDoubleVector, height: float) -> DoubleDouble:
    """The step to the plane x·normal = height."""
    return dd_divide(dd_subtract((height, 0.0), dd_dot(x, normal)), dd_dot(d, normal))


@compiled
def graze_step(
    origin: Vector, displacement: DoubleDoubleVector, fraction: float, limb: Limb, face: float, entering: bool
) -> DoubleDouble:
    """The step from the guess to a face of one limb, solved in full."""
    if limb.kind == BOX:
        normal, height = box_face(limb, face)
        x = relative_to(origin, displacement, fraction, limb.frame.centre)
        return plane_step(x, displacement, exactly(normal), height)
    falling = entering != (face == BORE)  # the bore is left where a cylinder of its radius would be entered
    if limb.kind == SPHERE or (limb.kind == CAPSULE and face != SIDE):
        x = relative_to(origin, displacement, fraction, limb.p2 if face == CAP2 else limb.p1)
        room = dd_subtract(dd_dot(x, x), two_product(limb.radius, limb.radius))
        return near_root(dd_dot(displacement, displacement), dd_dot(x, displacement), room, falling)
    axis = vector_difference(limb.p2, limb.p1)
    if face in (CAP1, CAP2):
        end = relative_to(origin, displacement, fraction, limb.p2 if face == CAP2 else limb.p1)
        return plane_step(end, displacement, axis, 0.0)
    x = relative_to(origin, displacement, fraction, limb.p1)
    if limb.kind == ELLIPSOID or limb.kind == TAPERED:
        a, b, c = sloping_quadratic(x, displacement, axis, limb)
    else:
        a, b, c = wall_quadratic(x, displacement, axis)
        radius = limb.radius2 if face == BORE else limb.radius
        c = dd_subtract(c, dd_multiply(two_product(radius, radius), dd_dot(axis, axis)))
    return near_root(a, b, c, falling)


@merged
def face_crossing(
    ray: Ray, displacement: DoubleDoubleVector, guess: float, limb: Limb, face: float, entering: bool
) -> DoubleDouble:
    """The fraction at which one ray crosses a face of one limb that it certainly crosses near `guess`."""
    origin = ray.origin
    curve = face_curve(origin, displacement, guess, limb, face)
    step, short = short_step(curve, guess)
    if short:
        return two_sum(guess, step)
    solved = graze_step(origin, displacement, guess, limb, face, entering)
    return dd_add((guess, 0.0), solved)
