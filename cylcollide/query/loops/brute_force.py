"""The loop over many rays and few limbs: every ray against every limb, sixteen rays at a time, no tree.

The same kernels as in `single` and `stream`, side by side, with bit-equal results. The closest hits of eight rays stay
in registers. A block of rays is copied, tested, and its fractions are refined while it is in the cache.
"""

import numpy as np

from cylcollide._types import Aim, Column, Int32Array, Shape, Vectors
from cylcollide.constants import BLOCK_RAYS
from cylcollide.kernels.dispatch import faces
from cylcollide.kernels.hit_bounds import closer, is_undecided, no_hit, two_hit_bounds
from cylcollide.kernels.limb_table import LimbRows, is_considered
from cylcollide.kernels.ray import Rays, is_trusted
from cylcollide.query.loops.columns import HitColumns, count_undecided, hits_in
from cylcollide.query.loops.inputs import INVALID, RayBatch, RayOptions, batch_in, raw_rays
from cylcollide.query.loops.leaf import StreamScratch
from cylcollide.query.loops.output import flush_refine, write_eight
from cylcollide.query.loops.packets import FACES, PairQueue, copy_rays, one_limb, prefetch_sixteen
from cylcollide.query.loops.ray_sort import number_rows
from cylcollide.query.loops.single import cast_among
from cylcollide.runtime.compile import compiled_loop, inlined
from cylcollide.runtime.simd import (
    LANES,
    Real,
    Truth,
    append_where,
    broadcast,
    load,
    logical_not,
    lowest_bit,
    movemask,
    store,
)

CYLINDER, CLOSEST = int(Shape.CYLINDER), int(Aim.CLOSEST)
PREFETCHED = 128  # rays ahead of those that are tested


@compiled_loop
def cast_brute_force(
    table: LimbRows,
    state: StreamScratch,
    first_vectors: Vectors,
    second_vectors: Vectors,
    options: RayOptions,
    radius: Column[np.float64],
    record: Column[np.float64],
    copies: Column[np.float64],
    begin: int,
    end: int,
    aim: int,
) -> int:
    """Copy and check rays `begin` to `end`, at least eight, and find their closest limbs, as `cast_stream` does.

    Mask and ignored character are the same for all rays. For the aim ANY, fractions are left as guesses.
    """
    n, raw = first_vectors.shape[0], raw_rays(first_vectors, second_vectors, options, radius)
    batch, hits = batch_in(copies, n, options, radius), hits_in(record, n)
    first, size = begin, min(BLOCK_RAYS, state.best.shape[0])
    while first < end:
        last = first + size if end - first >= size + LANES else end  # at least eight are left, or none
        state.refine.queued[:] = 0
        number_rows(state.number, begin, first, last)
        for row in range(first, last, 2 * LANES):  # the last eight may overlap those before
            prefetch_sixteen(raw, batch.rays, row + PREFETCHED)
            if not cast_sixteen(raw, batch, table, state, begin, row, last, hits):
                return INVALID
        if aim == CLOSEST:
            flush_refine(state.refine, batch, table, hits, False)
        first = last
    return count_undecided(hits, begin, end)


@inlined
def cast_sixteen(
    raw: Rays, batch: RayBatch, table: LimbRows, state: StreamScratch, begin: int, row: int, end: int, hits: HitColumns
) -> bool:
    """Copy sixteen rays from `row` on and find their closest limbs; beyond `end`, the last eight are tested once more.

    Returns whether all of their numbers are allowed.
    """
    rows, shapes, characters, masks = table.rows, table.kernel_shape, table.character, table.mask
    mask, ignored = batch.mask[0], batch.ignored[0]
    one, two = min(row, end - LANES), min(row + LANES, end - LANES)
    ray, outside = copy_rays(raw, batch.rays, one)
    other, other_outside = copy_rays(raw, batch.rays, two)
    if movemask(outside | other_outside) != 0:
        return False
    best, other_best = no_hit(ray.limit), no_hit(other.limit)
    for k in range(shapes.size):
        if is_considered(characters[k], masks[k], mask, ignored):
            index = broadcast(float(k))
            if shapes[k] == CYLINDER:  # a constant: both tests become straight-line code
                cylinder = one_limb(rows, CYLINDER, k)
                bounds, other_bounds = two_hit_bounds(ray, other, cylinder, cylinder, batch.policy)
            else:
                limb = one_limb(rows, shapes[k], k)
                bounds, other_bounds = two_hit_bounds(ray, other, limb, limb, batch.policy)
            best, other_best = closer(best, index, bounds), closer(other_best, index, other_bounds)
    undecided, other_undecided = (
        is_undecided(best) | logical_not(is_trusted(ray)),
        is_undecided(other_best) | logical_not(is_trusted(other)),
    )
    entered = write_eight(best, undecided, ray.per_length, one, hits)
    other_entered = write_eight(other_best, other_undecided, other.per_length, two, hits)
    contested = movemask(undecided) | movemask(other_undecided) << LANES
    while contested:  # by ties, which are resolved one by one
        k = lowest_bit(contested)
        contested &= contested - 1
        cast_among(batch, table, one + k if k < LANES else two + k - LANES, hits)
    # rays tested a second time are queued already
    lane, queue, number = load(state.stream.lanes, 0), state.refine, state.number
    entered, other_entered = (
        entered & (lane >= broadcast(np.float32(row - one))),
        other_entered & (lane >= broadcast(np.float32(row + LANES - two))),
    )
    for k in range(shapes.size):
        enters, other_enters = entered & (best[0] == float(k)), other_entered & (other_best[0] == float(k))
        if shapes[k] == CYLINDER:
            enqueue_faces(queue, CYLINDER, number, one - begin, k, enters, best[2].face)
            enqueue_faces(queue, CYLINDER, number, two - begin, k, other_enters, other_best[2].face)
        else:
            enqueue_faces(queue, int(shapes[k]), number, one - begin, k, enters, best[2].face)
            enqueue_faces(queue, int(shapes[k]), number, two - begin, k, other_enters, other_best[2].face)
    return True


@inlined
def enqueue_faces(
    queue: PairQueue, shape: int, number: Int32Array, first: int, limb: int, enters: Truth, face: Real
) -> None:
    """Queue those of the eight rays `number[first]` to `number[first + 7]` that enter a limb, by face."""
    first_face, end_face = faces(shape)
    for one in range(first_face, end_face):
        slot = shape * FACES + one
        count = queue.queued[slot]
        store(queue.limb[slot], count, broadcast(float(limb)))
        queue.queued[slot] = count + append_where(queue.row[slot], count, number, first, enters & (face == float(one)))
