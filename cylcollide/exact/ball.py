"""Sphere, and capsule: the union of a cylinder and the two balls around its ends, which is convex."""

from collections.abc import Sequence
from dataclasses import dataclass

from cylcollide._types import Face
from cylcollide.exact.frame import axis_frame, line_from
from cylcollide.exact.line import RayNumbers, Triple
from cylcollide.exact.numbers import dot
from cylcollide.exact.solid import Bound, Solid, Wall


@dataclass(frozen=True, slots=True)
class Sphere(Solid):
    """Closed ball."""

    center: Triple
    radius: float

    def bounds(self, ray: RayNumbers) -> Sequence[Bound]:
        """Where |x - center|² <= r²."""
        offset, step, _, (r,) = line_from(ray, self.center, self.radius)
        return (Wall("wall", Face.SIDE, dot(step, step), dot(offset, step), dot(offset, offset) - r * r),)


@dataclass(frozen=True, slots=True)
class Capsule(Solid):
    """All points within r of the segment p1 → p2, p1 and p2 different; its balls are its caps, the seams included."""

    p1: Triple
    p2: Triple
    radius: float

    def bounds(self, ray: RayNumbers) -> Sequence[Bound]:
        """Those of the cylinder and, by Pythagoras, |(x - p1) × a|² + h² <= r² a² about p1, with h - a² about p2."""
        frame = axis_frame(ray, self.p1, self.p2, self.radius)
        (r,), top = frame.radii, frame.top
        square = r * r * top
        return (
            frame.slab(),
            frame.wall(square),
            frame.wall(square, 0, -1, name="ball at p1", face=Face.CAP1),
            frame.wall(square - top * top, top, -1, name="ball at p2", face=Face.CAP2),
        )

    def parts(self, ray: RayNumbers) -> Sequence[Sequence[Bound]]:
        """The cylinder and the balls."""
        slab, wall, first, last = self.bounds(ray)
        return (slab, wall), (first,), (last,)
