"""The loop over many rays in the past: as `stream`, with limbs placed at the time of each ray.

Rays of one tick traverse together the tree over all limbs from this tick to the next one. Pairs of a ray and a limb are
queued by shape, and placed and tested eight at a time: a limb is computed for one ray, and not kept. All pairs of
one step of the traversal are queued before any is tested, so that their bones are fetched from memory together.
"""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Aim, Column, Float32Array, Float64Array, Rows
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.ray_node_pairs import STEP
from cylcollide.bvh.stream import no_list, visit_on_rays
from cylcollide.constants import STREAM_RAYS
from cylcollide.kernels.hit_bounds import is_undecided, limb_hit_bounds, thick_hit_bounds, two_hit_bounds
from cylcollide.kernels.limb_table import ROW, LimbRows, limb_at
from cylcollide.query.loops.columns import HitColumns
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.loops.leaf import (
    ALL_LANES,
    LIMB,
    StreamQuery,
    StreamScratch,
    closest_of,
    eight_rays,
    merge_hit,
    record_hits,
)
from cylcollide.query.loops.output import flush_refine, write_hits
from cylcollide.query.loops.packets import PAIR_BATCH, SHAPES, PairQueue
from cylcollide.query.loops.ray_sort import ALPHA, OCTANTS, Order, group_of
from cylcollide.query.loops.recorded_candidates import Protection, may_be_hit, tree_at
from cylcollide.query.loops.stream import setup_in_order, setup_thick
from cylcollide.query.loops.thick_leaf import eight_thick_rays, one_ray
from cylcollide.recorded.limb_lanes import (
    LaneRows,
    copy_lane,
    fits_lanes,
    limbs_at_moments,
    make_lane_rows,
    set_lane,
)
from cylcollide.recorded.limbs import SHARED_LAYERS, Recorded, TickRows, model_of, place_one, ticks_around
from cylcollide.runtime.compile import compiled, compiled_loop, inlined, noinline
from cylcollide.runtime.simd import LANES, lowest_bit, movemask, prefetch, store_rows

CLOSEST = int(Aim.CLOSEST)
QUEUE = STREAM_RAYS + 2 * STEP + 2 * PAIR_BATCH
"""Most queued pairs of one shape: those of a step, a list of rays and items of others; and two batches."""
PAGE = 4096  # bytes
SPARE = STREAM_RAYS + LANES
"""The limb of the scratch that is under test alone; the limbs before it are written eight at a time."""


class RecordedScratch(NamedTuple):
    """Buffers of `cast_recorded`. One per thread."""

    lanes: LaneRows
    row: Column[np.int32]  # (STREAM_RAYS,): the row of each hit's limb
    ray: Column[np.int32]  # (STREAM_RAYS,): the ray of each hit, of the query
    kernel_shape: Column[np.int8]  # (SPARE + 1,): of the limbs, as placed when they were hit
    rows: Rows[np.float64]  # (SPARE + 1, ROW)


def make_recorded_scratch() -> RecordedScratch:
    """Buffers of one thread."""
    row, ray = np.zeros((2, STREAM_RAYS), np.int32)
    return RecordedScratch(
        lanes=make_lane_rows(SHAPES * QUEUE),
        row=row,
        ray=ray,
        kernel_shape=np.zeros(SPARE + 1, np.int8),
        rows=np.zeros((SPARE + 1, ROW)),
    )


class TickQuery(NamedTuple):
    """The rays of one stream, all of one tick, and the limbs of that tick."""

    rays: StreamQuery
    here: TickRows
    there: TickRows  # the next tick
    order: Order  # of all rays
    protection: Protection
    scratch: RecordedScratch


@inlined
def place_in_scratch(query: TickQuery, row: int, ray: int, k: int) -> bool:
    """Write a limb as limb k of the scratch, placed at the time of a ray; returns whether it is a limb then."""
    alpha, scratch = query.order.ray[query.rays.base + ray, ALPHA], query.scratch
    return place_one(query.here, query.there, row, alpha, scratch.rows, scratch.kernel_shape, k)


@compiled
def test_one(query: TickQuery, row: int, ray: int) -> None:
    """Test a limb that cannot be tested side by side with others."""
    if place_in_scratch(query, row, ray, SPARE):
        scratch, radius = query.scratch, query.rays.state.radius[ray] if query.rays.thick else 0.0
        one = one_ray(query.rays.state, ray, radius)
        bounds = limb_hit_bounds(one, limb_at(scratch.rows, scratch.kernel_shape, SPARE), query.rays.batch.policy)
        if bounds.possible or bounds.inside:
            merge_hit(query.rays, bounds, ray, row)


