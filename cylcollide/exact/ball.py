"""Sphere, and capsule: the union of a cylinder and the two balls about its ends, which is convex."""

from typing import NamedTuple

from cylcollide._types import Face, Side
from cylcollide.exact.cylinder import Cylinder
from cylcollide.exact.line import (
    Crossing,
    RayNumbers,
    Stretch,
    Triple,
    axis_frame,
    quadratic,
    side_of,
    vector,
)
from cylcollide.exact.numbers import QuadraticNumber, dot, scaled_integers, subtract


class Sphere(NamedTuple):
    """Closed ball."""

    center: Triple
    radius: float

    def crossing(self, ray: RayNumbers) -> Crossing:
        """Where |x - center|² <= r²."""
        numbers = scaled_integers((*ray.origin, *ray.second, *self.center, self.radius))
        origin, second, center = (vector(numbers, k) for k in range(3))
        direction = subtract(second, origin) if ray.is_segment else second
        x = subtract(origin, center)
        inside = quadratic(dot(direction, direction), dot(x, direction), dot(x, x) - numbers[9] ** 2)
        return Crossing(inside, lambda _: Face.SIDE)

    def side(self, point: Triple) -> Side:
        """Where a point lies."""
        numbers = scaled_integers((*point, *self.center, self.radius))
        x = subtract(vector(numbers, 0), vector(numbers, 1))
        distance, wall = dot(x, x), numbers[6] ** 2
        return side_of(distance <= wall, distance == wall)


class Capsule(NamedTuple):
    """All points within r of the segment p1 → p2, p1 and p2 different; its balls are its caps, the seams included."""

    p1: Triple
    p2: Triple
    radius: float

    def crossing(self, ray: RayNumbers) -> Crossing:
        """From the first beginning to the last end of the three parts: their union is convex."""
        parts = (Cylinder(*self), Sphere(self.p1, self.radius), Sphere(self.p2, self.radius))
        stretches = [stretch for part in parts for stretch in part.crossing(ray).stretches]
        frame = axis_frame(ray, self.p1, self.p2)

        def face(time: QuadraticNumber) -> Face:
            if frame.sign_above(time, 0) <= 0:
                return Face.CAP1
            return Face.CAP2 if frame.sign_above(time, frame.top) >= 0 else Face.SIDE

        return Crossing([_hull(stretches)] if stretches else [], face)

    def side(self, point: Triple) -> Side:
        """Where a point lies: inside if strictly inside a part, or on the disc where cylinder and ball meet."""
        cylinder, first, last = (
            part.side(point) for part in (Cylinder(*self), Sphere(self.p1, self.radius), Sphere(self.p2, self.radius))
        )
        sides = (cylinder, first, last)
        return side_of(any(s != Side.OUTSIDE for s in sides), Side.INSIDE not in sides)


def _hull(stretches: list[Stretch]) -> Stretch:
    """From the first beginning to the last end; an end without bound stays without bound."""
    near = [s.near for s in stretches if s.near is not None]
    far = [s.far for s in stretches if s.far is not None]
    return Stretch(min(near) if len(near) == len(stretches) else None, max(far) if len(far) == len(stretches) else None)
