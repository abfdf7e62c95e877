"""Bones: the rotation of a quaternion of any length, points transformed by a bone, bones between two poses.

Rotations and points stay in double-double until the last sum, so that a transformed point is within 0.51 ulp of the
exact one, by the largest coordinate of bone and point (`docs/numerics.md`, "Poses"); a float64 rotation would cost ten.
"""

from typing import NamedTuple, TypeAlias

from cylcollide.kernels.double_double import DoubleDouble, DoubleDoubleVector, Vector, two_product, two_sum
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import Real, absolute, fused_multiply_add, larger, select, square_root

Quaternion: TypeAlias = tuple[Real, Real, Real, Real]
"""Components x, y, z, w; of any length but 0 unless stated otherwise."""

LARGE, SMALL = 2.0**150, 2.0**-150
SHRINK, GROW = 2.0**-300, 2.0**300


class Rotation(NamedTuple):
    """A rotation matrix by rows, in double-double; each component errs by less than 210 u²."""

    x: DoubleDoubleVector
    y: DoubleDoubleVector
    z: DoubleDoubleVector


@inlined
def largest_of_four(q: Quaternion) -> Real:
    """The maximum norm of a quaternion."""
    return larger(larger(absolute(q[0]), absolute(q[1])), larger(absolute(q[2]), absolute(q[3])))


@inlined
def rescaled(q: Quaternion) -> Quaternion:
    """The same rotation with the largest component from 2**-200 to 2**200, given one from 2**-500 to 2**500.

    The factor is a power of two: components change by no more than underflow, which is 2**-800 of the largest.
    """
    size = largest_of_four(q)
    factor = select(size > LARGE, SHRINK, select(size < SMALL, GROW, 1.0))
    return factor * q[0], factor * q[1], factor * q[2], factor * q[3]


@inlined
def composed(a: Quaternion, b: Quaternion) -> Quaternion:
    """Hamilton's product a b, which turns by b first."""
    return (
        (a[3] * b[0] + b[3] * a[0]) + (a[1] * b[2] - a[2] * b[1]),
        (a[3] * b[1] + b[3] * a[1]) + (a[2] * b[0] - a[0] * b[2]),
        (a[3] * b[2] + b[3] * a[2]) + (a[0] * b[1] - a[1] * b[0]),
        (a[3] * b[3] - a[0] * b[0]) - (a[1] * b[1] + a[2] * b[2]),
    )


@inlined
def length_of(q: Quaternion) -> Real:
    """The length of a quaternion."""
    return square_root((q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]))


@inlined
def normalised(q: Quaternion) -> Quaternion:
    """The quaternion divided by its length; its largest component must be from 2**-400 to 2**402."""
    length = length_of(q)
    return q[0] / length, q[1] / length, q[2] / length, q[3] / length


@inlined
def _times(factor: DoubleDouble, a: DoubleDouble, b: DoubleDouble) -> DoubleDouble:
    """The product of a factor and a + b."""
    high, error = two_sum(a[0], b[0])
    low = error + (a[1] + b[1])
    product, rest = two_product(factor[0], high)
    return product, fused_multiply_add(factor[0], low, fused_multiply_add(factor[1], high, rest))


@inlined
def _negative(a: DoubleDouble) -> DoubleDouble:
    return -a[0], -a[1]


@inlined
def _one_less(a: DoubleDouble) -> DoubleDouble:
    """The difference 1 - a."""
    high, error = two_sum(1.0, -a[0])
    return high, error - a[1]


@inlined
def _two_over(a: DoubleDouble, b: DoubleDouble, c: DoubleDouble, d: DoubleDouble) -> DoubleDouble:
    """The quotient of 2 and the sum of four."""
    high, error_ab = two_sum(a[0], b[0])
    high, error_c = two_sum(high, c[0])
    high, error_d = two_sum(high, d[0])
    low = ((error_ab + error_c) + error_d) + ((a[1] + b[1]) + (c[1] + d[1]))
    quotient = 2.0 / high
    rest = fused_multiply_add(-quotient, low, fused_multiply_add(-quotient, high, 2.0))
    return quotient, rest * (0.5 * quotient)


