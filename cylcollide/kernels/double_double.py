"""Arithmetic with about 106 bits: a number is the unevaluated sum of two float64, high word first.

Sources: T. J. Dekker, "A floating-point technique for extending the available precision", 1971 (error-free sum and
product); M. Joldes, J.-M. Muller, V. Popescu, "Tight and rigorous error bounds for basic building blocks of double-word
arithmetic", ACM TOMS 44(2), 2017 (algorithms 6, 12 and 17 with their bounds: 3 u², 5 u² and 15 u², u = 2⁻⁵³).
"""

from math import sqrt
from typing import TypeAlias

from cylcollide.simd import compiled, fused_multiply_add

Vector: TypeAlias = tuple[float, float, float]
DoubleDouble: TypeAlias = tuple[float, float]
DoubleDoubleVector: TypeAlias = tuple[DoubleDouble, DoubleDouble, DoubleDouble]


@compiled
def two_sum(a: float, b: float) -> DoubleDouble:
    """A + b without error."""
    total = a + b
    shadow = total - a
    return total, (a - (total - shadow)) + (b - shadow)


@compiled
def two_difference(a: float, b: float) -> DoubleDouble:
    """A - b without error."""
    return two_sum(a, -b)


@compiled
def two_product(a: float, b: float) -> DoubleDouble:
    """A b without error."""
    product = a * b
    return product, fused_multiply_add(a, b, -product)


@compiled
def renormalised(high: float, low: float) -> DoubleDouble:
    """The same sum with the low word below half an ulp of the high one; needs |high| >= |low|."""
    total = high + low
    return total, low - (total - high)


@compiled
def dd_add(a: DoubleDouble, b: DoubleDouble) -> DoubleDouble:
    """A + b, relative error at most 3 u²."""
    high, error = two_sum(a[0], b[0])
    low, rest = two_sum(a[1], b[1])
    high, error = renormalised(high, error + low)
    return renormalised(high, error + rest)


@compiled
def dd_subtract(a: DoubleDouble, b: DoubleDouble) -> DoubleDouble:
    """A - b, relative error at most 3 u²."""
    return dd_add(a, (-b[0], -b[1]))


@compiled
def dd_multiply(a: DoubleDouble, b: DoubleDouble) -> DoubleDouble:
    """A b, relative error at most 5 u²."""
    high, low = two_product(a[0], b[0])
    cross = fused_multiply_add(a[0], b[1], a[1] * b[0] + a[1] * b[1])
    return renormalised(high, low + cross)


@compiled
def dd_divide(a: DoubleDouble, b: DoubleDouble) -> DoubleDouble:
    """A / b, relative error at most 15 u²."""
    quotient = a[0] / b[0]
    rest = dd_subtract(a, dd_multiply(b, (quotient, 0.0)))
    return renormalised(quotient, (rest[0] + rest[1]) / b[0])


@compiled
def dd_square_root(a: DoubleDouble) -> DoubleDouble:
    """Square root of a >= 0, relative error at most 8 u²; 0 where rounding has made a negative."""
    if a[0] <= 0.0:
        return 0.0, 0.0
    root = sqrt(a[0])
    rest = dd_subtract(a, two_product(root, root))
    return renormalised(root, 0.5 * (rest[0] + rest[1]) / root)


@compiled
def dd_dot(a: DoubleDoubleVector, b: DoubleDoubleVector) -> DoubleDouble:
    """Scalar product of two vectors."""
    return dd_add(dd_add(dd_multiply(a[0], b[0]), dd_multiply(a[1], b[1])), dd_multiply(a[2], b[2]))


@compiled
def dd_cross(a: DoubleDoubleVector, b: DoubleDoubleVector) -> DoubleDoubleVector:
    """Vector product of two vectors."""
    return (
        dd_subtract(dd_multiply(a[1], b[2]), dd_multiply(a[2], b[1])),
        dd_subtract(dd_multiply(a[2], b[0]), dd_multiply(a[0], b[2])),
        dd_subtract(dd_multiply(a[0], b[1]), dd_multiply(a[1], b[0])),
    )


@compiled
def vector_difference(a: Vector, b: Vector) -> DoubleDoubleVector:
    """A - b of two float64 vectors, without error."""
    return two_difference(a[0], b[0]), two_difference(a[1], b[1]), two_difference(a[2], b[2])


@compiled
def vector_sum(a: DoubleDoubleVector, b: DoubleDoubleVector) -> DoubleDoubleVector:
    """A + b."""
    return dd_add(a[0], b[0]), dd_add(a[1], b[1]), dd_add(a[2], b[2])


@compiled
def scaled(a: DoubleDouble, power_of_two: float) -> DoubleDouble:
    """A times a power of two, without error."""
    return a[0] * power_of_two, a[1] * power_of_two
