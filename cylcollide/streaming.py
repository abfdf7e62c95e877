"""The loop over many rays at once: they walk the tree as streams, and meet limbs eight pairs at a time.

A leaf hands out a list of rays for each limb; pairs of a ray and a limb gather by shape, and eight of them go through the
same kernels as one does in `casting`, side by side, with bit-equal results. What a ray has found is kept beside it, so that
no order of pairs changes the answer (`nearer`).
"""

from math import inf
from typing import NamedTuple

import numpy as np

from cylcollide._types import NO_LIMB, Float32Array, Float64Array, Int8Array, Int32Array, Int64Array
from cylcollide.casting import INSIDE, NONE, Nearest, Query, nearer, nothing_yet, undecided, write_hit
from cylcollide.compiling import compiled, merged
from cylcollide.hits import Verdicts
from cylcollide.kernels.crossing import exactly, face_curve, short_step
from cylcollide.kernels.double_double import DoubleDoubleVector, Vector, vector_difference
from cylcollide.kernels.event import Event, limb_event
from cylcollide.kernels.ray import Ray, Rays, make_ray, ray_at, shared
from cylcollide.kernels.table import Limb, LimbTable, considered, limb_of
from cylcollide.simd import LANES, Real, alike, bits, load, load_every, load_rows, select, spread, store, store_rows
from cylcollide.tree.layout import Tree
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
    octant: Int8Array  # (rays,): signs of the direction, -1 for a ray that does not walk
    pair_ray: Int32Array  # (SHAPES, 8): pairs that wait, shape by shape
    pair_limb: Int32Array  # (SHAPES, 8)
    pairs: Int64Array  # (SHAPES,): how many wait
    answer: Float64Array  # (3, 8): of the eight pairs at work


def make_work(rays: int) -> Work:
    """Room for so many rays."""
    room = -(-rays // LANES) * LANES
    pairs = np.zeros((2, SHAPES, LANES), np.int32)
    waiting = np.zeros(SHAPES, np.int64)
    return Work(
        np.empty((room, 16)), np.empty((room, 8)), np.empty(room, np.int8), *pairs, waiting, np.empty((3, LANES))
    )


@merged
def rays_from(rays: Rays, i: int) -> tuple[tuple[Real, Real, Real], tuple[Real, Real, Real], Ray]:
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
    displacement = second
    if rays.is_segment:
        displacement = (second[0] - origin[0], second[1] - origin[1], second[2] - origin[2])
    return origin, second, make_ray(origin, displacement, limit)


@compiled
def prepare(rays: Rays, tree: Tree, begin: int, count: int, work: Work, stream: Stream, hits: Verdicts) -> None:
    """Bring the rays from `begin` on near the tree, eight at a time; those that need not walk have their answer."""
    for first in range(0, count, LANES):
        row = min(first, count - LANES)  # the last eight may overlap those before
        origin, second, ray = rays_from(rays, begin + row)
        local = local_ray(tree.space, ray.origin, ray.direction, ray.extent, ray.limit)
        zero = alike(0.0, ray.limit)
        d, r, p = ray.direction, local.reciprocal, local.product
        store_rows(work.ray, row, 0, (origin[0], origin[1], origin[2], d[0], d[1], d[2], ray.limit, ray.extent))
        store_rows(work.ray, row, 8, (second[0], second[1], second[2], ray.per_length, local.start, zero, zero, zero))
        best = nothing_yet(zero)
        store_rows(work.best, row, 0, (best.limb, best.lower, best.upper, best.face, best.rival, zero, zero, zero))
        store_rows(stream.record, row, 0, (r[0], r[1], r[2], p[0], p[1], p[2], local.reach, zero))
        blind, clear = bits(local.blind), bits(local.clear)
        x, y, z = bits(r[0] < 0.0), bits(r[1] < 0.0), bits(r[2] < 0.0)
        for k in range(LANES):
            i = begin + row + k
            hits.limb[i], hits.fraction[i], hits.face[i] = NO_LIMB, inf, NONE
            hits.inside[i], hits.unsure[i] = False, (blind >> k) & 1
            octant = ((x >> k) & 1) | ((y >> k) & 1) << 1 | ((z >> k) & 1) << 2
            work.octant[row + k] = -1 if ((blind | clear) >> k) & 1 else octant


@merged
def sort_by_octant(work: Work, stream: Stream, count: int, octant: int, used: int) -> int:
    """Put the rays of one octant into `live` from `used` on; where they end."""
    for i in range(count):
        stream.live[used] = i
        used += work.octant[i] == octant
    return used


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
    query: Query, table: LimbTable, tree: Tree, begin: int, octant: int, height: int, work: Work, stream: Stream
) -> None:
    """All rays of one octant through the tree."""
    order, solids, characters, masks = tree.order, table.solid, table.character, table.mask
    pairs, pair_ray, pair_limb, live = work.pairs, work.pair_ray, work.pair_limb, stream.live
    while True:
        height, first, size, start, count = next_leaf_of_stream(tree, stream, height, octant)
        if size == 0:
            break
        for position in range(first, first + size):
            limb = order[position]
            shape, character, layers = solids[limb], characters[limb], masks[limb]
            for place in range(start, start + count):
                i = live[place]
                mask = query.mask[shared(query.mask, begin + i)]
                if considered(character, layers, mask, query.ignored[shared(query.ignored, begin + i)]):
                    k = pairs[shape]
                    pair_ray[shape, k], pair_limb[shape, k] = i, limb
                    pairs[shape] = k + 1
                    if k + 1 == LANES:
                        meet(shape, query.policy, table, work, stream.record, tree.space.scale)
    for shape in range(SHAPES):
        if pairs[shape] > 0:
            meet(shape, query.policy, table, work, stream.record, tree.space.scale)


