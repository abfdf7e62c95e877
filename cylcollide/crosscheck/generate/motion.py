"""Recorded motions of PyBullet's humanoid: the files ``humanoid3d_*.txt`` and their pose at any time.

A file is JSON: ``Loop`` ("wrap" or "none") and ``Frames``. A frame is its own duration in seconds, the root's position,
the root's rotation, then one rotation per joint in link order: a quaternion for a ball joint, an angle for a hinge.
Quaternions are written w first; this module returns PyBullet's order x, y, z, w. The y axis points up.

Between two frames positions and angles are linear and rotations follow ``getQuaternionSlerp``, the short way round. The
last frame only ends the motion: its own duration is not used. A motion that wraps begins again at its end, and its
root moves on by the way from the first frame to the last with every turn, as DeepMimic's PyBullet environment has it;
a motion that does not wrap stays in its first or last frame outside its duration.
"""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from cylcollide._pybullet import data_folder, pybullet
from cylcollide._types import Float64Array

ROOT_COLUMNS = 8
"""Columns of a frame before the first joint: duration, position, quaternion."""

PREFIX = "humanoid3d_"

JointValue = tuple[float, ...]
"""A ball joint's quaternion x, y, z, w or a hinge's angle in radians, as ``resetJointStatesMultiDof`` takes it."""


@dataclass(frozen=True)
class RootPose:
    """Where the character's root is: position in metres, (3,), and quaternion x, y, z, w."""

    position: Float64Array
    orientation: JointValue


@dataclass(frozen=True)
class Motion:
    """One recorded motion."""

    name: str
    wraps: bool
    frames: Float64Array  # (f, columns), as the file has them

    @cached_property
    def times(self) -> Float64Array:
        """When each frame is shown, in seconds from the first, (f,)."""
        return np.concatenate([[0.0], np.cumsum(self.frames[:-1, 0])])

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last."""
        return float(self.times[-1])

    def pose(self, time: float, joint_widths: tuple[int, ...]) -> tuple[RootPose, list[JointValue]]:
        """Return the root and the joints at ``time`` seconds.

        Parameters
        ----------
        time
            Seconds from the first frame; any finite number.
        joint_widths
            Columns of each joint in the order of the file: 4 for a quaternion, 1 for an angle.

        Raises
        ------
        ValueError
            If the joints do not fill a frame of the file exactly.
        """
        columns = ROOT_COLUMNS + sum(joint_widths)
        if columns != self.frames.shape[1]:
            raise ValueError(
                f"motion {self.name!r} has frames of {self.frames.shape[1]} numbers, expected {columns} for this "
                "character; give a motion recorded for it"
            )
        turns, time = self._into_duration(time)
        # The frame shown and the share of the way to the next one.
        i = int(np.clip(np.searchsorted(self.times, time, side="right") - 1, 0, len(self.times) - 2))
        share = float((time - self.times[i]) / (self.times[i + 1] - self.times[i]))
        a, b = self.frames[i], self.frames[i + 1]
        travelled = turns * (self.frames[-1, 1:4] - self.frames[0, 1:4])
        root = RootPose(a[1:4] + share * (b[1:4] - a[1:4]) + travelled, _slerp(a[4:8], b[4:8], share))
        joints, column = [], ROOT_COLUMNS
        for width in joint_widths:
            here = slice(column, column + width)
            joints.append(_slerp(a[here], b[here], share) if width == 4 else _lerp(a[here], b[here], share))
            column += width
        return root, joints

    def _into_duration(self, time: float) -> tuple[int, float]:
        if not self.wraps:
            return 0, min(max(time, 0.0), self.duration)
        turns = int(np.floor(time / self.duration))
        return turns, time - turns * self.duration


def load_motions(folder: Path | None = None) -> dict[str, Motion]:
    """Read every motion of PyBullet's humanoid, by short name ("walk", "backflip", ...), in alphabetical order.

    Raises
    ------
    FileNotFoundError
        If the folder holds no ``humanoid3d_*.txt``.
    """
    folder = data_folder() / "data" / "motions" if folder is None else folder
    paths = sorted(folder.glob(f"{PREFIX}*.txt"))
    if not paths:
        raise FileNotFoundError(f"expected motions {PREFIX}*.txt in {folder}, found none; reinstall pybullet")
    return {motion.name: motion for motion in map(_load, paths)}


def _load(path: Path) -> Motion:
    data = json.loads(path.read_text())
    return Motion(path.stem.removeprefix(PREFIX), data["Loop"] == "wrap", np.array(data["Frames"], dtype=np.float64))


def _slerp(a: Float64Array, b: Float64Array, share: float) -> JointValue:
    # The files' quaternions are rounded, some as far as 0.005 from unit length.
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    q: JointValue = pybullet.getQuaternionSlerp(np.roll(a, -1).tolist(), np.roll(b, -1).tolist(), share)
    return q


def _lerp(a: Float64Array, b: Float64Array, share: float) -> JointValue:
    return tuple((a + share * (b - a)).tolist())
