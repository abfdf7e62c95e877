"""The loop over many rays that are about recorded states: as `stream`, with limbs placed at the moment of each ray.

Rays of one tick traverse together the tree over what is from this tick to the next one. Pairs of a ray and a limb are
queued by shape, and placed and tested eight side by side: a limb is computed for one ray, and not kept. All pairs of
one step of the traversal are queued before any is tested, so that their bones are fetched from memory together.
"""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Aim, Column, Float32Array, Float64Array, Int32Array, Rows, Shape
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.ray_node_pairs import STEP
from cylcollide.bvh.stream import Stream, next_items, start_stream
from cylcollide.constants import STREAM_RAYS
from cylcollide.kernels.closest import is_undecided
from cylcollide.kernels.hit_bounds import limb_hit_bounds, two_hit_bounds
from cylcollide.kernels.limb_table import ROW, LimbRows, limb_at
from cylcollide.kernels.ray import Ray
from cylcollide.query.loops.columns import HitColumns
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.loops.leaf import ALL_LANES, LIMB, RayState, closest_of, eight_rays, merge_hit, record_hits
from cylcollide.query.loops.output import write_hits
from cylcollide.query.loops.pair_queue import PAIR_BATCH, SHAPES, PairQueue
from cylcollide.query.loops.recorded import Protection, may_be_hit, tree_at
from cylcollide.query.loops.recorded_sort import OCTANTS, Order, group_of
from cylcollide.query.loops.refine import RefineQueue, flush_refine
from cylcollide.query.loops.stream import setup_in_order
from cylcollide.recorded.limb_lanes import LaneRows, copy_lane, limbs_at_moments, make_lane_rows, set_lane
from cylcollide.recorded.limbs import (
    CHARACTER_SIZE,
    CODES_SIZE,
    KIND,
    MODEL,
    ORDINARY,
    OWNER,
    SHARED_LAYERS,
    SOLID,
    Recorded,
    TickRows,
    place_one,
    tick_rows,
)
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


class Moment(NamedTuple):
    """The rays of one stream, their tick and the next one."""

    here: TickRows
    there: TickRows
    alpha: Float64Array  # in the order of the rays
    number: Int32Array  # in this order, rays of the query
    base: int  # where in it the first ray of the stream is
    by_ends: bool
    protection: Protection
    accepts_all: bool  # all rays certainly consider all limbs


@inlined
def goes_in_lanes(moment: Moment, row: int) -> bool:
    """Whether a limb is carried by an ordinary character's bone, and is no box."""
    here = moment.here
    model, owner = here.row[2 * row + MODEL], here.row[2 * row + OWNER]
    if owner < 0 or moment.by_ends or here.codes[CODES_SIZE * model + KIND] == BOX:
        return False
    return bool(here.character[CHARACTER_SIZE * owner + ORDINARY] != 0)


@compiled
def test_one(
    moment: Moment, ray: int, row: int, policy: int, scratch: RecordedScratch, state: RayState,
    local_rays: Float32Array, scale: float,
) -> None:  # fmt: skip
    """Test a limb that does not go side by side with others."""
    alpha, rows, solid = moment.alpha[moment.base + ray], scratch.rows, scratch.solid
    if place_one(moment.by_ends, moment.here, moment.there, row, alpha, rows, solid, SPARE):
        r = state.ray[ray]
        one = Ray((r[0], r[1], r[2]), (r[3], r[4], r[5]), r[6], r[6], r[6], r[7])
        bounds = limb_hit_bounds(one, limb_at(rows, solid, SPARE), policy)
        if bounds.possible or bounds.inside:
            merge_hit(bounds, ray, float(row), state, local_rays, scale)


@compiled
def test_queue(
    moment: Moment, shape: int, first: int, count: int, policy: int, lanes: LaneRows, state: RayState,
    local_rays: Float32Array, scale: float,
) -> None:  # fmt: skip
    """Test `count` queued pairs of one shape, sixteen at most, from number `first` on."""
    rays, rows = lanes.ray, lanes.row
    for k in range(first + count, first + PAIR_BATCH):
        copy_lane(lanes, first, k)
    ray, other = eight_rays(state, rays, first), eight_rays(state, rays, first + LANES)
    limb = limbs_at_moments(moment.here, moment.there, shape, lanes, first)
    limb_of_other = limbs_at_moments(moment.here, moment.there, shape, lanes, first + LANES)
    bounds, other_bounds = two_hit_bounds(ray, other, limb, limb_of_other, policy)
    valid = (1 << count) - 1
    record_hits(bounds, valid & ALL_LANES, rays, first, rows, -1, state, local_rays, scale, CLOSEST)
    record_hits(other_bounds, valid >> LANES, rays, first + LANES, rows, -1, state, local_rays, scale, CLOSEST)


@compiled
def test_queues(
    moment: Moment, least: int, policy: int, scratch: RecordedScratch, state: RayState, local_rays: Float32Array,
    scale: float,
) -> None:  # fmt: skip
    """Test the queued pairs of all shapes, sixteen at a time, until fewer than `least` of each are left."""
    lanes, queued = scratch.lanes, state.pairs.queued
    for shape in range(SHAPES):
        begin, done = shape * QUEUE, 0
        while queued[shape] - done >= least:
            count = min(PAIR_BATCH, queued[shape] - done)
            test_queue(moment, shape, begin + done, count, policy, lanes, state, local_rays, scale)
            done += count
        if done > 0:
            for k in range(done, queued[shape]):
                copy_lane(lanes, begin + k, begin + k - done)
            queued[shape] -= done


