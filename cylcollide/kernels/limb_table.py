"""The arrays of limbs, one row per limb, and the row of sixteen numbers that kernels read."""

from math import inf
from typing import NamedTuple

import numpy as np

from cylcollide._types import Column, Float64Array, Int8Array, Int32Array, LayerMasks, Rows, Shape, Uint32Array, Vectors
from cylcollide.constants import LARGEST_SAFE, SMALLEST_SAFE
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.ray import as_vector, dot, largest_component, subtract
from cylcollide.kernels.traits import WITH_AXES
from cylcollide.runtime.compile import compiled_loop, inlined
from cylcollide.runtime.memory import aligned
from cylcollide.runtime.simd import Real, larger, select, square_root

CAPSULE, SPHERE = int(Shape.CAPSULE), int(Shape.SPHERE)

ROW = 16
"""Numbers in the row of a limb: two registers of eight."""

CENTRE, AXIS, HALF_LENGTH, RADIUS, RADIUS2, P1, P2, EXTENT = 0, 3, 6, 7, 8, 9, 12, 15
"""Columns of a row, of a vector the first one. `Limb` describes them."""

BOX_AXES = AXIS
"""First of the twelve columns of a limb's box, three axes and half extents, in place of AXIS to P2: see `box_axes`."""


class LimbRows(NamedTuple):
    """The columns of n limbs that loops read: few, since each column costs a call as much time as one limb."""

    kernel_shape: Column[np.int8]  # the Shape whose kernels apply; a capsule without length is a sphere
    character: Column[np.int32]
    mask: LayerMasks
    rows: Rows[np.float64]  # (n, ROW), read by `limb_at`
    shared_mask: int  # bitwise and of all masks


class LimbTable(NamedTuple):
    """Limbs as columns, n rows, lengths in the unit of the input. Never changed once in use.

    Each limb, whatever its shape, lies in its box or, if it has none, within its larger radius of its axis.
    """

    kind: Column[np.int8]  # Shape
    p1: Vectors  # the centre of a sphere, or of a shape with axes
    p2: Vectors
    radius: Column[np.float64]  # 0 for a shape with axes
    radius2: Column[np.float64]  # a tube's inner radius, a tapered cylinder's radius at p2, else 0
    box: Column[np.int32]  # row of `boxes`, -1 for a shape between two ends
    boxes: Rows[np.float64]  # (boxes, 12): three axes, three half extents
    character: Column[np.int32]
    mask: LayerMasks
    kernel_shape: Column[np.int8]  # the Shape whose kernels apply; a capsule without length is a sphere
    rows: Rows[np.float64]  # (n, ROW), read by `limb_at`

    @property
    def kernel_rows(self) -> LimbRows:
        """The columns that loops read."""
        return LimbRows(self.kernel_shape, self.character, self.mask, self.rows, int(np.bitwise_and.reduce(self.mask)))


class Limb(NamedTuple):
    """One limb prepared for the kernels, or eight of one shape; lengths in metres, good to a few units of roundoff.

    A shape with axes has these and half extents in place of axis, radii and ends: see `box_axes`.
    """

    kind: int  # Shape
    centre: Vector
    axis: Vector  # unit vector from p1 to p2; zero for a sphere
    half_length: Real
    radius: Real  # at p1, if it varies; the outer one of a tube
    radius2: Real
    p1: Vector
    p2: Vector
    extent: Real  # largest |coordinate| of any point of it; inf if beyond what the kernels trust


@inlined
def box_axes(limb: Limb) -> tuple[tuple[Vector, Vector, Vector], Vector]:
    """Axes, unit vectors, and half extents along them of a limb of a shape that has axes."""
    return (limb.axis, (limb.half_length, limb.radius, limb.radius2), limb.p1), limb.p2


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
    rows = aligned((len(radius), ROW), np.float64)
    table = LimbTable(kind, p1, p2, radius, radius2, box, boxes, character, mask, kind.copy(), rows)
    _fill_rows(table)
    return table


@compiled_loop
def _fill_rows(table: LimbTable) -> None:
    """Write `rows` and `kernel_shape`."""
    for i in range(table.radius.size):
        fill_row(table, i)


@inlined
def fill_row(table: LimbTable, i: int) -> None:
    """Write `rows` and `kernel_shape` of limb i."""
    row, box, radius, radius2 = table.rows[i], table.box[i], table.radius[i], table.radius2[i]
    of_box = table.boxes[box] if box >= 0 else row
    p1, p2 = as_vector(table.p1, i), as_vector(table.p2, i)
    table.kernel_shape[i] = write_row(row, table.kind[i], p1, p2, radius, radius2, of_box)