@compiled
def test_queue(query: TickQuery, shape: int, first: int, count: int) -> None:
    """Test `count` queued pairs of one shape, sixteen at most, from number `first` on."""
    here, there, lanes, state = query.here, query.there, query.scratch.lanes, query.rays.state
    rays, rows = lanes.ray, lanes.row
    for k in range(first + count, first + PAIR_BATCH):
        copy_lane(lanes, first, k)
    if query.rays.thick:
        test_thick_queue(query, shape, first, count)
        return
    ray, other = eight_rays(state, rays, first), eight_rays(state, rays, first + LANES)
    limb = limbs_at_moments(here, there, shape, lanes, first)
    limb_of_other = limbs_at_moments(here, there, shape, lanes, first + LANES)
    bounds, other_bounds = two_hit_bounds(ray, other, limb, limb_of_other, query.rays.batch.policy)
    valid = (1 << count) - 1
    record_hits(query.rays, bounds, valid & ALL_LANES, rays, first, rows, -1)
    record_hits(query.rays, other_bounds, valid >> LANES, rays, first + LANES, rows, -1)


@noinline
def test_thick_queue(query: TickQuery, shape: int, first: int, count: int) -> None:
    """`test_queue` of thick rays, with all lanes filled; some of the rays may be lines."""
    here, there, lanes, state = query.here, query.there, query.scratch.lanes, query.rays.state
    for begin in range(first, first + count, LANES):
        ray = eight_thick_rays(state, lanes.ray, begin)
        valid = (1 << min(first + count - begin, LANES)) - 1
        lines = movemask(ray.radius == 0.0) & valid
        limb = limbs_at_moments(here, there, shape, lanes, begin)
        bounds = thick_hit_bounds(ray, limb, query.rays.batch.policy)
        record_hits(query.rays, bounds, valid & ~lines, lanes.ray, begin, lanes.row, -1)
        while lines:
            k = begin + lowest_bit(lines)
            lines &= lines - 1
            test_one(query, lanes.row[k], lanes.ray[k])


@compiled
def test_queues(query: TickQuery, least: int) -> None:
    """Test the queued pairs of all shapes, sixteen at a time, until fewer than `least` of each are left."""
    lanes, queued = query.scratch.lanes, query.rays.state.pairs.queued
    for shape in range(SHAPES):
        begin, done = shape * QUEUE, 0
        while queued[shape] - done >= least:
            count = min(PAIR_BATCH, queued[shape] - done)
            test_queue(query, shape, begin + done, count)
            done += count
        if done > 0:
            for k in range(done, queued[shape]):
                copy_lane(lanes, begin + k, begin + k - done)
            queued[shape] -= done


@inlined
def test_or_enqueue(query: TickQuery, row: int, ray: int) -> None:
    """Queue a pair of a ray and a limb that it considers, and prefetch its bones; or test it at once."""
    rays, place = query.rays, query.rays.base + ray
    if rays.accepts_all or may_be_hit(query.here, row, rays.batch, query.protection, False, rays.number[place]):
        if fits_lanes(query.here, row):
            shape, queued = model_of(query.here, row)["kernel_shape"], rays.state.pairs.queued
            k = shape * QUEUE + queued[shape]
            set_lane(query.scratch.lanes, k, ray, query.here, query.there, row, query.order.ray[place, ALPHA])
            queued[shape] += 1
        else:
            test_one(query, row, ray)


@inlined
def flush(query: TickQuery, is_last: bool) -> None:
    """Test the queued pairs: full batches of sixteen after a step, and all pairs after the last step."""
    count = 0
    for shape in range(SHAPES):
        count += query.rays.state.pairs.queued[shape]
    if is_last or count >= PAIR_BATCH:
        test_queues(query, 1 if is_last else PAIR_BATCH)


@compiled
def traverse_tick(query: TickQuery, tree: Tree, octant: int, active: int) -> None:
    """Traverse the tree of a tick with `active` rays, and merge the hits of all limbs that they may hit."""
    visit_on_rays(tree, query.rays.state.stream, active, octant, False, no_list, test_or_enqueue, flush, query)


@noinline
def traverse_tick_by_thick(query: TickQuery, tree: Tree, octant: int, active: int) -> None:
    """As `traverse_tick`, with thick rays."""
    visit_on_rays(tree, query.rays.state.stream, active, octant, True, no_list, test_or_enqueue, flush, query)


