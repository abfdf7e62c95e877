"""The loop over many rays at once: they walk the tree as streams, and meet limbs eight pairs at a time.

The tree hands out limbs, each with a list of rays; pairs of a ray and a limb gather by shape, and eight of them go
through the same kernels as one does in `casting`, side by side, with bit-equal results. What a ray has found is kept
beside it, so that no order of pairs changes the answer (`nearer`).
"""

from math import inf
from typing import NamedTuple

import numpy as np

from cylcollide._types import (
    FEW_TO_SORT,
    MANY_TO_SORT,
    NO_LIMB,
    Float32Array,
    Float64Array,
    Int32Array,
    Int64Array,
    Uint16Array,
)
from cylcollide.casting import INSIDE, NONE, Nearest, Query, nearer, nothing_yet, undecided, write_hit
from cylcollide.compiling import compiled, merged
from cylcollide.hits import Verdicts
from cylcollide.kernels.crossing import exactly, face_curve, short_step
from cylcollide.kernels.double_double import DoubleDoubleVector, Vector, vector_difference
from cylcollide.kernels.event import Event, limb_event
from cylcollide.kernels.ray import Ray, Rays, make_ray, ray_at, shared
from cylcollide.kernels.table import ROW, Limb, LimbTable, considered, limb_of
from cylcollide.simd import (
    LANES,
    Real,
    alike,
    bits,
    larger,
    load,
    load_at,
    load_every,
    load_rows,
    lowest_bit,
    prefetch,
    select,
    smaller,
    spread,
    store,
    store_rows,
    whole,
    with_sign,
)
from cylcollide.tree.layout import Space, Tree
from cylcollide.tree.stream import Stream, next_item_of_stream, start_stream
from cylcollide.tree.walk import NO_ITEM, local_ray, local_reach

# columns of `Work.ray`: what kernels read of a ray, then what the end of the walk needs
ORIGIN, DIRECTION, LIMIT, EXTENT, SECOND, PER_LENGTH = 0, 3, 6, 7, 8, 11
# columns of `Work.best`: a `Nearest`, and where the ray begins and ends
LIMB, LOWER, UPPER, FACE, RIVAL, WITHIN, START, END = range(8)
SHAPES = 7


class Work(NamedTuple):
    """Room for one stream of rays. One per thread."""

    ray: Float64Array  # (rays, 16)
    best: Float64Array  # (rays, 8)
    pair_ray: Int32Array  # (SHAPES, 8): pairs that wait, shape by shape
    pair_limb: Int32Array  # (SHAPES, 8)
    pairs: Int64Array  # (SHAPES,): how many wait
    answer: Float64Array  # (3, 8): of the eight pairs at work


class Sorting(NamedTuple):
    """Room to put rays in order. One per thread."""

    key: Uint16Array  # (rays,): octant and cell
    bucket: Int32Array  # where each key begins
    number: Int32Array  # (rays + 8,): the rays in order
    octant: Int64Array  # (9,): where each octant begins


def make_sorting(rays: int) -> Sorting:
    """Room for so many rays."""
    bucket = np.empty(8 * 16**3 + 1, np.int32)
    return Sorting(np.empty(rays, np.uint16), bucket, np.empty(rays + LANES, np.int32), np.empty(9, np.int64))