@inlined
def all_queued(pairs: PairQueue) -> int:
    """How many pairs of all shapes are queued."""
    count = 0
    for shape in range(SHAPES):
        count += pairs.queued[shape]
    return count


@inlined
def test_or_queue(
    moment: Moment, batch: RayBatch, ray: int, row: int, scratch: RecordedScratch, state: RayState,
    local_rays: Float32Array, scale: float,
) -> None:  # fmt: skip
    """Queue a pair of a ray and a limb that it considers, and prefetch its bones; or test it at once."""
    i, here = moment.number[moment.base + ray], moment.here
    if moment.accepts_all or may_be_hit(here, row, batch, moment.protection, False, i):
        if goes_in_lanes(moment, row):
            shape = here.codes[CODES_SIZE * here.row[2 * row + MODEL] + SOLID]
            k = state.pairs.queued[shape]
            alpha = moment.alpha[moment.base + ray]
            set_lane(scratch.lanes, shape * QUEUE + k, ray, here, moment.there, row, alpha)
            state.pairs.queued[shape] = k + 1
        else:
            test_one(moment, ray, row, batch.policy, scratch, state, local_rays, scale)


@compiled
def traverse_tick(
    moment: Moment, batch: RayBatch, tree: Tree, octant: int, active: int, scratch: RecordedScratch, state: RayState,
    stream: Stream,
) -> None:  # fmt: skip
    """Traverse the tree of a tick with `active` rays, and merge the hits of all limbs that they may hit."""
    live, local_rays, scale, pairs = stream.live, stream.record, tree.space.scale, stream.pairs
    height, level = start_stream(stream, active), -1
    while height > 0 or level >= 0:
        height, level, row, first, count, found = next_items(tree, stream, height, level, octant)
        for k in range(first, first + count):
            test_or_queue(moment, batch, live[k], row, scratch, state, local_rays, scale)
        for k in range(found):
            test_or_queue(moment, batch, pairs.item_ray[k], -2 - pairs.item[k], scratch, state, local_rays, scale)
        if all_queued(state.pairs) >= PAIR_BATCH:
            test_queues(moment, PAIR_BATCH, batch.policy, scratch, state, local_rays, scale)
    test_queues(moment, 1, batch.policy, scratch, state, local_rays, scale)


@compiled
def place_hits(moment: Moment, count: int, placed: int, scratch: RecordedScratch, state: RayState) -> int:
    """Append the limbs that rays of the stream hit to those in `scratch`, and number them in `state` as there.

    How many there are by then, given how many there were.
    """
    here, there, best, hits, alone = moment.here, moment.there, state.best, placed, 0
    for in_lanes in (True, False):
        for ray in range(count if in_lanes or alone > 0 else 0):
            row = int(best[ray, LIMB])
            if row >= 0 and not is_undecided(closest_of(state, ray)):
                if goes_in_lanes(moment, row) != in_lanes:
                    alone += 1
                else:
                    scratch.row[hits], scratch.ray[hits] = row, ray
                    if not in_lanes:
                        alpha = moment.alpha[moment.base + ray]
                        place_one(moment.by_ends, here, there, row, alpha, scratch.rows, scratch.solid, hits)
                    hits += 1
        if in_lanes:
            store_lanes(moment, placed, hits, scratch)
    for j in range(placed, hits):
        best[scratch.ray[j], LIMB] = j
        scratch.ray[j] = moment.number[moment.base + scratch.ray[j]]
    return hits


@compiled
def store_lanes(moment: Moment, begin: int, end: int, scratch: RecordedScratch) -> None:
    """Write the limbs from `begin` to `end` of the list in `scratch`, whose rays are those of the stream."""
    here, lanes, codes = moment.here, scratch.lanes, moment.here.codes
    for first in range(begin, end, LANES):
        for k in range(LANES):
            j = min(first + k, end - 1)
            row, alpha = scratch.row[j], moment.alpha[moment.base + scratch.ray[j]]
            set_lane(lanes, k, 0, here, moment.there, row, alpha)
            scratch.solid[first + k] = codes[CODES_SIZE * here.row[2 * row + MODEL] + SOLID]
        limb = limbs_at_moments(here, moment.there, 0, lanes, 0)
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
        Who is not hit.
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
                moment = Moment(here, there, order.alpha, number, base, recorded.by_ends, protection, accepts_all)
                active = setup_in_order(order.rays, tree.space, base, count, state, stream)
                traverse_tick(moment, batch, tree, octant, active, scratch, state, stream)
                placed = place_hits(moment, count, placed, scratch, state)
                table = LimbRows(scratch.solid, scratch.row, batch.mask, scratch.rows, 0)
                write_hits(table, number, base, 0, count, state, queue, hits)
    finish_hits(batch, placed, queue, scratch, hits)
