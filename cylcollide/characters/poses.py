"""Poses of many characters: checks of shapes, limbs, messages for poses that a loop refuses; and rounded poses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cylcollide import shapes, validate
from cylcollide._types import Float64Array, Int64Array
from cylcollide.bones.bone import carried, rotation_of
from cylcollide.bones.bone_rows import in_range, is_quaternion
from cylcollide.bones.rig_rows import Placed, is_placed
from cylcollide.characters.quaternions import normalised
from cylcollide.characters.rig_data import RigData
from cylcollide.characters.skeleton import bone_label, limb_label
from cylcollide.kernels.limb_table import make_table
from cylcollide.limbs.limbs import Limbs
from cylcollide.query.request import raise_changed

RANGE = "finite numbers of magnitude at most 2**500 (about 3e150)"
TURN = f"{RANGE}, the largest at least 2**-500, a quaternion x, y, z, w other than zero"

ROUNDING = 2.0**-14
"""Step of positions, in the unit of lengths, and of the components of unit quaternions."""


def bone_poses(positions: ArrayLike, orientations: ArrayLike, bones: int) -> tuple[Float64Array, Float64Array]:
    """Positions (k, b, 3) and orientations (k, b, 4) of the bones of k characters; for one, k may be omitted.

    Float64 arrays in C order are not copied. Numbers are checked by the loop that reads them.
    """
    at = _rows(positions, "positions", (bones, 3))
    turn = _rows(orientations, "orientations", (bones, 4))
    if len(at) != len(turn):
        raise ValueError(f"orientations: expected {len(at)} characters, as many as positions, got {len(turn)}")
    return _as_float64(at, "positions"), _as_float64(turn, "orientations")


def _as_float64(given: NDArray[Any], name: str) -> Float64Array:
    """The same numbers as float64 in C order, not copied if given in that form."""
    in_form = given.dtype is validate.FLOAT64 and given.flags.carray
    return given if in_form else validate.as_float64(given, name)


def joint_poses(
    root_positions: ArrayLike,
    root_orientations: ArrayLike,
    joint_orientations: ArrayLike,
    joint_positions: ArrayLike | None,
    bone_names: Sequence[str],
) -> tuple[Float64Array, Float64Array, Float64Array, Float64Array | None]:
    """Root positions (k, 3), root orientations (k, 4), joint orientations (k, b, 4); one of each may stand for all.

    The fourth result is joint positions, (k, b, 3), or (1, b, 3) if one stands for all, or None. All arrays are new.
    The numbers of the joint positions are checked here, all others by the loop that reads them.
    """
    bones = len(bone_names)
    given = {
        "root_positions": _rows(root_positions, "root_positions", (3,)),
        "root_orientations": _rows(root_orientations, "root_orientations", (4,)),
        "joint_orientations": _rows(joint_orientations, "joint_orientations", (bones, 4)),
    }
    if joint_positions is not None:
        given["joint_positions"] = _rows(joint_positions, "joint_positions", (bones, 3))
    k = next((len(rows) for rows in given.values() if len(rows) != 1), 1)
    for name, rows in given.items():
        if len(rows) not in (1, k):
            raise ValueError(f"{name}: expected {k} characters, as many as elsewhere, or one for all, got {len(rows)}")
    numbers = [validate.as_float64(rows, name) for name, rows in given.items()]
    at, turn, joints = (rows if len(rows) == k else np.repeat(rows, k, axis=0) for rows in numbers[:3])
    if joint_positions is None:
        return at, turn, joints, None

    def where(row: int) -> str:
        return f"for {bone_label(bone_names, row % bones)} in row {row // bones}"

    validate.in_range(numbers[3].reshape(-1, 3), "joint_positions", where)
    return at, turn, joints, numbers[3]


def _rows(values: ArrayLike, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Real numbers (k, *shape), or (*shape) for one character; neither copied nor checked for their range."""
    expected = f"(k, {', '.join(map(str, shape))})"
    given = validate.as_numbers(values, name, expected)
    if given.shape == shape:
        given = given[None]
    elif given.shape == (0,):  # of an empty list
        given = given.reshape(0, *shape)
    if given.shape[1:] != shape:
        raise ValueError(f"{name}: expected shape {expected}, one row per character, got {given.shape}")
    return given


def repeated(limbs: Limbs, placed: Placed, character: Int64Array | None, k: int) -> Limbs:
    """The placed limbs of k characters; `character` (k,) are their labels, None keeps those of the limbs."""
    t, m, solids = limbs._table, len(limbs), len(limbs._table.boxes)
    box = np.where(np.tile(t.box, k) >= 0, np.tile(t.box, k) + np.repeat(np.arange(k) * solids, m), -1)
    labels = np.tile(t.character, k) if character is None else np.repeat(character.astype(np.int32), m)
    table = make_table(
        np.tile(t.kind, k), placed.p1, placed.p2, np.tile(t.radius, k), np.tile(t.radius2, k), box.astype(np.int32),
        placed.boxes, labels, np.tile(t.mask, k),
    )  # fmt: skip
    return Limbs(table, np.tile(limbs.hit_group, k), limbs.names * k)


