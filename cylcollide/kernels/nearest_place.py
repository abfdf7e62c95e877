"""The place of a limb's surface that is nearest to a point, in double-double: distance, position, normal and face.

Errors are below 2⁻⁹⁰ of the limb's size and its distance from the point (`docs/numerics.md`). A comparison
that they may reverse is uncertain: the side of the surface, the nearer of two places, the face.
"""

from math import inf, nan
from typing import NamedTuple

from cylcollide._types import Face, Shape
from cylcollide.constants import LARGEST_SAFE
from cylcollide.kernels.double_double import (
    DoubleDouble,
    DoubleDoubleVector,
    Vector,
    as_double_double,
    dd_add,
    dd_divide,
    dd_dot,
    dd_multiply,
    dd_square_root,
    dd_subtract,
    high_words,
    vector_difference,
)
from cylcollide.kernels.limb_table import Limb, box_axes
from cylcollide.kernels.profile import UNKNOWN, ZERO, AboutAxis, Foot, foot_on_ellipse, foot_on_walls, sign_beyond
from cylcollide.kernels.ray import largest_component
from cylcollide.runtime.compile import compiled, inlined, linkonce
from cylcollide.runtime.simd import Real

SIDE, CAP1, CAP2, NEG_X = float(Face.SIDE), float(Face.CAP1), float(Face.CAP2), float(Face.NEG_X)
CYLINDER, TUBE, TAPERED = int(Shape.CYLINDER), int(Shape.TUBE), int(Shape.TAPERED)
CAPSULE, SPHERE, BOX, ELLIPSOID = int(Shape.CAPSULE), int(Shape.SPHERE), int(Shape.BOX), int(Shape.ELLIPSOID)

PLACE_ERROR = 2.0**-90
"""Bound of the errors of lengths, relative to the limb's size and distance."""
SIGN_ERROR = 2.0**-96
"""Bound of the error of a scalar product, relative to the largest components of both factors."""
CLEAR_OF_AXIS = 2.0**40
"""In units of the error bound: from this distance on, the direction from the axis to a point is known to 2⁻⁵⁹."""
BESIDE_AXIS = 2.0**30
"""In units of the error bound: from this distance on, it is known to 2⁻³⁰, and is orthogonal to the axis to 2⁻⁹⁰."""
LEAST_ACROSS = 1e-60
"""Least |y| or |z| of an axis not along x, and least distance from a box, metres, whose products do not underflow."""
SKEW_MARGIN = 16.0
"""Bound on how far the skew of a box's axes shifts the boundaries between its features, per skew and distance."""


class Place(NamedTuple):
    """The nearest place of the surface; if it is not certain, the rest is meaningless."""

    certain: bool
    distance: float  # negative inside
    position: Vector
    normal: Vector
    face: float


UNCERTAIN = Place(False, nan, (nan, nan, nan), (nan, nan, nan), SIDE)


@linkonce
def nearest_place(point: Vector, limb: Limb) -> Place:
    """The place of the limb's surface that is nearest to a point."""
    if limb.extent == inf or not largest_component(point) <= LARGEST_SAFE:
        return UNCERTAIN
    if limb.kind == BOX:
        return place_on_box(point, limb)
    x = vector_difference(point, limb.p1)
    if limb.kind == SPHERE:
        return place_on_ball(point, x, limb.radius, SIDE)
    at, radial, axis = about_axis(point, x, limb)
    if limb.kind == CAPSULE:
        if at.below == UNKNOWN or at.above == UNKNOWN:
            return UNCERTAIN
        is_end = at.is_on_axis and (at.below == 0.0 or at.above == 0.0)
        if at.below <= 0.0 and not is_end:
            return place_on_ball(point, x, limb.radius, CAP1)
        if at.above >= 0.0 and not is_end:
            return place_on_ball(point, vector_difference(point, limb.p2), limb.radius, CAP2)
        distance, face = dd_subtract(at.distance, (limb.radius, 0.0)), CAP1 if at.below == 0.0 else CAP2
        foot = Foot(abs(distance[0]) > at.error, distance, ZERO, (1.0, 0.0), face if is_end else SIDE)
    elif limb.kind == ELLIPSOID:
        foot = foot_on_ellipse(at, limb)
    elif limb.kind == CYLINDER or limb.kind == TUBE or limb.kind == TAPERED:
        foot = foot_on_walls(at, limb)
    else:
        return UNCERTAIN
    if not foot.certain:
        return UNCERTAIN
    if foot.across[0] == 0.0:
        return place_along(point, foot.distance, multiple(dd_divide(foot.along, at.length), axis), foot.face)
    from_axis = at.distance
    if not from_axis[0] > CLEAR_OF_AXIS * at.error:
        if at.is_on_axis:
            radial = across_axis(axis)
        elif from_axis[0] > BESIDE_AXIS * at.error:
            share = dd_divide(dd_dot(radial, axis), dd_dot(axis, axis))
            radial = combined(radial, (-share[0], -share[1]), axis)
        else:
            return UNCERTAIN
        from_axis = dd_square_root(dd_dot(radial, radial))
        if not from_axis[0] > 0.0:
            return UNCERTAIN
    if foot.along[0] == 0.0:
        normal = multiple(dd_divide(foot.across, from_axis), radial)
    else:
        normal = multiple(dd_divide(foot.along, at.length), axis)
        normal = combined(normal, dd_divide(foot.across, from_axis), radial)
    return place_along(point, foot.distance, normal, foot.face)


