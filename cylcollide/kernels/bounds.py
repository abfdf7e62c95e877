"""The axis-aligned box around a limb, rounded outward."""

from math import sqrt

import numpy as np

from cylcollide._types import BOX_FLOOR, LARGEST_SAFE, SMALLEST_SAFE, UNIT_ROUNDOFF, Float64Array, Shape
from cylcollide.compiling import allocating
from cylcollide.kernels.ray import as_vector, dot, largest_component
from cylcollide.kernels.table import LimbTable

TUBE, TAPERED, ELLIPSOID = int(Shape.TUBE), int(Shape.TAPERED), int(Shape.ELLIPSOID)
CAPSULE, SPHERE, BOX = int(Shape.CAPSULE), int(Shape.SPHERE), int(Shape.BOX)

MARGIN = 64.0 * UNIT_ROUNDOFF
"""Relative errors here are below 16 u; a box's axes are unit vectors to 8 u, which its inverse doubles."""


@allocating
def limb_boxes(table: LimbTable) -> tuple[Float64Array, Float64Array]:
    """Low and high corners (n, 3) of boxes that contain the limbs.

    Along coordinate k a disc of radius r about the unit axis w reaches r √(w_i² + w_j²) from its centre; as a sum of
    squares that has no cancellation. Where the square of the axis may have lost its digits, r itself is enough.
    """
    n = table.radius.size
    low, high = np.empty((n, 3)), np.empty((n, 3))
    for i in range(n):
        a, b, kind = as_vector(table.p1, i), as_vector(table.p2, i), table.kind[i]
        axis = (b[0] - a[0], b[1] - a[1], b[2] - a[2])
        trusted = SMALLEST_SAFE < largest_component(axis) < LARGEST_SAFE
        squared = dot(axis, axis) if trusted else 1.0
        for k in range(3):
            first = last = table.radius[i]
            if kind == TAPERED:
                last = table.radius2[i]
            share = 1.0
            if kind != CAPSULE and kind != SPHERE and trusted:
                along = axis[k] * axis[k]
                across = axis[(k + 1) % 3] * axis[(k + 1) % 3] + axis[(k + 2) % 3] * axis[(k + 2) % 3]
                share = min(1.0, sqrt(across / squared) * (1.0 + MARGIN))
            smallest = min(a[k] - first * share, b[k] - last * share)
            largest = max(a[k] + first * share, b[k] + last * share)
            if kind == ELLIPSOID and trusted:
                reach = sqrt(0.25 * along + first * first * share * share)
                smallest, largest = 0.5 * (a[k] + b[k]) - reach, 0.5 * (a[k] + b[k]) + reach
            if kind == BOX:
                box = table.boxes[table.box[i]]
                reach = abs(box[k]) * box[9] + abs(box[3 + k]) * box[10] + abs(box[6 + k]) * box[11]
                smallest, largest = a[k] - reach, a[k] + reach
            room = MARGIN * (abs(smallest) + abs(largest) + (largest - smallest)) + BOX_FLOOR
            low[i, k], high[i, k] = smallest - room, largest + room
    return low, high
