"""Rays and limbs in pairs, eight of one shape at a time: what they find, and where exactly."""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Float32Array, Float64Array, Int32Array, Int64Array, Shape
from cylcollide.bvh.traverse import local_reach
from cylcollide.kernels.closest import Nearest, nearer, nothing_yet
from cylcollide.kernels.hit_bounds import Event, two_events
from cylcollide.kernels.limb_table import ROW
from cylcollide.kernels.ray import Ray
from cylcollide.query.loops.packets import limbs_at, one_limb
from cylcollide.runtime.compile import compiled, merged
from cylcollide.runtime.memory import aligned
from cylcollide.runtime.simd import LANES, bits, load_rows, lowest_bit, prefetch, select, store

# columns of `Work.best`: a `Nearest`
LIMB, LOWER, UPPER, FACE, RIVAL, WITHIN = range(6)
LIMIT = 6  # column of `Work.ray`
SHAPES, CYLINDER = len(Shape), int(Shape.CYLINDER)
FIRST, ANY, EVERY = range(3)
"""What is asked for of the limbs that a ray may hit."""

CROWD = 2 * LANES
"""Pairs of a shape that wait for each other."""
ALL = (1 << LANES) - 1
"""Eight lanes, as bits."""


class Work(NamedTuple):
    """Room for one stream of rays. One per thread."""

    ray: Float64Array  # (rays, 8): what kernels read of a ray: origin, direction, limit, extent
    best: Float64Array  # (rays, 8): what each has found, a `Nearest`
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


