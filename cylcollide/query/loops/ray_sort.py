"""Sorts rays by octant of direction and cell of origin: rays that are traversed together then visit the same nodes."""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Column
from cylcollide.bvh.layout import Tree
from cylcollide.constants import BLOCK_RAYS, MANY_TO_SORT
from cylcollide.kernels.ray import Rays
from cylcollide.query.loops.inputs import RawRays, copy_checked
from cylcollide.query.loops.packets import displacement_of, vectors_from
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.simd import LANES, Real, larger, select, smaller, store, truncate, with_sign


class SortScratch(NamedTuple):
    """Buffers of a counting sort. One per thread."""

    key: Column[np.uint16]  # (rays,): octant and cell
    bucket: Column[np.int32]  # where each key begins
    number: Column[np.int32]  # (rays + 16,): the rays in order
    octant: Column[np.int64]  # (10,): where each octant begins in `number`; the last two: all rays, unsorted


def make_sort_scratch(rays: int) -> SortScratch:
    """Buffers for this number of rays."""
    bucket = np.empty(8 * 16**3 + 1, np.int32)
    return SortScratch(np.empty(rays, np.uint16), bucket, np.empty(rays + 2 * LANES, np.int32), np.empty(10, np.int64))


@compiled
def sort_rays(raw: RawRays, rays: Rays, tree: Tree, begin: int, end: int, sort: SortScratch) -> bool:
    """Copy and check the rays from `begin` to `end`, and sort their row numbers by octant and cell, by a counting sort.

    Returns whether all numbers are valid.
    """
    count, key, bucket, number = end - begin, sort.key, sort.bucket, sort.number
    space = tree.space
    cells = 4 if count < MANY_TO_SORT else 16
    bucket[: 8 * cells**3 + 1] = 0
    for first in range(begin, end, LANES):
        if (first - begin) % BLOCK_RAYS == 0 and not copy_checked(raw, rays, first, min(first + BLOCK_RAYS, end)):
            return False
        i = min(first, end - LANES)  # the last eight may overlap those before
        origin, d = vectors_from(rays.origin, i), vectors_from(rays.second, i)
        d = displacement_of(origin, d, rays.is_segment)
        code = is_negative(d[0]) + 2.0 * is_negative(d[1]) + 4.0 * is_negative(d[2])
        code = code * cells + cell(origin[0], space.centre[0], space.scale, cells)
        code = code * cells + cell(origin[1], space.centre[1], space.scale, cells)
        store(key, i - begin, code * cells + cell(origin[2], space.centre[2], space.scale, cells))
    for k in range(count):
        bucket[key[k] + 1] += 1
    for k in range(8 * cells**3):
        bucket[k + 1] += bucket[k]
    for octant in range(9):
        sort.octant[octant] = bucket[octant * cells**3]
    for k in range(count):
        number[bucket[key[k]]] = begin + k
        bucket[key[k]] += 1
    number[count : count + 2 * LANES] = number[count - 1]  # sixteen may be read from the last one on
    return True


@inlined
def copy_in_order(raw: RawRays, rays: Rays, begin: int, first: int, last: int, sort: SortScratch) -> bool:
    """Copy and check the rays from `first` to `last` of a chunk from `begin` on, unsorted; whether all are valid."""
    number = sort.number
    for k in range(first, last):
        number[k - begin] = k
    number[last - begin : last - begin + 2 * LANES] = last - 1  # sixteen may be read from the last one on
    return copy_checked(raw, rays, first, last)


@inlined
def is_negative(component: Real) -> Real:
    """1.0 for a component with a minus sign, that of -0.0 included, as its reciprocal has it; else 0.0."""
    return select(with_sign(1.0, component) < 0.0, 1.0, 0.0)


@inlined
def cell(coordinate: Real, centre: float, scale: float, cells: int) -> Real:
    """The cell that a coordinate lies in, of `cells` cells across the tree; the outer ones extend to infinity."""
    place = (coordinate - centre) * (0.5 * scale * cells) + 0.5 * cells
    return truncate(larger(smaller(place, cells - 1.0), 0.0))
