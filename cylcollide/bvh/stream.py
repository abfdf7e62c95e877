"""Ray streams: traversal by many rays of one octant at once, with a list of the active rays at each node.

The cost of a node is shared by all rays in its list, and children are visited in the order of their centres along the
octant, not sorted for each ray. Where a list would be short, its rays continue as pairs of a ray and a node
(`ray_node_pairs.py`). What happens at an item is up to functions that the caller passes, which may shorten the reach of
each ray. Source of the lists: C. Wächter, A. Keller and others describe the scheme; see W. Fuetterling et al.,
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
"""Columns of `Stream.record`, vectors by their first, see `LocalRay`."""

NO_ITEM = -1
"""In place of an item when there is none."""

MIXED = 8
"""Octant code of rays that have no octant in common."""


class Stream(NamedTuple):
    """The rays of a stream, and the nodes and items they have yet to visit. One a thread."""

    record: Rows[np.float32]  # (rays, RECORD_SIZE)
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
    size, rays = tree.stack_size, -(-rays // (2 * LANES)) * 2 * LANES  # written twice eight at a time
    depth = levels_of(tree)
    # worst case; memory that is not touched costs nothing
    live = np.zeros((rays + LANES) * (1 + TREE_WIDTH * depth), np.int32)
    first, count, top = np.empty((3, size), np.int64)
    record = aligned((rays, RECORD_SIZE), np.float32)
    code, children, lanes = np.empty(size, np.int32), np.empty(8, np.int64), np.arange(LANES, dtype=np.float32)
    pairs = make_pairs(depth, 0)
    return Stream(record, live, code, first, count, top, children, lanes, pairs)


@inlined
def plane_offsets(octant: int) -> tuple[int, int, int, int, int, int]:
    """Offsets in a node's bounds of the planes across x, y, z that rays of an octant enter boxes by, and leave them by.

    For MIXED rays the low planes and the high planes, which `near_and_far` sorts for each ray.
    """
    near_x = 3 * TREE_WIDTH if octant & 1 else 0
    near_y = 4 * TREE_WIDTH if octant & 2 else TREE_WIDTH
    near_z = 5 * TREE_WIDTH if octant & 4 else 2 * TREE_WIDTH
    return near_x, near_y, near_z, 3 * TREE_WIDTH - near_x, 5 * TREE_WIDTH - near_y, 7 * TREE_WIDTH - near_z


@inlined
def near_and_far(octant: int, first: Any, last: Any) -> tuple[Any, Any]:
    """When rays enter and leave a slab, given when they intersect the planes at `plane_offsets`."""
    if octant == MIXED:
        return smaller(first, last), larger(first, last)
    return first, last


@inlined
def visit_on_rays(
    tree: Tree, stream: Stream, active: int, octant: int, visit_list: Callable[[Query, int, int, int], int],
    visit: Callable[[Query, int, int], None], flush: Callable[[Query, bool], None], query: Query,
) -> None:  # fmt: skip
    """Visit each item with each of the rays that intersect its box, in lists where they are many.

    Parameters
    ----------
    tree, stream, active
        The tree, and the rays: their records, and their numbers, the first `active` in `live`.
    octant
        Of the rays, or MIXED.
    visit_list
        `visit_list(query, item, first, end)` is called with a list of rays, `live[first:end]`. It returns the place of
        the first that is left to `visit`.
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
            level, found = next_pairs(tree, pairs, level, _intersects_boxes, (tree.bounds, stream.record))
        else:
            if octant == MIXED:  # a constant: no branch inside
                height, item, first, end, found = next_items_of_stream(tree, stream, height, MIXED)
            else:
                height, item, first, end, found = next_items_of_stream(tree, stream, height, octant)
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
def next_items_of_stream(tree: Tree, stream: Stream, height: int, octant: int) -> tuple[int, int, int, int, int]:
    """The next item whose box many rays of the stream intersect, and pairs of an item and a ray where they are few.

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
            listed = lanes < broadcast(np.float32(end - position))
            for slot in range(TREE_WIDTH):
                if child[code, slot] != EMPTY:
                    k = base + slot
                    x = near_and_far(octant, planes[k + near_x] * rx - px, planes[k + far_x] * rx - px)
                    y = near_and_far(octant, planes[k + near_y] * ry - py, planes[k + far_y] * ry - py)
                    z = near_and_far(octant, planes[k + near_z] * rz - pz, planes[k + far_z] * rz - pz)
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
def _intersects_boxes(query: tuple[Float32Array, Float32Array], base: int, ray: int) -> Any:
    """Which of a node's boxes a ray, of any octant, intersects within its reach."""
    bounds, record = query
    low_x, high_x = load(bounds, base), load(bounds, base + 3 * TREE_WIDTH)
    rx, px = broadcast(record[ray, RECIPROCAL]), broadcast(record[ray, PRODUCT])
    ry, py = broadcast(record[ray, RECIPROCAL + 1]), broadcast(record[ray, PRODUCT + 1])
    rz, pz = broadcast(record[ray, RECIPROCAL + 2]), broadcast(record[ray, PRODUCT + 2])
    x = near_and_far(MIXED, low_x * rx - px, high_x * rx - px)
    y = near_and_far(MIXED, load(bounds, base + TREE_WIDTH) * ry - py, load(bounds, base + 4 * TREE_WIDTH) * ry - py)
    z = near_and_far(
        MIXED, load(bounds, base + 2 * TREE_WIDTH) * rz - pz, load(bounds, base + 5 * TREE_WIDTH) * rz - pz
    )
    enters = larger(larger(x[0], y[0]), larger(z[0], broadcast(record[ray, EARLIEST])))
    leaves = smaller(smaller(x[1], y[1]), z[1])
    return (low_x <= high_x) & (enters <= smaller(leaves, broadcast(record[ray, REACH])))  # an empty slot: low > high