def raise_misplaced(
    rig: RigData, positions: Float64Array, orientations: Float64Array, row: int, where: str | None = None
) -> NoReturn:
    """Raise the ValueError of the row that `place_limbs` refused; `where` is its name, by default the row number."""
    where, at, turn = where or f"row {row}", positions[row].tolist(), orientations[row].tolist()
    for i, (position, orientation) in enumerate(zip(at, turn, strict=True)):
        owner = f"{bone_label(rig.bone_names, i)} in {where}"
        if not in_range(position):
            _refuse("positions", RANGE, position, owner)
        if not is_quaternion(orientation):
            _refuse("orientations", TURN, orientation, owner)
    for i, b in enumerate(rig.limb_bone.tolist()):
        rotation, local1, local2 = rotation_of(turn[b]), rig.limbs.p1[i].tolist(), rig.limbs.p2[i].tolist()
        p1, p2 = carried(rotation, at[b], local1), carried(rotation, at[b], local2)
        owner = f"{limb_label(rig.limb_names, i)} of {bone_label(rig.bone_names, b)} at {at[b]} in {where}"
        if not is_placed(local1, local2, p1, p2):
            _refuse(
                "positions", "limb ends within 2**500, and at least 2**-500 apart along a coordinate",
                [[*map(float, p1)], [*map(float, p2)]],
                f"{owner}, so far out that the limb leaves the range or loses its axis",
            )  # fmt: skip
    raise_changed("positions", "orientations")


def raise_unposed(
    rig: RigData,
    root_positions: Float64Array,
    root_orientations: Float64Array,
    joint_orientations: Float64Array,
    positions: Float64Array,
    row: int,
) -> NoReturn:
    """Raise the ValueError of the row that `pose_bones` refused; `positions` are those that it wrote."""
    root, turn = root_positions[row].tolist(), root_orientations[row].tolist()
    if not in_range(root):
        _refuse("root_positions", RANGE, root, f"row {row}")
    if not is_quaternion(turn):
        _refuse("root_orientations", TURN, turn, f"row {row}")
    for i, joint in enumerate(joint_orientations[row].tolist()):
        if not is_quaternion(joint):
            _refuse("joint_orientations", TURN, joint, f"{bone_label(rig.bone_names, i)} in row {row}")
    for i, position in enumerate(positions[row].tolist()):
        if not in_range(position):
            _refuse("root_positions", "bones within 2**500", position, f"{bone_label(rig.bone_names, i)} in row {row}")
    raise_changed("root_positions", "root_orientations", "joint_orientations")


def _refuse(name: str, expected: str, got: object, owner: str) -> NoReturn:
    raise ValueError(f"{name}: expected {expected}, got {got} for {owner}; repair such poses, or leave them out")


def round_poses(positions: ArrayLike, orientations: ArrayLike) -> tuple[Float64Array, Float64Array]:
    """Positions (..., 3) and orientations (..., 4) as multiples of 2**-14: in metres, 1/16 mm.

    Pass the result to `set_poses`: a `ShotLog` then needs 1/4 of the space, and still stores the
    judged poses exactly. Quaternions are normalised first; the end of a limb of 1 m moves by at
    most 0.1 mm. ValueError on bad numbers or shapes, and quaternions of length 0.
    """
    given = validate.as_numbers(positions, "positions", "(..., 3)", 3)
    turns = validate.as_numbers(orientations, "orientations", "(..., 4)", 4)
    if given.shape[-1:] != (3,):
        raise ValueError(f"positions: expected shape (..., 3), got {given.shape}")
    if turns.shape != (*given.shape[:-1], 4):
        raise ValueError(f"orientations: expected shape {(*given.shape[:-1], 4)}, as of positions, got {turns.shape}")
    at = validate.in_range(validate.as_float64(given, "positions"), "positions")
    turn = validate.in_range(validate.as_float64(turns, "orientations"), "orientations")
    shapes.check_quaternions(turn.reshape(-1, 4), "orientations")
    turn = normalised(turn / np.abs(turn).max(axis=-1, keepdims=True, initial=0.0))
    return _rounded(at), _rounded(turn)


def _rounded(numbers: Float64Array) -> Float64Array:
    """The nearest multiples of ROUNDING; 0.0 instead of -0.0."""
    return np.rint(numbers / ROUNDING) * ROUNDING + 0.0
