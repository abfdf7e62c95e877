"""The loop over many rays that are about recorded states: as `stream`, with limbs placed at the moment of each ray.

Rays of one tick traverse together the tree over what is from this tick to the next one. Pairs of a ray and a limb are
queued by shape, and placed and tested eight side by side: a limb is computed for one ray, and not kept.
"""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Aim, Float32Array, Float64Array, Int8Array, Int32Array, Int64Array, Shape
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.ray_node_pairs import STEP, deepest
from cylcollide.bvh.stream import MIXED, Stream, next_items_of_stream, next_items_on_rays, start_stream
from cylcollide.bvh.traverse import NO_ITEM
from cylcollide.constants import STREAM_RAYS
from cylcollide.kernels.closest import is_undecided
from cylcollide.kernels.hit_bounds import limb_hit_bounds, two_hit_bounds
from cylcollide.kernels.limb_table import ROW, LimbRows, limb_at
from cylcollide.kernels.ray import Ray, Rays
from cylcollide.kernels.recorded import (
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
from cylcollide.kernels.recorded_lanes import LaneRows, copy_lane, limbs_at_moments, make_lane_rows, set_lane
from cylcollide.query.loops.columns import HitColumns
from cylcollide.query.loops.inputs import RawRays, RayBatch
from cylcollide.query.loops.leaf import ALL_LANES, LIMB, RayState, closest_of, eight_rays, merge_hit, record_hits
from cylcollide.query.loops.output import write_hits
from cylcollide.query.loops.pair_queue import PAIR_BATCH, SHAPES
from cylcollide.query.loops.recorded import Protection, may_be_hit, tree_at
from cylcollide.query.loops.refine import RefineQueue, flush_refine
from cylcollide.query.loops.stream import setup_rays
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.entry_point import entry_point
from cylcollide.runtime.simd import LANES, prefetch, store_rows, with_sign

BOX, CLOSEST = int(Shape.BOX), int(Aim.CLOSEST)
SMALLEST_OCTANT = 64  # fewer rays of a tick go together, whichever way they go
AHEAD = 16
"""So many rays before they are read, their numbers are prefetched."""


class RecordedScratch(NamedTuple):
    """Buffers of `cast_recorded`. One per thread."""

    number: Int32Array  # (STREAM_RAYS + 16,): rays of one tick, by octant
    alpha: Float64Array  # (STREAM_RAYS,): how far the moment of each is from this tick to the next one
    lanes: LaneRows
    row: Int32Array  # (STREAM_RAYS,): of each hit of a stream, the row of its limb
    ray: Int32Array  # (STREAM_RAYS,): the ray of the stream
    solid: Int8Array  # (STREAM_RAYS + 8,): the same limbs, where they were hit
    rows: Float64Array  # (STREAM_RAYS + 8, ROW)
    begins: Int64Array  # (10,): where the rays of each octant begin, the mixed ones last
    octant: Int8Array  # (STREAM_RAYS,)


def make_recorded_scratch() -> RecordedScratch:
    """Buffers of one thread."""
    size = STREAM_RAYS + LANES
    row, ray = np.zeros((2, STREAM_RAYS), np.int32)
    return RecordedScratch(
        number=np.zeros(STREAM_RAYS + 2 * LANES, np.int32),
        alpha=np.zeros(STREAM_RAYS),
        lanes=make_lane_rows(SHAPES * PAIR_BATCH),
        row=row,
        ray=ray,
        solid=np.zeros(size, np.int8),
        rows=np.zeros((size, ROW)),
        begins=np.zeros(MIXED + 2, np.int64),
        octant=np.zeros(STREAM_RAYS, np.int8),
    )


class Moment(NamedTuple):
    """The rays of one stream, their tick and the next one."""

    here: TickRows
    there: TickRows
    alpha: Float64Array  # by number of the ray
    number: Int32Array  # rays of the query
    base: int  # number of the first ray of the stream
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
    if place_one(moment.by_ends, moment.here, moment.there, row, alpha, rows, solid, 0):
        r = state.ray[ray]
        one = Ray((r[0], r[1], r[2]), (r[3], r[4], r[5]), r[6], r[6], r[6], r[7])
        bounds = limb_hit_bounds(one, limb_at(rows, solid, 0), policy)
        if bounds.possible or bounds.inside:
            merge_hit(bounds, ray, float(row), state, local_rays, scale)


@compiled
def test_queue(
    moment: Moment, shape: int, policy: int, lanes: LaneRows, state: RayState, local_rays: Float32Array, scale: float
) -> None:
    """Test the queued pairs of one shape, and empty its queue."""
    queue, first, count = state.pairs, shape * PAIR_BATCH, state.pairs.queued[shape]
    rays, rows = queue.row.reshape(-1), queue.limb.reshape(-1)
    for k in range(count, PAIR_BATCH):
        copy_lane(lanes, first, first + k)
    ray, other = eight_rays(state, rays, first), eight_rays(state, rays, first + LANES)
    limb = limbs_at_moments(moment.here, moment.there, shape, lanes, first)
    limb_of_other = limbs_at_moments(moment.here, moment.there, shape, lanes, first + LANES)
    bounds, other_bounds = two_hit_bounds(ray, other, limb, limb_of_other, policy)
    valid = (1 << count) - 1
    record_hits(bounds, valid & ALL_LANES, rays, first, rows, -1, state, local_rays, scale, CLOSEST)
    record_hits(other_bounds, valid >> LANES, rays, first + LANES, rows, -1, state, local_rays, scale, CLOSEST)
    queue.queued[shape] = 0


@inlined
def test_or_queue(
    moment: Moment, batch: RayBatch, ray: int, row: int, scratch: RecordedScratch, state: RayState,
    local_rays: Float32Array, scale: float,
) -> None:  # fmt: skip
    """Queue a pair of a ray and a limb that it considers, or test it at once."""
    i, here = moment.number[moment.base + ray], moment.here
    if moment.accepts_all or may_be_hit(here, row, batch, moment.protection, False, i):
        if goes_in_lanes(moment, row):
            queue, shape = state.pairs, here.codes[CODES_SIZE * here.row[2 * row + MODEL] + SOLID]
            k = queue.queued[shape]
            queue.row[shape, k], queue.limb[shape, k], queue.queued[shape] = ray, row, k + 1
            set_lane(scratch.lanes, shape * PAIR_BATCH + k, here, moment.there, row, moment.alpha[moment.base + ray])
            if k + 1 == PAIR_BATCH:
                test_queue(moment, shape, batch.policy, scratch.lanes, state, local_rays, scale)
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
        if level >= 0:
            level, found = next_items_on_rays(tree, stream, level, octant)
        else:
            height, row, first, count, found = next_items_of_stream(tree, stream, height, octant)
            level = deepest(pairs, 0) if pairs.queued[0] >= STEP or height == 0 else -1
            if row != NO_ITEM:
                for k in range(first, first + count):
                    test_or_queue(moment, batch, live[k], row, scratch, state, local_rays, scale)
        for k in range(found):
            test_or_queue(moment, batch, pairs.item_ray[k], -2 - pairs.item[k], scratch, state, local_rays, scale)
    for shape in range(SHAPES):
        if state.pairs.queued[shape] > 0:
            test_queue(moment, shape, batch.policy, scratch.lanes, state, local_rays, scale)


@compiled
def place_hits(moment: Moment, count: int, scratch: RecordedScratch, state: RayState) -> int:
    """Write the limbs that rays of the stream hit into `scratch`, and number them in `state` as there; how many."""
    hits, here, there, best = 0, moment.here, moment.there, state.best
    for in_lanes in (True, False):
        for ray in range(count):
            row = int(best[ray, LIMB])
            if row >= 0 and not is_undecided(closest_of(state, ray)) and goes_in_lanes(moment, row) == in_lanes:
                scratch.row[hits], scratch.ray[hits] = row, ray
                if not in_lanes:
                    alpha = moment.alpha[moment.base + ray]
                    place_one(moment.by_ends, here, there, row, alpha, scratch.rows, scratch.solid, hits)
                hits += 1
        if in_lanes:
            store_lanes(moment, hits, scratch)
    for j in range(hits):
        best[scratch.ray[j], LIMB] = j
    return hits


@compiled
def store_lanes(moment: Moment, count: int, scratch: RecordedScratch) -> None:
    """Write the first `count` limbs of the list in `scratch`."""
    here, lanes, codes = moment.here, scratch.lanes, moment.here.codes
    for first in range(0, count, LANES):
        for k in range(LANES):
            j = min(first + k, count - 1)
            row, alpha = scratch.row[j], moment.alpha[moment.base + scratch.ray[j]]
            set_lane(lanes, k, here, moment.there, row, alpha)
            scratch.solid[first + k] = codes[CODES_SIZE * here.row[2 * row + MODEL] + SOLID]
        limb = limbs_at_moments(here, moment.there, 0, lanes, 0)
        f, p, q = limb.frame, limb.p1, limb.p2
        c, u = f.centre, f.axis
        store_rows(scratch.rows, first, 0, (c[0], c[1], c[2], u[0], u[1], u[2], f.half_length, f.radius))
        store_rows(scratch.rows, first, LANES, (limb.radius2, p[0], p[1], p[2], q[0], q[1], q[2], f.extent))


@compiled
def sort_by_octant(
    rays: Rays, alpha: Float64Array, order: Int64Array, begin: int, end: int, scratch: RecordedScratch
) -> None:
    """List the rays `order[begin]` to `order[end - 1]` by the octant of their direction; few, in their order."""
    begins, number, octants = scratch.begins, scratch.number, scratch.octant
    together = end - begin < SMALLEST_OCTANT
    for octant in range(MIXED + 2):
        begins[octant] = 0
    for j in range(begin, end):
        ahead = order[min(j + AHEAD, end - 1)]
        prefetch(rays.origin, 3 * ahead)
        prefetch(rays.second, 3 * ahead)
        prefetch(alpha, ahead)
        octant = MIXED if together else octant_of(rays, order[j])
        octants[j - begin] = octant
        begins[octant + 1] += 1
    for octant in range(MIXED + 1):
        begins[octant + 1] += begins[octant]
    for j in range(begin, end):
        octant = octants[j - begin]
        number[begins[octant]], scratch.alpha[begins[octant]] = order[j], alpha[order[j]]
        begins[octant] += 1
    for octant in range(MIXED + 1, 0, -1):
        begins[octant] = begins[octant - 1]
    begins[0] = 0
    for k in range(2 * LANES):  # sixteen may be read from the last one on
        number[end - begin + k] = number[end - begin - 1]


@inlined
def octant_of(rays: Rays, i: int) -> int:
    """The octant of the direction of ray i: bits of its minus signs, that of -0.0 included."""
    x, y, z = rays.second[i, 0], rays.second[i, 1], rays.second[i, 2]
    if rays.is_segment:
        x, y, z = x - rays.origin[i, 0], y - rays.origin[i, 1], z - rays.origin[i, 2]
    return int(with_sign(1.0, x) < 0.0) + 2 * int(with_sign(1.0, y) < 0.0) + 4 * int(with_sign(1.0, z) < 0.0)


@entry_point(reads_all=True)
def cast_recorded(
    raw: RawRays,
    batch: RayBatch,
    recorded: Recorded,
    alpha: Float64Array,
    order: Int64Array,
    tick_begins: Int64Array,
    protection: Protection,
    state: RayState,
    stream: Stream,
    queue: RefineQueue,
    scratch: RecordedScratch,
    begin: int,
    end: int,
    hits: HitColumns,
) -> None:
    """Write the closest limb of each of the rays `order[begin]` to `order[end - 1]`, as a row of its tick.

    Parameters
    ----------
    raw, batch
        The n rays, which have been copied; what they may hit.
    recorded, alpha
        The ticks; of each ray how far its moment is from its tick to the next one, (n,).
    order, tick_begins
        All rays by tick, (n,), and where those of each tick begin, (ticks + 1,); those before them hit nothing.
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
    last, size = recorded.address.shape[0] - 1, state.best.shape[0]
    for t in range(last + 1):
        for first in range(max(begin, tick_begins[t]), min(end, tick_begins[t + 1]), size):
            position = min(first + size, end, tick_begins[t + 1])
            here, there = tick_rows(recorded, t), tick_rows(recorded, min(t + 1, last))
            shared = batch.mask.size == 1 and batch.ignored.size == 1 and protection.ids.size == 0
            in_layers = (recorded.address[t, SHARED_LAYERS] & np.int64(batch.mask[0])) != 0
            accepts_all = shared and batch.ignored[0] < 0 and in_layers
            tree, number, begins = tree_at(recorded, t, stream.code.size), scratch.number, scratch.begins
            sort_by_octant(batch.rays, alpha, order, first, position, scratch)
            for octant in range(MIXED + 1):
                base, count = begins[octant], begins[octant + 1] - begins[octant]
                if count > 0:
                    moment = Moment(here, there, scratch.alpha, number, base, recorded.by_ends, protection, accepts_all)
                    active = setup_rays(raw, batch.rays, tree.space, number, base, count, False, state, stream)
                    traverse_tick(moment, batch, tree, octant, active, scratch, state, stream)
                    placed = place_hits(moment, count, scratch, state)
                    table = LimbRows(scratch.solid, scratch.row, batch.mask, scratch.rows, 0)
                    write_hits(table, number, base, 0, count, state, queue, hits)
                    flush_refine(queue, batch, table, hits)
                    for k in range(placed):
                        hits.limb[number[base + scratch.ray[k]]] = scratch.row[k]
