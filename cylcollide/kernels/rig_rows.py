"""The limbs of a rig in the frames of their bones, and the loop that places them in the world."""

from typing import NamedTuple

from cylcollide._types import Float64Array, Int32Array
from cylcollide.constants import SMALLEST_SIZE
from cylcollide.kernels.bone import carried, rotation_of
from cylcollide.kernels.bone_rows import ALL_EIGHT, as_quaternion, in_range, is_quaternion, quaternions_at, vectors_at
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.ray import as_vector, largest_component
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.entry_point import entry_point
from cylcollide.runtime.simd import LANES, Truth, broadcast, lane, movemask, select

ORIGIN = (0.0, 0.0, 0.0)


class RigRows(NamedTuple):
    """The m limbs of a rig in the frames of their bones. Never changed once in use."""

    bone: Int32Array  # (m,)
    p1: Float64Array  # (m, 3); the centre of a sphere or box
    p2: Float64Array  # (m, 3)
    box: Int32Array  # (m,): row of `boxes`, -1 for other shapes
    boxes: Float64Array  # (b, 12): three axes, three half extents, as in `LimbTable`
    eight: Int32Array  # (8,): 0 to 7, the characters that are placed side by side


@inlined
def is_placed(local1: Vector, local2: Vector, a: Vector, b: Vector) -> Truth:
    """Whether a limb with these ends in its bone's frame is one from a to b: in range, and with an axis if it has one.

    Where both ends are the same, as of a sphere, they have the same bits after the same operations.
    """
    has_none = (local1[0] == local2[0]) & (local1[1] == local2[1]) & (local1[2] == local2[2])
    least = select(has_none, 0.0, SMALLEST_SIZE)
    return in_range(a) & in_range(b) & (largest_component((b[0] - a[0], b[1] - a[1], b[2] - a[2])) >= least)


@compiled
def _place_character(
    rig: RigRows, at: Float64Array, turn: Float64Array, p1: Float64Array, p2: Float64Array, boxes: Float64Array
) -> bool:
    """Write the limbs of one character; whether they are limbs, and all its bones have accepted numbers."""
    valid = True
    for bone in range(at.shape[0]):
        valid &= in_range(as_vector(at, bone)) & is_quaternion(as_quaternion(turn, bone))
    if not valid:
        return False
    for i in range(rig.bone.size):
        bone = rig.bone[i]
        if i == 0 or bone != rig.bone[i - 1]:
            origin, rotation = as_vector(at, bone), rotation_of(as_quaternion(turn, bone))
        local1, local2 = as_vector(rig.p1, i), as_vector(rig.p2, i)
        a, b = carried(rotation, origin, local1), carried(rotation, origin, local2)
        valid &= is_placed(local1, local2, a, b)
        for k in range(3):
            p1[i, k], p2[i, k] = a[k], b[k]
        if rig.box[i] >= 0:
            row, local = boxes[rig.box[i]], rig.boxes[rig.box[i]]
            for j in range(0, 9, 3):
                row[j], row[j + 1], row[j + 2] = carried(rotation, ORIGIN, (local[j], local[j + 1], local[j + 2]))
                row[9 + j // 3] = local[9 + j // 3]
    return valid


@compiled
def _place_eight(
    rig: RigRows, at: Float64Array, turn: Float64Array, p1: Float64Array, p2: Float64Array, boxes: Float64Array
) -> bool:
    """`_place_character` for eight characters side by side; each array begins with the first of them."""
    bones, limbs, solids = at.shape[1], rig.bone.size, rig.boxes.shape[0]
    valid = broadcast(0.0) == 0.0
    for bone in range(bones):
        place, quaternion = vectors_at(at, rig.eight, bones, bone), quaternions_at(turn, rig.eight, bones, bone)
        valid = valid & in_range(place) & is_quaternion(quaternion)
    if movemask(valid) != ALL_EIGHT:
        return False
    for i in range(limbs):
        bone = rig.bone[i]
        if i == 0 or bone != rig.bone[i - 1]:
            origin = vectors_at(at, rig.eight, bones, bone)
            rotation = rotation_of(quaternions_at(turn, rig.eight, bones, bone))
        local1, local2 = as_vector(rig.p1, i), as_vector(rig.p2, i)
        a, b = carried(rotation, origin, local1), carried(rotation, origin, local2)
        valid = valid & is_placed(local1, local2, a, b)
        for c in range(LANES):
            for k in range(3):
                p1[c * limbs + i, k], p2[c * limbs + i, k] = lane(a[k], c), lane(b[k], c)
        if rig.box[i] >= 0:
            local = rig.boxes[rig.box[i]]
            for j in range(0, 9, 3):
                side = carried(rotation, ORIGIN, (local[j], local[j + 1], local[j + 2]))
                for c in range(LANES):
                    row = boxes[c * solids + rig.box[i]]
                    row[j], row[j + 1], row[j + 2] = lane(side[0], c), lane(side[1], c), lane(side[2], c)
                    row[9 + j // 3] = local[9 + j // 3]
    return movemask(valid) == ALL_EIGHT


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
        beyond 2**500, or an axis that has become too short; -1 if there is none. Of it and those behind it, the results
        have no meaning.
    """
    k, m, b, first = positions.shape[0], rig.bone.size, rig.boxes.shape[0], 0
    while first + LANES <= k and _place_eight(
        rig, positions[first:], orientations[first:], p1[first * m :], p2[first * m :], boxes[first * b :]
    ):
        first += LANES
    for i in range(first, k):
        if not _place_character(rig, positions[i], orientations[i], p1[i * m :], p2[i * m :], boxes[i * b :]):
            return i
    return -1
