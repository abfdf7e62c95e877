"""Recorded states as loops read them, and their limbs placed at a moment.

The arrays of a tick are read through their addresses, so that one loop serves the rays of all ticks.
"""

from typing import Any, NamedTuple

import numpy as np

from cylcollide._types import Column, Float64Array, Int8Array, Quaternions, Rows, Vectors
from cylcollide.bones.bone import Quaternion, carried, orientation_between, rotation_of, vector_between
from cylcollide.bones.rig_rows import ORIGIN, is_placed
from cylcollide.constants import SMALLEST_SIZE
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.limb_table import BOX_AXES, LimbRows, write_row
from cylcollide.kernels.ray import dot, largest_component, subtract
from cylcollide.kernels.traits import WITH_AXES
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.memory import Records, entries_at
from cylcollide.runtime.simd import square_root

(
    ROWS, ENDS, BOXES, CHARACTERS, BONES, MODELS, MODEL_BOXES, NODES, SHARED_LAYERS,
    ROW, CHARACTER, NUMBERS, CODES, REACHES, MODEL_BOX, P1, P2, AXES, BONE_ROWS, BOUNDS, CHILD, AXIS,
) = range(22)  # fmt: skip
"""Columns of `Recorded.address`: eight counts, the layers that all limbs are in, then addresses."""
COLUMNS = 22

LIMB_FIELDS = np.dtype([("model", np.int32), ("owner", np.int32)])
"""A row of a tick: its model, among bare limbs, limbs of all rigs and statics; its owner, an index or -1."""

CHARACTER_FIELDS = np.dtype([(name, np.int64) for name in (
    "id", "layers", "first_row", "rows", "first_bone", "first_box", "next_row", "next_bone", "is_ordinary",
)])  # fmt: skip
"""A posed character, or a static, which has id -1 and stays. `next_row` and `next_bone` are its first rows in the next
tick, -1 if it stays until then. An ordinary character has no number so large, and no axis so short, that its limbs may
be invalid between two ticks. The row of a character's box in its tick is its model's plus `first_box`."""

MODEL_FIELDS = np.dtype([(name, np.int64) for name in (
    "kind", "kernel_shape", "bone", "box", "mask", "label", "needs_axis",
)])  # fmt: skip
"""A model: its `Shape`, the `Shape` whose kernels apply, its bone, row of boxes and layers, the character label of a
bare limb, and whether its ends must differ."""
NUMBERS_SIZE, BONE_SIZE = 8, 8
"""Numbers of a model: ends in the frame of its bone, and radii. Numbers of a bone: eight fill a cache line."""
SPAN, RIM = 0, 1
"""Reaches of a model: largest distance of its ends from the origin of its bone; largest growth of a box around it as it
turns about an end, 0 for spheres and capsules."""
PER_LENGTH = 7
"""Column of a bone's numbers: one over the length of its quaternion."""
OWN_LAYERS = -1
"""`layers` of a character whose limbs have the layers of its rig."""


class Recorded(NamedTuple):
    """The ticks of a history. Python keeps them alive."""

    address: Rows[np.int64]  # (ticks, COLUMNS)
    frame: Rows[np.float64]  # (ticks, 10): frames of the trees


class TickRows(NamedTuple):
    """The arrays of one tick."""

    limb: Records  # (rows,), LIMB_FIELDS
    character: Records  # (characters,), CHARACTER_FIELDS
    model: Records  # (models,), MODEL_FIELDS
    numbers: Float64Array  # (models, NUMBERS_SIZE)
    reaches: Rows[np.float64]  # (models, 2)
    boxes: Float64Array  # (model boxes · 12)
    p1: Float64Array  # (ends · 3): of the first rows: the bare limbs, or all but statics if ends were recorded
    p2: Float64Array
    axes: Float64Array  # (boxes · 12): of the same limbs
    bones: Float64Array  # (bones, BONE_SIZE): position, orientation, and one over the length of that


@inlined
def tick_rows(recorded: Recorded, t: int) -> TickRows:
    """The arrays of the tick with index t."""
    a = recorded.address
    return TickRows(
        entries_at(LIMB_FIELDS, a[t, ROW], a[t, ROWS]),
        entries_at(CHARACTER_FIELDS, a[t, CHARACTER], a[t, CHARACTERS]),
        entries_at(MODEL_FIELDS, a[t, CODES], a[t, MODELS]),
        entries_at(np.float64, a[t, NUMBERS], NUMBERS_SIZE * a[t, MODELS]).reshape(-1, NUMBERS_SIZE),
        entries_at(np.float64, a[t, REACHES], 2 * a[t, MODELS]).reshape(-1, 2),
        entries_at(np.float64, a[t, MODEL_BOX], 12 * a[t, MODEL_BOXES]),
        entries_at(np.float64, a[t, P1], 3 * a[t, ENDS]),
        entries_at(np.float64, a[t, P2], 3 * a[t, ENDS]),
        entries_at(np.float64, a[t, AXES], 12 * a[t, BOXES]),
        entries_at(np.float64, a[t, BONE_ROWS], BONE_SIZE * a[t, BONES]).reshape(-1, BONE_SIZE),
    )


