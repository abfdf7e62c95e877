"""Rows of bones in arrays: positions and quaternions of one, or of the same bone of eight characters."""

import numpy as np

from cylcollide._types import Float64Array, Int32Array
from cylcollide.bones.bone import Quaternion, largest_of_four
from cylcollide.constants import LARGEST_NUMBER, SMALLEST_SIZE
from cylcollide.kernels.double_double import Vector
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import LANES, Truth, absolute, load_at

ALL_EIGHT = 255
"""The mask of eight truths that all hold."""

EIGHT = np.arange(LANES, dtype=np.int32)
"""Indices of the characters or matrices that are posed side by side."""


@inlined
def in_range(v: Vector) -> Truth:
    """Whether all three are finite and in the accepted range."""
    x, y, z = absolute(v[0]), absolute(v[1]), absolute(v[2])
    return (x <= LARGEST_NUMBER) & (y <= LARGEST_NUMBER) & (z <= LARGEST_NUMBER)


@inlined
def is_quaternion(q: Quaternion) -> Truth:
    """Whether all four are finite and in the accepted range, and the largest is not too small."""
    return in_range((q[0], q[1], q[2])) & (absolute(q[3]) <= LARGEST_NUMBER) & (largest_of_four(q) >= SMALLEST_SIZE)


@inlined
def as_quaternion(rows: Float64Array, i: int) -> Quaternion:
    """Row i of an (n, 4) array."""
    return rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3]


@inlined
def vectors_at(rows: Float64Array, first: Int32Array, c: int, stride: int, bone: int) -> Vector:
    """A bone's vectors of eight characters from c on, of (·, 3); their bones begin at rows `stride * first`."""
    return (
        load_at(rows, first, c, 3 * stride, 3 * bone),
        load_at(rows, first, c, 3 * stride, 3 * bone + 1),
        load_at(rows, first, c, 3 * stride, 3 * bone + 2),
    )


@inlined
def quaternions_at(rows: Float64Array, first: Int32Array, c: int, stride: int, bone: int) -> Quaternion:
    """A bone's quaternions of eight characters from c on, of (·, 4); their bones begin at rows `stride * first`."""
    return (
        load_at(rows, first, c, 4 * stride, 4 * bone),
        load_at(rows, first, c, 4 * stride, 4 * bone + 1),
        load_at(rows, first, c, 4 * stride, 4 * bone + 2),
        load_at(rows, first, c, 4 * stride, 4 * bone + 3),
    )
