"""Packets: eight rays, vectors or limbs side by side, loaded from consecutive rows or gathered from listed ones.

Pairs of a ray or point and a limb are queued until there are enough to go side by side.
"""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Column, Face, Float64Array, Int32Array, Rows, Shape
from cylcollide.bones.bone_rows import in_range
from cylcollide.constants import SMALLEST_SIZE
from cylcollide.kernels.double_double import DoubleDoubleVector, Vector, as_double_double, vector_difference
from cylcollide.kernels.limb_table import ROW, Limb, eight_of, limb_of
from cylcollide.kernels.ray import Ray, Rays, largest_component, make_ray, subtract
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import (
    LANES,
    Real,
    Truth,
    broadcast,
    load,
    load_at,
    load_rows,
    load_triples,
    logical_not,
    prefetch,
    store,
)

CACHE_LINE = 8
"""Float64 numbers in a cache line."""

SHAPES, FACES = len(Shape), int(Face.INSIDE)
PAIR_BATCH = 2 * LANES
"""Pairs that are handled together."""


class PairQueue(NamedTuple):
    """Queued pairs; each array has one row per slot: a shape, or a shape and a face. One queue per thread."""

    row: Rows[np.int32]  # (slots, size): of the ray or point
    limb: Rows[np.int32]  # (slots, size)
    queued: Column[np.int64]  # (slots,): how many pairs
    found: Column[np.float64]  # (numbers,): results of pairs side by side, before they are written


def make_pair_queue(slots: int, size: int, numbers: int) -> PairQueue:
    """An empty queue; pages that are never touched take no memory."""
    row, limb = np.zeros((2, slots, size), np.int32)
    return PairQueue(row, limb, np.zeros(slots, np.int64), np.empty(numbers))


@inlined
def empty_queue(queue: PairQueue, begin: int) -> None:
    """Empty a queue, in which an earlier call may have left pairs; lanes without a pair read a point of this query."""
    queue.queued[:] = 0
    queue.row[:] = begin
    queue.limb[:] = 0


@inlined
def enqueue_pair(queue: PairQueue, slot: int, row: int, limb: int) -> int:
    """Queue a pair; returns how many there are in its slot now."""
    k = queue.queued[slot]
    queue.row[slot, k], queue.limb[slot, k] = row, limb
    queue.queued[slot] = k + 1
    return int(k + 1)


@inlined
def prefetch_limb(rows: Float64Array, limb: int) -> None:
    """Prefetch a limb from the kernels' `rows`."""
    prefetch(rows, limb * ROW)
    prefetch(rows, limb * ROW + LANES)


@inlined
def vectors_from(array: Float64Array, i: int) -> Vector:
    """Eight rows of an (n, 3) array, from row i on."""
    return load_triples(array, 3 * i)


@inlined
def rays_from(rays: Rays, i: int) -> Ray:
    """Eight rays from row i on."""
    origin, second = vectors_from(rays.origin, i), vectors_from(rays.second, i)
    return consecutive_rays(rays, origin, second, i)


@inlined
def consecutive_rays(rays: Rays, origin: Vector, second: Vector, i: int) -> Ray:
    """Eight rays from row i on, given their vectors."""
    distance = load(rays.distance, i) if rays.distance.size > 1 else broadcast(rays.distance[0])
    displacement = displacement_of(origin, second, rays.is_segment)
    return make_ray(origin, displacement, rays.is_segment, distance, distance)


@inlined
def copy_rays(raw: Rays, rays: Rays, i: int) -> tuple[Ray, Truth]:
    """Copy and load eight rays from row i on; also returns which have invalid numbers."""
    origin, second, outside = copy_ray_vectors(raw, rays, i)
    return consecutive_rays(rays, origin, second, i), outside


@inlined
def copy_ray_vectors(raw: Rays, rays: Rays, i: int) -> tuple[Vector, Vector, Truth]:
    """Copy and load the vectors of eight rays from row i on; also returns which have invalid numbers."""
    origin, second = copy_vectors(raw.origin, rays.origin, i), copy_vectors(raw.second, rays.second, i)
    outside = logical_not(in_range(origin) & in_range(second))
    if not rays.is_segment:
        outside = outside | (largest_component(second) < SMALLEST_SIZE)
    return origin, second, outside


