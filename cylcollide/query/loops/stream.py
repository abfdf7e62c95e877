"""The loop over many rays: they traverse the tree as streams; ray-limb pairs are tested sixteen at a time.

The traversal yields limbs, each with a list of rays. Pairs of a ray and a limb are queued by shape (`leaf`) and tested
side by side by the kernels of `single`, with equal bits. `closer_or_tied` merges each hit into the closest one of its
ray; the order of pairs changes no answer.
"""

from math import inf

import numpy as np

from cylcollide._types import Aim, Column, Int32Array, Vectors
from cylcollide.bvh.layout import Tree, TreeFrame
from cylcollide.bvh.stream import MIXED, visit_on_rays
from cylcollide.bvh.traverse import LocalRay, grown_product, local_ray
from cylcollide.constants import BLOCK_RAYS, FEW_TO_SORT, SMALL_WORLD
from cylcollide.kernels.limb_table import LimbRows, all_are_considered, is_considered
from cylcollide.kernels.ray import Ray, Rays
from cylcollide.query.loops.columns import clear_hits, count_undecided, hits_in
from cylcollide.query.loops.inputs import INVALID, RayOptions, batch_in, copy_checked, filter_of, raw_rays
from cylcollide.query.loops.leaf import (
    NEXT_POSSIBLE,
    StreamQuery,
    StreamScratch,
    test_pair_batch,
    test_ray_list,
)
from cylcollide.query.loops.output import flush_refine, to_query_rows, write_any_hit, write_hits, write_in_order
from cylcollide.query.loops.packets import (
    PAIR_BATCH,
    SHAPES,
    enqueue_pair,
    prefetch_limb,
    prefetch_ray,
    prefetch_sixteen,
    two_rays_from,
)
from cylcollide.query.loops.ray_sort import Order, number_rows, rays_in_order, sort_rays
from cylcollide.query.loops.thick_leaf import test_more_steps, test_thick_list, test_thick_pairs
from cylcollide.runtime.compile import compiled, compiled_loop, inlined, noinline
from cylcollide.runtime.simd import (
    LANES,
    Real,
    append_where,
    broadcast,
    load,
    load_at,
    logical_not,
    lowest_bit,
    movemask,
    store,
    store_rows,
)

CLOSEST, ANY, ALL = int(Aim.CLOSEST), int(Aim.ANY), int(Aim.ALL)


@compiled
def setup_rays(
    raw: Rays,
    rays: Rays,
    frame: TreeFrame,
    number: Int32Array,
    first: int,
    count: int,
    in_order: bool,
    state: StreamScratch,
) -> int:
    """Store the initial state of rays `number[first]` to `number[first + count - 1]`, sixteen at a time.

    Returns how many of them are active: those that intersect the box of the root.
    """
    active = 0
    for row in range(0, count, 2 * LANES):
        if in_order:
            prefetch_sixteen(raw, rays, number[first + row] + BLOCK_RAYS)
        else:
            for k in range(row + 2 * LANES, row + 4 * LANES):
                prefetch_ray(rays, number[first + min(k, count - 1)])
        ray, other = two_rays_from(rays, number, first + row, in_order)
        active = setup_sixteen(frame, ray, other, False, row, count, active, state)
    return active


@compiled
def setup_in_order(
    order: Order, is_segment: bool, frame: TreeFrame, first: int, count: int, state: StreamScratch
) -> int:
    """As `setup_rays`, for `count` consecutive rays of an order from number `first` on; sixteen more may be read."""
    active, rows, step = 0, order.ray[first:], state.step
    for row in range(0, count, 2 * LANES):
        ray, other = rays_in_order(rows, step, row, is_segment), rays_in_order(rows, step, row + LANES, is_segment)
        active = setup_sixteen(frame, ray, other, False, row, count, active, state)
    return active


@noinline
def setup_thick(
    rays: Rays, frame: TreeFrame, number: Int32Array, first: int, count: int, in_order: bool, state: StreamScratch
) -> int:
    """As `setup_rays`, for thick rays."""
    active = 0
    for row in range(0, count, 2 * LANES):
        ray, other = two_rays_from(rays, number, first + row, in_order)
        ray = with_radius(ray, radii_at(rays, number, first + row))
        other = with_radius(other, radii_at(rays, number, first + row + LANES))
        active = setup_sixteen(frame, ray, other, True, row, count, active, state)
    return active


