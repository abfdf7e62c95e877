"""Rays and limbs in pairs, eight of one shape at a time: what they find, and where exactly."""

from typing import NamedTuple

import numpy as np

from cylcollide._types import (
    Float32Array,
    Float64Array,
    Int32Array,
    Int64Array,
    Shape,
)
from cylcollide.compiling import compiled, merged
from cylcollide.gathering import limbs_at
from cylcollide.kernels.event import Event, two_events
from cylcollide.kernels.nearest import Nearest, nearer, nothing_yet
from cylcollide.kernels.ray import Ray
from cylcollide.kernels.table import ROW, Limb, limb_of
from cylcollide.lending import aligned
from cylcollide.simd import (
    LANES,
    Real,
    bits,
    load_rows,
    lowest_bit,
    prefetch,
    select,
    spread,
    store,
)
from cylcollide.tree.walk import local_reach

# columns of `Work.best`: a `Nearest`
LIMB, LOWER, UPPER, FACE, RIVAL, WITHIN = range(6)
LIMIT = 6  # column of `Work.ray`
SHAPES, CYLINDER = len(Shape), int(Shape.CYLINDER)
CROWD = 2 * LANES
"""Pairs of a shape that wait for each other."""
ALL = (1 << LANES) - 1
"""Eight lanes, as bits."""


class Work(NamedTuple):
    """Room for one stream of rays. One per thread."""

    ray: Float64Array  # (rays, 8): what kernels read of a ray: origin, direction, limit, extent
    best: Float64Array  # (rays, 8): what each has found, a `Nearest`
    nothing: Float64Array  # (8,): a row of it before the first limb
    start: Float64Array  # (rays,): where it begins in the tree
    pair_ray: Int32Array  # (SHAPES, CROWD): pairs that wait, shape by shape
    pair_limb: Int32Array  # (SHAPES, CROWD)
    pairs: Int64Array  # (SHAPES,): how many wait
    answer: Float64Array  # (3, 8): of the eight pairs at work


def make_work(rays: int) -> Work:
    """Room for so many rays."""
    room = -(-rays // CROWD) * CROWD
    pairs = np.zeros((2, SHAPES, CROWD), np.int32)
    waiting, nothing = np.zeros(SHAPES, np.int64), np.zeros(LANES)
    nothing[: len(Nearest._fields)] = nothing_yet(0.0)
    ray, best = aligned((2, room, LANES), np.float64)
    start = aligned((room,), np.float64)
    return Work(ray, best, nothing, start, pairs[0], pairs[1], waiting, np.empty((3, LANES)))


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
def one_limb(r: Float64Array, shape: int, k: int) -> Limb:
    """Limb k, of this shape, eight times."""
    low = (r[k, 0], r[k, 1], r[k, 2], r[k, 3], r[k, 4], r[k, 5], r[k, 6], r[k, 7])
    high = (r[k, 8], r[k, 9], r[k, 10], r[k, 11], r[k, 12], r[k, 13], r[k, 14], r[k, 15])
    return limb_of(shape, eight_times(low), eight_times(high))


@merged
def eight_times(numbers: tuple[float, ...]) -> tuple[Real, ...]:
    """Each of eight numbers side by side."""
    return (
        spread(numbers[0]),
        spread(numbers[1]),
        spread(numbers[2]),
        spread(numbers[3]),
        spread(numbers[4]),
        spread(numbers[5]),
        spread(numbers[6]),
        spread(numbers[7]),
    )


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
) -> None:
    """What eight events change, ray by ray; the limb is `limb`, or of pair k `limbs[first + k]` if that is negative."""
    counts, answer = bits(event.possible | event.inside) & counted, work.answer
    if counts == 0:
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


@compiled
def meet_pairs(shape: int, policy: int, rows: Float64Array, work: Work, record: Float32Array, scale: float) -> None:
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
    record_events(event, counted & ALL, rays, first, limbs, -1, work, record, scale)
    record_events(event_other, counted >> LANES, rays, first + LANES, limbs, -1, work, record, scale)
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
        record_events(event, ALL, live, first, live, limb, work, record, scale)
        record_events(event_other, ALL, live, first + LANES, live, limb, work, record, scale)
        first += 2 * LANES
    return first
