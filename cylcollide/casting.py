"""The loops over rays: walk the tree, test the limbs of each leaf, keep what counts.

Every loop marks the rows that float64 bounds do not decide; `settling` answers those in exact arithmetic.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from cylcollide._types import (
    HIT,
    MISS,
    NO_LIMB,
    POLICY_HIT,
    UNSURE,
    BoolArray,
    Float64Array,
    Int32Array,
    Int64Array,
    Uint32Array,
)
from cylcollide.hits import Chorded
from cylcollide.kernels.event import CertainChord, certain_chord, limb_event, ray_event
from cylcollide.kernels.ray import Ray, Rays, as_vector, exact_displacement, ray_at, shared
from cylcollide.kernels.solid import pieces, ray_limb
from cylcollide.kernels.table import Limb, LimbTable, considered, limb_at
from cylcollide.simd import allocating, compiled, merged
from cylcollide.tree.layout import Tree
from cylcollide.tree.walk import Stack, next_leaf_of_all, next_leaf_on_ray, start_walk

UNDECIDED_LIMB = -2


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
    chords.entry_face[row], chords.exit_face[row] = chord.first_face, chord.last_face


@merged
def chord_at(rays: Rays, i: int, ray: Ray, limb: Limb, piece: int) -> CertainChord:
    """`certain_chord` of ray i."""
    origin = as_vector(rays.origin, i)
    displacement = exact_displacement(origin, as_vector(rays.second, i), rays.is_segment)
    return certain_chord(origin, displacement, ray, rays.limit[shared(rays.limit, i)], limb, piece)


@compiled
def cast_rows(query: Query, table: LimbTable, chords: Chorded, started_inside: BoolArray, unsure: BoolArray) -> None:
    """Ray i against limb i, or all rays against the only limb."""
    rows, boxes = table.rows, table.boxes
    for i in range(unsure.size):
        k = i if len(rows) > 1 else 0
        ray, limb = ray_at(query.rays, i), limb_at(rows, boxes, k)
        status, _, _, started_inside[i], piece = limb_event(ray, limb, query.policy, inf)
        unsure[i] = status == UNSURE
        if status == HIT:
            chord = chord_at(query.rays, i, ray, limb, piece)
            unsure[i] = not chord.decided
            if chord.decided:
                write_chord(chords, i, k, chord)


@merged
def closest_limb(query: Query, table: LimbTable, tree: Tree, stack: Stack, ray: Ray, i: int) -> tuple[int, int, bool]:
    """The limb that ray i hits first, NO_LIMB, or UNDECIDED_LIMB; by which stretch; whether it starts in a limb."""
    best, best_piece, earliest, latest, started_inside = NO_LIMB, 0, inf, ray.limit, False
    if ray.extent == inf:
        return UNDECIDED_LIMB, 0, False
    mask, ignored = query.mask[shared(query.mask, i)], query.ignored[shared(query.ignored, i)]
    rows, boxes, order = table.rows, table.boxes, tree.order
    characters, masks, policy = table.character, table.mask, query.policy
    height = start_walk(stack)
    while True:
        height, first, size = next_leaf_on_ray(tree, stack, height, ray.origin, ray.reciprocal, latest)
        if size == 0:
            return best, best_piece, started_inside
        for position in range(first, first + size):
            k = order[position]
            if not considered(characters[k], masks[k], mask, ignored):
                continue
            status, lower, upper, inside, piece = limb_event(ray, limb_at(rows, boxes, k), policy, latest)
            started_inside |= inside
            if status == MISS or lower > latest:
                continue
            if status == UNSURE:
                return UNDECIDED_LIMB, 0, False
            if best == NO_LIMB or upper < earliest:
                best, best_piece, earliest, latest = k, piece, lower, upper
            elif upper == 0.0 and latest == 0.0:
                # the ray starts in both
                if k < best:
                    best, best_piece = k, piece
            else:
                return UNDECIDED_LIMB, 0, False  # too close to call


@compiled
def cast_closest(
    query: Query,
    table: LimbTable,
    tree: Tree,
    stack: Stack,
    begin: int,
    end: int,
    chords: Chorded,
    started: BoolArray,
    unsure: BoolArray,
) -> None:
    """The first limb along each of the rays from `begin` to `end`."""
    for i in range(begin, end):
        ray = ray_at(query.rays, i)
        best, piece, started[i] = closest_limb(query, table, tree, stack, ray, i)
        unsure[i] = best == UNDECIDED_LIMB
        if best >= 0:
            chord = chord_at(query.rays, i, ray, limb_at(table.rows, table.boxes, best), piece)
            unsure[i] = not chord.decided
            if chord.decided:
                write_chord(chords, i, best, chord)


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
    order, policy = tree.order, query.policy
    rows, boxes, characters, masks = table.rows, table.boxes, table.character, table.mask
    for i in range(begin, end):
        ray = ray_at(query.rays, i)
        mask, ignored = query.mask[shared(query.mask, i)], query.ignored[shared(query.ignored, i)]
        hit, doubtful = False, ray.extent == inf
        height = 0 if doubtful else start_walk(stack)
        while not hit:
            height, first, size = next_leaf_on_ray(tree, stack, height, ray.origin, ray.reciprocal, ray.limit)
            if size == 0:
                break
            for position in range(first, first + size):
                k = order[position]
                if considered(characters[k], masks[k], mask, ignored):
                    status, _, _, _, _ = limb_event(ray, limb_at(rows, boxes, k), policy, inf)
                    hit |= status == HIT
                    doubtful |= status == UNSURE
        blocked[i], unsure[i] = hit, doubtful and not hit


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
        trusted = ray.extent < inf
        height = start_walk(stack)
        while True:
            if trusted:
                height, first, size = next_leaf_on_ray(tree, stack, height, ray.origin, ray.reciprocal, ray.limit)
            else:
                height, first, size = next_leaf_of_all(tree, height)
            if size == 0:
                break
            for position in range(first, first + size):
                index = tree.order[position]
                if considered(table.character[index], table.mask[index], mask, ignored):
                    limb = limb_at(table.rows, table.boxes, index)
                    for piece in range(pieces(limb)):
                        status, _, _, _ = ray_event(ray, ray_limb(ray, limb, piece), POLICY_HIT)
                        if status != MISS:
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
            span = ray_limb(ray, limb_at(table.rows, table.boxes, code // 2), code % 2)
            status, lower, upper, _ = ray_event(ray, span, POLICY_HIT)
            unsure[k] |= status == UNSURE
            j = position
            while j > first and (latest[j - 1] > upper or (latest[j - 1] == upper and codes[j - 1] > code)):
                codes[j], earliest[j], latest[j] = codes[j - 1], earliest[j - 1], latest[j - 1]
                j -= 1
            codes[j], earliest[j], latest[j] = code, lower, upper
        for j in range(first + 1, last):
            unsure[k] |= earliest[j] <= latest[j - 1] and latest[j] > 0.0
        for position in range(first, last):
            if not unsure[k]:
                limb = limb_at(table.rows, table.boxes, codes[position] // 2)
                chord = chord_at(query.rays, begin + k, ray, limb, codes[position] % 2)
                unsure[k] = not chord.decided
                if chord.decided:
                    write_chord(chords, position, codes[position] // 2, chord)
