"""The axis-aligned box around a limb, rounded outward."""

from math import sqrt

import numpy as np

from cylcollide._types import BOX_FLOOR, LARGEST_SAFE, UNIT_ROUNDOFF, Float64Array
from cylcollide.kernels.ray import as_vector, dot
from cylcollide.simd import compiled


@compiled
def cylinder_boxes(p1: Float64Array, p2: Float64Array, radius: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Low and high corners (n, 3) of boxes that contain the cylinders.

    Along coordinate i a cap of radius r about unit axis w reaches r √(w_j² + w_k²) from its centre. The relative error
    of that number is below 8 u and the sum rounds once, so 16 u of all that is added covers both.
    """
    low, high = np.empty((radius.size, 3)), np.empty((radius.size, 3))
    for i in range(radius.size):
        a, b, r = as_vector(p1, i), as_vector(p2, i), radius[i]
        axis = (b[0] - a[0], b[1] - a[1], b[2] - a[2])
        squared = dot(axis, axis)
        for k in range(3):
            reach = r
            if 1.0 / LARGEST_SAFE < squared < LARGEST_SAFE:  # else the square may have lost its digits
                across = max(squared - axis[k] * axis[k], 0.0)
                if k == 0:
                    across = axis[1] * axis[1] + axis[2] * axis[2]
                elif k == 1:
                    across = axis[2] * axis[2] + axis[0] * axis[0]
                else:
                    across = axis[0] * axis[0] + axis[1] * axis[1]
                reach = min(r, r * sqrt(across / squared) * (1.0 + 16.0 * UNIT_ROUNDOFF))
            smallest, largest = min(a[k], b[k]) - reach, max(a[k], b[k]) + reach
            low[i, k] = smallest - 16.0 * UNIT_ROUNDOFF * (abs(smallest) + reach) - BOX_FLOOR
            high[i, k] = largest + 16.0 * UNIT_ROUNDOFF * (abs(largest) + reach) + BOX_FLOOR
    return low, high
