"""Axis-aligned bounding boxes of limbs, rounded outward."""

import numpy as np

from cylcollide._types import Column, Float64Array, Rows, Vectors
from cylcollide.constants import BOX_FLOOR
from cylcollide.kernels.axis import MARGIN
from cylcollide.kernels.dispatch import limb_aabb
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.limb_table import Limb, LimbTable, fill_row, limb_at
from cylcollide.runtime.compile import compiled_loop, inlined


def limb_boxes(table: LimbTable) -> tuple[Float64Array, Float64Array]:
    """Low and high corners, (n, 3) each, of a box around each limb; rounding cannot make a box too small."""
    low, high = np.empty((2, len(table.kernel_shape), 3))
    _fill_boxes(table.rows, table.kernel_shape, low, high)
    return low, high


@compiled_loop
def _fill_boxes(rows: Rows[np.float64], shapes: Column[np.int8], low: Vectors, high: Vectors) -> None:
    """Write the corners of `limb_boxes`."""
    for i in range(shapes.size):
        write_box(limb_at(rows, shapes, i), low, high, i)


@compiled_loop
def refill_rows(table: LimbTable, limbs: Column[np.int32], low: Vectors, high: Vectors) -> None:
    """Update `rows` and `kernel_shape` of k limbs whose ends are new; write the corners (k, 3) of their boxes.

    The counterpart, for some limbs, of `limb_table.make_table` and `limb_boxes`.
    """
    for j in range(limbs.size):
        refill_row(table, limbs[j], low, high, j)


@inlined
def refill_row(table: LimbTable, i: int, low: Float64Array, high: Float64Array, j: int) -> None:
    """Write `rows` and `kernel_shape` of limb i, and corners j of its box."""
    fill_row(table, i)
    write_box(limb_at(table.rows, table.kernel_shape, i), low, high, j)


@inlined
def write_box(limb: Limb, low: Float64Array, high: Float64Array, j: int) -> None:
    """Write the corners of `padded_box` into row j."""
    smallest, largest = padded_box(limb)
    for k in range(3):
        low[j, k], high[j, k] = smallest[k], largest[k]


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
