"""Signed distances from points to the surfaces of limbs, in float64: negative inside. And the volumes of limbs."""

from itertools import pairwise

import numpy as np

from cylcollide._types import Float64Array, Shape
from cylcollide.limbs.limbs import Limbs

ELLIPSE_CORNERS = 257
"""An ellipsoid's outline is a polyline of so many corners: distances are good to 2e-5 of its larger radius."""


def signed_distances(limbs: Limbs, limb: int, points: Float64Array) -> Float64Array:
    """Distances (n,) of points (n, 3), in the frame of the limbs, to the surface of one limb."""
    kind, p1, p2 = Shape(limbs.kind[limb]), limbs.p1[limb], limbs.p2[limb]
    radius, radius2 = float(limbs.radius[limb]), float(limbs.radius2[limb])
    if kind == Shape.BOX:
        outside = np.abs((points - p1) @ limbs.box_axes[limb].T) - limbs.half_extents[limb]
        inner: Float64Array = np.minimum(outside.max(axis=1), 0.0)
        return np.asarray(np.linalg.norm(np.maximum(outside, 0.0), axis=1) + inner)
    length = float(np.linalg.norm(p2 - p1))
    axis = (p2 - p1) / length if length else np.zeros(3)
    along = (points - p1) @ axis
    if kind in (Shape.SPHERE, Shape.CAPSULE):
        nearest = p1 + np.clip(along, 0.0, length)[:, None] * axis
        return np.asarray(np.linalg.norm(points - nearest, axis=1) - radius)
    across = np.linalg.norm(np.cross(points - p1, axis), axis=1)
    outline = _outline(kind, length, radius, radius2)
    plane = np.stack([along, across], axis=1)
    distance = np.min([_to_segment(plane, a, b) for a, b in pairwise(outline)], axis=0)
    share = along / length
    wall = np.interp(along, outline[:, 0], outline[:, 1]) if kind == Shape.ELLIPSOID else radius
    if kind == Shape.TAPERED:
        wall = radius + (radius2 - radius) * share
    inside = (share >= 0.0) & (share <= 1.0) & (across <= wall)
    if kind == Shape.TUBE:
        inside &= across >= radius2
    return np.asarray(np.where(inside, -distance, distance))


def _outline(kind: Shape, length: float, radius: float, radius2: float) -> Float64Array:
    """Corners of half a limb's section through its axis: along the axis and away from it, (c, 2)."""
    match kind:
        case Shape.TUBE:
            rows = [(0.0, radius2), (0.0, radius), (length, radius), (length, radius2), (0.0, radius2)]
        case Shape.ELLIPSOID:
            angles = np.linspace(0.0, np.pi, ELLIPSE_CORNERS)
            return np.stack([length / 2.0 * (1.0 - np.cos(angles)), radius * np.sin(angles)], axis=1)
        case _:
            end = radius2 if kind == Shape.TAPERED else radius
            rows = [(0.0, 0.0), (0.0, radius), (length, end), (length, 0.0)]
    return np.array(rows)


def _to_segment(points: Float64Array, a: Float64Array, b: Float64Array) -> Float64Array:
    """Distances (n,) from points (n, 2) to the segment a to b."""
    step = b - a
    square = float(step @ step)
    share = np.clip((points - a) @ step / square, 0.0, 1.0) if square else np.zeros(len(points))
    distances: Float64Array = np.linalg.norm(points - a - share[:, None] * step, axis=1)
    return distances


def volumes(limbs: Limbs) -> Float64Array:
    """The volume of each limb, (m,)."""
    length = np.linalg.norm(limbs.p2 - limbs.p1, axis=1)
    r, r2 = limbs.radius, limbs.radius2
    ball = 4.0 / 3.0 * np.pi * r**3
    formulas = {
        Shape.CYLINDER: np.pi * r**2 * length,
        Shape.TUBE: np.pi * (r**2 - r2**2) * length,
        Shape.TAPERED: np.pi / 3.0 * (r**2 + r * r2 + r2**2) * length,
        Shape.ELLIPSOID: 2.0 / 3.0 * np.pi * r**2 * length,
        Shape.CAPSULE: np.pi * r**2 * length + ball,
        Shape.SPHERE: ball,
        Shape.BOX: 8.0 * limbs.half_extents.prod(axis=1),
    }
    return np.select([limbs.kind == int(kind) for kind in formulas], list(formulas.values()))
