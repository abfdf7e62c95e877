"""The leaf test of a stream of thick rays: pairs of a ray and a limb, sixteen of one shape at a time, as in `leaf`.

Steps of Newton's method bound the contact with a cylinder; most pairs need one. Pairs that need more are queued until
there are eight: side by side with others, they would keep finished lanes idle.
"""

from cylcollide._types import POLICY_HIT, Int32Array
from cylcollide.bvh.stream import REACH
from cylcollide.bvh.traverse import END_OF_TRAVERSAL
from cylcollide.kernels.hit_bounds import first_step_bounds, limb_hit_bounds, thick_hit_bounds
from cylcollide.kernels.inside_policy import HitBounds
from cylcollide.kernels.limb_table import limb_at
from cylcollide.kernels.ray import Ray
from cylcollide.query.loops.leaf import (
    ALL,
    ALL_LANES,
    ANY,
    CYLINDER,
    StreamQuery,
    StreamScratch,
    eight_rays,
    merge_hit,
    record_crossing,
    record_hits,
)
from cylcollide.query.loops.packets import PAIR_BATCH, SHAPES, enqueue_pair, limbs_at
from cylcollide.runtime.compile import compiled, inlined, noinline
from cylcollide.runtime.simd import LANES, load_at, lowest_bit, movemask

MORE_STEPS, LISTED = SHAPES, SHAPES + 1
"""Slots of thick rays and cylinders that take more than one step, and of a list of rays and its limb."""


@inlined
def eight_thick_rays(state: StreamScratch, chosen: Int32Array, first: int) -> Ray:
    """`eight_rays` with their radii."""
    r, radius = eight_rays(state, chosen, first), load_at(state.radius, chosen, first, 1, 0)
    return Ray(r.origin, r.direction, r.length, r.per_length, r.limit, r.extent, radius)


@inlined
def one_ray(state: StreamScratch, i: int, radius: float) -> Ray:
    """Ray i of the stream; lengths are invalid."""
    r = state.ray[i]
    return Ray((r[0], r[1], r[2]), (r[3], r[4], r[5]), r[6], r[6], r[6], r[7], radius)


@compiled
def test_thick_pairs(query: StreamQuery, shape: int) -> None:
    """As `test_pair_batch`, for thick rays."""
    queue, first = query.state.pairs, int(shape) * PAIR_BATCH
    rays, limbs, left = queue.row.reshape(-1), queue.limb.reshape(-1), queue.queued[shape]
    for k in range(left, PAIR_BATCH):  # lanes without a pair repeat the first: no extra step
        rays[first + k], limbs[first + k] = rays[first], limbs[first]
    test_thick(query, shape, (1 << left) - 1, first)
    queue.queued[shape] = 0


@inlined
def test_thick(query: StreamQuery, shape: int, valid: int, first: int) -> None:
    """Test those of sixteen pairs, from number `first` of all slots on, that have a bit in `valid`."""
    if shape == CYLINDER and query.batch.policy == POLICY_HIT:
        test_first_step(query, valid, first)
        return
    while valid:
        test_thick_eight(query, shape, valid & ALL_LANES, first)
        first, valid = first + LANES, valid >> LANES


@noinline
def test_first_step(query: StreamQuery, valid: int, first: int) -> None:
    """As `test_thick`, for cylinders. Pairs that take more than one step, a sixth, are queued until there are eight."""
    rows, state, two = query.table.rows, query.state, first + LANES
    rays, limbs = state.pairs.row.reshape(-1), state.pairs.limb.reshape(-1)
    ray, other = eight_thick_rays(state, rays, first), eight_thick_rays(state, rays, two)
    bounds, is_open = first_step_bounds(ray, limbs_at(rows, CYLINDER, limbs, first))
    other_bounds, other_open = first_step_bounds(other, limbs_at(rows, CYLINDER, limbs, two))
    more = valid & (movemask(is_open | (ray.radius == 0.0)) | movemask(other_open | (other.radius == 0.0)) << LANES)
    record_hits(query, bounds, valid & ~more & ALL_LANES, rays, first, limbs, -1)
    record_hits(query, other_bounds, (valid & ~more) >> LANES, rays, two, limbs, -1)
    while more:
        k = first + lowest_bit(more)
        more &= more - 1
        if enqueue_pair(state.pairs, MORE_STEPS, rays[k], limbs[k]) == LANES:
            test_more_steps(query)


@compiled
def test_more_steps(query: StreamQuery) -> None:
    """Test the queued pairs of a thick ray and a cylinder that take more than a step, and empty their queue."""
    queue, first = query.state.pairs, MORE_STEPS * PAIR_BATCH
    rays, limbs, left = queue.row.reshape(-1), queue.limb.reshape(-1), queue.queued[MORE_STEPS]
    for k in range(left, LANES):
        rays[first + k], limbs[first + k] = rays[first], limbs[first]
    queue.queued[MORE_STEPS] = 0
    if left > 0:
        test_thick_eight(query, CYLINDER, (1 << left) - 1, first)


@noinline
def test_thick_eight(query: StreamQuery, shape: int, valid: int, first: int) -> None:
    """As `test_thick`, for eight pairs with all steps; a ray of radius 0 is a line."""
    rows, queue = query.table.rows, query.state.pairs
    rays, limbs = queue.row.reshape(-1), queue.limb.reshape(-1)
    ray = eight_thick_rays(query.state, rays, first)
    lines = movemask(ray.radius == 0.0) & valid
    if lines != valid:
        bounds = thick_hit_bounds(ray, limbs_at(rows, shape, limbs, first), query.batch.policy)
        record_hits(query, bounds, valid & ~lines, rays, first, limbs, -1)
    while lines:
        k = first + lowest_bit(lines)
        lines &= lines - 1
        place = limb_at(rows, query.table.kernel_shape, limbs[k])
        bounds_of_line = limb_hit_bounds(one_ray(query.state, rays[k], 0.0), place, query.batch.policy)
        record_one(query, bounds_of_line, rays[k], limbs[k])


@inlined
def record_one(query: StreamQuery, bounds: HitBounds, i: int, limb: int) -> None:
    """As `record_hits`, for one pair."""
    if bounds.possible or bounds.inside:
        if query.aim == ALL:
            record_crossing(query.state, i, limb)
        else:
            merge_hit(query, bounds, i, limb)
            if query.aim == ANY and bounds.certain:
                query.state.stream.record[i, REACH] = END_OF_TRAVERSAL


@compiled
def test_thick_list(query: StreamQuery, limb: int, shape: int, first: int, end: int) -> int:
    """As `test_ray_list`, for thick rays."""
    live, queue, slot = query.state.stream.live, query.state.pairs, LISTED * PAIR_BATCH
    rays, limbs = queue.row.reshape(-1), queue.limb.reshape(-1)
    while first + PAIR_BATCH <= end:
        for k in range(PAIR_BATCH):
            rays[slot + k], limbs[slot + k] = live[first + k], limb
        test_thick(query, shape, (1 << PAIR_BATCH) - 1, slot)
        first += PAIR_BATCH
    return first
