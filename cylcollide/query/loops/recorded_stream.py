"""The loop over many rays in the past: as `stream`, with limbs placed at the moment of each ray.

Rays of one tick traverse together the tree over what is from this tick to the next one. Pairs of a ray and a limb are
queued by shape, and placed and tested eight side by side: a limb is computed for one ray, and not kept. All pairs of
one step of the traversal are queued before any is tested, so that their bones are fetched from memory together.
"""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Aim, Column, Float64Array, Int32Array, Rows, Shape
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.ray_node_pairs import STEP
from cylcollide.bvh.stream import Stream, no_list, visit_on_rays
from cylcollide.constants import STREAM_RAYS
from cylcollide.kernels.closest import is_undecided
from cylcollide.kernels.hit_bounds import limb_hit_bounds, two_hit_bounds
from cylcollide.kernels.limb_table import ROW, LimbRows, limb_at
from cylcollide.kernels.ray import Ray
from cylcollide.query.loops.columns import HitColumns
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.loops.leaf import (
    ALL_LANES,
    LIMB,
    LeafTest,
    RayState,
    closest_of,
    eight_rays,
    merge_hit,
    record_hits,
)
from cylcollide.query.loops.output import write_hits
from cylcollide.query.loops.pair_queue import PAIR_BATCH, SHAPES
from cylcollide.query.loops.recorded import Protection, may_be_hit, tree_at
from cylcollide.query.loops.recorded_sort import OCTANTS, Order, group_of
from cylcollide.query.loops.refine import RefineQueue, flush_refine
from cylcollide.query.loops.stream import setup_in_order
from cylcollide.recorded.limb_lanes import LaneRows, copy_lane, limbs_at_moments, make_lane_rows, set_lane
from cylcollide.recorded.limbs import SHARED_LAYERS, Recorded, TickRows, model_of, place_one, tick_rows
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.simd import LANES, store_rows

BOX, CLOSEST = int(Shape.BOX), int(Aim.CLOSEST)
QUEUE = STREAM_RAYS + 2 * STEP + 2 * PAIR_BATCH
"""Pairs of one shape that are queued at most: those of a step, a list of rays and items of others; two batches."""
SPARE = STREAM_RAYS + LANES
"""Of the limbs in the scratch, that of a pair under test; eight are written at a time before it."""


class RecordedScratch(NamedTuple):
    """Buffers of `cast_recorded`. One per thread."""

    lanes: LaneRows
    row: Column[np.int32]  # (STREAM_RAYS,): of each hit, the row of its limb
    ray: Column[np.int32]  # (STREAM_RAYS,): its ray, of the query
    solid: Column[np.int8]  # (SPARE + 1,): the same limbs, where they were hit
    rows: Rows[np.float64]  # (SPARE + 1, ROW)


def make_recorded_scratch() -> RecordedScratch:
    """Buffers of one thread."""
    row, ray = np.zeros((2, STREAM_RAYS), np.int32)
    return RecordedScratch(
        lanes=make_lane_rows(SHAPES * QUEUE),
        row=row,
        ray=ray,
        solid=np.zeros(SPARE + 1, np.int8),
        rows=np.zeros((SPARE + 1, ROW)),
    )


class TickQuery(NamedTuple):
    """The rays of one stream, which are about one tick: ray k is row `number[base + k]` of the query."""

    here: TickRows
    there: TickRows  # the next tick
    by_ends: bool
    batch: RayBatch
    alpha: Float64Array  # in the order of `number`
    number: Int32Array
    base: int
    protection: Protection
    accepts_all: bool  # all rays certainly consider all limbs
    scratch: RecordedScratch
    test: LeafTest


@inlined
def goes_in_lanes(query: TickQuery, row: int) -> bool:
    """Whether the limb is not a box, and a bone of an ordinary character carries it."""
    here, owner = query.here, query.here.limb[row]["owner"]
    if owner < 0 or query.by_ends or model_of(here, row)["kind"] == BOX:
        return False
    return bool(here.character[owner]["is_ordinary"] != 0)


