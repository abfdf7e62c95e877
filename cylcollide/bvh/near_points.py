"""Traversals about points: the items near a point or a segment, the nearest first, or near each of many points.

Whether a box is near is decided in float32, in the frame of the tree; reaches are padded by more than its rounding.
"""

from collections.abc import Callable
from math import sqrt
from typing import Any, TypeVar

import numpy as np

from cylcollide._types import Float32Array, Float64Array, Int32Array
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.ray_node_pairs import (
    Pairs,
    begin_at_root,
    next_pairs,
    prefetch_node,
    visit_pairs,
)
from cylcollide.bvh.top_boxes import PLACES, begin_at_top
from cylcollide.bvh.traverse import Stack, Vector, broadcast_float32, local_point, visit_all
from cylcollide.constants import BOX_PAD, FARTHEST_BOX, FARTHEST_START, SMALLEST_BATCH, TREE_WIDTH
from cylcollide.runtime.compile import inlined, noinline
from cylcollide.runtime.simd import (
    LANES,
    Real,
    Truth,
    absolute,
    broadcast,
    first_least,
    larger,
    load,
    load_triples,
    lowest_bit,
    movemask,
    select,
    smaller,
    square_root,
    store,
)

Query = TypeVar("Query")
Place = TypeVar("Place")
Found = TypeVar("Found")

FARTHEST_REACH = 2.0**60
"""Upper limit of distances in the frame of the tree: its square is finite in float32, and empty slots are beyond it."""
FARTHEST_SQUARE = FARTHEST_REACH * FARTHEST_REACH

ALL_SLOTS = (1 << TREE_WIDTH) - 1

BALL_ERROR = 4.0
"""In units of BOX_PAD, 64 · 2⁻²⁴ of the size: the error of a segment's distance from balls is at most 35 · 2⁻²⁴."""

BALL_PAD = BALL_ERROR * BOX_PAD
"""This error relative to the sizes of boxes outside of [-1, 1], and to the distances to them."""


@inlined
def is_near_tree(local: Vector) -> Truth:
    """Whether float32 resolves the distances of a point, in the frame of the tree, from boxes."""
    return larger(larger(absolute(local[0]), absolute(local[1])), absolute(local[2])) <= FARTHEST_START


@inlined
def size_about(local: Vector) -> Real:
    """The size to which float32 errors of lengths around a point in the frame of the tree are proportional."""
    return 1.0 + larger(larger(absolute(local[0]), absolute(local[1])), absolute(local[2]))


@inlined
def reach_from(size: Real, scale: float, reach: Real) -> Real:
    """A signed distance in metres, converted to the frame of the tree and padded by more than float32 errors."""
    return smaller(reach * scale + BOX_PAD * (size + absolute(reach) * scale), FARTHEST_REACH)


@inlined
def signed_squares(bounds: Float32Array, base: int, point: Vector) -> Any:
    """Squares of a point's distances from the surfaces of a node's eight boxes, times -1 where it is inside.

    A limb in a box is no nearer than the box, and contains the point no deeper than the box does.
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
def near_boxes(bounds: Float32Array, base: int, point: Vector, square: Any) -> Truth:
    """Whether each of a node's eight boxes is within a distance of the point, whose square is given."""
    x, y, z = point
    x = x - smaller(larger(x, load(bounds, base)), load(bounds, base + 3 * TREE_WIDTH))
    y = y - smaller(larger(y, load(bounds, base + TREE_WIDTH)), load(bounds, base + 4 * TREE_WIDTH))
    z = z - smaller(larger(z, load(bounds, base + 2 * TREE_WIDTH)), load(bounds, base + 5 * TREE_WIDTH))
    return x * x + y * y + z * z <= square  # type: ignore[no-any-return]


@inlined
def visit_nearest(
    tree: Tree, stack: Stack, point: Vector, reach: float, visit: Callable[[Query, int, Found], tuple[Found, float]],
    query: Query, found: Found,
) -> Found:  # fmt: skip
    """Visit the items whose boxes are within a reach, in metres, of a point, approximately the nearest first.

    The reach is a signed distance. `visit` returns the new `found` and the new reach.
    """
    local = local_point(tree.frame, point)
    if not is_near_tree(local):
        return visit_all(tree, visit, query, found)
    place, size = broadcast_float32(local), size_about(local)
    return visit_by_distance(tree, stack, place, size, signed_squares, reach, visit, query, found)


