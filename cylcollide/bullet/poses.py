"""Poses of the shapes of a client, read in one pass, and the limbs made of them. All of it in float64.

PyBullet's own `multiplyTransforms` and `getQuaternionFromAxisAngle` round to float32, so they are not used here.
"""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Float64Array, Int64Array, Uint32Array
from cylcollide.bullet.client import Client, Place
from cylcollide.bullet.read_shapes import BOX, CAPSULE, CYLINDER, PLANE, SPHERE, Shapes
from cylcollide.limbs.limbs import Limbs
from cylcollide.shapes import rotation_matrices


class Frames(NamedTuple):
    """Frames in world coordinates, n rows."""

    position: Float64Array  # (n, 3)
    rotation: Float64Array  # (n, 4), quaternions x, y, z, w

    def of(self, rows: Int64Array) -> "Frames":
        """The frames of the given rows."""
        return Frames(self.position[rows], self.rotation[rows])

    def points(self, local: Float64Array) -> Float64Array:
        """World coordinates (n, 3) of local points (n, 3), one a frame, or of many points in one frame."""
        turn = rotation_matrices(self.rotation)
        return np.asarray(self.position + np.einsum("nij,nj->ni", np.broadcast_to(turn, (len(local), 3, 3)), local))


def link_frames(client: Client, places: list[Place]) -> Frames:
    """The frame of the centre of mass of every place; `places` must list all links of a body together, in order."""
    base, states = client.getBasePositionAndOrientation, client.getLinkStates
    frames = []
    for body, link in places:
        if link == -1:
            frames.append(base(body))
            if joints := client.getNumJoints(body):
                frames.extend(state[:2] for state in states(body, list(range(joints)), computeForwardKinematics=1))
    return Frames(
        np.array([frame[0] for frame in frames], dtype=np.float64).reshape(-1, 3),
        np.array([frame[1] for frame in frames], dtype=np.float64).reshape(-1, 4),
    )


def shape_frames(shapes: Shapes, links: Frames) -> Frames:
    """The world frame of every shape: the frame of its place times its local frame."""
    at = links.of(shapes.place)
    return Frames(at.points(shapes.position), quaternion_product(at.rotation, shapes.rotation))


def quaternion_product(a: Float64Array, b: Float64Array) -> Float64Array:
    """Hamilton's product a b, the rotation b followed by a; quaternions x, y, z, w, (n, 4) each."""
    xyz_a, w_a, xyz_b, w_b = a[:, :3], a[:, 3:], b[:, :3], b[:, 3:]
    xyz = w_a * xyz_b + w_b * xyz_a + np.cross(xyz_a, xyz_b)
    return np.hstack([xyz, w_a * w_b - (xyz_a * xyz_b).sum(axis=1, keepdims=True)])


def limb_ends(shapes: Shapes, frames: Frames, rows: Int64Array) -> tuple[Float64Array, Float64Array]:
    """Both ends (m, 3) of the limbs of these shapes: Bullet's axis is z; those of a sphere or box are its centre."""
    long = np.isin(shapes.kind[rows], (CYLINDER, CAPSULE))
    half = np.where(long, shapes.size[rows, 0] / 2.0, 0.0)
    reach = half[:, None] * rotation_matrices(frames.rotation[rows])[:, :, 2]
    return frames.position[rows] - reach, frames.position[rows] + reach


def limbs_of(shapes: Shapes, frames: Frames, rows: Int64Array, groups: Uint32Array) -> Limbs:
    """The limbs of the given shapes, no planes, in the same order; `groups` (m,): the filter group of each."""
    p1, p2 = limb_ends(shapes, frames, rows)
    kind, size = shapes.kind[rows], shapes.size[rows]
    order = np.argsort(np.argsort(kind, kind="stable"), kind="stable")
    parts = []
    for code in (SPHERE, BOX, CYLINDER, CAPSULE):  # ascending, as argsort has them
        own = np.flatnonzero(kind == code)
        label = groups[own]
        if code == SPHERE:
            parts.append(Limbs.spheres(p1[own], size[own, 0], mask=label))
        elif code == BOX:
            turn = frames.rotation[rows][own]
            parts.append(Limbs.boxes(p1[own], turn, size[own] / 2.0, mask=label))
        elif code == CYLINDER:
            parts.append(Limbs.cylinders(p1[own], p2[own], size[own, 1], mask=label))
        else:
            parts.append(Limbs.capsules(p1[own], p2[own], size[own, 1], mask=label))
    return Limbs.concat(parts)[order]


def limb_rows(shapes: Shapes) -> Int64Array:
    """Indices of the shapes that become limbs: all but planes."""
    return np.flatnonzero(shapes.kind != PLANE)
