"""The loop over many rays at once: they walk the tree as streams, and meet limbs eight pairs at a time.

A leaf hands out a list of rays for each limb; pairs of a ray and a limb gather by shape, and eight of them go through the
same kernels as one does in `casting`, side by side, with bit-equal results. What a ray has found is kept beside it, so that
no order of pairs changes the answer (`nearer`).
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
from cylcollide.kernels.table import Limb, LimbTable, considered, limb_of
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
    select,
    smaller,
    spread,
    store,
    store_rows,
    whole,
)
from cylcollide.tree.layout import Space, Tree
from cylcollide.tree.stream import Stream, next_leaf_of_stream, start_stream
from cylcollide.tree.walk import local_ray, local_reach

# columns of `Work.ray`: what kernels read of a ray, then what the end of the walk needs
ORIGIN, LIMIT, EXTENT, SECOND, PER_LENGTH, START = 0, 6, 7, 8, 11, 12
# columns of `Work.best`: a `Nearest`
LIMB, LOWER, UPPER, FACE, RIVAL, WITHIN = range(6)
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
    return Work(np.empty((room, 16)), np.empty((room, 8)), *pairs, waiting, np.empty((3, LANES)))


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
        code = select(d[0] < 0.0, 1.0, 0.0) + select(d[1] < 0.0, 2.0, 0.0) + select(d[2] < 0.0, 4.0, 0.0)
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
        zero = alike(0.0, ray.limit)
        d, r, p = ray.direction, local.reciprocal, local.product
        store_rows(work.ray, row, 0, (origin[0], origin[1], origin[2], d[0], d[1], d[2], ray.limit, ray.extent))
        store_rows(work.ray, row, 8, (second[0], second[1], second[2], ray.per_length, local.start, zero, zero, zero))
        best = nothing_yet(zero)
        store_rows(work.best, row, 0, (best.limb, best.lower, best.upper, best.face, best.rival, zero, zero, zero))
        store_rows(stream.record, row, 0, (r[0], r[1], r[2], p[0], p[1], p[2], local.reach, zero))
        blind, clear = bits(local.blind), bits(local.clear)
        for k in range(min(LANES, count - row)):
            i = number[first + row + k]
            hits.limb[i], hits.fraction[i], hits.face[i] = NO_LIMB, inf, NONE
            hits.inside[i], hits.unsure[i] = False, blind >> k & 1
            live[walking] = row + k
            walking += ((blind | clear) >> k & 1) ^ 1
    return walking


@merged
def best_of(work: Work, i: int) -> Nearest:
    """What ray i has found so far."""
    best = work.best
    return Nearest(best[i, LIMB], best[i, LOWER], best[i, UPPER], best[i, FACE], best[i, RIVAL], best[i, WITHIN] > 0.0)


@merged
def eight_rays(work: Work, shape: int) -> Ray:
    """The rays of the pairs that wait."""
    c = load_rows(work.ray, work.pair_ray, shape * LANES, 0)
    return Ray((c[0], c[1], c[2]), (c[3], c[4], c[5]), c[6], c[6], c[6], c[7])  # the lengths are not asked for


@merged
def eight_limbs(work: Work, table: LimbTable, shape: int) -> Limb:
    """The limbs of the pairs that wait."""
    low = load_rows(table.rows, work.pair_limb, shape * LANES, 0)
    return limb_of(shape, low, load_rows(table.rows, work.pair_limb, shape * LANES, LANES))


@compiled
def meet(shape: int, policy: int, table: LimbTable, work: Work, record: Float32Array, scale: float) -> None:
    """The pairs of one shape that wait: their events, and what these change."""
    event = limb_event(eight_rays(work, shape), eight_limbs(work, table, shape), policy)
    counts = bits(event.possible | event.inside)
    answer = work.answer
    store(answer, 0, event.lower)
    store(answer, LANES, event.upper)
    store(answer, 2 * LANES, event.face)
    possible, certain, inside = bits(event.possible), bits(event.certain), bits(event.inside)
    for k in range(work.pairs[shape]):
        if (counts >> k) & 1:
            i, limb = work.pair_ray[shape, k], float(work.pair_limb[shape, k])
            one = Event(
                (possible >> k) & 1 != 0,
                (certain >> k) & 1 != 0,
                answer[0, k],
                answer[1, k],
                (inside >> k) & 1 != 0,
                answer[2, k],
            )
            best = nearer(best_of(work, i), limb, one)
            row = work.best[i]
            row[LIMB], row[LOWER], row[UPPER] = best.limb, best.lower, best.upper
            row[FACE], row[RIVAL], row[WITHIN] = best.face, best.rival, select(best.inside, 1.0, 0.0)
            limit = min(best.upper, work.ray[i, LIMIT])
            record[i, 6] = local_reach(limit, scale, work.ray[i, START])
    work.pairs[shape] = 0


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
    order, solids, characters, masks = tree.order, table.solid, table.character, table.mask
    pairs, pair_ray, pair_limb, live = work.pairs, work.pair_ray, work.pair_limb, stream.live
    height = start_stream(stream, walking)
    while True:
        height, first, size, start, count = next_leaf_of_stream(tree, stream, height, octant)
        if size == 0:
            break
        for position in range(first, first + size):
            limb = order[position]
            shape, character, layers = solids[limb], characters[limb], masks[limb]
            for place in range(start, start + count):
                ray = live[place]
                i = number[base + ray]
                mask, ignored = query.mask[shared(query.mask, i)], query.ignored[shared(query.ignored, i)]
                if considered(character, layers, mask, ignored):
                    k = pairs[shape]
                    pair_ray[shape, k], pair_limb[shape, k] = ray, limb
                    pairs[shape] = k + 1
                    if k + 1 == LANES:
                        meet(shape, query.policy, table, work, stream.record, tree.space.scale)
    for shape in range(SHAPES):
        if pairs[shape] > 0:
            meet(shape, query.policy, table, work, stream.record, tree.space.scale)


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
    sort_rays(query.rays, tree.space, begin, end, sorting)
    number, room = sorting.number, work.best.shape[0]
    for octant in range(8):
        for first in range(sorting.octant[octant], sorting.octant[octant + 1], room):
            count = min(room, sorting.octant[octant + 1] - first)
            walking = prepare(query.rays, tree.space, number, first, count, work, stream, hits)
            walk_octant(query, table, tree, number, first, octant, walking, work, stream)
            finish(query, table, number, first, walking, work, stream.live, hits)


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
    solids, pairs, pair_ray, pair_limb = table.solid, work.pairs, work.pair_ray, work.pair_limb
    for place in range(walking):
        ray = live[place]
        best, i = best_of(work, ray), number[base + ray]
        doubtful = undecided(best)
        hits.inside[i], hits.unsure[i] = best.inside, doubtful
        if best.limb >= 0.0 and not doubtful:
            limb = int(best.limb)
            hits.limb[i], hits.face[i], hits.fraction[i] = limb, int(best.face), 0.0
            if best.face != INSIDE:
                shape = solids[limb]
                k = pairs[shape]
                pair_ray[shape, k], pair_limb[shape, k] = ray, limb
                pairs[shape] = k + 1
                if k + 1 == LANES:
                    write_fractions(shape, query, table, number, base, work, hits)
    for shape in range(SHAPES):
        if pairs[shape] > 0:
            write_fractions(shape, query, table, number, base, work, hits)


@merged
def meant(origin: Vector, second: Vector, is_segment: bool) -> DoubleDoubleVector:
    """`exact_displacement` of eight rays."""
    if is_segment:
        return vector_difference(second, origin)
    return exactly(second)


@compiled
def write_fractions(
    shape: int, query: Query, table: LimbTable, number: Int32Array, base: int, work: Work, hits: Verdicts
) -> None:
    """Fractions of the pairs that wait; a graze is left to the one-by-one path."""
    head = load_rows(work.ray, work.pair_ray, shape * LANES, 0)
    tail = load_rows(work.ray, work.pair_ray, shape * LANES, 8)
    best = load_rows(work.best, work.pair_ray, shape * LANES, 0)
    origin, second, per_length = (head[0], head[1], head[2]), (tail[0], tail[1], tail[2]), tail[3]
    limb = eight_limbs(work, table, shape)
    guess = 0.5 * (best[LOWER] + best[UPPER]) * per_length
    curve = face_curve(origin, meant(origin, second, query.rays.is_segment), guess, limb, best[FACE])
    step, short = short_step(curve, guess)
    store(work.answer, 0, guess + step)
    certain = bits(short)
    for k in range(work.pairs[shape]):
        ray = work.pair_ray[shape, k]
        i = number[base + ray]
        hits.fraction[i] = work.answer[0, k]
        if not (certain >> k) & 1:
            write_hit(hits, i, ray_at(query.rays, i), best_of(work, ray), False, query, table)
    work.pairs[shape] = 0
