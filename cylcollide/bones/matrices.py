"""Matrices to poses: the quaternion of a rotation matrix, and positions and orientations of many transforms.

Operations are IEEE's in the order written, so that single matrices and batches give the same bits.
"""

from typing import TypeAlias

import numpy as np

from cylcollide._types import Blocks, Float64Array, Quaternions, Rows, Vectors
from cylcollide.bones.bone import Quaternion
from cylcollide.bones.bone_rows import ALL_EIGHT, EIGHT, in_range
from cylcollide.constants import OFF_ORTHONORMAL
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.ray import cross, dot
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.simd import LANES, Truth, absolute, lane, load_at, movemask, select, square_root

Matrix: TypeAlias = tuple[Vector, Vector, Vector]
"""Three columns."""

WITH_LAST_ROW, LAST = 16, 15
"""Numbers of a matrix that includes the last row 0, 0, 0, 1; and the index of its 1."""


@inlined
def is_rotation(m: Matrix) -> Truth:
    """Whether columns of accepted numbers are orthonormal to OFF_ORTHONORMAL, and right-handed."""
    x, y, z = m
    off = 2.0 * OFF_ORTHONORMAL  # of a square it is twice that of the length
    long = (absolute(dot(x, x) - 1.0) <= off) & (absolute(dot(y, y) - 1.0) <= off) & (absolute(dot(z, z) - 1.0) <= off)
    square = (absolute(dot(x, y)) <= off) & (absolute(dot(y, z)) <= off) & (absolute(dot(z, x)) <= off)
    return long & square & (dot(cross(x, y), z) > 0.0)


@inlined
def are_numbers(m: Matrix, place: Vector) -> Truth:
    """Whether all twelve are accepted numbers."""
    return in_range(m[0]) & in_range(m[1]) & in_range(m[2]) & in_range(place)


@inlined
def quaternion_of(m: Matrix) -> Quaternion:
    """The unit quaternion of a rotation matrix, by the largest of its components, which is positive.

    The square of that is at least a quarter (Shepperd, Journal of Guidance and Control 1, 1978).
    """
    (xx, yx, zx), (xy, yy, zy), (xz, yz, zz) = m
    trace = xx + yy + zz
    x, y, z, w = (1.0 + 2.0 * xx) - trace, (1.0 + 2.0 * yy) - trace, (1.0 + 2.0 * zz) - trace, 1.0 + trace  # 4 x² ...
    x_y, y_z, z_x = xy + yx, yz + zy, zx + xz  # 4 x y ...
    w_x, w_y, w_z = zy - yz, xz - zx, yx - xy
    a, b, c, d, largest = x, x_y, z_x, w_x, x
    more = y > largest
    a, b, c, d = select(more, x_y, a), select(more, y, b), select(more, y_z, c), select(more, w_y, d)
    largest = select(more, y, largest)
    more = z > largest
    a, b, c, d = select(more, z_x, a), select(more, y_z, b), select(more, z, c), select(more, w_z, d)
    largest = select(more, z, largest)
    more = w > largest
    a, b, c, d = select(more, w_x, a), select(more, w_y, b), select(more, w_z, c), select(more, w, d)
    length = square_root(((a * a + b * b) + c * c) + d * d)
    return a / length, b / length, c / length, d / length


@compiled_loop
def turn_matrices(matrices: Blocks[np.float64], orientations: Quaternions, is_checked: bool) -> int:
    """Write the unit quaternions (n, 4) of n rotation matrices (n, 3, 3).

    If `is_checked`, returns the first that is not a rotation of accepted numbers; -1 if there is none. Its results and
    those of later ones are undefined then.
    """
    for i in range(matrices.shape[0]):
        m = matrices[i]
        columns = (m[0, 0], m[1, 0], m[2, 0]), (m[0, 1], m[1, 1], m[2, 1]), (m[0, 2], m[1, 2], m[2, 2])
        if is_checked and not (are_numbers(columns, columns[0]) and is_rotation(columns)):
            return i
        orientations[i, 0], orientations[i, 1], orientations[i, 2], orientations[i, 3] = quaternion_of(columns)
    return -1


