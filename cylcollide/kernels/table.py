"""The arrays that the kernels read limbs from, one row a limb."""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from cylcollide._types import LARGEST_SAFE, SMALLEST_SAFE, Float64Array, Int8Array, Int32Array, Shape, Uint32Array
from cylcollide.kernels.box import BoxFrame
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.line import Frame
from cylcollide.kernels.ray import as_vector, dot, largest_component
from cylcollide.simd import allocating, compiled, merged

BOX = int(Shape.BOX)
BOX_COLUMN = 18
"""Where a limb's row names its row of `boxes`."""


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
    rows: Float64Array  # (n, 19): what `limb_at` reads


class Limb(NamedTuple):
    """One limb as kernels get it: numbers only."""

    kind: int
    p1: Vector
    p2: Vector
    radius: float
    radius2: float
    frame: Frame
    box: BoxFrame  # zeros but for a box


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
    rows = _rows(kind, p1, p2, radius, radius2, box, boxes)
    return LimbTable(kind, p1, p2, radius, radius2, box, boxes, character, mask, rows)


@compiled
def make_frame(p1: Vector, p2: Vector, size: float) -> Frame:
    """Prepare an axis, or a centre if the ends are one point; `size` is the largest distance of the limb from it.

    Sizes that float64 products cannot hold get an infinite extent: every ray is unsure.
    """
    centre = (0.5 * (p1[0] + p2[0]), 0.5 * (p1[1] + p2[1]), 0.5 * (p1[2] + p2[2]))
    axis = (p2[0] - p1[0], p2[1] - p1[1], p2[2] - p1[2])
    longest = largest_component(axis)
    extent = max(largest_component(p1), largest_component(p2)) + size
    if not (size >= SMALLEST_SAFE and extent <= LARGEST_SAFE and (longest >= SMALLEST_SAFE or longest == 0.0)):
        return Frame(centre, axis, 0.0, size, inf)
    if longest == 0.0:
        return Frame(p1, axis, 0.0, size, extent)
    length = sqrt(dot(axis, axis))
    return Frame(centre, (axis[0] / length, axis[1] / length, axis[2] / length), 0.5 * length, size, extent)


@allocating
def _rows(
    kind: Int8Array,
    p1: Float64Array,
    p2: Float64Array,
    radius: Float64Array,
    radius2: Float64Array,
    box: Int32Array,
    boxes: Float64Array,
) -> Float64Array:
    rows = np.empty((radius.size, 19))
    for i in range(radius.size):
        size = max(radius[i], radius2[i])
        smallest = size
        if kind[i] == BOX:
            h = boxes[box[i], 9:]
            smallest = min(h[0], h[1], h[2])
            size = h[0] + h[1] + h[2]
        frame = make_frame(as_vector(p1, i), as_vector(p2, i), size)
        for k in range(3):
            rows[i, k], rows[i, 3 + k] = p1[i, k], p2[i, k]
            rows[i, 8 + k], rows[i, 11 + k] = frame.centre[k], frame.axis[k]
        rows[i, 6], rows[i, 7] = radius[i], radius2[i]
        rows[i, 14], rows[i, 15] = frame.half_length, frame.radius
        rows[i, 16] = frame.extent if smallest >= SMALLEST_SAFE else inf
        rows[i, 17], rows[i, BOX_COLUMN] = kind[i], box[i]
    return rows


@merged
def limb_at(rows: Float64Array, boxes: Float64Array, i: int) -> Limb:
    """Limb i."""
    frame = Frame(
        (rows[i, 8], rows[i, 9], rows[i, 10]),
        (rows[i, 11], rows[i, 12], rows[i, 13]),
        rows[i, 14],
        rows[i, 15],
        rows[i, 16],
    )
    kind, nothing = int(rows[i, 17]), (0.0, 0.0, 0.0)
    box = BoxFrame(frame.centre, (nothing, nothing, nothing), nothing, frame.extent)
    if kind == BOX:
        b = boxes[int(rows[i, BOX_COLUMN])]
        axes = ((b[0], b[1], b[2]), (b[3], b[4], b[5]), (b[6], b[7], b[8]))
        box = BoxFrame(frame.centre, axes, (b[9], b[10], b[11]), frame.extent)
    return Limb(
        kind,
        (rows[i, 0], rows[i, 1], rows[i, 2]),
        (rows[i, 3], rows[i, 4], rows[i, 5]),
        rows[i, 6],
        rows[i, 7],
        frame,
        box,
    )


@merged
def considered(limb_character: int, limb_mask: int, mask: int, ignored: int) -> bool:
    """Whether a query with this mask sees the limb, and the limb is not of the character it ignores."""
    return not (ignored >= 0 and limb_character == ignored) and (limb_mask & mask) != 0
