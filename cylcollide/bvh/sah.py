"""Split: a binary tree over boxes, by the surface area heuristic in bins, down to a node of items.

Boxes are float32 in the frame of the tree, high corners negated, so that one minimum of eight lanes encloses two of
them. How they are split decides what rays cost, never what they hit.

Source: I. Wald, "On fast construction of SAH-based bounding volume hierarchies", 2007.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from cylcollide._types import Float32Array, Float64Array, Int32Array
from cylcollide.bvh.layout import Space, box_edge
from cylcollide.constants import DEEPEST_SAH, SAH_BINS, TREE_WIDTH
from cylcollide.runtime.compile import allocating, compiled, inlined
from cylcollide.runtime.simd import LANES, Real, broadcast, lane, load, smaller, store

HIGH, CENTRE = 4, LANES
"""Where in a row of `boxes` the negated high corner begins, and the centre, doubled."""
ROW = 2 * LANES
"""Numbers a box: one cache line. Its corners, and its centre and that negated, each followed by an unused one."""


class Binary(NamedTuple):
    """The binary tree that the wide one is drawn from."""

    boxes: Float32Array  # (nodes, ROW): around the boxes of the items below, and around their centres
    left: Int32Array  # (nodes,): first child, the second follows it; 0 for a leaf
    first: Int32Array  # (nodes,): run of `order` below the node
    last: Int32Array


@compiled
def fill_boxes(low: Float64Array, high: Float64Array, space: Space, boxes: Float32Array) -> None:
    """Rows of boxes (n, 3) in the frame of the tree."""
    for i in range(len(low)):
        for axis in range(3):
            begin = np.float32(box_edge(low[i, axis], space.centre[axis], space.scale, 0.0))
            end = np.float32(box_edge(high[i, axis], space.centre[axis], space.scale, 0.0))
            boxes[i, axis], boxes[i, HIGH + axis] = begin, -end
            boxes[i, CENTRE + axis], boxes[i, CENTRE + HIGH + axis] = begin + end, -begin - end


@inlined
def half_area(box: Real) -> float:
    """Half the surface area of a box, eight lanes of it."""
    x, y, z = -lane(box, HIGH) - lane(box, 0), -lane(box, HIGH + 1) - lane(box, 1), -lane(box, HIGH + 2) - lane(box, 2)
    return x * y + y * z + z * x


@inlined
def enclose(boxes: Float32Array, order: Int32Array, first: int, last: int, around: Float32Array, k: int) -> None:
    """Write the boxes around a run of items and around their centres into row k."""
    box, centre = broadcast(np.float32(inf)), broadcast(np.float32(inf))
    for j in range(first, last):
        at = order[j] * ROW
        box, centre = smaller(box, load(boxes, at)), smaller(centre, load(boxes, at + CENTRE))
    store(around, k * ROW, box)
    store(around, k * ROW + CENTRE, centre)


@inlined
def bin_of(boxes: Float32Array, item: int, axis: int, smallest: float, scale: float) -> int:
    """The bin along an axis that the centre of an item falls into."""
    return min(int((boxes[item, CENTRE + axis] - smallest) * scale), SAH_BINS - 1)


class Bins(NamedTuple):
    """Room for what is counted along three axes."""

    box: Float32Array  # (3 SAH_BINS, LANES)
    items: Int32Array  # (3 SAH_BINS,): how many
    left_cost: Float32Array  # (SAH_BINS,): of everything left of the right edge of each bin


@inlined
def best_boundary(bins: Bins, axis: int, items: int, most: float) -> tuple[int, float]:
    """How many bins along an axis are best put to the left, 0 if nothing costs less than `most`; and what that costs.

    A side without items has a cost that is not a number, which is not less than anything.
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
        if count < items and cost < most:
            best, most = b, cost
    return best, most


@inlined
def into_bins(boxes: Float32Array, order: Int32Array, first: int, last: int, bins: Bins, grid: Float32Array) -> None:
    """Count a run of items, and enclose them, in the bins along three axes; `grid` has their begins and scales."""
    bins.box[:], bins.items[:] = inf, 0
    for j in range(first, last):
        item = order[j]
        box = load(boxes, item * ROW)
        for axis in range(3):
            b = axis * SAH_BINS + bin_of(boxes, item, axis, grid[axis], grid[3 + axis])
            bins.items[b] += 1
            store(bins.box, b * LANES, smaller(box, load(bins.box, b * LANES)))


@compiled
def split(boxes: Float32Array, order: Int32Array, node: Binary, k: int, bins: Bins, grid: Float32Array) -> int:
    """Put the items of node k that go to its left child to the front of its run; where the others begin.

    That is one of the ends of the run if nothing tells the items from each other.
    """
    first, last = int(node.first[k]), int(node.last[k])
    for axis in range(3):
        smallest = node.boxes[k, CENTRE + axis]
        width = -node.boxes[k, CENTRE + HIGH + axis] - smallest
        grid[axis], grid[3 + axis] = smallest, SAH_BINS / width if width > FLAT else 0.0
    into_bins(boxes, order, first, last, bins, grid)
    best, best_axis, cost = 0, 0, inf
    for axis in range(3):
        boundary, less = best_boundary(bins, axis, last - first, cost)
        if boundary:
            best, best_axis, cost = boundary, axis, less
    middle = first
    for j in range(first, last):  # the left ones grow at the front, without a branch on who is one
        item = order[j]
        order[j], order[middle] = order[middle], item
        middle += int(bin_of(boxes, item, best_axis, grid[best_axis], grid[3 + best_axis]) < best)
    return middle


FLAT = 1e-30
"""Centres that lie closer together, in the frame of the tree, are not told from each other."""


@allocating
def split_all(boxes: Float32Array, order: Int32Array) -> Binary:
    """Split from the root until at most one node of items is left; children come after their parent."""
    n = order.size
    runs, around = np.zeros((3, 2 * n), np.int32), np.empty((2 * n, ROW), np.float32)
    node = Binary(around, runs[0], runs[1], runs[2])
    depth, grid = np.zeros(2 * n, np.int32), np.empty(6, np.float32)
    box, count = np.empty((3 * SAH_BINS, LANES), np.float32), np.empty(3 * SAH_BINS, np.int32)
    bins = Bins(box, count, np.empty(SAH_BINS, np.float32))
    node.first[0], node.last[0], used, k = 0, n, 1, 0
    while k < used:
        first, last = node.first[k], node.last[k]
        enclose(boxes, order, first, last, around, k)
        if last - first > TREE_WIDTH:
            middle = split(boxes, order, node, k, bins, grid) if depth[k] < DEEPEST_SAH else first
            if middle in (first, last):
                middle = (first + last) // 2  # all in one place, or too deep: halve by count
            node.left[k] = used
            node.first[used], node.last[used], depth[used] = first, middle, depth[k] + 1
            node.first[used + 1], node.last[used + 1], depth[used + 1] = middle, last, depth[k] + 1
            used += 2
        k += 1
    return Binary(around[:used], node.left[:used], node.first[:used], node.last[:used])