@inlined
def _three(matrices: Float64Array, i: int, first: int, step: int) -> Vector:
    """Three numbers of matrix i: number `first`, and two more, each `step` further on."""
    return matrices[i, first], matrices[i, first + step], matrices[i, first + 2 * step]


@inlined
def _threes(matrices: Float64Array, i: int, first: int, step: int) -> Vector:
    """`_three` of eight matrices from i on."""
    eight, size = matrices[i:], matrices.shape[1]
    return (
        load_at(eight, EIGHT, 0, size, first),
        load_at(eight, EIGHT, 0, size, first + step),
        load_at(eight, EIGHT, 0, size, first + 2 * step),
    )


@compiled
def _pose_one(matrices: Float64Array, down: int, right: int, i: int, at: Vectors, turn: Quaternions) -> bool:
    """Write the pose of matrix i; returns whether it is a rotation and a translation of accepted numbers."""
    x, y, z = _three(matrices, i, 0, down), _three(matrices, i, right, down), _three(matrices, i, 2 * right, down)
    m, place = (x, y, z), _three(matrices, i, 3 * right, down)
    if not are_numbers(m, place):
        return False
    valid = is_rotation(m)
    if matrices.shape[1] == WITH_LAST_ROW:
        a, b, c = _three(matrices, i, 3 * down, right)
        valid &= a == 0.0 and b == 0.0 and c == 0.0 and matrices[i, LAST] == 1.0
    at[i, 0], at[i, 1], at[i, 2] = place
    turn[i, 0], turn[i, 1], turn[i, 2], turn[i, 3] = quaternion_of(m)
    return valid


@compiled
def _pose_eight(matrices: Float64Array, down: int, right: int, i: int, at: Vectors, turn: Quaternions) -> bool:
    """`_pose_one` for eight matrices from i on, side by side."""
    x, y, z = _threes(matrices, i, 0, down), _threes(matrices, i, right, down), _threes(matrices, i, 2 * right, down)
    m, place = (x, y, z), _threes(matrices, i, 3 * right, down)
    if movemask(are_numbers(m, place)) != ALL_EIGHT:
        return False
    valid = is_rotation(m)
    if matrices.shape[1] == WITH_LAST_ROW:
        a, b, c = _threes(matrices, i, 3 * down, right)
        last = load_at(matrices[i:], EIGHT, 0, WITH_LAST_ROW, LAST)
        valid = valid & (a == 0.0) & (b == 0.0) & (c == 0.0) & (last == 1.0)
    q = quaternion_of(m)
    for k in range(LANES):
        at[i + k, 0], at[i + k, 1], at[i + k, 2] = lane(place[0], k), lane(place[1], k), lane(place[2], k)
        turn[i + k, 0], turn[i + k, 1] = lane(q[0], k), lane(q[1], k)
        turn[i + k, 2], turn[i + k, 3] = lane(q[2], k), lane(q[3], k)
    return movemask(valid) == ALL_EIGHT


@compiled_loop
def pose_matrices(
    matrices: Rows[np.float64], down: int, right: int, positions: Vectors, orientations: Quaternions
) -> int:
    """Write the poses of n transforms: positions (n, 3), and unit quaternions (n, 4).

    A matrix is a row, (n, 12) or (n, WITH_LAST_ROW): the next row of a matrix is `down` numbers further on, the next
    column `right`.

    Returns the first that is not a rotation and a translation of accepted numbers; -1 if there is none. Its results
    and those of later ones are undefined.
    """
    n, i = positions.shape[0], 0
    while i + LANES <= n and _pose_eight(matrices, down, right, i, positions, orientations):
        i += LANES
    for k in range(i, n):
        if not _pose_one(matrices, down, right, k, positions, orientations):
            return k
    return -1
