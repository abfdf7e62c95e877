"""Writing what rays have found: whole columns of eight where rays came in order, row by row where they were sorted."""

from math import inf

from cylcollide._types import NO_LIMB, Int32Array
from cylcollide.kernels.closest import Nearest, undecided
from cylcollide.kernels.limb_table import LimbRows
from cylcollide.query.loops.columns import Verdicts
from cylcollide.query.loops.leaf import FACE, LIMB, LOWER, RIVAL, UPPER, WITHIN, Work
from cylcollide.query.loops.refine import Entering, enter
from cylcollide.query.loops.single import INSIDE, NONE
from cylcollide.runtime.compile import compiled, merged
from cylcollide.runtime.simd import LANES, Real, Truth, bits, load, load_rows, lowest_bit, opposite, select, store


@merged
def write_eight(best: Nearest, doubtful: Truth, per_length: Real, row: int, hits: Verdicts) -> Truth:
    """Write what eight rays hit, a guess where the fraction of those goes that enter a limb; who does."""
    known = opposite(doubtful) & (best.limb >= 0.0)
    entering = known & (best.face < INSIDE)
    guess = 0.5 * (best.lower + best.upper) * per_length
    store(hits.limb, row, select(known, best.limb, float(NO_LIMB)))
    store(hits.fraction, row, select(entering, guess, select(known, 0.0, inf)))
    store(hits.face, row, select(known, best.face, float(NONE)))
    store(hits.inside, row, best.inside)
    store(hits.unsure, row, doubtful)
    return entering


@merged
def all_miss(hits: Verdicts, begin: int, end: int) -> None:
    """What stands there until a ray hits."""
    hits.limb[begin:end] = NO_LIMB
    hits.fraction[begin:end] = inf
    hits.face[begin:end] = NONE
    hits.inside[begin:end] = False
    hits.unsure[begin:end] = False


@merged
def found_by(work: Work, row: int) -> Nearest:
    """What eight rays have found, from this row on."""
    c = load_rows(work.best, work.step, row, 0)
    return Nearest(c[LIMB], c[LOWER], c[UPPER], c[FACE], c[RIVAL], c[WITHIN] > 0.0)


@compiled
def finish_any(number: Int32Array, base: int, count: int, work: Work, hits: Verdicts) -> None:
    """Write of so many rays whether they hit any limb."""
    for row in range(count):
        i, found = number[base + row], work.best[row]
        hits.limb[i], hits.unsure[i] = int(found[LIMB]), (found[LIMB] < 0.0) & (found[RIVAL] < inf)


@compiled
def name_rays(number: Int32Array, base: int, count: int, noted: int, work: Work) -> None:
    """Name the rays of a stream that were noted behind the first `noted`; those that are blind may cross any limb."""
    there = min(work.crossings[0], len(work.crossed))
    for k in range(noted, there):
        work.crossed[k, 0] = number[base + work.crossed[k, 0]]
    for row in range(count):
        if work.best[row, RIVAL] < 0.0:
            work.crossings[0] = len(work.crossed) + 1  # there is no room for so many


@compiled
def finish_in_order(
    table: LimbRows,
    number: Int32Array,
    base: int,
    count: int,
    work: Work,
    crossing: Entering,
    hits: Verdicts,
) -> None:
    """Write the answers of so many rays that came in order, eight at a time."""
    i = number[base]
    whole = count - count % LANES
    for first in range(0, whole, LANES):
        best = found_by(work, first)
        entering = bits(write_eight(best, undecided(best), load(work.per_length, first), i + first, hits))
        while entering:
            row = first + lowest_bit(entering)
            entering &= entering - 1
            enter(crossing, table, i + row, int(work.best[row, LIMB]), int(work.best[row, FACE]))
    all_miss(hits, i + whole, i + count)
    finish(table, number, base, whole, count, work, crossing, hits)


@compiled
def finish(
    table: LimbRows,
    number: Int32Array,
    base: int,
    begin: int,
    end: int,
    work: Work,
    crossing: Entering,
    hits: Verdicts,
) -> None:
    """Write the answers of the rays from row `begin` to `end`; a miss stands there already."""
    for first in range(begin, end, LANES):
        best = found_by(work, first)
        hit, doubtful = best.limb >= 0.0, undecided(best)
        those = bits(hit | (best.rival < inf) | best.inside) & ((1 << min(LANES, end - first)) - 1)
        hit_those, doubtful_those, inside_those = bits(hit), bits(doubtful), bits(best.inside)
        while those:
            k = lowest_bit(those)
            those &= those - 1
            row = first + k
            i, found = number[base + row], work.best[row]
            hits.inside[i], hits.unsure[i] = (inside_those >> k) & 1 != 0, (doubtful_those >> k) & 1 != 0
            if (hit_those & ~doubtful_those) >> k & 1:
                limb, face = int(found[LIMB]), int(found[FACE])
                hits.limb[i], hits.face[i], hits.fraction[i] = limb, face, 0.0
                if face != INSIDE:
                    hits.fraction[i] = 0.5 * (found[LOWER] + found[UPPER]) * work.per_length[row]
                    enter(crossing, table, i, limb, face)