@inlined
def radii_at(rays: Rays, number: Int32Array, k: int) -> Real:
    """The radii of the eight rays `number[k]` to `number[k + 7]`."""
    return load_at(rays.radius, number, k, 1, 0) if rays.radius.size > 1 else broadcast(rays.radius[0])


@inlined
def with_radius(ray: Ray, radius: Real) -> Ray:
    """The ray, or eight, with a radius."""
    return Ray(ray.origin, ray.direction, ray.length, ray.per_length, ray.limit, ray.extent, radius)


@inlined
def setup_sixteen(
    frame: TreeFrame, ray: Ray, other: Ray, thick: bool, row: int, count: int, active: int, state: StreamScratch
) -> int:
    """Store the initial state of two packets from row `row` on; returns how many of `count` rays are active."""
    local, other_local = to_tree_frame(frame, ray, thick), to_tree_frame(frame, other, thick)
    store_ray_state(state, row, ray, local, thick)
    store_ray_state(state, row + LANES, other, other_local, thick)
    active = activate_rays(state, row, count, active, local)
    return activate_rays(state, row + LANES, count, active, other_local)


@inlined
def activate_rays(state: StreamScratch, row: int, count: int, active: int, local: LocalRay) -> int:
    """Append those of eight rays that intersect the box of the root to the live rays; returns how many are live.

    Untrusted rays, too far or too large for the frame of the tree, are marked undecided.
    """
    untrusted = movemask(local.untrusted)
    while untrusted:
        k = lowest_bit(untrusted)
        untrusted &= untrusted - 1
        state.best[row + k, NEXT_POSSIBLE] = -inf
    exists = load(state.stream.lanes, 0) < broadcast(np.float32(count - row))
    starts = exists & logical_not(local.untrusted | local.misses_root)
    return active + append_where(state.stream.live, active, state.step, row, starts)


@inlined
def to_tree_frame(frame: TreeFrame, ray: Ray, thick: bool) -> LocalRay:
    """Eight rays in the frame of the tree."""
    radius = ray.radius if thick else broadcast(0.0)
    return local_ray(frame, ray.origin, ray.direction, ray.extent, ray.limit, radius)


@inlined
def store_ray_state(state: StreamScratch, row: int, ray: Ray, local: LocalRay, thick: bool) -> None:
    """Store the initial state of eight rays: no hit, reach as far as their limit."""
    o, d, r, p = ray.origin, ray.direction, local.reciprocal, local.product
    if thick:
        p, far = grown_product(local, local.growth), grown_product(local, -local.growth)
        store_rows(state.stream.far_product, row, 0, (far[0], far[1], far[2], *p, *p[:2]))
        store(state.radius, row, ray.radius)
    store_rows(state.ray, row, 0, (o[0], o[1], o[2], d[0], d[1], d[2], ray.limit, ray.extent))
    store_rows(state.stream.record, row, 0, (r[0], r[1], r[2], p[0], p[1], p[2], local.reach, local.earliest))
    store(state.middle, row, local.middle)
    store(state.per_length, row, ray.per_length)
    nothing = load(state.nothing, 0)
    for k in range(row, row + LANES):
        store(state.best, k * LANES, nothing)


@compiled
def traverse_octant(query: StreamQuery, tree: Tree, octant: int, active: int) -> None:
    """Traverse the tree with `active` rays of one octant, and merge the hits of all limbs that they may hit.

    A ray with a certain hit goes on, with a shorter reach, unless the aim is ANY.
    """
    visit_on_rays(tree, query.state.stream, active, octant, False, test_list, test_or_enqueue, flush, query)


@noinline
def traverse_by_thick(query: StreamQuery, tree: Tree, octant: int, active: int) -> None:
    """As `traverse_octant`, with thick rays."""
    visit_on_rays(tree, query.state.stream, active, octant, True, test_list, test_or_enqueue, flush, query)


@inlined
def test_list(query: StreamQuery, limb: int, first: int, end: int) -> int:
    """Test a limb by full groups of a list, if all its rays consider it; returns the first ray left over."""
    if query.accepts_all or (query.shared_filter and accepts(query, limb, 0)):
        shape = query.table.kernel_shape[limb] + 0
        if query.thick:
            return test_thick_list(query, limb, shape, first, end)
        return test_ray_list(query, limb, shape, first, end)
    return first