@inlined
def about_axis(
    point: Vector, x: DoubleDoubleVector, limb: Limb
) -> tuple[AboutAxis, DoubleDoubleVector, DoubleDoubleVector]:
    """The `AboutAxis` of a point, the vector from the axis to it, and the axis; x is the point relative to p1."""
    axis = vector_difference(limb.p2, limb.p1)
    product, height, length, radial, error = along_axis(x, axis, limb)
    below, above = sign_of_product(x, axis, product), sign_beyond(dd_subtract(height, length), error)
    if above == UNKNOWN:
        back = vector_difference(point, limb.p2)
        above = sign_of_product(back, axis, dd_dot(back, axis))
    is_on_axis = is_along(x, axis)
    distance = ZERO if is_on_axis else dd_square_root(dd_dot(radial, radial))
    return AboutAxis(height, below, above, distance, is_on_axis, length, error), radial, axis


@inlined
def is_along(x: DoubleDoubleVector, axis: DoubleDoubleVector) -> bool:
    """Whether a vector from p1 is exactly 0, half or all of the axis, or along an axis parallel to x, y or z."""
    (a, b, c), (u, v, w) = high_words(x), high_words(axis)
    is_parallel = (a == 0.0 or v == 0.0) and (b == 0.0 or u == 0.0) and (b == 0.0 or w == 0.0)
    is_parallel = is_parallel and (c == 0.0 or v == 0.0) and (c == 0.0 or u == 0.0) and (a == 0.0 or w == 0.0)
    return is_parallel or are_equal(x, 1.0, axis) or are_equal(x, 2.0, axis)


@inlined
def are_equal(v: DoubleDoubleVector, factor: float, w: DoubleDoubleVector) -> bool:
    """Whether factor v = w, the factor being a power of two."""
    is_first = factor * v[0][0] == w[0][0] and factor * v[0][1] == w[0][1]
    is_second = factor * v[1][0] == w[1][0] and factor * v[1][1] == w[1][1]
    return is_first and is_second and factor * v[2][0] == w[2][0] and factor * v[2][1] == w[2][1]


@inlined
def across_axis(axis: DoubleDoubleVector) -> DoubleDoubleVector:
    """The component of +x orthogonal to an axis, or +y if the axis is parallel to x; zero if products underflow."""
    u, v, w = axis
    least = max(abs(v[0]), abs(w[0]))
    if least == 0.0:
        return ZERO, (1.0, 0.0), ZERO
    if least < LEAST_ACROSS:
        return ZERO, ZERO, ZERO
    minus = -u[0], -u[1]
    return dd_add(dd_multiply(v, v), dd_multiply(w, w)), dd_multiply(minus, v), dd_multiply(minus, w)


@inlined
def along_axis(
    x: DoubleDoubleVector, axis: DoubleDoubleVector, limb: Limb
) -> tuple[DoubleDouble, DoubleDouble, DoubleDouble, DoubleDoubleVector, Real]:
    """The product of x and the axis, the height, the length of the axis, the vector from the axis, and their error."""
    square, product = dd_dot(axis, axis), dd_dot(x, axis)
    length, share = dd_square_root(square), dd_divide(product, square)
    radial = combined(x, (-share[0], -share[1]), axis)
    size = largest_component(high_words(x)) + largest_component(high_words(axis)) + limb.radius + limb.radius2
    return product, dd_divide(product, length), length, radial, PLACE_ERROR * size


