"""Rays and limbs in pairs, eight of one shape at a time: what they find, and where exactly."""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Float32Array, Float64Array, Int32Array, Int64Array, Shape
from cylcollide.bvh.traverse import local_reach
from cylcollide.kernels.closest import ClosestHit, closer, no_hit
from cylcollide.kernels.hit_bounds import HitBounds, two_hit_bounds
from cylcollide.kernels.limb_table import ROW
from cylcollide.kernels.ray import Ray
from cylcollide.query.loops.packets import limbs_at, one_limb
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.memory import aligned
from cylcollide.runtime.simd import LANES, load_rows, lowest_bit, movemask, prefetch, select, store

# columns of `Work.best`: a `ClosestHit`
LIMB, LOWER, UPPER, FACE, NEXT_POSSIBLE, STARTS_INSIDE = range(6)
LIMIT = 6  # column of `Work.ray`
SHAPES, CYLINDER = len(Shape), int(Shape.CYLINDER)
CLOSEST, ANY, ALL = range(3)
"""What is asked for of the limbs that a ray may hit."""

PAIR_BATCH = 2 * LANES
"""Pairs of a shape that wait for each other."""
ALL_LANES = (1 << LANES) - 1
"""Eight lanes, as bits."""


class RayState(NamedTuple):
    """Room for one stream of rays. One per thread."""

    ray: Float64Array  # (rays, 8): what kernels read of a ray: origin, direction, limit, extent
    best: Float64Array  # (rays, 8): what each has found, a `ClosestHit`
    step: Int32Array  # (rays,): 0, 1, 2, ...
    nothing: Float64Array  # (8,): a row of it before the first limb
    start: Float64Array  # (rays,): where it begins in the tree
    per_length: Float64Array  # (rays,): fraction of a metre
    pair_ray: Int32Array  # (SHAPES, CROWD): pairs that wait, shape by shape
    pair_limb: Int32Array  # (SHAPES, CROWD)
    pairs: Int64Array  # (SHAPES,): how many wait
    answer: Float64Array  # (3, 8): of the eight pairs at work
    crossed: Int32Array  # (pairs, 2): rays and limbs that they may cross, if every limb is asked for
    crossings: Int64Array  # (1,): how many there are, more perhaps than there is room for