@inlined
def ticks_around(recorded: Recorded, t: int) -> tuple[TickRows, TickRows]:
    """The tick with index t and the next one; the last one twice."""
    return tick_rows(recorded, t), tick_rows(recorded, min(t + 1, recorded.address.shape[0] - 1))


@inlined
def is_by_ends(here: TickRows, row: int) -> bool:
    """Whether the ends of a limb were recorded instead of its bone; such limbs are in the first rows."""
    return 3 * row < here.p1.size


@inlined
def model_of(here: TickRows, row: int) -> Any:
    """The model of a row."""
    return here.model[here.limb[row]["model"]]


@inlined
def triple(numbers: Float64Array, i: int) -> Vector:
    """Three numbers from number 3 i on."""
    return numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]


@inlined
def bone_position(bones: Float64Array, i: int) -> Vector:
    """The position of a bone."""
    return bones[i, 0], bones[i, 1], bones[i, 2]


@inlined
def bone_orientation(bones: Float64Array, i: int) -> Quaternion:
    """The orientation of a bone; of any length but 0."""
    return bones[i, 3], bones[i, 4], bones[i, 5], bones[i, 6]


@inlined
def bone_between(here: TickRows, a: int, there: TickRows, b: int, alpha: float) -> tuple[Vector, Quaternion]:
    """Position and orientation of a bone between two ticks; b is -1 if it stays."""
    position, turn = bone_position(here.bones, a), bone_orientation(here.bones, a)
    if b < 0:
        return position, turn
    per_a, per_b = here.bones[a, PER_LENGTH], there.bones[b, PER_LENGTH]
    return (
        vector_between(position, bone_position(there.bones, b), alpha),
        orientation_between(turn, per_a, bone_orientation(there.bones, b), per_b, alpha),
    )


@inlined
def end_between(here: Float64Array, a: int, there: Float64Array, b: int, alpha: float) -> Vector:
    """An end of a limb between two recorded ones; b is -1 if it stays."""
    p = triple(here, a)
    return vector_between(p, triple(there, b), alpha) if b >= 0 else p


@inlined
def length_of(v: Vector) -> float:
    """The length of a vector."""
    return float(square_root(dot(v, v)))


@inlined
def local_ends(here: TickRows, model: int) -> tuple[Vector, Vector]:
    """The ends of a model in the frame of its bone."""
    n = here.numbers
    return (n[model, 0], n[model, 1], n[model, 2]), (n[model, 3], n[model, 4], n[model, 5])


@compiled
def bones_of(here: TickRows, there: TickRows, row: int, alpha: float) -> tuple[int, int, bool]:
    """The bone of a row in its tick and in the next one, -1 if it stays; and `character_is_placed`."""
    character, j = here.character[here.limb[row]["owner"]], model_of(here, row)["bone"]
    valid = character["is_ordinary"] != 0 or character_is_placed(here, there, character, alpha)
    following = character["next_bone"] + j if character["next_bone"] >= 0 and valid else -1
    return character["first_bone"] + j, following, valid


@compiled
def character_is_placed(here: TickRows, there: TickRows, character: Any, alpha: float) -> bool:
    """Whether all limbs of a character with its bones in range are in range at a moment, and no axis is too short."""
    bone, following, first = character["first_bone"], character["next_bone"], character["first_row"]
    for row in range(first, first + character["rows"]):
        j, model = model_of(here, row)["bone"], here.limb[row]["model"]
        origin, turn = bone_between(here, bone + j, there, following + j if following >= 0 else -1, alpha)
        rotation, (local1, local2) = rotation_of(turn), local_ends(here, model)
        if not is_placed(local1, local2, carried(rotation, origin, local1), carried(rotation, origin, local2)):
            return False
    return True


@inlined
def next_row(here: TickRows, row: int) -> int:
    """The row of a limb in the next tick, -1 for one that stays where it is until then."""
    owner = here.limb[row]["owner"]
    if owner < 0:
        return row
    character = here.character[owner]
    return int(character["next_row"] + row - character["first_row"] if character["next_row"] >= 0 else -1)


@inlined
def box_of(here: TickRows, row: int) -> int:
    """The row of a box in the `axes` of its tick, for limbs recorded by their ends."""
    owner = here.limb[row]["owner"]
    return int(model_of(here, row)["box"] + (here.character[owner]["first_box"] if owner >= 0 else 0))


