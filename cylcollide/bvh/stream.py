"""Ray streams: many rays of one octant walk the tree together, a list of the live ones at each node.

What a node costs is shared by all rays in its list, and nothing is sorted ray by ray: a child's turn comes by where it
lies along the octant. Where a list would be short, its rays go on as pairs of a ray and a node (`pairs.py`). The caller
asks for the next items with their rays, and says between two calls how far each ray still matters. Source of the lists:
C. Wächter, A. Keller and others describe the scheme; see W. Fuetterling et al., "Efficient ray tracing kernels for
modern CPU architectures", JCGT 4(4), 2015 (dynamic ray streams).
"""

from typing import Any, NamedTuple

import numpy as np

from cylcollide._types import Float32Array, Int32Array, Int64Array
from cylcollide.bvh.layout import EMPTY, Tree
from cylcollide.bvh.ray_node_pairs import AHEAD, STEP, Pairs, deepest, fetch_node, levels_of, make_pairs, push_children
from cylcollide.bvh.traverse import NO_ITEM
from cylcollide.constants import TREE_WIDTH, WORTH_A_LIST
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

RECORD_SIZE = 8
RECIPROCAL, PRODUCT, REACH = 0, 3, 6
"""Columns of `Stream.record`, a row a ray: three reciprocals, three products (see `LocalRay`), the reach twice."""

MIXED = 8
"""Stands for the octant of rays that have none in common."""


class Stream(NamedTuple):
    """Rays that walk together, and what they have yet to visit. One per thread."""

    record: Float32Array  # (rays, RECORD)
    live: Int32Array  # lists of rays, one above the other
    code: Int32Array  # node, or code of an item, of each entry of the stack
    first: Int64Array  # where in `live` the entry's list begins
    rays: Int64Array  # how many there are in it
    top: Int64Array  # above which `live` is free when it is this entry's turn
    children: Int64Array  # (8,): rays that meet each child of the node at work
    lanes: Float32Array  # (8,): 0 to 7
    pairs: Pairs  # of rays that have left their lists