@inlined
def place_in_scratch(query: TickQuery, row: int, ray: int, k: int) -> bool:
    """Write a limb as limb k of the scratch, where it was at the moment of a ray; whether it is a limb then."""
    alpha, scratch = query.alpha[query.base + ray], query.scratch
    return place_one(query.by_ends, query.here, query.there, row, alpha, scratch.rows, scratch.solid, k)


@compiled
def test_one(query: TickQuery, row: int, ray: int) -> None:
    """Test a limb that does not go side by side with others."""
    if place_in_scratch(query, row, ray, SPARE):
        r, scratch, test = query.test.state.ray[ray], query.scratch, query.test
        one = Ray((r[0], r[1], r[2]), (r[3], r[4], r[5]), r[6], r[6], r[6], r[7])
        bounds = limb_hit_bounds(one, limb_at(scratch.rows, scratch.solid, SPARE), test.policy)
        if bounds.possible or bounds.inside:
            merge_hit(test, bounds, ray, row)


@compiled
def test_queue(query: TickQuery, shape: int, first: int, count: int) -> None:
    """Test `count` queued pairs of one shape, sixteen at most, from number `first` on."""
    here, there, lanes, test = query.here, query.there, query.scratch.lanes, query.test
    rays, rows = lanes.ray, lanes.row
    for k in range(first + count, first + PAIR_BATCH):
        copy_lane(lanes, first, k)
    ray, other = eight_rays(test.state, rays, first), eight_rays(test.state, rays, first + LANES)
    limb = limbs_at_moments(here, there, shape, lanes, first)
    limb_of_other = limbs_at_moments(here, there, shape, lanes, first + LANES)
    bounds, other_bounds = two_hit_bounds(ray, other, limb, limb_of_other, test.policy)
    valid = (1 << count) - 1
    record_hits(test, bounds, valid & ALL_LANES, rays, first, rows, -1)
    record_hits(test, other_bounds, valid >> LANES, rays, first + LANES, rows, -1)


@compiled
def test_queues(query: TickQuery, least: int) -> None:
    """Test the queued pairs of all shapes, sixteen at a time, until fewer than `least` of each are left."""
    lanes, queued = query.scratch.lanes, query.test.state.pairs.queued
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
    place = query.base + ray
    if query.accepts_all or may_be_hit(query.here, row, query.batch, query.protection, False, query.number[place]):
        if goes_in_lanes(query, row):
            shape, queued = model_of(query.here, row)["shape"], query.test.state.pairs.queued
            k = shape * QUEUE + queued[shape]
            set_lane(query.scratch.lanes, k, ray, query.here, query.there, row, query.alpha[place])
            queued[shape] += 1
        else:
            test_one(query, row, ray)


@inlined
def flush(query: TickQuery, is_last: bool) -> None:
    """Test the queued pairs: full batches of sixteen after a step, and all pairs after the last step."""
    count = 0
    for shape in range(SHAPES):
        count += query.test.state.pairs.queued[shape]
    if is_last or count >= PAIR_BATCH:
        test_queues(query, 1 if is_last else PAIR_BATCH)


@compiled
def traverse_tick(query: TickQuery, tree: Tree, octant: int, active: int) -> None:
    """Traverse the tree of a tick with `active` rays, and merge the hits of all limbs that they may hit."""
    visit_on_rays(tree, query.test.stream, active, octant, no_list, test_or_enqueue, flush, query)


@compiled
def place_hits(query: TickQuery, count: int, placed: int) -> int:
    """Append the limbs that rays of the stream hit to those in `scratch`, and number them in the state as there.

    How many there are by then, given how many there were.
    """
    state, scratch, hits, alone = query.test.state, query.scratch, placed, 0
    for in_lanes in (True, False):
        for ray in range(count if in_lanes or alone > 0 else 0):
            row = int(state.best[ray, LIMB])
            if row >= 0 and not is_undecided(closest_of(state, ray)):
                if goes_in_lanes(query, row) != in_lanes:
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
        scratch.ray[j] = query.number[query.base + scratch.ray[j]]
    return hits