@inlined
def prefetch_pages(array: Float32Array | Float64Array) -> None:
    """Prefetch from each page of an array: the processor finds the addresses of several pages at the same time."""
    for k in range(0, array.size, PAGE // array.itemsize):
        prefetch(array, k)


@compiled
def place_hits(query: TickQuery, count: int, placed: int) -> int:
    """Append the limbs that rays of the stream hit to those in `scratch`, and store their numbers there in the state.

    Returns the new count; `placed` is the old one.
    """
    state, scratch, hits, alone = query.rays.state, query.scratch, placed, 0
    for in_lanes in (True, False):
        for ray in range(count if in_lanes or alone > 0 else 0):
            row = int(state.best[ray, LIMB])
            if row >= 0 and not is_undecided(closest_of(state, ray)):
                if fits_lanes(query.here, row) != in_lanes:
                    alone += 1
                else:
                    scratch.row[hits], scratch.ray[hits] = row, ray
                    if not in_lanes:
                        place_in_scratch(query, row, ray, hits)
                    hits += 1
        if in_lanes:
            store_lanes(query, placed, hits)
    for j in range(placed, hits):
        state.best[scratch.ray[j], LIMB] = j
        scratch.ray[j] = query.rays.number[query.rays.base + scratch.ray[j]]
    return hits


@compiled
def store_lanes(query: TickQuery, begin: int, end: int) -> None:
    """Write the limbs from `begin` to `end` of the list in `scratch`, whose rays are those of the stream."""
    here, there, scratch = query.here, query.there, query.scratch
    for first in range(begin, end, LANES):
        for k in range(LANES):
            j = min(first + k, end - 1)
            alpha = query.order.ray[query.rays.base + scratch.ray[j], ALPHA]
            set_lane(scratch.lanes, k, 0, here, there, scratch.row[j], alpha)
            scratch.kernel_shape[first + k] = model_of(here, scratch.row[j])["kernel_shape"]
        limb = limbs_at_moments(here, there, 0, scratch.lanes, 0)
        c, u, p, q = limb.centre, limb.axis, limb.p1, limb.p2
        store_rows(scratch.rows, first, 0, (c[0], c[1], c[2], u[0], u[1], u[2], limb.half_length, limb.radius))
        store_rows(scratch.rows, first, LANES, (limb.radius2, p[0], p[1], p[2], q[0], q[1], q[2], limb.extent))


@compiled
def finish_hits(
    batch: RayBatch, table: LimbRows, count: int, queue: PairQueue, scratch: RecordedScratch, hits: HitColumns
) -> None:
    """Refine the fractions of all hits in `scratch`, and replace their limbs by the rows of their ticks."""
    flush_refine(queue, batch, table, hits, batch.rays.radius.size > 0)
    for k in range(count):
        hits.limb[scratch.ray[k]] = scratch.row[k]


@compiled_loop
def cast_recorded(
    batch: RayBatch,
    recorded: Recorded,
    order: Order,
    protection: Protection,
    state: StreamScratch,
    scratch: RecordedScratch,
    begin: int,
    end: int,
    hits: HitColumns,
) -> None:
    """Write the closest limb of each of the rays `order.number[begin]` to `order.number[end - 1]`: a row of its tick.

    Rays of no tick hit nothing. The columns of `hits` are misses on entry.
    """
    state.pairs.queued[:] = 0  # an earlier call may have ended by an error
    state.refine.queued[:] = 0
    last, size, placed = recorded.address.shape[0] - 1, state.best.shape[0], 0
    number, begins = order.number, order.begins
    table = LimbRows(scratch.kernel_shape, scratch.row, batch.mask, scratch.rows, 0)
    thick = batch.rays.radius.size > 0
    no_ties = LimbRows(scratch.kernel_shape[:0], scratch.row, batch.mask, scratch.rows, 0)
    for t in range(last + 1):
        if begins[OCTANTS * t] >= end or begins[OCTANTS * (t + 1)] <= max(begin, begins[OCTANTS * t]):
            continue
        here, there = ticks_around(recorded, t)
        shared = batch.mask.size == 1 and batch.ignored.size == 1 and protection.ids.size == 0
        in_layers = (recorded.address[t, SHARED_LAYERS] & np.int64(batch.mask[0])) != 0
        accepts_all = shared and batch.ignored[0] < 0 and in_layers
        tree = tree_at(recorded, t, state.stream.code.size)
        if 2 * PAGE * (begins[OCTANTS * (t + 1)] - begins[OCTANTS * t]) >= 8 * there.bones.size:  # most pages are read
            prefetch_pages(there.bones)
            prefetch_pages(tree.bounds)
        for k in range(OCTANTS):
            octant, first, group_end = group_of(order, t, k)
            for base in range(max(begin, first), min(end, group_end), size):
                count = min(size, min(end, group_end) - base)
                if placed + count > scratch.row.size:
                    finish_hits(batch, table, placed, state.refine, scratch, hits)
                    placed = 0
                stream = state, number, base, shared, accepts_all, thick
                rays = StreamQuery(batch, no_ties, CLOSEST, tree.frame.scale, *stream)
                query = TickQuery(rays, here, there, order, protection, scratch)
                if thick:
                    active = setup_thick(batch.rays, tree.frame, number, base, count, False, state)
                    traverse_tick_by_thick(query, tree, octant, active)
                else:
                    active = setup_in_order(order, batch.rays.is_segment, tree.frame, base, count, state)
                    traverse_tick(query, tree, octant, active)
                placed = place_hits(query, count, placed)
                write_hits(table, number, base, 0, count, state, hits)
    finish_hits(batch, table, placed, state.refine, scratch, hits)
