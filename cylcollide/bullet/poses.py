"""Poses of the shapes of a client, read in one pass, and the limbs made of them. All of it in float64.

PyBullet's own `multiplyTransforms` and `getQuaternionFromAxisAngle` round to float32, so they are not used here.
"""

from itertools import chain
from typing import NamedTuple

import numpy as np

from cylcollide._types import Float64Array, Int64Array, Uint32Array
from cylcollide.bullet.client import Client, Place
from cylcollide.bullet.plane import Sheet
from cylcollide.bullet.read_shapes import BOX, CAPSULE, CYLINDER, PLANE, SPHERE, Shapes
from cylcollide.kernels.limb_table import make_table
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
    links: dict[int, list[int]] = {}
    for body, link in places:
        links.setdefault(body, []).append(link)
    number, base, states = client.number, client.api.getBasePositionAndOrientation, client.api.getLinkStates
    rows: list[tuple[float, ...]] = []
    for body, all_links in links.items():
        position, rotation = base(body, number)
        rows.append(position + rotation)
        if len(all_links) > 1:  # velocities are not computed, frames anew from the joints
            rows.extend([state[0] + state[1] for state in states(body, all_links[1:], 0, 1, number)])
    numbers = np.fromiter(chain.from_iterable(rows), np.float64, 7 * len(rows)).reshape(-1, 7)
    return Frames(numbers[:, :3].copy(), numbers[:, 3:].copy())


class Posed(NamedTuple):
    """The n shapes of a client in world coordinates."""

    frames: Frames
    turn: Float64Array  # (n, 3, 3), the rotation matrices of the frames
    p1: Float64Array  # (n, 3), one end of the axis, which is Bullet's z; the centre of a sphere or box
    p2: Float64Array  # (n, 3), the other end


def posed(client: Client, shapes: Shapes, links: Frames) -> Posed:
    """Every shape at the frame of its place times its local frame.

    Raises
    ------
    ValueError
        For a pose that is not finite, or so far out that an axis vanishes; it names body and link.
    """
    at = links.of(shapes.place)
    frames = Frames(at.points(shapes.position), quaternion_product(at.rotation, shapes.rotation))
    turn = rotation_matrices(frames.rotation)
    is_long = (shapes.kind == CYLINDER) | (shapes.kind == CAPSULE)
    reach = np.where(is_long, shapes.size[:, 0] / 2.0, 0.0)[:, None] * turn[:, :, 2]
    made = Posed(frames, turn, frames.position - reach, frames.position + reach)
    bad = _bad_rows(shapes, made)
    if len(bad):
        row = int(bad[0])
        place = shapes.places[shapes.place[row]]
        raise ValueError(
            f"{client.body_name(place.body)}, link {place.link}: expected a finite pose in which the shape keeps its "
            f"size, got position {frames.position[row].tolist()}, orientation {frames.rotation[row].tolist()}; give "
            "the body another by resetBasePositionAndOrientation, or remove it"
        )
    return made


def _bad_rows(shapes: Shapes, made: Posed) -> Int64Array:
    """Shapes with numbers that are none, and cylinders without an axis."""
    total = made.p1.sum(axis=1) + made.p2.sum(axis=1) + made.frames.rotation.sum(axis=1)  # NaN stays, infinity, too
    same = made.p1 == made.p2
    return np.flatnonzero(~np.isfinite(total) | ((shapes.kind == CYLINDER) & same[:, 0] & same[:, 1] & same[:, 2]))


def quaternion_product(a: Float64Array, b: Float64Array) -> Float64Array:
    """Hamilton's product a b, the rotation b followed by a; quaternions x, y, z, w, (n, 4) each."""
    (x, y, z, w), (i, j, k, r) = a.T, b.T
    product = np.empty_like(a)
    product[:, 0] = (w * i + r * x) + (y * k - z * j)
    product[:, 1] = (w * j + r * y) + (z * i - x * k)
    product[:, 2] = (w * k + r * z) + (x * j - y * i)
    product[:, 3] = w * r - ((x * i + y * j) + z * k)
    return product


def limbs_of(shapes: Shapes, made: Posed, rows: Int64Array, groups: Uint32Array) -> Limbs:
    """The limbs of the given shapes, no planes, in the same order; `groups` (m,): the filter group of each."""
    p1, p2 = made.p1[rows], made.p2[rows]
    kind, size = shapes.kind[rows], shapes.size[rows]
    order = np.argsort(np.argsort(kind, kind="stable"), kind="stable")
    parts = []
    for code in (SPHERE, BOX, CYLINDER, CAPSULE):  # ascending, as argsort has them
        own = np.flatnonzero(kind == code)
        label = groups[own]
        if code == SPHERE:
            parts.append(Limbs.spheres(p1[own], size[own, 0], mask=label))
        elif code == BOX:
            turn = made.frames.rotation[rows][own]
            parts.append(Limbs.boxes(p1[own], turn, size[own] / 2.0, mask=label))
        elif code == CYLINDER:
            parts.append(Limbs.cylinders(p1[own], p2[own], size[own, 1], mask=label))
        else:
            parts.append(Limbs.capsules(p1[own], p2[own], size[own, 1], mask=label))
    return Limbs.concat(parts)[order]


def moved_limbs(limbs: Limbs, shapes: Shapes, made: Posed, rows: Int64Array) -> Limbs:
    """The limbs that `limbs_of` made of the same shapes, elsewhere: ends and axes anew, all else as it was."""
    t, own = limbs.table, rows[shapes.kind[rows] == BOX]
    boxes = t.boxes.copy()
    boxes[:, :9] = made.turn[own].transpose(0, 2, 1).reshape(-1, 9)
    p1, p2 = made.p1[rows], made.p2[rows]
    moved = make_table(t.kind, p1, p2, t.radius, t.radius2, t.box, boxes, t.character, t.mask)
    return Limbs(moved, limbs.hit_group, limbs.names)


def limb_rows(shapes: Shapes) -> Int64Array:
    """Indices of the shapes that become limbs: all but planes."""
    return np.flatnonzero(shapes.kind != PLANE)


def same_frames(new: Frames, old: Frames) -> bool:
    """Whether all frames are equal."""
    return np.array_equal(new.position, old.position) and np.array_equal(new.rotation, old.rotation)


def sheets_of(shapes: Shapes, made: Posed) -> list[Sheet]:
    """The planes at their frames."""
    rows = np.flatnonzero(shapes.kind == PLANE)
    normals = np.einsum("nij,nj->ni", made.turn[rows], shapes.size[rows])
    points = made.frames.position[rows]
    return [
        Sheet((p[0], p[1], p[2]), (n[0], n[1], n[2])) for p, n in zip(points.tolist(), normals.tolist(), strict=True)
    ]
