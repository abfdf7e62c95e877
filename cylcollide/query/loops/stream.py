"""The loop over many rays: they traverse the tree as streams, and limbs are tested sixteen pairs at a time.

The traversal yields limbs, each with a list of rays. Pairs of a ray and a limb are queued by shape (`leaf`), and go
through the same kernels as in `single`, side by side, with bit-equal results: the closest hit of a ray is merged by
`closer`, which does not depend on the order of the pairs.
"""

from math import inf

import numpy as np

from cylcollide._types import Aim, Float32Array, Int32Array
from cylcollide.bvh.layout import Space, Tree
from cylcollide.bvh.stream import MIXED, Stream, next_items, start_stream
from cylcollide.bvh.traverse import NO_ITEM, LocalRay, local_ray
from cylcollide.constants import BLOCK_RAYS, FEW_TO_SORT, SMALL_WORLD
from cylcollide.kernels.limb_table import LimbRows, all_are_considered, is_considered
from cylcollide.kernels.ray import Ray, Rays, broadcast_index
from cylcollide.query.loops.columns import HitColumns
from cylcollide.query.loops.inputs import INVALID, RawRays, RayBatch
from cylcollide.query.loops.leaf import (
    NEXT_POSSIBLE,
    RayState,
    test_pair_batch,
    test_ray_list,
)
from cylcollide.query.loops.output import clear_hits, to_query_rows, write_any_hit, write_hits, write_in_order
from cylcollide.query.loops.packets import prefetch_sixteen, rays_from, two_rays_from
from cylcollide.query.loops.pair_queue import SHAPES, enqueue_pair
from cylcollide.query.loops.ray_sort import SortScratch, copy_in_order, sort_rays
from cylcollide.query.loops.refine import RefineQueue, flush_refine
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.simd import (
    LANES,
    append_where,
    broadcast,
    load,
    logical_not,
    lowest_bit,
    movemask,
    store,
    store_rows,
)

CLOSEST, ANY, ALL = int(Aim.CLOSEST), int(Aim.ANY), int(Aim.ALL)


@compiled
def setup_rays(
    raw: RawRays,
    rays: Rays,
    space: Space,
    number: Int32Array,
    first: int,
    count: int,
    in_order: bool,
    state: RayState,
    stream: Stream,
) -> int:
    """Store the initial state of rays `number[first]` to `number[first + count - 1]`, sixteen at a time.

    Returns how many of them are active: those that intersect the box of the root.
    """
    active = 0
    for row in range(0, count, 2 * LANES):
        if in_order:
            prefetch_sixteen(raw, rays, number[first + row] + BLOCK_RAYS)
        ray, other = two_rays_from(rays, number, first + row, in_order)
        active = setup_sixteen(space, ray, other, row, count, active, state, stream)
    return active


@compiled
def setup_in_order(rays: Rays, space: Space, first: int, count: int, state: RayState, stream: Stream) -> int:
    """As `setup_rays`, for `count` consecutive rays from row `first` on; behind them sixteen may be read."""
    active = 0
    for row in range(0, count, 2 * LANES):
        ray, other = rays_from(rays, first + row), rays_from(rays, first + row + LANES)
        active = setup_sixteen(space, ray, other, row, count, active, state, stream)
    return active


@inlined
def setup_sixteen(
    space: Space, ray: Ray, other: Ray, row: int, count: int, active: int, state: RayState, stream: Stream
) -> int:
    """Store the initial state of two packets, from row `row` of a stream of `count` rays on; how many are active."""
    local, other_local = to_tree_space(space, ray), to_tree_space(space, other)
    store_ray_state(state, stream, row, ray, local)
    store_ray_state(state, stream, row + LANES, other, other_local)
    active = activate_rays(state, stream, row, count, active, local)
    return activate_rays(state, stream, row + LANES, count, active, other_local)


@inlined
def activate_rays(state: RayState, stream: Stream, row: int, count: int, active: int, local: LocalRay) -> int:
    """Append those of eight rays that intersect the root to `stream.live`; how many there are by then.

    Untrusted rays, which float32 cannot bring near the tree, are marked undecided.
    """
    untrusted = movemask(local.untrusted)
    while untrusted:
        k = lowest_bit(untrusted)
        untrusted &= untrusted - 1
        state.best[row + k, NEXT_POSSIBLE] = -inf
    exists = load(stream.lanes, 0) < broadcast(np.float32(count - row))
    starts = exists & logical_not(local.untrusted | local.misses_root)
    return active + append_where(stream.live, active, state.step, row, starts)


@inlined
def to_tree_space(space: Space, ray: Ray) -> LocalRay:
    """Eight rays in the frame of the tree."""
    return local_ray(space, ray.origin, ray.direction, ray.extent, ray.limit)


@inlined
def store_ray_state(state: RayState, stream: Stream, row: int, ray: Ray, local: LocalRay) -> None:
    """Store the initial state of eight rays: no hit, reach as far as their limit."""
    o, d, r, p = ray.origin, ray.direction, local.reciprocal, local.product
    store_rows(state.ray, row, 0, (o[0], o[1], o[2], d[0], d[1], d[2], ray.limit, ray.extent))
    store_rows(stream.record, row, 0, (r[0], r[1], r[2], p[0], p[1], p[2], local.reach, local.reach))
    store(state.start, row, local.start)
    store(state.per_length, row, ray.per_length)
    nothing = load(state.nothing, 0)
    for k in range(row, row + LANES):
        store(state.best, k * LANES, nothing)


