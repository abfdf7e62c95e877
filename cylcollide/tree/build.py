"""Build: binned surface area heuristic down to eight boxes, then eight grandchildren drawn into each node.

Sources: I. Wald, "On fast construction of SAH-based bounding volume hierarchies", 2007 (bins); H. Dammertz, J. Hanika,
A. Keller, "Shallow bounding volume hierarchies for fast SIMD ray tracing of incoherent rays", 2008 (collapse).
"""

from math import inf
from typing import NamedTuple

import numpy as np

from cylcollide._types import DEEPEST_SAH, FARTHEST_BOX, SAH_BINS, TREE_WIDTH, Float64Array, Int8Array, Int32Array
from cylcollide.compiling import allocating, compiled
from cylcollide.lending import aligned
from cylcollide.tree.layout import EMPTY, Tree, empty_tree, space_around
from cylcollide.tree.refit import fitted_bounds


class Binary(NamedTuple):
    """The binary tree that the wide one is drawn from."""

    low: Float64Array  # (nodes, 3)
    high: Float64Array
    left: Int32Array  # (nodes,): first child, the second follows it; 0 for a leaf
    first: Int32Array  # (nodes,): run of `order` below the node
    last: Int32Array


def build(low: Float64Array, high: Float64Array) -> Tree:
    """Build a tree over boxes `low`, `high` (n, 3), in metres; n may be 0."""
    if len(low) == 0:
        return empty_tree()
    order = np.arange(len(low), dtype=np.int32)
    near_low, near_high = np.clip((low, high), -FARTHEST_BOX, FARTHEST_BOX)
    binary = _split_all(near_low, near_high, order)
    slots, axis, depth = _collapse(binary, near_low, near_high, order)
    child: Int32Array = aligned(slots.shape, np.int32)
    child[:] = slots
    space = space_around(low, high)
    bounds = fitted_bounds(child, low, high, space)
    return Tree(bounds, child, len(low), axis, depth * (TREE_WIDTH - 1) + 2, space)


@compiled
def _half_area(low: Float64Array, high: Float64Array) -> float:
    x, y, z = high[0] - low[0], high[1] - low[1], high[2] - low[2]
    return float(x * y + y * z + z * x)


@compiled
def _enclose(
    low: Float64Array, high: Float64Array, order: Int32Array, first: int, last: int, node: Binary, k: int
) -> None:
    """Write the box around a run of items into node k."""
    for axis in range(3):
        smallest, largest = inf, -inf
        for j in range(first, last):
            smallest = min(smallest, low[order[j], axis])
            largest = max(largest, high[order[j], axis])
        node.low[k, axis], node.high[k, axis] = smallest, largest


@allocating
def _best_plane(low: Float64Array, high: Float64Array, order: Int32Array, first: int, last: int) -> tuple[int, float]:
    """The axis and the centre coordinate (doubled) whose split costs least by surface area; axis -1 if none splits."""
    best_axis, best_plane, best_cost = -1, 0.0, inf
    bin_low, bin_high = np.empty((SAH_BINS, 3)), np.empty((SAH_BINS, 3))
    bin_count = np.empty(SAH_BINS, np.int64)
    left_cost = np.empty(SAH_BINS)
    box_low, box_high = np.empty(3), np.empty(3)
    for axis in range(3):
        smallest, largest = inf, -inf
        for j in range(first, last):
            centre = low[order[j], axis] + high[order[j], axis]
            smallest, largest = min(smallest, centre), max(largest, centre)
        width = largest - smallest
        if not 0.0 < width < inf:
            continue
        scale = SAH_BINS / width
        bin_low[:], bin_high[:], bin_count[:] = inf, -inf, 0
        for j in range(first, last):
            item = order[j]
            b = min(int((low[item, axis] + high[item, axis] - smallest) * scale), SAH_BINS - 1)
            bin_count[b] += 1
            for k in range(3):
                bin_low[b, k] = min(bin_low[b, k], low[item, k])
                bin_high[b, k] = max(bin_high[b, k], high[item, k])

        # cost of everything left of each boundary, then right of it
        box_low[:], box_high[:], items = inf, -inf, 0
        for b in range(SAH_BINS - 1):
            items += bin_count[b]
            for k in range(3):
                box_low[k], box_high[k] = min(box_low[k], bin_low[b, k]), max(box_high[k], bin_high[b, k])
            left_cost[b] = items * _half_area(box_low, box_high) if items else 0.0
        box_low[:], box_high[:], items = inf, -inf, 0
        for b in range(SAH_BINS - 1, 0, -1):
            items += bin_count[b]
            for k in range(3):
                box_low[k], box_high[k] = min(box_low[k], bin_low[b, k]), max(box_high[k], bin_high[b, k])
            cost = left_cost[b - 1] + (items * _half_area(box_low, box_high) if items else 0.0)
            if 0 < items < last - first and cost < best_cost:
                best_axis, best_plane, best_cost = axis, smallest + b / scale, cost
    return best_axis, best_plane


