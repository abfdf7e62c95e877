"""Split: a binary tree over boxes by the binned surface area heuristic, whose leaves hold up to `TREE_WIDTH` items.

Boxes are float32 in the frame of the tree, high corners negated, so that one minimum of eight lanes merges two of them.
The splits decide the cost of rays, never what they hit.

Source: I. Wald, "On fast construction of SAH-based bounding volume hierarchies", 2007.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from cylcollide._types import Column, Float32Array, Int32Array, Rows, Vectors
from cylcollide.bvh.layout import TreeFrame
from cylcollide.constants import DEEPEST_SAH, FARTHEST_BOX, SAH_BINS, TREE_WIDTH
from cylcollide.runtime import memory
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.simd import LANES, Real, broadcast, lane, load, smaller, store

NEGATED_HIGH, CENTRE = 4, LANES
"""Columns of a row of `boxes` at which the negated high corner begins, and the doubled centre."""
ROW = 2 * LANES
"""Numbers in a row: one cache line. Low, -high, 2 centre, -2 centre: three each, followed by an unused one."""


class Binary(NamedTuple):
    """The binary tree that the wide one is collapsed from."""

    boxes: Rows[np.float32]  # (nodes, ROW): bounds of the boxes of the items below, and of their doubled centres
    left: Column[np.int32]  # (nodes,): first child, the second follows it; 0 for a leaf
    first: Column[np.int32]  # (nodes,): begin of the range of `order` below the node
    last: Column[np.int32]  # (nodes,): its end, exclusive


@compiled_loop
def fill_boxes(low: Vectors, high: Vectors, frame: TreeFrame, boxes: Rows[np.float32]) -> None:
    """Write the rows `boxes` (n, ROW) of the boxes with corners `low`, `high` (n, 3), in the frame of the tree."""
    for i in range(len(low)):
        for axis in range(3):
            begin = (low[i, axis] - frame.centre[axis]) * frame.scale
            end = (high[i, axis] - frame.centre[axis]) * frame.scale
            begin = np.float32(min(max(begin, -FARTHEST_BOX), FARTHEST_BOX))
            end = np.float32(min(max(end, -FARTHEST_BOX), FARTHEST_BOX))
            boxes[i, axis], boxes[i, NEGATED_HIGH + axis] = begin, -end
            boxes[i, CENTRE + axis], boxes[i, CENTRE + NEGATED_HIGH + axis] = begin + end, -begin - end


@inlined
def half_area(box: Real) -> float:
    """Half the surface area of a box, given as the first eight numbers of its row."""
    x, y, z = (
        -lane(box, NEGATED_HIGH) - lane(box, 0),
        -lane(box, NEGATED_HIGH + 1) - lane(box, 1),
        -lane(box, NEGATED_HIGH + 2) - lane(box, 2),
    )
    return x * y + y * z + z * x


@inlined
def enclose(boxes: Float32Array, order: Int32Array, first: int, last: int, around: Float32Array, k: int) -> None:
    """Write the bounds of a range of items and of their centres into row k of `around`."""
    box, centre = broadcast(np.float32(inf)), broadcast(np.float32(inf))
    for j in range(first, last):
        at = order[j] * ROW
        box, centre = smaller(box, load(boxes, at)), smaller(centre, load(boxes, at + CENTRE))
    store(around, k * ROW, box)
    store(around, k * ROW + CENTRE, centre)


@inlined
def bin_of(boxes: Float32Array, item: int, axis: int, smallest: float, scale: float) -> int:
    """The bin along an axis that contains the centre of an item."""
    return min(int((boxes[item, CENTRE + axis] - smallest) * scale), SAH_BINS - 1)


class Bins(NamedTuple):
    """Work arrays: the bins along three axes, axis by axis."""

    box: Rows[np.float32]  # (3 SAH_BINS, LANES): bounds of the items of each bin
    items: Column[np.int32]  # (3 SAH_BINS,): number of items of each bin
    left_cost: Column[np.float32]  # (SAH_BINS,): cost of all items up to and with each bin of one axis
    grid: Column[np.float32]  # (6,): origin and scale of each axis


@inlined
def best_boundary(bins: Bins, axis: int, items: int, least: float) -> tuple[int, float]:
    """The number of bins left of the cheapest split along an axis, and its cost; 0 if none costs less than `least`.

    The cost of a side is the number of its items times half its surface area. That of a side without items is NaN,
    which compares as not less.
    """
    begin, best = axis * SAH_BINS, 0
    box, count = broadcast(np.float32(inf)), 0
    for b in range(SAH_BINS - 1):
        box, count = smaller(box, load(bins.box, (begin + b) * LANES)), count + bins.items[begin + b]
        bins.left_cost[b] = count * half_area(box)
    box, count = broadcast(np.float32(inf)), 0
    for b in range(SAH_BINS - 1, 0, -1):
        box, count = smaller(box, load(bins.box, (begin + b) * LANES)), count + bins.items[begin + b]
        cost = bins.left_cost[b - 1] + count * half_area(box)
        if count < items and cost < least:
            best, least = b, cost
    return best, least


@inlined
def fill_bins(boxes: Float32Array, order: Int32Array, first: int, last: int, bins: Bins) -> None:
    """Count and bound a range of items in the bins along three axes."""
    bins.box[:], bins.items[:], grid = inf, 0, bins.grid
    for j in range(first, last):
        item = order[j]
        box = load(boxes, item * ROW)
        for axis in range(3):
            b = axis * SAH_BINS + bin_of(boxes, item, axis, grid[axis], grid[3 + axis])
            bins.items[b] += 1
            store(bins.box, b * LANES, smaller(box, load(bins.box, b * LANES)))


@compiled
def split(boxes: Float32Array, order: Int32Array, node: Binary, k: int, bins: Bins) -> int:
    """Partition the items of node k in `order` by the cheapest split. Returns the begin of its right child's range.

    That is an end of the node's range if no split along any axis separates its items.
    """
    first, last = int(node.first[k]), int(node.last[k])
    for axis in range(3):
        smallest = node.boxes[k, CENTRE + axis]
        width = -node.boxes[k, CENTRE + NEGATED_HIGH + axis] - smallest
        bins.grid[axis], bins.grid[3 + axis] = smallest, SAH_BINS / width if width > SMALLEST_WIDTH else 0.0
    fill_bins(boxes, order, first, last, bins)
    best, best_axis, cost = 0, 0, inf
    for axis in range(3):
        boundary, lower = best_boundary(bins, axis, last - first, cost)
        if boundary:
            best, best_axis, cost = boundary, axis, lower
    middle, origin, scale = first, bins.grid[best_axis], bins.grid[3 + best_axis]
    for j in range(first, last):  # the left child's items are swapped to the front, without a branch
        item = order[j]
        order[j], order[middle] = order[middle], item
        middle += int(bin_of(boxes, item, best_axis, origin, scale) < best)
    return middle


INT8, INT32, FLOAT32 = np.dtype(np.int8), np.dtype(np.int32), np.dtype(np.float32)

SMALLEST_WIDTH = 1e-30
"""Centres within a smaller width, in the frame of the tree, all fall into one bin."""


def split_all(boxes: Float32Array, order: Int32Array) -> Binary:
    """The binary tree, with leaves of at most `TREE_WIDTH` items; permutes `order` (n,). Children follow parents."""
    n = order.size
    runs, around = memory.rows((4, 2 * n), INT32), memory.rows((2 * n, ROW), FLOAT32)
    runs[:] = 0
    box, count = np.empty((3 * SAH_BINS, LANES), np.float32), np.empty(3 * SAH_BINS, np.int32)
    bins = Bins(box, count, np.empty(SAH_BINS, np.float32), np.empty(6, np.float32))
    used = _split_all(boxes, order, Binary(around, runs[0], runs[1], runs[2]), runs[3], bins)
    return Binary(around[:used], runs[0, :used], runs[1, :used], runs[2, :used])


@compiled_loop
def _split_all(
    boxes: Rows[np.float32], order: Column[np.int32], node: Binary, depth: Column[np.int32], bins: Bins
) -> int:
    """Fill the nodes of `split_all`, and the depth of each, zeros so far; returns their number."""
    n, around = order.size, node.boxes
    node.first[0], node.last[0], used, k = 0, n, 1, 0
    while k < used:
        first, last = node.first[k], node.last[k]
        enclose(boxes, order, first, last, around, k)
        if last - first > TREE_WIDTH:
            middle = split(boxes, order, node, k, bins) if depth[k] < DEEPEST_SAH else first
            if middle in (first, last):
                middle = (first + last) // 2  # inseparable, or too deep: halve by count
            node.left[k] = used
            node.first[used], node.last[used], depth[used] = first, middle, depth[k] + 1
            node.first[used + 1], node.last[used + 1], depth[used + 1] = middle, last, depth[k] + 1
            used += 2
        k += 1
    return used
