"""Outlines of limbs, as figures show them from one side, and the colours of their hit groups."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from cylcollide._types import Float64Array, Shape
from cylcollide.limbs.figures import add_polygons
from cylcollide.limbs.limbs import Limbs

AROUND, ALONG = 32, 13
"""Points of an outline around the axis, and rings along one that is not straight."""

TURNS = np.linspace(0.0, 2.0 * np.pi, 180, endpoint=False)
DIRECTIONS = np.array([np.cos(TURNS), np.sin(TURNS)])
"""In which an outline is looked for: every two degrees, (2, 180)."""

COLORS = ("#8aa1b8", "#d1495b", "#edae49", "#00798c", "#66a182", "#7d5ba6", "#c8553d", "#2e4057")
"""Of hit groups, in the order of their names; the first of limbs of none."""

LINE = "#333333"


def group_colors(groups: Mapping[str, int]) -> dict[int, str]:
    """Colours of hit groups by number."""
    return dict(zip(groups.values(), COLORS[1:] * len(groups), strict=False))


def fill_outlines(axes: Any, outlines: Iterable[Float64Array], colors: Iterable[str], **style: Any) -> None:
    """Fill the hulls of points (n, 2) with these colours; "none" leaves them empty."""
    filled = {"facecolors": list(colors), "edgecolors": LINE, "linewidths": 0.6, "alpha": 0.45, **style}
    add_polygons(axes, [hull(points) for points in outlines], **filled)


def surface_points(limbs: Limbs, i: int) -> Float64Array:
    """Points (n, 3) on the surface of limb i whose convex hull is about the limb."""
    p1, p2, shape = limbs.p1[i], limbs.p2[i], Shape(limbs.kind[i])
    r1, r2 = float(limbs.radius[i]), float(limbs.radius2[i])
    if shape == Shape.BOX:
        corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1).T
        return np.asarray(p1 + (corners * limbs.half_extents[i]) @ limbs.box_axes[i])
    rings = 2 if shape in (Shape.CYLINDER, Shape.TUBE, Shape.TAPERED) else ALONG
    axis, angle = p2 - p1, np.linspace(-0.5 * np.pi, 0.5 * np.pi, rings)
    u = 0.5 + 0.5 * np.sin(angle)
    length = float(np.linalg.norm(axis))
    direction = axis / length if length else np.array([0.0, 0.0, 1.0])
    height, radius = u * length, np.full(rings, r1)
    if shape == Shape.TAPERED:
        radius = r1 + (r2 - r1) * u
    elif shape == Shape.ELLIPSOID:
        radius = r1 * np.cos(angle)
    elif shape in (Shape.CAPSULE, Shape.SPHERE):
        height, radius = np.where(angle > 0.0, length, 0.0) + r1 * np.sin(angle), r1 * np.cos(angle)
    side = np.cross(direction, np.eye(3)[np.argmin(np.abs(direction))])
    side /= np.linalg.norm(side)
    turn = np.linspace(0.0, 2.0 * np.pi, AROUND, endpoint=False)
    ring = np.outer(np.cos(turn), side) + np.outer(np.sin(turn), np.cross(direction, side))
    return np.asarray(p1 + height[:, None, None] * direction + radius[:, None, None] * ring).reshape(-1, 3)


def hull(points: Float64Array) -> Float64Array:
    """Corners (n, 2) of the convex hull of points (n, 2), around it: those that are farthest in some direction."""
    farthest = points[(points @ DIRECTIONS).argmax(axis=0)]
    return np.asarray(farthest[np.append(True, (np.diff(farthest, axis=0) != 0.0).any(axis=1))])
