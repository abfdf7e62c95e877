"""The leaf test of a stream: pairs of a ray and a limb, sixteen of one shape at a time.

Pairs are queued by shape until a batch is full; a long list of rays at one limb is tested at once. Either way
`closer_or_tied` merges the hit bounds into the state of each ray, so that the order of pairs changes no answer.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from cylcollide._types import NO_LIMB, POLICY_EXIT, Aim, Column, Int32Array, Rows, Shape
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.stream import REACH, Stream, make_stream
from cylcollide.bvh.traverse import END_OF_TRAVERSAL, local_reach
from cylcollide.kernels.hit_bounds import Closest, two_hit_bounds
from cylcollide.kernels.inside_policy import HitBounds
from cylcollide.kernels.interval import UNDECIDED_FACE
from cylcollide.kernels.limb_table import LimbRows
from cylcollide.kernels.ray import Ray
from cylcollide.kernels.ties import closer_or_tied
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.loops.packets import (
    FACES,
    PAIR_BATCH,
    SHAPES,
    PairQueue,
    limbs_at,
    make_pair_queue,
    one_limb,
)
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.memory import aligned
from cylcollide.runtime.simd import LANES, Real, Truth, load_rows, lowest_bit, movemask, select, store

LIMB, LOWER, UPPER, FACE, NEXT_POSSIBLE, STARTS_INSIDE = range(6)
"""Columns of `StreamScratch.best`: the numbers of a `Closest`."""
LIMIT = 6
"""Column of `StreamScratch.ray`."""
CYLINDER, ANY, ALL = int(Shape.CYLINDER), int(Aim.ANY), int(Aim.ALL)
ALL_LANES = (1 << LANES) - 1
"""Mask of eight lanes."""


class StreamScratch(NamedTuple):
    """The rays of one stream, what each has hit so far, queued pairs, and the order of a chunk. One per thread."""

    ray: Rows[np.float64]  # (rays, 8): what kernels read of a ray: origin, direction, limit, extent
    best: Rows[np.float64]  # (rays, 8): the `Closest` of each ray so far
    step: Column[np.int32]  # (rays,): 0, 1, 2, ...
    nothing: Column[np.float64]  # (8,): a row of `best` before the first limb
    middle: Column[np.float64]  # (rays,): `LocalRay.middle`
    per_length: Column[np.float64]  # (rays,): fraction of a unit of length
    radius: Column[np.float64]  # (rays,): of thick rays
    stream: Stream  # their way through the tree
    pairs: PairQueue  # rays of the stream and limbs, by shape, to be tested; last two: `thick_leaf`
    refine: PairQueue  # hits, by shape and face, whose fraction is a guess: rays of the query and limbs
    crossed: Rows[np.int32]  # (pairs, 2): rays and limbs that they may cross, for the aim ALL
    crossings: Column[np.int64]  # (1,): how many there are, possibly more than `crossed` holds
    number: Column[np.int32]  # (chunk + 16,): the rays of a chunk in the order of streams
    key: Column[np.uint16]  # (chunk,): octant and cell of each, for the sort
    bucket: Column[np.int32]  # where each key begins
    octant: Column[np.int64]  # (10,): where octants begin in `number`; last: begin and end of all, unsorted


def make_stream_scratch(tree: Tree, rays: int, chunk: int) -> StreamScratch:
    """Buffers for streams of `rays` rays, chunks of `chunk` rays, and any traversal of this tree."""
    size = -(-rays // PAIR_BATCH) * PAIR_BATCH
    nothing = np.zeros(LANES)
    nothing[: STARTS_INSIDE + 1] = NO_LIMB, inf, inf, UNDECIDED_FACE, inf, 0.0  # `no_hit`
    ray, best = aligned((2, size, LANES), np.float64)
    middle, per_length, radius = aligned((3, size), np.float64)
    step, crossed, crossings = np.arange(size, dtype=np.int32), np.empty((0, 2), np.int32), np.zeros(1, np.int64)
    pairs = make_pair_queue(SHAPES + 2, PAIR_BATCH, 3 * LANES)
    refine = make_pair_queue(SHAPES * FACES, rays + 2 * PAIR_BATCH, PAIR_BATCH)
    stream, number, key = make_stream(tree, rays), np.empty(chunk + 2 * LANES, np.int32), np.empty(chunk, np.uint16)
    sort = number, key, np.empty(8 * 16**3 + 1, np.int32), np.empty(10, np.int64)
    return StreamScratch(
        ray, best, step, nothing, middle, per_length, radius, stream, pairs, refine, crossed, crossings, *sort
    )


class StreamQuery(NamedTuple):
    """The rays of one stream, ray k of which is row `number[base + k]` of the query, and the limbs of the tree."""

    batch: RayBatch
    table: LimbRows  # `kernel_shape` is empty if hits have other indices: ties stay undecided
    aim: int
    scale: float  # of the tree
    state: StreamScratch
    number: Int32Array
    base: int
    shared_filter: bool  # all rays consider the same limbs
    accepts_all: bool  # all rays certainly consider all limbs
    thick: bool  # rays have radii


@inlined
def closest_in(best: tuple[Real, ...], inside: Truth) -> Closest:
    """The closest hit whose numbers are a row of `best`, or eight rows; `inside`: a ray starts in a limb."""
    limb, lower, upper, face, next_possible = best[LIMB], best[LOWER], best[UPPER], best[FACE], best[NEXT_POSSIBLE]
    known = limb >= 0.0
    return limb, next_possible, HitBounds(known, known, lower, upper, inside, face)


@inlined
def closest_of(state: StreamScratch, i: int) -> Closest:
    """The closest hit of ray i so far."""
    best = state.best
    numbers = best[i, LIMB], best[i, LOWER], best[i, UPPER], best[i, FACE], best[i, NEXT_POSSIBLE]
    return closest_in(numbers, best[i, STARTS_INSIDE] > 0.0)


@inlined
def eight_rays(state: StreamScratch, chosen: Int32Array, first: int) -> Ray:
    """The rays of rows `chosen[first]` to `chosen[first + 7]`, for hit bounds alone: lengths and radius are invalid."""
    c = load_rows(state.ray, chosen, first, 0)
    return Ray((c[0], c[1], c[2]), (c[3], c[4], c[5]), c[6], c[6], c[6], c[7], c[6])


@inlined
def record_hits(
    query: StreamQuery, bounds: HitBounds, valid: int, chosen: Int32Array, first: int, limbs: Int32Array, limb: int
) -> None:
    """Of eight pairs, merge the hit bounds of those with a bit in `valid` into the closest hits of their rays.

    The ray of pair k is row `chosen[first + k]`; the limb is `limb`, or `limbs[first + k]` if that is negative.
    A ray's reach in the tree is shortened to its hit; for the aim ANY it becomes `END_OF_TRAVERSAL`.
    """
    hits, found = movemask(bounds.possible | bounds.inside) & valid, query.state.pairs.found
    if hits == 0:
        return
    if query.aim == ALL:
        while hits:
            k = lowest_bit(hits)
            hits &= hits - 1
            record_crossing(query.state, chosen[first + k], limb if limb >= 0 else limbs[first + k])
        return
    store(found, 0, bounds.lower)
    store(found, LANES, bounds.upper)
    store(found, 2 * LANES, bounds.face)
    possible, certain, inside = movemask(bounds.possible), movemask(bounds.certain), movemask(bounds.inside)
    while hits:
        k = lowest_bit(hits)
        hits &= hits - 1
        i, index = chosen[first + k], limb if limb >= 0 else limbs[first + k]
        one = HitBounds(
            (possible >> k) & 1 != 0,
            (certain >> k) & 1 != 0,
            found[k],
            found[LANES + k],
            (inside >> k) & 1 != 0,
            found[2 * LANES + k],
        )
        merge_hit(query, one, i, index)
        if query.aim == ANY and one.certain:
            query.state.stream.record[i, REACH] = END_OF_TRAVERSAL


@inlined
def merge_hit(query: StreamQuery, bounds: HitBounds, i: int, limb: int) -> None:
    """Merge the hit bounds of ray i and a limb into its closest hit, and shorten its reach in the tree."""
    state, table = query.state, query.table
    best, next_possible, hit = closer_or_tied(
        closest_of(state, i),
        limb,
        bounds,
        table.rows,
        table.kernel_shape,
        not query.thick,
        query.batch.policy == POLICY_EXIT,
    )
    row = state.best[i]
    row[LIMB], row[LOWER], row[UPPER] = best, hit.lower, hit.upper
    row[FACE], row[NEXT_POSSIBLE], row[STARTS_INSIDE] = hit.face, next_possible, select(hit.inside, 1.0, 0.0)
    state.stream.record[i, REACH] = local_reach(min(hit.upper, state.ray[i, LIMIT]), query.scale, state.middle[i])


@inlined
def record_crossing(state: StreamScratch, ray: int, limb: int) -> None:
    """Append a ray and a limb that it may cross to `state.crossed`; one beyond its size is counted, not stored."""
    k = state.crossings[0]
    if k < len(state.crossed):
        state.crossed[k, 0], state.crossed[k, 1] = ray, limb
    state.crossings[0] = k + 1


@compiled
def test_pair_batch(query: StreamQuery, shape: int) -> None:
    """Test the queued pairs of one shape, and empty its queue."""
    rows, policy, state = query.table.rows, query.batch.policy, query.state
    queue, first = state.pairs, int(shape) * PAIR_BATCH
    rays, limbs = queue.row.reshape(-1), queue.limb.reshape(-1)
    ray, other = eight_rays(state, rays, first), eight_rays(state, rays, first + LANES)
    if shape == CYLINDER:  # a constant: both tests become straight-line code
        limb, limb_of_other = limbs_at(rows, CYLINDER, limbs, first), limbs_at(rows, CYLINDER, limbs, first + LANES)
        bounds, other_bounds = two_hit_bounds(ray, other, limb, limb_of_other, policy)
    else:
        limb, limb_of_other = limbs_at(rows, shape, limbs, first), limbs_at(rows, shape, limbs, first + LANES)
        bounds, other_bounds = two_hit_bounds(ray, other, limb, limb_of_other, policy)
    valid = (1 << queue.queued[shape]) - 1
    record_hits(query, bounds, valid & ALL_LANES, rays, first, limbs, -1)
    record_hits(query, other_bounds, valid >> LANES, rays, first + LANES, limbs, -1)
    queue.queued[shape] = 0


@compiled
def test_ray_list(query: StreamQuery, limb: int, shape: int, first: int, end: int) -> int:
    """Test a limb against rays `live[first]` to `live[end - 1]` by sixteens; returns the first left over."""
    rows, policy, state, live = query.table.rows, query.batch.policy, query.state, query.state.stream.live
    while first + 2 * LANES <= end:
        ray, other = eight_rays(state, live, first), eight_rays(state, live, first + LANES)
        if shape == CYLINDER:
            cylinder = one_limb(rows, CYLINDER, limb)
            bounds, other_bounds = two_hit_bounds(ray, other, cylinder, cylinder, policy)
        else:
            one = one_limb(rows, shape, limb)
            bounds, other_bounds = two_hit_bounds(ray, other, one, one, policy)
        record_hits(query, bounds, ALL_LANES, live, first, live, limb)
        record_hits(query, other_bounds, ALL_LANES, live, first + LANES, live, limb)
        first += 2 * LANES
    return first
