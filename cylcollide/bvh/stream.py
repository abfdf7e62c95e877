"""Ray streams: traversal by many rays of one octant at once, with a list of the active rays at each node.

The cost of a node is shared by all rays in its list, and children are visited in the order of their centres along the
octant, not sorted for each ray. Where a list would be short, its rays continue as pairs of a ray and a node
(`ray_node_pairs.py`). At an item, functions are called that the caller passes; they may shorten the reach of each ray.
Source of the lists: C. Wächter, A. Keller and others describe the scheme; see W. Fuetterling et al.,
"Efficient ray tracing kernels for modern CPU architectures", JCGT 4(4), 2015 (dynamic ray streams).
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from cylcollide._types import Column, Float32Array, Int32Array, Rows
from cylcollide.bvh.layout import EMPTY, Tree
from cylcollide.bvh.ray_node_pairs import STEP, Pairs, deepest, levels_of, make_pairs, next_pairs, prefetch_node
from cylcollide.constants import SMALLEST_LIST, TREE_WIDTH
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.memory import aligned
from cylcollide.runtime.simd import (
    LANES,
    append_where,
    broadcast,
    highest_bit,
    larger,
    load,
    load_rows,
    lowest_bit,
    smaller,
    store,
)

Query = TypeVar("Query")

RECIPROCAL, PRODUCT, REACH, EARLIEST, RECORD_SIZE = 0, 3, 6, 7, 8
"""Columns of `Stream.record`, of a vector the first one; see `LocalRay`."""

NO_ITEM = -1
"""In place of an item when there is none."""

MIXED = 8
"""Octant code of rays that have no octant in common."""


class Stream(NamedTuple):
    """The rays of a stream, and the nodes and items they have yet to visit. One per thread."""

    record: Rows[np.float32]  # (rays, RECORD_SIZE)
    far_product: Rows[np.float32]  # (rays, RECORD_SIZE): of thick rays, the products for far planes, in the first three
    live: Column[np.int32]  # lists of rays, one behind the other
    code: Column[np.int32]  # (stack_size,): node or item of each stack entry, as in `Tree.child`
    first: Column[np.int64]  # (stack_size,): where in `live` the entry's list begins
    rays: Column[np.int64]  # (stack_size,): number of rays in the list
    top: Column[np.int64]  # (stack_size,): where the free part of `live` begins when the entry is popped
    children: Column[np.int64]  # (8,): ends of the lists of the children of the node being tested
    lanes: Column[np.float32]  # (8,): 0 to 7
    pairs: Pairs  # of rays whose lists were too short


def make_stream(tree: Tree, rays: int) -> Stream:
    """A stream for this number of rays, deep enough for any traversal of this tree."""
    size, rays = tree.stack_size, -(-rays // (2 * LANES)) * 2 * LANES  # written 2 · LANES at a time
    depth = levels_of(tree)
    # worst case; memory that is not touched costs nothing
    live = np.zeros((rays + LANES) * (1 + TREE_WIDTH * depth), np.int32)
    first, count, top = np.empty((3, size), np.int64)
    record, far_product = aligned((2, rays, RECORD_SIZE), np.float32)
    code, children, lanes = np.empty(size, np.int32), np.empty(8, np.int64), np.arange(LANES, dtype=np.float32)
    pairs = make_pairs(depth, 0)
    return Stream(record, far_product, live, code, first, count, top, children, lanes, pairs)


@inlined
def plane_offsets(octant: int) -> tuple[int, int, int, int, int, int]:
    """Offsets in a node's bounds of the planes across x, y, z through which rays of an octant enter and leave boxes.

    For MIXED rays the low planes and the high planes, which `near_and_far` sorts for each ray.
    """
    near_x = 3 * TREE_WIDTH if octant & 1 else 0
    near_y = 4 * TREE_WIDTH if octant & 2 else TREE_WIDTH
    near_z = 5 * TREE_WIDTH if octant & 4 else 2 * TREE_WIDTH
    return near_x, near_y, near_z, 3 * TREE_WIDTH - near_x, 5 * TREE_WIDTH - near_y, 7 * TREE_WIDTH - near_z


@inlined
def near_and_far(octant: int, first: Any, last: Any, reciprocal: Any, near: Any, far: Any) -> tuple[Any, Any]:
    """When rays enter and leave a slab between planes at `plane_offsets`; `near`, `far`: products for such planes."""
    if octant == MIXED:
        first, last = first * reciprocal, last * reciprocal
        return smaller(first - near, last - near), larger(first - far, last - far)
    return first * reciprocal - near, last * reciprocal - far


@inlined
def visit_on_rays(
    tree: Tree, stream: Stream, active: int, octant: int, thick: bool,
    visit_list: Callable[[Query, int, int, int], int], visit: Callable[[Query, int, int], None],
    flush: Callable[[Query, bool], None], query: Query,
) -> None:  # fmt: skip
    """Visit each item with each of the rays that intersect its box, in lists where they are many.

    Parameters
    ----------
    tree, stream, active
        The tree, and the rays: their records, and their numbers, the first `active` in `live`.
    octant
        The octant of the rays, or MIXED.
    thick
        Whether rays have products for far planes. A compile-time constant, without cost for lines.
    visit_list
        `visit_list(query, item, first, end)` is called with a list of rays, `live[first:end]`. It returns the position
        of the first ray that is left to `visit`.
    visit
        `visit(query, item, ray)` is called with one ray.
    flush
        `flush(query, is_last)` is called after each step, of at most `STEP` pairs with eight items each or a list, and
        after the last one.
    """
    live, pairs = stream.live, stream.pairs
    stream.code[0], stream.first[0], stream.rays[0], stream.top[0] = 0, 0, active, active
    height, level, item, first, end = 1 if active > 0 else 0, -1, NO_ITEM, 0, 0
    while height > 0 or level >= 0:
        if level >= 0:
            rays = tree.bounds, stream.record, stream.far_product
            if thick:
                level, found = next_pairs(tree, pairs, level, _intersects_grown_boxes, rays)
            else:
                level, found = next_pairs(tree, pairs, level, _intersects_boxes, rays)
        else:
            if octant == MIXED:  # a constant: no branch inside
                height, item, first, end, found = next_items_of_stream(tree, stream, height, MIXED, thick)
            else:
                height, item, first, end, found = next_items_of_stream(tree, stream, height, octant, thick)
            level = deepest(pairs, 0) if pairs.queued[0] >= STEP or height == 0 else -1
            if item != NO_ITEM:
                for k in range(visit_list(query, item, first, end), end):
                    visit(query, item, live[k])
        for k in range(found):
            visit(query, -2 - pairs.item[k], pairs.item_ray[k])
        flush(query, False)
    flush(query, True)


@inlined
def no_list(_query: object, _item: int, first: int, _end: int) -> int:
    """A `visit_list` that leaves all rays to `visit`."""
    return first


@inlined
def no_flush(_query: object, _is_last: bool) -> None:
    """A `flush` where nothing is queued."""


@inlined
def next_items_of_stream(
    tree: Tree, stream: Stream, height: int, octant: int, thick: bool
) -> tuple[int, int, int, int, int]:
    """The next item whose box many rays of the stream intersect, and pairs of an item and a ray where few rays do.

    Returns the stack height; the item, NO_ITEM if there is none yet or the traversal has ended; where in `live` the
    list of its rays begins and ends; and the number of pairs in `Pairs.item` and `Pairs.item_ray`.
    """
    near_x, near_y, near_z, far_x, far_y, far_z = plane_offsets(octant)
    planes, child, axes, pairs = tree.bounds.reshape(-1), tree.child, tree.axis, stream.pairs
    record, live, children = stream.record, stream.live, stream.children
    codes, firsts, counts, tops = stream.code, stream.first, stream.rays, stream.top
    lanes = load(stream.lanes, 0)
    item_count, pair_count = 0, pairs.queued[0]
    while height > 0 and item_count < STEP and pair_count < STEP:
        height -= 1
        code, first, count, top = codes[height], firsts[height], counts[height], tops[height]
        if code < 0:
            pairs.queued[0] = pair_count
            return height, -2 - code, first, first + count, item_count

        # eight rays at a time against one box after another; those that intersect it are appended to its list
        base, end, stride = code * 6 * TREE_WIDTH, first + count, -(-count // LANES) * LANES
        for slot in range(TREE_WIDTH):
            children[slot] = top + slot * stride
        for position in range(first, end, LANES):
            rx, ry, rz, px, py, pz, reach, earliest = load_rows(record, live, position, 0)
            gx, gy, gz = px, py, pz
            if thick:
                gx, gy, gz, _, _, _, _, _ = load_rows(stream.far_product, live, position, 0)
            listed = lanes < broadcast(np.float32(end - position))
            for slot in range(TREE_WIDTH):
                if child[code, slot] != EMPTY:
                    k = base + slot
                    x = near_and_far(octant, planes[k + near_x], planes[k + far_x], rx, px, gx)
                    y = near_and_far(octant, planes[k + near_y], planes[k + far_y], ry, py, gy)
                    z = near_and_far(octant, planes[k + near_z], planes[k + far_z], rz, pz, gz)
                    enters = larger(larger(x[0], y[0]), larger(z[0], earliest))
                    leaves = smaller(smaller(x[1], y[1]), z[1])
                    overlaps = listed & (enters <= smaller(leaves, reach))
                    children[slot] += append_where(live, children[slot], live, position, overlaps)
        overlapped = 0
        for slot in range(TREE_WIDTH):
            overlapped |= int(children[slot] > top + slot * stride) << slot

        # children are sorted along one axis of the node: the nearest along the octant is pushed last
        descending = (octant >> axes[code]) & 1
        while overlapped:
            slot = lowest_bit(overlapped) if descending else highest_bit(overlapped)
            overlapped ^= 1 << slot
            begin, child_code = top + slot * stride, child[code, slot]
            ray_count = children[slot] - begin
            if ray_count >= (SMALLEST_LIST if child_code >= 0 else 2 * LANES):
                prefetch_node(tree, max(child_code, 0))
                codes[height], firsts[height], counts[height] = child_code, begin, ray_count
                tops[height] = top + TREE_WIDTH * stride
                height += 1
            elif child_code >= 0:
                pair_count = append_pairs(pairs.node, pairs.ray, pair_count, child_code, live, begin, ray_count, lanes)
            else:
                item_count = append_pairs(
                    pairs.item, pairs.item_ray, item_count, child_code, live, begin, ray_count, lanes
                )
    pairs.queued[0] = pair_count
    return height, NO_ITEM, 0, 0, item_count


@inlined
def append_pairs(
    codes: Int32Array, rays: Int32Array, count: int, code: int, live: Int32Array, begin: int, ray_count: int, lanes: Any
) -> int:
    """Append a pair of a node or item and each ray of a list in `live`; returns the number of pairs, `count` so far."""
    for k in range(0, ray_count, LANES):
        store(codes, count, broadcast(float(code)))
        count += append_where(rays, count, live, begin + k, lanes < broadcast(np.float32(ray_count - k)))
    return count


@inlined
def _intersects_boxes(query: tuple[Float32Array, Float32Array, Float32Array], base: int, ray: int) -> Any:
    """Which of a node's boxes a ray, of any octant, intersects within its reach."""
    bounds, record, _ = query
    p = _three(record, ray, PRODUCT)
    return _within_reach(bounds, record, base, ray, p, p)


