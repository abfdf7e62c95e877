"""The loops over rays in the past: the limbs that each ray may hit between two ticks, one by one or as streams."""

from functools import partial
from math import inf
from typing import NamedTuple

import numpy as np

from cylcollide._types import Column, Int32Array
from cylcollide.bvh.layout import Tree, frame_at
from cylcollide.bvh.stream import no_flush, no_list, visit_on_rays
from cylcollide.bvh.traverse import Stack, local_ray, visit_on_ray
from cylcollide.constants import TREE_WIDTH
from cylcollide.kernels.limb_table import is_considered
from cylcollide.kernels.ray import ray_at
from cylcollide.query.loops.columns import CompressedRows, find_rows, rows_of_pairs, sort_part
from cylcollide.query.loops.inputs import PointFilters, RayBatch, filter_of
from cylcollide.query.loops.leaf import NEXT_POSSIBLE, StreamScratch, record_crossing
from cylcollide.query.loops.ray_sort import OCTANTS, Order, group_of
from cylcollide.query.loops.stream import setup_in_order
from cylcollide.recorded.limbs import (
    AXIS,
    BOUNDS,
    CHILD,
    NODES,
    ROWS,
    Recorded,
    TickRows,
    character_of,
    layers_of,
    tick_rows,
)
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.memory import entries_at


class Protection(NamedTuple):
    """Characters that are not hit from a time on, and the times of n rays."""

    ids: Column[np.int64]  # (protected,), ascending
    since: Column[np.float64]  # (protected,)
    time: Column[np.float64]


@inlined
def is_protected(protection: Protection, character: int, i: int) -> bool:
    """Whether a character is not hit at the time of ray i."""
    first, last = 0, protection.ids.size
    while first < last:
        middle = (first + last) // 2
        if protection.ids[middle] < character:
            first = middle + 1
        else:
            last = middle
    if first == protection.ids.size or protection.ids[first] != character:
        return False
    return bool(protection.time[i] >= protection.since[first])


@inlined
def may_be_hit(
    here: TickRows, row: int, batch: RayBatch | PointFilters, protection: Protection, all_layers: bool, i: int
) -> bool:
    """Whether ray i considers a limb: by layers, unless they do not matter, by character, and by protection."""
    character = character_of(here, row)
    considered = all_layers or is_considered(character, layers_of(here, row), *filter_of(batch, i))
    return considered and not is_protected(protection, character, i)


@inlined
def tree_at(recorded: Recorded, t: int, stack_size: int) -> Tree:
    """The tree over boxes that hold every limb from the tick at place t until the next one."""
    a = recorded.address
    nodes = a[t, NODES]
    bounds = entries_at(np.float32, a[t, BOUNDS], nodes * 6 * TREE_WIDTH).reshape(nodes, 6, TREE_WIDTH)
    child = entries_at(np.int32, a[t, CHILD], nodes * TREE_WIDTH).reshape(nodes, TREE_WIDTH)
    axis = entries_at(np.int8, a[t, AXIS], nodes)
    return Tree(bounds, child, a[t, ROWS], axis, stack_size, frame_at(recorded.frame[t]))


@compiled_loop
def find_recorded(
    batch: RayBatch,
    recorded: Recorded,
    tick: Column[np.int32],
    protection: Protection,
    all_layers: bool,
    stack: Stack,
    offsets: Column[np.int64],
    found: Column[np.int32],
) -> int:
    """Write the rows of all limbs that each ray may hit between its tick and the next one; returns their number.

    `tick`: the place of each ray's tick among those recorded, -1 for a ray that hits nothing. `all_layers`: whether
    layers do not matter, as for points. `stack`: for the largest tree. Written are compressed rows, ascending for each
    ray; those beyond the size of `found` are not.
    """
    used = 0
    for i in range(tick.size):
        t, first = tick[i], used
        if t >= 0:
            ray, here, tree = ray_at(batch.rays, i), tick_rows(recorded, t), tree_at(recorded, t, stack.code.size)
            local = local_ray(tree.frame, ray.origin, ray.direction, ray.extent, ray.limit, ray.radius)
            query = here, batch, protection, all_layers, i, found, local.reach
            used = visit_on_ray(tree, stack, local, write_row, query, used)
            sort_part(found, first, min(used, found.size))
        offsets[i + 1] = used
    return used


@compiled
def write_row(
    query: tuple[TickRows, RayBatch, Protection, bool, int, Int32Array, float], row: int, used: int
) -> tuple[int, float]:
    """Append a limb, if ray i considers it; returns how many there are now, and the reach."""
    here, batch, protection, all_layers, i, found, reach = query
    if may_be_hit(here, row, batch, protection, all_layers, i):
        if used < found.size:
            found[used] = row
        used += 1
    return used, reach


def rows_near_rays(
    batch: RayBatch, recorded: Recorded, tick: Int32Array, protection: Protection, all_layers: bool, stack: Stack
) -> CompressedRows:
    """The rows of all limbs that each ray may hit at its tick, ascending."""
    return find_rows(len(tick), partial(find_recorded, batch, recorded, tick, protection, all_layers, stack))


def rows_near_many(recorded: Recorded, order: Order, is_segment: bool, state: StreamScratch) -> CompressedRows:
    """The rows of all limbs that each ray may hit at its tick, ascending.

    `order` holds all rays; all limbs are considered. `state` is a buffer.
    """
    n = order.begins[-1].item()
    used, crossed = 0, np.empty((2 * n, 2), np.int32)
    while True:
        state = state._replace(crossed=crossed, crossings=np.zeros(1, np.int64))
        find_recorded_pairs(recorded, order, is_segment, state)
        used = state.crossings.item()
        if used <= len(crossed):
            break
        crossed = np.empty((used, 2), np.int32)
    return rows_of_pairs(crossed[:used], 0, n, True)


@compiled_loop
def find_recorded_pairs(recorded: Recorded, order: Order, is_segment: bool, state: StreamScratch) -> None:
    """Write each ray with each limb that it may hit at its tick, in any order: `state.crossed`."""
    size, number = state.best.shape[0], order.number
    for t in range(recorded.address.shape[0]):
        if order.begins[OCTANTS * t] < order.begins[OCTANTS * (t + 1)]:
            tree = tree_at(recorded, t, state.stream.code.size)
            for k in range(OCTANTS):
                octant, first, end = group_of(order, t, k)
                for base in range(first, end, size):
                    count, query = min(size, end - base), (number, base, state)
                    active = setup_in_order(order, is_segment, tree.frame, base, count, state)
                    visit_on_rays(tree, state.stream, active, octant, False, no_list, _record_pair, no_flush, query)
                    for ray in range(count):
                        if state.best[ray, NEXT_POSSIBLE] == -inf:  # untrusted: too far or too large for float32
                            for row in range(tree.items):
                                _record_pair(query, row, ray)


@inlined
def _record_pair(query: tuple[Int32Array, int, StreamScratch], row: int, ray: int) -> None:
    """Append a row and a ray of the stream, by its number."""
    number, base, state = query
    record_crossing(state, number[base + ray], row)