@inlined
def visit_by_distance(
    tree: Tree, stack: Stack, place: Place, size: float, squares_from: Callable[[Float32Array, int, Place], Any],
    reach: float, visit: Callable[[Query, int, Found], tuple[Found, float]], query: Query, found: Found,
) -> Found:  # fmt: skip
    """`visit_nearest` of a place in the frame of the tree; `squares_from` computes its signed squares from eight boxes.

    The squares err by at most `BOX_PAD` times `size`.
    """
    # per level: the squares from the boxes of a node, the node, and a mask of its slots that are left
    bounds, entries, codes, scale, level = tree.bounds, stack.entry, stack.code, tree.frame.scale, 0
    far = reach_from(size, scale, reach)
    limit = np.float32(far * abs(far))
    store(entries, 0, squares_from(bounds, 0, place))
    codes[0], codes[1] = 0, ALL_SLOTS
    while level >= 0:
        near: Any = load(entries, level * TREE_WIDTH) <= limit
        slots = codes[2 * level + 1] & movemask(near)
        if slots == 0:
            level -= 1
            continue
        slot = nearest_slot(entries, level * TREE_WIDTH, slots)
        codes[2 * level + 1] = slots & ~(1 << slot)
        code = tree.child[codes[2 * level], slot]
        if code < 0:
            found, reach = visit(query, -2 - code, found)
            far = reach_from(size, scale, reach)
            limit = np.float32(far * abs(far))
            continue
        level += 1
        store(entries, level * TREE_WIDTH, squares_from(bounds, code * 6 * TREE_WIDTH, place))
        codes[2 * level], codes[2 * level + 1] = code, ALL_SLOTS
    return found


@inlined
def nearest_slot(squares: Float32Array, first: int, slots: int) -> int:
    """The slot with the least number, of those whose bits are set in `slots`, at least one."""
    slot = lowest_bit(slots)
    least, slots = squares[first + slot], slots & (slots - 1)
    while slots != 0:
        other = lowest_bit(slots)
        square, slots = squares[first + other], slots & (slots - 1)
        if square < least:
            least, slot = square, other
    return slot


@inlined
def visit_nearest_to_segment(
    tree: Tree, stack: Stack, start: Vector, step: Vector, limit: float, reach: float,
    visit: Callable[[Query, int, Found], tuple[Found, float]], query: Query, found: Found,
) -> Found:  # fmt: skip
    """`visit_nearest` of the segment from `start` to `start` + limit · step; the limit may be infinite.

    The distance from the ball around a box bounds the distance from the box from below.
    """
    local, length = local_point(tree.frame, start), sqrt(step[0] * step[0] + step[1] * step[1] + step[2] * step[2])
    if not is_near_tree(local):
        return visit_all(tree, visit, query, found)
    per_length = 1.0 / length if length > 0.0 else 0.0
    u, v, w = step[0] * per_length, step[1] * per_length, step[2] * per_length
    far = limit * length * tree.frame.scale if length > 0.0 else 0.0
    t = min(max(-(local[0] * u + local[1] * v + local[2] * w), 0.0), far)
    place = (local[0] + t * u, local[1] + t * v, local[2] + t * w)  # of the segment, nearest to the tree's centre
    before, behind = np.float32(min(t, FARTHEST_REACH)), np.float32(min(far - t, FARTHEST_REACH))
    segment = broadcast_float32(place), broadcast_float32((u, v, w)), -before, behind
    size = BALL_ERROR * size_about(place)
    return visit_by_distance(tree, stack, segment, size, squares_from_balls, reach, visit, query, found)


@inlined
def squares_from_balls(bounds: Float32Array, base: int, segment: tuple[Vector, Vector, np.float32, np.float32]) -> Any:
    """Signed squares of a segment's distances from the balls around a node's eight boxes."""
    place, (u, v, w), first, last = segment
    x, wide = middle_of(bounds, base, place[0])
    y, deep = middle_of(bounds, base + TREE_WIDTH, place[1])
    z, high = middle_of(bounds, base + 2 * TREE_WIDTH, place[2])
    t = smaller(larger(x * u + y * v + z * w, first), last)
    x, y, z = x - t * u, y - t * v, z - t * w
    apart, radius = square_root(x * x + y * y + z * z), square_root(wide * wide + deep * deep + high * high)
    way: Any = absolute(t)
    beyond = apart - radius - np.float32(BALL_PAD) * (apart + radius + way)
    return beyond * absolute(beyond)


