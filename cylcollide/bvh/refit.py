"""Refit: new boxes for an unchanged tree, all or some, from the last node to the first: children precede parents."""

from math import inf
from typing import Any, NamedTuple

import numpy as np

from cylcollide._types import Column, Float32Array, Float64Array, Int32Array, NodeBoxes, Rows, Vectors
from cylcollide.bvh.layout import (
    CORE,
    EMPTY,
    HIGH,
    Box,
    Tree,
    TreeFrame,
    box_in_frame,
    corner_of,
    farthest_of,
    frame_around,
)
from cylcollide.constants import BOX_PAD, FARTHEST_BOX, REBUILD_COST, SMALLEST_IN_FRAME, TREE_WIDTH
from cylcollide.runtime.compile import compiled_loop, inlined
from cylcollide.runtime.memory import aligned, frozen
from cylcollide.runtime.simd import (
    Real,
    absolute,
    broadcast,
    lane,
    larger,
    load,
    load_rows,
    movemask,
    select,
    smaller,
    store,
    with_sign,
)

SMALLEST_FACTOR = 2.0**-100
"""Least factor between two frames: smaller boxes act as points, and nothing underflows."""


def refit(tree: Tree, low: Float64Array, high: Float64Array) -> Tree:
    """The tree with new boxes `low`, `high` (n, 3) of the same items; its bounds are overwritten."""
    if len(low) == 0:
        return tree
    frame = frame_around(low, high)
    fit_bounds(tree.child, low, high, frame, tree.bounds)
    return tree._replace(frame=frame)


@compiled_loop
def fit_bounds(child: Rows[np.int32], low: Vectors, high: Vectors, frame: TreeFrame, bounds: NodeBoxes) -> None:
    """Write the bounds (nodes, 6, 8) of all slots, from the items' boxes `low`, `high` (n, 3)."""
    centre, scale, is_wide = frame.centre, frame.scale, farthest_of(frame) > CORE * CORE
    for node in range(child.shape[0] - 1, -1, -1):  # children have larger indices than their parents
        for slot in range(TREE_WIDTH):
            code = child[node, slot]
            if code >= 0:
                for axis in range(3):
                    bounds[node, axis, slot], bounds[node, HIGH + axis, slot] = extent_of(bounds, code, axis)
            elif code != EMPTY:
                box = box_in_frame(centre, scale, corner_of(low, -2 - code), corner_of(high, -2 - code), is_wide)
                set_box(bounds, node, slot, box)
            else:
                set_box(bounds, node, slot, (inf, inf, inf, -inf, -inf, -inf))


@inlined
def set_box(bounds: Float32Array, node: int, slot: int, box: Box) -> None:
    """Write the bounds of a slot."""
    for k in range(2 * HIGH):
        bounds[node, k, slot] = box[k]


@inlined
def extent_of(bounds: Float32Array, node: int, axis: int) -> tuple[float, float]:
    """Least and largest coordinate of a node's boxes on an axis."""
    smallest, largest = inf, -inf
    for slot in range(TREE_WIDTH):
        smallest, largest = min(smallest, bounds[node, axis, slot]), max(largest, bounds[node, HIGH + axis, slot])
    return smallest, largest


class Slots(NamedTuple):
    """Slots of the items and nodes of a tree, as 8 · node + slot."""

    items: Column[np.int32]  # (items,)
    nodes: Column[np.int32]  # (nodes,): the slot that holds the node; -1 for the root


def slots(tree: Tree) -> Slots:
    """The slots of all items and nodes."""
    found = Slots(np.empty(tree.items, np.int32), np.full(len(tree.child), EMPTY, np.int32))
    _fill_slots(tree.child, found)
    return found


@compiled_loop
def _fill_slots(child: Rows[np.int32], found: Slots) -> None:
    """Write the columns of `slots`."""
    for node in range(child.shape[0]):
        for slot in range(TREE_WIDTH):
            code = child[node, slot]
            if code >= 0:
                found.nodes[code] = node * TREE_WIDTH + slot
            elif code != EMPTY:
                found.items[-2 - code] = node * TREE_WIDTH + slot


