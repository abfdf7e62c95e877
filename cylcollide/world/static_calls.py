"""Methods of a world for statics: solids that belong to no character."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace

from numpy.typing import ArrayLike

from cylcollide._types import Int32Array
from cylcollide.bones.rig_rows import Parts
from cylcollide.limbs.limbs import Limbs
from cylcollide.world.in_place import Present
from cylcollide.world.observers import ChangeLock, ObservedQueries
from cylcollide.world.pose_columns import PoseColumns
from cylcollide.world.poses import OwnerPoses, StaticPose
from cylcollide.world.roster import Roster
from cylcollide.world.statics import labelled


class StaticCalls(ObservedQueries):
    """Methods that add, move and remove statics; their rows follow those of all characters."""

    _present: Present
    _lock: ChangeLock

    @abstractmethod
    def _move(self, changed: Parts, write: Callable[[PoseColumns], None], roster: Roster | None = None) -> None: ...

    @abstractmethod
    def _restructure(self, roster: Roster, poses: OwnerPoses | None) -> None: ...

    @property
    def statics(self) -> Int32Array:
        """Handles of the statics, ascending; int32 (s,)."""
        return self._present.roster.statics.handles.copy()

    def add_static(self, limbs: Limbs, *, mask: ArrayLike | None = None, hit_group: ArrayLike | None = None) -> int:
        """Add solids that belong to no character: walls, doors, lifts.

        Parameters
        ----------
        limbs
            The solids at their present places. `move_static` moves them together: it places the
            frame in which they are given.
        mask, hit_group
            Replacements for those of the limbs, (n,) or one for all; None keeps those of the limbs.

        Returns
        -------
        int
            The handle: 0, 1, 2 …; no handle is used twice.

        Raises
        ------
        ValueError
            If `limbs` are not Limbs or belong to a character, and on a bad mask or group; the world
            stays as it was.
        """
        with self._lock.changing():
            before = self._present.roster
            own, handle = labelled(limbs, mask, hit_group), before.statics.next_handle
            statics = before.statics.with_one(own)
            at_rest = StaticPose.of(len(statics.handles) - 1, [0, 0, 0], [0, 0, 0, 1])
            self._restructure(replace(before, statics=statics), at_rest)
            self._lock.notify("add_static", limbs=own, handle=handle)
            return handle

    def move_static(self, handle: int, position: ArrayLike, orientation: ArrayLike) -> None:
        """Place the frame in which a static's limbs were given: position (3,), orientation (4,).

        The orientation is a quaternion x, y, z, w of any length but 0. In a history the static
        stays where it was until the next tick.

        Raises
        ------
        ValueError
            On an unknown or removed handle, and if numbers of the pose, or of the limbs in that
            pose, are not accepted; the world stays as it was.
        """
        with self._lock.changing():
            roster, layout = self._present.roster, self._present.layout
            pose = StaticPose.of(roster.statics.place_of(handle), position, orientation)
            self._move(pose.changed(roster, layout), lambda columns: pose.write(columns, roster, layout))
            place = {"position": pose.position[0], "orientation": pose.orientation[0]}
            self._lock.notify("move_static", handle=int(handle), **place)

    def remove_static(self, handle: int) -> None:
        """Remove a static; no handle is used twice.

        Raises
        ------
        ValueError
            On an unknown or removed handle; the world stays as it was.
        """
        with self._lock.changing():
            before = self._present.roster
            statics = before.statics.without(before.statics.place_of(handle))
            self._restructure(replace(before, statics=statics), None)
            self._lock.notify("remove_static", handle=int(handle))
