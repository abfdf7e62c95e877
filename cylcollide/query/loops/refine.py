"""The fraction at which each ray enters its limb, to full accuracy: sixteen hits of one shape and one face at a time.

The loops over rays write limb, face and a guess of the fraction, and queue the hit here. One step from the guess costs
as much as a limb test: queued by shape and face, it is spent on hits alone, and a wall does not pay for a cap.
"""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Column, Face, Float64Array, Int32Array, Rows, Shape
from cylcollide.kernels.curve import short_step
from cylcollide.kernels.dispatch import face_curve
from cylcollide.kernels.limb_table import ROW, Limb, LimbRows, limb_at
from cylcollide.kernels.ray import Rays, ray_at
from cylcollide.query.loops.columns import HitColumns
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.loops.packets import exact_displacements, limbs_at, one_limb, vectors_at
from cylcollide.query.loops.single import entry_fraction
from cylcollide.runtime.compile import compiled, inlined, noinline
from cylcollide.runtime.simd import LANES, Real, Truth, load_at, lowest_bit, movemask, prefetch, store

SHAPES, FACES = len(Shape), int(Face.INSIDE)
CYLINDER, SIDE = int(Shape.CYLINDER), int(Face.SIDE)


class RefineQueue(NamedTuple):
    """Hits whose fraction is a guess, a slot for each shape and face. One per thread."""

    ray: Rows[np.int32]  # (SHAPES * FACES, rays + 32): rows of the query
    limb: Rows[np.int32]  # (SHAPES * FACES, rays + 32)
    queued: Column[np.int64]  # (SHAPES * FACES,): how many
    fraction: Column[np.float64]  # (16,): of the hits being refined


class Refinement(NamedTuple):
    """Rays and limbs, and the hits whose fractions are refined."""

    batch: RayBatch
    table: LimbRows
    hits: HitColumns
    fraction: Float64Array  # (16,): scratch


def make_refine_queue(rays: int) -> RefineQueue:
    """Buffers for this number of hits in each slot; pages that are never touched take no memory."""
    slots = SHAPES * FACES
    ray, limb = np.zeros((2, slots, rays + 4 * LANES), np.int32)
    return RefineQueue(ray, limb, np.zeros(slots, np.int64), np.empty(2 * LANES))


@inlined
def enqueue_refine(queue: RefineQueue, table: LimbRows, i: int, limb: int, face: int) -> None:
    """Queue the hit of ray i, which enters a limb through this face."""
    slot = int(table.solid[limb]) * FACES + face
    k = queue.queued[slot]
    queue.ray[slot, k], queue.limb[slot, k] = i, limb
    queue.queued[slot] = k + 1


@compiled
def flush_refine(queue: RefineQueue, batch: RayBatch, table: LimbRows, hits: HitColumns) -> None:
    """Refine the fractions of all queued hits, and empty the queue."""
    for slot in range(queue.queued.size):
        if queue.queued[slot] > 0:
            refine_queued(queue, slot, Refinement(batch, table, hits, queue.fraction))


@noinline
def refine_queued(queue: RefineQueue, slot: int, work: Refinement) -> None:
    """Refine the fractions of the hits queued in one slot, and empty it."""
    shape, face = slot // FACES, slot % FACES
    if shape == CYLINDER and face == SIDE and work.batch.rays.is_segment:  # constants: no branch inside
        refine_queued_face(queue, slot, with_constant_kind(work, True), CYLINDER, SIDE)
    elif shape == CYLINDER and face == SIDE:
        refine_queued_face(queue, slot, with_constant_kind(work, False), CYLINDER, SIDE)
    else:
        refine_queued_face(queue, slot, work, shape, face)
    queue.queued[slot] = 0


@inlined
def with_constant_kind(work: Refinement, is_segment: bool) -> Refinement:
    """The same with a compile-time constant for whether rays are segments."""
    (rays, mask, ignored, policy), table, hits, fraction = work
    rays = Rays(rays.origin, rays.second, is_segment, rays.distance)
    return Refinement(RayBatch(rays, mask, ignored, policy), table, hits, fraction)


