"""The loop that places shapes: the frame of a shape's link times its local frame, in float64, in program order."""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from cylcollide._types import Blocks, Column, Float64Array, Quaternions, Rows, Vectors
from cylcollide.runtime.compile import compiled_loop, inlined
from cylcollide.world.pose_columns import PoseColumns

SPHERE, BOX, CYLINDER, PLANE, CAPSULE = 2, 3, 4, 6, 7  # PyBullet's GEOM_SPHERE and so on

EVERY_SHAPE_FITS = -1


class Posed(NamedTuple):
    """n shapes in world coordinates, m of them limbs: all but planes, in the same order."""

    position: Vectors
    rotation: Quaternions
    turn: Blocks[np.float64]  # (n, 3, 3), their rotation matrices
    p1: Vectors  # (m, 3), one end of the axis, which is Bullet's z; the centre of a sphere or box
    p2: Vectors  # (m, 3), the other end
    boxes: Rows[np.float64]  # (k, 12), axes and half extents of the boxes among them, as in `LimbTable`


def posed_memory(n: int, limbs: PoseColumns) -> Posed:
    """Uninitialised columns for n shapes; the limbs among them have columns already."""
    return Posed(np.empty((n, 3)), np.empty((n, 4)), np.empty((n, 3, 3)), limbs.p1, limbs.p2, limbs.boxes)


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
    """Write Hamilton's product of the quaternions of frame k and local frame i, which is applied first."""
    x, y, z, w = frames[k, 3], frames[k, 4], frames[k, 5], frames[k, 6]
    a, b, c, r = local[i, 0], local[i, 1], local[i, 2], local[i, 3]
    rotation[i, 0] = (w * a + r * x) + (y * c - z * b)
    rotation[i, 1] = (w * b + r * y) + (z * a - x * c)
    rotation[i, 2] = (w * c + r * z) + (x * b - y * a)
    rotation[i, 3] = w * r - ((x * a + y * b) + z * c)


@inlined
def _write_box(turn: Float64Array, i: int, size: Float64Array, boxes: Float64Array, k: int) -> None:
    """Write axes, the columns of rotation matrix i, and half extents of shape i into row k."""
    for axis in range(3):
        for component in range(3):
            boxes[k, 3 * axis + component] = turn[i, component, axis]
        boxes[k, 9 + axis] = 0.5 * size[i, axis]


@compiled_loop
def pose_shapes(
    frames: Rows[np.float64],
    at: Column[np.int64],
    kind: Column[np.int64],
    size: Vectors,
    position: Vectors,
    rotation: Quaternions,
    made: Posed,
) -> int:
    """Fill `made` with n shapes at frames (m, 7), positions and quaternions; returns the first misfit, or -1.

    `at` (n,): the frame of each shape. `kind`, `size`, `position`, `rotation`: as in `Shapes`. A shape fits if its
    numbers are finite and, for a cylinder, its axis has not vanished.
    """
    bad, limb, box = EVERY_SHAPE_FITS, 0, 0
    for i in range(len(at)):
        k, code = at[i], kind[i]
        x, y, z = position[i, 0], position[i, 1], position[i, 2]
        _write_matrix(frames[k, 3], frames[k, 4], frames[k, 5], frames[k, 6], made.turn, i)
        for axis in range(3):
            row = made.turn[i, axis]
            made.position[i, axis] = frames[k, axis] + ((row[0] * x + row[2] * z) + row[1] * y)
        _write_product(frames, k, rotation, i, made.rotation)
        q = made.rotation[i]
        _write_matrix(q[0], q[1], q[2], q[3], made.turn, i)
        total, vanished = ((q[0] + q[1]) + q[2]) + q[3], code == CYLINDER
        half = 0.5 * size[i, 0] if code in (CYLINDER, CAPSULE) else 0.0
        for axis in range(3):
            centre, reach = made.position[i, axis], half * made.turn[i, axis, 2]
            first, last = centre - reach, centre + reach
            if code != PLANE:
                made.p1[limb, axis], made.p2[limb, axis] = first, last
            total += first + last
            vanished = vanished and first == last
        if code == BOX:
            _write_box(made.turn, i, size, made.boxes, box)
        limb, box = limb + (code != PLANE), box + (code == BOX)
        if bad == EVERY_SHAPE_FITS and (not abs(total) < inf or vanished):
            bad = i
    return bad