@inlined
def middle_of(bounds: Float32Array, base: int, place: Real) -> tuple[Any, Any]:
    """Along one axis, the middles of eight boxes relative to a place, and their half widths."""
    farthest, half = np.float32(FARTHEST_BOX), np.float32(0.5)
    low, high = load(bounds, base), load(bounds, base + 3 * TREE_WIDTH)  # a width may be infinite, a middle not
    return half * (larger(low, -farthest) + smaller(high, farthest)) - place, half * (high - low)


@noinline
def write_near_places(
    tree: Tree, points: Float64Array, radii: Float64Array, begin: int, end: int, place: Float32Array
) -> None:
    """Write `place_in_tree` of points and radii, one radius each or one for all; `place` is (4, PLACES)."""
    count, stride = end - begin, place.shape[1]
    for k in range(0, count - LANES + 1, LANES):
        radius = load(radii, begin + k) if radii.size > 1 else broadcast(radii[0])
        x, y, z, square = place_in_tree(tree, load_triples(points, 3 * (begin + k)), radius)
        store(place, k, x)
        store(place, stride + k, y)
        store(place, 2 * stride + k, z)
        store(place, 3 * stride + k, square)
    for k in range(count - count % LANES, count):
        i = begin + k
        point, radius = (points[i, 0], points[i, 1], points[i, 2]), radii[i if radii.size > 1 else 0]
        place[0, k], place[1, k], place[2, k], place[3, k] = place_in_tree(tree, point, radius)


@inlined
def visit_near_places(
    tree: Tree, begin: int, end: int, place: Float32Array, pairs: Pairs,
    visit: Callable[[Query, int, int, Found], Found], query: Query, found: Found,
) -> Found:  # fmt: skip
    """`visit_at_points` with boxes near each point of `write_near_places`. `visit` may shorten the points' reaches."""
    count = end - begin
    start = begin_at_top(tree, count, place, pairs) if count >= SMALLEST_BATCH else (begin_at_root(pairs, count), 0)
    return visit_pairs(tree, begin, place, pairs, start, _next_near, visit, query, found)


@inlined
def descend_to_nearest(tree: Tree, count: int, place: Float32Array, codes: Int32Array) -> None:
    """Write for each point the code of the item that a descent into the child with the nearest box leads to.

    All points advance level by level, so that loads of one overlap the work of others.
    """
    codes[:count] = 0
    is_going = count > 0
    while is_going:
        is_going = False
        for k in range(count):
            if codes[k] >= 0:
                point = broadcast(place[0, k]), broadcast(place[1, k]), broadcast(place[2, k])
                slot = first_least(signed_squares(tree.bounds, codes[k] * 6 * TREE_WIDTH, point))
                codes[k] = tree.child[codes[k], slot]
                if codes[k] >= 0:
                    prefetch_node(tree, codes[k])
                    is_going = True


@inlined
def place_in_tree(tree: Tree, point: Vector, radius: Real) -> tuple[Real, Real, Real, Real]:
    """A point in the frame of the tree, and the square of its reach, which includes all boxes if it is far away.

    A negative radius, as for a point inside a limb, counts as 0.
    """
    local = local_point(tree.frame, point)
    near, reach = is_near_tree(local), larger(reach_from(size_about(local), tree.frame.scale, radius), 0.0)
    x, y, z = select(near, local[0], 0.0), select(near, local[1], 0.0), select(near, local[2], 0.0)
    return x, y, z, select(near, reach * reach, FARTHEST_SQUARE)


@noinline
def _next_near(tree: Tree, place: Float32Array, pairs: Pairs, level: int) -> tuple[int, int]:
    """`next_pairs` of points and the boxes near them; as a separate function, its variables fit into registers."""
    return next_pairs(tree, pairs, level, _near_boxes_of, (tree.bounds, place))


@inlined
def _near_boxes_of(query: tuple[Float32Array, Float32Array], base: int, k: int) -> Truth:
    """Which of a node's boxes are near point k."""
    bounds, place = query
    numbers = place.reshape(-1)
    point = broadcast(numbers[k]), broadcast(numbers[k + PLACES]), broadcast(numbers[k + 2 * PLACES])
    return near_boxes(bounds, base, point, broadcast(numbers[k + 3 * PLACES]))
