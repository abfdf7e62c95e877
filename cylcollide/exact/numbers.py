"""Exact numbers: float64 as scaled integers, and (p + s √D) / q with its order."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import inf, isqrt
from typing import Any, Protocol, TypeAlias, TypeVar

Vector: TypeAlias = tuple[int, int, int]

DIGITS = 140  # significant bits of an enclosure: a double-double keeps 107


def scaled_integers(values: Iterable[float | Fraction]) -> list[int]:
    """The values times one common power of two that makes all of them integers."""
    ratios = [value.as_integer_ratio() for value in values]
    scale = max([denominator for _, denominator in ratios])
    return [numerator * (scale // denominator) for numerator, denominator in ratios]


def vector_of(numbers: Sequence[int]) -> Vector:
    """Three numbers as a vector."""
    x, y, z = numbers
    return x, y, z


Exact = TypeVar("Exact", int, Fraction)


def dot(a: tuple[Exact, Exact, Exact], b: tuple[Exact, Exact, Exact]) -> Exact:
    """Scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: tuple[Exact, Exact, Exact], b: tuple[Exact, Exact, Exact]) -> tuple[Exact, Exact, Exact]:
    """Vector product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def subtract(a: Vector, b: Vector) -> Vector:
    """A - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def squared_distance_from_line(point: Sequence[float], base: Sequence[float], axis: Sequence[Fraction]) -> Fraction:
    """Squared distance of a point from the line through `base` along an axis other than zero; 3 numbers each."""
    way = [Fraction(x) - Fraction(b) for x, b in zip(point, base, strict=True)]
    along = sum((w * a for w, a in zip(way, axis, strict=True)), Fraction())
    return sum((w * w for w in way), Fraction()) - along * along / sum((a * a for a in axis), Fraction())


def sign(value: int) -> int:
    """-1, 0 or 1."""
    return (value > 0) - (value < 0)


def sign_of_root_sum(a: int, b: int, radicand: int) -> int:
    """Sign of a + b √radicand: by the signs of the terms if they agree, else by their squares."""
    of_a, of_root = sign(a), sign(b) * sign(radicand)
    if of_a * of_root >= 0:
        return of_a or of_root
    return of_a * sign(a * a - b * b * radicand)


def sign_of_two_root_sum(a: int, b: int, radicand: int, c: int, other: int) -> int:
    """Sign of (a + b √radicand) + c √other, by squaring twice at most."""
    of_first, of_second = sign_of_root_sum(a, b, radicand), sign(c) * sign(other)
    if of_first * of_second >= 0:
        return of_first or of_second
    return of_first * sign_of_root_sum(a * a + b * b * radicand - c * c * other, 2 * a * b, radicand)


class Number(Protocol):
    """A real number that is compared exactly with others of all kinds."""

    def compare(self, other: Any, /) -> int:
        """Sign of self - other."""

    def double_double(self) -> tuple[float, float]:
        """The value as the sum of two float64."""


class QuadraticNumber:
    """(p + s √D) / q with integers p, D >= 0, q > 0 and s one of -1, 0, 1: a root of a quadratic, or a rational."""

    __slots__ = ("denominator", "radicand", "rational", "root_sign")

    def __init__(self, rational: int, denominator: int, root_sign: int = 0, radicand: int = 0) -> None:
        if denominator < 0:
            rational, denominator, root_sign = -rational, -denominator, -root_sign
        self.rational, self.denominator, self.root_sign, self.radicand = rational, denominator, root_sign, radicand

    @classmethod
    def of_float(cls, value: float) -> "QuadraticNumber":
        """The exact value of a finite float64."""
        return cls(*value.as_integer_ratio())

    def compare(self, other: Number, /) -> int:
        """Sign of self - other."""
        if not isinstance(other, QuadraticNumber):
            return -other.compare(self)
        rational = self.rational * other.denominator - other.rational * self.denominator
        if other.root_sign == 0:
            return sign_of_root_sum(rational, self.root_sign * other.denominator, self.radicand)
        return sign_of_two_root_sum(
            rational,
            self.root_sign * other.denominator,
            self.radicand,
            -other.root_sign * self.denominator,
            other.radicand,
        )

    def __repr__(self) -> str:
        return f"({self.rational} {self.root_sign:+d}*sqrt({self.radicand})) / {self.denominator}"

    def approximate(self) -> tuple[int, int]:
        """A fraction with a relative error below 2⁻¹⁴⁰ (exact when the number is rational), not reduced."""
        root, shift = isqrt(self.radicand), 0
        if root * root == self.radicand:
            return self.rational + self.root_sign * root, self.denominator
        while True:
            scaled = (self.rational << shift) + self.root_sign * isqrt(self.radicand << (2 * shift))
            if abs(scaled) >> DIGITS:
                return scaled, self.denominator << shift
            shift += DIGITS

    def double_double(self) -> tuple[float, float]:
        """The value as the sum of two float64, high word nearest; infinite beyond the largest float64."""
        numerator, denominator = self.approximate()
        try:
            high = numerator / denominator
        except OverflowError:
            return (inf if numerator > 0 else -inf), 0.0
        above, below = high.as_integer_ratio()
        return high, (numerator * below - above * denominator) / (denominator * below)


ZERO = QuadraticNumber(0, 1)