def make_ray_state(rays: int) -> RayState:
    """Room for so many rays."""
    room = -(-rays // PAIR_BATCH) * PAIR_BATCH
    pair_ray, pair_limb = np.zeros((2, SHAPES, PAIR_BATCH), np.int32)
    waiting, nothing = np.zeros(SHAPES, np.int64), np.zeros(LANES)
    nothing[: len(ClosestHit._fields)] = no_hit(0.0)
    ray, best = aligned((2, room, LANES), np.float64)
    start, per_length = aligned((2, room), np.float64)
    step = np.arange(room, dtype=np.int32)
    answer, crossed = np.empty((3, LANES)), np.empty((0, 2), np.int32)
    crossings = np.zeros(1, np.int64)
    return RayState(
        ray, best, step, nothing, start, per_length, pair_ray, pair_limb, waiting, answer, crossed, crossings
    )


@inlined
def closest_of(state: RayState, i: int) -> ClosestHit:
    """What ray i has found so far."""
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
    """The eight rays whose rows stand at `chosen[first]` and behind."""
    c = load_rows(state.ray, chosen, first, 0)
    return Ray((c[0], c[1], c[2]), (c[3], c[4], c[5]), c[6], c[6], c[6], c[7])  # the lengths are not asked for


@inlined
def enqueue_pair(state: RayState, rows: Float64Array, shape: int, ray: int, limb: int) -> bool:
    """Let a ray and a limb wait until there are enough pairs of its shape; whether there are."""
    k = state.pairs[shape]
    state.pair_ray[shape, k], state.pair_limb[shape, k] = ray, limb
    prefetch(rows, limb * ROW)
    prefetch(rows, limb * ROW + LANES)
    state.pairs[shape] = k + 1
    return bool(k + 1 == PAIR_BATCH)


@inlined
def record_hits(
    bounds: HitBounds,
    counted: int,
    chosen: Int32Array,
    first: int,
    limbs: Int32Array,
    limb: int,
    state: RayState,
    traversal: Float32Array,
    scale: float,
    aim: int,
) -> None:
    """What eight events change, ray by ray; the limb is `limb`, or of pair k `limbs[first + k]` if that is negative."""
    counts, answer = movemask(bounds.possible | bounds.inside) & counted, state.answer
    if counts == 0:
        return
    if aim == ALL:
        record_crossings(counts, chosen, first, limbs, limb, state)
        return
    store(answer, 0, bounds.lower)
    store(answer, LANES, bounds.upper)
    store(answer, 2 * LANES, bounds.face)
    possible, certain, inside = movemask(bounds.possible), movemask(bounds.certain), movemask(bounds.inside)
    while counts:
        k = lowest_bit(counts)
        counts &= counts - 1
        i, index = chosen[first + k], float(limb if limb >= 0 else limbs[first + k])
        one = HitBounds(
            (possible >> k) & 1 != 0,
            (certain >> k) & 1 != 0,
            answer[0, k],
            answer[1, k],
            (inside >> k) & 1 != 0,
            answer[2, k],
        )
        best = closer(closest_of(state, i), index, one)
        row = state.best[i]
        row[LIMB], row[LOWER], row[UPPER] = best.limb, best.lower, best.upper
        row[FACE], row[NEXT_POSSIBLE], row[STARTS_INSIDE] = best.face, best.next_possible, select(best.inside, 1.0, 0.0)
        traversal[i, 6] = local_reach(min(best.upper, state.ray[i, LIMIT]), scale, state.start[i])
        if aim == ANY and one.certain:
            traversal[i, 6] = -1.0  # no box is met any more


@inlined
def record_crossings(
    counts: int, chosen: Int32Array, first: int, limbs: Int32Array, limb: int, state: RayState
) -> None:
    """Note which of eight rays may cross their limb, as long as there is room."""
    noted = state.crossings[0]
    while counts:
        k = lowest_bit(counts)
        counts &= counts - 1
        if noted < len(state.crossed):
            state.crossed[noted, 0], state.crossed[noted, 1] = (
                chosen[first + k],
                limb if limb >= 0 else limbs[first + k],
            )
        noted += 1
    state.crossings[0] = noted


@compiled
def test_pair_batch(
    shape: int, policy: int, rows: Float64Array, state: RayState, traversal: Float32Array, scale: float, aim: int
) -> None:
    """The pairs of one shape that wait."""
    first, count = shape * PAIR_BATCH, state.pairs[shape]
    rays, limbs = state.pair_ray.reshape(-1), state.pair_limb.reshape(-1)
    ray, other = eight_rays(state, rays, first), eight_rays(state, rays, first + LANES)
    if shape == CYLINDER:  # a constant, so that both events are one stretch of code without a branch
        limb, limb_of_other = limbs_at(rows, CYLINDER, limbs, first), limbs_at(rows, CYLINDER, limbs, first + LANES)
        bounds, other_bounds = two_hit_bounds(ray, other, limb, limb_of_other, policy)
    else:
        limb, limb_of_other = limbs_at(rows, shape, limbs, first), limbs_at(rows, shape, limbs, first + LANES)
        bounds, other_bounds = two_hit_bounds(ray, other, limb, limb_of_other, policy)
    counted = (1 << count) - 1
    record_hits(bounds, counted & ALL_LANES, rays, first, limbs, -1, state, traversal, scale, aim)
    record_hits(other_bounds, counted >> LANES, rays, first + LANES, limbs, -1, state, traversal, scale, aim)
    state.pairs[shape] = 0


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
    traversal: Float32Array,
    scale: float,
    aim: int,
) -> int:
    """One limb and the rays of a list, as long as there are twice eight; where it stopped."""
    while first + 2 * LANES <= end:
        ray, other = eight_rays(state, live, first), eight_rays(state, live, first + LANES)
        if shape == CYLINDER:
            cylinder = one_limb(rows, CYLINDER, limb)
            bounds, other_bounds = two_hit_bounds(ray, other, cylinder, cylinder, policy)
        else:
            one = one_limb(rows, shape, limb)
            bounds, other_bounds = two_hit_bounds(ray, other, one, one, policy)
        record_hits(bounds, ALL_LANES, live, first, live, limb, state, traversal, scale, aim)
        record_hits(other_bounds, ALL_LANES, live, first + LANES, live, limb, state, traversal, scale, aim)
        first += 2 * LANES
    return first
