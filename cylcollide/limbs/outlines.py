"""Outlines of limbs in a direction of view, for figures, and the colours of hit groups."""

from collections.abc import Mapping

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Shape
from cylcollide.limbs.limbs import Limbs
from cylcollide.limbs.meshes import BOX_CORNERS, profile
from cylcollide.limbs.wireframe import across, direction

AROUND, ALONG = 32, 13
"""Points of an outline around the axis, and rings along a curved profile."""

COLORS = ("#8aa1b8", "#8e5ea8", "#e6a33a", "#3f7fbf", "#8c6f5a", "#00798c", "#c46a9b", "#2e4057")
"""Colours of hit groups, in the order of their names; the first: no group. Red and green mark gaps and hits."""

LINE = "#333333"


def group_colors(groups: Mapping[str, int]) -> dict[int, str]:
    """Colours of hit groups by number."""
    return dict(zip(groups.values(), COLORS[1:] * len(groups), strict=False))


def up_axis(limbs: Limbs, chosen: BoolArray) -> int:
    """The axis that points up, 1 or 2: the one along which the chosen characters are longer; 2 without characters."""
    tall = np.zeros(3)
    for one in np.unique(limbs.character[chosen])[:16]:
        own = chosen & (limbs.character == one)
        tall += np.ptp(np.concatenate([limbs.p1[own], limbs.p2[own]]), axis=0)
    return 1 if tall[1] > 1.25 * tall[2] else 2


def surface_points(limbs: Limbs, i: int, around: int = AROUND) -> Float64Array:
    """Points (n, 3) on the surface of limb i, `around` of them per ring, whose convex hull is nearly the limb."""
    if limbs.kind[i] == Shape.BOX:
        return np.asarray(limbs.p1[i] + (BOX_CORNERS * limbs.half_extents[i]) @ limbs.box_axes[i])
    p1, p2, row = limbs.p1[i], limbs.p2[i], slice(i, i + 1)
    half = np.array([0.5 * np.linalg.norm(p2 - p1)])
    sizes = limbs.radius[row], limbs.radius2[row]
    (height,), (radius,) = profile(Shape(limbs.kind[i]), half, *sizes, max(around, 2 * ALONG))
    way, turn = direction(p1, p2), np.linspace(0.0, 2.0 * np.pi, around, endpoint=False)
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=1) @ across(way)
    points = 0.5 * p1 + 0.5 * p2 + height[:, None, None] * way + radius[:, None, None] * ring
    return np.asarray(points).reshape(-1, 3)


def hull(points: Float64Array, around: int = AROUND) -> Float64Array:
    """Corners (n, 2) of the convex hull of points (n, 2), in order: the extreme points in 6 * around directions."""
    turns = np.linspace(0.0, 2.0 * np.pi, 6 * around, endpoint=False)
    farthest = points[(points @ np.array([np.cos(turns), np.sin(turns)])).argmax(axis=0)]
    return np.asarray(farthest[np.append(True, (np.diff(farthest, axis=0) != 0.0).any(axis=1))])