def refit_some(tree: Tree, at: Slots, items: Int32Array, low: Float64Array, high: Float64Array) -> TreeFrame | None:
    """Write the boxes `low`, `high` (k, 3) of these items (k,) into the tree's bounds, and refit those above.

    Returns the frame with new corners; None, with invalid bounds, if a box is farther out than all were, or all
    together have become too small in the frame for the precision of float32.
    """
    dirty = np.zeros(len(tree.child), np.bool_)
    if not fit_some(at, items, low, high, tree.frame, farthest_of(tree.frame), tree.bounds, dirty):
        return None
    return with_corners(tree.frame, tree.bounds)


def with_corners(frame: TreeFrame, bounds: Float32Array) -> TreeFrame | None:
    """The frame with the corners of all boxes; None if a box is farther out, or all are too small for float32."""
    (x, y, z), (u, v, w) = corners_of(bounds)
    if max(-x, -y, -z, u, v, w) > farthest_of(frame) or max(u - x, v - y, w - z) < SMALLEST_IN_FRAME:
        return None
    return frame._replace(low=(x, y, z), high=(u, v, w))


def corners_of(bounds: Float32Array) -> tuple[list[float], list[float]]:
    """The corners of the box around all boxes of a tree."""
    root = bounds[0].tolist()
    return [min(row) for row in root[:HIGH]], [max(row) for row in root[HIGH:]]


@compiled_loop
def fit_some(
    at: Slots,
    items: Column[np.int32],
    low: Vectors,
    high: Vectors,
    frame: TreeFrame,
    farthest: float,
    bounds: NodeBoxes,
    dirty: Column[np.bool_],
) -> bool:
    """Write the bounds of items' slots and of those above; returns False, too early, if a box is beyond `farthest`.

    `dirty` (nodes,), whether a box of a node has changed, begins as False.
    """
    centre, scale = frame.centre, frame.scale
    for j in range(items.size):
        place = at.items[items[j]]
        node, slot = place // TREE_WIDTH, place % TREE_WIDTH
        box = box_in_frame(centre, scale, corner_of(low, j), corner_of(high, j), True)
        if max(-box[0], -box[1], -box[2], box[3], box[4], box[5]) > farthest:
            return False
        set_box(bounds, node, slot, box)
        dirty[node] = True
    for node in range(at.nodes.size - 1, 0, -1):  # children have larger indices than their parents
        if dirty[node]:
            parent, slot = at.nodes[node] // TREE_WIDTH, at.nodes[node] % TREE_WIDTH
            for axis in range(3):
                bounds[parent, axis, slot], bounds[parent, HIGH + axis, slot] = extent_of(bounds, node, axis)
            dirty[parent] = True
    return True


@compiled_loop
def tree_cost(bounds: NodeBoxes, scale: float) -> float:
    """Half the sum of the surface areas of all slots' boxes inside the core, m²: proportional to a ray's box tests."""
    areas = broadcast(np.float32(0.0))
    for node in range(bounds.shape[0]):
        base = node * 2 * HIGH * TREE_WIDTH
        x, y, z = width_of(bounds, base), width_of(bounds, base + TREE_WIDTH), width_of(bounds, base + 2 * TREE_WIDTH)
        areas = areas + (x * y + y * z + z * x)
    total = np.float64(0.0)  # float64 in plain Python, too
    for slot in range(TREE_WIDTH):
        total += lane(areas, slot)
    return total / (scale * scale)


@inlined
def width_of(bounds: Float32Array, offset: int) -> Any:
    """Along one axis, the widths of eight boxes inside the core; 0 for an empty slot."""
    zero, core = np.float32(0.0), np.float32(CORE)
    low, high = load(bounds, offset), load(bounds, offset + HIGH * TREE_WIDTH)
    return larger(smaller(high, core) - larger(low, -core), zero)


def are_about_as_large(cost: float, built: float) -> bool:
    """Whether boxes of this `tree_cost` are about as large as those that the tree was built from."""
    return cost <= REBUILD_COST * built and built <= REBUILD_COST * cost


