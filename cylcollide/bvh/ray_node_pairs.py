"""Pairs of a traveller, which is a ray or a point, and a node: those of one level make those of the next.

What a pair leads to is packed behind what the pair before it led to, without a branch on it. A walk of one traveller
waits at every node for a guess of what comes next, and for the memory that the node is in; pairs do not wait for each
other. The deepest level is worked off first, so many pairs at a time, which bounds how many there can be.
"""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Float32Array, Int32Array, Int64Array
from cylcollide.bvh.layout import Tree
from cylcollide.constants import TREE_WIDTH
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import LANES, Truth, append_where, broadcast, load, logical_not, prefetch, store, with_sign

STEP = 512
"""Pairs that are worked off at a time: enough to hide what each of them waits for, and in the first cache."""

AHEAD = 16
"""So many pairs before its turn, a node is fetched into the cache."""


class Pairs(NamedTuple):
    """Pairs of a traveller and a node that are still to be looked at, and of a traveller and an item."""

    node: Int32Array  # (levels, room)
    ray: Int32Array  # (levels, room)
    queued: Int64Array  # (levels,): how many pairs there are
    item: Int32Array  # (room,): codes of items, as in `Tree.child`
    item_ray: Int32Array  # (room,)


def levels_of(tree: Tree) -> int:
    """How many levels of pairs there can be: one a level of nodes, and one that stays empty."""
    return (tree.stack_size - 2) // (TREE_WIDTH - 1) + 1


def make_pairs(levels: int, first: int) -> Pairs:
    """Room for so many pairs to begin with, in any walk of a tree with so many levels."""
    room = max(STEP * TREE_WIDTH, first) + LANES
    node, who = np.zeros((2, levels, room), np.int32)  # worst case; memory that is not touched costs nothing
    item, item_who = np.zeros((2, room), np.int32)
    return Pairs(node, who, np.zeros(levels, np.int64), item, item_who)


@inlined
def fetch_node(tree: Tree, code: int) -> None:
    """Let the cache fetch a node."""
    for line in range(0, 6 * TREE_WIDTH, 2 * TREE_WIDTH):
        prefetch(tree.bounds, code * 6 * TREE_WIDTH + line)
    prefetch(tree.child, code * TREE_WIDTH)


@inlined
def push_children(
    tree: Tree,
    signs: Float32Array,
    code: int,
    who: int,
    meets: Truth,
    pairs: Pairs,
    level: int,
    inners: int,
    items: int,
) -> tuple[int, int]:
    """Pair somebody with the children of a node that they meet: nodes of the next level, and items; how many both are.

    `signs` are the codes of the children, read as float32: an item has a minus.
    """
    child, slots, me = tree.child, code * TREE_WIDTH, broadcast(np.float32(who))
    is_item = with_sign(1.0, load(signs, slots)) < broadcast(np.float32(0.0))
    store(pairs.ray[level + 1], inners, me)
    store(pairs.item_ray, items, me)
    inners += append_where(pairs.node[level + 1], inners, child, slots, meets & logical_not(is_item))
    items += append_where(pairs.item, items, child, slots, meets & is_item)
    return inners, items


@inlined
def deepest(pairs: Pairs, level: int) -> int:
    """The deepest level that has any pairs, from this one on up; -1 if none has."""
    while level >= 0 and pairs.queued[level] == 0:
        level -= 1
    return level
