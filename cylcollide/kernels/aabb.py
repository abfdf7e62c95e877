"""Axis-aligned bounding boxes of limbs, rounded outward."""

import numpy as np

from cylcollide._types import Column, Float64Array, Rows, Vectors
from cylcollide.constants import BOX_FLOOR
from cylcollide.kernels.axis import MARGIN
from cylcollide.kernels.dispatch import limb_aabb
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.limb_table import Limb, LimbTable, limb_at
from cylcollide.runtime.compile import compiled_loop, inlined


def limb_boxes(table: LimbTable) -> tuple[Float64Array, Float64Array]:
    """Low and high corners, (n, 3) each, of a box around each limb; rounding cannot make a box too small."""
    low, high = np.empty((2, len(table.solid), 3))
    _fill_boxes(table.rows, table.solid, low, high)
    return low, high


@compiled_loop
def _fill_boxes(rows: Rows[np.float64], solids: Column[np.int8], low: Vectors, high: Vectors) -> None:
    """Write the corners of `limb_boxes`."""
    for i in range(solids.size):
        smallest, largest = padded_box(limb_at(rows, solids, i))
        for k in range(3):
            low[i, k], high[i, k] = smallest[k], largest[k]


@inlined
def padded_box(limb: Limb) -> tuple[Vector, Vector]:
    """Corners of a box around a limb, which rounding cannot make too small."""
    smallest, largest = limb_aabb(limb)
    x, u = _padded(smallest[0], largest[0])
    y, v = _padded(smallest[1], largest[1])
    z, w = _padded(smallest[2], largest[2])
    return (x, y, z), (u, v, w)


@inlined
def _padded(smallest: float, largest: float) -> tuple[float, float]:
    pad = MARGIN * (abs(smallest) + abs(largest) + (largest - smallest)) + BOX_FLOOR
    return smallest - pad, largest + pad
