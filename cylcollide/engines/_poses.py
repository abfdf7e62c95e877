"""Limbs as most engines take them: a centre, a rotation, and sizes."""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Float64Array, Int8Array, Shape
from cylcollide.characters.quaternions import of_matrices
from cylcollide.limbs.limbs import Limbs

FLOAT32_ROUNDING = 2.0**-22
"""Four roundings of float32, relative to a coordinate: two for each end of a limb."""


class SolidPoses(NamedTuple):
    """n limbs as solids centred at the origin along z, rotated and then translated."""

    kind: Int8Array  # (n,): Shape
    center: Float64Array  # (n, 3)
    turn: Float64Array  # (n, 4): quaternions x, y, z, w; of a box its frame, of a sphere the identity
    half_length: Float64Array  # (n,): half the distance between p1 and p2
    radius: Float64Array  # (n,)
    half_extents: Float64Array  # (n, 3): of a box


def poses(limbs: Limbs) -> SolidPoses:
    """Centre, rotation and sizes of every limb, in float64."""
    axis = limbs.p2 - limbs.p1
    # Tilt z towards x by the polar angle, then turn about z to the azimuth: both angles are well defined everywhere.
    polar, azimuth = (
        0.5 * np.arctan2(np.hypot(axis[:, 0], axis[:, 1]), axis[:, 2]),
        0.5 * np.arctan2(axis[:, 1], axis[:, 0]),
    )
    turn = np.stack(
        [
            -np.sin(azimuth) * np.sin(polar),
            np.cos(azimuth) * np.sin(polar),
            np.sin(azimuth) * np.cos(polar),
            np.cos(azimuth) * np.cos(polar),
        ],
        axis=1,
    )
    boxes = limbs.kind == int(Shape.BOX)
    turn[boxes] = quaternions(limbs.box_axes[boxes])
    length = np.linalg.norm(axis, axis=1)
    return SolidPoses(limbs.kind, limbs.p1 + 0.5 * axis, turn, 0.5 * length, limbs.radius, limbs.half_extents)


def same_lengths(before: Limbs, after: Limbs) -> bool:
    """Whether the lengths of moved limbs are unchanged up to the rounding of float32 coordinates."""
    change = np.linalg.norm(after.p2 - after.p1, axis=1) - np.linalg.norm(before.p2 - before.p1, axis=1)
    largest = np.abs([after.p1, after.p2, before.p1, before.p2]).max(axis=(0, 2))
    return bool((np.abs(change) <= FLOAT32_ROUNDING * largest).all())


def y_up(turn: Float64Array) -> Float64Array:
    """The rotations (n, 4) for solids along y instead of z: preceded by a quarter turn about x."""
    x, y, z, w = np.sqrt(0.5) * turn.T
    return np.stack([x + w, y + z, z - y, w - x], axis=1)


def quaternions(axes: Float64Array) -> Float64Array:
    """Unit quaternions x, y, z, w of right-handed frames whose axes are the rows; (n, 3, 3) to (n, 4)."""
    return of_matrices(np.swapaxes(axes, 1, 2))
