"""Wireframes of limbs: lines for the debug drawing of engines."""

import numpy as np

from cylcollide._types import Float64Array, Shape
from cylcollide.limbs.limbs import Limbs
from cylcollide.limbs.meshes import box_corners, revolved
from cylcollide.limbs.tables import chosen_rows
from cylcollide.query.boxes import BOX_EDGES

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