@compiled
def traverse_octant(
    batch: RayBatch,
    table: LimbRows,
    tree: Tree,
    number: Int32Array,
    base: int,
    octant: int,
    active: int,
    state: RayState,
    stream: Stream,
    aim: int,
) -> None:
    """Traverse the tree with `active` rays of one octant, and merge the hits of all limbs that they may hit.

    Ray k of the stream is row `number[base + k]` of the query. A ray with a certain hit goes on, with a shorter reach,
    unless the aim is ANY.
    """
    policy, rows, live, local_rays, scale = batch.policy, table.rows, stream.live, stream.record, tree.space.scale
    shared_filter = batch.mask.size == 1 and batch.ignored.size == 1
    accepts_all = shared_filter and all_are_considered(table, batch.mask[0], batch.ignored[0])
    height, level, pairs = start_stream(stream, active), -1, stream.pairs
    while height > 0 or level >= 0:
        height, level, limb, first, count, found = next_items(tree, stream, height, level, octant)
        if limb != NO_ITEM:
            end = first + count
            if accepts_all or (shared_filter and accepts(batch, table, number[base], limb)):
                shape = table.solid[limb]
                first = test_ray_list(limb, shape, policy, rows, live, first, end, state, local_rays, scale, aim)
            for k in range(first, end):
                if accepts_all or accepts(batch, table, number[base + live[k]], limb):
                    enqueue_or_flush(policy, table, live[k], limb, state, local_rays, scale, aim)
        for k in range(found):
            ray, limb = pairs.item_ray[k], -2 - pairs.item[k]
            if accepts_all or accepts(batch, table, number[base + ray], limb):
                enqueue_or_flush(policy, table, ray, limb, state, local_rays, scale, aim)
    for shape in range(SHAPES):
        if state.pairs.queued[shape] > 0:
            test_pair_batch(shape, policy, rows, state, local_rays, scale, aim)


@inlined
def accepts(batch: RayBatch, table: LimbRows, i: int, limb: int) -> bool:
    """Whether ray i of the query considers the limb, by mask and character: two loads more from memory."""
    mask, ignored = batch.mask[broadcast_index(batch.mask, i)], batch.ignored[broadcast_index(batch.ignored, i)]
    return is_considered(table.character[limb], table.mask[limb], mask, ignored)


@inlined
def enqueue_or_flush(
    policy: int,
    table: LimbRows,
    ray: int,
    limb: int,
    state: RayState,
    local_rays: Float32Array,
    scale: float,
    aim: int,
) -> None:
    """Queue a pair of a ray and a limb, and test the queue of its shape once that is full."""
    shape = table.solid[limb]
    if enqueue_pair(state.pairs, table.rows, shape, ray, limb):
        test_pair_batch(shape, policy, table.rows, state, local_rays, scale, aim)


@compiled_loop
def cast_stream(
    raw: RawRays,
    batch: RayBatch,
    table: LimbRows,
    tree: Tree,
    state: RayState,
    stream: Stream,
    sort: SortScratch,
    queue: RefineQueue,
    begin: int,
    end: int,
    aim: int,
    hits: HitColumns,
) -> int:
    """Copy and check the rays from `begin` to `end`, at least eight, and find their closest limbs; 0, or INVALID.

    For the aim ANY, only the columns `limb` and `undecided` are written, and `limb` says no more than whether there is
    a hit. For ALL, no column is, and `state.crossed` holds the limbs that each ray may cross.
    """
    state.pairs.queued[:] = 0  # an earlier call may have ended by an error
    state.pairs.limb[:] = 0  # lanes without a pair read some limb of this table, not of an earlier one
    queue.queued[:] = 0
    number, octants, size = sort.number, sort.octant, state.best.shape[0]
    in_order = tree.items < SMALL_WORLD or end - begin < FEW_TO_SORT
    if in_order:
        size = min(size, BLOCK_RAYS)
    octants[MIXED], octants[MIXED + 1] = 0, end - begin
    if not in_order:
        if aim == CLOSEST:
            clear_hits(hits, begin, end)
        if not sort_rays(raw, batch.rays, tree, begin, end, sort):
            return INVALID
    for octant in range(MIXED if in_order else 0, MIXED + 1 if in_order else MIXED):
        for first in range(octants[octant], octants[octant + 1], size):
            count = min(size, octants[octant + 1] - first)
            if in_order and not copy_in_order(raw, batch.rays, begin, begin + first, begin + first + count, sort):
                return INVALID
            active = setup_rays(raw, batch.rays, tree.space, number, first, count, in_order, state, stream)
            recorded = state.crossings[0]
            traverse_octant(batch, table, tree, number, first, octant, active, state, stream, aim)
            if aim == ALL:
                to_query_rows(number, first, count, recorded, state)
            elif aim == ANY:
                write_any_hit(number, first, count, state, hits)
            elif in_order:
                write_in_order(table, number, first, count, state, queue, hits)
            else:
                write_hits(table, number, first, 0, count, state, queue, hits)
            flush_refine(queue, batch, table, hits)
    return 0