@inlined
def copy_vectors(raw: Float64Array, copy: Float64Array, i: int) -> Vector:
    """Copy and load eight rows of an (n, 3) array."""
    vectors = vectors_from(raw, i)
    first, second, third = load(raw, 3 * i), load(raw, 3 * i + LANES), load(raw, 3 * i + 2 * LANES)
    store(copy, 3 * i, first)
    store(copy, 3 * i + LANES, second)
    store(copy, 3 * i + 2 * LANES, third)
    return vectors


@inlined
def vectors_at(array: Float64Array, number: Int32Array, k: int) -> Vector:
    """Eight rows of an (n, 3) array, `number[k]` to `number[k + 7]`."""
    return load_at(array, number, k, 3, 0), load_at(array, number, k, 3, 1), load_at(array, number, k, 3, 2)


@inlined
def limbs_at(rows: Float64Array, shape: int, number: Int32Array, k: int) -> Limb:
    """Eight limbs of one shape, `number[k]` to `number[k + 7]`."""
    return limb_of(shape, load_rows(rows, number, k, 0), load_rows(rows, number, k, LANES))


@inlined
def one_limb(rows: Float64Array, shape: int, k: int) -> Limb:
    """Limb k, of this shape, in all eight lanes."""
    return limb_of(shape, broadcast_row(eight_of(rows, k, 0)), broadcast_row(eight_of(rows, k, LANES)))


@inlined
def broadcast_row(numbers: tuple[float, float, float, float, float, float, float, float]) -> tuple[Real, ...]:
    """Each of eight numbers in all eight lanes."""
    a, b, c, d, e, f, g, h = numbers
    low, high = (broadcast(a), broadcast(b), broadcast(c), broadcast(d)), (broadcast(e), broadcast(f), broadcast(g))
    return (*low, *high, broadcast(h))


@inlined
def rays_at(rays: Rays, number: Int32Array, k: int) -> Ray:
    """The eight rays `number[k]` to `number[k + 7]`."""
    origin, second = vectors_at(rays.origin, number, k), vectors_at(rays.second, number, k)
    distance = load_at(rays.distance, number, k, 1, 0) if rays.distance.size > 1 else broadcast(rays.distance[0])
    return make_ray(origin, displacement_of(origin, second, rays.is_segment), rays.is_segment, distance, distance)


@inlined
def displacement_of(origin: Vector, second: Vector, is_segment: bool) -> Vector:
    """End - start of eight segments, rounded, or the directions of eight rays."""
    if is_segment:
        return subtract(second, origin)
    return second


@inlined
def exact_displacements(origin: Vector, second: Vector, is_segment: bool) -> DoubleDoubleVector:
    """`exact_displacement` of eight rays."""
    if is_segment:
        return vector_difference(second, origin)
    return as_double_double(second)


@inlined
def prefetch_ray(rays: Rays, row: int) -> None:
    """Prefetch a ray, which is gathered next."""
    prefetch(rays.origin, 3 * row)
    prefetch(rays.second, 3 * row)


@inlined
def prefetch_sixteen(raw: Rays, rays: Rays, row: int) -> None:
    """Prefetch sixteen rays from `row` on, which are copied and tested next: six cache lines per array."""
    for k in range(3 * row, 3 * row + 6 * CACHE_LINE, CACHE_LINE):
        prefetch(raw.origin, k)
        prefetch(raw.second, k)
        prefetch(rays.origin, k)
        prefetch(rays.second, k)


@inlined
def two_rays_from(rays: Rays, number: Int32Array, k: int, in_order: bool) -> tuple[Ray, Ray]:
    """The sixteen rays from `number[k]` on, by contiguous loads if they are `in_order`, not sorted, and all exist."""
    i = number[k]
    if in_order and number[k + 2 * LANES - 1] == i + 2 * LANES - 1:
        return rays_from(rays, i), rays_from(rays, i + LANES)
    return rays_at(rays, number, k), rays_at(rays, number, k + LANES)
