"""Ray streams: many rays of one octant walk the tree together, a list of the live ones at each node.

What a node costs is shared by all rays in its list, and nothing is sorted ray by ray: a child's turn comes by where it
lies along the octant. The caller asks for the next item with its list, and says between two calls how far each ray
still matters. Source: C. Wächter, A. Keller and others describe the scheme; see W. Fuetterling et al., "Efficient ray
tracing kernels for modern CPU architectures", JCGT 4(4), 2015 (dynamic ray streams).
"""

from typing import NamedTuple

import numpy as np

from cylcollide._types import TREE_WIDTH, WORTH_A_VECTOR, Float32Array, Int32Array, Int64Array
from cylcollide.compiling import merged
from cylcollide.lending import aligned
from cylcollide.simd import (
    LANES,
    append_where,
    bits,
    highest_bit,
    larger,
    load,
    load_rows,
    lowest_bit,
    prefetch,
    smaller,
    spread,
)
from cylcollide.tree.layout import EMPTY, Tree
from cylcollide.tree.walk import NO_ITEM

RECORD = 8
"""Numbers a ray: three reciprocals, three products (see `LocalRay`), the reach, and nothing."""


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


def make_stream(tree: Tree, rays: int) -> Stream:
    """A stream for so many rays, deep enough for any walk of this tree."""
    size, rays = tree.stack_size, -(-rays // (2 * LANES)) * 2 * LANES  # written twice eight at a time
    depth = (size - 2) // (TREE_WIDTH - 1) + 1
    # worst case; memory that is not touched costs nothing
    live = np.zeros((rays + LANES) * (1 + TREE_WIDTH * depth), np.int32)
    first, count, top = np.empty((3, size), np.int64)
    record = aligned((rays, RECORD), np.float32)
    code, children, lanes = np.empty(size, np.int32), np.empty(8, np.int64), np.arange(LANES, dtype=np.float32)
    return Stream(record, live, code, first, count, top, children, lanes)


@merged
def start_stream(stream: Stream, count: int) -> int:
    """Put the root on the stack for the rays that come first in `live`; the new stack height."""
    stream.code[0] = 0
    stream.first[0], stream.rays[0], stream.top[0] = 0, count, count
    return 1 if count > 0 else 0


@merged
def next_item_of_stream(tree: Tree, stream: Stream, height: int, octant: int) -> tuple[int, int, int, int]:
    """The next item whose box any ray of the stream meets.

    Returns the stack height, the item (NO_ITEM at the end of the walk), and where in `live` the list of its rays begins
    and how many there are.
    """
    near_x = 3 * TREE_WIDTH if octant & 1 else 0
    near_y = 4 * TREE_WIDTH if octant & 2 else TREE_WIDTH
    near_z = 5 * TREE_WIDTH if octant & 4 else 2 * TREE_WIDTH
    far_x, far_y, far_z = 3 * TREE_WIDTH - near_x, 5 * TREE_WIDTH - near_y, 7 * TREE_WIDTH - near_z
    bounds, planes, child, axes = tree.bounds, tree.bounds.reshape(-1), tree.child, tree.axis
    record, live, children = stream.record, stream.live, stream.children
    codes, firsts, counts, tops = stream.code, stream.first, stream.rays, stream.top
    zero, lanes = spread(np.float32(0.0)), load(stream.lanes, 0)
    while height > 0:
        height -= 1
        code, first, count, top = codes[height], firsts[height], counts[height], tops[height]
        if code < 0:
            return height, -2 - code, first, count

        # eight rays against one box after another, those that meet it appended to its list
        base, end, room = code * 6 * TREE_WIDTH, first + count, -(-count // LANES) * LANES
        for slot in range(TREE_WIDTH):
            children[slot] = top + slot * room
        rest = count % LANES
        for position in range(first, end if rest >= WORTH_A_VECTOR else end - rest, LANES):
            c = load_rows(record, live, position, 0)
            listed = lanes < spread(np.float32(end - position))
            for slot in range(TREE_WIDTH):
                if child[code, slot] != EMPTY:
                    k = base + slot
                    x, y, z = planes[k + near_x], planes[k + near_y], planes[k + near_z]
                    enters = larger(larger(x * c[0] - c[3], y * c[1] - c[4]), larger(z * c[2] - c[5], zero))
                    x, y, z = planes[k + far_x], planes[k + far_y], planes[k + far_z]
                    leaves = smaller(smaller(x * c[0] - c[3], y * c[1] - c[4]), z * c[2] - c[5])
                    meets = listed & (enters <= smaller(leaves, c[6]))
                    children[slot] += append_where(live, children[slot], live, position, meets)

        # a few that are left: one ray after another against all eight boxes
        low_x, low_y, low_z = load(bounds, base + near_x), load(bounds, base + near_y), load(bounds, base + near_z)
        high_x, high_y, high_z = load(bounds, base + far_x), load(bounds, base + far_y), load(bounds, base + far_z)
        for position in range(end - rest if rest < WORTH_A_VECTOR else end, end):
            ray = live[position]
            rx, ry, rz = spread(record[ray, 0]), spread(record[ray, 1]), spread(record[ray, 2])
            px, py, pz = spread(record[ray, 3]), spread(record[ray, 4]), spread(record[ray, 5])
            enter = larger(larger(low_x * rx - px, low_y * ry - py), larger(low_z * rz - pz, zero))
            leave = smaller(smaller(high_x * rx - px, high_y * ry - py), high_z * rz - pz)
            met = bits(enter <= smaller(leave, spread(record[ray, 6])))
            for slot in range(TREE_WIDTH):
                live[children[slot]] = ray
                children[slot] += (met >> slot) & 1
        met_by_any = 0
        for slot in range(TREE_WIDTH):
            met_by_any |= int(children[slot] > top + slot * room) << slot

        # children lie along one axis of the node: the one that is met first goes on top
        falling = (octant >> axes[code]) & 1
        while met_by_any:
            slot = lowest_bit(met_by_any) if falling else highest_bit(met_by_any)
            met_by_any ^= 1 << slot
            begin = top + slot * room
            codes[height] = child[code, slot]
            below = max(child[code, slot], 0)
            prefetch(child, below * TREE_WIDTH)
            for line in range(0, 6 * TREE_WIDTH, 2 * TREE_WIDTH):
                prefetch(bounds, below * 6 * TREE_WIDTH + line)
            firsts[height], counts[height] = begin, children[slot] - begin
            tops[height] = top + TREE_WIDTH * room
            height += 1
    return 0, NO_ITEM, 0, 0
