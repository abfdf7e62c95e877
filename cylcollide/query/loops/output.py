"""Writes the hits of a batch of rays: eight rows at a time where rays are in query order, row by row where sorted.

A fraction is written as a guess, the middle of its bounds, and queued for `refine`.
"""

from math import inf

from cylcollide._types import NO_LIMB, Int32Array
from cylcollide.kernels.closest import ClosestHit, is_undecided
from cylcollide.kernels.limb_table import LimbRows
from cylcollide.query.loops.columns import HitColumns
from cylcollide.query.loops.leaf import FACE, LIMB, LOWER, NEXT_POSSIBLE, STARTS_INSIDE, UPPER, RayState
from cylcollide.query.loops.refine import RefineQueue, enqueue_refine
from cylcollide.query.loops.single import INSIDE, NONE
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.simd import (
    LANES,
    Real,
    Truth,
    load,
    load_rows,
    logical_not,
    lowest_bit,
    movemask,
    select,
    store,
)


@inlined
def write_eight(best: ClosestHit, undecided: Truth, per_length: Real, row: int, hits: HitColumns) -> Truth:
    """Write the hits of eight rays from `row` on, fractions as guesses; which of them are to be refined."""
    known = logical_not(undecided) & (best.limb >= 0.0)
    entered = known & (best.face < INSIDE)
    guess = 0.5 * (best.lower + best.upper) * per_length
    store(hits.limb, row, select(known, best.limb, float(NO_LIMB)))
    store(hits.fraction, row, select(entered, guess, select(known, 0.0, inf)))
    store(hits.face, row, select(known, best.face, float(NONE)))
    store(hits.inside, row, best.inside)
    store(hits.undecided, row, undecided)
    return entered


@inlined
def clear_hits(hits: HitColumns, begin: int, end: int) -> None:
    """Write misses into the rows from `begin` to `end`."""
    hits.limb[begin:end] = NO_LIMB
    hits.fraction[begin:end] = inf
    hits.face[begin:end] = NONE
    hits.inside[begin:end] = False
    hits.undecided[begin:end] = False


@inlined
def load_closest(state: RayState, row: int) -> ClosestHit:
    """The closest hits of eight rays, from this row on."""
    c = load_rows(state.best, state.step, row, 0)
    return ClosestHit(c[LIMB], c[LOWER], c[UPPER], c[FACE], c[NEXT_POSSIBLE], c[STARTS_INSIDE] > 0.0)


@compiled
def write_any_hit(number: Int32Array, base: int, count: int, state: RayState, hits: HitColumns) -> None:
    """Write whether each of `count` rays hits any limb: columns `limb` and `undecided`."""
    for row in range(count):
        i, found = number[base + row], state.best[row]
        hits.limb[i], hits.undecided[i] = int(found[LIMB]), (found[LIMB] < 0.0) & (found[NEXT_POSSIBLE] < inf)


@compiled
def to_query_rows(number: Int32Array, base: int, count: int, recorded: int, state: RayState) -> None:
    """Turn stream rows into query rows in the crossings after the first `recorded`.

    An untrusted ray may cross any limb: for one, more crossings are counted than the buffer holds.
    """
    stored = min(state.crossings[0], len(state.crossed))
    for k in range(recorded, stored):
        state.crossed[k, 0] = number[base + state.crossed[k, 0]]
    for row in range(count):
        if state.best[row, NEXT_POSSIBLE] < 0.0:
            state.crossings[0] = len(state.crossed) + 1  # as if the buffer were too small


@compiled
def write_in_order(
    table: LimbRows, number: Int32Array, base: int, count: int, state: RayState, queue: RefineQueue, hits: HitColumns
) -> None:
    """Write the hits of `count` rays that are consecutive rows of the query, eight at a time."""
    i = number[base]
    full = count - count % LANES
    for first in range(0, full, LANES):
        best = load_closest(state, first)
        entered = movemask(write_eight(best, is_undecided(best), load(state.per_length, first), i + first, hits))
        while entered:
            row = first + lowest_bit(entered)
            entered &= entered - 1
            enqueue_refine(queue, table, i + row, int(state.best[row, LIMB]), int(state.best[row, FACE]))
    clear_hits(hits, i + full, i + count)
    write_hits(table, number, base, full, count, state, queue, hits)


@compiled
def write_hits(
    table: LimbRows,
    number: Int32Array,
    base: int,
    begin: int,
    end: int,
    state: RayState,
    queue: RefineQueue,
    hits: HitColumns,
) -> None:
    """Write the hits of the stream rows from `begin` to `end`; the columns hold misses."""
    for first in range(begin, end, LANES):
        best = load_closest(state, first)
        hit, undecided = best.limb >= 0.0, is_undecided(best)
        rows = movemask(hit | (best.next_possible < inf) | best.inside) & ((1 << min(LANES, end - first)) - 1)
        hit_bits, undecided_bits, inside_bits = movemask(hit), movemask(undecided), movemask(best.inside)
        while rows:
            k = lowest_bit(rows)
            rows &= rows - 1
            row = first + k
            i, found = number[base + row], state.best[row]
            if (inside_bits | undecided_bits) >> k & 1:
                hits.inside[i], hits.undecided[i] = (inside_bits >> k) & 1 != 0, (undecided_bits >> k) & 1 != 0
            if (hit_bits & ~undecided_bits) >> k & 1:
                limb, face = int(found[LIMB]), int(found[FACE])
                hits.limb[i], hits.face[i], hits.fraction[i] = limb, face, 0.0
                if face != INSIDE:
                    hits.fraction[i] = 0.5 * (found[LOWER] + found[UPPER]) * state.per_length[row]
                    enqueue_refine(queue, table, i, limb, face)
