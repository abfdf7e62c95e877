"""The loops over whole chords: every limb that a ray may cross, both ends of each piece, sorted by entry.

A piece is one stretch of a line inside a limb; a tube can have two. As in `single`, undecided rows are marked.
"""

from functools import partial
from math import inf, nan

import numpy as np

from cylcollide._types import NO_LIMB, POLICY_HIT, BoolArray, Column, Face, Int32Array, Int64Array
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.traverse import Stack, local_ray, make_stack, visit_on_ray
from cylcollide.kernels.dispatch import pieces
from cylcollide.kernels.hit_bounds import span_of
from cylcollide.kernels.inside_policy import ray_hit_bounds
from cylcollide.kernels.limb_table import LimbRows, is_considered, limb_at
from cylcollide.kernels.ray import Ray, Rays, is_trusted, ray_at
from cylcollide.kernels.ties import EARLIER, TIED
from cylcollide.query.loops.chord_order import entry_order, precedes
from cylcollide.query.loops.columns import INT32, ChordColumns, CompressedRows, find_rows
from cylcollide.query.loops.inputs import RayBatch, filter_of
from cylcollide.query.loops.one_chord import (
    chord_at,
    settled_span_at,
    write_chord,
    write_own_chord,
    write_settled_chord,
)
from cylcollide.runtime import memory
from cylcollide.runtime.compile import compiled, compiled_loop

NO_LISTS = np.zeros(0, np.int64)

MISSED = (nan, nan), (inf, inf), float(Face.NONE), float(Face.NONE)


@compiled_loop
def write_span(rays: Rays, i: int, table: LimbRows, limb: int, span: Column[np.float64]) -> None:
    """Write bounds of when ray i is in a limb of one piece: outer and inner interval, and both faces."""
    outer, inner, first, last = span_of(ray_at(rays, i), limb_at(table.rows, table.kernel_shape, limb), 0)
    span[0], span[1], span[2], span[3], span[4], span[5] = outer[0], outer[1], inner[0], inner[1], first, last


def complete_chords(
    batch: RayBatch, table: LimbRows, limbs: Int32Array, last: bool, chords: ChordColumns, undecided: BoolArray
) -> int:
    """Write the whole chord of each ray in its limb, or of the second piece; returns how many are undecided."""
    return write_chords(batch, table, NO_LISTS, limbs, 0, last, chords, undecided)


def cast_chords(
    batch: RayBatch,
    table: LimbRows,
    offsets: Int64Array,
    codes: Int32Array,
    begin: int,
    chords: ChordColumns,
    undecided: BoolArray,
) -> int:
    """Write the chords of the pieces of rays `begin`, `begin` + 1, ..., by entry; returns how many rays are undecided.

    `codes` are sorted in place, ray by ray; until the chords of a ray are written, `chords.entry` holds the earliest
    and latest times of their entries. A ray is undecided if a verdict, a face or an order is.
    """
    return write_chords(batch, table, offsets, codes, begin, False, chords, undecided)


@compiled_loop
def write_chords(
    batch: RayBatch,
    table: LimbRows,
    offsets: Column[np.int64],
    limbs: Column[np.int32],
    begin: int,
    last: bool,
    chords: ChordColumns,
    undecided: Column[np.bool_],
) -> int:
    """`cast_chords` if there are lists of pieces, else `complete_chords`: they share most of their machine code."""
    if offsets.size > 0:
        return write_listed_chords(batch, table, offsets, limbs, begin, chords, undecided)
    return write_own_chords(batch, table, limbs, last, chords, undecided)


@compiled
def write_own_chords(
    batch: RayBatch, table: LimbRows, limbs: Int32Array, last: bool, chords: ChordColumns, undecided: BoolArray
) -> int:
    """As `complete_chords`."""
    count = 0
    for i in range(limbs.size):
        k = limbs[i]
        if k == NO_LIMB:
            write_chord(chords, i, k, MISSED)
            undecided[i] = False
        else:
            undecided[i] = write_own_chord(chords, i, batch, table, i, k, last)
        count += undecided[i]
    return count


def pieces_of_rays(batch: RayBatch, table: LimbRows, tree: Tree, rows: Int64Array) -> CompressedRows:
    """Every piece of a limb that each of the given rays may hit.

    As codes: twice the limb, plus the number of the piece. An untrusted ray may hit any limb.
    """
    return find_rows(len(rows), partial(find_pieces, batch, table, tree, make_stack(tree), rows))


