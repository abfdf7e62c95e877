"""The growth with which boxes around limbs at two recorded states contain the limbs at all times in between.

The corners of the boxes themselves move along straight lines. A point at distance ρ from the origin of its bone, which
turns by an angle θ, is at most ρ (1 - cos ½θ) from the straight line between its two positions, and cos ½θ is the
magnitude of the scalar product of both unit quaternions. If instead the ends of an axis move straight, the rims around
them turn: by at most their radius times 1 / cos ½θ - 1, or times the distance of both unit axes (`docs/numerics.md`,
"Between two ticks").
"""

import numpy as np

from cylcollide._types import Column, Quaternions, Rows, Vectors
from cylcollide.bones.bone import per_length
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.ray import subtract
from cylcollide.kernels.traits import WITH_AXES
from cylcollide.recorded.limbs import (
    PER_LENGTH,
    RIM,
    SPAN,
    Recorded,
    TickRows,
    bone_orientation,
    box_of,
    is_by_ends,
    length_of,
    model_of,
    next_row,
    tick_rows,
    triple,
)
from cylcollide.runtime.compile import compiled_loop, inlined
from cylcollide.runtime.simd import square_root

PAD = 2.0**-40
"""Relative pad of these boxes: all rounding of positions and of interpolation is below 2**-45."""


@compiled_loop
def fill_bones(positions: Vectors, orientations: Quaternions, bones: Rows[np.float64]) -> None:
    """Write bones, (n, 3) and (n, 4), into the first n rows of a tick's bones."""
    for i in range(positions.shape[0]):
        for axis in range(3):
            bones[i, axis] = positions[i, axis]
        for axis in range(4):
            bones[i, 3 + axis] = orientations[i, axis]
        bones[i, PER_LENGTH] = per_length(bone_orientation(bones, i))


@compiled_loop
def fill_growth(
    recorded: Recorded,
    slot: Column[np.int32],
    scale: float,
    least: float,
    growth: Column[np.float32],
) -> None:
    """Write the growth of each limb's box from the first of two ticks to the second, times a scale; (slots,).

    It is negative for a limb that stays, else at least `least`, before the scale. `slot` (rows,): where the growth of
    each limb is written.
    """
    here, there = tick_rows(recorded, 0), tick_rows(recorded, 1)
    for i in range(slot.size):
        model, owner, far = here.limb[i]["model"], here.limb[i]["owner"], next_row(here, i)
        span, rim = here.reaches[model, SPAN], here.reaches[model, RIM]
        if far < 0:
            growth[slot[i]] = -1.0
        elif not is_by_ends(here, i):
            cosine = cosine_of_half(here, there, owner, here.model[model]["bone"])
            arc = 1.0 - cosine + PAD
            turned = arc / cosine if arc < cosine else 1.0
            growth[slot[i]] = (span * arc + rim * turned + least) * scale
        else:
            turned = min(axes_apart(here, i, there, far) + PAD, 1.0) if rim > 0.0 else 0.0
            growth[slot[i]] = (rim * turned + least) * scale


@inlined
def cosine_of_half(here: TickRows, there: TickRows, owner: int, bone: int) -> float:
    """The cosine of ½θ for the angle by which a bone of a character turns to the next tick; at most 1."""
    character = here.character[owner]
    a, b = character["first_bone"] + bone, character["next_bone"] + bone
    p, q = bone_orientation(here.bones, a), bone_orientation(there.bones, b)
    m, n = here.bones[a, PER_LENGTH], there.bones[b, PER_LENGTH]
    cosine = (p[0] * m) * (q[0] * n) + (p[1] * m) * (q[1] * n) + (p[2] * m) * (q[2] * n) + (p[3] * m) * (q[3] * n)
    return float(min(abs(cosine), 1.0))


@inlined
def axes_apart(here: TickRows, a: int, there: TickRows, b: int) -> float:
    """The distance between the unit axes of a limb at two ticks; for three axes, the root of the sum of squares."""
    if model_of(here, a)["kind"] in WITH_AXES:
        i, j, square = 12 * box_of(here, a), 12 * box_of(there, b), 0.0
        for k in range(9):
            square += (here.axes[i + k] - there.axes[j + k]) * (here.axes[i + k] - there.axes[j + k])
        return float(square_root(square))
    return length_of(subtract(unit_axis(there, b), unit_axis(here, a)))


@inlined
def unit_axis(tick: TickRows, row: int) -> Vector:
    """The direction of a limb that has an axis, whose ends were recorded."""
    axis = subtract(triple(tick.p2, row), triple(tick.p1, row))
    length = length_of(axis)
    return axis[0] / length, axis[1] / length, axis[2] / length