@compiled
def store_lanes(query: TickQuery, begin: int, end: int) -> None:
    """Write the limbs from `begin` to `end` of the list in `scratch`, whose rays are those of the stream."""
    here, there, scratch = query.here, query.there, query.scratch
    for first in range(begin, end, LANES):
        for k in range(LANES):
            j = min(first + k, end - 1)
            set_lane(scratch.lanes, k, 0, here, there, scratch.row[j], query.alpha[query.base + scratch.ray[j]])
            scratch.solid[first + k] = model_of(here, scratch.row[j])["shape"]
        limb = limbs_at_moments(here, there, 0, scratch.lanes, 0)
        f, p, q = limb.frame, limb.p1, limb.p2
        c, u = f.centre, f.axis
        store_rows(scratch.rows, first, 0, (c[0], c[1], c[2], u[0], u[1], u[2], f.half_length, f.radius))
        store_rows(scratch.rows, first, LANES, (limb.radius2, p[0], p[1], p[2], q[0], q[1], q[2], f.extent))


@compiled
def finish_hits(batch: RayBatch, count: int, queue: RefineQueue, scratch: RecordedScratch, hits: HitColumns) -> None:
    """Refine the fractions of all hits in `scratch`, and name their limbs by the rows of their ticks."""
    flush_refine(queue, batch, LimbRows(scratch.solid, scratch.row, batch.mask, scratch.rows, 0), hits)
    for k in range(count):
        hits.limb[scratch.ray[k]] = scratch.row[k]


@compiled_loop
def cast_recorded(
    batch: RayBatch,
    recorded: Recorded,
    order: Order,
    protection: Protection,
    state: RayState,
    stream: Stream,
    queue: RefineQueue,
    scratch: RecordedScratch,
    begin: int,
    end: int,
    hits: HitColumns,
) -> None:
    """Write the closest limb of each of the rays `order.number[begin]` to `order.number[end - 1]`: a row of its tick.

    Parameters
    ----------
    batch
        The n rays, and what they may hit.
    recorded
        The ticks.
    order
        All rays by tick and octant; those of no tick hit nothing.
    protection
        The characters that are not hit.
    state, stream, queue, scratch
        Buffers.
    begin, end
        Which rays.
    hits
        Written; the columns hold misses.
    """
    state.pairs.queued[:] = 0  # an earlier call may have ended by an error
    queue.queued[:] = 0
    last, size, placed = recorded.address.shape[0] - 1, state.best.shape[0], 0
    number, begins = order.number, order.begins
    for t in range(last + 1):
        if begins[OCTANTS * t] >= end or begins[OCTANTS * (t + 1)] <= max(begin, begins[OCTANTS * t]):
            continue
        here, there = tick_rows(recorded, t), tick_rows(recorded, min(t + 1, last))
        shared = batch.mask.size == 1 and batch.ignored.size == 1 and protection.ids.size == 0
        in_layers = (recorded.address[t, SHARED_LAYERS] & np.int64(batch.mask[0])) != 0
        accepts_all = shared and batch.ignored[0] < 0 and in_layers
        tree = tree_at(recorded, t, stream.code.size)
        for k in range(OCTANTS):
            octant, first, group_end = group_of(order, t, k)
            for base in range(max(begin, first), min(end, group_end), size):
                count = min(size, min(end, group_end) - base)
                if placed + count > scratch.row.size:
                    finish_hits(batch, placed, queue, scratch, hits)
                    placed = 0
                test = LeafTest(batch.policy, CLOSEST, scratch.rows, scratch.solid[:0], tree.space.scale, state, stream)
                query = TickQuery(
                    here, there, recorded.by_ends, batch, order.alpha, number, base, protection, accepts_all, scratch,
                    test,
                )  # fmt: skip
                active = setup_in_order(order.rays, tree.space, base, count, state, stream)
                traverse_tick(query, tree, octant, active)
                placed = place_hits(query, count, placed)
                table = LimbRows(scratch.solid, scratch.row, batch.mask, scratch.rows, 0)
                write_hits(table, number, base, 0, count, state, queue, hits)
    finish_hits(batch, placed, queue, scratch, hits)
