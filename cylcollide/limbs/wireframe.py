"""Wireframes of limbs: lines for the debug drawing of engines."""

import numpy as np

from cylcollide._types import Float64Array, Shape
from cylcollide.limbs.limbs import Limbs

CORNERS = 12  # of the polygon drawn for a circle
TURNS = np.linspace(0.0, 2.0 * np.pi, CORNERS + 1)


def outlines(limbs: Limbs) -> Float64Array:
    """Lines (m, 2, 3) that outline all limbs.

    A cylinder, tapered or not, has 28, a tube 56, a capsule 52, a sphere or ellipsoid 36, a box 12.
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
            (x, y), z = radius * across(direction(p1, p2)), 0.5 * (p2 - p1)
            middle = p1 + z
            lines += [_arc(middle, x, y), _arc(middle, y, z), _arc(middle, z, x)]
        elif kind not in (Shape.CYLINDER, Shape.TUBE, Shape.TAPERED, Shape.CAPSULE):
            raise KeyError(Shape(kind))
        else:
            lines += _wall(p1, p2, radius, radius2 if kind == Shape.TAPERED else radius)
            lines += _wall(p1, p2, radius2, radius2) if kind == Shape.TUBE else []
            lines += _half_balls(p1, p2, radius) if kind == Shape.CAPSULE else []
    return np.concatenate(lines)


def _chain(points: Float64Array) -> Float64Array:
    return np.stack([points[:-1], points[1:]], axis=1)


def _arc(centre: Float64Array, u: Float64Array, v: Float64Array, corners: int = CORNERS) -> Float64Array:
    """Lines of an arc from centre + u through centre + v; `corners` of the CORNERS lines of the full circle."""
    turns = TURNS[: corners + 1, None]
    return _chain(centre + np.cos(turns) * u + np.sin(turns) * v)


def _wall(p1: Float64Array, p2: Float64Array, r1: float, r2: float) -> list[Float64Array]:
    """Circles around both ends, and four lines between them."""
    u, v = across(direction(p1, p2))
    sides = np.array([[p1 + r1 * side, p2 + r2 * side] for side in (u, v, -u, -v)])
    return [_arc(p1, r1 * u, r1 * v), _arc(p2, r2 * u, r2 * v), sides]


def _half_balls(p1: Float64Array, p2: Float64Array, radius: float) -> list[Float64Array]:
    axis = direction(p1, p2)
    sides = radius * across(axis)
    return [_arc(end, side, way * radius * axis, CORNERS // 2) for end, way in ((p1, -1), (p2, 1)) for side in sides]


def direction(p1: Float64Array, p2: Float64Array) -> Float64Array:
    """The unit vector from p1 to p2; the z axis if they are equal."""
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


def across(axis: Float64Array) -> Float64Array:
    """Two unit vectors perpendicular to a unit vector and to each other, (2, 3)."""
    u = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    u /= np.linalg.norm(u)
    return np.array([u, np.cross(axis, u)])