@inlined
def test_or_enqueue(query: StreamQuery, limb: int, ray: int) -> None:
    """Queue a ray and a limb if the ray considers it, and test the queue of the limb's shape when full."""
    if query.accepts_all or accepts(query, limb, ray):
        shape = query.table.kernel_shape[limb] + 0  # int64: one version of the test
        prefetch_limb(query.table.rows, limb)
        if enqueue_pair(query.state.pairs, shape, ray, limb) == PAIR_BATCH:
            test_queue(query, shape)


@inlined
def test_queue(query: StreamQuery, shape: int) -> None:
    """Test the queued pairs of one shape, and empty its queue."""
    if query.thick:
        test_thick_pairs(query, shape)
    else:
        test_pair_batch(query, shape)


@inlined
def accepts(query: StreamQuery, limb: int, ray: int) -> bool:
    """Whether a ray considers the limb, by mask and character; costs two loads."""
    mask, ignored = filter_of(query.batch, query.number[query.base + ray])
    return is_considered(query.table.character[limb], query.table.mask[limb], mask, ignored)


@inlined
def flush(query: StreamQuery, is_last: bool) -> None:
    """Test all queued pairs after the last step."""
    if is_last:
        for shape in range(SHAPES):
            if query.state.pairs.queued[shape] > 0:
                test_queue(query, shape)
        test_more_steps(query)


@compiled_loop
def cast_stream(
    table: LimbRows,
    tree: Tree,
    state: StreamScratch,
    first_vectors: Vectors,
    second_vectors: Vectors,
    options: RayOptions,
    radius: Column[np.float64],
    record: Column[np.float64],
    copies: Column[np.float64],
    begin: int,
    end: int,
    aim: int,
) -> int:
    """Copy and check rays `begin` to `end`, at least eight, and find their closest limbs.

    Returns how many rows are undecided, or INVALID.

    For the aim ANY, only the columns `limb` and `undecided` are written, and `limb` only shows whether there is a hit.
    For ALL, none is written; `state.crossed` holds the limbs that each ray may cross.
    """
    n, raw = first_vectors.shape[0], raw_rays(first_vectors, second_vectors, options, radius)
    batch, hits = batch_in(copies, n, options, radius), hits_in(record, n)
    state.pairs.queued[:] = 0  # an earlier call may have ended by an error
    state.pairs.limb[:] = 0  # lanes without a pair read some limb of this table, not of an earlier one
    state.refine.queued[:] = 0
    number, octants, size = state.number, state.octant, state.best.shape[0]
    in_order = tree.items < SMALL_WORLD or end - begin < FEW_TO_SORT
    if in_order:
        size = min(size, BLOCK_RAYS)
    octants[MIXED], octants[MIXED + 1] = 0, end - begin
    shared = batch.mask.size == 1 and batch.ignored.size == 1
    thick = batch.rays.radius.size > 0
    accepts_all = shared and all_are_considered(table, batch.mask[0], batch.ignored[0])
    if not in_order:
        if aim == CLOSEST:
            clear_hits(hits, begin, end)
        if not sort_rays(raw, batch.rays, tree, begin, end, state):
            return INVALID
    for octant in range(MIXED if in_order else 0, MIXED + 1 if in_order else MIXED):
        for first in range(octants[octant], octants[octant + 1], size):
            count = min(size, octants[octant + 1] - first)
            if in_order:
                number_rows(number, begin, begin + first, begin + first + count)
                if not copy_checked(raw, batch.rays, begin + first, begin + first + count):
                    return INVALID
            recorded = state.crossings[0]
            query = StreamQuery(batch, table, aim, tree.frame.scale, state, number, first, shared, accepts_all, thick)
            if thick:
                active = setup_thick(batch.rays, tree.frame, number, first, count, in_order, state)
                traverse_by_thick(query, tree, octant, active)
            else:
                active = setup_rays(raw, batch.rays, tree.frame, number, first, count, in_order, state)
                traverse_octant(query, tree, octant, active)
            if aim == ALL:
                to_query_rows(number, first, count, recorded, state)
            elif aim == ANY:
                write_any_hit(number, first, count, state, hits)
            elif in_order:
                write_in_order(table, number, first, count, state, hits)
            else:
                write_hits(table, number, first, 0, count, state, hits)
            flush_refine(state.refine, batch, table, hits, thick)
    return 0 if aim == ALL else count_undecided(hits, begin, end)