def united(tree: Tree, other: Tree, other_bounds: Float32Array, growth: Float32Array, frame: TreeFrame) -> Tree:
    """The tree with boxes around those of two of its states, grown.

    `other_bounds` (nodes, 6, 8): boxes of items in the other state, in the same slots. `growth` (8 · nodes,): growth of
    each item's box in the given frame, by slot; negative: the item is not in the other state, and its box stays. The
    frame of the result must contain both states and all growth; its corners are computed here.
    """
    bounds: Float32Array = aligned(tree.bounds.shape, np.float32, np.empty)
    frames = np.array([_map(tree.frame, frame), _map(other.frame, frame)], np.float32)
    children = np.empty(TREE_WIDTH, np.int32)
    is_wide = max(farthest_of(tree.frame), farthest_of(other.frame)) > CORE * CORE
    _fit_united(tree.child, tree.bounds, other_bounds, frames, growth, is_wide, bounds, children)
    (x, y, z), (u, v, w) = corners_of(bounds)
    return tree._replace(bounds=frozen(bounds), frame=frame._replace(low=(x, y, z), high=(u, v, w)))


def _map(of: TreeFrame, to: TreeFrame) -> tuple[float, float, float, float]:
    """The factor and the offsets that convert coordinates of one frame to another one."""
    factor = max(to.scale / of.scale, SMALLEST_FACTOR)
    x, y, z = ((a - b) * to.scale for a, b in zip(of.centre, to.centre, strict=True))
    return factor, x, y, z


@compiled_loop
def _fit_united(
    child: Rows[np.int32],
    one: NodeBoxes,
    other: NodeBoxes,
    frames: Rows[np.float32],
    growth: Column[np.float32],
    is_wide: bool,
    bounds: NodeBoxes,
    children: Column[np.int32],
) -> None:
    """Write the bounds of `united`; `is_wide`: some boxes are beyond the core. Scratch: `children` (8,)."""
    codes, boxes = child.reshape(-1).view(np.float32), bounds.reshape(child.shape[0], 2 * HIGH * TREE_WIDTH)
    zero = broadcast(np.float32(0.0))
    for node in range(child.shape[0] - 1, -1, -1):  # children have larger indices than their parents
        slots, base = node * TREE_WIDTH, node * 2 * HIGH * TREE_WIDTH
        grown = load(growth, slots)
        stays, more = grown < zero, larger(grown, zero) + np.float32(BOX_PAD)
        if is_wide:
            farthest: Any = broadcast(np.float32(2.0))
            for plane in range(2 * HIGH):
                low, axis = base + plane * TREE_WIDTH, plane % HIGH
                a, b = mapped(one, low, frames, 0, axis), mapped(other, low, frames, 1, axis)
                farthest = larger(farthest, larger(absolute(a), absolute(select(stays, a, b))))
            more = larger(grown, zero) + smaller(farthest, np.float32(FARTHEST_BOX)) * np.float32(0.5 * BOX_PAD)
        is_node = with_sign(1.0, load(codes, slots)) > zero
        has_nodes = movemask(is_node) != 0
        if has_nodes:
            for slot in range(TREE_WIDTH):
                children[slot] = max(child[node, slot], 0)
        for axis in range(HIGH):
            low, high = axis * TREE_WIDTH, (HIGH + axis) * TREE_WIDTH
            a, b = mapped(one, base + low, frames, 0, axis), mapped(other, base + low, frames, 1, axis)
            c, d = mapped(one, base + high, frames, 0, axis), mapped(other, base + high, frames, 1, axis)
            begins: Any = select(stays, a, smaller(a, b)) - more
            ends: Any = select(stays, c, larger(c, d)) + more
            if has_nodes:
                begins = select(is_node, smallest_of(load_rows(boxes, children, 0, low)), begins)
                ends = select(is_node, largest_of(load_rows(boxes, children, 0, high)), ends)
            store(bounds, base + low, begins)
            store(bounds, base + high, ends)


@inlined
def mapped(bounds: Float32Array, offset: int, frames: Float32Array, which: int, axis: int) -> Any:
    """One plane of eight boxes, in another frame."""
    return load(bounds, offset) * frames[which, 0] + frames[which, 1 + axis]


@inlined
def smallest_of(eight: tuple[Real, ...]) -> Real:
    """The least of eight, lane by lane."""
    a, b, c, d, e, f, g, h = eight
    return smaller(smaller(smaller(a, b), smaller(c, d)), smaller(smaller(e, f), smaller(g, h)))


@inlined
def largest_of(eight: tuple[Real, ...]) -> Real:
    """The largest of eight, lane by lane."""
    a, b, c, d, e, f, g, h = eight
    return larger(larger(larger(a, b), larger(c, d)), larger(larger(e, f), larger(g, h)))
