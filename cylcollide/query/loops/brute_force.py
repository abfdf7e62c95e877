"""The loop over many rays and few limbs: every ray against every limb, sixteen rays at a time, no tree.

The same kernels as in `single` and `stream`, side by side, with bit-equal results. The closest hits of eight rays stay
in registers. A block of rays is copied, tested, and its fractions refined, limb by limb and face by face, while it is
in the cache.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from cylcollide._types import Aim, Column, Rows, Shape
from cylcollide.constants import BLOCK_RAYS
from cylcollide.kernels.closest import closer, is_undecided, no_hit
from cylcollide.kernels.dispatch import faces
from cylcollide.kernels.hit_bounds import two_hit_bounds
from cylcollide.kernels.limb_table import LimbRows, is_considered
from cylcollide.kernels.ray import Rays
from cylcollide.query.loops.columns import HitColumns
from cylcollide.query.loops.inputs import INVALID, RawRays, RayBatch, copy_checked
from cylcollide.query.loops.output import write_eight
from cylcollide.query.loops.packets import one_limb, prefetch_sixteen, rays_from
from cylcollide.query.loops.refine import FACES, Refinement, refine_list
from cylcollide.query.loops.single import cast_among
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.simd import LANES, Truth, append_where, broadcast, load, lowest_bit, movemask

CYLINDER, CLOSEST = int(Shape.CYLINDER), int(Aim.CLOSEST)


class RayLists(NamedTuple):
    """Rays of a block whose fraction is to be refined, a list for each limb and face. One per thread."""

    step: Column[np.int32]  # (BLOCK_RAYS + 2 LANES,): 0, 1, 2, ...
    lane: Column[np.float64]  # (8,): 0, 1, 2, ...
    row: Rows[np.int32]  # (limbs FACES, BLOCK_RAYS + 4 LANES): rows, counted from the first ray of the block
    listed: Column[np.int64]  # (limbs FACES,): how many
    fraction: Column[np.float64]  # (16,): of the hits being refined


def make_ray_lists(limbs: int) -> RayLists:
    """Buffers for the rays of a block and this number of limbs."""
    slots = limbs * FACES
    row = np.zeros((slots, BLOCK_RAYS + 4 * LANES), np.int32)
    step = np.arange(BLOCK_RAYS + 2 * LANES, dtype=np.int32)
    return RayLists(step, np.arange(float(LANES)), row, np.zeros(slots, np.int64), np.empty(2 * LANES))


@compiled_loop
def cast_brute_force(
    raw: RawRays, batch: RayBatch, table: LimbRows, lists: RayLists, begin: int, end: int, aim: int, hits: HitColumns
) -> int:
    """Copy and check the rays from `begin` to `end`, at least eight, and find their closest limbs; 0, or INVALID.

    Mask and ignored character are the same for all rays. For the aim ANY, fractions are left as guesses.
    """
    first = begin
    while first < end:
        last = first + BLOCK_RAYS if end - first >= BLOCK_RAYS + LANES else end  # eight at least are left, or none
        if not copy_checked(raw, batch.rays, first, last):
            return INVALID
        for slot in range(lists.listed.size):
            lists.listed[slot] = 0
        block, found = batch_from(batch, first), hits_from(hits, first)
        for row in range(first, last, 2 * LANES):  # the last eight may overlap those before
            prefetch_sixteen(raw, batch.rays, last + row - first)
            cast_sixteen(block, table, lists, row - first, last - first, found)
        if aim == CLOSEST:
            refine_lists(block, table, lists, found)
        first = last
    return 0


@inlined
def batch_from(batch: RayBatch, first: int) -> RayBatch:
    """The batch without the rays before `first`."""
    origin, second, is_segment, distance = batch.rays
    if distance.size > 1:
        distance = distance[first:]
    return RayBatch(Rays(origin[first:], second[first:], is_segment, distance), batch.mask, batch.ignored, batch.policy)


@inlined
def hits_from(hits: HitColumns, first: int) -> HitColumns:
    """The columns without the rows before `first`."""
    limb, fraction, face, inside, undecided = hits
    return HitColumns(limb[first:], fraction[first:], face[first:], inside[first:], undecided[first:])


@inlined
def cast_sixteen(batch: RayBatch, table: LimbRows, lists: RayLists, row: int, end: int, hits: HitColumns) -> None:
    """The closest limbs of the sixteen rays from `row` on; beyond `end`, the last eight are tested once more."""
    rows, solids, characters, masks = table.rows, table.solid, table.character, table.mask
    mask, ignored = batch.mask[0], batch.ignored[0]
    one, two = min(row, end - LANES), min(row + LANES, end - LANES)
    ray, other = rays_from(batch.rays, one), rays_from(batch.rays, two)
    best, other_best = no_hit(ray.limit), no_hit(other.limit)
    for k in range(table.solid.size):
        if is_considered(characters[k], masks[k], mask, ignored):
            index = broadcast(float(k))
            if solids[k] == CYLINDER:  # a constant: both tests become straight-line code
                cylinder = one_limb(rows, CYLINDER, k)
                bounds, other_bounds = two_hit_bounds(ray, other, cylinder, cylinder, batch.policy)
            else:
                limb = one_limb(rows, solids[k], k)
                bounds, other_bounds = two_hit_bounds(ray, other, limb, limb, batch.policy)
            best, other_best = closer(best, index, bounds), closer(other_best, index, other_bounds)
    undecided, other_undecided = (
        is_undecided(best) | (ray.extent == inf),
        is_undecided(other_best) | (other.extent == inf),
    )
    entered = write_eight(best, undecided, ray.per_length, one, hits)
    other_entered = write_eight(other_best, other_undecided, other.per_length, two, hits)
    contested = movemask(undecided) | movemask(other_undecided) << LANES
    while contested:  # by ties, which are told one by one
        k = lowest_bit(contested)
        contested &= contested - 1
        cast_among(batch, table, one + k if k < LANES else two + k - LANES, hits)
    # rays tested a second time are in a list already
    lane = load(lists.lane, 0)
    entered, other_entered = (entered & (lane >= float(row - one)), other_entered & (lane >= float(row + LANES - two)))
    for k in range(table.solid.size):
        first_face, end_face = faces(solids[k])
        enters, other_enters = entered & (best.limb == float(k)), other_entered & (other_best.limb == float(k))
        for face in range(first_face, end_face):
            append(lists, k * FACES + face, one, enters & (best.face == float(face)))
            append(lists, k * FACES + face, two, other_enters & (other_best.face == float(face)))


@inlined
def append(lists: RayLists, slot: int, row: int, truth: Truth) -> None:
    """Append those of eight rays for which `truth` holds to the list of a slot."""
    count, rows = lists.listed[slot], lists.row[slot]
    lists.listed[slot] = count + append_where(rows, count, lists.step, row, truth)


@compiled
def refine_lists(batch: RayBatch, table: LimbRows, lists: RayLists, hits: HitColumns) -> None:
    """Refine the fractions of all rays in lists."""
    work = Refinement(batch, table, hits, lists.fraction)
    for slot in range(lists.listed.size):
        count, rows = lists.listed[slot], lists.row[slot]
        if count > 0:
            rows[count : count + 2 * LANES] = rows[0]  # sixteen may be read from the last one on
            refine_list(work, slot // FACES, slot % FACES, rows, count)
