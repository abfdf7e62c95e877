"""Sorts rays by octant of direction, and by cell of origin or tick: rays of one group visit the same nodes.

Both are counting sorts that copy and check the rays first.
"""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Column, Float64Array, Int32Array, Rows
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.ray_node_pairs import PREFETCH_DISTANCE
from cylcollide.bvh.stream import MIXED
from cylcollide.constants import MANY_TO_SORT
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.ray import Ray, Rays, as_vector, make_ray
from cylcollide.query.loops.inputs import copy_checked
from cylcollide.query.loops.leaf import StreamScratch
from cylcollide.query.loops.packets import copy_ray_vectors, displacement_of
from cylcollide.runtime import memory
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.simd import (
    LANES,
    Real,
    larger,
    load_rows,
    movemask,
    prefetch,
    select,
    smaller,
    store,
    truncate,
    with_sign,
)

OCTANTS = MIXED
SMALLEST_OCTANT = 2048  # fewer rays of a tick are one group of all octants


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


DISTANCE, ALPHA = 6, 7
"""Columns of `Order.ray`, behind the vectors of a ray."""


class Order(NamedTuple):
    """Rays in the order of their groups. Sixteen may be read from the last one on."""

    number: Column[np.int32]  # (n + 16,): rows of the query
    ray: Rows[np.float64]  # (n + 16, 8), both vectors, distance, alpha: a cache line each
    begins: Column[np.int64]  # (8 · ticks + 1,): where each octant of each tick begins; rays of no tick come before


def sorted_by_tick(raw: Rays, rays: Rays, place: Int32Array, alpha: Float64Array, ticks: int) -> tuple[Order, bool]:
    """Copy n rays and sort them, given the place of each one's tick, -1 for one of no tick, and alpha; (n,) each.

    Returns the order, and whether all numbers of the rays are accepted.
    """
    n, begins = len(place), np.zeros(OCTANTS * ticks + 1, np.int64)
    order = Order(np.empty(n + 2 * LANES, np.int32), memory.rows((n + 2 * LANES, LANES)), begins)
    return order, fill_order(raw, rays, place, alpha, np.empty(n, np.int32), order)


@compiled_loop
def fill_order(
    raw: Rays, rays: Rays, place: Column[np.int32], alpha: Column[np.float64], key: Column[np.int32], order: Order
) -> bool:
    """Write what `sorted_by_tick` returns, by a counting sort; `key` (n,) is scratch, `rays` are the copies."""
    number, ray, begins, n = order.number, order.ray, order.begins, place.size
    origin, second, distance, rest = rays.origin, rays.second, rays.distance, n - n % LANES
    for i in range(0, rest, LANES):
        start, end, outside = copy_ray_vectors(raw, rays, i)
        if movemask(outside) != 0:
            return False
        store(key, i, octant_of(displacement_of(start, end, rays.is_segment)))
    if not copy_checked(raw, rays, rest, n):
        return False
    for i in range(rest, n):
        key[i] = int(octant_of(displacement_of(as_vector(origin, i), as_vector(second, i), rays.is_segment)))
    for i in range(n):
        key[i] = 1 + OCTANTS * place[i] + key[i] if place[i] >= 0 else 0
        begins[key[i]] += 1
    total = 0
    for k in range(begins.size):
        begins[k], total = total, total + begins[k]
    for i in range(n):  # where a group begins becomes where it ends, and the next one begins
        prefetch(ray, LANES * begins[key[min(i + PREFETCH_DISTANCE, n - 1)]])
        k = begins[key[i]]
        number[k], begins[key[i]] = i, k + 1
        ray[k, 0], ray[k, 1], ray[k, 2] = origin[i, 0], origin[i, 1], origin[i, 2]
        ray[k, 3], ray[k, 4], ray[k, 5] = second[i, 0], second[i, 1], second[i, 2]
        ray[k, DISTANCE], ray[k, ALPHA] = distance[i if distance.size > 1 else 0], alpha[i]
    for k in range(LANES * n, ray.size if n > 0 else 0):
        ray[k // LANES, k % LANES] = ray[n - 1, k % LANES]
    number[n:] = number[n - 1] if n > 0 else 0
    return True


@inlined
def rays_in_order(rows: Float64Array, chosen: Int32Array, k: int, is_segment: bool) -> Ray:
    """The eight rays `chosen[k]` to `chosen[k + 7]` of `Order.ray`."""
    x = load_rows(rows, chosen, k, 0)
    displacement = displacement_of((x[0], x[1], x[2]), (x[3], x[4], x[5]), is_segment)
    return make_ray((x[0], x[1], x[2]), displacement, is_segment, x[DISTANCE], x[DISTANCE])


@inlined
def group_of(order: Order, t: int, k: int) -> tuple[int, int, int]:
    """Group k of the eight groups of rays of the tick at place t: its octant, where it begins, and where it ends.

    If the tick has few rays, the first group holds all of them.
    """
    begins = order.begins
    if begins[OCTANTS * (t + 1)] - begins[OCTANTS * t] >= SMALLEST_OCTANT:
        return k, begins[OCTANTS * t + k], begins[OCTANTS * t + k + 1]
    return MIXED, begins[OCTANTS * t], begins[OCTANTS * (t + 1)] if k == 0 else begins[OCTANTS * t]
