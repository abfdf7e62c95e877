"""Bones between two recorded poses, and the boxes that hold everything a character's bones carry."""

from math import inf

from cylcollide._types import Float64Array, Int32Array, Int64Array
from cylcollide.kernels.bone import Quaternion, normalised, rescaled
from cylcollide.kernels.bone_rows import as_quaternion
from cylcollide.kernels.rig_rows import Bones
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.entry_point import entry_point


@inlined
def between(a: float, b: float, alpha: float) -> float:
    """The number between a and b."""
    return (1.0 - alpha) * a + alpha * b


@inlined
def turned_between(a: Quaternion, b: Quaternion, alpha: float) -> Quaternion:
    """Normalised linear interpolation the short way, not yet normalised; a and b are of any length but 0.

    Within 0.01° of spherical interpolation for turns of 20°. The length of the result is at least √½.
    """
    p, q = normalised(rescaled(a)), normalised(rescaled(b))
    cosine = (p[0] * q[0] + p[1] * q[1]) + (p[2] * q[2] + p[3] * q[3])
    beta = alpha if cosine >= 0.0 else -alpha
    rest = 1.0 - alpha
    return rest * p[0] + beta * q[0], rest * p[1] + beta * q[1], rest * p[2] + beta * q[2], rest * p[3] + beta * q[3]


@entry_point(reads_all=True)
def interpolate_bones(
    here: Bones,
    there: Bones,
    first_here: Int32Array,
    first_there: Int32Array,
    count: Int64Array,
    alpha: Float64Array,
    first: Int32Array,
    result: Bones,
) -> None:
    """Write the bones of k characters between two recorded poses.

    Parameters
    ----------
    here, there
        The poses of all, before and after.
    first_here, first_there, first
        Where the bones of each character begin in both, and in `result`, (k,); `first_there` is -1 for one that stays.
    count
        How many bones each has, (k,).
    alpha
        How far it has come, (k,), 0 to 1; at both ends the recorded numbers themselves are the result.
    result
        Written.
    """
    for k in range(alpha.size):
        far, share = first_there[k], alpha[k]
        for j in range(count[k]):
            row, a, b = first[k] + j, first_here[k] + j, far + j
            if far < 0 or share == 0.0:
                _copy_bone(here, a, result, row)
            elif share == 1.0:
                _copy_bone(there, b, result, row)
            else:
                for axis in range(3):
                    result.positions[row, axis] = between(here.positions[a, axis], there.positions[b, axis], share)
                turn = turned_between(as_quaternion(here.orientations, a), as_quaternion(there.orientations, b), share)
                for axis in range(4):
                    result.orientations[row, axis] = turn[axis]


@inlined
def _copy_bone(bones: Bones, a: int, result: Bones, row: int) -> None:
    """Copy the recorded numbers of a bone."""
    for axis in range(3):
        result.positions[row, axis] = bones.positions[a, axis]
    for axis in range(4):
        result.orientations[row, axis] = bones.orientations[a, axis]


@entry_point(reads_all=True)
def interpolate_ends(
    here: Float64Array,
    there: Float64Array,
    row_here: Int32Array,
    row_there: Int32Array,
    alpha: Float64Array,
    row: Int32Array,
    result: Float64Array,
) -> None:
    """Write points between those of two tables, (k,) rows of each; `row_there` is -1 for one that stays."""
    for k in range(alpha.size):
        a, b, share = row_here[k], row_there[k], alpha[k]
        for axis in range(3):
            if b < 0 or share == 0.0:
                result[row[k], axis] = here[a, axis]
            elif share == 1.0:
                result[row[k], axis] = there[b, axis]
            else:
                result[row[k], axis] = between(here[a, axis], there[b, axis], share)


REACH_PAD = 2.0**-40
"""Relative growth of boxes around characters: all rounding of places, of interpolation and of rays is below 2**-45."""


@entry_point(reads_all=True)
def fill_character_boxes(
    positions: Float64Array,
    reach: Float64Array,
    first: Int32Array,
    count: Int64Array,
    low: Float64Array,
    high: Float64Array,
) -> None:
    """Write corners (k, 3) of boxes that hold the limbs of k characters, however their bones turn.

    `reach`: how far limbs go from each bone of `positions`, -1 for a bone without limbs. A box that holds these boxes
    of two poses holds the limbs of every pose between them.
    """
    for k in range(first.size):
        for axis in range(3):
            smallest, largest = inf, -inf
            for j in range(first[k], first[k] + count[k]):
                if reach[j] >= 0.0:
                    x = positions[j, axis]
                    more = reach[j] + REACH_PAD * (abs(x) + reach[j])
                    smallest, largest = min(smallest, x - more), max(largest, x + more)
            low[k, axis], high[k, axis] = smallest, largest
