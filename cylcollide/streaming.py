"""The loop over many rays at once: they walk the tree as streams, and meet limbs eight pairs at a time.

The tree hands out limbs, each with a list of rays; pairs of a ray and a limb gather by shape, and eight of them go
through the same kernels as one does in `casting`, side by side, with bit-equal results. What a ray has found is kept
beside it, so that no order of pairs changes the answer (`nearer`).
"""

from math import inf

from cylcollide._types import NO_LIMB, SMALL_WORLD, Float32Array, Int32Array
from cylcollide.asking import Given, Query
from cylcollide.casting import INSIDE, NONE
from cylcollide.columns import Verdicts
from cylcollide.compiling import compiled, merged
from cylcollide.entering import Entering, all_enter, enter, nobody_enters
from cylcollide.gathering import Sorting, sort_rays, take_in_order, two_rays_from
from cylcollide.kernels.nearest import Nearest, undecided
from cylcollide.kernels.ray import Ray, Rays, shared
from cylcollide.kernels.table import LimbRows, all_considered, considered
from cylcollide.pairing import (
    FACE,
    LIMB,
    LOWER,
    RIVAL,
    SHAPES,
    UPPER,
    WITHIN,
    Work,
    make_wait,
    meet_list,
    meet_pairs,
)
from cylcollide.simd import LANES, bits, load, load_rows, lowest_bit, store, store_rows
from cylcollide.tree.layout import Space, Tree
from cylcollide.tree.pairs import STEP, deepest
from cylcollide.tree.stream import MIXED, Stream, next_items_of_stream, next_items_on_rays, start_stream
from cylcollide.tree.walk import NO_ITEM, LocalRay, local_ray


@compiled
def prepare(
    rays: Rays,
    space: Space,
    number: Int32Array,
    first: int,
    count: int,
    as_they_come: bool,
    work: Work,
    stream: Stream,
    hits: Verdicts,
) -> int:
    """Bring the rays of so many numbers near the tree, twice eight at a time; how many have to walk.

    Those are put into `stream.live`; the others have their answer.
    """
    live, walking = stream.live, 0
    for row in range(0, count, 2 * LANES):
        ray, other = two_rays_from(rays, number, first + row, as_they_come)
        local, other_local = near_tree(space, ray), near_tree(space, other)
        keep(work, stream, row, ray, local)
        keep(work, stream, row + LANES, other, other_local)
        blind = bits(local.blind) | bits(other_local.blind) << LANES
        idle = blind | bits(local.clear) | bits(other_local.clear) << LANES
        for k in range(min(2 * LANES, count - row)):
            live[walking] = row + k
            walking += (idle >> k & 1) ^ 1
            if blind >> k & 1:
                hits.unsure[number[first + row + k]] = True
    return walking


@merged
def near_tree(space: Space, ray: Ray) -> LocalRay:
    """Eight rays as the tree sees them."""
    return local_ray(space, ray.origin, ray.direction, ray.extent, ray.limit)


@merged
def keep(work: Work, stream: Stream, row: int, ray: Ray, local: LocalRay) -> None:
    """Keep eight rays that have found nothing yet."""
    o, d, r, p = ray.origin, ray.direction, local.reciprocal, local.product
    store_rows(work.ray, row, 0, (o[0], o[1], o[2], d[0], d[1], d[2], ray.limit, ray.extent))
    store_rows(stream.record, row, 0, (r[0], r[1], r[2], p[0], p[1], p[2], local.reach, local.reach))
    store(work.start, row, local.start)
    store(work.per_length, row, ray.per_length)
    nothing = load(work.nothing, 0)
    for k in range(row, row + LANES):
        store(work.best, k * LANES, nothing)


@compiled
def walk_octant(
    query: Query,
    table: LimbRows,
    tree: Tree,
    number: Int32Array,
    base: int,
    octant: int,
    walking: int,
    work: Work,
    stream: Stream,
) -> None:
    """Rays of one octant through the tree; ray k of the stream is number[base + k] of the query."""
    policy, rows, live, record, scale = query.policy, table.rows, stream.live, stream.record, tree.space.scale
    alike_for_all = query.mask.size == 1 and query.ignored.size == 1
    sees_all = alike_for_all and all_considered(table, query.mask[0], query.ignored[0])
    height, level, pairs = start_stream(stream, walking), -1, stream.pairs
    while height > 0 or level >= 0:
        if level >= 0:
            level, met = next_items_on_rays(tree, stream, level, octant)
        else:
            height, limb, first, count, met = next_items_of_stream(tree, stream, height, octant)
            level = deepest(pairs, 0) if pairs.waiting[0] >= STEP or height == 0 else -1
            if limb != NO_ITEM:
                end = first + count
                if sees_all or (alike_for_all and sees(query, table, number[base], limb)):
                    first = meet_list(limb, table.solid[limb], policy, rows, live, first, end, work, record, scale)
                for k in range(first, end):
                    if sees_all or sees(query, table, number[base + live[k]], limb):
                        let_wait(policy, table, live[k], limb, work, record, scale)
        for k in range(met):
            ray, limb = pairs.item_who[k], -2 - pairs.item[k]
            if sees_all or sees(query, table, number[base + ray], limb):
                let_wait(policy, table, ray, limb, work, record, scale)
    for shape in range(SHAPES):
        if work.pairs[shape] > 0:
            meet_pairs(shape, policy, rows, work, record, scale)


