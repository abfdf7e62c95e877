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


def make_refine_queue(rays: int) -> RefineQueue:
    """Buffers for so many hits in any slot; pages that are never touched take no memory."""
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
            refine_queued(queue, batch, table, slot, hits)


@noinline
def refine_queued(queue: RefineQueue, batch: RayBatch, table: LimbRows, slot: int, hits: HitColumns) -> None:
    """Refine the fractions of the hits queued in one slot, and empty it."""
    shape, face = slot // FACES, slot % FACES
    if shape == CYLINDER and face == SIDE and batch.rays.is_segment:  # constants: no branch inside
        refine_queued_face(queue, with_constant_kind(batch, True), table, slot, CYLINDER, SIDE, hits)
    elif shape == CYLINDER and face == SIDE:
        refine_queued_face(queue, with_constant_kind(batch, False), table, slot, CYLINDER, SIDE, hits)
    else:
        refine_queued_face(queue, batch, table, slot, shape, face, hits)
    queue.queued[slot] = 0


@inlined
def with_constant_kind(batch: RayBatch, is_segment: bool) -> RayBatch:
    """The batch with a compile-time constant for whether its rays are segments."""
    rays = Rays(batch.rays.origin, batch.rays.second, is_segment, batch.rays.distance)
    return RayBatch(rays, batch.mask, batch.ignored, batch.policy)


@inlined
def refine_queued_face(
    queue: RefineQueue, batch: RayBatch, table: LimbRows, slot: int, shape: int, face: int, hits: HitColumns
) -> None:
    """`refine_queued`, sixteen at a time."""
    number, limbs, rows = queue.ray[slot], queue.limb[slot], table.rows
    count = queue.queued[slot]
    number[count : count + 2 * LANES], limbs[count : count + 2 * LANES] = (
        number[0],
        limbs[0],
    )  # padding: sixteen are read at a time
    for first in range(0, count, 2 * LANES):
        for k in range(first + 2 * LANES, first + 4 * LANES):  # the limbs of the next sixteen
            prefetch(rows, limbs[k] * ROW)
            prefetch(rows, limbs[k] * ROW + LANES)
        limb, other = limbs_at(rows, shape, limbs, first), limbs_at(rows, shape, limbs, first + LANES)
        refine_sixteen(batch, table, number, first, count, limb, other, face, queue.fraction, hits)


@compiled
def refine_list(
    batch: RayBatch,
    table: LimbRows,
    limb: int,
    face: int,
    number: Int32Array,
    count: int,
    scratch: Float64Array,
    hits: HitColumns,
) -> None:
    """Refine the fractions of the rays `number[:count]`, which all enter one limb through one face."""
    shape = table.solid[limb]
    if shape == CYLINDER and face == SIDE and batch.rays.is_segment:
        refine_list_face(with_constant_kind(batch, True), table, limb, CYLINDER, SIDE, number, count, scratch, hits)
    elif shape == CYLINDER and face == SIDE:
        refine_list_face(with_constant_kind(batch, False), table, limb, CYLINDER, SIDE, number, count, scratch, hits)
    else:
        refine_list_face(batch, table, limb, shape, face, number, count, scratch, hits)


@inlined
def refine_list_face(
    batch: RayBatch,
    table: LimbRows,
    limb: int,
    shape: int,
    face: int,
    number: Int32Array,
    count: int,
    scratch: Float64Array,
    hits: HitColumns,
) -> None:
    """`refine_list`, sixteen at a time; what depends on the limb alone is computed once."""
    one = one_limb(table.rows, shape, limb)
    for first in range(0, count, 2 * LANES):
        refine_sixteen(batch, table, number, first, count, one, one, face, scratch, hits)


@inlined
def refine_sixteen(
    batch: RayBatch,
    table: LimbRows,
    number: Int32Array,
    first: int,
    count: int,
    limb: Limb,
    other: Limb,
    face: int,
    scratch: Float64Array,
    hits: HitColumns,
) -> None:
    """Refine the fractions of the rays `number[first]` to `number[first + 15]`, or to the last of `count`."""
    rays, times = batch.rays, hits.fraction
    one, one_solved = refine_eight(rays, number, first, limb, face, times)
    two, two_solved = refine_eight(rays, number, first + LANES, other, face, times)
    store(scratch, 0, one)
    store(scratch, LANES, two)
    end = min(2 * LANES, count - first)
    grazes = ~(movemask(one_solved) | movemask(two_solved) << LANES) & ((1 << end) - 1)
    while grazes:
        k = lowest_bit(grazes)
        grazes &= grazes - 1
        i = number[first + k]
        scratch[k] = graze_fraction(batch, table, i, hits.limb[i], float(face), times)
    for k in range(end):
        times[number[first + k]] = scratch[k]


@noinline
def graze_fraction(batch: RayBatch, table: LimbRows, i: int, limb: int, face: float, times: Float64Array) -> float:
    """`entry_fraction` of one ray, solved in full."""
    ray, one = ray_at(batch.rays, i), limb_at(table.rows, table.solid, limb)
    return entry_fraction(batch, i, ray, one, face, times[i])


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
