"""Actors as characters of a world: one call reads the joints of all of them and sets their poses."""

from typing import Any, NamedTuple

import numpy as np

from cylcollide._types import Float32Array, Float64Array
from cylcollide.characters import quaternions
from cylcollide.characters.rig import Rig
from cylcollide.panda3d.core import SAME_SCALE, array_of, core
from cylcollide.panda3d.joints import Joints, joints_of, right_handed
from cylcollide.world import HitWorld


class Member(NamedTuple):
    """An actor that is a character."""

    actor: Any
    rig: Rig
    character: int
    joints: Joints  # with the scale that the actor had when it joined


class Actors:
    """Actors that are characters of a world, by ids.

    Parameters
    ----------
    world
        Where they are hit; one `Actors` a world.

    Notes
    -----
    Call `update` once a frame, behind what moves actors. It computes animations that Panda3D has not yet computed in
    this frame, so it also works on a server without a window.
    """

    def __init__(self, world: HitWorld) -> None:
        self.world = world
        self._members: dict[int, Member] = {}
        self._rows: dict[int, tuple[list[Member], Any, Float32Array]] = {}  # by number of bones

    def add(self, actor: Any, rig: Rig, *, part: str = "modelRoot", lod: str = "lodRoot") -> int:
        """Let an actor be a character, hit once `update` was called; its id.

        Raises
        ------
        TypeError
            If `actor` is no Actor.
        ValueError
            If its joints are not the bones of the rig, by names and order; if it is mirrored or sheared.
        """
        found = joints_of(actor, part, lod)
        if tuple(found.names) != tuple(rig.bone_names):
            raise ValueError(
                f"the joints of actor {actor.getName()!r} are not the bones of the rig: it has {len(found.names)} "
                f"({', '.join(found.names[:3])}, ...), the rig {len(rig.bone_names)} "
                f"({', '.join(rig.bone_names[:3])}, ...); make the rig of this model, with rig_of(actor)"
            )
        character = int(self.world.spawn(rig)[0])
        self._members[character] = Member(actor, rig, character, found)
        self._rows.clear()
        return character

    def remove(self, character: int) -> None:
        """Let a character go; its actor stays as it is.

        Raises
        ------
        KeyError
            If no actor has this id.
        """
        del self._members[character]
        self._rows.clear()
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
            If an actor has another scale than when it joined, or a joint is scaled or sheared by its animation.
        """
        matrix = core.LMatrix4f()
        for members, table, joints in self._groups():
            put, row = table.setElement, 0
            for member in members:
                member.joints.character.node().update()
                for joint in member.joints.joints:
                    joint.getNetTransform(matrix)
                    put(row, matrix)
                    row += 1
            places = np.array([array_of(member.joints.character.getNetTransform().getMat()) for member in members])
            ids = np.array([member.character for member in members], np.int32)
            self.world.set_poses(ids, *_poses(members, joints.astype(np.float64) @ places[:, None]), teleport)

    def actor(self, character: int) -> Any:
        """The actor that is this character; None if there is none."""
        member = self._members.get(character)
        return member.actor if member else None

    def joint(self, character: int, rig_limb: int) -> str:
        """The name of the joint that carries a limb of a character: `hits.character[i]`, `hits.rig_limb[i]`.

        The method exposeJoint of the actor gives its node.

        Raises
        ------
        KeyError
            If no actor has this id.
        """
        rig = self._members[character].rig
        return str(rig.bone_names[int(rig.limb_bone[rig_limb])])

    def _groups(self) -> list[tuple[list[Member], Any, Float32Array]]:
        """Members with equally many bones, a table for their matrices, and that table as an array (k, b, 4, 4)."""
        if not self._rows:
            for member in self._members.values():
                self._rows.setdefault(len(member.rig.bone_names), ([], None, np.empty(0, np.float32)))[0].append(member)
            for bones, (members, _, _) in self._rows.items():
                table = core.PTA_LMatrix4f.emptyArray(len(members) * bones)
                self._rows[bones] = (members, table, np.frombuffer(table, np.float32).reshape(-1, bones, 4, 4))
        return list(self._rows.values())


def _poses(members: list[Member], net: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Positions (k, b, 3) and orientations (k, b, 4) of bones, out of matrices (k, b, 4, 4) of scaled joints."""
    axes = right_handed(net[..., :3, :3], np.array([member.joints.scale * member.joints.sizes for member in members]))
    off = np.abs(axes @ axes.swapaxes(-1, -2) - np.eye(3)).max(axis=(-1, -2))
    if not (off < 2.0 * SAME_SCALE).all():
        k, b = np.argwhere(~(off < 2.0 * SAME_SCALE))[0]
        lengths = np.linalg.norm(axes[k, b], axis=1).round(6).tolist()
        actor, _, character, found = members[k]
        raise ValueError(
            f"actor {actor.getName()!r} (character {character}), joint {found.names[b]!r}: "
            f"expected the scale that it had when it joined, got axes of lengths {lengths} times that; "
            "limbs keep their size, so make a rig for each scale"
        )
    return net[..., 3, :3], quaternions.of_matrices(axes.swapaxes(-1, -2))
