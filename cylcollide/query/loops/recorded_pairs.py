"""The loop over many rays that are about recorded states, as streams: the limbs that each may hit between two ticks."""

from math import inf
from typing import NamedTuple

import numpy as np

from cylcollide._types import Column, Int32Array
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.stream import Stream, next_items, start_stream
from cylcollide.query.loops.leaf import NEXT_POSSIBLE, RayState
from cylcollide.query.loops.recorded import tree_at
from cylcollide.query.loops.recorded_sort import OCTANTS, Order, group_of
from cylcollide.query.loops.stream import setup_in_order
from cylcollide.recorded.limbs import Recorded
from cylcollide.runtime.compile import compiled, compiled_loop, inlined


class RecordedPairs(NamedTuple):
    """Pairs of a ray and a row of its tick whose box it intersects, in any order."""

    ray: Column[np.int32]
    row: Column[np.int32]


@compiled_loop
def find_recorded_pairs(
    recorded: Recorded,
    order: Order,
    state: RayState,
    stream: Stream,
    pairs: RecordedPairs,
) -> int:
    """Write each ray with each limb that it does not certainly miss between its tick and the next one; how many.

    Parameters
    ----------
    recorded, order
        As in `cast_recorded`, all rays; all limbs are considered.
    state, stream
        Buffers.
    pairs
        Written; those beyond its size are counted, not written.
    """
    used, size, number = 0, state.best.shape[0], order.number
    for t in range(recorded.address.shape[0]):
        if order.begins[OCTANTS * t] < order.begins[OCTANTS * (t + 1)]:
            tree = tree_at(recorded, t, stream.code.size)
            for k in range(OCTANTS):
                octant, first, end = group_of(order, t, k)
                for base in range(first, end, size):
                    count = min(size, end - base)
                    active = setup_in_order(order.rays, tree.space, base, count, state, stream)
                    used = traverse_pairs(tree, octant, active, number, base, stream, pairs, used)
                    for ray in range(count):
                        if state.best[ray, NEXT_POSSIBLE] == -inf:  # float32 cannot bring it near the tree
                            for row in range(tree.items):
                                used = append_pair(pairs, used, number[base + ray], row)
    return used


@compiled
def traverse_pairs(
    tree: Tree, octant: int, active: int, number: Int32Array, base: int, stream: Stream, pairs: RecordedPairs, used: int
) -> int:
    """Traverse the tree of a tick with `active` rays, and append their pairs; how many there are by then."""
    live, queue = stream.live, stream.pairs
    height, level = start_stream(stream, active), -1
    while height > 0 or level >= 0:
        height, level, row, first, count, found = next_items(tree, stream, height, level, octant)
        for k in range(first, first + count):
            used = append_pair(pairs, used, number[base + live[k]], row)
        for k in range(found):
            used = append_pair(pairs, used, number[base + queue.item_ray[k]], -2 - queue.item[k])
    return used


@inlined
def append_pair(pairs: RecordedPairs, used: int, ray: int, row: int) -> int:
    """Write one more pair, if there is room; how many there are by then."""
    if used < pairs.ray.size:
        pairs.ray[used], pairs.row[used] = ray, row
    return used + 1


@compiled_loop
def sort_pairs(pairs: RecordedPairs, offsets: Column[np.int64], found: Column[np.int32]) -> None:
    """Write pairs as compressed rows, (n + 1,) and (pairs,): of each ray the rows of its tick, ascending."""
    for i in range(offsets.size):
        offsets[i] = 0
    for k in range(pairs.ray.size):
        offsets[pairs.ray[k]] += 1
    total = 0
    for i in range(offsets.size):
        offsets[i], total = total, total + offsets[i]
    for k in range(pairs.ray.size):
        i, row = pairs.ray[k], pairs.row[k]
        found[offsets[i]] = row
        offsets[i] += 1
    for i in range(offsets.size - 1, 0, -1):
        offsets[i] = offsets[i - 1]
    offsets[0] = 0
    for i in range(offsets.size - 1):
        for k in range(offsets[i] + 1, offsets[i + 1]):
            j, row = k, found[k]
            while j > offsets[i] and found[j - 1] > row:
                found[j] = found[j - 1]
                j -= 1
            found[j] = row
