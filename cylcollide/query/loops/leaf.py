"""The leaf test of a stream: pairs of a ray and a limb, sixteen of one shape at a time.

Pairs are queued by shape until a batch is full; a long list of rays at one limb is tested at once. Either way the hit
bounds go into the state of each ray through `closer`, so that the order of pairs does not change the result.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from cylcollide._types import NO_LIMB, Aim, Column, Float32Array, Float64Array, Int32Array, Rows, Shape
from cylcollide.bvh.stream import REACH
from cylcollide.bvh.traverse import local_reach
from cylcollide.kernels.closest import ClosestHit, closer
from cylcollide.kernels.hit_bounds import two_hit_bounds
from cylcollide.kernels.inside_policy import HitBounds
from cylcollide.kernels.interval import UNDECIDED_FACE
from cylcollide.kernels.ray import Ray
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
    """Buffers for so many rays."""
    size = -(-rays // PAIR_BATCH) * PAIR_BATCH
    nothing = np.zeros(LANES)
    nothing[: STARTS_INSIDE + 1] = NO_LIMB, inf, inf, UNDECIDED_FACE, inf, 0.0  # `no_hit`
    ray, best = aligned((2, size, LANES), np.float64)
    start, per_length = aligned((2, size), np.float64)
    bounds, crossed, crossings = np.empty((3, LANES)), np.empty((0, 2), np.int32), np.zeros(1, np.int64)
    step = np.arange(size, dtype=np.int32)
    return RayState(ray, best, step, nothing, start, per_length, make_pair_queue(), bounds, crossed, crossings)


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
    bounds: HitBounds,
    valid: int,
    chosen: Int32Array,
    first: int,
    limbs: Int32Array,
    limb: int,
    state: RayState,
    local_rays: Float32Array,
    scale: float,
    aim: int,
) -> None:
    """Merge the hit bounds of eight pairs into the closest hits of their rays, those pairs whose bit in `valid` is set.

    The ray of pair k is row `chosen[first + k]`; the limb is `limb`, or `limbs[first + k]` if that is negative.
    A ray's reach in the tree is shortened to its hit, and ends at once if any hit will do.
    """
    hits, scratch = movemask(bounds.possible | bounds.inside) & valid, state.bounds
    if hits == 0:
        return
    if aim == ALL:
        record_crossings(hits, chosen, first, limbs, limb, state)
        return
    store(scratch, LOWERS * LANES, bounds.lower)
    store(scratch, UPPERS * LANES, bounds.upper)
    store(scratch, FACES * LANES, bounds.face)
    possible, certain, inside = movemask(bounds.possible), movemask(bounds.certain), movemask(bounds.inside)
    while hits:
        k = lowest_bit(hits)
        hits &= hits - 1
        i, index = chosen[first + k], float(limb if limb >= 0 else limbs[first + k])
        one = HitBounds(
            (possible >> k) & 1 != 0,
            (certain >> k) & 1 != 0,
            scratch[LOWERS, k],
            scratch[UPPERS, k],
            (inside >> k) & 1 != 0,
            scratch[FACES, k],
        )
        merge_hit(one, i, index, state, local_rays, scale)
        if aim == ANY and one.certain:
            local_rays[i, REACH] = -1.0  # intersects no further box


@inlined
def merge_hit(bounds: HitBounds, i: int, limb: float, state: RayState, local_rays: Float32Array, scale: float) -> None:
    """Merge the hit bounds of ray i and a limb into its closest hit, and shorten its reach in the tree."""
    best = closer(closest_of(state, i), limb, bounds)
    row = state.best[i]
    row[LIMB], row[LOWER], row[UPPER] = best.limb, best.lower, best.upper
    row[FACE], row[NEXT_POSSIBLE], row[STARTS_INSIDE] = best.face, best.next_possible, select(best.inside, 1.0, 0.0)
    local_rays[i, REACH] = local_reach(min(best.upper, state.ray[i, LIMIT]), scale, state.start[i])


@inlined
def record_crossings(hits: int, chosen: Int32Array, first: int, limbs: Int32Array, limb: int, state: RayState) -> None:
    """Append pairs of a ray and a limb that it may cross to `state.crossed`, those of the set bits of `hits`.

    Pairs beyond the size of that buffer are counted, not stored.
    """
    recorded, crossed = state.crossings[0], state.crossed
    while hits:
        k = lowest_bit(hits)
        hits &= hits - 1
        if recorded < len(crossed):
            crossed[recorded, 0], crossed[recorded, 1] = chosen[first + k], limb if limb >= 0 else limbs[first + k]
        recorded += 1
    state.crossings[0] = recorded


@compiled
def test_pair_batch(
    shape: int, policy: int, rows: Float64Array, state: RayState, local_rays: Float32Array, scale: float, aim: int
) -> None:
    """Test the queued pairs of one shape, and empty its queue."""
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
    record_hits(bounds, valid & ALL_LANES, rays, first, limbs, -1, state, local_rays, scale, aim)
    record_hits(other_bounds, valid >> LANES, rays, first + LANES, limbs, -1, state, local_rays, scale, aim)
    queue.queued[shape] = 0


@compiled
def test_ray_list(
    limb: int,
    shape: int,
    policy: int,
    rows: Float64Array,
    live: Int32Array,
    first: int,
    end: int,
    state: RayState,
    local_rays: Float32Array,
    scale: float,
    aim: int,
) -> int:
    """Test one limb against rays `live[first]` to `live[end - 1]`, sixteen at a time; the first that is left over."""
    while first + 2 * LANES <= end:
        ray, other = eight_rays(state, live, first), eight_rays(state, live, first + LANES)
        if shape == CYLINDER:
            cylinder = one_limb(rows, CYLINDER, limb)
            bounds, other_bounds = two_hit_bounds(ray, other, cylinder, cylinder, policy)
        else:
            one = one_limb(rows, shape, limb)
            bounds, other_bounds = two_hit_bounds(ray, other, one, one, policy)
        record_hits(bounds, ALL_LANES, live, first, live, limb, state, local_rays, scale, aim)
        record_hits(other_bounds, ALL_LANES, live, first + LANES, live, limb, state, local_rays, scale, aim)
        first += 2 * LANES
    return first
