"""Points walk the tree together, as pairs of a point and a node: the pairs of one level make those of the next.

What a pair leads to is packed behind what the pair before it led to, without a branch on it. A walk of one point waits
at every node for a guess of what comes next; pairs do not wait for each other. The deepest level is worked off first,
so many pairs at a time, which bounds how many there can be.
"""

from typing import NamedTuple

import numpy as np

from cylcollide._types import TREE_WIDTH, Float32Array, Float64Array, Int32Array, Int64Array
from cylcollide.compiling import compiled, merged
from cylcollide.simd import LANES, append_where, load, load_triples, opposite, prefetch, spread, store, with_sign
from cylcollide.tree.layout import Space, Tree
from cylcollide.tree.walk import local_point

STEP = 512
"""Pairs that are worked off at a time: enough to hide what each of them waits for, and in the first cache."""

AHEAD = 16
"""So many pairs before its turn, a node is fetched into the cache."""


class Pairs(NamedTuple):
    """Pairs of a point and a node that are to be looked at, level by level, and pairs of a point and an item."""

    place: Float32Array  # (3, points): points in the frame of the tree
    node: Int32Array  # (levels, STEP * 8 + 8)
    point: Int32Array  # (levels, STEP * 8 + 8)
    waiting: Int64Array  # (levels,): how many pairs there are
    item: Int32Array  # (STEP * 8 + 8,): codes of items, as in `Tree.child`
    item_point: Int32Array  # (STEP * 8 + 8,)


def levels_of(tree: Tree) -> int:
    """How many levels of pairs there can be: one a level of nodes, and one that stays empty."""
    return (tree.stack_size - 2) // (TREE_WIDTH - 1) + 1


def make_pairs(levels: int, points: int) -> Pairs:
    """Room for so many points in any walk of a tree with so many levels."""
    room = max(STEP * TREE_WIDTH, points) + LANES
    node, point = np.empty((2, levels, room), np.int32)  # worst case; memory that is not touched costs nothing
    item, item_point = np.empty((2, room), np.int32)
    return Pairs(np.empty((3, points), np.float32), node, point, np.zeros(levels, np.int64), item, item_point)


@merged
def start_pairs(space: Space, points: Float64Array, begin: int, end: int, pairs: Pairs) -> int:
    """Pair the points from `begin` to `end` with the root; the level to look at first."""
    place, room, count = pairs.place, pairs.place.shape[1], end - begin
    eights = count - count % LANES
    for k in range(0, eights, LANES):
        x, y, z = local_point(space, load_triples(points, 3 * (begin + k)))
        store(place, k, x)
        store(place, room + k, y)
        store(place, 2 * room + k, z)
    for k in range(eights, count):
        i = begin + k
        place[0, k], place[1, k], place[2, k] = local_point(space, (points[i, 0], points[i, 1], points[i, 2]))
    for k in range(count):
        pairs.node[0, k], pairs.point[0, k] = 0, k
    pairs.waiting[0] = count
    return 0 if count > 0 else -1


@compiled
def next_items_at_points(tree: Tree, pairs: Pairs, level: int) -> tuple[int, int]:
    """Look at pairs of the deepest level that has any: the next such level, -1 at the end, and the items met.

    So many items have a box that holds a point: `pairs.item` has their codes and `pairs.item_point` the points, counted
    from the first one.
    """
    bounds, child = tree.bounds, tree.child.reshape(-1)
    signs = child.view(np.float32)  # of codes: an item has a minus
    x, y, z = pairs.place[0], pairs.place[1], pairs.place[2]
    nodes, points, waiting = pairs.node[level], pairs.point[level], pairs.waiting
    inner, inner_point, item, item_point = pairs.node[level + 1], pairs.point[level + 1], pairs.item, pairs.item_point
    zero = spread(np.float32(0.0))
    end, inners, items = waiting[level], 0, 0
    first = max(end - STEP, 0)
    for k in range(first, end):
        coming = nodes[min(k + AHEAD, end - 1)]
        for line in range(0, 6 * TREE_WIDTH, 2 * TREE_WIDTH):
            prefetch(bounds, coming * 6 * TREE_WIDTH + line)
        prefetch(child, coming * TREE_WIDTH)
        code, point = nodes[k], points[k]
        px, py, pz = spread(x[point]), spread(y[point]), spread(z[point])
        base, slots = code * 6 * TREE_WIDTH, code * TREE_WIDTH
        above = (load(bounds, base) <= px) & (load(bounds, base + 8) <= py) & (load(bounds, base + 16) <= pz)
        below = (px <= load(bounds, base + 24)) & (py <= load(bounds, base + 32)) & (pz <= load(bounds, base + 40))
        holds, is_item = above & below, with_sign(1.0, load(signs, slots)) < zero
        me = spread(np.float32(point))
        store(inner_point, inners, me)
        store(item_point, items, me)
        inners += append_where(inner, inners, child, slots, holds & opposite(is_item))
        items += append_where(item, items, child, slots, holds & is_item)
    waiting[level], waiting[level + 1] = first, inners
    level += 1
    while level >= 0 and waiting[level] == 0:
        level -= 1
    return level, items
