"""Closed solids: intersections of bounds, or convex unions of such parts, and what holds for all of them.

A bound is a condition on a point x, written along the line x = origin + t direction with integer coefficients. At t = 0
the same coefficients give the side of the origin, so that one definition serves rays and points.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

from cylcollide._types import Face, RayNumbers, Side
from cylcollide.exact.foot import Foot
from cylcollide.exact.line import End, Stretch, Triple, beyond, common, hull, owner, within
from cylcollide.exact.numbers import QuadraticNumber


class Bound(NamedTuple):
    """One of the conditions that define a solid."""

    name: str
    """Its name in explanations."""
    stretches: list[Stretch]
    """Where the line satisfies it."""
    depth: int
    """Depth of the line's origin within it, in a unit of its own: 0 on the surface, negative outside."""
    hole: list[Stretch] | None = None
    """Where the line is in a bore, its surface included; None for other bounds."""


def slab(name: str, height: int, rate: int, top: int, low: Face, high: Face) -> Bound:
    """Between two parallel planes and on them: 0 <= height + t rate <= top; the faces are those of both planes."""
    depth = min(height, top - height)
    if rate == 0:
        plane = low if height == 0 else high if height == top else None
        return Bound(name, [Stretch(None, None, plane)] if depth >= 0 else [], depth)
    at_low, at_high = End(QuadraticNumber(-height, rate), low), End(QuadraticNumber(top - height, rate), high)
    return Bound(name, [Stretch(at_low, at_high) if rate > 0 else Stretch(at_high, at_low)], depth)


def wall(name: str, face: Face, a: int, b: int, c: int) -> Bound:
    """Within a curved surface and on it: a t² + 2 b t + c <= 0."""
    return Bound(name, within(a, b, c, face), -c)


def bore(name: str, face: Face, a: int, b: int, c: int) -> Bound:
    """Outside of a curved surface and on it: a t² + 2 b t + c >= 0."""
    return Bound(name, beyond(a, b, c, face), c, within(a, b, c, face))


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
        parts = [reduce(common, [bound.stretches for bound in part]) for part in self.parts(ray)]
        if len(parts) > 1:
            return hull([stretch for part in parts for stretch in part])
        return [_owned(stretch) for stretch in parts[0]]

    def side(self, point: Triple) -> Side:
        """The side of a point: its depth is the maximum over all parts of the minimum over a part's bounds."""
        at_rest = RayNumbers(point, (0.0, 0.0, 0.0), False, 0.0)  # a ray with direction zero
        depth = max([min([bound.depth for bound in part]) for part in self.parts(at_rest)])
        return Side.INSIDE if depth > 0 else Side.SURFACE if depth == 0 else Side.OUTSIDE


class LimbSolid(Solid):
    """The specification of the shape of limbs: which points are in it, and which places are nearest to a point."""

    @abstractmethod
    def feet(self, point: Triple) -> Sequence[Foot]:
        """Candidates for the place of the surface that is nearest to a point, the lowest faces first."""


def _owned(stretch: Stretch) -> Stretch:
    """The stretch; if its line runs in the plane of a face, both ends are on that face's rim or edge."""
    near, far, plane = stretch
    if plane is None or near is None or far is None:
        return stretch
    return Stretch(End(near.time, owner(near.face, plane)), End(far.time, owner(far.face, plane)))
