"""Build: a binary tree by the surface area heuristic, collapsed into nodes of eight children.

Source: H. Dammertz, J. Hanika, A. Keller, "Shallow bounding volume hierarchies for fast SIMD ray tracing of incoherent
rays", 2008.
"""

from math import inf

import numpy as np

from cylcollide._types import Column, Float32Array, Float64Array, Int8Array, Int32Array, Rows
from cylcollide.bvh.layout import EMPTY, HIGH, Tree, TreeFrame, empty_tree, frame_around
from cylcollide.bvh.refit import fit_bounds
from cylcollide.bvh.sah import FLOAT32, INT8, INT32, NEGATED_HIGH, ROW, Binary, fill_boxes, half_area, split_all
from cylcollide.constants import TREE_WIDTH
from cylcollide.runtime import memory
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.simd import load


def build(low: Float64Array, high: Float64Array) -> Tree:
    """The tree over the boxes with corners `low`, `high` (n, 3), in metres; n may be 0."""
    if len(low) == 0:
        return empty_tree()
    child, axis, deepest, frame = arranged(low, high)
    bounds: Float32Array = memory.aligned((len(child), 2 * HIGH, TREE_WIDTH), np.float32)
    fit_bounds(child, low, high, frame, bounds)
    return Tree(memory.frozen(bounds), child, len(low), axis, deepest * (TREE_WIDTH - 1) + 2, frame)


def arranged(low: Float64Array, high: Float64Array) -> tuple[Int32Array, Int8Array, int, TreeFrame]:
    """`child` and `axis`, read-only, the depth, and the frame of the tree over n > 0 boxes; bounds are not computed."""
    frame, order = frame_around(low, high), np.arange(len(low), dtype=np.int32)
    boxes: Float32Array = memory.rows((len(low), ROW), FLOAT32)
    boxes[:] = 0.0  # unused columns are read with the others
    fill_boxes(low, high, frame, boxes)
    binary = split_all(boxes, order)
    most = len(binary.left)
    wide = memory.rows((most, TREE_WIDTH), INT32)
    source, depth, axis = (memory.rows((most,), kind) for kind in (INT32, INT32, INT8))
    wide[:], source[:], depth[:], axis[:] = EMPTY, 0, 1, 0
    slots = np.empty(TREE_WIDTH, np.int32), np.empty(TREE_WIDTH), np.empty((3, TREE_WIDTH), np.float32)
    used = _collapse(binary, boxes, order, *slots, wide, axis, source, depth)
    child: Int32Array = memory.aligned((used, TREE_WIDTH), np.int32)
    child[:] = wide[:used]
    axis = axis[:used].copy()
    child.flags.writeable = axis.flags.writeable = False
    return child, axis, int(depth[used - 1]), frame


@inlined
def _fill_slot(
    slots: Int32Array, areas: Float64Array, centres: Float32Array, s: int, reference: int, boxes: Float32Array, row: int
) -> None:
    """Write a binary node or an item, and the area and centre of its box, which is row `row` of `boxes`."""
    slots[s], areas[s] = reference, half_area(load(boxes, row * ROW))
    for axis in range(3):
        centres[axis, s] = boxes[row, axis] - boxes[row, NEGATED_HIGH + axis]


@compiled
def _sort_slots(slots: Int32Array, centres: Float32Array, filled: int) -> int:
    """Sort slots by the centres of their boxes, along the axis on which these are farthest apart; returns the axis."""
    widest, best = -1.0, 0
    for axis in range(3):
        smallest, largest = inf, -inf
        for s in range(filled):
            centre = centres[axis, s]
            smallest, largest = min(smallest, centre), max(largest, centre)
        if largest - smallest > widest:
            widest, best = largest - smallest, axis
    along = centres[best]
    for s in range(1, filled):
        moved, centre, j = slots[s], along[s], s
        while j > 0 and along[j - 1] > centre:
            slots[j], along[j] = slots[j - 1], along[j - 1]
            j -= 1
        slots[j], along[j] = moved, centre
    return best


@compiled_loop
def _collapse(
    binary: Binary,
    boxes: Rows[np.float32],
    order: Column[np.int32],
    slots: Column[np.int32],
    areas: Column[np.float64],
    centres: Rows[np.float32],
    child: Rows[np.int32],
    axis: Column[np.int8],
    source: Column[np.int32],
    depth: Column[np.int32],
) -> int:
    """Collapse a binary tree: write wide nodes into `child` (n, 8), `axis` (n,), see `Tree`; returns their number.

    `source` (n,) and `depth` (n,), the binary node and the depth of each, begin as zeros and ones. Scratch: the slots
    (8,) of one wide node, half the surface areas of their boxes (8,), and the doubled centres of these (3, 8).

    A slot holds a binary node, or one item as -1 - its position in `order`. The slot with the largest area is replaced
    by its node's two children, or by all items of a leaf, until no more fit. Slots are sorted by their centres along
    the axis on which these are farthest apart, so that the direction of a ray gives the order in which it enters them.
    """
    used, k = 1, 0
    while k < used:
        _fill_slot(slots, areas, centres, 0, source[k], binary.boxes, source[k])
        filled = 1
        while True:
            widest, largest_area = -1, -1.0
            for s in range(filled):
                node = slots[s]
                if node >= 0 and areas[s] > largest_area:
                    parts = 2 if binary.left[node] else binary.last[node] - binary.first[node]
                    if filled - 1 + parts <= TREE_WIDTH:
                        widest, largest_area = s, areas[s]
            if widest < 0:
                break
            opened = slots[widest]
            begin, halves = binary.first[opened], binary.left[opened]
            for part in range(2 if halves else binary.last[opened] - begin):
                s = widest if part == 0 else filled
                filled += part > 0
                if halves:
                    _fill_slot(slots, areas, centres, s, halves + part, binary.boxes, halves + part)
                else:
                    _fill_slot(slots, areas, centres, s, -1 - (begin + part), boxes, order[begin + part])
        axis[k] = _sort_slots(slots, centres, filled)
        for s in range(filled):
            reference = slots[s]
            if reference < 0:
                child[k, s] = -2 - order[-1 - reference]
            else:
                child[k, s], source[used], depth[used] = used, reference, depth[k] + 1
                used += 1
        k += 1
    return used
