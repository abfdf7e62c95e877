"""The bones of a rig as a tree, and the loop that poses them by their joints."""

import numpy as np

from cylcollide._types import Blocks, Column, Float64Array, Quaternions, Vectors
from cylcollide.bones.bone import Quaternion, carried, composed, normalised, rescaled, rotation_of
from cylcollide.bones.bone_rows import (
    ALL_EIGHT,
    EIGHT,
    as_quaternion,
    in_range,
    is_quaternion,
    quaternions_at,
    vectors_at,
)
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.ray import as_vector
from cylcollide.runtime.compile import compiled, compiled_loop
from cylcollide.runtime.simd import LANES, lane, movemask

ROOT = -1
"""The parent of a bone that has none."""


@compiled
def _pose_character(
    parents: Column[np.int32],
    root: Vector,
    root_turn: Quaternion,
    offsets: Float64Array,
    joints: Float64Array,
    at: Float64Array,
    turn: Float64Array,
) -> bool:
    """Write the bones of one character; returns whether all its numbers are accepted, and all bones in range.

    A root's parent is the character itself, at the position `root` with the orientation `root_turn`.
    """
    valid = in_range(root) & is_quaternion(root_turn)
    for bone in range(joints.shape[0]):
        valid &= is_quaternion(as_quaternion(joints, bone))
    if not valid:
        return False
    root_turn = rescaled(root_turn)
    for bone in range(joints.shape[0]):
        parent, origin, parent_turn = parents[bone], root, root_turn
        if parent != ROOT:
            origin, parent_turn = as_vector(at, parent), as_quaternion(turn, parent)
        place = carried(rotation_of(parent_turn), origin, as_vector(offsets, bone))
        q = normalised(composed(parent_turn, rescaled(as_quaternion(joints, bone))))
        at[bone, 0], at[bone, 1], at[bone, 2] = place
        turn[bone, 0], turn[bone, 1], turn[bone, 2], turn[bone, 3] = q
        valid &= in_range(place)
    return valid


@compiled
def _pose_eight(
    parents: Column[np.int32],
    roots: Float64Array,
    root_turns: Float64Array,
    offsets: Float64Array,
    joints: Float64Array,
    at: Float64Array,
    turn: Float64Array,
) -> bool:
    """`_pose_character` for eight characters side by side; each array begins with the first of them."""
    bones = joints.shape[1]
    apart = bones if offsets.shape[0] > 1 else 0  # one character's offsets may stand for all
    root, root_turn = vectors_at(roots, EIGHT, 0, 1, 0), quaternions_at(root_turns, EIGHT, 0, 1, 0)
    valid = in_range(root) & is_quaternion(root_turn)
    for bone in range(bones):
        valid = valid & is_quaternion(quaternions_at(joints, EIGHT, 0, bones, bone))
    if movemask(valid) != ALL_EIGHT:
        return False
    root_turn = rescaled(root_turn)
    for bone in range(bones):
        parent, origin, parent_turn = parents[bone], root, root_turn
        if parent != ROOT:
            origin = vectors_at(at, EIGHT, 0, bones, parent)
            parent_turn = quaternions_at(turn, EIGHT, 0, bones, parent)
        place = carried(rotation_of(parent_turn), origin, vectors_at(offsets, EIGHT, 0, apart, bone))
        joint = rescaled(quaternions_at(joints, EIGHT, 0, bones, bone))
        q = normalised(composed(parent_turn, joint))
        for c in range(LANES):
            at[c, bone, 0], at[c, bone, 1], at[c, bone, 2] = lane(place[0], c), lane(place[1], c), lane(place[2], c)
            turn[c, bone, 0], turn[c, bone, 1] = lane(q[0], c), lane(q[1], c)
            turn[c, bone, 2], turn[c, bone, 3] = lane(q[2], c), lane(q[3], c)
        valid = valid & in_range(place)
    return movemask(valid) == ALL_EIGHT


@compiled_loop
def pose_bones(
    parents: Column[np.int32],
    root_positions: Vectors,
    root_orientations: Quaternions,
    offsets: Blocks[np.float64],
    joint_orientations: Blocks[np.float64],
    positions: Blocks[np.float64],
    orientations: Blocks[np.float64],
) -> int:
    """Write the bones of k characters in the world: positions and orientations of length 1, (k, bones, ...).

    Returns the first character with numbers that are not accepted, or a bone beyond 2**500; -1 if there is none. Its
    results and those of later characters are undefined.

    Parents (bones,) precede their children; -1 is a root. The first root is at `root_positions` (k, 3), the character
    turned by `root_orientations` (k, 4). Each bone is at an offset in its parent's frame, a root in that of the
    character, (k, bones, 3), or (1, bones, 3) for all; it is turned there by `joint_orientations` (k, bones, 4).
    Quaternions are x, y, z, w of any length but 0. Offsets are accepted numbers; all others are checked here.
    """
    k, first, one_for_all = joint_orientations.shape[0], 0, offsets.shape[0] == 1
    while first + LANES <= k and _pose_eight(
        parents,
        root_positions[first:],
        root_orientations[first:],
        offsets if one_for_all else offsets[first:],
        joint_orientations[first:],
        positions[first:],
        orientations[first:],
    ):
        first += LANES
    for i in range(first, k):
        root, turn = as_vector(root_positions, i), as_quaternion(root_orientations, i)
        own = offsets[0 if one_for_all else i]
        if not _pose_character(parents, root, turn, own, joint_orientations[i], positions[i], orientations[i]):
            return i
    return -1
