"""Bones in rational arithmetic: rotations are Hamilton's product q v q* / |q|², not matrices."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import ulp

Rational = tuple[Fraction, ...]


def rational(numbers: Iterable[float]) -> Rational:
    """Return the numbers without rounding."""
    return tuple(map(Fraction, map(float, numbers)))


def hamilton(a: Rational, b: Rational) -> Rational:
    """Return the product of two quaternions x, y, z, w."""
    (x, y, z, w), (i, j, k, r) = a, b
    return (
        w * i + x * r + y * k - z * j,
        w * j - x * k + y * r + z * i,
        w * k + x * j - y * i + z * r,
        w * r - x * i - y * j - z * k,
    )


def turned(q: Rational, v: Rational) -> Rational:
    """Return the vector turned by the normalised quaternion."""
    conjugate = (-q[0], -q[1], -q[2], q[3])
    length = sum(c * c for c in q)
    return tuple(c / length for c in hamilton(hamilton(q, (*v, Fraction(0))), conjugate)[:3])


def carried(q: Sequence[float], origin: Sequence[float], v: Sequence[float]) -> Rational:
    """Return the point v of a bone's frame in world coordinates."""
    return tuple(p + c for p, c in zip(rational(origin), turned(rational(q), rational(v)), strict=True))


def ulps(got: Sequence[float], want: Rational, sizes: Iterable[float]) -> float:
    """Return the largest error of a coordinate, in ulp of the largest among `sizes` and the wanted coordinates."""
    unit = Fraction(ulp(max(float(max(map(abs, want))), *map(abs, sizes))))
    return float(max(abs(Fraction(float(g)) - w) for g, w in zip(got, want, strict=True)) / unit)
