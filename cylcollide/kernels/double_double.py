"""Double-double arithmetic, about 106 bits: a number is the unevaluated sum of two float64, high word first.

Sources: T. J. Dekker, "A floating-point technique for extending the available precision", 1971 (error-free sum and
product); M. Joldes, J.-M. Muller, V. Popescu, "Tight and rigorous error bounds for basic building blocks of double-word
arithmetic", ACM TOMS 44(2), 2017 (algorithms 6, 12 and 17 with their bounds: 3 u², 5 u² and 15 u², u = 2⁻⁵³); T. Ogita,
S. M. Rump, S. Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26(6), 2005 (dot products: the errors of
all products and sums are summed separately).
"""

from typing import TypeAlias

from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import Real, broadcast_like, fused_multiply_add, select, square_root

Vector: TypeAlias = tuple[Real, Real, Real]
DoubleDouble: TypeAlias = tuple[Real, Real]
DoubleDoubleVector: TypeAlias = tuple[DoubleDouble, DoubleDouble, DoubleDouble]


@inlined
def two_sum(a: Real, b: Real) -> DoubleDouble:
    """A + b without error: the rounded sum and its rounding error (Knuth's TwoSum)."""
    total = a + b
    part_of_b = total - a
    return total, (a - (total - part_of_b)) + (b - part_of_b)


@inlined
def two_difference(a: Real, b: Real) -> DoubleDouble:
    """A - b without error."""
    return two_sum(a, -b)


@inlined
def two_product(a: Real, b: Real) -> DoubleDouble:
    """A b without error: the rounded product and its rounding error, by a fused multiply-add."""
    product = a * b
    return product, fused_multiply_add(a, b, -product)


@inlined
def renormalised(high: Real, low: Real) -> DoubleDouble:
    """The same sum with the low word below half an ulp of the high one.

    Exact if |high| >= |low|, else with an error of u |low|.
    """
    total = high + low
    return total, low - (total - high)


@inlined
def dd_add(a: DoubleDouble, b: DoubleDouble) -> DoubleDouble:
    """A + b, relative error at most 3 u²."""
    high, error = two_sum(a[0], b[0])
    low, rest = two_sum(a[1], b[1])
    high, error = renormalised(high, error + low)
    return renormalised(high, error + rest)


@inlined
def dd_subtract(a: DoubleDouble, b: DoubleDouble) -> DoubleDouble:
    """A - b, relative error at most 3 u²."""
    return dd_add(a, (-b[0], -b[1]))


@inlined
def dd_multiply(a: DoubleDouble, b: DoubleDouble) -> DoubleDouble:
    """A b, relative error at most 5 u²."""
    high, low = two_product(a[0], b[0])
    cross = fused_multiply_add(a[0], b[1], a[1] * b[0] + a[1] * b[1])
    return renormalised(high, low + cross)


@inlined
def dd_divide(a: DoubleDouble, b: DoubleDouble) -> DoubleDouble:
    """A / b, relative error at most 15 u²."""
    quotient = a[0] / b[0]
    rest = dd_subtract(a, dd_multiply(b, (quotient, 0.0)))
    return renormalised(quotient, (rest[0] + rest[1]) / b[0])


@inlined
def dd_square_root(a: DoubleDouble) -> DoubleDouble:
    """Square root of a >= 0, relative error at most 8 u²; 0 where rounding has made a negative."""
    positive = a[0] > 0.0
    root = square_root(select(positive, a[0], 1.0))
    rest = dd_subtract(a, two_product(root, root))
    high, low = renormalised(root, 0.5 * (rest[0] + rest[1]) / root)
    return select(positive, high, 0.0), select(positive, low, 0.0)


@inlined
def cross_terms(a: DoubleDouble, b: DoubleDouble) -> Real:
    """The terms a_high b_low + a_low b_high of a product, without the one of order u²."""
    return fused_multiply_add(a[0], b[1], a[1] * b[0])


@inlined
def dd_dot(a: DoubleDoubleVector, b: DoubleDoubleVector) -> DoubleDouble:
    """Scalar product of two vectors; error at most 25 u² times the sum of the magnitudes of the terms."""
    x, error_x = two_product(a[0][0], b[0][0])
    y, error_y = two_product(a[1][0], b[1][0])
    z, error_z = two_product(a[2][0], b[2][0])
    high, error = two_sum(x, y)
    high, error_high = two_sum(high, z)
    low = ((error_x + error_y) + error_z) + (error + error_high)
    return renormalised(high, low + ((cross_terms(a[0], b[0]) + cross_terms(a[1], b[1])) + cross_terms(a[2], b[2])))


@inlined
def dd_determinant(a: DoubleDouble, b: DoubleDouble, c: DoubleDouble, d: DoubleDouble) -> DoubleDouble:
    """A d - b c; error at most 17 u² times the sum of the magnitudes of both products."""
    first, error_first = two_product(a[0], d[0])
    second, error_second = two_product(b[0], c[0])
    high, error = two_difference(first, second)
    return renormalised(high, (error + (error_first - error_second)) + (cross_terms(a, d) - cross_terms(b, c)))


@inlined
def dd_cross(a: DoubleDoubleVector, b: DoubleDoubleVector) -> DoubleDoubleVector:
    """Vector product of two vectors."""
    return (
        dd_determinant(a[1], a[2], b[1], b[2]),
        dd_determinant(a[2], a[0], b[2], b[0]),
        dd_determinant(a[0], a[1], b[0], b[1]),
    )


@inlined
def vector_difference(a: Vector, b: Vector) -> DoubleDoubleVector:
    """A - b of two float64 vectors, without error."""
    return two_difference(a[0], b[0]), two_difference(a[1], b[1]), two_difference(a[2], b[2])


@inlined
def scaled(a: DoubleDouble, power_of_two: Real) -> DoubleDouble:
    """A times a power of two, without error."""
    return a[0] * power_of_two, a[1] * power_of_two


@inlined
def high_words(v: DoubleDoubleVector) -> Vector:
    """The high words."""
    return v[0][0], v[1][0], v[2][0]


@inlined
def low_words(v: DoubleDoubleVector) -> Vector:
    """The low words."""
    return v[0][1], v[1][1], v[2][1]


@inlined
def as_double_double(v: Vector) -> DoubleDoubleVector:
    """The vector with low words of zero."""
    zero = broadcast_like(0.0, v[0])
    return (v[0], zero), (v[1], zero), (v[2], zero)
