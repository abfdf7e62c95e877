"""The loop over many rays and few limbs: every ray against every limb, eight rays at a time, no tree.

The same kernels as in `casting` and `streaming`, side by side, with bit-equal results. What eight rays have found stays
in registers.
"""

from math import inf

from cylcollide._types import BLOCK_RAYS, NO_LIMB, Shape
from cylcollide.arriving import Given, received
from cylcollide.casting import INSIDE, NONE, Query
from cylcollide.compiling import compiled, merged
from cylcollide.entering import Entering, all_enter, enter, nobody_enters
from cylcollide.gathering import rays_from
from cylcollide.hits import Verdicts
from cylcollide.kernels.event import two_events
from cylcollide.kernels.nearest import Nearest, nearer, nothing_yet, undecided
from cylcollide.kernels.ray import Ray
from cylcollide.kernels.table import LimbTable, considered
from cylcollide.pairing import one_limb
from cylcollide.simd import LANES, opposite, select, spread, store

CYLINDER = int(Shape.CYLINDER)


@compiled
def cast_few(
    given: Given, query: Query, table: LimbTable, crossing: Entering, begin: int, end: int, hits: Verdicts
) -> bool:
    """Receive the rays from `begin` to `end`, eight at least, and find their first limbs; whether they are allowed.

    Mask and ignored character are the same for all rays.
    """
    nobody_enters(crossing, begin)
    first = begin
    while first < end:
        last = first + BLOCK_RAYS if end - first >= BLOCK_RAYS + LANES else end  # eight at least are left, or none
        if not received(given, query.rays, first, last):
            return False
        for row in range(first, last, 2 * LANES):  # the last eight may overlap those before
            cast_sixteen(query, table, min(row, last - LANES), min(row + LANES, last - LANES), hits)
        for i in range(first, last if table.radius.size > 0 else first):
            enter(crossing, query, table, i, max(0, hits.limb[i]), hits.face[i], hits)
        first = last
    all_enter(crossing, query, table, hits)
    return True


@merged
def cast_sixteen(query: Query, table: LimbTable, one: int, two: int, hits: Verdicts) -> None:
    """The first limbs of twice eight rays, from row `one` and from row `two` on."""
    rows, solids, characters, masks = table.rows, table.solid, table.character, table.mask
    mask, ignored = query.mask[0], query.ignored[0]
    ray, other = rays_from(query.rays, one), rays_from(query.rays, two)
    best, best_other = nothing_yet(ray.limit), nothing_yet(other.limit)
    for k in range(table.radius.size):
        if considered(characters[k], masks[k], mask, ignored):
            index = spread(float(k))
            if solids[k] == CYLINDER:  # a constant, so that both events are one stretch of code without a branch
                cylinder = one_limb(rows, CYLINDER, k)
                event, event_other = two_events(ray, other, cylinder, cylinder, query.policy)
            else:
                limb = one_limb(rows, solids[k], k)
                event, event_other = two_events(ray, other, limb, limb, query.policy)
            best, best_other = nearer(best, index, event), nearer(best_other, index, event_other)
    write_eight(ray, best, one, hits)
    write_eight(other, best_other, two, hits)


@merged
def write_eight(ray: Ray, best: Nearest, row: int, hits: Verdicts) -> None:
    """Write what eight rays hit, a guess in metres where the fraction of those goes that enter a limb."""
    doubtful = undecided(best) | (ray.extent == inf)
    known = opposite(doubtful) & (best.limb >= 0.0)
    entering = known & (best.face < INSIDE)
    store(hits.limb, row, select(known, best.limb, float(NO_LIMB)))
    store(hits.fraction, row, select(entering, 0.5 * (best.lower + best.upper), select(known, 0.0, inf)))
    store(hits.face, row, select(known, best.face, float(NONE)))
    store(hits.inside, row, best.inside)
    store(hits.unsure, row, doubtful)
