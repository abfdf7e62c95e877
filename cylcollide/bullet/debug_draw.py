"""Wireframes for PyBullet's debug lines."""

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np

from cylcollide._types import Float64Array, Shape
from cylcollide.bullet.client import Client
from cylcollide.bullet.passthrough import RayTestResult
from cylcollide.bullet.plane import Sheet
from cylcollide.limbs.limbs import Limbs

Color: TypeAlias = tuple[float, float, float]

CORNERS = 12  # of the polygon drawn for a circle
TURNS = np.linspace(0.0, 2.0 * np.pi, CORNERS + 1)
CROSS = 0.02  # half length of a hit's cross, in metres
FIELD = 1.0  # half width of the square drawn for a plane, in metres


def outlines(limbs: Limbs) -> Float64Array:
    """Lines (m, 2, 3) that outline all limbs.

    28 a cylinder, tapered or not, 56 a tube, 52 a capsule, 36 a sphere or ellipsoid, 12 a box.
    """
    lines = [np.empty((0, 2, 3))]
    for i, kind in enumerate(limbs.kind.tolist()):
        p1, p2, radius, radius2 = limbs.p1[i], limbs.p2[i], float(limbs.radius[i]), float(limbs.radius2[i])
        if kind == Shape.BOX:
            lines.append(_box(p1, limbs.box_axes[i] * limbs.half_extents[i][:, None]))
        elif kind == Shape.SPHERE:
            x, y, z = radius * np.eye(3)
            lines += [_arc(p1, x, y), _arc(p1, y, z), _arc(p1, z, x)]
        elif kind == Shape.ELLIPSOID:
            (x, y), z = radius * _across(_direction(p1, p2)), 0.5 * (p2 - p1)
            middle = p1 + z
            lines += [_arc(middle, x, y), _arc(middle, y, z), _arc(middle, z, x)]
        else:
            lines += _wall(p1, p2, radius, radius2 if kind == Shape.TAPERED else radius)
            lines += _wall(p1, p2, radius2, radius2) if kind == Shape.TUBE else []
            lines += _half_balls(p1, p2, radius) if kind == Shape.CAPSULE else []
    return np.concatenate(lines)


def redraw(client: Client, drawn: list[int], lines: Iterable[tuple[Float64Array, Color]]) -> list[int]:
    """Remove what was drawn, draw lines (m, 2, 3) in their colours; what is drawn then, which a window has alone."""
    for item in drawn:
        client.removeUserDebugItem(item)
    items = [
        int(client.addUserDebugLine(*line.tolist(), lineColorRGB=list(color)))
        for of_color, color in lines
        for line in of_color
    ]
    return [item for item in items if item >= 0]


def sheet_outline(sheet: Sheet) -> Float64Array:
    """A square in the plane and its normal: five lines (5, 2, 3)."""
    normal = np.array(sheet.normal) / np.linalg.norm(sheet.normal)
    u, v = FIELD * _across(normal)
    corners = np.array(sheet.point) + np.array([u + v, u - v, -u - v, v - u])
    edges = np.stack([corners, np.roll(corners, -1, axis=0)], axis=1)
    return np.concatenate([edges, [[np.array(sheet.point), np.array(sheet.point) + normal]]])


def crosses(hits: Iterable[RayTestResult]) -> Float64Array:
    """Three short lines through every hit, (3 m, 2, 3); misses have none."""
    points = np.array([hit[3] for hit in hits if hit[0] >= 0], dtype=np.float64).reshape(-1, 1, 3)
    arms = CROSS * np.eye(3)
    return np.stack([points - arms, points + arms], axis=2).reshape(-1, 2, 3)


def _chain(points: Float64Array) -> Float64Array:
    return np.stack([points[:-1], points[1:]], axis=1)


def _arc(centre: Float64Array, u: Float64Array, v: Float64Array, corners: int = CORNERS) -> Float64Array:
    """Lines from centre + u through centre + v, over so many corners of the full circle."""
    turns = TURNS[: corners + 1, None]
    return _chain(centre + np.cos(turns) * u + np.sin(turns) * v)


def _wall(p1: Float64Array, p2: Float64Array, r1: float, r2: float) -> list[Float64Array]:
    """Circles around both ends, and four lines between them."""
    u, v = _across(_direction(p1, p2))
    sides = np.array([[p1 + r1 * side, p2 + r2 * side] for side in (u, v, -u, -v)])
    return [_arc(p1, r1 * u, r1 * v), _arc(p2, r2 * u, r2 * v), sides]


def _half_balls(p1: Float64Array, p2: Float64Array, radius: float) -> list[Float64Array]:
    axis = _direction(p1, p2)
    sides = radius * _across(axis)
    return [_arc(end, side, way * radius * axis, CORNERS // 2) for end, way in ((p1, -1), (p2, 1)) for side in sides]


def _direction(p1: Float64Array, p2: Float64Array) -> Float64Array:
    """The unit vector from p1 to p2; z, if they are the same."""
    length = float(np.linalg.norm(p2 - p1))
    return (p2 - p1) / length if length > 0.0 else np.array([0.0, 0.0, 1.0])


def _box(centre: Float64Array, arms: Float64Array) -> Float64Array:
    signs = np.array([[i, j] for i in (-1, 1) for j in (-1, 1)])
    edges = []
    for k in range(3):
        a, b = arms[(k + 1) % 3], arms[(k + 2) % 3]
        for i, j in signs:
            corner = centre + i * a + j * b
            edges.append([corner - arms[k], corner + arms[k]])
    return np.array(edges)


def _across(axis: Float64Array) -> Float64Array:
    """Two unit vectors perpendicular to a unit vector and to each other, (2, 3)."""
    u = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    u /= np.linalg.norm(u)
    return np.array([u, np.cross(axis, u)])