def make_work(rays: int) -> Work:
    """Room for so many rays."""
    room = -(-rays // CROWD) * CROWD
    pair_ray, pair_limb = np.zeros((2, SHAPES, CROWD), np.int32)
    waiting, nothing = np.zeros(SHAPES, np.int64), np.zeros(LANES)
    nothing[: len(Nearest._fields)] = nothing_yet(0.0)
    ray, best = aligned((2, room, LANES), np.float64)
    start, per_length = aligned((2, room), np.float64)
    step = np.arange(room, dtype=np.int32)
    answer, crossed = np.empty((3, LANES)), np.empty((0, 2), np.int32)
    crossings = np.zeros(1, np.int64)
    return Work(ray, best, step, nothing, start, per_length, pair_ray, pair_limb, waiting, answer, crossed, crossings)


@merged
def best_of(work: Work, i: int) -> Nearest:
    """What ray i has found so far."""
    best = work.best
    return Nearest(best[i, LIMB], best[i, LOWER], best[i, UPPER], best[i, FACE], best[i, RIVAL], best[i, WITHIN] > 0.0)


@merged
def eight_rays(work: Work, chosen: Int32Array, first: int) -> Ray:
    """The eight rays whose rows stand at `chosen[first]` and behind."""
    c = load_rows(work.ray, chosen, first, 0)
    return Ray((c[0], c[1], c[2]), (c[3], c[4], c[5]), c[6], c[6], c[6], c[7])  # the lengths are not asked for


@merged
def make_wait(work: Work, rows: Float64Array, shape: int, ray: int, limb: int) -> bool:
    """Let a ray and a limb wait until there are enough pairs of its shape; whether there are."""
    k = work.pairs[shape]
    work.pair_ray[shape, k], work.pair_limb[shape, k] = ray, limb
    prefetch(rows, limb * ROW)
    prefetch(rows, limb * ROW + LANES)
    work.pairs[shape] = k + 1
    return bool(k + 1 == CROWD)


@merged
def record_events(
    event: Event,
    counted: int,
    chosen: Int32Array,
    first: int,
    limbs: Int32Array,
    limb: int,
    work: Work,
    record: Float32Array,
    scale: float,
    aim: int,
) -> None:
    """What eight events change, ray by ray; the limb is `limb`, or of pair k `limbs[first + k]` if that is negative."""
    counts, answer = bits(event.possible | event.inside) & counted, work.answer
    if counts == 0:
        return
    if aim == EVERY:
        note_crossings(counts, chosen, first, limbs, limb, work)
        return
    store(answer, 0, event.lower)
    store(answer, LANES, event.upper)
    store(answer, 2 * LANES, event.face)
    possible, certain, inside = bits(event.possible), bits(event.certain), bits(event.inside)
    while counts:
        k = lowest_bit(counts)
        counts &= counts - 1
        i, index = chosen[first + k], float(limb if limb >= 0 else limbs[first + k])
        one = Event(
            (possible >> k) & 1 != 0,
            (certain >> k) & 1 != 0,
            answer[0, k],
            answer[1, k],
            (inside >> k) & 1 != 0,
            answer[2, k],
        )
        best = nearer(best_of(work, i), index, one)
        row = work.best[i]
        row[LIMB], row[LOWER], row[UPPER] = best.limb, best.lower, best.upper
        row[FACE], row[RIVAL], row[WITHIN] = best.face, best.rival, select(best.inside, 1.0, 0.0)
        record[i, 6] = local_reach(min(best.upper, work.ray[i, LIMIT]), scale, work.start[i])
        if aim == ANY and one.certain:
            record[i, 6] = -1.0  # no box is met any more


@merged
def note_crossings(counts: int, chosen: Int32Array, first: int, limbs: Int32Array, limb: int, work: Work) -> None:
    """Note which of eight rays may cross their limb, as long as there is room."""
    noted = work.crossings[0]
    while counts:
        k = lowest_bit(counts)
        counts &= counts - 1
        if noted < len(work.crossed):
            work.crossed[noted, 0], work.crossed[noted, 1] = chosen[first + k], limb if limb >= 0 else limbs[first + k]
        noted += 1
    work.crossings[0] = noted


@compiled
def meet_pairs(
    shape: int, policy: int, rows: Float64Array, work: Work, record: Float32Array, scale: float, aim: int
) -> None:
    """The pairs of one shape that wait."""
    first, count = shape * CROWD, work.pairs[shape]
    rays, limbs = work.pair_ray.reshape(-1), work.pair_limb.reshape(-1)
    ray, other = eight_rays(work, rays, first), eight_rays(work, rays, first + LANES)
    if shape == CYLINDER:  # a constant, so that both events are one stretch of code without a branch
        limb, limb_of_other = limbs_at(rows, CYLINDER, limbs, first), limbs_at(rows, CYLINDER, limbs, first + LANES)
        event, event_other = two_events(ray, other, limb, limb_of_other, policy)
    else:
        limb, limb_of_other = limbs_at(rows, shape, limbs, first), limbs_at(rows, shape, limbs, first + LANES)
        event, event_other = two_events(ray, other, limb, limb_of_other, policy)
    counted = (1 << count) - 1
    record_events(event, counted & ALL, rays, first, limbs, -1, work, record, scale, aim)
    record_events(event_other, counted >> LANES, rays, first + LANES, limbs, -1, work, record, scale, aim)
    work.pairs[shape] = 0


@compiled
def meet_list(
    limb: int,
    shape: int,
    policy: int,
    rows: Float64Array,
    live: Int32Array,
    first: int,
    end: int,
    work: Work,
    record: Float32Array,
    scale: float,
    aim: int,
) -> int:
    """One limb and the rays of a list, as long as there are twice eight; where it stopped."""
    while first + 2 * LANES <= end:
        ray, other = eight_rays(work, live, first), eight_rays(work, live, first + LANES)
        if shape == CYLINDER:
            cylinder = one_limb(rows, CYLINDER, limb)
            event, event_other = two_events(ray, other, cylinder, cylinder, policy)
        else:
            one = one_limb(rows, shape, limb)
            event, event_other = two_events(ray, other, one, one, policy)
        record_events(event, ALL, live, first, live, limb, work, record, scale, aim)
        record_events(event_other, ALL, live, first + LANES, live, limb, work, record, scale, aim)
        first += 2 * LANES
    return first
