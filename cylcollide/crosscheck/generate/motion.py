"""Recorded motions of PyBullet's humanoid, and their pose at any time; `characters.deepmimic` reads the files.

Between two frames positions and angles are linear and rotations follow ``getQuaternionSlerp``, the short way round. A
motion that wraps begins again at its end, and its root moves on by the way from the first frame to the last with every
turn, as DeepMimic's PyBullet environment has it; a motion that does not wrap stays in its first or last frame outside
its duration.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cylcollide._pybullet import data_folder, pybullet
from cylcollide._types import Float64Array
from cylcollide.characters import deepmimic, keyframes
from cylcollide.characters.deepmimic import ROOT_COLUMNS, Recording

PREFIX = "humanoid3d_"

JointValue = tuple[float, ...]
"""A ball joint's quaternion x, y, z, w or a hinge's angle in radians, as ``resetJointStatesMultiDof`` takes it."""


@dataclass(frozen=True)
class RootPose:
    """Where the character's root is: position in metres, (3,), and quaternion x, y, z, w."""

    position: Float64Array
    orientation: JointValue


class Motion(Recording):
    """One recorded motion."""

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
        self.check_columns(sum(joint_widths))
        between = keyframes.locate(self.times, np.asarray(time, dtype=np.float64), self.wraps)
        share = float(between.share)
        a, b = self.frames[between.first], self.frames[between.second]
        root = RootPose(a[1:4] + share * (b[1:4] - a[1:4]) + between.turns * self.travel, _slerp(a[4:8], b[4:8], share))
        joints, column = [], ROOT_COLUMNS
        for width in joint_widths:
            here = slice(column, column + width)
            joints.append(_slerp(a[here], b[here], share) if width == 4 else _lerp(a[here], b[here], share))
            column += width
        return root, joints


def load_motions(folder: Path | None = None) -> dict[str, Motion]:
    """Read every motion of PyBullet's humanoid, by short name ("walk", "backflip", ...), in alphabetical order.

    Raises
    ------
    FileNotFoundError
        If the folder holds no ``humanoid3d_*.txt``.
    ValueError
        If one of them is no motion.
    """
    folder = data_folder() / "data" / "motions" if folder is None else folder
    paths = sorted(folder.glob(f"{PREFIX}*.txt"))
    if not paths:
        raise FileNotFoundError(f"expected motions {PREFIX}*.txt in {folder}, found none; reinstall pybullet")
    recordings = map(deepmimic.read, paths)
    return {(name := r.name.removeprefix(PREFIX)): Motion(name, r.wraps, r.frames) for r in recordings}


def _slerp(a: Float64Array, b: Float64Array, share: float) -> JointValue:
    # The files' quaternions are not all of unit length: see deepmimic.SHORTEST.
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    q: JointValue = pybullet.getQuaternionSlerp(np.roll(a, -1).tolist(), np.roll(b, -1).tolist(), share)
    return q


def _lerp(a: Float64Array, b: Float64Array, share: float) -> JointValue:
    return tuple((a + share * (b - a)).tolist())
