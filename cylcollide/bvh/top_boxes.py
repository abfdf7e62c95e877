"""The boxes at the top of the tree, each tested for eight of many points at once.

Most points are near few of the root's children; all points near one share loads of its bounds. Lists below are shorter.
"""

from cylcollide._types import Float32Array, Int32Array
from cylcollide.bvh.layout import EMPTY, Tree
from cylcollide.bvh.ray_node_pairs import Pairs, deepest
from cylcollide.constants import BLOCK_RAYS, TREE_WIDTH
from cylcollide.runtime.compile import noinline
from cylcollide.runtime.simd import LANES, append_where, broadcast, larger, load, smaller, store

PLACES = BLOCK_RAYS + LANES
"""Length of the rows of `write_near_places`. It is a constant, so that one address serves all rows."""


@noinline
def begin_at_top(tree: Tree, count: int, place: Float32Array, pairs: Pairs) -> tuple[int, int]:
    """Make the pairs of points and the nodes near them among the children of the root's children.

    Returns their level, and the number of items found above it. The last four rows of `place` are a buffer.
    """
    child, below, used, items = tree.child, min(2, len(pairs.node) - 1), 0, 0
    for k in range(count):
        pairs.ray[0, k] = k
    place[3, count : count + LANES] = -1.0  # near nothing
    for slot in range(TREE_WIDTH):
        code = child[0, slot]
        if code < 0:
            if code != EMPTY:
                items = _append_near(tree, slot, code, place, 0, pairs.ray[0], count, pairs.item, pairs.item_ray, items)
            continue
        ids = pairs.ray[1]
        listed = _append_near(tree, slot, code, place, 0, pairs.ray[0], count, pairs.node[1], ids, 0)
        for row in range(4):
            for k in range(listed):
                place[4 + row, k] = place[row, ids[k]]
        place[7, listed : listed + LANES] = -1.0
        for k in range(TREE_WIDTH):
            box, item = code * 6 * TREE_WIDTH + k, child[code, k]
            if item >= 0:
                used = _append_near(tree, box, item, place, 4, ids, listed, pairs.node[below], pairs.ray[below], used)
            elif item != EMPTY:
                items = _append_near(tree, box, item, place, 4, ids, listed, pairs.item, pairs.item_ray, items)
    pairs.queued[0] = pairs.queued[1] = 0
    pairs.queued[below] = used
    return deepest(pairs, below), items


@noinline
def _append_near(
    tree: Tree, box: int, code: int, place: Float32Array, row: int, ids: Int32Array, count: int, codes: Int32Array,
    rays: Int32Array, used: int,
) -> int:  # fmt: skip
    """Append pairs of a code and each listed point that is near its box; returns the new number of pairs."""
    bounds, numbers, first, codes_of_all = tree.bounds.reshape(-1), place.reshape(-1), row * PLACES, float(code)
    x0, y0, z0 = broadcast(bounds[box]), broadcast(bounds[box + TREE_WIDTH]), broadcast(bounds[box + 2 * TREE_WIDTH])
    box += 3 * TREE_WIDTH
    x1, y1, z1 = broadcast(bounds[box]), broadcast(bounds[box + TREE_WIDTH]), broadcast(bounds[box + 2 * TREE_WIDTH])
    for k in range(first, first + count, LANES):
        x, y, z = load(numbers, k), load(numbers, k + PLACES), load(numbers, k + 2 * PLACES)
        x = x - smaller(larger(x, x0), x1)
        y = y - smaller(larger(y, y0), y1)
        z = z - smaller(larger(z, z0), z1)
        store(codes, used, broadcast(codes_of_all))
        used += append_where(rays, used, ids, k - first, x * x + y * y + z * z <= load(numbers, k + 3 * PLACES))
    return used
