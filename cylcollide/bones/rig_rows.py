"""The limbs of a rig in the frames of their bones, and the loop that places them in the world."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cylcollide._types import Column, Quaternions, Rows, Vectors
from cylcollide.bones.bone import carried, rotation_of
from cylcollide.bones.bone_rows import ALL_EIGHT, as_quaternion, in_range, is_quaternion, quaternions_at, vectors_at
from cylcollide.constants import SMALLEST_SIZE
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.ray import as_vector, largest_component, subtract
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.memory import frozen
from cylcollide.runtime.simd import LANES, Truth, broadcast, lane, movemask, select

ORIGIN = (0.0, 0.0, 0.0)


class RigRows(NamedTuple):
    """The m limbs of a rig in the frames of their bones. Never changed once in use."""

    bone: Column[np.int32]  # (m,)
    p1: Vectors  # (m, 3); the centre of a sphere or box
    p2: Vectors  # (m, 3)
    box: Column[np.int32]  # (m,): row of `boxes`, -1 for other shapes
    boxes: Rows[np.float64]  # (b, 12): three axes, three half extents, as in `LimbTable`


@inlined
def is_placed(local1: Vector, local2: Vector, a: Vector, b: Vector) -> Truth:
    """Whether a limb with these local ends is valid from a to b: in range, and with an axis unless the ends are equal.

    Equal ends, as of a sphere, stay bit-equal, since they undergo the same operations.
    """
    has_none = (local1[0] == local2[0]) & (local1[1] == local2[1]) & (local1[2] == local2[2])
    least = select(has_none, 0.0, SMALLEST_SIZE)
    return in_range(a) & in_range(b) & (largest_component(subtract(b, a)) >= least)


class Parts(NamedTuple):
    """One column for each kind of rows: where those of each character begin, or the indices of some of them."""

    rows: Column[np.int32]  # of limbs
    boxes: Column[np.int32]
    bones: Column[np.int32]


class Bones(NamedTuple):
    """Bones in the world; their numbers need not be accepted ones."""

    positions: Vectors  # (·, 3)
    orientations: Quaternions  # (·, 4): quaternions x, y, z, w


class Placed(NamedTuple):
    """Columns of limbs in the world."""

    p1: Vectors  # (·, 3)
    p2: Vectors  # (·, 3)
    boxes: Rows[np.float64]  # (·, 12)


@compiled
def place_character(rig: RigRows, count: int, bones: Bones, first: Parts, c: int, placed: Placed) -> bool:
    """Write the limbs of character c; returns whether they are valid, and all its bones have accepted numbers."""
    (positions, orientations), valid = bones, True
    bone0, row0, box0 = first.bones[c], first.rows[c], first.boxes[c]
    for bone in range(bone0, bone0 + count):
        valid &= in_range(as_vector(positions, bone)) & is_quaternion(as_quaternion(orientations, bone))
    if not valid:
        return False
    for i in range(rig.bone.size):
        bone = bone0 + rig.bone[i]
        if i == 0 or rig.bone[i] != rig.bone[i - 1]:
            origin, rotation = as_vector(positions, bone), rotation_of(as_quaternion(orientations, bone))
        local1, local2 = as_vector(rig.p1, i), as_vector(rig.p2, i)
        a, b = carried(rotation, origin, local1), carried(rotation, origin, local2)
        valid &= is_placed(local1, local2, a, b)
        for k in range(3):
            placed.p1[row0 + i, k], placed.p2[row0 + i, k] = a[k], b[k]
        if rig.box[i] >= 0:
            row, local = placed.boxes[box0 + rig.box[i]], rig.boxes[rig.box[i]]
            for j in range(0, 9, 3):
                row[j], row[j + 1], row[j + 2] = carried(rotation, ORIGIN, (local[j], local[j + 1], local[j + 2]))
                row[9 + j // 3] = local[9 + j // 3]
    return valid


@compiled
def _place_eight(rig: RigRows, count: int, bones: Bones, first: Parts, c: int, placed: Placed) -> bool:
    """`place_character` for eight characters from c on, side by side."""
    (positions, orientations), valid = bones, broadcast(0.0) == 0.0
    for bone in range(count):
        valid = valid & in_range(vectors_at(positions, first.bones, c, 1, bone))
        valid = valid & is_quaternion(quaternions_at(orientations, first.bones, c, 1, bone))
    if movemask(valid) != ALL_EIGHT:
        return False
    for i in range(rig.bone.size):
        bone = rig.bone[i]
        if i == 0 or bone != rig.bone[i - 1]:
            origin = vectors_at(positions, first.bones, c, 1, bone)
            rotation = rotation_of(quaternions_at(orientations, first.bones, c, 1, bone))
        local1, local2 = as_vector(rig.p1, i), as_vector(rig.p2, i)
        a, b = carried(rotation, origin, local1), carried(rotation, origin, local2)
        valid = valid & is_placed(local1, local2, a, b)
        for j in range(LANES):
            limb = first.rows[c + j] + i
            for k in range(3):
                placed.p1[limb, k], placed.p2[limb, k] = lane(a[k], j), lane(b[k], j)
        if rig.box[i] >= 0:
            local = rig.boxes[rig.box[i]]
            for n in range(0, 9, 3):
                side = carried(rotation, ORIGIN, (local[n], local[n + 1], local[n + 2]))
                for j in range(LANES):
                    row = placed.boxes[first.boxes[c + j] + rig.box[i]]
                    row[n], row[n + 1], row[n + 2] = lane(side[0], j), lane(side[1], j), lane(side[2], j)
                    row[9 + n // 3] = local[9 + n // 3]
    return movemask(valid) == ALL_EIGHT


@compiled_loop
def place_limbs(rig: RigRows, count: int, bones: Bones, first: Parts, placed: Placed) -> int:
    """Write the limbs of k characters of one rig, with `count` bones each.

    Returns the first character with a number of a bone out of range, with an end of a limb beyond 2**500, or with an
    axis that has become too short; -1 if there is none. Its results and those of later characters are undefined.
    """
    c = 0
    while c + LANES <= first.rows.size and _place_eight(rig, count, bones, first, c, placed):
        c += LANES
    for k in range(c, first.rows.size):
        if not place_character(rig, count, bones, first, k, placed):
            return k
    return -1


NONE, NO_ENDS = np.empty(0, np.int32), np.empty((0, 3))
NO_LIMBS = RigRows(NONE, NO_ENDS, NO_ENDS, NONE, np.empty((0, 12)))


class StackedRigs(NamedTuple):
    """The rows of several rigs, one rig after another."""

    limbs: RigRows
    first_limb: Column[np.int64]  # (rigs + 1,): where the limbs of each begin
    first_box: Column[np.int64]  # (rigs + 1,)
    bones: Column[np.int64]  # (rigs,): number of bones of each


def stacked_rigs(rows: Sequence[RigRows], bones: Sequence[int]) -> StackedRigs:
    """The rows of these rigs, stacked; `bones` has the number of bones of each."""
    limbs = RigRows(*(frozen(np.concatenate(columns)) for columns in zip(NO_LIMBS, *rows, strict=True)))
    first_limb, first_box = np.zeros((2, len(rows) + 1), np.int64)
    np.cumsum([len(rig.bone) for rig in rows], out=first_limb[1:])
    np.cumsum([len(rig.boxes) for rig in rows], out=first_box[1:])
    return StackedRigs(limbs, frozen(first_limb), frozen(first_box), frozen(np.array(bones, np.int64)))


@compiled_loop
def place_limbs_of_rigs(rigs: StackedRigs, rig: Column[np.int64], bones: Bones, first: Parts, placed: Placed) -> int:
    """`place_limbs` of characters whose rigs are given by number, (k,)."""
    limbs = rigs.limbs
    for c in range(rig.size):
        a, b = rigs.first_limb[rig[c]], rigs.first_limb[rig[c] + 1]
        boxes = limbs.boxes[rigs.first_box[rig[c]] : rigs.first_box[rig[c] + 1]]
        one = RigRows(limbs.bone[a:b], limbs.p1[a:b], limbs.p2[a:b], limbs.box[a:b], boxes)
        if not place_character(one, rigs.bones[rig[c]], bones, first, c, placed):
            return c
    return -1
