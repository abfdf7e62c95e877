"""The loop over many rays at once: they walk the tree as streams, and meet limbs eight pairs at a time.

The tree hands out limbs, each with a list of rays; pairs of a ray and a limb gather by shape, and eight of them go
through the same kernels as one does in `casting`, side by side, with bit-equal results. What a ray has found is kept
beside it, so that no order of pairs changes the answer (`nearer`).
"""

from math import inf

import numpy as np

from cylcollide._types import Float32Array, Int32Array
from cylcollide.bvh.layout import Space, Tree
from cylcollide.bvh.ray_node_pairs import STEP, deepest
from cylcollide.bvh.stream import MIXED, Stream, next_items_of_stream, next_items_on_rays, start_stream
from cylcollide.bvh.traverse import NO_ITEM, LocalRay, local_ray
from cylcollide.constants import BLOCK_RAYS, SMALL_WORLD
from cylcollide.kernels.limb_table import LimbRows, all_considered, considered
from cylcollide.kernels.ray import Ray, Rays, shared
from cylcollide.query.loops.columns import Verdicts
from cylcollide.query.loops.inputs import Given, Query
from cylcollide.query.loops.leaf import ANY, EVERY, FIRST, RIVAL, SHAPES, Work, make_wait, meet_list, meet_pairs
from cylcollide.query.loops.output import all_miss, finish, finish_any, finish_in_order, name_rays
from cylcollide.query.loops.packets import fetch_sixteen, two_rays_from
from cylcollide.query.loops.ray_sort import Sorting, sort_rays, take_in_order
from cylcollide.query.loops.refine import Entering, all_enter
from cylcollide.runtime.compile import Entrance, compiled, merged
from cylcollide.runtime.simd import LANES, append_where, bits, load, lowest_bit, opposite, spread, store, store_rows


@compiled
def prepare(
    given: Given,
    rays: Rays,
    space: Space,
    number: Int32Array,
    first: int,
    count: int,
    as_they_come: bool,
    work: Work,
    stream: Stream,
) -> int:
    """Bring the rays of so many numbers near the tree, twice eight at a time; how many have to walk."""
    walking = 0
    for row in range(0, count, 2 * LANES):
        if as_they_come:
            fetch_sixteen(given, rays, number[first + row] + BLOCK_RAYS)
        ray, other = two_rays_from(rays, number, first + row, as_they_come)
        local, other_local = near_tree(space, ray), near_tree(space, other)
        keep(work, stream, row, ray, local)
        keep(work, stream, row + LANES, other, other_local)
        walking = send(work, stream, row, count, walking, local)
        walking = send(work, stream, row + LANES, count, walking, other_local)
    return walking


@merged
def send(work: Work, stream: Stream, row: int, count: int, walking: int, local: LocalRay) -> int:
    """Put those of eight rays into `stream.live` that have to walk; who cannot, is undecided. How many walk."""
    blind = bits(local.blind)
    while blind:
        k = lowest_bit(blind)
        blind &= blind - 1
        work.best[row + k, RIVAL] = -inf
    there = load(stream.lanes, 0) < spread(np.float32(count - row))
    truth = there & opposite(local.blind | local.clear)
    return walking + append_where(stream.live, walking, work.step, row, truth)


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
    aim: int,
) -> None:
    """Rays of one octant through the tree; ray k of the stream is number[base + k] of the query.

    A ray that certainly hits walks on, unless any limb will do.
    """
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
                    first = meet_list(limb, table.solid[limb], policy, rows, live, first, end, work, record, scale, aim)
                for k in range(first, end):
                    if sees_all or sees(query, table, number[base + live[k]], limb):
                        let_wait(policy, table, live[k], limb, work, record, scale, aim)
        for k in range(met):
            ray, limb = pairs.item_who[k], -2 - pairs.item[k]
            if sees_all or sees(query, table, number[base + ray], limb):
                let_wait(policy, table, ray, limb, work, record, scale, aim)
    for shape in range(SHAPES):
        if work.pairs[shape] > 0:
            meet_pairs(shape, policy, rows, work, record, scale, aim)


@merged
def sees(query: Query, table: LimbRows, i: int, limb: int) -> bool:
    """Whether ray i of the query considers the limb: to be asked only if not all are seen, for it waits for memory."""
    mask, ignored = query.mask[shared(query.mask, i)], query.ignored[shared(query.ignored, i)]
    return considered(table.character[limb], table.mask[limb], mask, ignored)


@merged
def let_wait(
    policy: int,
    table: LimbRows,
    ray: int,
    limb: int,
    work: Work,
    record: Float32Array,
    scale: float,
    aim: int,
) -> None:
    """Let a ray and a limb wait for others, until there are enough pairs of its shape."""
    shape = table.solid[limb]
    if make_wait(work, table.rows, shape, ray, limb):
        meet_pairs(shape, policy, table.rows, work, record, scale, aim)


@Entrance
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
    aim: int,
    hits: Verdicts,
) -> bool:
    """Receive the rays from `begin` to `end`, eight at least, and find their first limbs; whether they are allowed.

    If the aim is ANY, only the columns `limb` and `unsure` are written, and `limb` says no more than whether it hits.
    If it is EVERY, no column is, and `work.crossed` says which limbs each ray may cross.
    """
    work.pairs[:] = 0  # an earlier call may have been stopped half way
    work.pair_limb[:] = 0  # lanes without a pair read some limb of this table, not of an earlier one
    crossing.waiting[:] = 0
    number, octants, room, small = sorting.number, sorting.octant, work.best.shape[0], tree.items < SMALL_WORLD
    if small:
        room = min(room, BLOCK_RAYS)
    octants[MIXED], octants[MIXED + 1] = 0, end - begin
    if not small:
        if aim == FIRST:
            all_miss(hits, begin, end)
        if not sort_rays(given, query.rays, tree, begin, end, sorting):
            return False
    for octant in range(MIXED if small else 0, MIXED + 1 if small else MIXED):
        for first in range(octants[octant], octants[octant + 1], room):
            count = min(room, octants[octant + 1] - first)
            if small and not take_in_order(given, query.rays, begin, begin + first, begin + first + count, sorting):
                return False
            walking = prepare(given, query.rays, tree.space, number, first, count, small, work, stream)
            noted = work.crossings[0]
            walk_octant(query, table, tree, number, first, octant, walking, work, stream, aim)
            if aim == EVERY:
                name_rays(number, first, count, noted, work)
            elif aim == ANY:
                finish_any(number, first, count, work, hits)
            elif small:
                finish_in_order(table, number, first, count, work, crossing, hits)
            else:
                finish(table, number, first, 0, count, work, crossing, hits)
            all_enter(crossing, query, table, hits)
    return True
