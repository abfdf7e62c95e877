"""A point relative to a limb, in fractions: for normals, and for a second definition of the inside."""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

from support.oracle.cylinder import CAP1, CAP2
from support.oracle.lines import Solid


class Spot:
    """A point relative to a limb, exact."""

    def __init__(self, solid: Solid, point: Sequence[Fraction]) -> None:
        self.solid = solid
        self.r, self.r2 = Fraction(solid.radius), Fraction(solid.radius2)
        self.m = [y - Fraction(x) for x, y in zip(solid.p1, point, strict=True)]

    @cached_property
    def a(self) -> list[Fraction]:
        """Return the axis, p2 - p1."""
        return [Fraction(y) - Fraction(x) for x, y in zip(self.solid.p1, self.solid.p2, strict=True)]

    @cached_property
    def aa(self) -> Fraction:
        """Return the squared length of the axis."""
        return sum((x * x for x in self.a), Fraction(0))

    @cached_property
    def u(self) -> Fraction:
        """Return the place along the axis, 0 at p1 and 1 at p2; 0 where there is no axis."""
        return sum(map(Fraction.__mul__, self.m, self.a)) / self.aa if self.aa else Fraction(0)

    def away(self, u: Fraction) -> list[Fraction]:
        """Return the vector from the axis line's point at u to this point."""
        return [x - u * y for x, y in zip(self.m, self.a, strict=True)]

    def off(self, u: Fraction) -> Fraction:
        """Return the squared distance from the axis line's point at u."""
        return sum((x * x for x in self.away(u)), Fraction(0))

    @cached_property
    def nearest(self) -> Fraction:
        """Return u of the nearest point of the axis segment."""
        return min(max(self.u, Fraction(0)), Fraction(1))

    def within_caps(self, wall: Fraction) -> bool:
        """Return whether the point is between the caps and within a radius of the axis."""
        return 0 <= self.u <= 1 and self.off(self.u) <= wall**2

    @cached_property
    def across(self) -> list[Fraction]:
        """Return the coordinates along a box's axes."""
        return [sum(Fraction(c) * d for c, d in zip(row, self.m, strict=True)) for row in self.solid.axes]


def capped_normal(spot: Spot, face: int, slope: float = 0.0) -> tuple[list[float], float]:
    """Return normal and curvature of caps and a wall whose radius grows by `slope` along the axis."""
    if face in (CAP1, CAP2):
        return unit([y if face == CAP2 else -y for y in spot.a]), 0.0
    out = spot.away(spot.u)
    leaning = [x - slope * y for x, y in zip(unit(out), unit(spot.a), strict=True)]
    return [x / math.hypot(1.0, slope) for x in leaning], 1 / length(out)


def ball_normal(spot: Spot) -> tuple[list[float], float]:
    """Return normal and curvature of a sphere or capsule."""
    return unit(spot.away(spot.nearest)), 1 / spot.solid.radius


def length(v: Sequence[Fraction]) -> float:
    """Return the length of an exact vector, within 2 ulp."""
    return math.hypot(*map(float, v))


def unit(v: Sequence[Fraction]) -> list[float]:
    """Return an exact vector scaled to length 1, within 3 ulp."""
    size = length(v)
    return [float(x) / size for x in v]


def square_root(x: Fraction) -> Fraction:
    """Return the square root within 2**-150 relative."""
    shift = 4000
    return Fraction(math.isqrt((x.numerator << shift) // x.denominator), 1 << shift // 2)
