"""The loop over many rays in the past, as streams: the limbs that each ray may hit between two ticks."""

from math import inf

import numpy as np

from cylcollide._types import Column, Int32Array, Int64Array, Rows
from cylcollide.bvh.stream import Stream, no_flush, no_list, visit_on_rays
from cylcollide.query.loops.leaf import NEXT_POSSIBLE, RayState, record_crossing
from cylcollide.query.loops.recorded import sort_part, tree_at
from cylcollide.query.loops.recorded_sort import OCTANTS, Order, group_of
from cylcollide.query.loops.stream import setup_in_order
from cylcollide.recorded.limbs import Recorded
from cylcollide.runtime.compile import compiled_loop, inlined


def rows_near_many(recorded: Recorded, order: Order, state: RayState, stream: Stream) -> tuple[Int64Array, Int32Array]:
    """The rows of all limbs that each ray does not certainly miss at its tick, in compressed rows: offsets and rows.

    `order` is about all rays; all limbs are considered. `state` and `stream` are buffers.
    """
    n = len(order.number)
    used, crossed = 0, np.empty((2 * n, 2), np.int32)
    while True:
        state = state._replace(crossed=crossed, crossings=np.zeros(1, np.int64))
        find_recorded_pairs(recorded, order, state, stream)
        used = state.crossings.item()
        if used <= len(crossed):
            break
        crossed = np.empty((used, 2), np.int32)
    offsets, found = np.empty(n + 1, np.int64), np.empty(used, np.int32)
    sort_pairs(crossed[:used], offsets, found)
    return offsets, found


@compiled_loop
def find_recorded_pairs(recorded: Recorded, order: Order, state: RayState, stream: Stream) -> None:
    """Write each ray with each limb that it does not certainly miss at its tick, in any order: `state.crossed`."""
    size, number = state.best.shape[0], order.number
    for t in range(recorded.address.shape[0]):
        if order.begins[OCTANTS * t] < order.begins[OCTANTS * (t + 1)]:
            tree = tree_at(recorded, t, stream.code.size)
            for k in range(OCTANTS):
                octant, first, end = group_of(order, t, k)
                for base in range(first, end, size):
                    count, query = min(size, end - base), (number, base, state)
                    active = setup_in_order(order.rays, tree.space, base, count, state, stream)
                    visit_on_rays(tree, stream, active, octant, no_list, _record_pair, no_flush, query)
                    for ray in range(count):
                        if state.best[ray, NEXT_POSSIBLE] == -inf:  # float32 cannot bring it near the tree
                            for row in range(tree.items):
                                _record_pair(query, row, ray)


@inlined
def _record_pair(query: tuple[Int32Array, int, RayState], row: int, ray: int) -> None:
    """Append a row and a ray of the stream, by its number."""
    number, base, state = query
    record_crossing(state, number[base + ray], row)


@compiled_loop
def sort_pairs(pairs: Rows[np.int32], offsets: Column[np.int64], found: Column[np.int32]) -> None:
    """Write pairs (k, 2) as compressed rows, (n + 1,) and (k,): of each ray the rows of its tick, ascending."""
    for i in range(offsets.size):
        offsets[i] = 0
    for k in range(len(pairs)):
        offsets[pairs[k, 0]] += 1
    total = 0
    for i in range(offsets.size):
        offsets[i], total = total, total + offsets[i]
    for k in range(len(pairs)):
        i = pairs[k, 0]
        found[offsets[i]] = pairs[k, 1]
        offsets[i] += 1
    for i in range(offsets.size - 1, 0, -1):
        offsets[i] = offsets[i - 1]
    offsets[0] = 0
    for i in range(offsets.size - 1):
        sort_part(found, offsets[i], offsets[i + 1])