@merged
def sees(query: Query, table: LimbRows, i: int, limb: int) -> bool:
    """Whether ray i of the query considers the limb: to be asked only if not all are seen, for it waits for memory."""
    mask, ignored = query.mask[shared(query.mask, i)], query.ignored[shared(query.ignored, i)]
    return considered(table.character[limb], table.mask[limb], mask, ignored)


@merged
def let_wait(policy: int, table: LimbRows, ray: int, limb: int, work: Work, record: Float32Array, scale: float) -> None:
    """Let a ray and a limb wait for others, until there are enough pairs of its shape."""
    shape = table.solid[limb]
    if make_wait(work, table.rows, shape, ray, limb):
        meet_pairs(shape, policy, table.rows, work, record, scale)


@compiled
def cast_stream(
    given: Given,
    query: Query,
    table: LimbRows,
    tree: Tree,
    work: Work,
    stream: Stream,
    sorting: Sorting,
    crossing: Entering,
    begin: int,
    end: int,
    hits: Verdicts,
) -> bool:
    """Receive the rays from `begin` to `end`, eight at least, and find their first limbs; whether they are allowed."""
    all_miss(hits, begin, end)
    work.pairs[:] = 0  # an earlier call may have been stopped half way
    work.pair_limb[:] = 0  # lanes without a pair read some limb of this table, not of an earlier one
    nobody_enters(crossing, begin)
    number, octants, room, small = sorting.number, sorting.octant, work.best.shape[0], tree.items < SMALL_WORLD
    octants[MIXED], octants[MIXED + 1] = 0, end - begin
    if not small and not sort_rays(given, query.rays, tree, begin, end, sorting):
        return False
    for octant in range(MIXED if small else 0, MIXED + 1 if small else MIXED):
        for first in range(octants[octant], octants[octant + 1], room):
            count = min(room, octants[octant + 1] - first)
            if small and not take_in_order(given, query.rays, begin, begin + first, begin + first + count, sorting):
                return False
            walking = prepare(query.rays, tree.space, number, first, count, small, work, stream, hits)
            walk_octant(query, table, tree, number, first, octant, walking, work, stream)
            finish(query, table, number, first, walking, work, stream.live, crossing, hits)
    all_enter(crossing, query, table, hits)
    return True


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
    table: LimbRows,
    number: Int32Array,
    base: int,
    walking: int,
    work: Work,
    live: Int32Array,
    crossing: Entering,
    hits: Verdicts,
) -> None:
    """Write the answers of the rays that have walked, eight at a time; a miss stands there already."""
    answer = work.answer
    for k in range(LANES):
        live[walking + k] = live[0]  # eight may be read from the last one on
    for first in range(0, walking, LANES):
        c = load_rows(work.best, live, first, 0)
        best = Nearest(c[LIMB], c[LOWER], c[UPPER], c[FACE], c[RIVAL], c[WITHIN] > 0.0)
        hit, doubtful = best.limb >= 0.0, undecided(best)
        those = bits(hit | (best.rival < inf) | best.inside) & ((1 << min(LANES, walking - first)) - 1)
        if those == 0:
            continue
        hit_those, doubtful_those, inside_those = bits(hit), bits(doubtful), bits(best.inside)
        store(answer, 0, best.limb)
        store(answer, LANES, best.face)
        store(answer, 2 * LANES, 0.5 * (best.lower + best.upper))
        while those:
            k = lowest_bit(those)
            those &= those - 1
            row = live[first + k]
            i = number[base + row]
            hits.inside[i], hits.unsure[i] = (inside_those >> k) & 1 != 0, (doubtful_those >> k) & 1 != 0
            if (hit_those & ~doubtful_those) >> k & 1:
                limb, face = int(answer[0, k]), int(answer[1, k])
                hits.limb[i], hits.face[i], hits.fraction[i] = limb, face, 0.0
                if face != INSIDE:
                    hits.fraction[i] = answer[2, k] * work.per_length[row]
                    enter(crossing, query, table, i, limb, face, hits)
