"""Geometry of the solid by which an engine replaces a cylinder: a smaller cylinder, the core, swept by a ball.

With a ball of radius 0 it is the cylinder itself. The signed distance to it (negative inside) is convex, so along a
segment it has one minimum; all searches here use that.
"""

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple, Self

import numpy as np

from cylcollide._types import Column, Float64Array, Vectors
from cylcollide.runtime.compile import compiled, compiled_loop

GOLDEN = 0.5 * (sqrt(5.0) - 1.0)
SECTIONS = 100  # each shrinks the bracket by 0.618: 0.618^100 is far below 2^-53 of the segment's length
BISECTIONS = 80

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Least:
    """The closest approach of segments to their solids."""

    distance: Float64Array  # signed, metres, (n,)
    fraction: Float64Array  # (n,)


class Rounded(NamedTuple):
    """One solid per row: axis from p1 to p2, size of the core, radius of the ball; metres."""

    p1: Vectors  # of the true limb
    p2: Vectors
    core_radius: Column[np.float64]
    core_excess: Column[np.float64]  # extra length of the core at each end of the limb; negative: shorter
    ball: Column[np.float64]

    @classmethod
    def cylinders(cls, p1: Float64Array, p2: Float64Array, radius: Float64Array) -> Self:
        """The limbs themselves, with a ball of radius 0."""
        none = np.zeros(len(p1))
        return cls(np.ascontiguousarray(p1), np.ascontiguousarray(p2), np.ascontiguousarray(radius), none, none)

    def taken(self, rows: "np.ndarray[tuple[int], np.dtype[np.intp]]") -> Self:
        """The solids of some rows."""
        return type(self)(*(column[rows] for column in self))

    def signed_distance(self, points: Float64Array) -> Float64Array:
        """Signed distance of each point (n, 3) from its solid, (n,)."""
        distance = np.empty(len(points))
        _fill_distances(self, points, distance)
        return distance

    def outward_normal(self, points: Float64Array) -> Float64Array:
        """Direction in which the signed distance grows at each point (n, 3), unit length."""
        normal = np.empty((len(points), 3))
        _fill_normals(self, points, normal)
        return normal

    def least_distance(self, start: Float64Array, end: Float64Array) -> Least:
        """Least signed distance along each segment, start and end (n, 3), by golden section (Kiefer 1953)."""
        found = Least(np.empty(len(start)), np.empty(len(start)))
        _fill_least(self, start, end, found.distance, found.fraction)
        return found

    def first_reach(self, start: Float64Array, end: Float64Array, least: Least, level: Float64Array) -> Float64Array:
        """Fraction at which each segment first comes within ``level`` (n,) metres of its solid; nan if never."""
        fraction = np.empty(len(start))
        _fill_reach(self, start, end, level, least.distance, least.fraction, fraction)
        return fraction


@compiled
def _profile(solid: Rounded, i: int, point: Vector) -> tuple[float, float, Vector, Vector]:
    """Signed distances of a point beyond the core's side and caps, and the unit directions in which they grow."""
    ax, ay, az = (solid.p2[i, 0] - solid.p1[i, 0], solid.p2[i, 1] - solid.p1[i, 1], solid.p2[i, 2] - solid.p1[i, 2])
    length = sqrt(ax * ax + ay * ay + az * az)
    ux, uy, uz = ax / length, ay / length, az / length
    x = point[0] - (solid.p1[i, 0] + 0.5 * ax)
    y = point[1] - (solid.p1[i, 1] + 0.5 * ay)
    z = point[2] - (solid.p1[i, 2] + 0.5 * az)
    height = x * ux + y * uy + z * uz
    x, y, z = x - height * ux, y - height * uy, z - height * uz
    distance = sqrt(x * x + y * y + z * z)
    side = distance - solid.core_radius[i]
    cap = abs(height) - (0.5 * length + solid.core_excess[i])
    sign = 1.0 if height >= 0.0 else -1.0
    scale = 1.0 / distance if distance > 0.0 else 0.0
    return side, cap, (x * scale, y * scale, z * scale), (sign * ux, sign * uy, sign * uz)


@compiled
def _signed_distance(solid: Rounded, i: int, point: Vector) -> float:
    side, cap, _, _ = _profile(solid, i, point)
    ball: float = solid.ball[i]
    a, b = max(side, 0.0), max(cap, 0.0)
    return sqrt(a * a + b * b) + min(max(side, cap), 0.0) - ball


@compiled
def _at(start: Float64Array, end: Float64Array, i: int, fraction: float) -> Vector:
    return (
        start[i, 0] + fraction * (end[i, 0] - start[i, 0]),
        start[i, 1] + fraction * (end[i, 1] - start[i, 1]),
        start[i, 2] + fraction * (end[i, 2] - start[i, 2]),
    )


@compiled_loop
def _fill_distances(solid: Rounded, points: Vectors, distance: Column[np.float64]) -> None:
    for i in range(len(points)):
        distance[i] = _signed_distance(solid, i, (points[i, 0], points[i, 1], points[i, 2]))


@compiled_loop
def _fill_normals(solid: Rounded, points: Vectors, normal: Vectors) -> None:
    for i in range(len(points)):
        side, cap, radial, axial = _profile(solid, i, (points[i, 0], points[i, 1], points[i, 2]))
        # Outside the core: the direction from its nearest point; inside: the normal of the nearest face.
        a, b = max(side, 0.0), max(cap, 0.0)
        if a == 0.0 and b == 0.0:
            a, b = (1.0, 0.0) if side > cap else (0.0, 1.0)
        scale = 1.0 / sqrt(a * a + b * b)
        for k in range(3):
            normal[i, k] = scale * (a * radial[k] + b * axial[k])


@compiled_loop
def _fill_least(
    solid: Rounded, start: Vectors, end: Vectors, distance: Column[np.float64], fraction: Column[np.float64]
) -> None:
    for i in range(len(start)):
        low, high = 0.0, 1.0
        left, right = 1.0 - GOLDEN, GOLDEN
        at_left = _signed_distance(solid, i, _at(start, end, i, left))
        at_right = _signed_distance(solid, i, _at(start, end, i, right))
        for _ in range(SECTIONS):
            if at_left < at_right:
                high, right, at_right = right, left, at_left
                left = high - GOLDEN * (high - low)
                at_left = _signed_distance(solid, i, _at(start, end, i, left))
            else:
                low, left, at_left = left, right, at_right
                right = low + GOLDEN * (high - low)
                at_right = _signed_distance(solid, i, _at(start, end, i, right))
        middle = 0.5 * (low + high)
        distance[i], fraction[i] = _signed_distance(solid, i, _at(start, end, i, middle)), middle
        # The ends themselves, which golden sections never reach.
        for at_end in (0.0, 1.0):
            value = _signed_distance(solid, i, _at(start, end, i, at_end))
            if value <= distance[i]:
                distance[i], fraction[i] = value, at_end


@compiled_loop
def _fill_reach(
    solid: Rounded,
    start: Vectors,
    end: Vectors,
    level: Column[np.float64],
    least: Column[np.float64],
    where: Column[np.float64],
    fraction: Column[np.float64],
) -> None:
    for i in range(len(start)):
        if least[i] > level[i]:
            fraction[i] = np.nan
            continue
        low, high = 0.0, where[i]
        if _signed_distance(solid, i, _at(start, end, i, 0.0)) <= level[i]:
            high = 0.0
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            if _signed_distance(solid, i, _at(start, end, i, middle)) <= level[i]:
                high = middle
            else:
                low = middle
        fraction[i] = high