@compiled
def place_by_ends(
    here: TickRows, there: TickRows, row: int, alpha: float, rows: Float64Array, shape: Int8Array, k: int
) -> bool:
    """Write limb k, recorded by its ends; if it lacks the axis it needs, write it as at its tick and return False."""
    model, far, numbers = model_of(here, row), next_row(here, row), rows[k]
    a, b = end_between(here.p1, row, there.p1, far, alpha), end_between(here.p2, row, there.p2, far, alpha)
    axis = largest_component(subtract(b, a))
    has_axis = axis >= SMALLEST_SIZE or (axis == 0.0 and model["needs_axis"] == 0)
    if not has_axis:
        a, b = triple(here.p1, row), triple(here.p2, row)
    if model["kind"] in WITH_AXES:
        box = 12 * box_of(here, row)
        for j in range(12):
            numbers[BOX_AXES + j] = here.axes[box + j]
    shape[k] = write_placed(here, row, a, b, numbers)
    return has_axis


@compiled
def place_by_bone(
    here: TickRows, there: TickRows, row: int, alpha: float, rows: Float64Array, shape: Int8Array, k: int
) -> bool:
    """Write limb k, carried by a bone; if its character is out of range, write it as at its tick and return False."""
    model, numbers = model_of(here, row), rows[k]
    bone, following, valid = bones_of(here, there, row, alpha)
    origin, turn = bone_between(here, bone, there, following, alpha)
    rotation, (local1, local2) = rotation_of(turn), local_ends(here, here.limb[row]["model"])
    if model["kind"] in WITH_AXES:
        box = 12 * model["box"]
        for i in range(0, 9, 3):
            side = carried(rotation, ORIGIN, (here.boxes[box + i], here.boxes[box + i + 1], here.boxes[box + i + 2]))
            numbers[BOX_AXES + i], numbers[BOX_AXES + i + 1], numbers[BOX_AXES + i + 2] = side
            numbers[BOX_AXES + 9 + i // 3] = here.boxes[box + 9 + i // 3]
    a, b = carried(rotation, origin, local1), carried(rotation, origin, local2)
    shape[k] = write_placed(here, row, a, b, numbers)
    return valid


@inlined
def write_placed(here: TickRows, row: int, a: Vector, b: Vector, numbers: Float64Array) -> int:
    """Write the kernel row of a limb from a to b, which already has its axes, if any; returns the kernels' Shape."""
    model, axes = here.limb[row]["model"], numbers[BOX_AXES : BOX_AXES + 12]
    kind, radius, radius2 = here.model[model]["kind"], here.numbers[model, 6], here.numbers[model, 7]
    return write_row(numbers, kind, a, b, radius, radius2, axes)


@inlined
def place_one(
    here: TickRows, there: TickRows, row: int, alpha: float, rows: Float64Array, shape: Int8Array, k: int
) -> bool:
    """Write limb k, a row of a tick; if it is invalid at this moment, write it as at its tick and return False."""
    if is_by_ends(here, row):
        return place_by_ends(here, there, row, alpha, rows, shape, k)
    return place_by_bone(here, there, row, alpha, rows, shape, k)


@inlined
def layers_of(here: TickRows, row: int) -> int:
    """The layers of a limb."""
    owner = here.limb[row]["owner"]
    if owner >= 0 and here.character[owner]["layers"] != OWN_LAYERS:
        return int(here.character[owner]["layers"])
    return int(model_of(here, row)["mask"])


@inlined
def character_of(here: TickRows, row: int) -> int:
    """The id of the character that a limb belongs to; of a bare limb, its label."""
    owner = here.limb[row]["owner"]
    return int(here.character[owner]["id"] if owner >= 0 else model_of(here, row)["label"])


@compiled_loop
def place_recorded(
    recorded: Recorded,
    tick: Column[np.int32],
    alpha: Column[np.float64],
    offsets: Column[np.int64],
    row: Column[np.int32],
    placed: LimbRows,
) -> None:
    """Write limbs at n moments; a limb that cannot be placed at its moment gets no layers.

    A moment has the index of its tick, and alpha, the share of the way to the next one, 0 to 1. Its limbs are rows of
    its tick, in compressed rows: `offsets` (n + 1,) and `row` (limbs,).
    """
    for i in range(tick.size):
        if offsets[i] < offsets[i + 1]:
            here, there = ticks_around(recorded, tick[i])
            for k in range(offsets[i], offsets[i + 1]):
                placed.character[k] = character_of(here, row[k])
                valid = place_one(here, there, row[k], alpha[i], placed.rows, placed.kernel_shape, k)
                placed.mask[k] = layers_of(here, row[k]) if valid else 0


@compiled_loop
def place_bones(
    recorded: Recorded,
    tick: Column[np.int32],
    alpha: Column[np.float64],
    row: Column[np.int32],
    positions: Vectors,
    orientations: Quaternions,
) -> None:
    """Write the bones that carry n limbs, each given as in `place_recorded`: (n, 3), (n, 4); not for recorded ends."""
    for k in range(row.size):
        here, there = ticks_around(recorded, tick[k])
        if not is_by_ends(here, row[k]):
            bone, following, _ = bones_of(here, there, row[k], alpha[k])
            position, turn = bone_between(here, bone, there, following, alpha[k])
            positions[k, 0], positions[k, 1], positions[k, 2] = position
            for axis in range(4):
                orientations[k, axis] = turn[axis]