@inlined
def refine_queued_face(queue: RefineQueue, slot: int, work: Refinement, shape: int, face: int) -> None:
    """`refine_queued`, sixteen at a time."""
    number, limbs, rows, count = queue.ray[slot], queue.limb[slot], work.table.rows, queue.queued[slot]
    number[count : count + 2 * LANES] = number[0]  # padding: sixteen are read at a time
    limbs[count : count + 2 * LANES] = limbs[0]
    for first in range(0, count, 2 * LANES):
        for k in range(first + 2 * LANES, first + 4 * LANES):  # the limbs of the next sixteen
            prefetch(rows, limbs[k] * ROW)
            prefetch(rows, limbs[k] * ROW + LANES)
        limb, other = limbs_at(rows, shape, limbs, first), limbs_at(rows, shape, limbs, first + LANES)
        refine_sixteen(work, number, first, count, limb, other, face)


@compiled
def refine_list(work: Refinement, limb: int, face: int, number: Int32Array, count: int) -> None:
    """Refine the fractions of the rays `number[:count]`, which all enter one limb through one face."""
    shape = work.table.solid[limb]
    if shape == CYLINDER and face == SIDE and work.batch.rays.is_segment:
        refine_list_face(with_constant_kind(work, True), limb, CYLINDER, SIDE, number, count)
    elif shape == CYLINDER and face == SIDE:
        refine_list_face(with_constant_kind(work, False), limb, CYLINDER, SIDE, number, count)
    else:
        refine_list_face(work, limb, shape, face, number, count)


@inlined
def refine_list_face(work: Refinement, limb: int, shape: int, face: int, number: Int32Array, count: int) -> None:
    """`refine_list`, sixteen at a time; what depends on the limb alone is computed once."""
    one = one_limb(work.table.rows, shape, limb)
    for first in range(0, count, 2 * LANES):
        refine_sixteen(work, number, first, count, one, one, face)


@inlined
def refine_sixteen(
    work: Refinement, number: Int32Array, first: int, count: int, limb: Limb, other: Limb, face: int
) -> None:
    """Refine the fractions of the rays `number[first]` to `number[first + 15]`, or to the last of `count`."""
    rays, scratch, times = work.batch.rays, work.fraction, work.hits.fraction
    one, one_solved = refine_eight(rays, number, first, limb, face, times)
    two, two_solved = refine_eight(rays, number, first + LANES, other, face, times)
    store(scratch, 0, one)
    store(scratch, LANES, two)
    end = min(2 * LANES, count - first)
    grazes = ~(movemask(one_solved) | movemask(two_solved) << LANES) & ((1 << end) - 1)
    while grazes:
        k = lowest_bit(grazes)
        grazes &= grazes - 1
        scratch[k] = graze_fraction(work, number[first + k], float(face))
    for k in range(end):
        times[number[first + k]] = scratch[k]


@noinline
def graze_fraction(work: Refinement, i: int, face: float) -> float:
    """`entry_fraction` of one ray, solved in full."""
    ray, limb = ray_at(work.batch.rays, i), limb_at(work.table.rows, work.table.solid, work.hits.limb[i])
    return entry_fraction(work.batch, i, ray, limb, face, work.hits.fraction[i])


@inlined
def refine_eight(
    rays: Rays, number: Int32Array, first: int, limb: Limb, face: int, times: Float64Array
) -> tuple[Real, Truth]:
    """Fractions at which eight rays cross a face of their limbs, one step from a guess; where that is accurate."""
    origin, second = vectors_at(rays.origin, number, first), vectors_at(rays.second, number, first)
    displacement = exact_displacements(origin, second, rays.is_segment)
    guess = load_at(times, number, first, 1, 0)
    curve = face_curve(origin, displacement, guess, limb, float(face))
    step, solved = short_step(curve, guess)
    return guess + step, solved
