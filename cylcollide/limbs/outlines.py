"""Outlines of limbs: hulls for figures, lines for the debug drawing of engines; and the colours of hit groups."""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import ArrayLike

from cylcollide._types import BoolArray, Float64Array, Shape
from cylcollide.limbs.limbs import Limbs
from cylcollide.limbs.meshes import box_corners, revolved
from cylcollide.limbs.tables import chosen_rows
from cylcollide.query.boxes import BOX_EDGES

AROUND, ALONG = 32, 13
"""Points of an outline around the axis, and rings along a curved profile."""

BLOCK = 1024
"""Number of limbs whose points are computed at once: 10 MB."""

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


def surfaces(limbs: Limbs, rows: ArrayLike, around: int = AROUND) -> Iterator[Float64Array]:
    """For each limb, points (n, 3) on its surface, `around` of them per ring; their hull is nearly the limb."""
    every = np.asarray(rows, np.int64)
    for first in range(0, len(every), BLOCK):
        block = every[first : first + BLOCK]
        kinds, found = limbs.kind[block], [np.empty((0, 3))] * len(block)
        for kind in np.unique(kinds).tolist():
            rows = np.flatnonzero(kinds == kind)
            own, fineness = chosen_rows(limbs._table, block[rows]), max(around, 2 * ALONG)
            points = box_corners(own) if kind == Shape.BOX else revolved(own, kind, fineness, around)[0]
            for row, of_limb in zip(rows.tolist(), points, strict=True):
                found[row] = of_limb.reshape(-1, 3)
        yield from found


def surface_points(limbs: Limbs, i: int) -> Float64Array:
    """Points of `surfaces` for limb i, (n, 3)."""
    return next(surfaces(limbs, [i]))


def hull(points: Float64Array, around: int = AROUND) -> Float64Array:
    """Corners (n, 2) of the convex hull of points (n, 2), in order: the extreme points in 6 * around directions."""
    turns = np.linspace(0.0, 2.0 * np.pi, 6 * around, endpoint=False)
    farthest = points[(np.stack([np.cos(turns), np.sin(turns)], axis=1) @ points.T).argmax(axis=1)]
    return np.asarray(farthest[np.append(True, (np.diff(farthest, axis=0) != 0.0).any(axis=1))])


# Lines --------------------------------------------------------------------------------------------------------------

CORNERS = 12  # of the polygon drawn for a circle

DRAWN: dict[int, tuple[list[int], list[int]]] = {
    Shape.CYLINDER: ([1, 2], [1]),
    Shape.TUBE: ([0, 1, 2, 3], [1, 3]),
    Shape.TAPERED: ([1, 2], [1]),
    Shape.ELLIPSOID: ([3], [0, 1, 2, 3, 4, 5]),
    Shape.CAPSULE: ([3, 4], [0, 1, 2, 3, 4, 5, 6]),
    Shape.SPHERE: ([3], [0, 1, 2, 3, 4, 5]),
}
"""The rings of `meshes.profile` that are drawn, and those from which four lines lead to the next ring."""


def outlines(limbs: Limbs) -> Float64Array:
    """Lines (m, 2, 3) that outline all limbs.

    A cylinder, tapered or not, has 28, a tube 56, a capsule 52, a sphere or ellipsoid 36, a box 12.
    """
    lines = [np.empty((0, 2, 3))]
    for kind in np.unique(limbs.kind).tolist():
        own = chosen_rows(limbs._table, np.flatnonzero(limbs.kind == kind))
        if kind == Shape.BOX:
            lines.append(box_corners(own)[:, BOX_EDGES].reshape(-1, 2, 3))
            continue
        (drawn, begins), (points, _) = DRAWN[kind], revolved(own, kind, CORNERS, CORNERS)
        rings, ends = points[:, drawn], np.array(begins) + 1
        lines.append(np.stack([rings, np.roll(rings, -1, axis=2)], axis=3).reshape(-1, 2, 3))
        along = points[:, :, :: CORNERS // 4]
        lines.append(np.stack([along[:, begins], along[:, ends]], axis=3).reshape(-1, 2, 3))
    return np.concatenate(lines)
