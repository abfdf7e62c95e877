"""A live body as a rig. Bones are the frames of its links as URDF defines them, not their centres of mass."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from cylcollide import validate
from cylcollide._types import Float64Array, Shape
from cylcollide.bones.bone import Quaternion, carried, composed, normalised, rotation_of
from cylcollide.bullet.client import LINK_NAME, Client
from cylcollide.bullet.pose_loops import BOX, CAPSULE, CYLINDER, SPHERE
from cylcollide.bullet.poses import link_frames
from cylcollide.bullet.read_shapes import Row
from cylcollide.bullet.reader import new_bodies
from cylcollide.characters import rig_parts
from cylcollide.characters.rig import Rig
from cylcollide.characters.rig_parts import OtherShapes
from cylcollide.kernels.double_double import Vector
from cylcollide.limbs.limbs import Limbs

INERTIAL_POSITION, INERTIAL_ORIENTATION = 3, 4  # fields of getDynamicsInfo: the centre of mass in the frame of the link
PARENT_POSITION, PARENT_ORIENTATION, PARENT = 14, 15, 16  # fields of getJointInfo

Frame: TypeAlias = tuple[Vector, Quaternion]
ORIGIN, STILL = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)


def rig_of(client: Any, body: int, *, mesh: OtherShapes = "raise") -> Rig:
    """A body as a rig: a bone per link, the base first, a limb per collision shape; hit groups are 0.

    At rest all joints are at 0, and the frame of the base is that of the character. Bones have the
    names of the links, limbs those of their bones, with a number from the second limb on.

    Parameters
    ----------
    client
        What `pybullet.connect` returned, a `BulletClient`, or the module `pybullet` (client 0).
    body
        The number of the body.
    mesh
        The treatment of shapes that are not limbs (meshes, height fields, planes): "raise" a
        ValueError, or "skip" them.

    Raises
    ------
    ImportError
        Without pybullet: install the extra `crosscheck`.
    ValueError
        For a client that is not connected, an unknown body, and shapes that are not limbs; the
        message names the link.
    """
    validate.one_of(mesh, "mesh", "raise", "skip")
    bullet = Client(client)
    frames = _inertial_frames(bullet, _checked(bullet, body))
    names, parents = [_name(bullet.getBodyInfo(body)[0], "base", [])], [-1]
    rest: list[Frame] = [(ORIGIN, STILL)]
    for link in range(bullet.getNumJoints(body)):
        info = bullet.getJointInfo(body, link)
        names.append(_name(info[LINK_NAME], f"link_{link}", names))
        parents.append(info[PARENT] + 1)
        # The place of the joint from the parent's centre of mass; the turn from the link's principal axes, which are
        # turned in the link, back to those of the parent.
        place, turn = _within(frames[parents[-1]], info[PARENT_POSITION], _inverse(info[PARENT_ORIENTATION]))
        rest.append((place, normalised(composed(turn, _inverse(frames[link + 1][1])))))
    parts: list[tuple[int, Limbs]] = []
    for link, rows in new_bodies(bullet, [body])[body].rows.items():
        for row in (None,) if rows is None else rows:
            where = f"{bullet.body_name(body)}, link {link} ({names[link + 1]!r})"
            if row is not None and row[0] in SHAPES:
                parts.append((link + 1, _limb(row, frames[link + 1], where)))
            elif mesh == "raise":
                raise ValueError(
                    f"{where}: expected spheres, boxes, capsules and cylinders, got a mesh, a plane, or a shape that "
                    "PyBullet does not describe; load URDF cylinders and MJCF capsules with "
                    "flags=URDF_USE_IMPLICIT_CYLINDER, or leave such shapes out with mesh='skip'"
                )
    positions, orientations = (np.array(column) for column in zip(*rest, strict=True))
    return Rig(names, parents, positions, orientations, *rig_parts.limbs_of(parts, names))


def poses_of(client: Any, body: int) -> tuple[Float64Array, Float64Array]:
    """Present poses of the bones of `rig_of(client, body)`: float64 (1, b, 3), quaternions (1, b, 4).

    ImportError without pybullet: install the extra `crosscheck`. ValueError for a client that is
    not connected, or an unknown body.
    """
    bullet = Client(client)
    frames = _inertial_frames(bullet, _checked(bullet, body))
    masses = link_frames(bullet, {body: list(bullet.links(body))})
    positions, orientations = [], []
    for row, (inertial, axes) in zip(masses.tolist(), frames, strict=True):
        mass, turn = row[:3], row[3:]
        orientations.append(normalised(composed(turn, _inverse(axes))))
        positions.append(carried(rotation_of(orientations[-1]), mass, (-inertial[0], -inertial[1], -inertial[2])))
    return np.array([positions]), np.array([orientations])


def _checked(bullet: Client, body: int) -> int:
    """The number of the body; ValueError if the client has none."""
    if body not in bullet.bodies():
        raise ValueError(f"body: expected the number of a body of the client, {bullet.bodies()}, got {body!r}")
    return body


def _inertial_frames(bullet: Client, body: int) -> list[Frame]:
    """The centre of mass of base and links, in the frames of the links."""
    infos = [bullet.getDynamicsInfo(body, link) for link in bullet.links(body)]
    return [(info[INERTIAL_POSITION], info[INERTIAL_ORIENTATION]) for info in infos]


def _name(given: bytes, otherwise: str, taken: list[str]) -> str:
    """The name of a link; `otherwise` if it is empty or taken."""
    name = given.decode(errors="replace")
    return name if name and name not in taken else otherwise


def _inverse(turn: Quaternion) -> Quaternion:
    return -turn[0], -turn[1], -turn[2], turn[3]


def _within(frame: Frame, position: Vector, orientation: Quaternion) -> Frame:
    """A transform relative to `frame`, in the frame in which `frame` is given."""
    origin, turn = frame
    return carried(rotation_of(turn), origin, position), normalised(composed(turn, orientation))


SHAPES = {SPHERE: Shape.SPHERE, BOX: Shape.BOX, CYLINDER: Shape.CYLINDER, CAPSULE: Shape.CAPSULE}


def _limb(row: Row, frame: Frame, where: str) -> Limbs:
    """A shape as a limb in the frame of its bone, in which `frame` is the centre of mass."""
    kind, (a, b, c), position, orientation = row
    sizes = {SPHERE: (a,), BOX: (0.5 * a, 0.5 * b, 0.5 * c), CYLINDER: (b, a), CAPSULE: (b, a)}[kind]
    (x, y, z), (i, j, k, w) = position, orientation
    place, turn = _within(frame, (x, y, z), (i, j, k, w))
    return rig_parts.part(SHAPES[kind], place, turn, sizes, "", where)