@compiled
def cast_stream(
    query: Query, table: LimbTable, tree: Tree, work: Work, stream: Stream, begin: int, end: int, hits: Verdicts
) -> None:
    """The first limb along each of the rays from `begin` to `end`, eight at least."""
    count, used = end - begin, 0
    prepare(query.rays, tree, begin, count, work, stream, hits)
    for octant in range(8):
        first = used
        used = sort_by_octant(work, stream, count, octant, used)
        if used > first:
            height = start_stream(stream, first, used - first, used)
            walk_octant(query, table, tree, begin, octant, height, work, stream)
            used = first
    finish(query, table, begin, count, work, hits)


@compiled
def finish(query: Query, table: LimbTable, begin: int, count: int, work: Work, hits: Verdicts) -> None:
    """Write the answers; fractions eight at a time."""
    for i in range(count):
        if work.octant[i] >= 0:
            best = best_of(work, i)
            hits.inside[begin + i] = best.inside
            hits.unsure[begin + i] = undecided(best)
            if best.limb >= 0.0 and not hits.unsure[begin + i]:
                hits.limb[begin + i], hits.face[begin + i] = int(best.limb), int(best.face)
                hits.fraction[begin + i] = 0.0
                if best.face != INSIDE:
                    shape = table.solid[int(best.limb)]
                    k = work.pairs[shape]
                    work.pair_ray[shape, k], work.pair_limb[shape, k] = i, int(best.limb)
                    work.pairs[shape] = k + 1
                    if k + 1 == LANES:
                        write_fractions(shape, query, table, begin, work, hits)
    for shape in range(SHAPES):
        if work.pairs[shape] > 0:
            write_fractions(shape, query, table, begin, work, hits)


@merged
def meant(origin: Vector, second: Vector, is_segment: bool) -> DoubleDoubleVector:
    """`exact_displacement` of eight rays."""
    if is_segment:
        return vector_difference(second, origin)
    return exactly(second)


@compiled
def write_fractions(shape: int, query: Query, table: LimbTable, begin: int, work: Work, hits: Verdicts) -> None:
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
        i = work.pair_ray[shape, k]
        hits.fraction[begin + i] = work.answer[0, k]
        if not (certain >> k) & 1:
            write_hit(hits, begin + i, ray_at(query.rays, begin + i), best_of(work, i), False, query, table)
    work.pairs[shape] = 0
