"""Traversal by many points at once, as pairs of a point and a node."""

from collections.abc import Callable
from typing import TypeVar

from cylcollide._types import Float32Array, Float64Array
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.ray_node_pairs import Pairs, next_pairs
from cylcollide.bvh.traverse import in_boxes, local_point
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import LANES, Truth, broadcast, load_triples, store

Query = TypeVar("Query")
Found = TypeVar("Found")


@inlined
def visit_at_points(
    tree: Tree, points: Float64Array, begin: int, end: int, place: Float32Array, pairs: Pairs,
    visit: Callable[[Query, int, int, Found], Found], query: Query, found: Found,
) -> Found:  # fmt: skip
    """Visit each item with each of the points, rows `begin` to `end`, that its box contains.

    `visit(query, item, i, found)` returns what is found by then. `place` (3, points) and `pairs` are buffers.
    """
    count, stride = end - begin, place.shape[1]
    for k in range(0, count - LANES + 1, LANES):
        x, y, z = local_point(tree.space, load_triples(points, 3 * (begin + k)))
        store(place, k, x)
        store(place, stride + k, y)
        store(place, 2 * stride + k, z)
    for k in range(count - count % LANES, count):
        i = begin + k
        place[0, k], place[1, k], place[2, k] = local_point(tree.space, (points[i, 0], points[i, 1], points[i, 2]))
    for k in range(count):
        pairs.node[0, k], pairs.ray[0, k] = 0, k
    pairs.queued[0], level = count, 0 if count > 0 else -1
    while level >= 0:
        level, met = next_pairs(tree, pairs, level, _in_boxes_of, (tree.bounds, place))
        for k in range(met):
            found = visit(query, -2 - pairs.item[k], begin + pairs.item_ray[k], found)
    return found


@inlined
def _in_boxes_of(query: tuple[Float32Array, Float32Array], base: int, k: int) -> Truth:
    """Which of a node's boxes contain point k."""
    bounds, place = query
    return in_boxes(bounds, base, (broadcast(place[0, k]), broadcast(place[1, k]), broadcast(place[2, k])))
