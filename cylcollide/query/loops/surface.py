"""Positions and outward normals of hits, computed lazily: eight hits of one shape and one face at a time.

Every row starts from its own fraction, rounded as it is returned, so that the result does not depend on the loop that
found the fraction, nor on the other rays.
"""

from math import nan
from typing import NamedTuple

import numpy as np

from cylcollide._types import (
    NO_LIMB,
    POLICY_EXIT,
    Column,
    Face,
    Float64Array,
    Int32Array,
    Quaternions,
    Rows,
    Shape,
    Vectors,
)
from cylcollide.bones.bone import into_bone, rotation_of
from cylcollide.kernels.chord import face_crossing
from cylcollide.kernels.double_double import DoubleDouble
from cylcollide.kernels.limb_table import Limb, LimbRows, limb_at
from cylcollide.kernels.ray import as_vector, exact_displacement, radius_of, ray_at, subtract
from cylcollide.kernels.surface import outward_normal, point_at, spot_near
from cylcollide.kernels.thick_surface import contact_place, thick_crossing
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.loops.packets import (
    SHAPES,
    PairQueue,
    enqueue_pair,
    exact_displacements,
    limbs_at,
    make_pair_queue,
    prefetch_limb,
    vectors_at,
)
from cylcollide.query.loops.single import leaves
from cylcollide.runtime.compile import compiled, compiled_loop, inlined, linkonce
from cylcollide.runtime.simd import LANES, Real, Truth, broadcast, lane, load_at, lowest_bit, movemask, store

INSIDE = int(Face.INSIDE)
CYLINDER, SIDE = int(Shape.CYLINDER), int(Face.SIDE)
SLOTS = INSIDE + 1
"""Slots of one shape: one per face, and one for rays that start or end in the limb."""
SURFACE_BATCH, BLOCK = 64, 256
"""Hits of one slot that are computed together, and rows that are filled with NaN at a time."""


def make_surface_queue() -> PairQueue:
    """A queue of hits, for `write_surface`; positions and normals of sixteen are computed in it."""
    return make_pair_queue(SHAPES * SLOTS, SURFACE_BATCH, 12 * LANES)


class SurfaceQuery(NamedTuple):
    """Rays and the limbs that they cross, and where positions and normals go."""

    batch: RayBatch
    table: LimbRows
    fraction: Float64Array  # at which each ray crosses its limb
    behind: bool  # the faces are those where the rays leave
    position: Float64Array  # (n, 3)
    normal: Float64Array


@compiled_loop
def write_surface(
    batch: RayBatch,
    table: LimbRows,
    limb: Column[np.int32],
    fraction: Column[np.float64],
    face: Column[np.int8],
    behind: bool,
    queue: PairQueue,
    hits: Column[np.int32],
    position: Vectors,
    normal: Vectors,
) -> None:
    """Write position and unit outward normal where rays cross faces of their limbs, NaN in rows without a limb.

    `behind`: whether the faces are those where the rays leave. `queue` and `hits` (BLOCK,) are buffers.
    """
    slots, missing = SHAPES * SLOTS, broadcast(nan)
    query = SurfaceQuery(batch, table, fraction, behind, position, normal)
    queue.queued[:] = 0
    for begin in range(0, limb.size, BLOCK):
        end = min(begin + BLOCK, limb.size)
        fill_rows(position, missing, begin, end)
        fill_rows(normal, missing, begin, end)
        count = 0
        for i in range(begin, end):  # compacted without a branch, which could not be predicted
            hits[count] = i
            count += int(limb[i] >= 0)
        for h in range(count):
            i = hits[h]
            index = limb[i]
            slot = int(table.kernel_shape[index]) * SLOTS + face[i]
            prefetch_limb(table.rows, index)
            if enqueue_pair(queue, slot, i, index) == SURFACE_BATCH:
                write_slot(query, slot, queue)
    for slot in range(slots):
        rows, limbs, k = queue.row[slot], queue.limb[slot], queue.queued[slot]
        if k > 0:
            for j in range(k, SURFACE_BATCH):  # sixteen are read at a time
                rows[j], limbs[j] = rows[0], limbs[0]
            write_slot(query, slot, queue)


