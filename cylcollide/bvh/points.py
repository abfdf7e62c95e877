"""Traversal by many points at once, as pairs of a point and a node."""

import numpy as np

from cylcollide._types import Float32Array, Float64Array
from cylcollide.bvh.layout import Space, Tree
from cylcollide.bvh.ray_node_pairs import AHEAD, STEP, Pairs, deepest, prefetch_node, push_children
from cylcollide.bvh.traverse import in_boxes, local_point
from cylcollide.constants import TREE_WIDTH
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.simd import LANES, broadcast, load_triples, store


@inlined
def start_pairs(space: Space, points: Float64Array, begin: int, end: int, place: Float32Array, pairs: Pairs) -> int:
    """Pair the points from row `begin` to `end` with the root. Returns the first level to process, -1 without points.

    Their coordinates in the frame of the tree are written into `place`, (3, points).
    """
    stride, count = place.shape[1], end - begin
    eights = count - count % LANES
    for k in range(0, eights, LANES):
        x, y, z = local_point(space, load_triples(points, 3 * (begin + k)))
        store(place, k, x)
        store(place, stride + k, y)
        store(place, 2 * stride + k, z)
    for k in range(eights, count):
        i = begin + k
        place[0, k], place[1, k], place[2, k] = local_point(space, (points[i, 0], points[i, 1], points[i, 2]))
    for k in range(count):
        pairs.node[0, k], pairs.ray[0, k] = 0, k
    pairs.queued[0] = count
    return 0 if count > 0 else -1


@compiled
def next_items_at_points(tree: Tree, place: Float32Array, pairs: Pairs, level: int) -> tuple[int, int]:
    """Process up to `STEP` pairs of the deepest level that has any. Returns the next such level and a number of items.

    The level is -1 when no pairs are left. So many items have a box that contains a point: `pairs.item` holds their
    codes, `pairs.item_ray` the points as columns of `place`.
    """
    bounds, signs = tree.bounds, tree.child.reshape(-1).view(np.float32)
    x, y, z = place[0], place[1], place[2]
    nodes, points = pairs.node[level], pairs.ray[level]
    end, node_count, item_count = pairs.queued[level], 0, 0
    first = max(end - STEP, 0)
    for k in range(first, end):
        prefetch_node(tree, nodes[min(k + AHEAD, end - 1)])
        code, point = nodes[k], points[k]
        px, py, pz = broadcast(x[point]), broadcast(y[point]), broadcast(z[point])
        base = code * 6 * TREE_WIDTH
        inside = in_boxes(bounds, base, (px, py, pz))
        node_count, item_count = push_children(tree, signs, code, point, inside, pairs, level, node_count, item_count)
    pairs.queued[level], pairs.queued[level + 1] = first, node_count
    return deepest(pairs, level + 1), item_count
