"""DeepMimic's motions: JSON files ``humanoid3d_*.txt``, and the skeleton for which they are recorded.

A file holds ``Loop`` ("wrap" or "none") and ``Frames``. A frame is its own duration in seconds, the root's position in
metres, the root's rotation, then one rotation per joint: a quaternion for a ball joint, an angle in radians about z for
a hinge. Quaternions are w, x, y, z. The y axis points up. The last frame only ends the motion: its own duration is not
used.
"""

import json
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from cylcollide import validate
from cylcollide._types import Float64Array, Int32Array
from cylcollide.characters import quaternions

ROOT_COLUMNS = 8
"""Columns of a frame before the first joint: duration, position, quaternion."""


SHORTEST, LONGEST = 0.5, 2.0
"""Accepted lengths of quaternions before normalisation: PyBullet's files have 0.58 to 1.12."""


@dataclass(frozen=True)
class Joint:
    """A bone of the humanoid."""

    name: str
    parent: str
    width: int  # columns of a frame: 4 for a ball joint's quaternion, 1 for a hinge's angle, 0 if it does not move
    offset: tuple[float, float, float]  # from the parent, in metres


HUMANOID = (
    Joint("chest", "root", 4, (0.0, 0.236151, 0.0)),
    Joint("neck", "chest", 4, (0.0, 0.223894, 0.0)),
    Joint("right_hip", "root", 4, (0.0, 0.0, 0.084887)),
    Joint("right_knee", "right_hip", 1, (0.0, -0.421546, 0.0)),
    Joint("right_ankle", "right_knee", 4, (0.0, -0.40987, 0.0)),
    Joint("right_shoulder", "chest", 4, (-0.02405, 0.2435, 0.18311)),
    Joint("right_elbow", "right_shoulder", 1, (0.0, -0.274788, 0.0)),
    Joint("right_wrist", "right_elbow", 0, (0.0, -0.258947, 0.0)),
    Joint("left_hip", "root", 4, (0.0, 0.0, -0.084887)),
    Joint("left_knee", "left_hip", 1, (0.0, -0.421546, 0.0)),
    Joint("left_ankle", "left_knee", 4, (0.0, -0.40987, 0.0)),
    Joint("left_shoulder", "chest", 4, (-0.02405, 0.2435, -0.18311)),
    Joint("left_elbow", "left_shoulder", 1, (0.0, -0.274788, 0.0)),
    Joint("left_wrist", "left_elbow", 0, (0.0, -0.258947, 0.0)),
)
"""The joints in the order of the files, after the root. Offsets are those of PyBullet's humanoid, at life size."""

BONE_NAMES = ("root", *(joint.name for joint in HUMANOID))
PARENTS: Int32Array = np.array([-1, *(BONE_NAMES.index(joint.parent) for joint in HUMANOID)], dtype=np.int32)
OFFSETS = np.array([(0.0, 0.0, 0.0), *(joint.offset for joint in HUMANOID)])


@dataclass(frozen=True)
class Recording:
    """The frames of a file."""

    name: str
    wraps: bool
    frames: Float64Array  # (f, columns), as in the file

    @cached_property
    def times(self) -> Float64Array:
        """The time of each frame, in seconds from the first, (f,)."""
        return np.concatenate([[0.0], np.cumsum(self.frames[:-1, 0])])

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last."""
        return float(self.times[-1])

    @property
    def travel(self) -> Float64Array:
        """The displacement of the root from the first frame to the last, (3,)."""
        return np.asarray(self.frames[-1, 1:4] - self.frames[0, 1:4])

    def check_columns(self, joint_columns: int) -> None:
        """Raise ValueError unless the joints of a character fill a frame exactly."""
        columns = ROOT_COLUMNS + joint_columns
        if columns != self.frames.shape[1]:
            raise ValueError(
                f"motion {self.name!r} has frames of {self.frames.shape[1]} numbers, expected {columns} for this "
                "character; give a motion recorded for it"
            )


def read(path: str | PathLike[str]) -> Recording:
    """Read a file; errors as of `Clip.load_deepmimic`; they name the first bad frame."""
    file = Path(path)
    try:
        data: Any = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file}: expected JSON, got something else ({error}); fetch the file again") from None
    if not isinstance(data, dict) or not {"Loop", "Frames"} <= set(data):
        raise ValueError(f"{file}: expected an object with Loop and Frames; give one of DeepMimic's motion files")
    if data["Loop"] not in ("wrap", "none"):
        raise ValueError(f"{file}: Loop: expected 'wrap' or 'none', got {str(data['Loop'])[:60]!r}; correct it")
    rows = data["Frames"]
    if not isinstance(rows, list) or not rows or not all(isinstance(row, list) for row in rows):
        raise ValueError(f"{file}: Frames: expected a list of one or more lists of numbers; correct it")
    for number, row in enumerate(rows):
        if len(row) != len(rows[0]) or len(row) < ROOT_COLUMNS:
            raise ValueError(
                f"{file}: frame {number}: expected {max(len(rows[0]), ROOT_COLUMNS)} numbers, got {len(row)}; "
                "fetch the file again"
            )
    name = f"{file}: Frames"
    frames = validate.in_range(validate.as_float64(validate.as_numbers(rows, name, "(frames, columns)"), name), name)
    row = validate.first_bad_row(frames[:-1, 0] <= 0.0) if len(frames) > 1 else None
    if row is not None:
        raise ValueError(f"{file}: frame {row}: expected a duration > 0, got {frames[row, 0]}; leave the frame out")
    return Recording(file.stem, data["Loop"] == "wrap", frames)


def orientations(recording: Recording) -> Float64Array:
    """The humanoid's joint rotations in all frames, its root's first, quaternions x, y, z, w (f, 15, 4).

    ValueError if the frames are of another body, or a quaternion's length is far from 1.
    """
    recording.check_columns(sum(joint.width for joint in HUMANOID))
    turns = np.tile(quaternions.IDENTITY, (len(recording.frames), len(BONE_NAMES), 1))
    column = ROOT_COLUMNS - 4
    for bone, width in enumerate((4, *(joint.width for joint in HUMANOID))):
        values = recording.frames[:, column : column + width]
        if width == 4:
            length = np.linalg.norm(values, axis=1)
            row = validate.first_bad_row((length < SHORTEST) | (length > LONGEST))
            if row is not None:
                raise ValueError(
                    f"motion {recording.name!r}, frame {row}, columns from {column} on: expected a unit quaternion w, "
                    f"x, y, z, got {values[row].tolist()}; fetch the file again"
                )
            turns[:, bone] = quaternions.normalised(np.roll(values, -1, axis=1))
        elif width == 1:
            turns[:, bone] = quaternions.about_axis(2, values[:, 0])
        column += width
    return turns
