"""Cylinder and tube: {x : 0 <= (x - p1)·a <= a², |(x - p1) × a|² <= r² a²} with a = p2 - p1, less the open bore."""

from typing import NamedTuple

from cylcollide._types import Face, Side
from cylcollide.exact.line import (
    EVERYWHERE,
    Crossing,
    RayNumbers,
    Stretch,
    Triple,
    axis_frame,
    common,
    point_frame,
    quadratic,
    side_of,
    slab,
)
from cylcollide.exact.numbers import QuadraticNumber


class Cylinder(NamedTuple):
    """Closed cylinder with flat caps."""

    p1: Triple
    p2: Triple
    radius: float

    def crossing(self, ray: RayNumbers) -> Crossing:
        """Between the caps, caps first, and within the wall."""
        frame = axis_frame(ray, self.p1, self.p2, self.radius)
        a, b, c = frame.distance_terms()
        wall = quadratic(a, b, c - frame.radii[0] ** 2 * frame.top)
        return Crossing(
            common(slab(frame.height, frame.rate, frame.top), wall), lambda time: frame.cap(time) or Face.SIDE
        )

    def side(self, point: Triple) -> Side:
        """Where a point lies."""
        height, top, distance, radii = point_frame(point, self.p1, self.p2, self.radius)
        wall = radii[0] ** 2 * top
        return side_of(0 <= height <= top and distance <= wall, height in (0, top) or distance == wall)


class Tube(NamedTuple):
    """Closed cylinder less the open infinite cylinder of `inner_radius`: the bore's wall belongs to it."""

    p1: Triple
    p2: Triple
    radius: float
    inner_radius: float

    def crossing(self, ray: RayNumbers) -> Crossing:
        """Inside the cylinder and not strictly inside the bore."""
        frame = axis_frame(ray, self.p1, self.p2, self.radius, self.inner_radius)
        a, b, c = frame.distance_terms()
        bore_square = frame.radii[1] ** 2 * frame.top

        def face(time: QuadraticNumber) -> Face:
            return frame.cap(time) or (Face.BORE if is_root(a, b, c - bore_square, time) else Face.SIDE)

        solid = Cylinder(self.p1, self.p2, self.radius).crossing(ray).stretches
        return Crossing(common(solid, outside_quadratic(a, b, c - bore_square)), face)

    def side(self, point: Triple) -> Side:
        """Where a point lies."""
        height, top, distance, radii = point_frame(point, self.p1, self.p2, self.radius, self.inner_radius)
        wall, bore = radii[0] ** 2 * top, radii[1] ** 2 * top
        inside = 0 <= height <= top and bore <= distance <= wall
        return side_of(inside, height in (0, top) or distance in (wall, bore))


def outside_quadratic(a: int, b: int, c: int) -> list[Stretch]:
    """Where a t² + 2 b t + c >= 0, for a >= 0 and b = 0 where a = 0."""
    if a == 0:
        return [EVERYWHERE] if c >= 0 else []
    radicand = b * b - a * c
    if radicand <= 0:
        return [EVERYWHERE]
    return [
        Stretch(None, QuadraticNumber(-b, a, -1, radicand)),
        Stretch(QuadraticNumber(-b, a, 1, radicand), None),
    ]


def is_root(a: int, b: int, c: int, time: QuadraticNumber) -> bool:
    """Whether a t² + 2 b t + c = 0 at that time, for a >= 0 and b = 0 where a = 0."""
    if a == 0:
        return c == 0
    radicand = b * b - a * c
    return radicand >= 0 and any(time == QuadraticNumber(-b, a, s, radicand) for s in (-1, 1))