@compiled
def _partition(
    low: Float64Array, high: Float64Array, order: Int32Array, first: int, last: int, axis: int, plane: float
) -> int:
    """Move the items whose doubled centre lies below the plane to the front; where the others begin."""
    i, j = first, last - 1
    while i <= j:
        if low[order[i], axis] + high[order[i], axis] < plane:
            i += 1
        else:
            order[i], order[j] = order[j], order[i]
            j -= 1
    return i


@allocating
def _split_all(low: Float64Array, high: Float64Array, order: Int32Array) -> Binary:
    """Split from the root until at most one node of items is left; children come after their parent."""
    n = order.size
    runs = np.zeros((3, 2 * n), np.int32)
    node = Binary(np.empty((2 * n, 3)), np.empty((2 * n, 3)), runs[0], runs[1], runs[2])
    depth = np.zeros(2 * n, np.int32)
    node.first[0], node.last[0], used, k = 0, n, 1, 0
    _enclose(low, high, order, 0, n, node, 0)
    while k < used:
        first, last = node.first[k], node.last[k]
        if last - first > TREE_WIDTH:
            middle = first
            if depth[k] < DEEPEST_SAH:
                axis, plane = _best_plane(low, high, order, first, last)
                if axis >= 0:
                    middle = _partition(low, high, order, first, last, axis, plane)
            if middle in (first, last):
                middle = (first + last) // 2  # all in one place, or too deep: halve by count
            node.left[k] = used
            node.first[used], node.last[used], depth[used] = first, middle, depth[k] + 1
            node.first[used + 1], node.last[used + 1], depth[used + 1] = middle, last, depth[k] + 1
            _enclose(low, high, order, first, middle, node, used)
            _enclose(low, high, order, middle, last, node, used + 1)
            used += 2
        k += 1
    return Binary(node.low[:used], node.high[:used], node.left[:used], node.first[:used], node.last[:used])


@compiled
def _put_in_order(low: Float64Array, high: Float64Array, slots: Int32Array, filled: int) -> int:
    """Sort slots by the centres of their boxes along the axis on which these are farthest apart; the axis."""
    widest, best = -1.0, 0
    for axis in range(3):
        smallest, largest = inf, -inf
        for s in range(filled):
            centre = low[s, axis] + high[s, axis]
            smallest, largest = min(smallest, centre), max(largest, centre)
        if largest - smallest > widest:
            widest, best = largest - smallest, axis
    for s in range(1, filled):
        slot, begin, end, j = slots[s], low[s, best], high[s, best], s
        while j > 0 and low[j - 1, best] + high[j - 1, best] > begin + end:
            slots[j], low[j, best], high[j, best] = slots[j - 1], low[j - 1, best], high[j - 1, best]
            j -= 1
        slots[j], low[j, best], high[j, best] = slot, begin, end
    return best


@allocating
def _collapse(
    binary: Binary, low: Float64Array, high: Float64Array, order: Int32Array
) -> tuple[Int32Array, Int8Array, int]:
    """Wide nodes of a binary tree over boxes in an order. Returns child, axis, depth.

    A slot holds a binary node or one item. The largest that can be opened is, into its two halves, or a run of items
    into all of them, until nothing more fits. Slots stand in the order of their centres along the axis on which these
    are farthest apart, so that a ray meets them in order or in reverse.
    """
    n = binary.left.size
    child = np.full((n, TREE_WIDTH), EMPTY, np.int32)
    source, depth, axis = np.zeros(n, np.int32), np.ones(n, np.int32), np.zeros(n, np.int8)
    slots = np.empty(TREE_WIDTH, np.int32)  # a binary node, or -1 - position of an item in `order`
    first, last = np.empty((TREE_WIDTH, 3)), np.empty((TREE_WIDTH, 3))  # corners of the slots' boxes
    used, k, deepest = 1, 0, 1
    while k < used:
        slots[0], filled = source[k], 1
        first[0], last[0] = binary.low[source[k]], binary.high[source[k]]
        while True:
            widest, largest_area = -1, -1.0
            for s in range(filled):
                if slots[s] >= 0:
                    parts = 2 if binary.left[slots[s]] else binary.last[slots[s]] - binary.first[slots[s]]
                    area = _half_area(first[s], last[s])
                    if area > largest_area and filled - 1 + parts <= TREE_WIDTH:
                        widest, largest_area = s, area
            if widest < 0:
                break
            opened = slots[widest]
            begin, halves = binary.first[opened], binary.left[opened]
            for part in range(2 if halves else binary.last[opened] - begin):
                s = widest if part == 0 else filled
                filled += part > 0
                if halves:
                    slots[s] = halves + part
                    first[s], last[s] = binary.low[halves + part], binary.high[halves + part]
                else:
                    slots[s] = -1 - (begin + part)
                    first[s], last[s] = low[order[begin + part]], high[order[begin + part]]
        axis[k] = _put_in_order(first, last, slots, filled)
        for s in range(filled):
            if slots[s] < 0:
                child[k, s] = -2 - order[-1 - slots[s]]
            else:
                child[k, s], source[used], depth[used] = used, slots[s], depth[k] + 1
                deepest = max(deepest, depth[used])
                used += 1
        k += 1
    return child[:used].copy(), axis[:used].copy(), deepest
