"""Patch: remove items from a tree and insert others, without a build of the whole.

Removed items leave empty slots; an only child replaces its node. Inserted items are built into a tree of their
own, whose branches are inserted where the boxes above grow least.
"""

from math import inf

import numpy as np

from cylcollide._types import Column, Float32Array, Float64Array, Int32Array
from cylcollide.bvh.build import arranged, build
from cylcollide.bvh.layout import EMPTY, HIGH, Box, Tree
from cylcollide.bvh.refit import fit_bounds, set_box
from cylcollide.constants import LARGEST_BRANCH, TREE_WIDTH
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.memory import aligned, frozen


def patched(
    tree: Tree, number: Int32Array | None, new: Int32Array, low: Float64Array, high: Float64Array, items: int
) -> Tree:
    """The tree of `items` items, some of them from the given tree and others new.

    `number` (tree.items,) has the new number of each item of the tree, -1 to remove it; None: all keep their numbers.
    `new` (k,) are the numbers of the inserted items, `low` and `high` (k, 3) their boxes. The result is in the frame of
    the given tree, which new items may leave; if that tree is empty, in a frame of their own.
    """
    if tree.items == 0 < len(new):
        return patched(build(low, high), new, new[:0], low[:0], high[:0], items)
    code, axis, *_ = arranged(low, high) if len(new) else (tree.child[:0], tree.axis[:0])
    before, more = len(tree.child), len(code)
    room = before + more + (len(new) if len(new) > LARGEST_BRANCH else 1)  # an insertion may need a node for a pair
    nodes = tree._replace(
        child=np.empty((room, TREE_WIDTH), np.int32), axis=np.zeros(room, np.int8),
        bounds=np.empty((room, 2 * HIGH, TREE_WIDTH), np.float32),
    )  # fmt: skip
    nodes.child[:before], nodes.axis[:before], nodes.bounds[:before] = tree.child, tree.axis, tree.bounds
    nodes.child[before:] = EMPTY
    if number is not None:
        _remove(nodes, number, np.empty(before, np.int32), np.empty(before, np.bool_))
    if more:
        part = slice(before, before + more)
        nodes.child[part], nodes.axis[part] = np.where(code >= 0, code + before, code), axis
        fit_bounds(code, low, high, tree.frame, nodes.bounds[part])
        _insert(nodes, new, before, before + more, *np.empty((2, room), np.int32))
    return _in_order(nodes, items)


@compiled_loop
def _remove(nodes: Tree, number: Column[np.int32], instead: Column[np.int32], shrunk: Column[np.bool_]) -> None:
    """Renumber or remove the items, remove nodes with fewer than two children, and refit the boxes above them.

    `instead` and `shrunk` (nodes,) are scratch: what replaces a node (itself, its only child, or nothing), and whether
    its box has shrunk.
    """
    for node in range(instead.size - 1, -1, -1):  # children have larger indices than their parents
        children, only, smaller = 0, EMPTY, False
        for slot in range(TREE_WIDTH):
            code = nodes.child[node, slot]
            if code >= 0:
                if shrunk[code]:
                    smaller = True
                    set_box(nodes.bounds, node, slot, _box(nodes.bounds, code, 0, TREE_WIDTH))
                code = instead[code]
            elif code != EMPTY and number[-2 - code] >= 0:
                code = -2 - number[-2 - code]
            elif code != EMPTY:
                code, smaller = EMPTY, True
                _clear_slots(nodes.bounds, node, slot, slot + 1)
            nodes.child[node, slot] = code
            if code != EMPTY:
                children, only = children + 1, code
        instead[node], shrunk[node] = node if children > 1 or node == 0 else only, smaller


@inlined
def _clear_slots(bounds: Float32Array, node: int, first: int, last: int) -> None:
    """Give the slots from `first` to `last` a box that intersects nothing."""
    for slot in range(first, last):
        set_box(bounds, node, slot, (inf, inf, inf, -inf, -inf, -inf))


@compiled_loop
def _insert(
    nodes: Tree, new: Column[np.int32], first: int, last: int, sizes: Column[np.int32], stack: Column[np.int32]
) -> None:
    """Insert the branches, of at most LARGEST_BRANCH items, of the tree in nodes `first` to `last` into that of node 0.

    Their item i becomes item `new[i]`. `sizes` and `stack` are scratch, one number per node: the number of items below
    it, and the nodes still to be inserted.
    """
    for node in range(last - 1, first - 1, -1):
        size = 0
        for slot in range(TREE_WIDTH):
            code = nodes.child[node, slot]
            if code >= 0:
                size += sizes[code]
            elif code != EMPTY:
                nodes.child[node, slot] = -2 - new[-2 - code]
                size += 1
        sizes[node] = size
    stack[0], top, used = first, 1, last
    while top > 0:
        top -= 1
        node = stack[top]
        if 1 < sizes[node] <= LARGEST_BRANCH:
            used = _put(nodes, used, node, _box(nodes.bounds, node, 0, TREE_WIDTH))
            continue
        for slot in range(TREE_WIDTH):
            code = nodes.child[node, slot]
            if code >= 0:
                stack[top] = code
                top += 1
            elif code != EMPTY:
                used = _put(nodes, used, code, _box(nodes.bounds, node, slot, slot + 1))


