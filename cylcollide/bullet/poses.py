"""Poses of the shapes of a client, read in one pass, and the limbs made of them. All of it in float64.

PyBullet's own `multiplyTransforms` and `getQuaternionFromAxisAngle` round to float32, so they are not used here.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int64Array, Uint32Array
from cylcollide.bullet.client import Client, Place
from cylcollide.bullet.plane import Sheet
from cylcollide.bullet.pose_loops import EVERY_SHAPE_FITS, Posed, pose_shapes
from cylcollide.bullet.read_shapes import BOX, CAPSULE, CYLINDER, PLANE, SPHERE, Shapes
from cylcollide.kernels.limb_table import make_table
from cylcollide.limbs.limbs import Limbs
from cylcollide.shapes import rotation_matrices

FRAME = itemgetter(0, 1)
"""Position and rotation of the centre of mass, of what `getLinkStates` returns."""

BASE = -1


def by_body(places: Iterable[Place]) -> dict[int, list[int]]:
    """The links of each body, in the order of the places."""
    links: dict[int, list[int]] = {}
    for body, link in places:
        links.setdefault(body, []).append(link)
    return links


def link_frames(client: Client, links: Mapping[int, list[int]]) -> Float64Array:
    """The frames of the centres of mass of these links of each body, base first: positions and quaternions, (m, 7)."""
    flatten, rows = chain.from_iterable, sum(map(len, links.values()))
    # read one by one, so that what PyBullet makes of a body is released before the next one is read
    numbers = np.fromiter(flatten(flatten(flatten(_frames(client, links)))), np.float64, 7 * rows)
    return numbers.reshape(-1, 7)


def _frames(client: Client, links: Mapping[int, list[int]]) -> Iterator[Iterable[Any]]:
    """Pairs of position and rotation, some at a time."""
    number, base, states = client.number, client.api.getBasePositionAndOrientation, client.api.getLinkStates
    for body, of_body in links.items():
        if of_body[0] == BASE:
            yield (base(body, number),)
            of_body = of_body[1:]
        if of_body:  # velocities are not computed, frames anew from the joints
            yield map(FRAME, states(body, of_body, 0, 1, number))


def in_world(frame: Float64Array, local: Float64Array) -> Float64Array:
    """World coordinates (n, 3) of points (n, 3) in one of `link_frames`, (7,)."""
    turn = np.broadcast_to(rotation_matrices(frame[None, 3:]), (len(local), 3, 3))
    return np.asarray(frame[:3] + np.einsum("nij,nj->ni", turn, local))


class Placement(NamedTuple):
    """What of n shapes stays when they move."""

    links: dict[int, list[int]]  # whose frames are read: those with shapes, by body
    at: Int64Array  # (n,), the frame of each shape
    length: Float64Array  # (n,), of its axis, 0 for none
    has_axis: BoolArray  # (n,), whether its axis must not vanish
    limbs: Int64Array  # the shapes that become limbs: all but planes
    boxes: Int64Array  # the boxes among them
    planes: Int64Array
    of_planes: Int64Array  # their frames


def placement(shapes: Shapes) -> Placement:
    """The placement of the shapes of a client."""
    used, at = np.unique(shapes.place, return_inverse=True)
    is_long = (shapes.kind == CYLINDER) | (shapes.kind == CAPSULE)
    planes = np.flatnonzero(shapes.kind == PLANE)
    return Placement(
        by_body(shapes.places[k] for k in used.tolist()),
        at.astype(np.int64),
        np.where(is_long, shapes.size[:, 0], 0.0),
        shapes.kind == CYLINDER,
        np.flatnonzero(shapes.kind != PLANE),
        np.flatnonzero(shapes.kind == BOX),
        planes,
        at[planes],
    )


def posed(client: Client, shapes: Shapes, fixed: Placement, frames: Float64Array) -> Posed:
    """Every shape at the frame of its place times its local frame.

    Raises
    ------
    ValueError
        For a pose that is not finite, or so far out that an axis vanishes; it names body and link.
    """
    n = len(shapes.kind)
    made = Posed(*map(np.empty, ((n, 3), (n, 4), (n, 3, 3), (n, 3), (n, 3))))
    row = pose_shapes(frames, fixed.at, shapes.position, shapes.rotation, fixed.length, fixed.has_axis, made)
    if row != EVERY_SHAPE_FITS:
        place = shapes.places[shapes.place[row]]
        raise ValueError(
            f"{client.body_name(place.body)}, link {place.link}: expected a finite pose in which the shape keeps its "
            f"size, got position {made.position[row].tolist()}, orientation {made.rotation[row].tolist()}; give "
            "the body another by resetBasePositionAndOrientation, or remove it"
        )
    return made


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
            turn = made.rotation[rows][own]
            parts.append(Limbs.boxes(p1[own], turn, size[own] / 2.0, mask=label))
        elif code == CYLINDER:
            parts.append(Limbs.cylinders(p1[own], p2[own], size[own, 1], mask=label))
        else:
            parts.append(Limbs.capsules(p1[own], p2[own], size[own, 1], mask=label))
    return Limbs.concat(parts)[order]


def moved_limbs(limbs: Limbs, made: Posed, fixed: Placement) -> Limbs:
    """The limbs that `limbs_of` made of the same shapes, elsewhere: ends and axes anew, all else as it was."""
    t, boxes = limbs.table, limbs.table.boxes.copy()
    boxes[:, :9] = made.turn[fixed.boxes].transpose(0, 2, 1).reshape(-1, 9)
    p1, p2 = made.p1[fixed.limbs], made.p2[fixed.limbs]
    moved = make_table(t.kind, p1, p2, t.radius, t.radius2, t.box, boxes, t.character, t.mask)
    return Limbs(moved, limbs.hit_group, limbs.names)


def sheets_of(shapes: Shapes, made: Posed, fixed: Placement) -> list[Sheet]:
    """The planes at their frames."""
    normals = np.einsum("nij,nj->ni", made.turn[fixed.planes], shapes.size[fixed.planes])
    points = made.position[fixed.planes]
    return [
        Sheet((p[0], p[1], p[2]), (n[0], n[1], n[2])) for p, n in zip(points.tolist(), normals.tolist(), strict=True)
    ]