@inlined
def sign_of_product(a: DoubleDoubleVector, b: DoubleDoubleVector, product: DoubleDouble) -> float:
    """The sign of a scalar product, or UNKNOWN; 0 if all its terms are."""
    u, v = high_words(a), high_words(b)
    if (u[0] == 0.0 or v[0] == 0.0) and (u[1] == 0.0 or v[1] == 0.0) and (u[2] == 0.0 or v[2] == 0.0):
        return 0.0
    return sign_beyond(product, SIGN_ERROR * largest_component(u) * largest_component(v))


@inlined
def combined(v: DoubleDoubleVector, factor: DoubleDouble, w: DoubleDoubleVector) -> DoubleDoubleVector:
    """The sum v + factor w."""
    return (
        dd_add(v[0], dd_multiply(factor, w[0])),
        dd_add(v[1], dd_multiply(factor, w[1])),
        dd_add(v[2], dd_multiply(factor, w[2])),
    )


@inlined
def multiple(factor: DoubleDouble, v: DoubleDoubleVector) -> DoubleDoubleVector:
    """The vector times a factor, without negative zeros."""
    x, y, z = dd_multiply(factor, v[0]), dd_multiply(factor, v[1]), dd_multiply(factor, v[2])
    return (x[0] + 0.0, x[1]), (y[0] + 0.0, y[1]), (z[0] + 0.0, z[1])


@inlined
def place_along(point: Vector, distance: DoubleDouble, normal: DoubleDoubleVector, face: float) -> Place:
    """The place point - distance normal, certain, for a unit normal."""
    return Place(True, distance[0], position_from(point, distance, normal), high_words(normal), face)


@inlined
def position_from(point: Vector, distance: DoubleDouble, normal: DoubleDoubleVector) -> Vector:
    """The position point - distance normal, rounded, for a unit normal."""
    return high_words(combined(as_double_double(point), (-distance[0], -distance[1]), normal))


@compiled
def place_on_ball(point: Vector, x: DoubleDoubleVector, radius: float, face: float) -> Place:
    """The place on a ball; x is the point relative to its centre. Uncertain next to the surface and the centre."""
    size = largest_component(high_words(x)) + radius
    if largest_component(high_words(x)) == 0.0:  # a sphere: the axis decides for capsules
        return place_along(point, (-radius, 0.0), ((1.0, 0.0), ZERO, ZERO), face)
    from_centre = dd_square_root(dd_dot(x, x))
    distance, error = dd_subtract(from_centre, (radius, 0.0)), PLACE_ERROR * size
    if not (abs(distance[0]) > error and from_centre[0] > error):
        return UNCERTAIN
    per_length = dd_divide((1.0, 0.0), from_centre)
    return place_along(point, distance, multiple(per_length, x), face)