@compiled
def _put(nodes: Tree, used: int, code: int, box: Box) -> int:
    """Put a branch or an item into an empty slot below node 0, and grow the boxes above; returns the nodes in use.

    The slot is the first empty one on the way down through the slots that grow least with the box. If every slot of a
    full node would grow by more than the joint area of the closest pair, that pair is merged, and the freed slot used.
    """
    node = 0
    while True:
        best, least = 0, inf
        for slot in range(TREE_WIDTH):
            if nodes.child[node, slot] == EMPTY:
                nodes.child[node, slot] = code
                set_box(nodes.bounds, node, slot, box)
                return used
            old = _box(nodes.bounds, node, slot, slot + 1)
            growth = _half_area(_union(old, box)) - _half_area(old)
            if growth < least:
                best, least = slot, growth
        first, second, area = _closest_pair(nodes.bounds, node)
        if area < least:
            _merge(nodes, node, first, second, used)
            nodes.child[node, second] = code
            set_box(nodes.bounds, node, second, box)
            return used + 1
        old = _box(nodes.bounds, node, best, best + 1)
        set_box(nodes.bounds, node, best, _union(old, box))
        if nodes.child[node, best] < 0:  # an item
            nodes.child[used, 0], nodes.child[node, best] = nodes.child[node, best], used
            set_box(nodes.bounds, used, 0, old)
            _clear_slots(nodes.bounds, used, 1, TREE_WIDTH)
            used += 1
        node = nodes.child[node, best]


@compiled
def _closest_pair(bounds: Float32Array, node: int) -> tuple[int, int, float]:
    """The two slots of a full node whose joint box has the least surface area, and half that area."""
    first, second, least = 0, 1, inf
    for i in range(TREE_WIDTH):
        for j in range(i + 1, TREE_WIDTH):
            area = _half_area(_union(_box(bounds, node, i, i + 1), _box(bounds, node, j, j + 1)))
            if area < least:
                first, second, least = i, j, area
    return first, second, least


@inlined
def _merge(nodes: Tree, node: int, first: int, second: int, used: int) -> None:
    """Put the children of two slots of a node into node `used`, which takes the first one's slot."""
    one, other = _box(nodes.bounds, node, first, first + 1), _box(nodes.bounds, node, second, second + 1)
    nodes.child[used, 0], nodes.child[used, 1] = nodes.child[node, first], nodes.child[node, second]
    set_box(nodes.bounds, used, 0, one)
    set_box(nodes.bounds, used, 1, other)
    _clear_slots(nodes.bounds, used, 2, TREE_WIDTH)
    nodes.child[node, first] = used
    set_box(nodes.bounds, node, first, _union(one, other))


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


def _in_order(nodes: Tree, items: int) -> Tree:
    """The tree of the reachable nodes, in breadth-first order."""
    room = len(nodes.child)
    child: Int32Array = aligned((room, TREE_WIDTH), np.int32, np.empty)
    bounds: Float32Array = aligned((room, 2 * HIGH, TREE_WIDTH), np.float32, np.empty)
    axis, (source, level) = np.empty(room, np.int8), np.empty((2, room), np.int32)
    used = _sort_by_level(nodes, Tree(bounds, child, items, axis, 0, nodes.frame), source, level)
    stack_size = int(level[used - 1]) * (TREE_WIDTH - 1) + 2
    return Tree(frozen(bounds[:used]), frozen(child[:used]), items, frozen(axis[:used]), stack_size, nodes.frame)


@compiled_loop
def _sort_by_level(nodes: Tree, ordered: Tree, source: Column[np.int32], level: Column[np.int32]) -> int:
    """Write the nodes in breadth-first order, the old index of each, and its level; returns their number.

    Then children have larger indices than their parents.
    """
    source[0], level[0], used, node = 0, 1, 1, 0
    while node < used:
        before = source[node]
        ordered.axis[node] = nodes.axis[before]
        for k in range(2 * HIGH):
            for slot in range(TREE_WIDTH):
                ordered.bounds[node, k, slot] = nodes.bounds[before, k, slot]
        for slot in range(TREE_WIDTH):
            code = nodes.child[before, slot]
            if code >= 0:
                source[used], level[used], code = code, level[node] + 1, used
                used += 1
            ordered.child[node, slot] = code
        node += 1
    return used
