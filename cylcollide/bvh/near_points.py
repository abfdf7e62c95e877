"""Traversals about points: the items near a point, the nearest first, or near each of many points.

Whether a box is near is decided in float32, in the frame of the tree; reaches are longer by more than its rounding.
"""

from collections.abc import Callable
from math import inf
from typing import Any, TypeVar

import numpy as np

from cylcollide._types import Float32Array, Float64Array
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.ray_node_pairs import Pairs, begin_at_root, next_pairs
from cylcollide.bvh.traverse import Stack, Vector, broadcast_float32, local_point, push_sorted
from cylcollide.constants import BOX_PAD, FARTHEST_START, TREE_WIDTH
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import (
    Real,
    Truth,
    absolute,
    broadcast,
    larger,
    load,
    movemask,
    smaller,
    store,
)

Query = TypeVar("Query")
Found = TypeVar("Found")

FARTHEST_REACH = 2.0**60
"""Stands in for larger distances in the frame of the tree: its square is a float32, and no empty slot is within it."""


@inlined
def is_near_tree(local: Vector) -> Truth:
    """Whether float32 can tell how far a point in the frame of the tree is from boxes."""
    return larger(larger(absolute(local[0]), absolute(local[1])), absolute(local[2])) <= FARTHEST_START


@inlined
def reach_from(local: Vector, scale: float, reach: Real) -> Real:
    """A signed distance in metres in the frame of the tree, larger by more than float32 errs about the point."""
    size = 1.0 + larger(larger(absolute(local[0]), absolute(local[1])), absolute(local[2]))
    return smaller(reach * scale + BOX_PAD * (size + absolute(reach) * scale), FARTHEST_REACH)


@inlined
def signed_squares(bounds: Float32Array, base: int, point: Vector) -> Any:
    """Squares of a point's distances from the surfaces of a node's eight boxes, times -1 where it is inside.

    No limb in a box is nearer than the box, and none that holds the point has it deeper than the box has.
    """
    x, y, z = point
    zero = np.float32(0.0)
    x = larger(load(bounds, base) - x, x - load(bounds, base + 3 * TREE_WIDTH))
    y = larger(load(bounds, base + TREE_WIDTH) - y, y - load(bounds, base + 4 * TREE_WIDTH))
    z = larger(load(bounds, base + 2 * TREE_WIDTH) - z, z - load(bounds, base + 5 * TREE_WIDTH))
    inside = smaller(larger(larger(x, y), z), zero)
    x, y, z = larger(x, zero), larger(y, zero), larger(z, zero)
    return x * x + y * y + z * z - inside * inside


@inlined
def near_boxes(bounds: Float32Array, base: int, point: Vector, reach: Any) -> Truth:
    """Whether each of a node's eight boxes, grown by a reach, contains the point."""
    x, y, z = point
    above = (
        (load(bounds, base) - x <= reach)
        & (load(bounds, base + TREE_WIDTH) - y <= reach)
        & (load(bounds, base + 2 * TREE_WIDTH) - z <= reach)
    )
    below = (
        (x - load(bounds, base + 3 * TREE_WIDTH) <= reach)
        & (y - load(bounds, base + 4 * TREE_WIDTH) <= reach)
        & (z - load(bounds, base + 5 * TREE_WIDTH) <= reach)
    )
    return above & below  # type: ignore[no-any-return]


@inlined
def visit_nearest(
    tree: Tree, stack: Stack, point: Vector, reach: float, visit: Callable[[Query, int, Found], tuple[Found, float]],
    query: Query, found: Found,
) -> Found:  # fmt: skip
    """Visit the items whose boxes are not farther from a point than a reach in metres, about the nearest first.

    The reach is a signed distance. `visit` returns what is found by then, and the reach from there on.
    """
    local, scale = local_point(tree.frame, point), tree.frame.scale
    if not is_near_tree(local):
        for k in range(tree.items):
            found, _ = visit(query, tree.items - 1 - k, found)
        return found
    bounds, codes, nears = tree.bounds, stack.code, stack.near
    place = broadcast_float32(local)
    far = reach_from(local, scale, reach)
    limit = np.float32(far * abs(far))
    codes[0], nears[0], height = 0, -inf, 1
    while height > 0:
        height -= 1
        code = codes[height]
        if nears[height] > limit:
            continue
        if code < 0:
            found, reach = visit(query, -2 - code, found)
            far = reach_from(local, scale, reach)
            limit = np.float32(far * abs(far))
            continue
        squares = signed_squares(bounds, code * 6 * TREE_WIDTH, place)
        store(stack.entry, 0, squares)
        height = push_sorted(stack, tree.child, code, movemask(squares <= limit), height)
    return found


@inlined
def visit_near_points(
    tree: Tree, points: Float64Array, radii: Float64Array, begin: int, end: int, place: Float32Array, pairs: Pairs,
    visit: Callable[[Query, int, int, Found], Found], query: Query, found: Found,
) -> Found:  # fmt: skip
    """`visit_at_points` with boxes grown by a radius of each point, or of all; `place` is (4, points)."""
    for k in range(end - begin):
        i = begin + k
        radius = radii[i if radii.size > 1 else 0]
        local = local_point(tree.frame, (points[i, 0], points[i, 1], points[i, 2]))
        if is_near_tree(local):
            place[0, k], place[1, k], place[2, k] = local
            place[3, k] = reach_from(local, tree.frame.scale, radius)
        else:  # all boxes are within 2 of its centre
            place[0, k], place[1, k], place[2, k], place[3, k] = 0.0, 0.0, 0.0, 4.0
    level = begin_at_root(pairs, end - begin)
    while level >= 0:
        level, met = next_pairs(tree, pairs, level, _near_boxes_of, (tree.bounds, place))
        for k in range(met):
            found = visit(query, -2 - pairs.item[k], begin + pairs.item_ray[k], found)
    return found


@inlined
def _near_boxes_of(query: tuple[Float32Array, Float32Array], base: int, k: int) -> Truth:
    """Which of a node's boxes, grown by its reach, contain point k."""
    bounds, place = query
    reach = broadcast(place[3, k])
    x, y, z = broadcast(place[0, k]), broadcast(place[1, k]), broadcast(place[2, k])
    return near_boxes(bounds, base, (x, y, z), reach)
