"""A place of a solid's surface that may be the nearest one, and vectors in rational numbers and in many digits."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from cylcollide._types import Face
from cylcollide.exact.line import Triple
from cylcollide.exact.numbers import Number

Digits: TypeAlias = tuple[Decimal, Decimal, Decimal]

ZERO, ONE = Decimal(0), Decimal(1)


class Foot(NamedTuple):
    """A place of the surface that may be the nearest one."""

    square: Callable[[], Number]
    """Its squared distance."""
    face: Face
    way: Callable[[], tuple[Digits, Digits]]
    """The vector from the place to the point, and the outward unit normal of the face there."""


def digits_of(v: Sequence[Fraction | int]) -> Digits:
    """The vector in many digits."""
    x, y, z = (Decimal(c.numerator) / c.denominator for c in v)
    return x, y, z


def length_of(v: Digits) -> Decimal:
    """Length of a vector."""
    return (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt()


def unit_of(v: Sequence[Fraction | int]) -> Digits:
    """The vector, which is not zero, over its length."""
    digits = digits_of(v)
    length = length_of(digits)
    return digits[0] / length, digits[1] / length, digits[2] / length


def sum_of(*parts: tuple[Decimal, Digits]) -> Digits:
    """The sum of vectors, each times a factor."""
    x, y, z = (sum((factor * v[k] for factor, v in parts), ZERO) for k in range(3))
    return x, y, z


def floats_of(v: Sequence[Decimal]) -> Triple:
    """The nearest float64 numbers, without negative zeros: those of kernels have none."""
    x, y, z = map(float, v)
    return x + 0.0, y + 0.0, z + 0.0
