"""The arrays that the kernels read limbs from, one row a limb."""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from cylcollide._types import Float64Array, Int8Array, Int32Array, Shape, Uint32Array
from cylcollide.constants import LARGEST_SAFE, SMALLEST_SAFE
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.line import Frame
from cylcollide.kernels.ray import as_vector, dot, largest_component
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.memory import aligned
from cylcollide.runtime.simd import Real

BOX, CAPSULE, SPHERE = int(Shape.BOX), int(Shape.CAPSULE), int(Shape.SPHERE)

ROW = 16
"""Numbers a limb: two registers of eight. Of a box, twelve are its axes and half extents."""


class LimbRows(NamedTuple):
    """What loops read of limbs, n rows: few columns, for each costs a call as much as a limb does."""

    solid: Int8Array  # (n,): the Shape whose kernel answers; a capsule without length is a sphere
    character: Int32Array  # (n,)
    mask: Uint32Array  # (n,)
    rows: Float64Array  # (n, ROW): what `limb_at` reads
    shared_mask: int  # layers that all of them are in


class LimbTable(NamedTuple):
    """Limbs as columns, n rows, lengths in the unit of the input. Never changed once in use."""

    kind: Int8Array  # (n,): Shape
    p1: Float64Array  # (n, 3); the centre of a sphere or box
    p2: Float64Array  # (n, 3)
    radius: Float64Array  # (n,); 0 for a box
    radius2: Float64Array  # (n,): a tube's inner radius, a tapered cylinder's radius at p2, else 0
    box: Int32Array  # (n,): row of `boxes`, -1 for other shapes
    boxes: Float64Array  # (boxes, 12): three axes, three half extents
    character: Int32Array  # (n,)
    mask: Uint32Array  # (n,)
    solid: Int8Array  # (n,): the Shape whose kernel answers; a capsule without length is a sphere
    rows: Float64Array  # (n, ROW): what `limb_at` reads

    @property
    def kernel_rows(self) -> LimbRows:
        """What loops read."""
        return LimbRows(self.solid, self.character, self.mask, self.rows, int(np.bitwise_and.reduce(self.mask)))


class Limb(NamedTuple):
    """One limb as kernels get it, or eight of one shape: numbers only. A box has its axes in the cells of the rest."""

    kind: int  # Shape
    frame: Frame
    radius: Real
    radius2: Real
    p1: Vector
    p2: Vector


def make_table(
    kind: Int8Array,
    p1: Float64Array,
    p2: Float64Array,
    radius: Float64Array,
    radius2: Float64Array,
    box: Int32Array,
    boxes: Float64Array,
    character: Int32Array,
    mask: Uint32Array,
) -> LimbTable:
    """Columns of checked limbs, and their rows for the kernels."""
    solid, rows = kind.copy(), aligned((len(radius), ROW), np.float64)
    _fill_rows(kind, p1, p2, radius, radius2, box, boxes, solid, rows)
    return LimbTable(kind, p1, p2, radius, radius2, box, boxes, character, mask, solid, rows)


@compiled
def _fill_rows(
    kind: Int8Array,
    p1: Float64Array,
    p2: Float64Array,
    radius: Float64Array,
    radius2: Float64Array,
    box: Int32Array,
    boxes: Float64Array,
    solid: Int8Array,
    rows: Float64Array,
) -> None:
    """Fill rows, zeros so far, as `limb_at` and `box.box_frame` read them, and say which capsules are spheres.

    A limb of sizes that float64 products cannot hold has an infinite extent, and harmless numbers beside it: every ray
    is unsure.
    """
    for i in range(radius.size):
        row, a, b = rows[i], as_vector(p1, i), as_vector(p2, i)
        axis = (b[0] - a[0], b[1] - a[1], b[2] - a[2])
        longest = largest_component(axis)
        if kind[i] == CAPSULE and longest == 0.0:
            solid[i] = SPHERE
        size = smallest = max(radius[i], radius2[i])
        if kind[i] == BOX:
            h = boxes[box[i], 9:]
            smallest, size = min(h[0], h[1], h[2]), h[0] + h[1] + h[2]
        extent = max(largest_component(a), largest_component(b)) + size
        if not (smallest >= SMALLEST_SAFE and extent <= LARGEST_SAFE and (longest >= SMALLEST_SAFE or longest == 0.0)):
            extent = inf
        row[15] = extent
        for k in range(3):
            row[k] = a[k] if longest == 0.0 else 0.5 * (a[k] + b[k])
        if kind[i] == BOX:
            for k in range(12):
                row[3 + k] = boxes[box[i], k]
            continue
        if longest > 0.0 and extent < inf:
            length = sqrt(dot(axis, axis))
            row[6] = 0.5 * length
            for k in range(3):
                row[3 + k] = axis[k] / length
        row[7], row[8] = radius[i], radius2[i]
        for k in range(3):
            row[9 + k], row[12 + k] = a[k], b[k]


@inlined
def limb_at(rows: Float64Array, solids: Int8Array, i: int) -> Limb:
    """Limb i."""
    return limb_of(
        solids[i],
        (rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4], rows[i, 5], rows[i, 6], rows[i, 7]),
        (rows[i, 8], rows[i, 9], rows[i, 10], rows[i, 11], rows[i, 12], rows[i, 13], rows[i, 14], rows[i, 15]),
    )


@inlined
def limb_of(kind: int, low: tuple[Real, ...], high: tuple[Real, ...]) -> Limb:
    """The limb whose row these are, or the eight limbs of one shape."""
    frame = Frame((low[0], low[1], low[2]), (low[3], low[4], low[5]), low[6], low[7], high[7])
    return Limb(kind, frame, low[7], high[0], (high[1], high[2], high[3]), (high[4], high[5], high[6]))


@inlined
def is_considered(limb_character: int, limb_mask: int, mask: int, ignored: int) -> bool:
    """Whether a query with this mask sees the limb, and the limb is not of the character it ignores."""
    return not (ignored >= 0 and limb_character == ignored) and (limb_mask & mask) != 0


@inlined
def all_are_considered(table: LimbRows, mask: int, ignored: int) -> bool:
    """Whether that is so for all limbs, as far as can be told without looking at each."""
    return ignored < 0 and (table.shared_mask & mask) != 0
