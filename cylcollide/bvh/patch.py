"""Patch: a tree without some items, and a tree with more of them, without a build of the whole.

Items that go leave empty slots; a node that is left with one child gives way to it. Items that come are built to a tree
of their own, whose branches are put where the boxes above grow least. Boxes must be fitted anew afterwards.
"""

from math import inf
from typing import NamedTuple, TypeAlias

import numpy as np

from cylcollide._types import Column, Float32Array, Float64Array, Int32Array, NodeBoxes, Rows
from cylcollide.bvh.build import build
from cylcollide.bvh.layout import EMPTY, HIGH, Tree
from cylcollide.bvh.refit import fitted_bounds
from cylcollide.constants import LARGEST_BRANCH, TREE_WIDTH
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.memory import aligned


class Nodes(NamedTuple):
    """The arrays of a tree that a patch writes."""

    child: Rows[np.int32]  # (nodes, 8)
    axis: Column[np.int8]  # (nodes,)
    bounds: NodeBoxes  # (nodes, 6, 8)


def _empty_nodes(count: int) -> Nodes:
    """Nodes to be written."""
    return Nodes(
        np.full((count, TREE_WIDTH), EMPTY, np.int32),
        np.zeros(count, np.int8),
        np.empty((count, 2 * HIGH, TREE_WIDTH), np.float32),
    )


def renumbered(tree: Tree, number: Int32Array, items: int) -> Tree:
    """The tree of `items` items, where item i of the given tree has `number[i]` (items,), or is none if that is -1.

    Boxes are those of the old tree, and may be larger than needed.
    """
    count = len(tree.child)
    nodes, code, place = _empty_nodes(count), np.empty(count, np.int32), np.empty(count, np.int32)
    used = _renumber(Nodes(tree.child, tree.axis, tree.bounds), number, nodes, code, place)
    return _finished(tree, nodes, used, items)


@compiled_loop
def _renumber(old: Nodes, number: Column[np.int32], new: Nodes, code: Column[np.int32], place: Column[np.int32]) -> int:
    """Write the nodes of `renumbered`; how many. `code` and `place` (nodes,) are scratch.

    `code`: what stands for an old node; itself, its only child, or nothing. `place`: its new index.
    """
    for node in range(old.child.shape[0] - 1, -1, -1):
        children, only = 0, EMPTY
        for slot in range(TREE_WIDTH):
            kept = _kept(old.child[node, slot], number, code)
            if kept != EMPTY:
                children, only = children + 1, kept
        code[node] = node if children > 1 or node == 0 else only
    used = 0
    for node in range(old.child.shape[0]):
        place[node] = used
        used += code[node] == node
    for node in range(old.child.shape[0]):
        if code[node] != node:
            continue
        row, filled = place[node], 0
        new.axis[row] = old.axis[node]
        for slot in range(TREE_WIDTH):
            kept = _kept(old.child[node, slot], number, code)
            if kept != EMPTY:
                new.child[row, filled] = place[kept] if kept >= 0 else -2 - number[-2 - kept]
                for k in range(2 * HIGH):
                    new.bounds[row, k, filled] = old.bounds[node, k, slot]
                filled += 1
        _empty_slots(new.bounds, row, filled)
    return used


@inlined
def _kept(child: int, number: Int32Array, code: Int32Array) -> int:
    """What is left of a child, by its old number: a node, an item, or nothing."""
    if child >= 0:
        below: int = code[child]
        return below
    return child if child != EMPTY and number[-2 - child] >= 0 else EMPTY


@inlined
def _empty_slots(bounds: Float32Array, node: int, filled: int) -> None:
    """Give the slots from `filled` on a box that intersects nothing."""
    for slot in range(filled, TREE_WIDTH):
        for k in range(HIGH):
            bounds[node, k, slot], bounds[node, HIGH + k, slot] = inf, -inf


def grafted(tree: Tree, new: Int32Array, low: Float64Array, high: Float64Array, items: int) -> Tree:
    """The tree of `items` items with those of the numbers `new` (k,), whose boxes are `low`, `high` (k, 3).

    Boxes above them are large enough in the space of the tree, which the new ones may leave.
    """
    if len(new) == 0:
        return tree._replace(items=items)
    added, before = build(low, high), len(tree.child)
    if tree.items == 0:
        return renumbered(added, new, items)
    more = Nodes(added.child, added.axis, fitted_bounds(added.child, low, high, tree.space))
    nodes = _empty_nodes(before + len(new) + len(added.child))
    nodes.child[:before], nodes.axis[:before], nodes.bounds[:before] = tree.child, tree.axis, tree.bounds
    sizes, stack = np.empty((2, len(added.child) + 1), np.int32)
    scratch = Scratch(sizes, stack, np.empty(len(nodes.child), np.int32))
    used = _graft(nodes, before, more, new, scratch)
    return _finished(tree, nodes, used, items)


