"""The loop over many rays and few limbs: every ray against every limb, eight rays at a time, no tree.

The same kernels as in `casting` and `streaming`, side by side, with bit-equal results. What eight rays have found stays
in registers.
"""

from math import inf

from cylcollide._types import BLOCK_RAYS, NO_LIMB
from cylcollide.arriving import Given, received
from cylcollide.casting import INSIDE, NONE, Query, write_hit
from cylcollide.compiling import compiled, merged
from cylcollide.gathering import rays_from
from cylcollide.hits import Verdicts
from cylcollide.kernels.crossing import face_curve, short_step
from cylcollide.kernels.event import limb_event
from cylcollide.kernels.nearest import Nearest, nearer, nothing_yet, undecided
from cylcollide.kernels.ray import ray_at
from cylcollide.kernels.table import LimbTable, considered
from cylcollide.pairing import meant, one_limb
from cylcollide.simd import LANES, bits, lane, lowest_bit, opposite, select, spread, store


@compiled
def cast_few(given: Given, query: Query, table: LimbTable, begin: int, end: int, hits: Verdicts) -> bool:
    """Receive the rays from `begin` to `end`, eight at least, and find their first limbs; whether they are allowed.

    Mask and ignored character are the same for all rays.
    """
    for block in range(begin, end, BLOCK_RAYS):
        last = min(block + BLOCK_RAYS, end)
        if not received(given, query.rays, block, last):
            return False
        for first in range(block, last, LANES):
            cast_eight(query, table, min(first, end - LANES), hits)  # the last eight may overlap those before
    return True


@merged
def cast_eight(query: Query, table: LimbTable, row: int, hits: Verdicts) -> None:
    """The first limbs of eight rays, from `row` on."""
    rows, solids, characters, masks, policy = table.rows, table.solid, table.character, table.mask, query.policy
    mask, ignored, limbs = query.mask[0], query.ignored[0], table.radius.size
    origin, second, ray = rays_from(query.rays, row)
    best = nothing_yet(ray.limit)
    for k in range(limbs):
        if considered(characters[k], masks[k], mask, ignored):
            best = nearer(best, spread(float(k)), limb_event(ray, one_limb(rows, solids[k], k), policy))
    doubtful = undecided(best) | (ray.extent == inf)
    entering = opposite(doubtful) & (best.limb >= 0.0) & (best.face < INSIDE)
    fraction = spread(0.0)
    short = entering
    if bits(entering):
        guess, displacement = (
            0.5 * (best.lower + best.upper) * ray.per_length,
            meant(origin, second, query.rays.is_segment),
        )
        for k in range(limbs):
            own = entering & (best.limb == float(k))
            if bits(own):
                curve = face_curve(origin, displacement, guess, one_limb(rows, solids[k], k), best.face)
                step, right = short_step(curve, guess)
                fraction = select(own, guess + step, fraction)
                short = short & (right | opposite(own))
    known = opposite(doubtful) & (best.limb >= 0.0)
    store(hits.limb, row, select(known, best.limb, float(NO_LIMB)))
    store(hits.fraction, row, select(known, fraction, inf))
    store(hits.face, row, select(known, best.face, float(NONE)))
    store(hits.inside, row, best.inside)
    store(hits.unsure, row, doubtful)
    grazes = bits(entering) & ~bits(short)
    while grazes:
        k = lowest_bit(grazes)
        grazes &= grazes - 1
        one = Nearest(
            lane(best.limb, k),
            lane(best.lower, k),
            lane(best.upper, k),
            lane(best.face, k),
            lane(best.rival, k),
            bits(best.inside) >> k & 1 != 0,
        )
        write_hit(hits, row + k, ray_at(query.rays, row + k), one, False, query, table)
