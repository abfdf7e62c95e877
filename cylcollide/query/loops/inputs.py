"""The rays of a query as loops read them: copied and checked in the pass in which a loop first needs them."""

from typing import NamedTuple, TypeAlias

import numpy as np

from cylcollide._types import Float64Array, Int64Array, Uint32Array
from cylcollide.kernels.ray import Rays
from cylcollide.runtime.compile import compiled
from cylcollide.runtime.entry_point import entry_point
from cylcollide.runtime.simd import LANES, absolute, broadcast, load, logical_not, movemask, store


@compiled
def copy_finite(raw: Float64Array, copy: Float64Array, begin: int, end: int) -> tuple[bool, bool]:
    """Copy the rows from `begin` to `end` of an (n, 3) array in C order.

    Returns whether all their numbers are finite, and whether none of them is zero.
    """
    not_finite = zero = broadcast(0.0) > 1.0
    last_not_finite = last_zero = False
    eights_end = 3 * end - 3 * (end - begin) % LANES
    for k in range(3 * begin, eights_end, LANES):
        x = load(raw, k)
        store(copy, k, x)
        not_finite, zero = not_finite | logical_not(absolute(x) < np.inf), zero | (x == 0.0)
    from_array, to_array = raw.reshape(-1), copy.reshape(-1)
    for k in range(eights_end, 3 * end):
        y = from_array[k]
        to_array[k] = y
        last_not_finite, last_zero = last_not_finite | (not abs(y) < np.inf), last_zero | (y == 0.0)
    return not last_not_finite and movemask(not_finite) == 0, not last_zero and movemask(zero) == 0


@compiled
def any_zero_row(vectors: Float64Array, begin: int, end: int) -> bool:
    """Whether any of these rows of an (n, 3) array is zero."""
    found = False
    for i in range(begin, end):
        found |= (vectors[i, 0] == 0.0) & (vectors[i, 1] == 0.0) & (vectors[i, 2] == 0.0)
    return found


class RawRays(NamedTuple):
    """Rays as they were passed, not yet checked, possibly in the caller's memory; (n, 3) each, C order."""

    first: Float64Array
    second: Float64Array


class RayBatch(NamedTuple):
    """Checked rays and what they may hit; `mask` and `ignored` have one entry a ray, or one for all."""

    rays: Rays
    mask: Uint32Array
    ignored: Int64Array  # character, -1 for none
    policy: int


RayOptions: TypeAlias = tuple[bool, Float64Array, Uint32Array, Int64Array, int]
"""Of a request, all but its two vectors: whether rays are segments, how far they go, mask, ignored and policy."""

INVALID = -1
"""Status of a loop that has read a ray or point that is not allowed; otherwise 0, or how many rows are undecided."""


@compiled
def copy_checked(raw: RawRays, rays: Rays, begin: int, end: int) -> bool:
    """Copy the rows from `begin` to `end`; whether all numbers are finite, and no direction is zero."""
    origins_finite, _ = copy_finite(raw.first, rays.origin, begin, end)
    finite, no_zeros = copy_finite(raw.second, rays.second, begin, end)
    return origins_finite and finite and (rays.is_segment or no_zeros or not any_zero_row(rays.second, begin, end))


copy_checked_rows = entry_point()(copy_checked)
"""`copy_checked`, as Python calls it."""
