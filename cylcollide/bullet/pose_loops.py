"""The loop that places shapes: the frame of each one's link times its local frame. In float64, in program order."""

from math import inf, sqrt
from typing import NamedTuple

from cylcollide._types import BoolArray, Float64Array, Int64Array
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.entry_point import entry_point

EVERY_SHAPE_FITS = -1


class Posed(NamedTuple):
    """n shapes in world coordinates."""

    position: Float64Array  # (n, 3)
    rotation: Float64Array  # (n, 4), quaternions x, y, z, w
    turn: Float64Array  # (n, 3, 3), their rotation matrices
    p1: Float64Array  # (n, 3), one end of the axis, which is Bullet's z; the centre of a sphere or box
    p2: Float64Array  # (n, 3), the other end


@inlined
def _write_matrix(x: float, y: float, z: float, w: float, turn: Float64Array, i: int) -> None:
    """Write the rotation matrix of a quaternion, normalised first, as `shapes.rotation_matrices` has it."""
    norm = sqrt(((x * x + y * y) + z * z) + w * w)
    x, y, z, w = x / norm, y / norm, z / norm, w / norm
    turn[i, 0, 0], turn[i, 0, 1], turn[i, 0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)
    turn[i, 1, 0], turn[i, 1, 1], turn[i, 1, 2] = 2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)
    turn[i, 2, 0], turn[i, 2, 1], turn[i, 2, 2] = 2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)


@inlined
def _write_product(frames: Float64Array, k: int, local: Float64Array, i: int, rotation: Float64Array) -> None:
    """Write Hamilton's product of the quaternions of frame k and local frame i: the latter, then the former."""
    x, y, z, w = frames[k, 3], frames[k, 4], frames[k, 5], frames[k, 6]
    a, b, c, r = local[i, 0], local[i, 1], local[i, 2], local[i, 3]
    rotation[i, 0] = (w * a + r * x) + (y * c - z * b)
    rotation[i, 1] = (w * b + r * y) + (z * a - x * c)
    rotation[i, 2] = (w * c + r * z) + (x * b - y * a)
    rotation[i, 3] = w * r - ((x * a + y * b) + z * c)


@entry_point(reads_all=True)
def pose_shapes(
    frames: Float64Array,
    at: Int64Array,
    position: Float64Array,
    rotation: Float64Array,
    length: Float64Array,
    has_axis: BoolArray,
    made: Posed,
) -> int:
    """Fill `made` (n) with shapes at frames (m, 7), positions and quaternions; the first that does not fit, or -1.

    `at` (n,): the frame of each shape. `position` (n, 3), `rotation` (n, 4): its local frame. `length` (n,): of its
    axis, 0 for none; `has_axis` (n,): whether it must not vanish. A shape fits whose numbers are finite and whose axis
    has not vanished.
    """
    bad = EVERY_SHAPE_FITS
    for i in range(len(at)):
        k = at[i]
        x, y, z = position[i, 0], position[i, 1], position[i, 2]
        _write_matrix(frames[k, 3], frames[k, 4], frames[k, 5], frames[k, 6], made.turn, i)
        for axis in range(3):
            row = made.turn[i, axis]
            made.position[i, axis] = frames[k, axis] + ((row[0] * x + row[2] * z) + row[1] * y)
        _write_product(frames, k, rotation, i, made.rotation)
        q = made.rotation[i]
        _write_matrix(q[0], q[1], q[2], q[3], made.turn, i)
        total, vanished = ((q[0] + q[1]) + q[2]) + q[3], True
        for axis in range(3):
            centre, reach = made.position[i, axis], 0.5 * length[i] * made.turn[i, axis, 2]
            first, last = centre - reach, centre + reach
            made.p1[i, axis], made.p2[i, axis] = first, last
            total += first + last
            vanished = vanished and first == last
        if bad == EVERY_SHAPE_FITS and (not abs(total) < inf or (vanished and has_axis[i])):
            bad = i
    return bad
