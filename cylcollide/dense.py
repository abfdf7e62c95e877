"""The loop over many rays and few limbs: every ray against every limb, eight rays at a time, no tree.

The same kernels as in `casting` and `streaming`, side by side, with bit-equal results. What eight rays have found stays
in registers.
"""

from math import inf

from cylcollide._types import BLOCK_RAYS, NO_LIMB
from cylcollide.arriving import Given, received
from cylcollide.casting import INSIDE, NONE, Query
from cylcollide.compiling import compiled, merged
from cylcollide.entering import Entering, all_enter, enter, nobody_enters
from cylcollide.gathering import rays_from
from cylcollide.hits import Verdicts
from cylcollide.kernels.event import limb_event
from cylcollide.kernels.nearest import nearer, nothing_yet, undecided
from cylcollide.kernels.table import LimbTable, considered
from cylcollide.pairing import one_limb
from cylcollide.simd import LANES, bits, lowest_bit, opposite, select, spread, store


@compiled
def cast_few(
    given: Given, query: Query, table: LimbTable, crossing: Entering, begin: int, end: int, hits: Verdicts
) -> bool:
    """Receive the rays from `begin` to `end`, eight at least, and find their first limbs; whether they are allowed.

    Mask and ignored character are the same for all rays.
    """
    nobody_enters(crossing, begin)
    for block in range(begin, end, BLOCK_RAYS):
        last = min(block + BLOCK_RAYS, end)
        if not received(given, query.rays, block, last):
            return False
        for first in range(block, last, LANES):
            if first + LANES > end:
                all_enter(crossing, query, table, hits)  # the last eight overlap those before
            cast_eight(query, table, crossing, min(first, end - LANES), hits)
    all_enter(crossing, query, table, hits)
    return True


@merged
def cast_eight(query: Query, table: LimbTable, crossing: Entering, row: int, hits: Verdicts) -> None:
    """The first limbs of eight rays, from `row` on."""
    rows, solids, characters, masks, policy = table.rows, table.solid, table.character, table.mask, query.policy
    mask, ignored, limbs = query.mask[0], query.ignored[0], table.radius.size
    ray = rays_from(query.rays, row)
    best = nothing_yet(ray.limit)
    for k in range(limbs):
        if considered(characters[k], masks[k], mask, ignored):
            best = nearer(best, spread(float(k)), limb_event(ray, one_limb(rows, solids[k], k), policy))
    doubtful = undecided(best) | (ray.extent == inf)
    known = opposite(doubtful) & (best.limb >= 0.0)
    entering = known & (best.face < INSIDE)
    store(hits.limb, row, select(known, best.limb, float(NO_LIMB)))
    store(hits.fraction, row, select(entering, 0.5 * (best.lower + best.upper), select(known, 0.0, inf)))
    store(hits.face, row, select(known, best.face, float(NONE)))
    store(hits.inside, row, best.inside)
    store(hits.unsure, row, doubtful)
    who = bits(entering)
    while who:
        i = row + lowest_bit(who)
        who &= who - 1
        enter(crossing, query, table, i, hits.limb[i], hits.face[i], hits)
