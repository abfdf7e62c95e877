"""Whether boxes touch limbs, proved by a plane between both, or by a point of both.

A point is projected onto the limb and onto the box in turn (alternating projections, with relaxation and momentum). It
converges to a point of both, or to the closest points of both; each step tests the plane across the vector from the
limb's place to the box's.

Along a coordinate axis to which both have level faces, heights are compared without error, and the box is then moved to
the middle of the limb.
"""

from math import sqrt

import numpy as np

from cylcollide._types import Column, Rows, Vectors
from cylcollide.kernels.distance import distance_bounds
from cylcollide.kernels.level import BOX, beyond, has_level_faces, level_heights, moved_to
from cylcollide.kernels.limb_table import Limb, LimbRows, limb_at
from cylcollide.kernels.ray import as_vector, dot, largest_component, subtract
from cylcollide.kernels.support import support, way_from
from cylcollide.query.loops.approach import FAR, NEAR, OPEN, PAD
from cylcollide.runtime.compile import compiled, compiled_loop, inlined

MOST_STEPS = 32
"""Most projections onto the box: one or two suffice, and 1 % of random pairs need more than these."""

RELAXATION, MOMENTUM = 1.25, 0.8
"""Length of a step to the limb, of which the distance is 1, and the share of the step before that is added to it."""


@compiled_loop
def touch_boxes(
    centres: Vectors,
    boxes: Rows[np.float64],
    query: Column[np.int64],
    table: LimbRows,
    limb: Column[np.int32],
    states: Column[np.int8],
) -> None:
    """Write for each pair whether box `query[k]` is FAR from limb `limb[k]`, NEAR it: they touch, or OPEN: not proved.

    `boxes` (n, 12): three axes, three half extents.
    """
    for k in range(limb.size):
        states[k] = touch_box(centres, boxes, query[k], limb_at(table.rows, table.kernel_shape, limb[k]))


@compiled
def touch_box(centres: Vectors, boxes: Rows[np.float64], i: int, limb: Limb) -> int:
    """The state of box i and a limb."""
    centre = as_vector(centres, i)
    a, b = as_vector(boxes[:, :3], i), as_vector(boxes[:, 3:6], i)
    c, half = as_vector(boxes[:, 6:9], i), as_vector(boxes[:, 9:], i)
    box = Limb(BOX, centre, a, b[0], b[1], b[2], c, half, limb.extent)
    for k in range(3):
        if has_level_faces(box, k) and has_level_faces(limb, k):
            low, high, _, _, middle = level_heights(limb, k)
            height, reach = level_heights(box, k)[1]
            if beyond(height, (-low[0], -low[1]), -reach) < 0.0 or beyond(-height, high, -reach) < 0.0:
                return FAR
            centre = moved_to(centre, k, middle)
    pad = 4.0 * PAD * (largest_component(centre) + half[0] + half[1] + half[2] + limb.extent)
    is_thick, place, between = min(half[0], half[1], half[2]) > pad, limb.centre, subtract(centre, limb.centre)
    last = place
    for k in range(MOST_STEPS):
        v = subtract(place, centre)
        x, y, z = clamp(dot(v, a), half[0] - pad), clamp(dot(v, b), half[1] - pad), clamp(dot(v, c), half[2] - pad)
        point = (
            centre[0] + x * a[0] + y * b[0] + z * c[0],
            centre[1] + x * a[1] + y * b[1] + z * c[1],
            centre[2] + x * a[2] + y * b[2] + z * c[2],
        )
        way = way_from(point, limb)
        square = dot(way, way)
        if square <= pad * pad and is_thick and distance_bounds(point, limb)[1] <= 0.5 * pad:
            return NEAR  # the box holds all places within `pad` of the point
        if square == 0.0:
            return OPEN
        distance = sqrt(square)
        n = (way[0] / distance, way[1] / distance, way[2] / distance)
        reach = half[0] * abs(dot(n, a)) + half[1] * abs(dot(n, b)) + half[2] * abs(dot(n, c))
        if dot(n, between) - reach > support(n, limb) + pad:
            return FAR
        moved = subtract(point, (RELAXATION * way[0], RELAXATION * way[1], RELAXATION * way[2]))
        step = subtract(moved, last) if k > 0 else (0.0, 0.0, 0.0)
        place = moved[0] + MOMENTUM * step[0], moved[1] + MOMENTUM * step[1], moved[2] + MOMENTUM * step[2]
        last = moved
    return OPEN


@inlined
def clamp(value: float, limit: float) -> float:
    """The number nearest to `value` of those between -limit and limit; 0 for a negative limit."""
    return min(max(value, -max(limit, 0.0)), max(limit, 0.0))
