"""Sorts rays by octant of direction, and by cell of origin or tick: those sorted together visit the same nodes.

Both are counting sorts that copy and check the rays first.
"""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Column, Float64Array, Int32Array
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.stream import MIXED
from cylcollide.constants import MANY_TO_SORT
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.ray import Rays, as_vector
from cylcollide.query.loops.inputs import copy_checked
from cylcollide.query.loops.leaf import StreamScratch
from cylcollide.query.loops.packets import copy_ray_vectors, displacement_of
from cylcollide.runtime import memory
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.simd import LANES, Real, larger, movemask, select, smaller, store, truncate, with_sign

OCTANTS = MIXED
SMALLEST_OCTANT = 64  # fewer rays of a tick are one group of all octants


@compiled
def sort_rays(raw: Rays, rays: Rays, tree: Tree, begin: int, end: int, state: StreamScratch) -> bool:
    """Copy and check the rays from `begin` to `end`, and sort their row numbers by octant and cell, by a counting sort.

    Returns whether all numbers are valid.
    """
    count, key, bucket, number = end - begin, state.key, state.bucket, state.number
    frame = tree.frame
    cells = 4 if count < MANY_TO_SORT else 16
    bucket[: 8 * cells**3 + 1] = 0
    for first in range(begin, end, LANES):
        i = min(first, end - LANES)  # the last eight may overlap those before
        origin, second, outside = copy_ray_vectors(raw, rays, i)
        if movemask(outside) != 0:
            return False
        code = octant_of(displacement_of(origin, second, rays.is_segment))
        code = code * cells + cell(origin[0], frame.centre[0], frame.scale, cells)
        code = code * cells + cell(origin[1], frame.centre[1], frame.scale, cells)
        store(key, i - begin, code * cells + cell(origin[2], frame.centre[2], frame.scale, cells))
    for k in range(count):
        bucket[key[k] + 1] += 1
    for k in range(8 * cells**3):
        bucket[k + 1] += bucket[k]
    for octant in range(9):
        state.octant[octant] = bucket[octant * cells**3]
    for k in range(count):
        number[bucket[key[k]]] = begin + k
        bucket[key[k]] += 1
    number[count : count + 2 * LANES] = number[count - 1]  # sixteen may be read from the last one on
    return True


@inlined
def copy_in_order(raw: Rays, rays: Rays, begin: int, first: int, last: int, state: StreamScratch) -> bool:
    """Copy and check rays `first` to `last` of a chunk from `begin` on, unsorted; returns whether all are valid."""
    number_rows(state.number, begin, first, last)
    return copy_checked(raw, rays, first, last)


@inlined
def number_rows(number: Int32Array, begin: int, first: int, last: int) -> None:
    """Number rays `first` to `last` of a chunk from `begin` on, unsorted."""
    for k in range(first, last):
        number[k - begin] = k
    number[last - begin : last - begin + 2 * LANES] = last - 1  # sixteen may be read from the last one on


@inlined
def octant_of(d: Vector) -> Real:
    """The octant of a direction, or of eight: bits of its minus signs."""
    return is_negative(d[0]) + 2.0 * is_negative(d[1]) + 4.0 * is_negative(d[2])


@inlined
def is_negative(component: Real) -> Real:
    """1.0 for a component with a minus sign, that of -0.0 included, as its reciprocal has it; else 0.0."""
    return select(with_sign(1.0, component) < 0.0, 1.0, 0.0)


@inlined
def cell(coordinate: Real, centre: float, scale: float, cells: int) -> Real:
    """The cell that a coordinate lies in, of `cells` cells across the tree; the outer ones extend to infinity."""
    place = (coordinate - centre) * (0.5 * scale * cells) + 0.5 * cells
    return truncate(larger(smaller(place, cells - 1.0), 0.0))


class Order(NamedTuple):
    """Rays in the order of their groups. The last ray is repeated sixteen times, since sixteen are read at a time."""

    number: Column[np.int32]  # rows of the query
    rays: Rays  # (n + 16, 3) each; distances are (n + 16,), or (1,) for all
    alpha: Column[np.float64]  # how far the moment of each is from its tick to the next one
    begins: Column[np.int64]  # (8 · ticks + 1,): where each octant of each tick begins; rays of no tick come before


