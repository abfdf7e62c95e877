"""The arrays that the kernels read limbs from, one row a limb."""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from cylcollide._types import LARGEST_SAFE, SMALLEST_SAFE, Float64Array, Int8Array, Int32Array, Shape, Uint32Array
from cylcollide.kernels.box import BoxFrame
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.line import Frame
from cylcollide.kernels.ray import as_vector, dot, largest_component
from cylcollide.simd import compiled

BOX = int(Shape.BOX)


class LimbTable(NamedTuple):
    """Limbs as given and as prepared for the fast kernels; n rows, lengths in the unit of the input. Never changed."""

    kind: Int8Array  # (n,): Shape
    p1: Float64Array  # (n, 3); the centre of a sphere or box
    p2: Float64Array  # (n, 3)
    radius: Float64Array  # (n,); 0 for a box
    radius2: Float64Array  # (n,): a tube's inner radius, a tapered cylinder's radius at p2, else 0
    box: Int32Array  # (n,): row of `boxes`, -1 for other shapes
    boxes: Float64Array  # (boxes, 12): three axes, three half extents
    character: Int32Array  # (n,)
    mask: Uint32Array  # (n,)
    prepared: Float64Array  # (n, 9): centre, axis, half length, largest radius, extent


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
    """Prepare checked limbs."""
    prepared = _prepared(kind, p1, p2, radius, radius2, box, boxes)
    return LimbTable(kind, p1, p2, radius, radius2, box, boxes, character, mask, prepared)


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


@compiled
def _prepared(
    kind: Int8Array,
    p1: Float64Array,
    p2: Float64Array,
    radius: Float64Array,
    radius2: Float64Array,
    box: Int32Array,
    boxes: Float64Array,
) -> Float64Array:
    rows = np.empty((radius.size, 9))
    for i in range(radius.size):
        size = max(radius[i], radius2[i])
        smallest = size
        if kind[i] == BOX:
            h = boxes[box[i], 9:]
            smallest = min(h[0], h[1], h[2])
            size = h[0] + h[1] + h[2]
        limb = make_frame(as_vector(p1, i), as_vector(p2, i), size)
        for k in range(3):
            rows[i, k], rows[i, 3 + k] = limb.centre[k], limb.axis[k]
        rows[i, 6], rows[i, 7] = limb.half_length, limb.radius
        rows[i, 8] = limb.extent if smallest >= SMALLEST_SAFE else inf
    return rows


@compiled
def frame_at(table: LimbTable, i: int) -> Frame:
    """Row i as the kernels want it."""
    r = table.prepared[i]
    return Frame((r[0], r[1], r[2]), (r[3], r[4], r[5]), r[6], r[7], r[8])


@compiled
def box_at(table: LimbTable, i: int) -> BoxFrame:
    """Row i, a box."""
    r, b = table.prepared[i], table.boxes[table.box[i]]
    axes = ((b[0], b[1], b[2]), (b[3], b[4], b[5]), (b[6], b[7], b[8]))
    return BoxFrame((r[0], r[1], r[2]), axes, (b[9], b[10], b[11]), r[8])


@compiled
def considered(table: LimbTable, limb: int, mask: int, ignored: int) -> bool:
    """Whether a query with this mask sees the limb, and the limb is not of the character it ignores."""
    if ignored >= 0 and table.character[limb] == ignored:
        return False
    return bool((table.mask[limb] & mask) != 0)
