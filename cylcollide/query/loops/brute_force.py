"""The loop over many rays and few limbs: every ray against every limb, sixteen rays at a time, no tree.

The same kernels as in `casting` and `streaming`, side by side, with bit-equal results. What eight rays have found stays
in registers. A block of rays is received, cast, and then asked where exactly it enters each limb, by one face after
another, while it is in the cache.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from cylcollide._types import Float64Array, Int32Array, Int64Array, Shape
from cylcollide.constants import BLOCK_RAYS
from cylcollide.kernels.closest import nearer, nothing_yet, undecided
from cylcollide.kernels.dispatch import faces
from cylcollide.kernels.hit_bounds import two_events
from cylcollide.kernels.limb_table import LimbRows, considered
from cylcollide.kernels.ray import Rays
from cylcollide.query.loops.columns import Verdicts
from cylcollide.query.loops.inputs import Given, Query, received
from cylcollide.query.loops.leaf import FIRST
from cylcollide.query.loops.output import write_eight
from cylcollide.query.loops.packets import fetch_sixteen, one_limb, rays_from
from cylcollide.query.loops.refine import FACES, write_fractions_of
from cylcollide.runtime.compile import Entrance, compiled, merged
from cylcollide.runtime.simd import LANES, Truth, append_where, load, spread

CYLINDER = int(Shape.CYLINDER)


class Lists(NamedTuple):
    """Rays of a block that enter a limb, a list for each limb and face. One per thread."""

    step: Int32Array  # (BLOCK_RAYS + 2 LANES,): 0, 1, 2, ...
    lane: Float64Array  # (8,): 0, 1, 2, ...
    row: Int32Array  # (limbs FACES, BLOCK_RAYS + 4 LANES): counted from the first ray of the block
    listed: Int64Array  # (limbs FACES,): how many
    fraction: Float64Array  # (16,): of the hits at work


def make_lists(limbs: int) -> Lists:
    """Room for the rays of a block and so many limbs."""
    places = limbs * FACES
    row = np.zeros((places, BLOCK_RAYS + 4 * LANES), np.int32)
    step = np.arange(BLOCK_RAYS + 2 * LANES, dtype=np.int32)
    return Lists(step, np.arange(float(LANES)), row, np.zeros(places, np.int64), np.empty(2 * LANES))


@Entrance
@compiled
def cast_few(
    given: Given,
    query: Query,
    table: LimbRows,
    lists: Lists,
    begin: int,
    end: int,
    aim: int,
    hits: Verdicts,
) -> bool:
    """Receive the rays from `begin` to `end`, eight at least, and find their first limbs; whether they are allowed.

    Mask and ignored character are the same for all rays. If the aim is ANY, fractions are left as guesses.
    """
    first = begin
    while first < end:
        last = first + BLOCK_RAYS if end - first >= BLOCK_RAYS + LANES else end  # eight at least are left, or none
        if not received(given, query.rays, first, last):
            return False
        for place in range(lists.listed.size):
            lists.listed[place] = 0
        block, found = rays_behind(query, first), verdicts_behind(hits, first)
        for row in range(first, last, 2 * LANES):  # the last eight may overlap those before
            fetch_sixteen(given, query.rays, last + row - first)
            cast_sixteen(block, table, lists, row - first, last - first, found)
        if aim == FIRST:
            enter_all(block, table, lists, found)
        first = last
    return True


@merged
def rays_behind(query: Query, first: int) -> Query:
    """The query without the rays before `first`."""
    origin, second, is_segment, distance = query.rays
    if distance.size > 1:
        distance = distance[first:]
    return Query(Rays(origin[first:], second[first:], is_segment, distance), query.mask, query.ignored, query.policy)


@merged
def verdicts_behind(hits: Verdicts, first: int) -> Verdicts:
    """The verdicts without the rows before `first`."""
    limb, fraction, face, inside, unsure = hits
    return Verdicts(limb[first:], fraction[first:], face[first:], inside[first:], unsure[first:])


@merged
def cast_sixteen(query: Query, table: LimbRows, lists: Lists, row: int, end: int, hits: Verdicts) -> None:
    """The first limbs of the sixteen rays from `row` on, or of the last eight before `end`, twice."""
    rows, solids, characters, masks = table.rows, table.solid, table.character, table.mask
    mask, ignored = query.mask[0], query.ignored[0]
    one, two = min(row, end - LANES), min(row + LANES, end - LANES)
    ray, other = rays_from(query.rays, one), rays_from(query.rays, two)
    best, best_other = nothing_yet(ray.limit), nothing_yet(other.limit)
    for k in range(table.solid.size):
        if considered(characters[k], masks[k], mask, ignored):
            index = spread(float(k))
            if solids[k] == CYLINDER:  # a constant, so that both events are one stretch of code without a branch
                cylinder = one_limb(rows, CYLINDER, k)
                event, event_other = two_events(ray, other, cylinder, cylinder, query.policy)
            else:
                limb = one_limb(rows, solids[k], k)
                event, event_other = two_events(ray, other, limb, limb, query.policy)
            best, best_other = nearer(best, index, event), nearer(best_other, index, event_other)
    doubtful, doubtful_other = undecided(best) | (ray.extent == inf), undecided(best_other) | (other.extent == inf)
    entering = write_eight(best, doubtful, ray.per_length, one, hits)
    entering_other = write_eight(best_other, doubtful_other, other.per_length, two, hits)
    # rays that a list has already are not listed again
    lane = load(lists.lane, 0)
    entering, entering_other = (
        entering & (lane >= float(row - one)),
        entering_other & (lane >= float(row + LANES - two)),
    )
    for k in range(table.solid.size):
        first_face, end_face = faces(solids[k])
        enter, enter_other = entering & (best.limb == float(k)), entering_other & (best_other.limb == float(k))
        for face in range(first_face, end_face):
            append(lists, k * FACES + face, one, enter & (best.face == float(face)))
            append(lists, k * FACES + face, two, enter_other & (best_other.face == float(face)))


@merged
def append(lists: Lists, place: int, row: int, truth: Truth) -> None:
    """Put those of eight rays for which it is true behind the list of a place."""
    count, rows = lists.listed[place], lists.row[place]
    lists.listed[place] = count + append_where(rows, count, lists.step, row, truth)


@compiled
def enter_all(query: Query, table: LimbRows, lists: Lists, hits: Verdicts) -> None:
    """Write the fractions of all rays that are listed."""
    for place in range(lists.listed.size):
        count, rows = lists.listed[place], lists.row[place]
        if count > 0:
            rows[count : count + 2 * LANES] = rows[0]  # sixteen may be read from the last one on
            write_fractions_of(query, table, place // FACES, place % FACES, rows, count, lists.fraction, hits)
