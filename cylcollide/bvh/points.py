"""Points walk the tree together, as pairs of a point and a node."""

import numpy as np

from cylcollide._types import Float32Array, Float64Array
from cylcollide.bvh.layout import Space, Tree
from cylcollide.bvh.ray_node_pairs import AHEAD, STEP, Pairs, deepest, fetch_node, push_children
from cylcollide.bvh.traverse import local_point
from cylcollide.constants import TREE_WIDTH
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.simd import LANES, broadcast, load, load_triples, store


@inlined
def start_pairs(space: Space, points: Float64Array, begin: int, end: int, place: Float32Array, pairs: Pairs) -> int:
    """Pair the points from `begin` to `end` with the root; the level to look at first.

    Where they are in the frame of the tree is written into `place`, (3, points).
    """
    room, count = place.shape[1], end - begin
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
        pairs.node[0, k], pairs.ray[0, k] = 0, k
    pairs.queued[0] = count
    return 0 if count > 0 else -1


@compiled
def next_items_at_points(tree: Tree, place: Float32Array, pairs: Pairs, level: int) -> tuple[int, int]:
    """Look at pairs of the deepest level that has any: the next such level, -1 at the end, and the items met.

    So many items have a box that holds a point: `pairs.item` has their codes and `pairs.item_ray` the points, counted
    from the first one.
    """
    bounds, signs = tree.bounds, tree.child.reshape(-1).view(np.float32)
    x, y, z = place[0], place[1], place[2]
    nodes, points = pairs.node[level], pairs.ray[level]
    end, inners, items = pairs.queued[level], 0, 0
    first = max(end - STEP, 0)
    for k in range(first, end):
        fetch_node(tree, nodes[min(k + AHEAD, end - 1)])
        code, point = nodes[k], points[k]
        px, py, pz = broadcast(x[point]), broadcast(y[point]), broadcast(z[point])
        base = code * 6 * TREE_WIDTH
        above = (load(bounds, base) <= px) & (load(bounds, base + 8) <= py) & (load(bounds, base + 16) <= pz)
        below = (px <= load(bounds, base + 24)) & (py <= load(bounds, base + 32)) & (pz <= load(bounds, base + 40))
        inners, items = push_children(tree, signs, code, point, above & below, pairs, level, inners, items)
    pairs.queued[level], pairs.queued[level + 1] = first, inners
    return deepest(pairs, level + 1), items
