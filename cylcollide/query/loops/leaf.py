"""The leaf test of a stream: pairs of a ray and a limb, sixteen of one shape at a time.

Pairs are queued by shape until a batch is full; a long list of rays at one limb is tested at once. Either way the hit
bounds go into the state of each ray through `closer`, so that the order of pairs does not change the result.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from cylcollide._types import NO_LIMB, Aim, Column, Float64Array, Int8Array, Int32Array, Rows, Shape
from cylcollide.bvh.stream import REACH, Stream
from cylcollide.bvh.traverse import NO_FURTHER, local_reach
from cylcollide.kernels.closest import ClosestHit
from cylcollide.kernels.hit_bounds import two_hit_bounds
from cylcollide.kernels.inside_policy import HitBounds
from cylcollide.kernels.interval import UNDECIDED_FACE
from cylcollide.kernels.ray import Ray
from cylcollide.kernels.ties import closer_or_tied
from cylcollide.query.loops.packets import limbs_at, one_limb
from cylcollide.query.loops.pair_queue import PAIR_BATCH, PairQueue, make_pair_queue
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.memory import aligned
from cylcollide.runtime.simd import LANES, load_rows, lowest_bit, movemask, select, store

LIMB, LOWER, UPPER, FACE, NEXT_POSSIBLE, STARTS_INSIDE = range(6)
"""Columns of `RayState.best`: the fields of a `ClosestHit`."""
LIMIT = 6
"""Column of `RayState.ray`."""
LOWERS, UPPERS, FACES = range(3)
"""Rows of `RayState.bounds`."""
CYLINDER, ANY, ALL = int(Shape.CYLINDER), int(Aim.ANY), int(Aim.ALL)
ALL_LANES = (1 << LANES) - 1
"""Eight lanes, as bits."""


class RayState(NamedTuple):
    """The rays of one stream, what each has hit so far, and the queue of pairs to be tested. One per thread."""

    ray: Rows[np.float64]  # (rays, 8): what kernels read of a ray: origin, direction, limit, extent
    best: Rows[np.float64]  # (rays, 8): the `ClosestHit` of each ray so far
    step: Column[np.int32]  # (rays,): 0, 1, 2, ...
    nothing: Column[np.float64]  # (8,): a row of `best` before the first limb
    start: Column[np.float64]  # (rays,): where the ray begins in the frame of the tree
    per_length: Column[np.float64]  # (rays,): fraction of one metre
    pairs: PairQueue  # of rays of the stream and limbs
    bounds: Rows[np.float64]  # (3, 8): lower, upper and face of the eight pairs under test
    crossed: Rows[np.int32]  # (pairs, 2): rays and limbs that they may cross, for the aim ALL
    crossings: Column[np.int64]  # (1,): how many there are, possibly more than `crossed` holds


def make_ray_state(rays: int) -> RayState:
    """Buffers for this number of rays."""
    size = -(-rays // PAIR_BATCH) * PAIR_BATCH
    nothing = np.zeros(LANES)
    nothing[: STARTS_INSIDE + 1] = NO_LIMB, inf, inf, UNDECIDED_FACE, inf, 0.0  # `no_hit`
    ray, best = aligned((2, size, LANES), np.float64)
    start, per_length = aligned((2, size), np.float64)
    bounds, crossed, crossings = np.empty((3, LANES)), np.empty((0, 2), np.int32), np.zeros(1, np.int64)
    step = np.arange(size, dtype=np.int32)
    return RayState(ray, best, step, nothing, start, per_length, make_pair_queue(), bounds, crossed, crossings)


class LeafTest(NamedTuple):
    """What tests of pairs read and write."""

    policy: int
    aim: int
    rows: Float64Array  # of the limbs
    solid: Int8Array  # of the limbs; (0,) if hits have other indices, and ties are not told
    scale: float  # of the tree
    state: RayState
    stream: Stream


@inlined
def closest_of(state: RayState, i: int) -> ClosestHit:
    """The closest hit of ray i so far."""
    best = state.best
    return ClosestHit(
        best[i, LIMB],
        best[i, LOWER],
        best[i, UPPER],
        best[i, FACE],
        best[i, NEXT_POSSIBLE],
        best[i, STARTS_INSIDE] > 0.0,
    )


@inlined
def eight_rays(state: RayState, chosen: Int32Array, first: int) -> Ray:
    """The rays of rows `chosen[first]` to `chosen[first + 7]`, without lengths, which hit bounds do not use."""
    c = load_rows(state.ray, chosen, first, 0)
    return Ray((c[0], c[1], c[2]), (c[3], c[4], c[5]), c[6], c[6], c[6], c[7])


@inlined
def record_hits(
    test: LeafTest, bounds: HitBounds, valid: int, chosen: Int32Array, first: int, limbs: Int32Array, limb: int
) -> None:
    """Merge the hit bounds of eight pairs into the closest hits of their rays, those pairs whose bit in `valid` is set.

    The ray of pair k is row `chosen[first + k]`; the limb is `limb`, or `limbs[first + k]` if that is negative.
    A ray's reach in the tree is shortened to its hit, and ends at once if any hit will do.
    """
    hits, scratch = movemask(bounds.possible | bounds.inside) & valid, test.state.bounds
    if hits == 0:
        return
    if test.aim == ALL:
        while hits:
            k = lowest_bit(hits)
            hits &= hits - 1
            record_crossing(test.state, chosen[first + k], limb if limb >= 0 else limbs[first + k])
        return
    store(scratch, LOWERS * LANES, bounds.lower)
    store(scratch, UPPERS * LANES, bounds.upper)
    store(scratch, FACES * LANES, bounds.face)
    possible, certain, inside = movemask(bounds.possible), movemask(bounds.certain), movemask(bounds.inside)
    while hits:
        k = lowest_bit(hits)
        hits &= hits - 1
        i, index = chosen[first + k], limb if limb >= 0 else limbs[first + k]
        one = HitBounds(
            (possible >> k) & 1 != 0,
            (certain >> k) & 1 != 0,
            scratch[LOWERS, k],
            scratch[UPPERS, k],
            (inside >> k) & 1 != 0,
            scratch[FACES, k],
        )
        merge_hit(test, one, i, index)
        if test.aim == ANY and one.certain:
            test.stream.record[i, REACH] = NO_FURTHER


@inlined
def merge_hit(test: LeafTest, bounds: HitBounds, i: int, limb: int) -> None:
    """Merge the hit bounds of ray i and a limb into its closest hit, and shorten its reach in the tree."""
    state = test.state
    best = closer_or_tied(closest_of(state, i), limb, bounds, test.rows, test.solid)
    row = state.best[i]
    row[LIMB], row[LOWER], row[UPPER] = best.limb, best.lower, best.upper
    row[FACE], row[NEXT_POSSIBLE], row[STARTS_INSIDE] = best.face, best.next_possible, select(best.inside, 1.0, 0.0)
    reach = local_reach(min(best.upper, state.ray[i, LIMIT]), test.scale, state.start[i])
    test.stream.record[i, REACH] = reach


@inlined
def record_crossing(state: RayState, ray: int, limb: int) -> None:
    """Append a ray and a limb that it may cross to `state.crossed`; one beyond its size is counted, not stored."""
    k = state.crossings[0]
    if k < len(state.crossed):
        state.crossed[k, 0], state.crossed[k, 1] = ray, limb
    state.crossings[0] = k + 1


@compiled
def test_pair_batch(test: LeafTest, shape: int) -> None:
    """Test the queued pairs of one shape, and empty its queue."""
    rows, policy, state, queue, first = test.rows, test.policy, test.state, test.state.pairs, int(shape) * PAIR_BATCH
    rays, limbs = queue.row.reshape(-1), queue.limb.reshape(-1)
    ray, other = eight_rays(state, rays, first), eight_rays(state, rays, first + LANES)
    if shape == CYLINDER:  # a constant: both tests become straight-line code
        limb, limb_of_other = limbs_at(rows, CYLINDER, limbs, first), limbs_at(rows, CYLINDER, limbs, first + LANES)
        bounds, other_bounds = two_hit_bounds(ray, other, limb, limb_of_other, policy)
    else:
        limb, limb_of_other = limbs_at(rows, shape, limbs, first), limbs_at(rows, shape, limbs, first + LANES)
        bounds, other_bounds = two_hit_bounds(ray, other, limb, limb_of_other, policy)
    valid = (1 << queue.queued[shape]) - 1
    record_hits(test, bounds, valid & ALL_LANES, rays, first, limbs, -1)
    record_hits(test, other_bounds, valid >> LANES, rays, first + LANES, limbs, -1)
    queue.queued[shape] = 0


@compiled
def test_ray_list(test: LeafTest, limb: int, shape: int, first: int, end: int) -> int:
    """Test a limb against rays `live[first]` to `live[end - 1]`, sixteen at a time; the first that is left over."""
    rows, policy, state, live = test.rows, test.policy, test.state, test.stream.live
    while first + 2 * LANES <= end:
        ray, other = eight_rays(state, live, first), eight_rays(state, live, first + LANES)
        if shape == CYLINDER:
            cylinder = one_limb(rows, CYLINDER, limb)
            bounds, other_bounds = two_hit_bounds(ray, other, cylinder, cylinder, policy)
        else:
            one = one_limb(rows, shape, limb)
            bounds, other_bounds = two_hit_bounds(ray, other, one, one, policy)
        record_hits(test, bounds, ALL_LANES, live, first, live, limb)
        record_hits(test, other_bounds, ALL_LANES, live, first + LANES, live, limb)
        first += 2 * LANES
    return first