def make_work(rays: int) -> Work:
    """Room for so many rays."""
    room = -(-rays // LANES) * LANES
    pairs = np.zeros((2, SHAPES, LANES), np.int32)
    waiting = np.zeros(SHAPES, np.int64)
    return Work(np.empty((room, 16)), np.empty((room, 8)), pairs[0], pairs[1], waiting, np.empty((3, LANES)))


@merged
def rays_from(rays: Rays, i: int) -> tuple[Vector, Vector, Ray]:
    """Eight rays from row i on, prepared: what stands in both columns, and the rays."""
    origin = (
        load_every(rays.origin, 3 * i, 3),
        load_every(rays.origin, 3 * i + 1, 3),
        load_every(rays.origin, 3 * i + 2, 3),
    )
    second = (
        load_every(rays.second, 3 * i, 3),
        load_every(rays.second, 3 * i + 1, 3),
        load_every(rays.second, 3 * i + 2, 3),
    )
    limit = load(rays.limit, i) if rays.limit.size > 1 else spread(rays.limit[0])
    return origin, second, make_ray(origin, displacement_of(origin, second, rays.is_segment), limit)


@merged
def rays_at(rays: Rays, number: Int32Array, k: int) -> tuple[Vector, Vector, Ray]:
    """As `rays_from`, for the eight rays whose numbers stand at `number[k]` and behind."""
    origin = (
        load_at(rays.origin, number, k, 3, 0),
        load_at(rays.origin, number, k, 3, 1),
        load_at(rays.origin, number, k, 3, 2),
    )
    second = (
        load_at(rays.second, number, k, 3, 0),
        load_at(rays.second, number, k, 3, 1),
        load_at(rays.second, number, k, 3, 2),
    )
    limit = load_at(rays.limit, number, k, 1, 0) if rays.limit.size > 1 else spread(rays.limit[0])
    return origin, second, make_ray(origin, displacement_of(origin, second, rays.is_segment), limit)


@merged
def displacement_of(origin: Vector, second: Vector, is_segment: bool) -> Vector:
    """End - start of eight segments, rounded, or the directions of eight rays."""
    if is_segment:
        return second[0] - origin[0], second[1] - origin[1], second[2] - origin[2]
    return second


@compiled
def sort_rays(rays: Rays, space: Space, begin: int, end: int, sorting: Sorting) -> None:
    """Put the rays from `begin` to `end` in order of octant, and within it of the cell that they start in.

    Rays that walk together should meet the same nodes, and find them in the cache.
    """
    count, key, bucket, number = end - begin, sorting.key, sorting.bucket, sorting.number
    cells = 1 if count < FEW_TO_SORT else 4 if count < MANY_TO_SORT else 16
    bucket[: 8 * cells**3 + 1] = 0
    for first in range(begin, end, LANES):
        i = min(first, end - LANES)  # the last eight may overlap those before
        origin, second, _ = rays_from(rays, i)
        d = displacement_of(origin, second, rays.is_segment)
        code = falls(d[0]) + 2.0 * falls(d[1]) + 4.0 * falls(d[2])
        code = code * cells + cell(origin[0], space.centre[0], space.scale, cells)
        code = code * cells + cell(origin[1], space.centre[1], space.scale, cells)
        store(key, i - begin, code * cells + cell(origin[2], space.centre[2], space.scale, cells))
    for k in range(count):
        bucket[key[k] + 1] += 1
    for k in range(8 * cells**3):
        bucket[k + 1] += bucket[k]
    for octant in range(9):
        sorting.octant[octant] = bucket[octant * cells**3]
    for k in range(count):
        number[bucket[key[k]]] = begin + k
        bucket[key[k]] += 1
    number[count : count + LANES] = number[count - 1]  # eight may be read from the last one on


@merged
def falls(component: Real) -> Real:
    """1 for a component with a minus sign, as its reciprocal has it: -0.0 is falling."""
    return select(with_sign(1.0, component) < 0.0, 1.0, 0.0)


@merged
def cell(coordinate: Real, centre: float, scale: float, cells: int) -> Real:
    """Which of the cells across the tree a coordinate lies in; the outermost ones reach to infinity."""
    place = (coordinate - centre) * (0.5 * scale * cells) + 0.5 * cells
    return whole(larger(smaller(place, cells - 1.0), 0.0))


@compiled
def prepare(
    rays: Rays, space: Space, number: Int32Array, first: int, count: int, work: Work, stream: Stream, hits: Verdicts
) -> int:
    """Bring the rays of so many numbers near the tree, eight at a time; how many have to walk.

    Those are put into `stream.live`; the others have their answer.
    """
    live, walking = stream.live, 0
    for row in range(0, count, LANES):
        origin, second, ray = rays_at(rays, number, first + row)
        local = local_ray(space, ray.origin, ray.direction, ray.extent, ray.limit)
        d, r, p = ray.direction, local.reciprocal, local.product
        best = nothing_yet(ray.limit)
        zero = alike(0.0, ray.limit)
        store_rows(work.ray, row, 0, (origin[0], origin[1], origin[2], d[0], d[1], d[2], ray.limit, ray.extent))
        store_rows(work.ray, row, 8, (second[0], second[1], second[2], ray.per_length, zero, zero, zero, zero))
        store_rows(
            work.best,
            row,
            0,
            (best.limb, best.lower, best.upper, best.face, best.rival, zero, local.start, ray.limit),
        )
        store_rows(stream.record, row, 0, (r[0], r[1], r[2], p[0], p[1], p[2], local.reach, zero))
        blind = bits(local.blind)
        idle = blind | bits(local.clear)
        for k in range(min(LANES, count - row)):
            live[walking] = row + k
            walking += (idle >> k & 1) ^ 1
            if blind >> k & 1:
                hits.unsure[number[first + row + k]] = True
    return walking


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
def eight_limbs(work: Work, rows: Float64Array, shape: int) -> Limb:
    """The limbs of the pairs that wait."""
    low = load_rows(rows, work.pair_limb, shape * LANES, 0)
    return limb_of(shape, low, load_rows(rows, work.pair_limb, shape * LANES, LANES))


@merged
def make_wait(work: Work, rows: Float64Array, shape: int, ray: int, limb: int) -> bool:
    """Let a ray and a limb wait until there are eight pairs of its shape; whether there are."""
    k = work.pairs[shape]
    work.pair_ray[shape, k], work.pair_limb[shape, k] = ray, limb
    prefetch(rows, limb * ROW)
    prefetch(rows, limb * ROW + LANES)
    work.pairs[shape] = k + 1
    return bool(k + 1 == LANES)


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
        record[i, 6] = local_reach(min(best.upper, row[END]), scale, row[START])


@compiled
def meet_pairs(shape: int, policy: int, rows: Float64Array, work: Work, record: Float32Array, scale: float) -> None:
    """The pairs of one shape that wait."""
    first, count = shape * LANES, work.pairs[shape]
    rays, limbs = work.pair_ray.reshape(-1), work.pair_limb.reshape(-1)
    event = limb_event(eight_rays(work, rays, first), eight_limbs(work, rows, shape), policy)
    record_events(event, (1 << count) - 1, rays, first, limbs, -1, work, record, scale)
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
    """One limb and the rays of a list, as long as there are eight; where it stopped."""
    one = one_limb(rows, shape, limb)
    while first + LANES <= end:
        event = limb_event(eight_rays(work, live, first), one, policy)
        record_events(event, 255, live, first, live, limb, work, record, scale)
        first += LANES
    return first


@compiled
def walk_octant(
    query: Query,
    table: LimbTable,
    tree: Tree,
    number: Int32Array,
    base: int,
    octant: int,
    walking: int,
    work: Work,
    stream: Stream,
) -> None:
    """Rays of one octant through the tree; ray k of the stream is number[base + k] of the query."""
    rows, solids, characters, masks = table.rows, table.solid, table.character, table.mask
    policy, live, record, scale = query.policy, stream.live, stream.record, tree.space.scale
    alike_for_all = query.mask.size == 1 and query.ignored.size == 1
    height = start_stream(stream, walking)
    while True:
        height, limb, first, count = next_item_of_stream(tree, stream, height, octant)
        if limb == NO_ITEM:
            break
        end, shape, character, layers = first + count, solids[limb], characters[limb], masks[limb]
        if alike_for_all:
            if not considered(character, layers, query.mask[0], query.ignored[0]):
                continue
            if count >= LANES:
                first = meet_list(limb, shape, policy, rows, live, first, end, work, record, scale)
        for k in range(first, end):
            if not alike_for_all:
                i = number[base + live[k]]
                mask, ignored = query.mask[shared(query.mask, i)], query.ignored[shared(query.ignored, i)]
                if not considered(character, layers, mask, ignored):
                    continue
            if make_wait(work, rows, shape, live[k], limb):
                meet_pairs(shape, policy, rows, work, record, scale)
    for shape in range(SHAPES):
        if work.pairs[shape] > 0:
            meet_pairs(shape, policy, rows, work, record, scale)


@compiled
def cast_stream(
    query: Query,
    table: LimbTable,
    tree: Tree,
    work: Work,
    stream: Stream,
    sorting: Sorting,
    begin: int,
    end: int,
    hits: Verdicts,
) -> None:
    """The first limb along each of the rays from `begin` to `end`, eight at least."""
    all_miss(hits, begin, end)
    work.pair_limb[:] = 0  # lanes without a pair read some limb of this table, not of an earlier one
    sort_rays(query.rays, tree.space, begin, end, sorting)
    number, room = sorting.number, work.best.shape[0]
    for octant in range(8):
        for first in range(sorting.octant[octant], sorting.octant[octant + 1], room):
            count = min(room, sorting.octant[octant + 1] - first)
            walking = prepare(query.rays, tree.space, number, first, count, work, stream, hits)
            walk_octant(query, table, tree, number, first, octant, walking, work, stream)
            finish(query, table, number, first, walking, work, stream.live, hits)


@merged
def all_miss(hits: Verdicts, begin: int, end: int) -> None:
    """What stands there until a ray hits."""
    hits.limb[begin:end] = NO_LIMB
    hits.fraction[begin:end] = inf
    hits.face[begin:end] = NONE
    hits.inside[begin:end] = False
    hits.unsure[begin:end] = False


@compiled
def finish(
    query: Query,
    table: LimbTable,
    number: Int32Array,
    base: int,
    walking: int,
    work: Work,
    live: Int32Array,
    hits: Verdicts,
) -> None:
    """Write the answers of the rays that have walked; fractions eight at a time."""
    rows, solids, is_segment = table.rows, table.solid, query.rays.is_segment
    for place in range(walking + SHAPES):
        full, shape = False, place - walking
        if place < walking:
            ray = live[place]
            best = best_of(work, ray)
            if best.limb < 0.0 and best.rival == inf and not best.inside:
                continue  # a miss, as it stands there already
            i, doubtful = number[base + ray], undecided(best)
            hits.inside[i], hits.unsure[i] = best.inside, doubtful
            if best.limb >= 0.0 and not doubtful:
                limb = int(best.limb)
                hits.limb[i], hits.face[i], hits.fraction[i] = limb, int(best.face), 0.0
                if best.face != INSIDE:
                    shape = solids[limb]
                    full = make_wait(work, rows, shape, ray, limb)
        if full or (place >= walking and work.pairs[shape] > 0):
            grazes = write_fractions(shape, is_segment, rows, work, number, base, hits.fraction)
            while grazes:
                k = lowest_bit(grazes)
                grazes &= grazes - 1
                ray = work.pair_ray[shape, k]
                i = number[base + ray]
                write_hit(hits, i, ray_at(query.rays, i), best_of(work, ray), False, query, table)


@merged
def meant(origin: Vector, second: Vector, is_segment: bool) -> DoubleDoubleVector:
    """`exact_displacement` of eight rays."""
    if is_segment:
        return vector_difference(second, origin)
    return exactly(second)


@compiled
def write_fractions(
    shape: int,
    is_segment: bool,
    rows: Float64Array,
    work: Work,
    number: Int32Array,
    base: int,
    fraction: Float64Array,
) -> int:
    """Fractions of the pairs that wait; which of them are grazes, as bits, whose fractions are not right yet."""
    head = load_rows(work.ray, work.pair_ray, shape * LANES, 0)
    tail = load_rows(work.ray, work.pair_ray, shape * LANES, 8)
    best = load_rows(work.best, work.pair_ray, shape * LANES, 0)
    origin, second, per_length = (head[0], head[1], head[2]), (tail[0], tail[1], tail[2]), tail[3]
    guess = 0.5 * (best[LOWER] + best[UPPER]) * per_length
    limb = eight_limbs(work, rows, shape)
    curve = face_curve(origin, meant(origin, second, is_segment), guess, limb, best[FACE])
    step, short = short_step(curve, guess)
    store(work.answer, 0, guess + step)
    count = work.pairs[shape]
    for k in range(count):
        fraction[number[base + work.pair_ray[shape, k]]] = work.answer[0, k]
    work.pairs[shape] = 0
    grazes: int = ~bits(short) & ((1 << count) - 1)
    return grazes