@compiled_loop
def find_pieces(
    batch: RayBatch,
    table: LimbRows,
    tree: Tree,
    stack: Stack,
    rows: Column[np.int64],
    offsets: Column[np.int64],
    codes: Column[np.int32],
) -> int:
    """Write `pieces_of_rays`; returns their number. Those beyond the size of `codes` are not written."""
    used = 0
    for k in range(rows.size):
        ray = ray_at(batch.rays, rows[k])
        local = local_ray(tree.frame, ray.origin, ray.direction, ray.extent, ray.limit, ray.radius)
        query = ray, table, *filter_of(batch, rows[k]), codes, local.reach
        used = visit_on_ray(tree, stack, local, write_pieces, query, used)
        offsets[k + 1] = used
    return used


@compiled
def write_pieces(query: tuple[Ray, LimbRows, int, int, Int32Array, float], index: int, used: int) -> tuple[int, float]:
    """Append the pieces of a limb that a ray may hit; returns how many there are now, and the reach."""
    ray, table, mask, ignored, codes, reach = query
    if is_considered(table.character[index], table.mask[index], mask, ignored):
        limb = limb_at(table.rows, table.kernel_shape, index)
        for piece in range(pieces(limb.kind)):
            if not is_trusted(ray) or ray_hit_bounds(ray, span_of(ray, limb, piece), POLICY_HIT).possible:
                if used < codes.size:
                    codes[used] = 2 * index + piece
                used += 1
    return used, reach


def pieces_of_lists(
    batch: RayBatch, table: LimbRows, begin: int, lists: CompressedRows, are_possible: bool
) -> CompressedRows:
    """`pieces_of_rays` of the rays `begin`, `begin` + 1, ..., each among the limbs on its list.

    `are_possible`: no ray certainly misses a limb on its list.
    """
    offsets, limbs = lists
    found, codes = np.zeros(len(offsets), np.int64), memory.rows((2 * int(offsets[-1] - offsets[0]),), INT32)
    used = find_listed_pieces(batch, table, begin, offsets, limbs, are_possible, found, codes)
    return found, codes[:used]


@compiled_loop
def find_listed_pieces(
    batch: RayBatch,
    table: LimbRows,
    begin: int,
    lists: Column[np.int64],
    limbs: Column[np.int32],
    are_possible: bool,
    offsets: Column[np.int64],
    codes: Column[np.int32],
) -> int:
    """Write `pieces_of_lists`, given the offsets and limbs of the lists; returns their number."""
    used = 0
    for k in range(lists.size - 1):
        for position in range(lists[k], lists[k + 1]):
            limb = limbs[position]
            if are_possible and pieces(table.kernel_shape[limb]) == 1:
                codes[used] = 2 * limb
                used += 1
            else:
                query = ray_at(batch.rays, begin + k), table, *filter_of(batch, begin + k), codes, inf
                used, _ = write_pieces(query, limb, used)
        offsets[k + 1] = used
    return used


@compiled
def write_listed_chords(
    batch: RayBatch,
    table: LimbRows,
    offsets: Int64Array,
    codes: Int32Array,
    begin: int,
    chords: ChordColumns,
    undecided: BoolArray,
) -> int:
    """As `cast_chords`."""
    count, entry = 0, chords.entry
    for k in range(offsets.size - 1):
        undecided[k] = False
        ray = ray_at(batch.rays, begin + k)
        first, last = offsets[k], offsets[k + 1]
        for position in range(first, last):
            code = codes[position]  # insertion sort
            limb = limb_at(table.rows, table.kernel_shape, code // 2)
            bounds = ray_hit_bounds(ray, span_of(ray, limb, code % 2), POLICY_HIT)
            if not bounds.certain:
                span = settled_span_at(batch.rays, begin + k, ray, limb, code % 2)
                bounds = ray_hit_bounds(ray, span, POLICY_HIT)
            undecided[k] |= not is_trusted(ray) or not bounds.certain
            times, j = (bounds.lower, bounds.upper), position
            while j > first and precedes(ray, table, code, times, codes[j - 1], (entry[j - 1, 0], entry[j - 1, 1])):
                codes[j], entry[j, 0], entry[j, 1] = codes[j - 1], entry[j - 1, 0], entry[j - 1, 1]
                j -= 1
            codes[j], (entry[j, 0], entry[j, 1]) = code, times
        for j in range(first + 1, last):
            if not undecided[k] and entry[j, 0] <= entry[j - 1, 1] and entry[j, 1] > 0.0:
                order = entry_order(ray, table, codes[j - 1], codes[j])
                undecided[k] = not (order == EARLIER or (order == TIED and codes[j - 1] < codes[j]))
        for position in range(first, last):
            if not undecided[k]:
                index = codes[position] // 2
                limb = limb_at(table.rows, table.kernel_shape, index)
                i, piece = begin + k, codes[position] % 2
                decided, ends = chord_at(batch.rays, i, ray, limb, span_of(ray, limb, piece))
                if decided:
                    write_chord(chords, position, index, ends)
                else:
                    decided = write_settled_chord(chords, position, batch.rays, i, ray, index, limb, piece)
                    undecided[k] |= not decided
        count += undecided[k]
    return count
