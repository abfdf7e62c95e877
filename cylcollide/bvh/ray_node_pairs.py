"""Pairs of a ray or point and a node: testing the pairs of one level of the tree gives those of the next.

The children a ray intersects are appended without a branch. The traversal of a single ray stalls at every node, on
mispredicted branches and on loads of nodes; pairs are independent of each other, so the stalls of one overlap the work
of others. The deepest level is processed first, `STEP` pairs at a time, which bounds the number of pairs. Many points
traverse the tree as such pairs from the root on, rays of a stream once their lists are short.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from cylcollide._types import Column, Float32Array, Float64Array, Rows
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.traverse import in_boxes, local_point
from cylcollide.constants import TREE_WIDTH
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import (
    LANES,
    Truth,
    append_where,
    broadcast,
    load,
    load_triples,
    logical_not,
    prefetch,
    store,
    with_sign,
)

Query = TypeVar("Query")
Found = TypeVar("Found")

STEP = 512
"""Pairs processed at a time: enough to hide the latency of each, few enough for the first-level cache."""

PREFETCH_DISTANCE = 16
"""How many pairs in advance a node is prefetched into the cache."""


class Pairs(NamedTuple):
    """Pairs of a ray (or a point) and a node still to be tested, by level, and of a ray and an item."""

    node: Rows[np.int32]  # (levels, capacity)
    ray: Rows[np.int32]  # (levels, capacity)
    queued: Column[np.int64]  # (levels,): number of pairs
    item: Column[np.int32]  # (capacity,): codes of items, as in `Tree.child`
    item_ray: Column[np.int32]  # (capacity,)


def levels_of(tree: Tree) -> int:
    """Number of levels of pairs: one per level of nodes, and one that stays empty."""
    return (tree.stack_size - 2) // (TREE_WIDTH - 1) + 1


def make_pairs(levels: int, first: int) -> Pairs:
    """Empty pairs for a traversal of a tree with `levels` levels that begins with at most `first` pairs."""
    capacity = max(STEP * TREE_WIDTH, first) + LANES
    node, ray = np.zeros((2, levels, capacity), np.int32)  # worst case; memory that is not touched costs nothing
    item, item_ray = np.zeros((2, capacity), np.int32)
    return Pairs(node, ray, np.zeros(levels, np.int64), item, item_ray)


@inlined
def prefetch_node(tree: Tree, code: int) -> None:
    """Prefetch a node's bounds and child codes into the cache."""
    for line in range(0, 6 * TREE_WIDTH, 2 * TREE_WIDTH):
        prefetch(tree.bounds, code * 6 * TREE_WIDTH + line)
    prefetch(tree.child, code * TREE_WIDTH)


@inlined
def next_pairs(
    tree: Tree, pairs: Pairs, level: int, overlaps: Callable[[Query, int, int], Truth], query: Query
) -> tuple[int, int]:
    """Process up to `STEP` pairs of the deepest level that has any. Returns the next such level and a number of items.

    `overlaps(query, base, ray)` returns which of the eight boxes at number `base` of the tree's bounds a ray overlaps.
    The level is -1 when no pairs are left. `pairs.item` holds the codes of the items, `pairs.item_ray` their rays.
    """
    nodes, rays, end = pairs.node[level], pairs.ray[level], pairs.queued[level]
    begin, node_count, item_count = max(end - STEP, 0), 0, 0
    child, codes = tree.child, tree.child.reshape(-1).view(np.float32)  # read as float32, an item's has a minus sign
    for k in range(begin, end):
        prefetch_node(tree, nodes[min(k + PREFETCH_DISTANCE, end - 1)])
        slots, ray, lanes_of_ray = nodes[k] * TREE_WIDTH, rays[k], broadcast(np.float32(rays[k]))
        overlapping = overlaps(query, slots * 6, ray)
        is_item = with_sign(1.0, load(codes, slots)) < broadcast(np.float32(0.0))
        store(pairs.ray[level + 1], node_count, lanes_of_ray)
        store(pairs.item_ray, item_count, lanes_of_ray)
        node_count += append_where(pairs.node[level + 1], node_count, child, slots, overlapping & logical_not(is_item))
        item_count += append_where(pairs.item, item_count, child, slots, overlapping & is_item)
    pairs.queued[level], pairs.queued[level + 1] = begin, node_count
    return deepest(pairs, level + 1), item_count


@inlined
def deepest(pairs: Pairs, level: int) -> int:
    """The deepest level with pairs, at most `level`; -1 if there is none."""
    while level >= 0 and pairs.queued[level] == 0:
        level -= 1
    return level


@inlined
def begin_at_root(pairs: Pairs, count: int) -> int:
    """Make the pairs of `count` rays or points with the root; returns their level, -1 if there are none."""
    for k in range(count):
        pairs.node[0, k], pairs.ray[0, k] = 0, k
    pairs.queued[0] = count
    return 0 if count > 0 else -1


@inlined
def visit_at_points(
    tree: Tree, points: Float64Array, begin: int, end: int, place: Float32Array, pairs: Pairs,
    visit: Callable[[Query, int, int, Found], Found], query: Query, found: Found,
) -> Found:  # fmt: skip
    """Visit each item with each of the points, rows `begin` to `end`, that its box contains.

    `visit(query, item, i, found)` returns the new `found`. `place` (3, points) and `pairs` are buffers.
    """
    count, stride = end - begin, place.shape[1]
    for k in range(0, count - LANES + 1, LANES):
        x, y, z = local_point(tree.frame, load_triples(points, 3 * (begin + k)))
        store(place, k, x)
        store(place, stride + k, y)
        store(place, 2 * stride + k, z)
    for k in range(count - count % LANES, count):
        i = begin + k
        place[0, k], place[1, k], place[2, k] = local_point(tree.frame, (points[i, 0], points[i, 1], points[i, 2]))
    start = begin_at_root(pairs, count), 0
    return visit_pairs(tree, begin, place, pairs, start, _next_in_boxes, visit, query, found)


@inlined
def visit_pairs(
    tree: Tree, begin: int, place: Float32Array, pairs: Pairs, start: tuple[int, int],
    next_of: Callable[[Tree, Float32Array, Pairs, int], tuple[int, int]],
    visit: Callable[[Query, int, int, Found], Found], query: Query, found: Found,
) -> Found:  # fmt: skip
    """`visit_at_points` of points in the frame of the tree; `next_of` is `next_pairs` with a test of boxes.

    `start`: the level of the first pairs, and the number of items found already.
    """
    level, item_count = start
    while level >= 0 or item_count > 0:
        for k in range(item_count):
            found = visit(query, -2 - pairs.item[k], begin + pairs.item_ray[k], found)
        item_count = 0
        if level >= 0:
            level, item_count = next_of(tree, place, pairs, level)
    return found


@inlined
def _next_in_boxes(tree: Tree, place: Float32Array, pairs: Pairs, level: int) -> tuple[int, int]:
    """`next_pairs` of points and the boxes that contain them."""
    return next_pairs(tree, pairs, level, _in_boxes_of, (tree.bounds, place))


@inlined
def _in_boxes_of(query: tuple[Float32Array, Float32Array], base: int, k: int) -> Truth:
    """Which of a node's boxes contain point k."""
    bounds, place = query
    return in_boxes(bounds, base, (broadcast(place[0, k]), broadcast(place[1, k]), broadcast(place[2, k])))
