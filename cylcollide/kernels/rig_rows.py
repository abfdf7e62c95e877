"""The limbs of a rig in the frames of their bones, and the loops that place them and that pose the bones."""

from typing import NamedTuple

from cylcollide._types import Float64Array, Int32Array
from cylcollide.constants import LARGEST_NUMBER, SMALLEST_SIZE
from cylcollide.kernels.bone import (
    Quaternion,
    carried,
    composed,
    largest_of_four,
    normalised,
    rescaled,
    rotation_of,
)
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.ray import as_vector, largest_component
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.entry_point import entry_point

ROOT = -1
"""The parent of a bone that has none."""

ORIGIN = (0.0, 0.0, 0.0)


class RigRows(NamedTuple):
    """The m limbs of a rig in the frames of their bones. Never changed once in use."""

    bone: Int32Array  # (m,)
    p1: Float64Array  # (m, 3); the centre of a sphere or box
    p2: Float64Array  # (m, 3)
    box: Int32Array  # (m,): row of `boxes`, -1 for other shapes
    boxes: Float64Array  # (b, 12): three axes, three half extents, as in `LimbTable`


class BoneRows(NamedTuple):
    """The skeleton of a rig. Never changed once in use."""

    parents: Int32Array  # (bones,): -1 for a root; parents precede their children
    offsets: Float64Array  # (bones, 3): in the parent's frame; of a root, in the frame of the character


@inlined
def in_range(v: Vector) -> bool:
    """Whether all three are finite and in the accepted range."""
    return (abs(v[0]) <= LARGEST_NUMBER) & (abs(v[1]) <= LARGEST_NUMBER) & (abs(v[2]) <= LARGEST_NUMBER)


@inlined
def is_quaternion(q: Quaternion) -> bool:
    """Whether all four are finite and in the accepted range, and the largest is not too small."""
    return in_range((q[0], q[1], q[2])) & (abs(q[3]) <= LARGEST_NUMBER) & (largest_of_four(q) >= SMALLEST_SIZE)


@inlined
def as_quaternion(rows: Float64Array, i: int) -> Quaternion:
    """Row i of an (n, 4) array."""
    return rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3]


@inlined
def keeps_axis(local1: Vector, local2: Vector, a: Vector, b: Vector) -> bool:
    """Whether a limb with these ends in its bone's frame has an axis from a to b in the world, if it has one there."""
    has_none = (local1[0] == local2[0]) & (local1[1] == local2[1]) & (local1[2] == local2[2])
    return has_none | (largest_component((b[0] - a[0], b[1] - a[1], b[2] - a[2])) >= SMALLEST_SIZE)


@entry_point(reads_all=True)
def place_limbs(
    rig: RigRows,
    positions: Float64Array,
    orientations: Float64Array,
    p1: Float64Array,
    p2: Float64Array,
    boxes: Float64Array,
) -> int:
    """Write the limbs of k characters of m limbs and b boxes, one character after another.

    Parameters
    ----------
    rig
        The limbs in the frames of their bones.
    positions, orientations
        The bones in the world, (k, bones, 3) and (k, bones, 4), quaternions x, y, z, w of any length but 0; any
        numbers, checked here.
    p1, p2, boxes
        Results, (k m, 3) twice and (k b, 12).

    Returns
    -------
    int
        The first character with a bone that has no accepted numbers, or with a limb that is none in the world: an end
        beyond 2**500, or an axis that has become too short; -1 if there is none. After such a one nothing is written.
    """
    limbs, solids = rig.bone.size, rig.boxes.shape[0]
    for character in range(positions.shape[0]):
        at, turn, first = positions[character], orientations[character], character * limbs
        valid = True
        for bone in range(at.shape[0]):
            valid &= in_range(as_vector(at, bone)) & is_quaternion(as_quaternion(turn, bone))
        if not valid:
            return character
        for i in range(limbs):
            bone = rig.bone[i]
            if i == 0 or bone != rig.bone[i - 1]:
                origin, rotation = as_vector(at, bone), rotation_of(as_quaternion(turn, bone))
            local1, local2 = as_vector(rig.p1, i), as_vector(rig.p2, i)
            a, b = carried(rotation, origin, local1), carried(rotation, origin, local2)
            valid &= in_range(a) & in_range(b) & keeps_axis(local1, local2, a, b)
            for k in range(3):
                p1[first + i, k], p2[first + i, k] = a[k], b[k]
            if rig.box[i] >= 0:
                row, local = boxes[character * solids + rig.box[i]], rig.boxes[rig.box[i]]
                for j in range(0, 9, 3):
                    side = carried(rotation, ORIGIN, (local[j], local[j + 1], local[j + 2]))
                    row[j], row[j + 1], row[j + 2] = side
                    row[9 + j // 3] = local[9 + j // 3]
        if not valid:
            return character
    return -1


@entry_point(reads_all=True)
def pose_bones(
    skeleton: BoneRows,
    root_positions: Float64Array,
    root_orientations: Float64Array,
    joint_orientations: Float64Array,
    positions: Float64Array,
    orientations: Float64Array,
) -> int:
    """Write the bones of k characters in the world, from their joints.

    Parameters
    ----------
    skeleton
        Parents and offsets.
    root_positions, root_orientations, joint_orientations
        Where the first root is, (k, 3); how the character is turned, (k, 4), and each bone in its parent's frame,
        (k, bones, 4), quaternions x, y, z, w of any length but 0; any numbers, checked here.
    positions, orientations
        Results, (k, bones, 3) and (k, bones, 4), of length 1.

    Returns
    -------
    int
        The first character with numbers that are not accepted, or a bone beyond 2**500; -1 if there is none. After such
        a one nothing is written.
    """
    for character in range(joint_orientations.shape[0]):
        joints, at, turn = joint_orientations[character], positions[character], orientations[character]
        root, root_turn = as_vector(root_positions, character), as_quaternion(root_orientations, character)
        valid = in_range(root) & is_quaternion(root_turn)
        for bone in range(joints.shape[0]):
            valid &= is_quaternion(as_quaternion(joints, bone))
        if not valid:
            return character
        root_turn = rescaled(root_turn)
        for bone in range(joints.shape[0]):
            parent, origin, parent_turn = skeleton.parents[bone], root, root_turn
            if parent != ROOT:
                origin, parent_turn = as_vector(at, parent), as_quaternion(turn, parent)
            place = carried(rotation_of(parent_turn), origin, as_vector(skeleton.offsets, bone))
            q = normalised(composed(parent_turn, rescaled(as_quaternion(joints, bone))))
            at[bone, 0], at[bone, 1], at[bone, 2] = place
            turn[bone, 0], turn[bone, 1], turn[bone, 2], turn[bone, 3] = q
            valid &= in_range(place)
        if not valid:
            return character
    return -1