@inlined
def fill_rows(vectors: Float64Array, value: Real, begin: int, end: int) -> None:
    """Fill the rows from `begin` to `end` of an (n, 3) array with one number, given in all eight lanes."""
    for k in range(3 * begin, 3 * end - LANES + 1, LANES):
        store(vectors, k, value)
    for i in range(end - min(3, end - begin), end):
        vectors[i, 0] = vectors[i, 1] = vectors[i, 2] = lane(value, 0)


@linkonce
def write_slot(query: SurfaceQuery, slot: int, queue: PairQueue) -> None:
    """Write positions and normals of the hits in one slot, of one shape and one face, and empty it."""
    shape, face, count = slot // SLOTS, slot % SLOTS, queue.queued[slot]
    rows, limbs, found = queue.row[slot], queue.limb[slot], queue.found
    for first in range(0, count, 2 * LANES):
        end, solved = min(2 * LANES, count - first), 0
        if shape == CYLINDER and face == SIDE:  # constants: no branch inside
            one_is_right = eight_spots(query, CYLINDER, SIDE, rows, limbs, first, found, 0)
            two_is_right = eight_spots(query, CYLINDER, SIDE, rows, limbs, first + LANES, found, 1)
            solved = movemask(one_is_right) | movemask(two_is_right) << LANES
        elif face < INSIDE:
            for half in range(2):
                are_right = eight_spots(query, shape, face, rows, limbs, first + half * LANES, found, half)
                solved |= movemask(are_right) << (half * LANES)
        for k in range(end):
            i, at = rows[first + k], k // LANES * 6 * LANES + k % LANES
            for axis in range(3):
                query.position[i, axis] = found[at + axis * LANES]
                query.normal[i, axis] = found[at + (3 + axis) * LANES]
        unsolved = ~solved & ((1 << end) - 1)
        while unsolved:
            k = lowest_bit(unsolved)
            unsolved &= unsolved - 1
            write_one(query, rows[first + k], limbs[first + k], float(face))
    queue.queued[slot] = 0


@inlined
def eight_spots(
    query: SurfaceQuery, shape: int, face: int, rows: Int32Array, limbs: Int32Array, first: int, found: Float64Array,
    half: int,
) -> Truth:  # fmt: skip
    """Write `spot_near` of the eight rays from `rows[first]` on into a half of `found`; returns which are right."""
    rays, limb = query.batch.rays, limbs_at(query.table.rows, shape, limbs, first)
    origin, second = vectors_at(rays.origin, rows, first), vectors_at(rays.second, rows, first)
    displacement = exact_displacements(origin, second, rays.is_segment)
    fraction, at = load_at(query.fraction, rows, first, 1, 0), half * 6 * LANES
    (x, y, z), (u, v, w), are_right = spot_near(origin, displacement, fraction, limb, float(face))
    store(found, at, x)
    store(found, at + LANES, y)
    store(found, at + 2 * LANES, z)
    store(found, at + 3 * LANES, u)
    store(found, at + 4 * LANES, v)
    store(found, at + 5 * LANES, w)
    return are_right


@compiled
def write_one(query: SurfaceQuery, i: int, k: int, face: float) -> None:
    """Position and normal of one hit, solved in full: at a graze, near the axis, or where the ray starts or ends."""
    batch, limb = query.batch, limb_at(query.table.rows, query.table.kernel_shape, k)
    crossing = (query.fraction[i], 0.0)
    if face < INSIDE:
        ray = ray_at(batch.rays, i)
        leaving = query.behind or (batch.policy == POLICY_EXIT and leaves(ray, limb))
        crossing = face_crossing(ray, exact_displacement(batch.rays, i), query.fraction[i], limb, face, not leaving)
    write_spot(batch, i, limb, crossing, face, query.position, query.normal)


