"""Cylinder and tube: {x : 0 <= (x - p1)·a <= a², |(x - p1) × a|² <= r² a²} with a = p2 - p1, less the open bore."""

from collections.abc import Sequence
from dataclasses import dataclass

from cylcollide._types import Face
from cylcollide.exact.frame import axis_frame
from cylcollide.exact.line import RayNumbers, Triple
from cylcollide.exact.solid import Bore, Bound, Solid


@dataclass(frozen=True, slots=True)
class Cylinder(Solid):
    """Closed cylinder with flat caps."""

    p1: Triple
    p2: Triple
    radius: float

    def bounds(self, ray: RayNumbers) -> Sequence[Bound]:
        """Between the caps, caps first, and within the wall."""
        frame = axis_frame(ray, self.p1, self.p2, self.radius)
        (r,) = frame.radii
        return frame.slab(), frame.wall(r * r * frame.top)


@dataclass(frozen=True, slots=True)
class Tube(Solid):
    """Closed cylinder less the open infinite cylinder of `inner_radius`: the bore's wall belongs to it."""

    p1: Triple
    p2: Triple
    radius: float
    inner_radius: float

    def bounds(self, ray: RayNumbers) -> Sequence[Bound]:
        """The bounds of the cylinder, and not strictly inside the bore."""
        frame = axis_frame(ray, self.p1, self.p2, self.radius, self.inner_radius)
        r, inner = frame.radii
        bore = frame.wall(inner * inner * frame.top, face=Face.BORE)
        return frame.slab(), frame.wall(r * r * frame.top), Bore("bore", bore)
