"""Limbs that have moved: their rows for kernels, and the boxes around them."""

import numpy as np

from cylcollide._types import Column, Float64Array, Vectors
from cylcollide.kernels.aabb import padded_box
from cylcollide.kernels.limb_table import LimbTable, fill_row, limb_at
from cylcollide.runtime.compile import compiled_loop, inlined


@compiled_loop
def refill_rows(table: LimbTable, limbs: Column[np.int32], low: Vectors, high: Vectors) -> None:
    """Write `rows` and `solid` of these limbs (k,) of the table, whose ends are new, and corners (k, 3) of their boxes.

    As `limb_table.make_table` and `aabb.limb_boxes` do for all.
    """
    for j in range(limbs.size):
        refill_row(table, limbs[j], low, high, j)


@inlined
def refill_row(table: LimbTable, i: int, low: Float64Array, high: Float64Array, j: int) -> None:
    """Write `rows` and `solid` of limb i, and corners j of its box."""
    table.solid[i] = fill_row(
        table.kind, table.p1, table.p2, table.radius, table.radius2, table.box, table.boxes, table.rows, i
    )
    smallest, largest = padded_box(limb_at(table.rows, table.solid, i))
    for k in range(3):
        low[j, k], high[j, k] = smallest[k], largest[k]