@compiled
def write_spot(
    batch: RayBatch, i: int, limb: Limb, fraction: DoubleDouble, face: float, position: Float64Array,
    normal: Float64Array,
) -> None:  # fmt: skip
    """Position and normal where ray i crosses a face, at a fraction as a double-double."""
    point = point_at(as_vector(batch.rays.origin, i), exact_displacement(batch.rays, i), fraction)
    n = outward_normal(point, limb, face)
    for axis in range(3):
        position[i, axis], normal[i, axis] = point[axis][0], n[axis]


@compiled_loop
def write_contacts(
    batch: RayBatch,
    table: LimbRows,
    limb: Column[np.int32],
    fraction: Column[np.float64],
    face: Column[np.int8],
    position: Vectors,
    normal: Vectors,
) -> None:
    """Write where thick rays touch their limbs: the limb's nearest place, and the unit vector from there to the centre.

    Rows without a limb, and rays of radius 0, are left as they are.
    """
    for i in range(limb.size):
        ray = ray_at(batch.rays, i)
        if limb[i] >= 0 and ray.radius > 0.0:
            place, crossing = limb_at(table.rows, table.kernel_shape, limb[i]), (fraction[i], 0.0)
            if face[i] < INSIDE:
                displacement = exact_displacement(batch.rays, i)
                better, solved = thick_crossing(ray, displacement, fraction[i], place, float(face[i]))
                if solved:
                    crossing = better
            write_contact(batch, i, place, crossing, float(face[i]), position, normal)


@compiled
def write_contact(
    batch: RayBatch, i: int, limb: Limb, fraction: DoubleDouble, face: float, position: Float64Array,
    normal: Float64Array,
) -> None:  # fmt: skip
    """Nearest place and normal of thick ray i, at a fraction as a double-double."""
    displacement = exact_displacement(batch.rays, i)
    place, n = contact_place(as_vector(batch.rays.origin, i), displacement, fraction, limb, face)
    for axis in range(3):
        position[i, axis], normal[i, axis] = place[axis], n[axis]


@compiled_loop
def write_exactly(
    batch: RayBatch,
    table: LimbRows,
    rows: Column[np.int64],
    limbs: Column[np.int32],
    fraction: Rows[np.float64],
    face: Column[np.int8],
    position: Vectors,
    normal: Vectors,
) -> None:
    """Positions and normals of given rows, from fractions (n, 2), double-doubles out of exact arithmetic."""
    for k in range(rows.size):
        if limbs[k] >= 0:
            limb, crossing = limb_at(table.rows, table.kernel_shape, limbs[k]), (fraction[k, 0], fraction[k, 1])
            if radius_of(batch.rays, rows[k]) > 0.0:
                write_contact(batch, rows[k], limb, crossing, float(face[k]), position, normal)
            else:
                write_spot(batch, rows[k], limb, crossing, float(face[k]), position, normal)


@compiled_loop
def write_local_surface(
    limb: Column[np.int32],
    transform: Column[np.int32],
    bone_position: Vectors,
    bone_orientation: Quaternions,
    position: Vectors,
    normal: Vectors,
    local_position: Vectors,
    local_normal: Vectors,
) -> None:
    """Write position and normal (n, 3) of each hit in the frame of its limb's bone, NaN if there is none.

    The difference of hit and bone is rounded, then its rotation into the frame; `transform` has a row per limb.
    """
    for i in range(limb.size):
        bone = -1 if limb[i] == NO_LIMB else transform[limb[i]]
        if bone < 0:
            for axis in range(3):
                local_position[i, axis] = local_normal[i, axis] = nan
            continue
        q, origin, place = bone_orientation[bone], as_vector(bone_position, bone), as_vector(position, i)
        rotation = rotation_of((q[0], q[1], q[2], q[3]))
        here = into_bone(rotation, subtract(place, origin))
        outward = into_bone(rotation, as_vector(normal, i))
        for axis in range(3):
            local_position[i, axis], local_normal[i, axis] = here[axis], outward[axis]