def sorted_by_tick(raw: Rays, rays: Rays, place: Int32Array, alpha: Float64Array, ticks: int) -> tuple[Order, bool]:
    """Copy n rays and sort them, given the place of each one's tick, -1 for one of no tick, and alpha; (n,) each.

    Returns the order, and whether all numbers of the rays are accepted.
    """
    n, shared = len(place), rays.distance.size == 1
    copies = memory.rows((2, n + 2 * LANES, 3))
    distance = rays.distance if shared else np.empty(n + 2 * LANES)
    begins = np.empty(OCTANTS * ticks + 1, np.int64)
    in_order = Rays(copies[0], copies[1], rays.is_segment, distance, rays.radius[:0])
    order = Order(np.empty(n, np.int32), in_order, np.empty(n), begins)
    return order, fill_order(raw, rays, place, alpha, np.empty(n, np.int32), order)


@compiled_loop
def fill_order(
    raw: Rays, rays: Rays, place: Column[np.int32], alpha: Column[np.float64], key: Column[np.int32], order: Order
) -> bool:
    """Write what `sorted_by_tick` returns, by a counting sort; `key` (n,) is scratch, `rays` are the copies."""
    begins, n, buckets = order.begins, place.size, order.begins.size - 1
    rest = n - n % LANES
    for i in range(0, rest, LANES):
        origin, second, outside = copy_ray_vectors(raw, rays, i)
        if movemask(outside) != 0:
            return False
        store(key, i, octant_of(displacement_of(origin, second, rays.is_segment)))
    if not copy_checked(raw, rays, rest, n):
        return False
    for i in range(rest, n):
        key[i] = int(octant_of(displacement_of(as_vector(rays.origin, i), as_vector(rays.second, i), rays.is_segment)))
    for k in range(buckets + 1):
        begins[k] = 0
    without = 0
    for i in range(n):
        if place[i] < 0:
            put(rays, alpha, i, without, order)
            without += 1
        else:
            key[i] += OCTANTS * place[i]
            begins[key[i]] += 1
    total = without
    for k in range(buckets + 1):
        begins[k], total = total, total + begins[k]
    for i in range(n):
        if place[i] >= 0:
            k = begins[key[i]]
            put(rays, alpha, i, k, order)
            begins[key[i]] = k + 1
    for k in range(buckets, 0, -1):
        begins[k] = begins[k - 1]
    begins[0] = without
    for k in range(n, order.rays.origin.shape[0] if n > 0 else 0):
        copy_ray(rays, n - 1, k, order)
    return True


@inlined
def put(rays: Rays, alpha: Float64Array, i: int, k: int, order: Order) -> None:
    """Make ray i of the query number k of the order."""
    order.number[k], order.alpha[k] = i, alpha[i]
    copy_ray(rays, i, k, order)


@inlined
def copy_ray(rays: Rays, i: int, k: int, order: Order) -> None:
    """Copy ray i to row k of the order."""
    origin, second = order.rays.origin, order.rays.second
    for axis in range(3):
        origin[k, axis], second[k, axis] = rays.origin[i, axis], rays.second[i, axis]
    if rays.distance.size > 1:
        order.rays.distance[k] = rays.distance[i]


@inlined
def group_of(order: Order, t: int, k: int) -> tuple[int, int, int]:
    """Of eight groups of rays of the tick at place t, that of number k: its octant, where it begins, and where it ends.

    If they are few, the first group holds all of them.
    """
    begins = order.begins
    if begins[OCTANTS * (t + 1)] - begins[OCTANTS * t] >= SMALLEST_OCTANT:
        return k, begins[OCTANTS * t + k], begins[OCTANTS * t + k + 1]
    return MIXED, begins[OCTANTS * t], begins[OCTANTS * (t + 1)] if k == 0 else begins[OCTANTS * t]
