"""Limbs between two recorded poses in rational arithmetic; lengths of quaternions have 60 digits."""

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import NamedTuple

from support.oracle.pose import Rational, rational, turned

DIGITS = 60
"""Digits of quaternion lengths: 199 bits."""


class Blend(NamedTuple):
    """A bone between two poses."""

    position: Rational
    orientation: Rational
    """Of any length."""
    cosine: float
    """Of the angle between both unit quaternions in 4D: its sign selects the short way."""


def blend(a: Sequence[float], b: Sequence[float], alpha: float) -> Rational:
    """Return (1 - alpha) a + alpha b."""
    share = Fraction(alpha)
    return tuple((1 - share) * x + share * y for x, y in zip(rational(a), rational(b), strict=True))


def _unit(q: Sequence[float]) -> list[Decimal]:
    """Return the quaternion divided by its length."""
    with localcontext() as context:
        context.prec = DIGITS
        numbers = [Decimal(float(c)) for c in q]
        length = sum(c * c for c in numbers).sqrt()
        return [c / length for c in numbers]


def blended_bone(
    positions: tuple[Sequence[float], Sequence[float]],
    orientations: tuple[Sequence[float], Sequence[float]],
    alpha: float,
) -> Blend:
    """Return the bone between two poses: linear interpolation of unit quaternions the short way, not normalised."""
    p, q = (tuple(Fraction(c) for c in _unit(turn)) for turn in orientations)
    cosine = sum(x * y for x, y in zip(p, q, strict=True))
    share = Fraction(alpha)
    beta = share if cosine >= 0 else -share
    turn = tuple((1 - share) * x + beta * y for x, y in zip(p, q, strict=True))
    return Blend(blend(*positions, alpha), turn, float(cosine))


def carried_point(bone: Blend, v: Sequence[float]) -> Rational:
    """Return a point of the bone's frame in world coordinates."""
    moved = turned(bone.orientation, rational(v))
    return tuple(p + c for p, c in zip(bone.position, moved, strict=True))


def carried_axis(bone: Blend, v: Sequence[float]) -> Rational:
    """Return a direction of the bone's frame in world coordinates."""
    return turned(bone.orientation, rational(v))
