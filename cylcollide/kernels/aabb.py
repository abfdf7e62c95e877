"""Axis-aligned bounding boxes of limbs, rounded outward."""

import numpy as np

from cylcollide._types import Float64Array, Int8Array
from cylcollide.constants import BOX_FLOOR
from cylcollide.kernels.axis import MARGIN
from cylcollide.kernels.dispatch import limb_aabb
from cylcollide.kernels.limb_table import LimbTable, limb_at
from cylcollide.runtime.entry_point import entry_point


def limb_boxes(table: LimbTable) -> tuple[Float64Array, Float64Array]:
    """Low and high corners, (n, 3) each, of a box around each limb; rounding cannot make a box too small."""
    low, high = np.empty((2, len(table.solid), 3))
    _fill_boxes(table.rows, table.solid, low, high)
    return low, high


@entry_point(reads_all=True)
def _fill_boxes(rows: Float64Array, solids: Int8Array, low: Float64Array, high: Float64Array) -> None:
    """Write the corners of `limb_boxes`."""
    for i in range(solids.size):
        smallest, largest = limb_aabb(limb_at(rows, solids, i))
        for k in range(3):
            pad = MARGIN * (abs(smallest[k]) + abs(largest[k]) + (largest[k] - smallest[k])) + BOX_FLOOR
            low[i, k], high[i, k] = smallest[k] - pad, largest[k] + pad
