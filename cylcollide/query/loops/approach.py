"""How near a segment comes to a limb, and how deep into it, bounded from both sides.

The distance from a limb changes no faster than a point moves, so the distance at the middle of an interval bounds that
of the whole interval. Intervals are halved until the bounds decide, or until `MOST_POINTS` points are evaluated.
"""

from math import inf, sqrt

import numpy as np

from cylcollide._types import Column, Vectors
from cylcollide.kernels.distance import distance_bounds
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.limb_table import Limb, LimbRows, limb_at
from cylcollide.kernels.ray import as_vector, dot, largest_component, subtract
from cylcollide.runtime.compile import compiled, compiled_loop

FAR, OPEN, NEAR = 0, 1, 2
"""FAR: certainly farther than one bound everywhere. NEAR: certainly within another one somewhere. OPEN: not proved."""

MOST_POINTS = 1024
"""Most points at which the distance of one segment from one limb is evaluated."""

MOST_HALVINGS = 40

PAD = 2.0**-45
"""A margin relative to coordinates, far above the rounding of points and lengths here."""


@compiled
def approach(start: Vector, along: Vector, far: float, near: float, limb: Limb) -> tuple[int, float]:
    """Whether start + s along, 0 <= s <= 1, is FAR: beyond `far` from the limb, or NEAR: somewhere within `near`.

    `near` is at most `far`; distances are signed. Also returns s where it is near.
    """
    pad = PAD * (largest_component(start) + largest_component(along) + limb.extent)
    length, level, number, width, is_far = sqrt(dot(along, along)), 0, 0, 1.0, True
    for _ in range(MOST_POINTS):
        s = (number + 0.5) * width
        point = (start[0] + s * along[0], start[1] + s * along[1], start[2] + s * along[2])
        lower, upper = distance_bounds(point, limb)
        if upper + pad <= near:
            return NEAR, s
        is_far = is_far and upper - pad > far
        least = lower - 0.5 * width * length - pad
        if least <= near or (is_far and least <= far):
            if level == MOST_HALVINGS or lower == -inf:
                return OPEN, s
            level, number, width = level + 1, 2 * number, 0.5 * width
            continue
        number += 1
        while number % 2 == 0:
            level, number, width = level - 1, number // 2, 2.0 * width
        if level <= 0:
            return (FAR if is_far else OPEN), s
    return OPEN, 0.0


@compiled_loop
def find_deep(
    starts: Vectors,
    ends: Vectors,
    depth: Column[np.float64],
    query: Column[np.int64],
    limb: Column[np.int32],
    table: LimbRows,
    deep: Column[np.bool_],
) -> None:
    """Write whether some point of a segment is certainly this deep in a limb, k pairs of both; depths are above 0."""
    for k in range(query.size):
        start, end = as_vector(starts, query[k]), as_vector(ends, query[k])
        along = subtract(end, start)
        one = limb_at(table.rows, table.kernel_shape, limb[k])
        deep[k] = approach(start, along, -depth[k], -depth[k], one)[0] == NEAR
