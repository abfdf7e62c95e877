"""Closed solids: intersections of bounds, or convex unions of such parts, and what holds for all of them.

A bound is a condition on a point x, written along the line x = origin + t direction with integer coefficients. At t = 0
the same coefficients give the side of the origin, so that one definition serves rays and points.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple, Protocol

from cylcollide._types import Face, Side
from cylcollide.exact.line import End, RayNumbers, Stretch, Triple, beyond, common, hull, owner, slab, within


class Bound(Protocol):
    """One of the conditions that define a solid."""

    @property
    def name(self) -> str:
        """Its name in explanations."""

    def stretches(self) -> list[Stretch]:
        """Where the line satisfies it."""

    def depth(self) -> int:
        """Depth of the line's origin within it, in a unit of its own: 0 on the surface, negative outside."""


class Slab(NamedTuple):
    """Between two parallel planes and on them: 0 <= height + t rate <= top."""

    name: str
    height: int
    rate: int
    top: int
    low: Face  # the face at height 0
    high: Face  # and at height top

    def stretches(self) -> list[Stretch]:
        """Where the line is between the planes."""
        return slab(self.height, self.rate, self.top, self.low, self.high)

    def depth(self) -> int:
        """Depth of the line's origin below the nearer plane."""
        return min(self.height, self.top - self.height)


class Wall(NamedTuple):
    """Within a curved surface and on it: a t² + 2 b t + c <= 0."""

    name: str
    face: Face
    a: int
    b: int
    c: int

    def stretches(self) -> list[Stretch]:
        """Where the line is within the surface."""
        return within(self.a, self.b, self.c, self.face)

    def depth(self) -> int:
        """Depth of the line's origin below the surface."""
        return -self.c


class Bore(NamedTuple):
    """Not strictly within a wall."""

    name: str
    wall: Wall

    def stretches(self) -> list[Stretch]:
        """Where the line is outside of the wall, or on it."""
        return beyond(self.wall.a, self.wall.b, self.wall.c, self.wall.face)

    def depth(self) -> int:
        """Depth of the line's origin outside of the wall."""
        return self.wall.c


class Solid(ABC):
    """The specification of one shape: its bounds. A point is in the solid if it satisfies all of them."""

    @abstractmethod
    def bounds(self, ray: RayNumbers) -> Sequence[Bound]:
        """The conditions that define the solid, along the ray's line."""

    def parts(self, ray: RayNumbers) -> Sequence[Sequence[Bound]]:
        """The intersections of bounds whose union, which must be convex, is the solid; most solids have one part."""
        return (self.bounds(ray),)

    def crossing(self, ray: RayNumbers) -> list[Stretch]:
        """Where the ray's line is inside, in order."""
        parts = [reduce(common, [bound.stretches() for bound in part]) for part in self.parts(ray)]
        if len(parts) > 1:
            return hull([stretch for part in parts for stretch in part])
        return [_owned(stretch) for stretch in parts[0]]

    def side(self, point: Triple) -> Side:
        """The side of a point: its depth is the largest over the parts of the least over each part's bounds."""
        at_rest = RayNumbers(point, (0.0, 0.0, 0.0), False, 0.0)  # a ray with direction zero
        depth = max([min([bound.depth() for bound in part]) for part in self.parts(at_rest)])
        return Side.INSIDE if depth > 0 else Side.SURFACE if depth == 0 else Side.OUTSIDE


def _owned(stretch: Stretch) -> Stretch:
    """The same stretch; if its line runs in the plane of a face, both ends are that face's rim or edge."""
    near, far, plane = stretch
    if plane is None or near is None or far is None:
        return stretch
    return Stretch(End(near.time, owner(near.face, plane)), End(far.time, owner(far.face, plane)))
