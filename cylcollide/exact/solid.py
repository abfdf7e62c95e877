"""A closed solid is an intersection of bounds, or a convex union of such parts; here is what follows for all of them.

A bound is a condition on a point x, written along the line x = origin + t direction with integer coefficients. At t = 0
the same numbers say where the origin lies, so that one definition answers rays and points.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple, Protocol

from cylcollide._types import Face, Side
from cylcollide.exact.line import End, RayNumbers, Stretch, Triple, beyond, common, hull, owner, slab, within


class Bound(Protocol):
    """One of the conditions that make a solid."""

    @property
    def name(self) -> str:
        """What explanations call it."""

    def stretches(self) -> list[Stretch]:
        """Where the line fulfils it."""

    def room(self) -> int:
        """How far within it the line's origin is, in a unit of its own: 0 on the surface, negative outside."""


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

    def room(self) -> int:
        """How far between the planes the line's origin is."""
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

    def room(self) -> int:
        """How far within the surface the line's origin is."""
        return -self.c


class Bore(NamedTuple):
    """Not strictly within a wall."""

    name: str
    wall: Wall

    def stretches(self) -> list[Stretch]:
        """Where the line is outside of the wall, or on it."""
        return beyond(self.wall.a, self.wall.b, self.wall.c, self.wall.face)

    def room(self) -> int:
        """How far outside of the wall the line's origin is."""
        return self.wall.c


class Solid(ABC):
    """The specification of one shape: its bounds. A point is in the solid if it fulfils all of them."""

    @abstractmethod
    def bounds(self, ray: RayNumbers) -> Sequence[Bound]:
        """The conditions that make the solid, along the ray's line."""

    def parts(self, ray: RayNumbers) -> Sequence[Sequence[Bound]]:
        """The intersections of bounds whose union, which must be convex, is the solid; most solids are one."""
        return (self.bounds(ray),)

    def crossing(self, ray: RayNumbers) -> list[Stretch]:
        """Where the ray's line is inside, in order."""
        parts = [reduce(common, [bound.stretches() for bound in part]) for part in self.parts(ray)]
        if len(parts) > 1:
            return hull([stretch for part in parts for stretch in part])
        return [_owned(stretch) for stretch in parts[0]]

    def side(self, point: Triple) -> Side:
        """Where a point lies: in a union as far in as in any part, in a part as far in as of all bounds."""
        spot = RayNumbers(point, (0.0, 0.0, 0.0), False, 0.0)  # a ray that stays where it is
        room = max([min([bound.room() for bound in part]) for part in self.parts(spot)])
        return Side.INSIDE if room > 0 else Side.SURFACE if room == 0 else Side.OUTSIDE


def _owned(stretch: Stretch) -> Stretch:
    """The same stretch; if its line runs in the plane of a face, both ends are that face's rim or edge."""
    near, far, plane = stretch
    if plane is None or near is None or far is None:
        return stretch
    return Stretch(End(near.time, owner(near.face, plane)), End(far.time, owner(far.face, plane)))
