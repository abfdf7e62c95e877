"""Pairs of a ray (or a point) and a node: testing the pairs of one level of the tree gives those of the next.

The children a ray intersects are appended without a branch. The traversal of a single ray stalls at every node, on
mispredicted branches and on loads of nodes; pairs are independent of each other, so the stalls of one overlap the work
of others. The deepest level is processed first, `STEP` pairs at a time, which bounds the number of pairs.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from cylcollide._types import Column, Rows
from cylcollide.bvh.layout import Tree
from cylcollide.constants import TREE_WIDTH
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import LANES, Truth, append_where, broadcast, load, logical_not, prefetch, store, with_sign

Query = TypeVar("Query")

STEP = 512
"""Pairs processed at a time: enough to hide the latency of each, few enough for the first-level cache."""

AHEAD = 16
"""How many pairs in advance a node is prefetched into the cache."""


class Pairs(NamedTuple):
    """Pairs of a ray (or a point) and a node still to be tested, by level, and of a ray and an item."""

    node: Rows[np.int32]  # (levels, capacity)
    ray: Rows[np.int32]  # (levels, capacity)
    queued: Column[np.int64]  # (levels,): number of pairs
    item: Column[np.int32]  # (capacity,): codes of items, as in `Tree.child`
    item_ray: Column[np.int32]  # (capacity,)


def levels_of(tree: Tree) -> int:
    """Number of levels of pairs: one a level of nodes, and one that stays empty."""
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

    `overlaps(query, base, ray)` says which of the eight boxes at number `base` of the tree's bounds a ray intersects.
    The level is -1 when no pairs are left. `pairs.item` holds the codes of the items, `pairs.item_ray` their rays.
    """
    nodes, rays, end = pairs.node[level], pairs.ray[level], pairs.queued[level]
    begin, node_count, item_count = max(end - STEP, 0), 0, 0
    child, codes = tree.child, tree.child.reshape(-1).view(np.float32)  # read as float32, an item's has a minus sign
    for k in range(begin, end):
        prefetch_node(tree, nodes[min(k + AHEAD, end - 1)])
        slots, ray, lanes_of_ray = nodes[k] * TREE_WIDTH, rays[k], broadcast(np.float32(rays[k]))
        met = overlaps(query, slots * 6, ray)
        is_item = with_sign(1.0, load(codes, slots)) < broadcast(np.float32(0.0))
        store(pairs.ray[level + 1], node_count, lanes_of_ray)
        store(pairs.item_ray, item_count, lanes_of_ray)
        node_count += append_where(pairs.node[level + 1], node_count, child, slots, met & logical_not(is_item))
        item_count += append_where(pairs.item, item_count, child, slots, met & is_item)
    pairs.queued[level], pairs.queued[level + 1] = begin, node_count
    return deepest(pairs, level + 1), item_count


@inlined
def deepest(pairs: Pairs, level: int) -> int:
    """The deepest level with pairs, at most `level`; -1 if there is none."""
    while level >= 0 and pairs.queued[level] == 0:
        level -= 1
    return level
