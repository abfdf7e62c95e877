"""Error-free sums and products of arrays: pairs of the rounded result and its error. Dekker 1971, Knuth 1969."""

from typing import TypeAlias

from cylcollide._types import Float64Array

Pair: TypeAlias = tuple[Float64Array, Float64Array]

SPLITTER = 2.0**27 + 1.0


def two_sum(a: Float64Array, b: Float64Array) -> Pair:
    """A + b, exactly."""
    high = a + b
    of_b = high - a
    return high, (a - (high - of_b)) + (b - of_b)


def two_product(a: Float64Array, b: Float64Array) -> Pair:
    """A * b, exactly, unless the low word underflows (or a number beyond 1e300 overflows to NaN)."""
    high = a * b
    (a1, a2), (b1, b2) = _halves(a), _halves(b)
    return high, ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2


def _halves(a: Float64Array) -> Pair:
    scaled = SPLITTER * a
    upper = scaled - (scaled - a)
    return upper, a - upper