@inlined
def rotation_of(quaternion: Quaternion) -> Rotation:
    """The rotation of the normalised quaternion; its largest component must be from 2**-500 to 2**500.

    With N = x² + y² + z² + w² the matrix is 1 - 2 (y² + z²) / N, 2 (x y - z w) / N ...: no root, and x y z w as given.
    """
    x, y, z, w = rescaled(quaternion)
    xx, yy, zz, ww = two_product(x, x), two_product(y, y), two_product(z, z), two_product(w, w)
    xy, xz, yz = two_product(x, y), two_product(x, z), two_product(y, z)
    xw, yw, zw = two_product(x, w), two_product(y, w), two_product(z, w)
    s = _two_over(xx, yy, zz, ww)
    return Rotation(
        (_one_less(_times(s, yy, zz)), _times(s, xy, _negative(zw)), _times(s, xz, yw)),
        (_times(s, xy, zw), _one_less(_times(s, xx, zz)), _times(s, yz, _negative(xw))),
        (_times(s, xz, _negative(yw)), _times(s, yz, xw), _one_less(_times(s, xx, yy))),
    )


@inlined
def _row_times(row: DoubleDoubleVector, v: Vector, origin: Real) -> Real:
    """Origin + row · v, rounded once but for an error of 480 u² |v| + 20 u² |origin|."""
    x, error_x = two_product(row[0][0], v[0])
    y, error_y = two_product(row[1][0], v[1])
    z, error_z = two_product(row[2][0], v[2])
    high, error_xy = two_sum(x, y)
    high, error_xyz = two_sum(high, z)
    high, error_origin = two_sum(origin, high)
    low_xy = fused_multiply_add(row[0][1], v[0], error_x) + fused_multiply_add(row[1][1], v[1], error_y)
    low_z = fused_multiply_add(row[2][1], v[2], error_z) + (error_xy + error_xyz)
    return high + (error_origin + (low_xy + low_z))


@inlined
def carried(rotation: Rotation, origin: Vector, v: Vector) -> Vector:
    """A point of a bone's frame in world coordinates, given the bone's origin there; a vector if the origin is zero."""
    return (
        _row_times(rotation.x, v, origin[0]),
        _row_times(rotation.y, v, origin[1]),
        _row_times(rotation.z, v, origin[2]),
    )


@inlined
def into_bone(rotation: Rotation, v: Vector) -> Vector:
    """A vector of the world in the bone's frame, rounded once but for an error of 480 u² |v|."""
    x, y, z = rotation
    return (
        _row_times((x[0], y[0], z[0]), v, 0.0),
        _row_times((x[1], y[1], z[1]), v, 0.0),
        _row_times((x[2], y[2], z[2]), v, 0.0),
    )


@inlined
def between(a: Real, b: Real, alpha: Real) -> Real:
    """The linear interpolation from a to b."""
    return (1.0 - alpha) * a + alpha * b


@inlined
def per_length(q: Quaternion) -> Real:
    """One over the length of a quaternion whose largest component is from 2**-500 to 2**500."""
    return 1.0 / length_of(q)


@inlined
def turned_between(a: Quaternion, per_a: Real, b: Quaternion, per_b: Real, alpha: Real) -> Quaternion:
    """Linear interpolation of two quaternions the short way, given their `per_length`; the result is not normalised.

    Within 0.01° of spherical interpolation for turns of 20°. The length of the result is at least √½.
    """
    product = (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3])
    m, n = (1.0 - alpha) * per_a, select(product >= 0.0, alpha, -alpha) * per_b
    return m * a[0] + n * b[0], m * a[1] + n * b[1], m * a[2] + n * b[2], m * a[3] + n * b[3]


@inlined
def number_between(a: Real, b: Real, alpha: Real) -> Real:
    """A number interpolated between two ticks; exactly a or b at the ends."""
    return select(alpha == 0.0, a, select(alpha == 1.0, b, between(a, b, alpha)))


@inlined
def vector_between(p: Vector, q: Vector, alpha: Real) -> Vector:
    """A vector interpolated between two; exactly p or q at the ends."""
    return number_between(p[0], q[0], alpha), number_between(p[1], q[1], alpha), number_between(p[2], q[2], alpha)


@inlined
def orientation_between(p: Quaternion, per_p: Real, q: Quaternion, per_q: Real, alpha: Real) -> Quaternion:
    """A bone's orientation between two ticks, given both and one over their lengths; exactly p or q at the ends."""
    r, at_start, at_end = turned_between(p, per_p, q, per_q, alpha), alpha == 0.0, alpha == 1.0
    return (
        select(at_start, p[0], select(at_end, q[0], r[0])),
        select(at_start, p[1], select(at_end, q[1], r[1])),
        select(at_start, p[2], select(at_end, q[2], r[2])),
        select(at_start, p[3], select(at_end, q[3], r[3])),
    )
