"""Sorts rays in the past by tick and octant of direction: rays of one group traverse a tree together."""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Column, Float64Array, Int32Array
from cylcollide.bvh.stream import MIXED
from cylcollide.kernels.ray import Rays
from cylcollide.query.loops.inputs import RawRays, copy_checked
from cylcollide.query.loops.packets import displacement_of, vectors_from
from cylcollide.query.loops.ray_sort import is_negative
from cylcollide.runtime import memory
from cylcollide.runtime.compile import compiled_loop, inlined
from cylcollide.runtime.simd import LANES, store, with_sign

OCTANTS = MIXED
SMALLEST_OCTANT = 64  # fewer rays of a tick are one group of all octants


class Order(NamedTuple):
    """Rays in the order of their groups. The last ray is repeated sixteen times, since sixteen are read at a time."""

    number: Column[np.int32]  # rows of the query
    rays: Rays  # (n + 16, 3) each; distances are (n + 16,), or (1,) for all
    alpha: Column[np.float64]  # how far the moment of each is from its tick to the next one
    begins: Column[np.int64]  # (8 · ticks + 1,): where each octant of each tick begins; rays of no tick come before


def sorted_by_tick(raw: RawRays, rays: Rays, place: Int32Array, alpha: Float64Array, ticks: int) -> tuple[Order, bool]:
    """Copy n rays and sort them, given the place of each one's tick, -1 for one of no tick, and alpha; (n,) each.

    Returns the order, and whether all numbers of the rays are accepted.
    """
    n, shared = len(place), rays.distance.size == 1
    origin, second = memory.rows((2, n + 2 * LANES, 3))
    distance = rays.distance if shared else np.empty(n + 2 * LANES)
    begins = np.empty(OCTANTS * ticks + 1, np.int64)
    order = Order(np.empty(n, np.int32), Rays(origin, second, rays.is_segment, distance), np.empty(n), begins)
    return order, fill_order(raw, rays, place, alpha, np.empty(n, np.int32), order)


@compiled_loop
def fill_order(
    raw: RawRays,
    rays: Rays,
    place: Column[np.int32],
    alpha: Column[np.float64],
    key: Column[np.int32],
    order: Order,
) -> bool:
    """Write what `sorted_by_tick` returns, by a counting sort; `key` (n,) is scratch, `rays` are the copies."""
    if not copy_checked(raw, rays, 0, place.size):
        return False
    begins, n, buckets = order.begins, place.size, order.begins.size - 1
    for first in range(0, n - LANES + 1, LANES):
        store(key, first, eight_octants(rays, first))
    for i in range(n - n % LANES, n):
        key[i] = octant_of(rays, i)
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
def eight_octants(rays: Rays, i: int) -> float:
    """The octants of the directions of eight rays from row i on, as `octant_of` has them."""
    origin, second = vectors_from(rays.origin, i), vectors_from(rays.second, i)
    d = displacement_of(origin, second, rays.is_segment)
    return is_negative(d[0]) + 2.0 * is_negative(d[1]) + 4.0 * is_negative(d[2])


@inlined
def octant_of(rays: Rays, i: int) -> int:
    """The octant of the direction of ray i: bits of its minus signs, that of -0.0 included."""
    x, y, z = rays.second[i, 0], rays.second[i, 1], rays.second[i, 2]
    if rays.is_segment:
        x, y, z = x - rays.origin[i, 0], y - rays.origin[i, 1], z - rays.origin[i, 2]
    return int(with_sign(1.0, x) < 0.0) + 2 * int(with_sign(1.0, y) < 0.0) + 4 * int(with_sign(1.0, z) < 0.0)


@inlined
def group_of(order: Order, t: int, k: int) -> tuple[int, int, int]:
    """Of eight groups of rays of the tick at place t, that of number k: its octant, where it begins, and where it ends.

    If they are few, the first group holds all of them.
    """
    begins = order.begins
    if begins[OCTANTS * (t + 1)] - begins[OCTANTS * t] >= SMALLEST_OCTANT:
        return k, begins[OCTANTS * t + k], begins[OCTANTS * t + k + 1]
    return MIXED, begins[OCTANTS * t], begins[OCTANTS * (t + 1)] if k == 0 else begins[OCTANTS * t]