@inlined
def _intersects_grown_boxes(query: tuple[Float32Array, Float32Array, Float32Array], base: int, ray: int) -> Any:
    """`_intersects_boxes` of a thick ray."""
    bounds, record, far_product = query
    return _within_reach(bounds, record, base, ray, _three(record, ray, PRODUCT), _three(far_product, ray, 0))


@inlined
def _within_reach(
    bounds: Float32Array, record: Float32Array, base: int, ray: int, near: tuple[Any, ...], far: tuple[Any, ...]
) -> Any:
    """Which of a node's boxes a ray, given its products for near and far planes, intersects within its reach."""
    r, low_x, high_x = _three(record, ray, RECIPROCAL), load(bounds, base), load(bounds, base + 3 * TREE_WIDTH)
    low_y, high_y = load(bounds, base + TREE_WIDTH), load(bounds, base + 4 * TREE_WIDTH)
    low_z, high_z = load(bounds, base + 2 * TREE_WIDTH), load(bounds, base + 5 * TREE_WIDTH)
    x = near_and_far(MIXED, low_x, high_x, r[0], near[0], far[0])
    y = near_and_far(MIXED, low_y, high_y, r[1], near[1], far[1])
    z = near_and_far(MIXED, low_z, high_z, r[2], near[2], far[2])
    enters = larger(larger(x[0], y[0]), larger(z[0], broadcast(record[ray, EARLIEST])))
    leaves = smaller(smaller(x[1], y[1]), z[1])
    return (low_x <= high_x) & (enters <= smaller(leaves, broadcast(record[ray, REACH])))  # an empty slot: low > high


@inlined
def _three(matrix: Float32Array, row: int, column: int) -> tuple[Any, ...]:
    """Three numbers of a row, each in eight lanes."""
    return broadcast(matrix[row, column]), broadcast(matrix[row, column + 1]), broadcast(matrix[row, column + 2])
