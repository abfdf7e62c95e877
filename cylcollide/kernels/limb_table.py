"""The arrays of limbs, one row a limb, and the row of sixteen numbers that kernels read."""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from cylcollide._types import Float64Array, Int8Array, Int32Array, Shape, Uint32Array
from cylcollide.constants import LARGEST_SAFE, SMALLEST_SAFE
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.line import Frame
from cylcollide.kernels.ray import as_vector, dot, largest_component
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.entry_point import entry_point
from cylcollide.runtime.memory import aligned
from cylcollide.runtime.simd import Real

BOX, CAPSULE, SPHERE = int(Shape.BOX), int(Shape.CAPSULE), int(Shape.SPHERE)

ROW = 16
"""Numbers in the row of a limb: two registers of eight."""

CENTRE, AXIS, HALF_LENGTH, RADIUS, RADIUS2, P1, P2, EXTENT = 0, 3, 6, 7, 8, 9, 12, 15
"""Columns of a row, vectors by their first: `Frame` and `Limb` say what they hold."""

BOX_AXES = AXIS
"""First of the twelve columns of a box's row that hold its three axes and its half extents, in place of AXIS to P2."""


class LimbRows(NamedTuple):
    """The columns of n limbs that loops read: few, since each one costs a call as much time as a limb does."""

    solid: Int8Array  # (n,): the Shape whose kernels apply; a capsule without length is a sphere
    character: Int32Array  # (n,)
    mask: Uint32Array  # (n,): layers
    rows: Float64Array  # (n, ROW), read by `limb_at`
    shared_mask: int  # bitwise and of all masks


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
    mask: Uint32Array  # (n,): layers
    solid: Int8Array  # (n,): the Shape whose kernels apply; a capsule without length is a sphere
    rows: Float64Array  # (n, ROW), read by `limb_at`

    @property
    def kernel_rows(self) -> LimbRows:
        """The columns that loops read."""
        return LimbRows(self.solid, self.character, self.mask, self.rows, int(np.bitwise_and.reduce(self.mask)))


class Limb(NamedTuple):
    """The numbers of one limb, or of eight of one shape; those of a box are read by `box.box_frame`."""

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
    """The table of limbs given by checked columns, as `LimbTable` names them."""
    solid, rows = kind.copy(), aligned((len(radius), ROW), np.float64)
    _fill_rows(kind, p1, p2, radius, radius2, box, boxes, solid, rows)
    return LimbTable(kind, p1, p2, radius, radius2, box, boxes, character, mask, solid, rows)


@entry_point(reads_all=True)
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
    """Write `rows` (n, ROW) and `solid` (n,)."""
    for i in range(radius.size):
        solid[i] = fill_row(kind, p1, p2, radius, radius2, box, boxes, rows, i)


@inlined
def fill_row(
    kind: Int8Array,
    p1: Float64Array,
    p2: Float64Array,
    radius: Float64Array,
    radius2: Float64Array,
    box: Int32Array,
    boxes: Float64Array,
    rows: Float64Array,
    i: int,
) -> int:
    """Write row i of `rows` (n, ROW); the Shape whose kernels apply: SPHERE for a capsule without length.

    A limb whose sizes float64 products cannot hold gets an infinite extent, so that every ray is undecided.
    """
    row, a, b, shape = rows[i], as_vector(p1, i), as_vector(p2, i), kind[i]
    axis = (b[0] - a[0], b[1] - a[1], b[2] - a[2])
    longest = largest_component(axis)
    size = smallest = max(radius[i], radius2[i])
    if shape == BOX:
        h = boxes[box[i], 9:]
        smallest, size = min(h[0], h[1], h[2]), h[0] + h[1] + h[2]
    extent = max(largest_component(a), largest_component(b)) + size
    if not (smallest >= SMALLEST_SAFE and extent <= LARGEST_SAFE and (longest >= SMALLEST_SAFE or longest == 0.0)):
        extent = inf
    for k in range(3):
        row[CENTRE + k] = a[k] if longest == 0.0 else 0.5 * (a[k] + b[k])
    if shape == BOX:
        for k in range(12):
            row[BOX_AXES + k] = boxes[box[i], k]
    else:
        length = sqrt(dot(axis, axis)) if longest > 0.0 else 1.0
        row[HALF_LENGTH] = 0.5 * length if longest > 0.0 else 0.0
        row[RADIUS], row[RADIUS2] = radius[i], radius2[i]
        for k in range(3):
            row[AXIS + k] = axis[k] / length
            row[P1 + k], row[P2 + k] = a[k], b[k]
    row[EXTENT] = extent
    return SPHERE if shape == CAPSULE and longest == 0.0 else shape


def plain_limb(table: LimbTable, i: int) -> Limb:
    """Limb i, for Python."""
    row = table.rows[i].tolist()
    return limb_of(table.solid.item(i), tuple(row[: ROW // 2]), tuple(row[ROW // 2 :]))


@inlined
def limb_at(rows: Float64Array, solids: Int8Array, i: int) -> Limb:
    """Limb i, from `LimbRows.rows` and `LimbRows.solid`."""
    return limb_of(
        solids[i],
        (rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4], rows[i, 5], rows[i, 6], rows[i, 7]),
        (rows[i, 8], rows[i, 9], rows[i, 10], rows[i, 11], rows[i, 12], rows[i, 13], rows[i, 14], rows[i, 15]),
    )


@inlined
def limb_of(kind: int, low: tuple[Real, ...], high: tuple[Real, ...]) -> Limb:
    """The limb, or the eight limbs of one shape, whose first eight and last eight columns these are."""
    x, y, z, u, v, w, half_length, radius = low
    radius2, x1, y1, z1, x2, y2, z2, extent = high
    frame = Frame((x, y, z), (u, v, w), half_length, radius, extent)
    return Limb(kind, frame, radius, radius2, (x1, y1, z1), (x2, y2, z2))


@inlined
def is_considered(limb_character: int, limb_mask: int, mask: int, ignored: int) -> bool:
    """Whether a query with this mask shares a layer with the limb and does not ignore its character."""
    return not (ignored >= 0 and limb_character == ignored) and (limb_mask & mask) != 0


@inlined
def all_are_considered(table: LimbRows, mask: int, ignored: int) -> bool:
    """Whether `is_considered` certainly holds for all limbs, judged by the shared mask alone."""
    return ignored < 0 and (table.shared_mask & mask) != 0
