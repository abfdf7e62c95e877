"""Actors as characters of a world: one call reads the joints of all of them and sets their poses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from cylcollide._types import Flags, Float32Array, Float64Array, Int32Array
from cylcollide.characters.rig import Rig
from cylcollide.panda3d.joints import Joints, axis_factors, core, joints_of
from cylcollide.panda3d.skin import rest_of
from cylcollide.process.signatures import Shown
from cylcollide.validate import is_integer, shown
from cylcollide.world import HitWorld
from cylcollide.world.poses import poses_by_matrices
from cylcollide.world.roster import as_jumps

SAME_REST = 2.0**10 * float(np.finfo(np.float32).eps)
"""Allowed difference of rest positions, relative to all offsets: joints are bound by products of float32 matrices."""

Member: TypeAlias = tuple[Any, Rig, Joints]
"""An actor, its rig, and its joints, with the scale that it had when it was added."""


@dataclass(frozen=True)
class Group:
    """Characters with the same number of bones b, and tables (PTA_LMatrix4f) of matrices, with their arrays."""

    members: list[Joints]
    ids: Int32Array
    joint_table: Any
    joints: Float32Array  # (k, b, 4, 4), in the frame of the member
    member_table: Any
    places: Float32Array  # (k, 4, 4), in the scene
    factors: Float32Array  # (k, b, 3, 1): turn the rows of matrices into right-handed unit axes


class Actors(metaclass=Shown):
    """Actors that are characters of a world, by ids.

    Parameters
    ----------
    world
        The world of their characters; one `Actors` per world.

    Raises
    ------
    ValueError
        If `world` is not a `HitWorld`.

    Notes
    -----
    Call `update` once a frame, after all that moves actors. It computes animations that Panda3D has
    not yet computed in this frame, so it also works on a server without a window.
    """

    def __init__(self, world: HitWorld) -> None:
        if not isinstance(world, HitWorld):
            raise ValueError(f"world: expected a HitWorld, got {type(world).__name__}")
        self.world = world
        self._members: dict[int, Member] = {}
        self._groups: list[Group] | None = None  # None: members were added or removed

    def add(self, actor: Any, rig: Rig, *, part: str = "modelRoot", lod: str = "lodRoot") -> int:
        """Add an actor as a character, hit from the next `update` on; returns its id.

        TypeError if `actor` is not an Actor. ValueError if `rig` is not a `Rig`; if its bones are
        not the actor's joints, by names and order; if it was made for another scale or model; if
        the actor is mirrored or sheared.
        """
        if not isinstance(rig, Rig):
            raise ValueError(f"rig: expected a Rig, got {type(rig).__name__}; make it with rig_of(actor)")
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
        """Remove a character; its actor stays as it is. KeyError if no actor has this id."""
        del self._members[character]
        self._groups = None
        self.world.despawn(character)

    def update(self, teleport: Flags = False) -> None:
        """Read the places of all joints, and set the poses of all characters.

        Parameters
        ----------
        teleport
            As `HitWorld.set_poses` takes it: one flag, or one for each character by ascending id.

        Raises
        ------
        ValueError
            If an actor or a joint has another scale than when the actor was added: limbs keep their
            size. The message has the character, the bone and the scale relative to that. All
            characters stay as they were.
        """
        if self._groups is None:
            self._groups = _grouped(self._members)
        jumps = np.broadcast_to(as_jumps(teleport, len(self._members)), len(self._members))
        given = [(group, _matrices_of(group)) for group in self._groups]
        for group, matrices in given[1:]:  # the world checks the first before anything changes
            self._check(group, matrices)
        for group, matrices in given:
            own = jumps[np.searchsorted(list(self._members), group.ids)]
            self.world.set_pose_matrices(group.ids, matrices, order="column", teleport=own)

    def _check(self, group: Group, matrices: Float64Array) -> None:
        """Raise a ValueError for matrices (k, b, 4, 4) that the world would refuse."""
        roster = self.world._present.roster
        bones = poses_by_matrices(roster, roster.index_of(group.ids), matrices, "column").bones
        for k, character in enumerate(group.ids.tolist()):
            own = slice(k * matrices.shape[1], (k + 1) * matrices.shape[1])
            self._members[character][1].place(bones.positions[None, own], bones.orientations[None, own])

    def actor(self, character: int) -> Any:
        """The actor that is this character; None if there is none."""
        return self._members[character][0] if character in self._members else None

    def joint(self, character: int, rig_limb: int) -> str:
        """The joint that carries a limb of a character: `hits.character[i]`, `hits.rig_limb[i]`.

        The method exposeJoint of the actor gives its node. KeyError if no actor has this id;
        ValueError if its rig has no such limb.
        """
        rig = self._members[character][1]
        if not is_integer(rig_limb) or not 0 <= rig_limb < len(rig.limbs):
            raise ValueError(f"rig_limb: expected one of {len(rig.limbs)} limbs from 0 on, got {shown(rig_limb)}")
        return str(rig.bone_names[int(rig.limb_bone[rig_limb])])


def _check_rest(actor: Any, found: Joints, rig: Rig) -> None:
    """Raise a ValueError unless a rig's rest positions are those of the bound joints, in the scale of the actor."""
    bound, rest = rest_of(found)[0], rig.rest_positions
    size = float(np.linalg.norm(bound))
    if float(np.linalg.norm(bound - rest)) <= SAME_REST * size:
        return
    made_for = found.scale * float(np.linalg.norm(rest)) / size if size else 0.0
    raise ValueError(
        f"the rig rests elsewhere than actor {actor.getName()!r}: expected a rig for scale {found.scale:.6g}, which "
        f"it has, got one for scale {made_for:.6g}, or of another model; make a rig for each, with rig_of(actor)"
    )


def _grouped(members: Mapping[int, Member]) -> list[Group]:
    """Groups of characters by number of bones."""
    groups = []
    for bones in sorted({len(joints.joints) for _, _, joints in members.values()}):
        ids = [character for character, (_, _, joints) in members.items() if len(joints.joints) == bones]
        same = [members[character][2] for character in ids]
        tables = [core.PTA_LMatrix4f.emptyArray(n) for n in (len(same) * bones, len(same))]
        joints, places = (np.frombuffer(table, np.float32).reshape(-1, 4, 4) for table in tables)
        factors = axis_factors(np.array([member.scale * member.sizes for member in same])).astype(np.float32)
        rows = np.array(ids, np.int32)
        groups.append(Group(same, rows, tables[0], joints.reshape(-1, bones, 4, 4), tables[1], places, factors))
    return groups


def _matrices_of(group: Group) -> Float64Array:
    """Matrices (k, b, 4, 4) of a group's joints in the scene, in Panda3D's convention, with axes of length 1."""
    matrix, put, row = core.LMatrix4f(), group.joint_table.setElement, 0
    for k, member in enumerate(group.members):
        node = member.character
        node.node().update()
        group.member_table.setElement(k, node.getNetTransform().getMat())
        for joint in member.joints:
            joint.getNetTransform(matrix)
            put(row, matrix)
            row += 1
    in_scene = group.joints.reshape(len(group.ids), -1, 4) @ group.places.astype(np.float64)
    net = np.asarray(in_scene.reshape(group.joints.shape), np.float64)
    net[..., :3, :3] *= group.factors
    return net
