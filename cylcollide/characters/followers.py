"""The bones of a rig that follow those of a clip, by name; and warnings of moving bones that are left out."""

import warnings
from collections.abc import Sequence

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.bones.frames import Followers
from cylcollide.characters import quaternions
from cylcollide.characters.skeleton import Skeleton

STILL = 1e-6
"""Bones whose quaternion components stay within this distance of the first frame's do not move."""

SHOWN = 12
"""Largest number of names in a message."""


def moving(root_positions: Float64Array, turns: Float64Array) -> list[int]:
    """The bones that move in the frames of `pose_frames`, the root also by its path; all bones if none moves."""
    first = turns[:1]
    near = np.where(quaternions.dot(turns, first) < 0.0, -1.0, 1.0)[..., None]
    moves = np.abs(near * turns - first).max(axis=(0, 2)) > STILL
    moves[0] |= bool(np.ptp(root_positions, axis=0).any())
    return np.flatnonzero(moves if moves.any() else ~moves).tolist()


def of_rig(names: Sequence[str], root_positions: Float64Array, turns: Float64Array, rig: Skeleton) -> Followers:
    """The bones of a rig with names of a clip; a warning if these are fewer than half of the bones that move.

    ValueError if `rig` is no rig, or has none of the bones that move.
    """
    if not isinstance(rig, Skeleton):
        raise ValueError(f"rig: expected a Rig, got {type(rig).__name__}")
    row_of = {name: row for row, name in enumerate(names)}
    source = np.array([row_of.get(name, -1) for name in rig.bone_names], np.int32)
    moved = moving(root_positions, turns)
    _check(names, moved, [row for row in moved if row in set(source.tolist())], rig)
    rest = quaternions.normalised(rig.rest_orientations)
    of_root = np.flatnonzero(source == 0)
    if of_root.tolist() == [0] and (rig.parents[1:] >= 0).all():
        rest[0], of_root = quaternions.IDENTITY, of_root[:0]
    undone = quaternions.conjugate(rig._rest.orientations[of_root])
    return Followers(source, rest, undone, rig._rest.positions[of_root] - rig._rest.positions[0])


def _check(names: Sequence[str], moved: list[int], matched: list[int], rig: Skeleton) -> None:
    """Raise or warn if the rig lacks most of the bones that move; the rig's root follows the clip's in any case."""
    remedy = "rename the rig's bones"
    if not matched:
        raise ValueError(
            f"rig: expected some of the clip's bones {_listed([names[row] for row in moved])}, got "
            f"{_listed(rig.bone_names)}; {remedy}"
        )
    left_out = [row for row in moved if row not in matched and row != 0]
    if 2 * len(left_out) > len(moved):
        warnings.warn(
            f"clip: {len(left_out)} of {len(moved)} bones that move have no bone of their name in the rig and are left "
            f"out: {_listed([names[row] for row in left_out])}; {remedy}",
            UserWarning,
            stacklevel=5,
        )


def _listed(names: Sequence[str]) -> str:
    """The first names and the number of names, for a message."""
    return f"{', '.join(names[:SHOWN])} ({len(names)} in all)"