class Scratch(NamedTuple):
    """Work arrays of `_graft`."""

    sizes: Column[np.int32]  # (nodes that come,): how many items are below each
    stack: Column[np.int32]  # (nodes that come + 1,): those still to be put
    source: Column[np.int32]  # (all nodes,): of a copied node, the one it is a copy of


Box: TypeAlias = tuple[float, float, float, float, float, float]
"""Low and high corner, in the frame of the tree."""


@compiled_loop
def _graft(nodes: Nodes, used: int, more: Nodes, new: Column[np.int32], scratch: Scratch) -> int:
    """Put the branches of `more` with at most LARGEST_BRANCH items into `nodes`; how many nodes these have then."""
    sizes, stack = scratch.sizes, scratch.stack
    for node in range(more.child.shape[0] - 1, -1, -1):
        size = 0
        for slot in range(TREE_WIDTH):
            code = more.child[node, slot]
            if code >= 0:
                size += sizes[code]
            elif code != EMPTY:
                size += 1
        sizes[node] = size
    stack[0], top = 0, 1
    while top > 0:
        top -= 1
        node = stack[top]
        if 1 < sizes[node] <= LARGEST_BRANCH:
            used = _put_branch(nodes, used, more, node, new, scratch.source)
            continue
        for slot in range(TREE_WIDTH):
            code = more.child[node, slot]
            if code >= 0:
                stack[top] = code
                top += 1
            elif code != EMPTY:
                place, used = _slot_for(nodes, used, _box(more.bounds, node, slot, slot + 1))
                nodes.child[place // TREE_WIDTH, place % TREE_WIDTH] = -2 - new[-2 - code]
    return used


@compiled
def _put_branch(nodes: Nodes, used: int, more: Nodes, branch: int, new: Int32Array, source: Int32Array) -> int:
    """Put a copy of a branch of `more` into a slot of `nodes`; how many nodes these have then."""
    place, used = _slot_for(nodes, used, _box(more.bounds, branch, 0, TREE_WIDTH))
    nodes.child[place // TREE_WIDTH, place % TREE_WIDTH] = used
    copy, source[used] = used, branch
    used += 1
    while copy < used:
        node = source[copy]
        nodes.axis[copy] = more.axis[node]
        for slot in range(TREE_WIDTH):
            code = more.child[node, slot]
            for k in range(2 * HIGH):
                nodes.bounds[copy, k, slot] = more.bounds[node, k, slot]
            if code >= 0:
                nodes.child[copy, slot], source[used] = used, code
                used += 1
            elif code != EMPTY:
                nodes.child[copy, slot] = -2 - new[-2 - code]
        copy += 1
    return used


@compiled
def _slot_for(nodes: Nodes, used: int, box: Box) -> tuple[int, int]:
    """An empty slot for a box, 8 · node + slot, and how many nodes there are then; bounds of it and above are written.

    The first empty one on the way down through the slots that grow least with the box. A full node whose slots would
    all grow more than two of them take together, gets an empty one: these two go into a node of their own.
    """
    node = 0
    while True:
        best, least = 0, inf
        for slot in range(TREE_WIDTH):
            if nodes.child[node, slot] == EMPTY:
                _set_box(nodes.bounds, node, slot, box)
                return node * TREE_WIDTH + slot, used
            old = _box(nodes.bounds, node, slot, slot + 1)
            growth = _half_area(_union(old, box)) - _half_area(old)
            if growth < least:
                best, least = slot, growth
        first, second, area = _closest_pair(nodes.bounds, node)
        if area < least:
            _make_pair(nodes, node, first, second, used)
            _set_box(nodes.bounds, node, second, box)
            return node * TREE_WIDTH + second, used + 1
        old = _box(nodes.bounds, node, best, best + 1)
        _set_box(nodes.bounds, node, best, _union(old, box))
        if nodes.child[node, best] < 0:  # an item
            nodes.child[used, 0], nodes.child[node, best] = nodes.child[node, best], used
            _set_box(nodes.bounds, used, 0, old)
            _empty_slots(nodes.bounds, used, 1)
            used += 1
        node = nodes.child[node, best]


@compiled
def _closest_pair(bounds: Float32Array, node: int) -> tuple[int, int, float]:
    """Of a full node, the two slots around which a box is least, and half its area."""
    first, second, least = 0, 1, inf
    for i in range(TREE_WIDTH):
        for j in range(i + 1, TREE_WIDTH):
            area = _half_area(_union(_box(bounds, node, i, i + 1), _box(bounds, node, j, j + 1)))
            if area < least:
                first, second, least = i, j, area
    return first, second, least


@inlined
def _make_pair(nodes: Nodes, node: int, first: int, second: int, used: int) -> None:
    """Put the children of two slots of a node into node `used`, which takes the first one's slot."""
    one, other = _box(nodes.bounds, node, first, first + 1), _box(nodes.bounds, node, second, second + 1)
    nodes.child[used, 0], nodes.child[used, 1] = nodes.child[node, first], nodes.child[node, second]
    _set_box(nodes.bounds, used, 0, one)
    _set_box(nodes.bounds, used, 1, other)
    _empty_slots(nodes.bounds, used, 2)
    nodes.child[node, first] = used
    _set_box(nodes.bounds, node, first, _union(one, other))


@inlined
def _box(bounds: Float32Array, node: int, first: int, last: int) -> Box:
    """The box around the slots from `first` to `last` of a node."""
    x, y, z = bounds[node, 0, first], bounds[node, 1, first], bounds[node, 2, first]
    u, v, w = bounds[node, HIGH, first], bounds[node, HIGH + 1, first], bounds[node, HIGH + 2, first]
    for slot in range(first + 1, last):
        x, y, z = min(x, bounds[node, 0, slot]), min(y, bounds[node, 1, slot]), min(z, bounds[node, 2, slot])
        u, v = max(u, bounds[node, HIGH, slot]), max(v, bounds[node, HIGH + 1, slot])
        w = max(w, bounds[node, HIGH + 2, slot])
    return x, y, z, u, v, w


@inlined
def _set_box(bounds: Float32Array, node: int, slot: int, box: Box) -> None:
    """Write the bounds of a slot."""
    for k in range(2 * HIGH):
        bounds[node, k, slot] = box[k]


@inlined
def _union(a: Box, b: Box) -> Box:
    """The box around both."""
    return (
        min(a[0], b[0]), min(a[1], b[1]), min(a[2], b[2]),
        max(a[3], b[3]), max(a[4], b[4]), max(a[5], b[5]),
    )  # fmt: skip


@inlined
def _half_area(box: Box) -> float:
    """Half the surface area of a box."""
    x, y, z = box[3] - box[0], box[4] - box[1], box[5] - box[2]
    return x * y + y * z + z * x


def _finished(tree: Tree, nodes: Nodes, used: int, items: int) -> Tree:
    """The tree of the first `used` nodes, put in the order of their levels."""
    ordered = _empty_nodes(used)._replace(child=aligned((used, TREE_WIDTH), np.int32))
    deepest = int(_sort_by_level(nodes, ordered, np.zeros(used, np.int32), np.ones(used, np.int32)))
    for column in ordered:
        column.flags.writeable = False
    child, axis, bounds = ordered
    return tree._replace(bounds=bounds, child=child, items=items, axis=axis, stack_size=deepest * (TREE_WIDTH - 1) + 2)


@compiled_loop
def _sort_by_level(nodes: Nodes, ordered: Nodes, source: Column[np.int32], level: Column[np.int32]) -> int:
    """Write the nodes in the order of their levels; how many levels. `source` and `level` begin as zeros and ones.

    Children have larger indices than their parents then.
    """
    used = 1
    for node in range(ordered.child.shape[0]):
        old = source[node]
        ordered.axis[node] = nodes.axis[old]
        for slot in range(TREE_WIDTH):
            code = nodes.child[old, slot]
            for k in range(2 * HIGH):
                ordered.bounds[node, k, slot] = nodes.bounds[old, k, slot]
            if code >= 0:
                source[used], level[used], code = code, level[node] + 1, used
                used += 1
            ordered.child[node, slot] = code
    deepest: int = level[ordered.child.shape[0] - 1]
    return deepest
