"""Actors as characters of a world: one call reads the joints of all of them and sets their poses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from cylcollide._types import Float32Array, Int32Array
from cylcollide.characters.rig import Rig
from cylcollide.panda3d.joints import Joints, axis_factors, core, joints_of
from cylcollide.panda3d.skin import rest_of
from cylcollide.process.signatures import Shown
from cylcollide.world import HitWorld

SAME_REST = 2.0**10 * float(np.finfo(np.float32).eps)
"""Joints are bound in float32 matrices, multiplied down to them: what may differ, relative to all offsets together."""

Member: TypeAlias = tuple[Any, Rig, Joints]
"""An actor, its rig, and its joints, with the scale that it had when it joined."""


@dataclass(frozen=True)
class Group:
    """Characters with equally many bones b, and tables (PTA_LMatrix4f) of matrices, with their memory as arrays."""

    members: list[Joints]
    ids: Int32Array
    joint_table: Any
    joints: Float32Array  # (k, b, 4, 4), in the frame of the member
    member_table: Any
    places: Float32Array  # (k, 4, 4), in the scene
    factors: Float32Array  # (k, b, 3, 1): what makes unit axes, all right-handed, of the rows of the matrices


class Actors(metaclass=Shown):
    """Actors that are characters of a world, by ids.

    Parameters
    ----------
    world
        Where they are hit; one `Actors` a world.

    Notes
    -----
    Call `update` once a frame, behind what moves actors. It computes animations that Panda3D has
    not yet computed in this frame, so it also works on a server without a window.
    """

    def __init__(self, world: HitWorld) -> None:
        self.world = world
        self._members: dict[int, Member] = {}
        self._groups: list[Group] | None = None  # None: members were added or removed

    def add(self, actor: Any, rig: Rig, *, part: str = "modelRoot", lod: str = "lodRoot") -> int:
        """Let an actor be a character, hit once `update` was called; its id.

        TypeError if `actor` is no Actor. ValueError if its joints are not the bones of the rig, by
        names and order; if the rig was made for another scale or model; if it is
        mirrored or sheared.
        """
        found = joints_of(actor, part, lod)
        if tuple(found.names) != tuple(rig.bone_names):
            raise ValueError(
                f"the joints of actor {actor.getName()!r} are not the bones of the rig: it has {len(found.names)} "
                f"({', '.join(found.names[:3])}, ...), the rig {len(rig.bone_names)} "
                f"({', '.join(rig.bone_names[:3])}, ...); make the rig of this model, with rig_of(actor)"
            )
        _check_rest(actor, found, rig)
        character = int(self.world.spawn(rig)[0])
        self._members[character] = actor, rig, found
        self._groups = None
        return character

    def remove(self, character: int) -> None:
        """Let a character go; its actor stays as it is. KeyError if no actor has this id."""
        del self._members[character]
        self._groups = None
        self.world.despawn(character)

    def update(self, teleport: bool = False) -> None:
        """Read where all joints are, and set the poses of all characters.

        Parameters
        ----------
        teleport
            As `HitWorld.set_poses` takes it.

        Raises
        ------
        ValueError
            If an actor or a joint has another scale than when the actor joined: limbs keep their
            size. It names character, bone and the scale relative to that.
        """
        matrix = core.LMatrix4f()
        if self._groups is None:
            self._groups = _grouped({character: joints for character, (_, _, joints) in self._members.items()})
        for group in self._groups:
            put, row = group.joint_table.setElement, 0
            for k, member in enumerate(group.members):
                node = member.character
                node.node().update()
                group.member_table.setElement(k, node.getNetTransform().getMat())
                for joint in member.joints:
                    joint.getNetTransform(matrix)
                    put(row, matrix)
                    row += 1
            in_scene = group.joints.reshape(len(group.ids), -1, 4) @ group.places.astype(np.float64)
            net = in_scene.reshape(group.joints.shape)
            net[..., :3, :3] *= group.factors
            self.world.set_pose_matrices(group.ids, net, order="column", teleport=teleport)

    def actor(self, character: int) -> Any:
        """The actor that is this character; None if there is none."""
        return self._members[character][0] if character in self._members else None

    def joint(self, character: int, rig_limb: int) -> str:
        """The joint that carries a limb of a character: `hits.character[i]`, `hits.rig_limb[i]`.

        The method exposeJoint of the actor gives its node. KeyError if no actor has this id.
        """
        rig = self._members[character][1]
        return str(rig.bone_names[int(rig.limb_bone[rig_limb])])


def _check_rest(actor: Any, found: Joints, rig: Rig) -> None:
    """Raise a ValueError unless the bones of a rig rest where the joints were bound, in the scale of the actor."""
    bound, rest = rest_of(found)[0], rig.rest_positions
    size = float(np.linalg.norm(bound))
    if float(np.linalg.norm(bound - rest)) <= SAME_REST * size:
        return
    made_for = found.scale * float(np.linalg.norm(rest)) / size if size else 0.0
    raise ValueError(
        f"the rig rests elsewhere than actor {actor.getName()!r}: expected a rig for scale {found.scale:.6g}, which "
        f"it has, got one for scale {made_for:.6g}, or of another model; make a rig for each, with rig_of(actor)"
    )


def _grouped(members: Mapping[int, Joints]) -> list[Group]:
    """Characters by their number of bones."""
    groups = []
    for bones in sorted({len(joints.joints) for joints in members.values()}):
        ids = [character for character, joints in members.items() if len(joints.joints) == bones]
        same = [members[character] for character in ids]
        tables = [core.PTA_LMatrix4f.emptyArray(n) for n in (len(same) * bones, len(same))]
        joints, places = (np.frombuffer(table, np.float32).reshape(-1, 4, 4) for table in tables)
        factors = axis_factors(np.array([member.scale * member.sizes for member in same])).astype(np.float32)
        rows = np.array(ids, np.int32)
        groups.append(Group(same, rows, tables[0], joints.reshape(-1, bones, 4, 4), tables[1], places, factors))
    return groups
