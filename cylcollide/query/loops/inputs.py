"""The rays of a query as loops read them: copied and checked in the pass in which a loop first needs them."""

from typing import NamedTuple, TypeAlias

import numpy as np

from cylcollide._types import Column, Float64Array, LayerMasks, Vectors
from cylcollide.constants import LARGEST_NUMBER, SMALLEST_SIZE
from cylcollide.kernels.ray import Rays, as_vector, broadcast_index, largest_component
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.simd import LANES, absolute, broadcast, load, logical_not, movemask, store


@compiled
def copy_in_range(raw: Float64Array, copy: Float64Array, begin: int, end: int) -> tuple[bool, bool]:
    """Copy the rows from `begin` to `end` of an (n, 3) array in C order.

    Returns whether all their numbers are in the accepted range, and whether none is smaller than a size may be.
    """
    outside = small = broadcast(0.0) > 1.0
    last_outside = last_small = False
    eights_end = 3 * end - 3 * (end - begin) % LANES
    for k in range(3 * begin, eights_end, LANES):
        x = load(raw, k)
        store(copy, k, x)
        outside, small = outside | logical_not(absolute(x) <= LARGEST_NUMBER), small | (absolute(x) < SMALLEST_SIZE)
    from_array, to_array = raw.reshape(-1), copy.reshape(-1)
    for k in range(eights_end, 3 * end):
        y = from_array[k]
        to_array[k] = y
        last_outside, last_small = last_outside | (not abs(y) <= LARGEST_NUMBER), last_small | (abs(y) < SMALLEST_SIZE)
    return not last_outside and movemask(outside) == 0, not last_small and movemask(small) == 0


@compiled
def any_short_row(vectors: Float64Array, begin: int, end: int) -> bool:
    """Whether the largest component of any of these rows of an (n, 3) array is smaller than a size may be."""
    found = False
    for i in range(begin, end):
        found |= largest_component(as_vector(vectors, i)) < SMALLEST_SIZE
    return found


class RayBatch(NamedTuple):
    """Checked rays and what they may hit; `mask` and `ignored` have one entry per ray, or one for all."""

    rays: Rays
    mask: LayerMasks
    ignored: Column[np.int64]  # character, -1 for none
    policy: int


class PointFilters(NamedTuple):
    """Filters of the limbs that points consider; one entry per point, or one for all."""

    mask: LayerMasks
    ignored: Column[np.int64]  # character, -1 for none


@inlined
def filter_of(batch: RayBatch | PointFilters, i: int) -> tuple[int, int]:
    """The mask of ray or point i and the character that it ignores."""
    return int(batch.mask[broadcast_index(batch.mask, i)]), int(batch.ignored[broadcast_index(batch.ignored, i)])


RayOptions: TypeAlias = tuple[bool, Column[np.float64], LayerMasks, Column[np.int64], int]
"""A request without its two vectors: whether rays are segments, largest distances, mask, ignored and policy."""

COPY_ROWS = 6
"""Numbers per ray of a query's copies: origin and second vector, at the end of their memory (`batch_in`).

Many arrays share one memory: in Python, making an array takes longer than testing a ray against a limb. For few rays,
`HitColumns` share it, too.
"""


@inlined
def raw_rays(first: Vectors, second: Vectors, options: RayOptions, radius: Float64Array) -> Rays:
    """Rays as they were passed, not yet checked, possibly in the caller's memory."""
    return Rays(first, second, options[0], options[1], radius)


@inlined
def batch_in(copies: Float64Array, n: int, options: RayOptions, radius: Float64Array) -> RayBatch:
    """The n rays for kernels, at the end of this memory, which is uninitialised until they are copied."""
    is_segment, distance, mask, ignored, policy = options
    end = copies.size
    origin, second = copies[end - 6 * n : end - 3 * n].reshape(n, 3), copies[end - 3 * n :].reshape(n, 3)
    return RayBatch(Rays(origin, second, is_segment, distance, radius), mask, ignored, policy)


INVALID = -1
"""Status of a loop that has read an invalid ray or point; otherwise it is 0, or how many rows are undecided."""


@compiled
def copy_checked(raw: Rays, rays: Rays, begin: int, end: int) -> bool:
    """Copy the rows from `begin` to `end` of `raw`, rays as they were passed, possibly in the caller's memory.

    Returns whether all numbers are in the accepted range, and no direction is short.
    """
    origins_valid, _ = copy_in_range(raw.origin, rays.origin, begin, end)
    valid, none_small = copy_in_range(raw.second, rays.second, begin, end)
    return origins_valid and valid and (rays.is_segment or none_small or not any_short_row(rays.second, begin, end))


@compiled_loop
def copy_checked_rows(raw: Rays, rays: Rays, begin: int, end: int) -> bool:
    """`copy_checked`, as Python calls it."""
    return copy_checked(raw, rays, begin, end)
