"""Positions and outward normals of hits, computed lazily: eight hits of one shape and one face at a time.

Every row starts from its own fraction, rounded as it is returned, so that the result does not depend on the loop that
found the fraction, nor on the other rays.
"""

import threading
from math import nan
from typing import NamedTuple

import numpy as np

from cylcollide._types import (
    POLICY_EXIT,
    Blocks,
    Column,
    Face,
    Float64Array,
    Int8Array,
    Int32Array,
    Rows,
    Shape,
    Vectors,
)
from cylcollide.kernels.double_double import DoubleDouble, DoubleDoubleVector, Vector, vector_difference
from cylcollide.kernels.limb_table import ROW, Limb, LimbRows, limb_at
from cylcollide.kernels.ray import as_vector, exact_displacement, ray_at
from cylcollide.kernels.refine import face_crossing
from cylcollide.kernels.surface import Spot, outward_normal, point_at, spot_near
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.loops.packets import limbs_at, vectors_at
from cylcollide.query.loops.single import leaves
from cylcollide.runtime import memory
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.simd import LANES, Real, Truth, broadcast, lane, load_at, lowest_bit, movemask, prefetch, store

SHAPES, INSIDE = len(Shape), int(Face.INSIDE)
CYLINDER, SIDE = int(Shape.CYLINDER), int(Face.SIDE)
SLOTS = INSIDE + 1
"""Slots of one shape: one a face, and one for rays that start or end in the limb."""
SURFACE_BATCH, BLOCK = 64, 256
"""Hits of one slot that are computed together, and rows that are filled with NaN at a time."""


class SurfaceColumns(NamedTuple):
    """Positions and normals, a row a ray; (n, 3) each."""

    position: Float64Array
    normal: Float64Array


def surface(
    batch: RayBatch, table: LimbRows, limb: Int32Array, fraction: Float64Array, face: Int8Array, behind: bool
) -> tuple[Float64Array, Float64Array]:
    """Position and unit outward normal where rays cross faces of their limbs, NaN in rows without a limb; (n, 3) each.

    `behind` says that the faces are those where the rays leave.
    """
    position, normal = memory.rows((len(limb), 3)), memory.rows((len(limb), 3))
    write_surface(batch, table, limb, fraction, face, behind, scratch_for_surface(), position, normal)
    return position, normal


class SurfaceScratch(NamedTuple):
    """Work arrays of `write_surface`: hits queued by slot."""

    queued: Column[np.int64]  # (SHAPES * SLOTS,): hits in each slot
    row: Rows[np.int32]  # (SHAPES * SLOTS, SURFACE_BATCH): their rays
    limb: Rows[np.int32]  # (SHAPES * SLOTS, SURFACE_BATCH): their limbs
    hit: Column[np.int32]  # (BLOCK,): rows with a limb
    lanes: Blocks[np.float64]  # (2, 6, LANES): positions and normals, before they are written


class SurfaceQuery(NamedTuple):
    """Rays and the limbs that they cross, and where positions and normals go."""

    batch: RayBatch
    table: LimbRows
    fraction: Float64Array  # at which each ray crosses its limb
    behind: bool  # the faces are those where the rays leave
    columns: SurfaceColumns


_kept = threading.local()


def scratch_for_surface() -> SurfaceScratch:
    """Work arrays of this thread."""
    kept: SurfaceScratch | None = getattr(_kept, "scratch", None)
    if kept is None:
        kept = _kept.scratch = make_surface_scratch()
    return kept


def make_surface_scratch() -> SurfaceScratch:
    """New work arrays."""
    slots = SHAPES * SLOTS
    row, limb = np.zeros((2, slots, SURFACE_BATCH), np.int32)
    hit, lanes = np.empty(BLOCK, np.int32), np.empty((2, 6, LANES))
    return SurfaceScratch(np.zeros(slots, np.int64), row, limb, hit, lanes)


@compiled_loop
def write_surface(
    batch: RayBatch,
    table: LimbRows,
    limb: Column[np.int32],
    fraction: Column[np.float64],
    face: Column[np.int8],
    behind: bool,
    work: SurfaceScratch,
    position: Vectors,
    normal: Vectors,
) -> None:
    """`surface`, into columns that are not initialised."""
    slots, missing = SHAPES * SLOTS, broadcast(nan)
    query = SurfaceQuery(batch, table, fraction, behind, SurfaceColumns(position, normal))
    queued, rows, limbs, hits, scratch = work.queued, work.row, work.limb, work.hit, work.lanes
    for slot in range(slots):
        queued[slot] = 0
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
            slot = int(table.solid[index]) * SLOTS + face[i]
            k = queued[slot]
            rows[slot, k], limbs[slot, k] = i, index
            prefetch(table.rows, index * ROW)
            prefetch(table.rows, index * ROW + LANES)
            queued[slot] = k + 1
            if k + 1 == SURFACE_BATCH:
                write_slot(query, slot, rows[slot], limbs[slot], SURFACE_BATCH, scratch)
                queued[slot] = 0
    for slot in range(slots):
        k = queued[slot]
        if k > 0:
            for j in range(k, SURFACE_BATCH):  # sixteen are read at a time
                rows[slot, j], limbs[slot, j] = rows[slot, 0], limbs[slot, 0]
            write_slot(query, slot, rows[slot], limbs[slot], k, scratch)


