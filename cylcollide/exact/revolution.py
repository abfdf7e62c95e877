"""Tapered cylinder, cone and ellipsoid of revolution: distance² from the axis at most a quadratic of the axial place.

With h = (x - p1)·a, a = p2 - p1 and the axial place u = h / a², the distance from the axis is |(x - p1) × a| / |a|.
"""

from typing import NamedTuple

from cylcollide._types import Face, Side
from cylcollide.exact.line import (
    Crossing,
    RayNumbers,
    Triple,
    axis_frame,
    common,
    point_frame,
    quadratic,
    side_of,
    slab,
)


class Tapered(NamedTuple):
    """Closed tapered cylinder {0 <= u <= 1, distance <= r1 + (r2 - r1) u}; a cone if r2 = 0."""

    p1: Triple
    p2: Triple
    radius1: float
    radius2: float

    def crossing(self, ray: RayNumbers) -> Crossing:
        """Between the caps and within the wall; between the caps the other nappe of the wall's cone never is."""
        frame = axis_frame(ray, self.p1, self.p2, self.radius1, self.radius2)
        a, b, c = frame.distance_terms()
        first, last = frame.radii
        # radius times a²: start + t change
        start, change = first * frame.top + (last - first) * frame.height, (last - first) * frame.rate
        wall = quadratic(frame.top * a - change * change, frame.top * b - start * change, frame.top * c - start * start)
        return Crossing(
            common(slab(frame.height, frame.rate, frame.top), wall), lambda time: frame.cap(time) or Face.SIDE
        )

    def side(self, point: Triple) -> Side:
        """Where a point lies."""
        height, top, distance, (first, last) = point_frame(point, self.p1, self.p2, self.radius1, self.radius2)
        wall = (first * top + (last - first) * height) ** 2
        return side_of(0 <= height <= top and top * distance <= wall, height in (0, top) or top * distance == wall)


class Ellipsoid(NamedTuple):
    """Closed ellipsoid of revolution with poles p1, p2 and equatorial radius r: distance² <= 4 r² u (1 - u)."""

    p1: Triple
    p2: Triple
    radius: float

    def crossing(self, ray: RayNumbers) -> Crossing:
        """Where a² |(x - p1) × a|² <= 4 r² h (a² - h); that needs 0 <= h <= a²."""
        frame = axis_frame(ray, self.p1, self.p2, self.radius)
        a, b, c = frame.distance_terms()
        four, top, h, g = 4 * frame.radii[0] ** 2, frame.top, frame.height, frame.rate
        inside = quadratic(
            top * a + four * g * g, top * b - four * g * (top - 2 * h) // 2, top * c - four * h * (top - h)
        )
        return Crossing(inside, lambda _: Face.SIDE)

    def side(self, point: Triple) -> Side:
        """Where a point lies."""
        height, top, distance, (radius,) = point_frame(point, self.p1, self.p2, self.radius)
        wall = 4 * radius**2 * height * (top - height)
        return side_of(top * distance <= wall, top * distance == wall)
