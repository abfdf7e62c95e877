"""Numbers of 106 bits with an error bound: high word, low word, and a bound on the error of their sum.

Midpoint-radius arithmetic as in J. van der Hoeven, "Ball arithmetic" (2009), with double-doubles as midpoints. Rounding
errors are those that M. Joldes, J.-M. Muller and V. Popescu prove in "Tight and rigorous error bounds for basic
building blocks of double-word arithmetic" (ACM TOMS 44(2), 2017): 3 u² for a sum, 7 u² for a product, 10 u² for a
quotient, u = 2⁻⁵³. The bounds used here are larger, which covers higher orders too. Products are split as T. J. Dekker
does (1971), so that no fused multiply-add is needed. Where high words alone give the exact result, no error is added:
small integers stay exact, and an exact zero has sign 0.

Inputs are at most 2 in magnitude and results have at most ten factors, so nothing overflows. `UNDERFLOW` covers
underflow, so an error bound is 0 or at least `UNDERFLOW`.
"""

from math import inf, sqrt

from numba import njit

Enclosure = tuple[float, float, float]
"""All real numbers x with |x - (high + low)| <= error."""

SUM, PRODUCT, QUOTIENT, ROOT = 4 * 2.0**-106, 8 * 2.0**-106, 16 * 2.0**-106, 16 * 2.0**-106
"""Bounds of the relative rounding errors."""

MORE = 1.0 + 2.0**-48
"""Factor that turns a rounded sum or product of bounds into a bound again."""

UNDERFLOW, SMALLEST_EXACT = 2.0**-1000, 2.0**-900
"""Added where a product, or a bound, may have lost bits to underflow; a product above the second has not."""

OPEN = 2
"""The sign of an enclosure whose bounds do not decide it."""


@njit
def two_sum(a: float, b: float) -> tuple[float, float]:
    """Return a + b without error (Knuth)."""
    total = a + b
    of_b = total - a
    return total, (a - (total - of_b)) + (b - of_b)


@njit
def two_product(a: float, b: float) -> tuple[float, float]:
    """Return a b without error, except for underflow (Veltkamp, Dekker)."""
    scaled = 134217729.0 * a
    a_high = scaled - (scaled - a)
    scaled = 134217729.0 * b
    b_high = scaled - (scaled - b)
    a_low, b_low = a - a_high, b - b_high
    product = a * b
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


@njit
def exact(a: float) -> Enclosure:
    """Return the enclosure of one float64, without error."""
    return a, 0.0, 0.0


@njit
def difference(a: float, b: float) -> Enclosure:
    """Return a - b of two float64 without error."""
    high, low = two_sum(a, -b)
    return high, low, 0.0


@njit
def sign(x: Enclosure) -> int:
    """Return -1, 0 or 1, or OPEN."""
    if x[2] == 0.0:
        return int(x[0] > 0.0) - int(x[0] < 0.0)
    if abs(x[0]) * (1.0 - 2.0**-50) > x[2]:
        return 1 if x[0] > 0.0 else -1
    return OPEN


@njit
def add(x: Enclosure, y: Enclosure) -> Enclosure:
    """Return x + y."""
    high, low = two_sum(x[0], y[0])
    error = x[2] + y[2]
    if x[1] != 0.0 or y[1] != 0.0:
        carried, rest = two_sum(x[1], y[1])
        low += carried
        total = high + low
        low = (low - (total - high)) + rest
        high = total + low
        low -= high - total
        if high != 0.0:
            error += SUM * abs(high) + UNDERFLOW
    return high, low, error * MORE


@njit
def negative(x: Enclosure) -> Enclosure:
    """Return -x."""
    return -x[0], -x[1], x[2]


@njit
def subtract(x: Enclosure, y: Enclosure) -> Enclosure:
    """Return x - y."""
    return add(x, negative(y))


@njit
def multiply(x: Enclosure, y: Enclosure) -> Enclosure:
    """Return x y."""
    if (x[0] == 0.0 and x[2] == 0.0) or (y[0] == 0.0 and y[2] == 0.0):
        return 0.0, 0.0, 0.0
    high, low = two_product(x[0], y[0])
    error = abs(x[0]) * y[2] + abs(y[0]) * x[2] + x[2] * y[2]
    if x[1] != 0.0 or y[1] != 0.0 or abs(high) < SMALLEST_EXACT:
        low += x[0] * y[1] + x[1] * y[0]
        total = high + low
        low -= total - high
        high = total
        error += PRODUCT * abs(high) + UNDERFLOW
    elif x[2] > 0.0 or y[2] > 0.0:
        error += UNDERFLOW
    return high, low, error * MORE


@njit
def times(x: Enclosure, power_of_two: float) -> Enclosure:
    """Return x times a power of two near 1."""
    return x[0] * power_of_two, x[1] * power_of_two, x[2] * power_of_two


@njit
def divide(x: Enclosure, y: Enclosure) -> Enclosure:
    """Return x / y; all real numbers if y may be zero."""
    if x[0] == 0.0 and x[2] == 0.0 and abs(sign(y)) == 1:
        return 0.0, 0.0, 0.0
    least = abs(y[0]) * (1.0 - 2.0**-50) - y[2]
    if not least > 0.0:
        return 0.0, 0.0, inf
    first = x[0] / y[0]
    rest = subtract((x[0], x[1], 0.0), multiply((y[0], y[1], 0.0), (first, 0.0, 0.0)))
    second = rest[0] / y[0]
    high, low = two_sum(first, second)
    # |x/y - x̃/ỹ| <= (δx + |x̃/ỹ| δy) / (|ỹ| - δy); the second step has error u of itself, u² of the quotient
    error = (x[2] + abs(high) * MORE * y[2] + rest[2]) / least
    return high, low, (error + QUOTIENT * abs(high) + UNDERFLOW / least + UNDERFLOW) * MORE


@njit
def square_root(x: Enclosure) -> Enclosure:
    """Return the square root of the nonnegative numbers of x."""
    error = x[2]
    if x[0] <= 0.0:
        return 0.0, 0.0, sqrt(error) * MORE  # no number of x is above its error
    first = sqrt(x[0])
    rest = subtract((x[0], x[1], 0.0), multiply((first, 0.0, 0.0), (first, 0.0, 0.0)))
    high, low = two_sum(first, 0.5 * rest[0] / first)
    # |√a - √b| = |a - b| / (√a + √b), which is at most √|a - b|, too
    return high, low, (min(error / first, sqrt(error)) + ROOT * high + rest[2] / first + UNDERFLOW / first) * MORE