@compiled
def place_on_box(point: Vector, limb: Limb) -> Place:
    """The place on a box. Its axes are orthonormal except for rounding, which is corrected."""
    (u, v, w), half = box_axes(limb)
    x, axes = vector_difference(point, limb.centre), (as_double_double(u), as_double_double(v), as_double_double(w))
    error = PLACE_ERROR * (largest_component(high_words(x)) + half[0] + half[1] + half[2])
    a, b, c = dd_dot(x, axes[0]), dd_dot(x, axes[1]), dd_dot(x, axes[2])
    i, j, k = with_sign_of(axes[0], a), with_sign_of(axes[1], b), with_sign_of(axes[2], c)
    out = beyond_face(a, half[0]), beyond_face(b, half[1]), beyond_face(c, half[2])
    long_i, long_j, long_k = skew(i, i, 1.0), skew(j, j, 1.0), skew(k, k, 1.0)
    ij, jk, ki = skew(i, j, 0.0), skew(j, k, 0.0), skew(k, i, 0.0)
    most = max(abs(long_i), abs(long_j), abs(long_k), abs(ij), abs(jk), abs(ki))
    if most == 0.0 and is_aligned(u) and is_aligned(v) and is_aligned(w):
        error = 0.0  # the axes are x, y and z: all of this is exact
    faces = NEG_X + (a[0] > 0.0), NEG_X + 2.0 + (b[0] > 0.0), NEG_X + 4.0 + (c[0] > 0.0)
    beyond = max(out[0][0], out[1][0], out[2][0])
    margin = error + SKEW_MARGIN * most * abs(beyond)
    if beyond < -error:
        sizes = abs(a[0]), abs(b[0]), abs(c[0])
        if largest_component(high_words(x)) == 0.0:  # the centre: each lower face is as near as the higher
            sizes = inf, inf, inf
        return place_within_box(point, (i, j, k), out, sizes, (long_i, long_j, long_k), faces, error)
    if (error > 0.0 and min(abs(out[0][0]), abs(out[1][0]), abs(out[2][0])) <= margin) or 0.0 < beyond < LEAST_ACROSS:
        return UNCERTAIN
    p, q, r = positive(out[0]), positive(out[1]), positive(out[2])
    # the multipliers solve (1 + skew) m = (p, q, r); the square of the skew is negligible
    m = (
        dd_subtract(p, (long_i * p[0] + ij * q[0] + ki * r[0], 0.0)),
        dd_subtract(q, (ij * p[0] + long_j * q[0] + jk * r[0], 0.0)),
        dd_subtract(r, (ki * p[0] + jk * q[0] + long_k * r[0], 0.0)),
    )
    m = m[0] if p[0] > 0.0 else ZERO, m[1] if q[0] > 0.0 else ZERO, m[2] if r[0] > 0.0 else ZERO
    way = combined(combined(combined((ZERO, ZERO, ZERO), m[0], i), m[1], j), m[2], k)
    distance = dd_square_root(dd_dot(way, way))
    face = faces[0] if out[0][0] >= 0.0 else faces[1] if out[1][0] >= 0.0 else faces[2]
    if error == distance[0] == 0.0:  # on the surface
        outward = i if face == faces[0] else j if face == faces[1] else k
        return place_along(point, ZERO, multiple((1.0, 0.0), outward), face)
    return place_along(point, distance, multiple(dd_divide((1.0, 0.0), distance), way), face)


@compiled
def place_within_box(
    point: Vector,
    outward: tuple[DoubleDoubleVector, DoubleDoubleVector, DoubleDoubleVector],
    out: tuple[DoubleDouble, DoubleDouble, DoubleDouble],
    sizes: Vector,
    longer: Vector,
    faces: Vector,
    error: float,
) -> Place:
    """The place on the nearest face of a box that contains the point; the lowest of equally near ones, or uncertain."""
    best, second, at = (-inf, 0.0), -inf, 0
    for k in range(3):
        depth = dd_multiply(out[k], (1.0 - 0.5 * longer[k], 0.0))  # one over the length of the axis
        if depth[0] > best[0] or (depth[0] == best[0] and depth[1] > best[1]):
            best, second, at = depth, best[0], k
        elif depth[0] > second:
            second = depth[0]
    if error > 0.0 and not (best[0] - second > error and sizes[at] > error):
        return UNCERTAIN
    normal = outward[at]
    return place_along(point, best, combined(normal, (-0.5 * longer[at], 0.0), normal), faces[at])


@inlined
def is_aligned(axis: Vector) -> bool:
    """Whether an axis is parallel to x, y or z."""
    along_x, along_y, along_z = axis[0] != 0.0, axis[1] != 0.0, axis[2] != 0.0  # a sum of numpy's truths is a truth
    return not ((along_x and along_y) or (along_y and along_z) or (along_z and along_x))


@inlined
def with_sign_of(v: DoubleDoubleVector, number: DoubleDouble) -> DoubleDoubleVector:
    """The vector, negated unless the number is positive."""
    if number[0] > 0.0:
        return v
    return (-v[0][0], -v[0][1]), (-v[1][0], -v[1][1]), (-v[2][0], -v[2][1])


@inlined
def beyond_face(coordinate: DoubleDouble, half: float) -> DoubleDouble:
    """Signed distance of a coordinate beyond the nearer of two faces."""
    size = coordinate if coordinate[0] > 0.0 else (-coordinate[0], -coordinate[1])
    return dd_subtract(size, (half, 0.0))


@inlined
def skew(a: DoubleDoubleVector, b: DoubleDoubleVector, expected: float) -> float:
    """Difference of the scalar product of two axes from its expected value."""
    return float(dd_subtract(dd_dot(a, b), (expected, 0.0))[0])


@inlined
def positive(number: DoubleDouble) -> DoubleDouble:
    """The number, 0 if it is negative."""
    return number if number[0] > 0.0 else ZERO
