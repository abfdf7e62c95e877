"""Parts of the shapes' oracle: a limb, polynomials along a line, and the line's quantities relative to the limb."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice

from support.oracle.algebraic import Param, root
from support.oracle.cylinder import Point, Ray, integers

CYLINDER, TUBE, TAPERED, ELLIPSOID, CAPSULE, SPHERE, BOX = range(7)
"""Codes of shapes, repeated here so that tests detect a wrong one in the library; a row may state its own."""

BORE, NEG_X = 3, 4
"""Face codes in addition to those of `support.oracle.cylinder`; a box has six, from NEG_X on."""


@dataclass(frozen=True)
class Solid:
    """One closed limb. `radius2`: a tube's bore, a tapered limb's radius at p2. A sphere or box has p1 = p2 = centre.

    `axes` are the rows of a box's rotation as float64, `half` its half extents.
    """

    kind: int
    p1: Point
    p2: Point
    radius: float = 0.0
    radius2: float = 0.0
    axes: tuple[Point, Point, Point] = ((0.0, 0.0, 0.0),) * 3
    half: Point = (0.0, 0.0, 0.0)

    @property
    def shape(self) -> int:
        """Return the kind; SPHERE for a capsule without length."""
        return SPHERE if self.kind == CAPSULE and self.p1 == self.p2 else self.kind


@dataclass(frozen=True)
class Poly:
    """c0 + c1 t + c2 t², along a line with integer coefficients."""

    c0: int | Fraction
    c1: int | Fraction = 0
    c2: int | Fraction = 0

    def __add__(self, other: "Poly") -> "Poly":
        return Poly(self.c0 + other.c0, self.c1 + other.c1, self.c2 + other.c2)

    def __sub__(self, other: "Poly") -> "Poly":
        return self + other * -1

    def __mul__(self, other: "Poly | int | Fraction") -> "Poly":
        """Return the product with a number, or with a polynomial if the sum of degrees is at most 2."""
        if not isinstance(other, Poly):
            return Poly(self.c0 * other, self.c1 * other, self.c2 * other)
        assert self.c2 * other.c1 == self.c1 * other.c2 == self.c2 * other.c2 == 0
        low, mixed = self.c0 * other.c0, self.c0 * other.c1 + self.c1 * other.c0
        return Poly(low, mixed, self.c0 * other.c2 + self.c1 * other.c1 + self.c2 * other.c0)

    def sign(self, t: Fraction) -> int:
        """Return the sign at a rational t."""
        n, m = t.numerator, t.denominator
        v = (self.c2 * n + self.c1 * m) * n + self.c0 * m * m
        return (v > 0) - (v < 0)

    def roots(self) -> set[Param]:
        """Return the roots; none for the zero polynomial."""
        c0, c1, c2 = int(self.c0), int(self.c1), int(self.c2)
        if c2 == 0:
            return {Fraction(-c0, c1)} if c1 else set()
        if c1 * c1 < 4 * c2 * c0:
            return set()
        up = 1 if c2 > 0 else -1
        return {root(2 * up * c2, up * c1, 2 * up * c0, upper) for upper in (False, True)}


def dot(x: Iterable[Poly], y: Iterable[Poly | int | Fraction]) -> Poly:
    """Return the scalar product of two vectors."""
    total = Poly(0)
    for u, v in zip(x, y, strict=True):
        total += u * v
    return total


Signs = Mapping[str, int]
"""A sign, -1, 0 or 1, for each polynomial of a solid."""


class Seen:
    """The line of a ray relative to a limb: polynomials in t, with all lengths as integers in one unit."""

    def __init__(self, solid: Solid, query: Ray) -> None:
        lengths = [*solid.p1, *solid.p2, solid.radius, solid.radius2, *solid.half, *query.origin, *query.target]
        p1, p2, (self.r, self.r2), self.half, origin, target = split(integers(lengths), (3, 3, 2, 3, 3, 3))
        step = [y - x for x, y in zip(origin, target, strict=True)] if query.segment else target
        self.m, self.n = ([Poly(o - c, d) for o, c, d in zip(origin, p, step, strict=True)] for p in (p1, p2))
        self.a: list[int | Fraction] = [y - x for x, y in zip(p1, p2, strict=True)]
        self.aa: int | Fraction = sum(x * x for x in self.a)
        self.axes = solid.axes

    @cached_property
    def mm(self) -> Poly:
        """Return the squared distance from p1."""
        return dot(self.m, self.m)

    @cached_property
    def nn(self) -> Poly:
        """Return the squared distance from p2."""
        return dot(self.n, self.n)

    @cached_property
    def along(self) -> Poly:
        """Return aa u: u runs from 0 at p1 to 1 at p2."""
        return dot(self.m, self.a)

    @cached_property
    def beyond(self) -> Poly:
        """Return aa (1 - u)."""
        return Poly(self.aa) - self.along

    @cached_property
    def off(self) -> Poly:
        """Return aa times the squared distance from the axis line."""
        return self.mm * self.aa - self.along * self.along

    def capped(self, wall: Poly) -> dict[str, Poly]:
        """Return the polynomials of a solid between two caps and within a wall."""
        return {"low": self.along, "high": self.beyond, "wall": wall}


def split(flat: Iterable[int], counts: Iterable[int]) -> list[list[int]]:
    """Return the list cut into parts of the given lengths."""
    left = iter(flat)
    return [list(islice(left, count)) for count in counts]
