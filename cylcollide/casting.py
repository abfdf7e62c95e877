"""The loops over rays: walk the tree, test each limb, keep what counts.

Every loop marks the rows that float64 bounds do not decide; `settling` answers those in exact arithmetic.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from cylcollide._types import (
    NO_LIMB,
    POLICY_EXIT,
    POLICY_HIT,
    BoolArray,
    Face,
    Float64Array,
    Int32Array,
    Int64Array,
    Shape,
    Uint32Array,
)
from cylcollide.compiling import allocating, compiled, merged
from cylcollide.hits import Chorded, Verdicts
from cylcollide.kernels.chord import CertainChord, certain_chord
from cylcollide.kernels.crossing import face_crossing
from cylcollide.kernels.event import Event, limb_event, ray_event
from cylcollide.kernels.interval import UNDECIDED, Span
from cylcollide.kernels.ray import Ray, Rays, as_vector, exact_displacement, ray_at, shared
from cylcollide.kernels.solid import pieces, ray_limb
from cylcollide.kernels.table import Limb, LimbTable, considered, limb_at
from cylcollide.simd import Real, Truth, alike, opposite, select, smaller
from cylcollide.tree.layout import Tree
from cylcollide.tree.walk import (
    NO_ITEM,
    Stack,
    local_ray,
    local_reach,
    next_item_of_all,
    next_item_on_ray,
    start_walk,
)

INSIDE, NONE, TUBE = int(Face.INSIDE), int(Face.NONE), int(Shape.TUBE)


class Query(NamedTuple):
    """Rays and what they may hit; `mask` and `ignored` have one entry a ray, or one for all."""

    rays: Rays
    mask: Uint32Array
    ignored: Int64Array  # character, -1 for none
    policy: int


@merged
def write_chord(chords: Chorded, row: int, limb: int, chord: CertainChord) -> None:
    """Write a chord."""
    chords.limb[row] = limb
    chords.entry[row, 0], chords.entry[row, 1] = chord.entry
    chords.exit[row, 0], chords.exit[row, 1] = chord.exit
    chords.entry_face[row], chords.exit_face[row] = int(chord.first_face), int(chord.last_face)


@merged
def chord_at(rays: Rays, i: int, ray: Ray, limb: Limb, span: Span) -> CertainChord:
    """`certain_chord` of ray i."""
    origin = as_vector(rays.origin, i)
    displacement = exact_displacement(origin, as_vector(rays.second, i), rays.is_segment)
    return certain_chord(displacement, ray, rays.limit[shared(rays.limit, i)], limb, span)


class Nearest(NamedTuple):
    """The first limb along a ray so far, and how close any other limb may come to it; or for eight rays."""

    limb: Real  # index, NO_LIMB if none is certain to be hit
    lower: Real  # earliest time, metres
    upper: Real  # latest time, inf if there is none
    face: Real
    rival: Real  # earliest time of any other limb that may be hit
    inside: Truth  # the ray certainly starts in some limb


@merged
def nothing_yet(like: Real) -> Nearest:
    """Before the first limb."""
    never, none = alike(inf, like), alike(float(NO_LIMB), like)
    return Nearest(none, never, never, alike(UNDECIDED, like), never, none >= 0.0)


@merged
def nearer(best: Nearest, limb: Real, event: Event) -> Nearest:
    """With one more limb. The answer does not depend on the order in which limbs come.

    First is who is certainly hit by the earliest time; a rival is who may be hit before that. Limbs that hold the start
    are all hit at 0: the lowest index is first, and they are no rivals.
    """
    counts = event.possible & (event.lower <= best.upper)
    sooner = (event.upper < best.upper) | ((event.upper == best.upper) & (limb < best.limb))
    first = counts & event.certain & sooner
    behind_lower, behind_upper = select(first, best.lower, event.lower), select(first, best.upper, event.upper)
    rivals = counts & opposite(behind_upper == 0.0)
    return Nearest(
        select(first, limb, best.limb),
        select(first, event.lower, best.lower),
        select(first, event.upper, best.upper),
        select(first, event.face, best.face),
        select(rivals, smaller(best.rival, behind_lower), best.rival),
        best.inside | event.inside,
    )


@merged
def undecided(best: Nearest) -> Truth:
    """Whether the bounds leave open which limb is first, or by which face."""
    contested = (best.rival < inf) & (best.rival <= best.upper)
    return contested | ((best.limb >= 0.0) & (best.face == UNDECIDED))


@merged
def entry_fraction(rays: Rays, i: int, ray: Ray, best: Nearest, limb: Limb, policy: int) -> float:
    """Fraction at which ray i hits the first limb."""
    if best.face == INSIDE:
        return 0.0
    origin = as_vector(rays.origin, i)
    displacement = exact_displacement(origin, as_vector(rays.second, i), rays.is_segment)
    guess = 0.5 * (best.lower + best.upper) * ray.per_length
    leaving = policy == POLICY_EXIT and best.inside and leaves(ray, limb)
    return face_crossing(ray, displacement, guess, limb, best.face, not leaving)[0]


@compiled
def leaves(ray: Ray, limb: Limb) -> bool:
    """Whether the ray certainly starts in the limb."""
    return limb_event(ray, limb, POLICY_EXIT).inside


@compiled
def cast_rows(query: Query, table: LimbTable, hits: Verdicts) -> None:
    """Ray i against limb i, or all rays against the only limb."""
    rows, solids, rays, policy = table.rows, table.solid, query.rays, query.policy
    for i in range(hits.limb.size):
        k = i if len(rows) > 1 else 0
        ray, limb = ray_at(rays, i), limb_at(rows, solids, k)
        best = nothing_yet(ray.limit)
        doubtful = ray.extent == inf
        if not doubtful:
            best = nearer(best, float(k), limb_event(ray, limb, policy))
            doubtful = undecided(best)
        write_hit(hits, i, ray, best, doubtful, query, table)


@merged
def write_hit(hits: Verdicts, i: int, ray: Ray, best: Nearest, doubtful: bool, query: Query, table: LimbTable) -> None:
    """Write what ray i hits, or that it is not decided."""
    hits.unsure[i], hits.inside[i], hits.limb[i] = doubtful, best.inside, NO_LIMB
    hits.fraction[i], hits.face[i] = inf, NONE
    if best.limb >= 0.0 and not doubtful:
        k = int(best.limb)
        hits.limb[i], hits.face[i] = k, int(best.face)
        limb = limb_at(table.rows, table.solid, k)
        hits.fraction[i] = entry_fraction(query.rays, i, ray, best, limb, query.policy)


@merged
def closest_limb(query: Query, table: LimbTable, tree: Tree, stack: Stack, ray: Ray, i: int) -> tuple[Nearest, bool]:
    """The limb that ray i hits first, and whether that is not decided."""
    best = nothing_yet(ray.limit)
    local = local_ray(tree.space, ray.origin, ray.direction, ray.extent, ray.limit)
    if local.blind:
        return best, True
    if local.clear:
        return best, False
    mask, ignored = query.mask[shared(query.mask, i)], query.ignored[shared(query.ignored, i)]
    rows, solids = table.rows, table.solid
    characters, masks, policy = table.character, table.mask, query.policy
    height, reach = start_walk(stack), local.reach
    while True:
        height, k = next_item_on_ray(tree, stack, height, local, reach)
        if k == NO_ITEM:
            return best, undecided(best)
        if considered(characters[k], masks[k], mask, ignored):
            best = nearer(best, float(k), limb_event(ray, limb_at(rows, solids, k), policy))
            reach = local_reach(min(best.upper, ray.limit), tree.space.scale, local.start)


@compiled
def cast_closest(
    query: Query, table: LimbTable, tree: Tree, stack: Stack, begin: int, end: int, hits: Verdicts
) -> None:
    """The first limb along each of the rays from `begin` to `end`."""
    for i in range(begin, end):
        ray = ray_at(query.rays, i)
        best, doubtful = closest_limb(query, table, tree, stack, ray, i)
        write_hit(hits, i, ray, best, doubtful, query, table)


@compiled
def cast_any(
    query: Query,
    table: LimbTable,
    tree: Tree,
    stack: Stack,
    begin: int,
    end: int,
    blocked: BoolArray,
    unsure: BoolArray,
) -> None:
    """Whether each of the rays from `begin` to `end` hits any limb; unsure only if no limb is a certain hit."""
    policy = query.policy
    rows, solids, characters, masks = table.rows, table.solid, table.character, table.mask
    for i in range(begin, end):
        ray = ray_at(query.rays, i)
        local = local_ray(tree.space, ray.origin, ray.direction, ray.extent, ray.limit)
        mask, ignored = query.mask[shared(query.mask, i)], query.ignored[shared(query.ignored, i)]
        hit, doubtful = False, local.blind
        height = 0 if local.blind or local.clear else start_walk(stack)
        while not hit:
            height, k = next_item_on_ray(tree, stack, height, local, local.reach)
            if k == NO_ITEM:
                break
            if considered(characters[k], masks[k], mask, ignored):
                event = limb_event(ray, limb_at(rows, solids, k), policy)
                hit |= event.certain
                doubtful |= event.possible
        blocked[i], unsure[i] = hit, doubtful and not hit


@compiled
def complete_chords(
    query: Query, table: LimbTable, ray_rows: Int64Array, limbs: Int32Array, chords: Chorded, unsure: BoolArray
) -> None:
    """The whole chord of each of the given rays in the limb that it hits."""
    rays = query.rays
    for j in range(ray_rows.size):
        i, k = ray_rows[j], limbs[j]
        ray, limb = ray_at(rays, i), limb_at(table.rows, table.solid, k)
        unsure[j] = ray.extent == inf
        if not unsure[j]:
            span = ray_limb(ray, limb, 0)
            if limb.kind == TUBE:
                event = ray_event(ray, span, query.policy)
                if not (event.possible or event.inside):
                    span = ray_limb(ray, limb, 1)
            chord = chord_at(rays, i, ray, limb, span)
            unsure[j] = not chord.decided
            if chord.decided:
                write_chord(chords, j, k, chord)


@allocating
def appended(values: Int32Array, used: int, value: int) -> Int32Array:
    """`values` with `value` at position `used`, in a larger array where there is no room."""
    if used == values.size:
        larger = np.empty(2 * values.size, np.int32)
        larger[:used] = values
        values = larger
    values[used] = value
    return values


@allocating
def possible_stretches(
    query: Query, table: LimbTable, tree: Tree, stack: Stack, rows: Int64Array
) -> tuple[Int64Array, Int32Array]:
    """Every stretch of a limb that each of the given rays does not certainly miss, in compressed rows.

    Returns offsets, and codes: twice the limb, plus the number of the stretch. A ray beyond what float64 products hold
    may meet any limb.
    """
    offsets, found, used = np.zeros(rows.size + 1, np.int64), np.empty(4 * rows.size + 64, np.int32), 0
    for k in range(rows.size):
        i = rows[k]
        ray = ray_at(query.rays, i)
        mask, ignored = query.mask[shared(query.mask, i)], query.ignored[shared(query.ignored, i)]
        local = local_ray(tree.space, ray.origin, ray.direction, ray.extent, ray.limit)
        height = tree.items if local.blind else 0 if local.clear else start_walk(stack)
        while True:
            if local.blind:
                height, index = next_item_of_all(height)
            else:
                height, index = next_item_on_ray(tree, stack, height, local, local.reach)
            if index == NO_ITEM:
                break
            if considered(table.character[index], table.mask[index], mask, ignored):
                limb = limb_at(table.rows, table.solid, index)
                for piece in range(pieces(limb.kind)):
                    if ray.extent == inf or ray_event(ray, ray_limb(ray, limb, piece), POLICY_HIT).possible:
                        found = appended(found, used, 2 * index + piece)
                        used += 1
        offsets[k + 1] = used
    return offsets, found[:used].copy()


@compiled
def cast_chords(
    query: Query,
    table: LimbTable,
    offsets: Int64Array,
    codes: Int32Array,
    begin: int,
    earliest: Float64Array,
    latest: Float64Array,
    chords: Chorded,
    unsure: BoolArray,
) -> None:
    """Chords of the stretches found for the rays `begin`, `begin` + 1, ..., in order of entry.

    `codes` is sorted in place, ray by ray; `earliest` and `latest` are room for one number a code. A ray is unsure if a
    verdict, a face or an order is not decided.
    """
    for k in range(offsets.size - 1):
        ray = ray_at(query.rays, begin + k)
        first, last = offsets[k], offsets[k + 1]
        for position in range(first, last):
            # insertion sort by latest entry; starts inside tie at 0, where the limb index decides
            code = codes[position]
            limb = limb_at(table.rows, table.solid, code // 2)
            event = ray_event(ray, ray_limb(ray, limb, code % 2), POLICY_HIT)
            unsure[k] |= ray.extent == inf or not event.certain
            lower, upper = event.lower, event.upper
            j = position
            while j > first and (latest[j - 1] > upper or (latest[j - 1] == upper and codes[j - 1] > code)):
                codes[j], earliest[j], latest[j] = codes[j - 1], earliest[j - 1], latest[j - 1]
                j -= 1
            codes[j], earliest[j], latest[j] = code, lower, upper
        for j in range(first + 1, last):
            unsure[k] |= earliest[j] <= latest[j - 1] and latest[j] > 0.0
        for position in range(first, last):
            if not unsure[k]:
                index = codes[position] // 2
                limb = limb_at(table.rows, table.solid, index)
                span = ray_limb(ray, limb, codes[position] % 2)
                chord = chord_at(query.rays, begin + k, ray, limb, span)
                unsure[k] = not chord.decided
                if chord.decided:
                    write_chord(chords, position, index, chord)