@inlined
def fill_rows(vectors: Float64Array, value: Real, begin: int, end: int) -> None:
    """Fill the rows from `begin` to `end` of an (n, 3) array with one number, given in all eight lanes."""
    for k in range(3 * begin, 3 * end - LANES + 1, LANES):
        store(vectors, k, value)
    for i in range(end - min(3, end - begin), end):
        vectors[i, 0] = vectors[i, 1] = vectors[i, 2] = lane(value, 0)


@compiled
def write_slot(
    query: SurfaceQuery, slot: int, rows: Int32Array, limbs: Int32Array, count: int, scratch: Float64Array
) -> None:
    """Write positions and normals of the first `count` hits of one slot: one shape, one face."""
    shape, face = slot // SLOTS, slot % SLOTS
    for first in range(0, count, 2 * LANES):
        end, solved = min(2 * LANES, count - first), 0
        if shape == CYLINDER and face == SIDE:  # constants: no branch inside
            one, one_is_right = eight_spots(query, CYLINDER, SIDE, rows, limbs, first)
            two, two_is_right = eight_spots(query, CYLINDER, SIDE, rows, limbs, first + LANES)
            store_spot(scratch[0], one)
            store_spot(scratch[1], two)
            solved = movemask(one_is_right) | movemask(two_is_right) << LANES
        elif face < INSIDE:
            for half in range(2):
                spot, spot_is_right = eight_spots(query, shape, face, rows, limbs, first + half * LANES)
                store_spot(scratch[half], spot)
                solved |= movemask(spot_is_right) << (half * LANES)
        scatter(scratch[0], rows[first:], min(LANES, end), query.columns)
        scatter(scratch[1], rows[first + LANES :], end - LANES, query.columns)
        unsolved = ~solved & ((1 << end) - 1)
        while unsolved:
            k = lowest_bit(unsolved)
            unsolved &= unsolved - 1
            write_one(query, rows[first + k], limbs[first + k], float(face))


@inlined
def scatter(scratch: Float64Array, rows: Int32Array, count: int, columns: SurfaceColumns) -> None:
    """Scatter the first `count` of eight positions and normals into the rows of their rays."""
    for k in range(count):
        i = rows[k]
        for axis in range(3):
            columns.position[i, axis], columns.normal[i, axis] = scratch[axis, k], scratch[3 + axis, k]


@inlined
def eight_spots(
    query: SurfaceQuery, shape: int, face: int, rows: Int32Array, limbs: Int32Array, first: int
) -> tuple[Spot, Truth]:
    """`spot_near` of the eight rays from `rows[first]` on."""
    rays, limb = query.batch.rays, limbs_at(query.table.rows, shape, limbs, first)
    origin, second = vectors_at(rays.origin, rows, first), vectors_at(rays.second, rows, first)
    displacement = displacements(origin, second, 1.0 if rays.is_segment else 0.0)
    return spot_near(origin, displacement, load_at(query.fraction, rows, first, 1, 0), limb, float(face))


@inlined
def store_spot(scratch: Float64Array, spot: Spot) -> None:
    """Write the positions and normals of eight hits, a row a coordinate; scratch (6, 8)."""
    (x, y, z), (u, v, w) = spot.position, spot.normal
    store(scratch, 0, x)
    store(scratch, LANES, y)
    store(scratch, 2 * LANES, z)
    store(scratch, 3 * LANES, u)
    store(scratch, 4 * LANES, v)
    store(scratch, 5 * LANES, w)


@inlined
def displacements(origin: Vector, second: Vector, segment: float) -> DoubleDoubleVector:
    """`exact_displacement` of eight rays, without a branch: of segments for 1, of directions for 0."""
    return vector_difference(second, (origin[0] * segment, origin[1] * segment, origin[2] * segment))


@compiled
def write_one(query: SurfaceQuery, i: int, k: int, face: float) -> None:
    """Position and normal of one hit, solved in full: at a graze, near the axis, or where the ray starts or ends."""
    batch, limb = query.batch, limb_at(query.table.rows, query.table.solid, k)
    crossing = (query.fraction[i], 0.0)
    if face < INSIDE:
        ray = ray_at(batch.rays, i)
        leaving = query.behind or (batch.policy == POLICY_EXIT and leaves(ray, limb))
        crossing = face_crossing(ray, exact_displacement(batch.rays, i), query.fraction[i], limb, face, not leaving)
    write_spot(batch, i, limb, crossing, face, query.columns)


@compiled
def write_spot(
    batch: RayBatch, i: int, limb: Limb, fraction: DoubleDouble, face: float, columns: SurfaceColumns
) -> None:
    """Position and normal where ray i crosses a face, at a fraction as a double-double."""
    point = point_at(as_vector(batch.rays.origin, i), exact_displacement(batch.rays, i), fraction)
    n = outward_normal(point, limb, face)
    for axis in range(3):
        columns.position[i, axis], columns.normal[i, axis] = point[axis][0], n[axis]


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
    columns = SurfaceColumns(position, normal)
    for k in range(rows.size):
        if limbs[k] >= 0:
            limb, crossing = limb_at(table.rows, table.solid, limbs[k]), (fraction[k, 0], fraction[k, 1])
            write_spot(batch, rows[k], limb, crossing, float(face[k]), columns)
