"""Rays, chords and hits of the oracles, and codes of faces and sides.

It shares neither code nor formulation with the library. `value` and positions are within 2^-160 relative of the true
parameter; everything else that is returned is exact.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt

from support.oracle.algebraic import Param, value

SIDE, CAP1, CAP2, INSIDE, NONE = 0, 1, 2, 10, 11
"""Face codes, repeated here so that tests detect a wrong code in the library."""

POINT_OUTSIDE, POINT_SURFACE, POINT_INSIDE = 0, 1, 2
"""Codes of `classify`."""

Point = tuple[float, float, float]


@dataclass(frozen=True)
class Ray:
    """The points origin + t·direction, 0 <= t <= limit; `limit` None: no limit.

    For a segment `target` is its end, the direction is the real difference end - origin, and limit is 1. For a ray
    `target` is the direction.
    """

    origin: Point
    target: Point
    segment: bool
    limit: Fraction | None

    @cached_property
    def direction(self) -> tuple[Fraction, ...]:
        """Return the exact direction, three Fractions."""
        start = (Fraction(x) for x in self.origin)
        return tuple(Fraction(x) - (s if self.segment else 0) for x, s in zip(self.target, start, strict=True))


def segment(start: Iterable[float], end: Iterable[float]) -> Ray:
    """Return the closed segment start → end."""
    return Ray(_point(start), _point(end), True, Fraction(1))


def ray(origin: Iterable[float], direction: Iterable[float], max_distance: float = float("inf")) -> Ray:
    """Return a ray, limit the float64 `max_distance / |direction|`; |direction| is exact if float64, else to 1 ulp."""
    target = _point(direction)
    length = sqrt(sum(Fraction(x) ** 2 for x in target))
    limit = None if max_distance == float("inf") else Fraction(max_distance / length)
    return Ray(_point(origin), target, False, limit)


# One limb and one ray -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Chord:
    """The part of a ray inside one limb; `leaves`: the ray leaves the limb within its limit."""

    entry: Param
    exit: Param | None  # None: a zero direction without limit, where the ray never ends or leaves
    entry_face: int
    exit_face: int
    started_inside: bool
    leaves: bool


def position(query: Ray, t: Param) -> tuple[Fraction, ...]:
    """Return the point at t, each coordinate within 2^-160 |t·direction|."""
    at = value(t)
    return tuple(Fraction(o) + at * d for o, d in zip(query.origin, query.direction, strict=True))


@dataclass(frozen=True)
class Hit:
    """The credited hit: limb, parameter along the ray, face, and the limb's chord."""

    limb: int
    at: Param
    face: int
    chord: Chord


def integers(numbers: Iterable[float]) -> list[int]:
    """Return the floats multiplied by the least power of two, at least 1, that makes all of them integers."""
    ratios = [float(x).as_integer_ratio() for x in numbers]
    common = max(den for _, den in ratios)
    return [num * (common // den) for num, den in ratios]


def _point(x: Iterable[float]) -> Point:
    """Return three Python floats."""
    a, b, c = (float(v) for v in x)
    return a, b, c
