"""Poses of the shapes of a client, read in one pass, and the limbs made of them. All of it in float64.

PyBullet's own `multiplyTransforms` and `getQuaternionFromAxisAngle` round to float32, so they are not used here.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cylcollide._types import Float64Array, Int64Array, Uint32Array
from cylcollide.bullet.client import BASE, BodyLink, Client
from cylcollide.bullet.plane import Sheet
from cylcollide.bullet.pose_loops import (
    BOX,
    CAPSULE,
    CYLINDER,
    EVERY_SHAPE_FITS,
    PLANE,
    SPHERE,
    Posed,
    pose_shapes,
)
from cylcollide.bullet.read_shapes import Shapes
from cylcollide.bullet.tuples import Call, read_states
from cylcollide.limbs.limbs import Limbs
from cylcollide.shapes import rotation_matrices

FRAME = 7
"""Numbers of a frame: a position and a quaternion."""


def by_body(body_links: Iterable[BodyLink]) -> dict[int, list[int]]:
    """The links of each body, in the order of the links."""
    links: dict[int, list[int]] = {}
    for body, link in body_links:
        links.setdefault(body, []).append(link)
    return links


def frame_calls(client: Client, links: Mapping[int, list[int]]) -> tuple[Call, ...]:
    """The calls that read the frames of these links of each body, base first.

    PyBullet does not compute velocities of links then; it recomputes frames from joints.
    """
    calls, row, api, number = list[Call](), 0, client.api, client.number
    for body, of_body in links.items():
        others = [link for link in of_body if link != BASE]
        if len(others) < len(of_body):
            calls.append((api.getBasePositionAndOrientation, (body, number), row))
        if others:
            calls.append((api.getLinkStates, (body, others, 0, 1, number), row + len(of_body) - len(others)))
        row += len(of_body)
    return tuple(calls)


def link_frames(client: Client, links: Mapping[int, list[int]]) -> Float64Array:
    """The frames of the centres of mass of these links of each body, base first: positions and quaternions, (m, 7)."""
    frames = np.empty((sum(map(len, links.values())), FRAME))
    read_states(frame_calls(client, links), frames)
    return frames


def in_world(frame: Float64Array, *local: Float64Array) -> list[Float64Array]:
    """World coordinates (n, 3) of arrays of points (n, 3) in one of `link_frames`, (7,)."""
    turn = rotation_matrices(frame[None, 3:])[0]
    return [frame[:3] + np.einsum("ij,nj->ni", turn, points) for points in local]


def parent_frame(client: Client, parent: BodyLink) -> Float64Array:
    """The frame of the centre of mass of a link, (7,); ValueError for one that the client lacks."""
    try:
        if parent.link in client.links(parent.body):
            return np.asarray(link_frames(client, {parent.body: [parent.link]})[0])
    except client.api.error:
        if not client.api.isConnected(client.number):
            raise
    raise ValueError(
        f"parentObjectUniqueId, parentLinkIndex: expected a body and link of the client, got {tuple(parent)}; "
        "the base has link -1"
    )


@dataclass(frozen=True)
class Placement:
    """The data of n shapes that motion does not change."""

    links: dict[int, list[int]]  # links with shapes, by body: their frames are read
    calls: tuple[Call, ...]  # the calls that read these frames
    at: Int64Array  # (n,), the frame of each shape
    limbs: Int64Array  # the shapes that become limbs: all but planes
    boxes: int  # how many boxes are among them
    planes: Int64Array
    of_planes: Int64Array  # the frames of planes


def placement(client: Client, shapes: Shapes) -> Placement:
    """The placement of the shapes of a client."""
    used, at = np.unique(shapes.body_link, return_inverse=True)
    planes = np.flatnonzero(shapes.kind == PLANE)
    links = by_body(shapes.body_links[k] for k in used.tolist())
    return Placement(
        links,
        frame_calls(client, links),
        at.astype(np.int64),
        np.flatnonzero(shapes.kind != PLANE),
        int(np.count_nonzero(shapes.kind == BOX)),
        planes,
        at[planes],
    )


def pose(client: Client, shapes: Shapes, fixed: Placement, frames: Float64Array, made: Posed) -> None:
    """Place every shape at the frame of its link times its local frame.

    ValueError, naming body and link, for a pose that is not finite, or so far out that an axis vanishes.
    """
    row = pose_shapes(frames, fixed.at, shapes.kind, shapes.size, shapes.position, shapes.rotation, made)
    if row != EVERY_SHAPE_FITS:
        body, link = shapes.body_links[shapes.body_link[row]]
        raise ValueError(
            f"{client.body_name(body)}, link {link}: expected a finite pose in which the shape keeps "
            f"its size, got position {made.position[row].tolist()}, orientation {made.rotation[row].tolist()}; give "
            "the body another by resetBasePositionAndOrientation, or remove it"
        )


def limbs_of(shapes: Shapes, made: Posed, rows: Int64Array, groups: Uint32Array, names: Sequence[str]) -> Limbs:
    """The limbs of the shapes `rows` (m,), in this order; `groups`, `names` (m,): their filter groups and names."""
    p1, p2, kind, size = made.p1, made.p2, shapes.kind[rows], shapes.size[rows]
    order = np.argsort(np.argsort(kind, kind="stable"), kind="stable")
    parts = []
    for code in (SPHERE, BOX, CYLINDER, CAPSULE):  # ascending, as argsort has them
        own = np.flatnonzero(kind == code)
        mask, name = groups[own], [names[k] for k in own.tolist()]
        if code == SPHERE:
            parts.append(Limbs.spheres(p1[own], size[own, 0], mask=mask, name=name))
        elif code == BOX:
            parts.append(Limbs.boxes(p1[own], made.rotation[rows][own], size[own] / 2.0, mask=mask, name=name))
        else:
            make = Limbs.cylinders if code == CYLINDER else Limbs.capsules
            parts.append(make(p1[own], p2[own], size[own, 1], mask=mask, name=name))
    return Limbs.concat(parts)[order]


def sheets_of(shapes: Shapes, made: Posed, fixed: Placement) -> list[Sheet]:
    """The planes at their frames."""
    normals = np.einsum("nij,nj->ni", made.turn[fixed.planes], shapes.size[fixed.planes])
    points = made.position[fixed.planes]
    return [
        Sheet((p[0], p[1], p[2]), (n[0], n[1], n[2]), shapes.tolerance)
        for p, n in zip(points.tolist(), normals.tolist(), strict=True)
    ]