def make_stream(tree: Tree, rays: int) -> Stream:
    """A stream for so many rays, deep enough for any walk of this tree."""
    size, rays = tree.stack_size, -(-rays // (2 * LANES)) * 2 * LANES  # written twice eight at a time
    depth = (size - 2) // (TREE_WIDTH - 1) + 1
    # worst case; memory that is not touched costs nothing
    live = np.zeros((rays + LANES) * (1 + TREE_WIDTH * depth), np.int32)
    first, count, top = np.empty((3, size), np.int64)
    record = aligned((rays, RECORD_SIZE), np.float32)
    code, children, lanes = np.empty(size, np.int32), np.empty(8, np.int64), np.arange(LANES, dtype=np.float32)
    pairs = make_pairs(levels_of(tree), 0)
    return Stream(record, live, code, first, count, top, children, lanes, pairs)


@inlined
def start_stream(stream: Stream, count: int) -> int:
    """Put the root on the stack for the rays that come first in `live`; the new stack height."""
    stream.code[0] = 0
    stream.first[0], stream.rays[0], stream.top[0] = 0, count, count
    return 1 if count > 0 else 0


@inlined
def planes_met(octant: int) -> tuple[int, int, int, int, int, int]:
    """Where in a node the planes are that rays of an octant meet first, and last, along each axis.

    Of mixed rays, the low ones and the high ones: which is first, each ray has to find out (`in_order`).
    """
    near_x = 3 * TREE_WIDTH if octant & 1 else 0
    near_y = 4 * TREE_WIDTH if octant & 2 else TREE_WIDTH
    near_z = 5 * TREE_WIDTH if octant & 4 else 2 * TREE_WIDTH
    return near_x, near_y, near_z, 3 * TREE_WIDTH - near_x, 5 * TREE_WIDTH - near_y, 7 * TREE_WIDTH - near_z


@inlined
def in_order(octant: int, first: Any, last: Any) -> tuple[Any, Any]:
    """When rays meet two planes across an axis, the earlier one first."""
    if octant == MIXED:
        return smaller(first, last), larger(first, last)
    return first, last


@inlined
def next_items_of_stream(tree: Tree, stream: Stream, height: int, octant: int) -> tuple[int, int, int, int, int]:
    """The next item whose box many rays of the stream meet, and items that few meet.

    Returns the stack height, the item (NO_ITEM: none for now, and at the end of the walk), where in `live` the list of
    its rays begins and how many there are; and how many items, each with a ray, stand in `pairs`.
    """
    near_x, near_y, near_z, far_x, far_y, far_z = planes_met(octant)
    planes, child, axes, pairs = tree.bounds.reshape(-1), tree.child, tree.axis, stream.pairs
    record, live, children = stream.record, stream.live, stream.children
    codes, firsts, counts, tops = stream.code, stream.first, stream.rays, stream.top
    zero, lanes = broadcast(np.float32(0.0)), load(stream.lanes, 0)
    items, waiting = 0, pairs.queued[0]
    while height > 0 and items < STEP and waiting < STEP:
        height -= 1
        code, first, count, top = codes[height], firsts[height], counts[height], tops[height]
        if code < 0:
            pairs.queued[0] = waiting
            return height, -2 - code, first, count, items

        # eight rays against one box after another, those that meet it appended to its list
        base, end, room = code * 6 * TREE_WIDTH, first + count, -(-count // LANES) * LANES
        for slot in range(TREE_WIDTH):
            children[slot] = top + slot * room
        for position in range(first, end, LANES):
            c = load_rows(record, live, position, 0)
            listed = lanes < broadcast(np.float32(end - position))
            for slot in range(TREE_WIDTH):
                if child[code, slot] != EMPTY:
                    k = base + slot
                    x = in_order(octant, planes[k + near_x] * c[0] - c[3], planes[k + far_x] * c[0] - c[3])
                    y = in_order(octant, planes[k + near_y] * c[1] - c[4], planes[k + far_y] * c[1] - c[4])
                    z = in_order(octant, planes[k + near_z] * c[2] - c[5], planes[k + far_z] * c[2] - c[5])
                    enters, leaves = larger(larger(x[0], y[0]), larger(z[0], zero)), smaller(smaller(x[1], y[1]), z[1])
                    meets = listed & (enters <= smaller(leaves, c[6]))
                    children[slot] += append_where(live, children[slot], live, position, meets)
        met_by_any = 0
        for slot in range(TREE_WIDTH):
            met_by_any |= int(children[slot] > top + slot * room) << slot

        # children lie along one axis of the node: the one that is met first comes last, and so goes on top
        falling = (octant >> axes[code]) & 1
        while met_by_any:
            slot = lowest_bit(met_by_any) if falling else highest_bit(met_by_any)
            met_by_any ^= 1 << slot
            begin, below = top + slot * room, child[code, slot]
            members = children[slot] - begin
            if members >= (WORTH_A_LIST if below >= 0 else 2 * LANES):
                fetch_node(tree, max(below, 0))
                codes[height], firsts[height], counts[height] = below, begin, members
                tops[height] = top + TREE_WIDTH * room
                height += 1
            elif below >= 0:
                waiting = split_off_pairs(pairs.node, pairs.ray, waiting, below, live, begin, members, lanes)
            else:
                items = split_off_pairs(pairs.item, pairs.item_ray, items, below, live, begin, members, lanes)
    pairs.queued[0] = waiting
    return height, NO_ITEM, 0, 0, items


@inlined
def split_off_pairs(
    codes: Int32Array, who: Int32Array, count: int, code: int, live: Int32Array, begin: int, members: int, lanes: Any
) -> int:
    """Let the members of a list go on by themselves, each paired with a node or an item; how many pairs there are."""
    for k in range(0, members, LANES):
        store(codes, count, broadcast(float(code)))
        count += append_where(who, count, live, begin + k, lanes < broadcast(np.float32(members - k)))
    return count


@inlined
def next_items_on_rays(tree: Tree, stream: Stream, level: int, octant: int) -> tuple[int, int]:
    """Look at pairs of the deepest level that has any: the next such level, -1 at the end, and the items met.

    So many items have a box that a ray meets: `pairs.item` has their codes and `pairs.item_ray` the rays.
    """
    near_x, near_y, near_z, far_x, far_y, far_z = planes_met(octant)
    bounds, record, pairs, signs = tree.bounds, stream.record, stream.pairs, tree.child.reshape(-1).view(np.float32)
    nodes, rays, zero = pairs.node[level], pairs.ray[level], broadcast(np.float32(0.0))
    end, inners, items = pairs.queued[level], 0, 0
    begin = max(end - STEP, 0)
    for k in range(begin, end):
        fetch_node(tree, nodes[min(k + AHEAD, end - 1)])
        code, ray = nodes[k], rays[k]
        base = code * 6 * TREE_WIDTH
        rx, ry, rz = broadcast(record[ray, 0]), broadcast(record[ray, 1]), broadcast(record[ray, 2])
        px, py, pz = broadcast(record[ray, 3]), broadcast(record[ray, 4]), broadcast(record[ray, 5])
        x = in_order(octant, load(bounds, base + near_x) * rx - px, load(bounds, base + far_x) * rx - px)
        y = in_order(octant, load(bounds, base + near_y) * ry - py, load(bounds, base + far_y) * ry - py)
        z = in_order(octant, load(bounds, base + near_z) * rz - pz, load(bounds, base + far_z) * rz - pz)
        enters, leaves = larger(larger(x[0], y[0]), larger(z[0], zero)), smaller(smaller(x[1], y[1]), z[1])
        full = load(bounds, base) <= load(bounds, base + 3 * TREE_WIDTH)  # of an empty slot low is above high
        meets = full & (enters <= smaller(leaves, broadcast(record[ray, 6])))
        inners, items = push_children(tree, signs, code, ray, meets, pairs, level, inners, items)
    pairs.queued[level], pairs.queued[level + 1] = begin, inners
    return deepest(pairs, level + 1), items
