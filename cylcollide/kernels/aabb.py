"""Axis-aligned bounding boxes of limbs, rounded outward."""

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.constants import BOX_FLOOR
from cylcollide.kernels.axis import MARGIN
from cylcollide.kernels.dispatch import limb_aabb
from cylcollide.kernels.limb_table import LimbTable, limb_at
from cylcollide.runtime.compile import allocating


@allocating
def limb_boxes(table: LimbTable) -> tuple[Float64Array, Float64Array]:
    """Low and high corners, (n, 3) each, of a box around each limb; rounding cannot make a box too small."""
    rows, solids = table.rows, table.solid
    n = solids.size
    low, high = np.empty((n, 3)), np.empty((n, 3))
    for i in range(n):
        smallest, largest = limb_aabb(limb_at(rows, solids, i))
        for k in range(3):
            pad = MARGIN * (abs(smallest[k]) + abs(largest[k]) + (largest[k] - smallest[k])) + BOX_FLOOR
            low[i, k], high[i, k] = smallest[k] - pad, largest[k] + pad
    return low, high