@inlined
def write_row(
    row: Float64Array, shape: int, a: Vector, b: Vector, radius: float, radius2: float, box: Float64Array
) -> int:
    """Write the row of one limb; returns the Shape whose kernels apply: SPHERE for a capsule without length.

    `box` holds axes and half extents, and is read only for a shape that has axes. If products of a limb's sizes
    overflow or underflow, its extent is set to inf, so that every ray is undecided.
    """
    if shape in WITH_AXES:
        smallest, size = min(box[9], box[10], box[11]), box[9] + box[10] + box[11]
        extent = largest_component(a) + size
        for k in range(3):
            row[CENTRE + k] = a[k]
        for k in range(12):
            row[BOX_AXES + k] = box[k]
        row[EXTENT] = extent if smallest >= SMALLEST_SAFE and extent <= LARGEST_SAFE else inf
        return shape
    limb = limb_between(shape, a, b, radius, radius2)
    for k in range(3):
        row[CENTRE + k], row[AXIS + k], row[P1 + k], row[P2 + k] = limb.centre[k], limb.axis[k], a[k], b[k]
    row[HALF_LENGTH], row[RADIUS], row[RADIUS2], row[EXTENT] = limb.half_length, radius, radius2, limb.extent
    return SPHERE if shape == CAPSULE and a[0] == b[0] and a[1] == b[1] and a[2] == b[2] else shape


@inlined
def limb_between(shape: int, a: Vector, b: Vector, radius: Real, radius2: Real) -> Limb:
    """The limb with these ends, of a shape without axes; or eight limbs."""
    axis = subtract(b, a)
    longest, size = largest_component(axis), larger(radius, radius2)
    is_point = longest == 0.0
    extent = larger(largest_component(a), largest_component(b)) + size
    is_safe = (size >= SMALLEST_SAFE) & (extent <= LARGEST_SAFE) & ((longest >= SMALLEST_SAFE) | is_point)
    length = select(is_point, 1.0, square_root(dot(axis, axis)))
    centre = (
        select(is_point, a[0], 0.5 * (a[0] + b[0])),
        select(is_point, a[1], 0.5 * (a[1] + b[1])),
        select(is_point, a[2], 0.5 * (a[2] + b[2])),
    )
    direction = (axis[0] / length, axis[1] / length, axis[2] / length)
    half_length = select(is_point, 0.0, 0.5 * length)
    return Limb(shape, centre, direction, half_length, radius, radius2, a, b, select(is_safe, extent, inf))


def plain_limb(table: LimbTable, i: int) -> Limb:
    """Limb i as Python numbers."""
    row = table.rows[i].tolist()
    return limb_of(table.kernel_shape.item(i), tuple(row[: ROW // 2]), tuple(row[ROW // 2 :]))


@inlined
def limb_at(rows: Float64Array, shapes: Int8Array, i: int) -> Limb:
    """Limb i, from `LimbRows.rows` and `LimbRows.kernel_shape`."""
    return limb_of(shapes[i], eight_of(rows, i, 0), eight_of(rows, i, 8))


@inlined
def eight_of(rows: Float64Array, i: int, first: int) -> tuple[float, float, float, float, float, float, float, float]:
    """Eight numbers of row i, from column `first` on."""
    a, b, c, d = rows[i, first], rows[i, first + 1], rows[i, first + 2], rows[i, first + 3]
    return a, b, c, d, rows[i, first + 4], rows[i, first + 5], rows[i, first + 6], rows[i, first + 7]


@inlined
def limb_of(kind: int, low: tuple[Real, ...], high: tuple[Real, ...]) -> Limb:
    """The limb, or eight limbs of one shape, with these first eight and last eight columns."""
    x, y, z, u, v, w, half_length, radius = low
    radius2, x1, y1, z1, x2, y2, z2, extent = high
    kind += 0  # int64, whatever the column has: one version of each kernel, not two
    return Limb(kind, (x, y, z), (u, v, w), half_length, radius, radius2, (x1, y1, z1), (x2, y2, z2), extent)


@inlined
def is_considered(limb_character: int, limb_mask: int, mask: int, ignored: int) -> bool:
    """Whether a query with this mask shares a layer with the limb and does not ignore its character."""
    return not (ignored >= 0 and limb_character == ignored) and (limb_mask & mask) != 0


@inlined
def all_are_considered(table: LimbRows, mask: int, ignored: int) -> bool:
    """Whether `is_considered` certainly holds for all limbs, judged by the shared mask alone."""
    return ignored < 0 and (table.shared_mask & mask) != 0
