"""Bounds on how far each limb moves from one recorded tick to the next."""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Column
from cylcollide.kernels.ray import dot, largest_component, subtract
from cylcollide.kernels.traits import WITH_AXES
from cylcollide.recorded.limbs import (
    PER_LENGTH,
    RIM,
    SPAN,
    Recorded,
    TickRows,
    bone_orientation,
    bone_position,
    box_of,
    is_by_ends,
    length_of,
    next_row,
    ticks_around,
    triple,
)
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.simd import square_root

MARGIN = 1.0 + 2.0**-40
"""Far above the rounding of these bounds."""
TINY = 1e-300
"""Replaces the length 0 of an axis that turns, as a divisor."""


class LimbMotion(NamedTuple):
    """Bounds on the motion of a limb until the next tick, metres. 0 for one that leaves or jumps there."""

    straight: float
    """Distance that the axis moves in the whole tick, at constant speed."""
    turning: float
    """Distance that all other points move as the axis turns, at the highest speed."""
    most_turning: float
    """Largest distance that any turn moves a point."""
    jump: float
    """Distance that a box jumps at the end of the tick: if ends are interpolated, its axes change then."""
    extent: float
    """The largest |coordinate|."""


@inlined
def motion_of(here: TickRows, there: TickRows, row: int) -> LimbMotion:
    """The motion of a row of a tick."""
    return motion_by_ends(here, there, row) if is_by_ends(here, row) else motion_by_bone(here, there, row)


@compiled
def motion_by_ends(here: TickRows, there: TickRows, row: int) -> LimbMotion:
    """The motion of a limb whose ends were recorded."""
    model, far = here.limb[row]["model"], next_row(here, row)
    rim, has_axes = here.reaches[model, RIM], here.model[model]["kind"] in WITH_AXES
    p1, p2 = triple(here.p1, row), triple(here.p2, row)
    extent = max(largest_component(p1), largest_component(p2)) + rim
    if far < 0:
        return LimbMotion(0.0, 0.0, 0.0, 0.0, extent)
    way1, way2 = subtract(triple(there.p1, far), p1), subtract(triple(there.p2, far), p2)
    straight = max(length_of(way1), length_of(way2))
    if has_axes:
        return LimbMotion(straight, 0.0, 2.0 * rim, axes_jump(here, row, there, far), extent)
    axis, change = subtract(p2, p1), subtract(way2, way1)
    square = dot(change, change)
    share = -dot(axis, change) / (square if square > 0.0 else 1.0)
    share = min(share, 1.0) if share > 0.0 else 0.0  # where the axis is shortest
    shortest = length_of((axis[0] + share * change[0], axis[1] + share * change[1], axis[2] + share * change[2]))
    turning = rim * square_root(square) / (shortest if shortest > 0.0 else TINY) if rim > 0.0 else 0.0
    return LimbMotion(straight, turning, 2.0 * rim, 0.0, extent)


@inlined
def axes_jump(here: TickRows, a: int, there: TickRows, b: int) -> float:
    """Bound on the distance that the corners of a box jump as its axes change."""
    i, j, jump = 12 * box_of(here, a), 12 * box_of(there, b), 0.0
    for k in range(3):
        before, after = triple(here.axes[i:], k), triple(there.axes[j:], k)
        jump += length_of(subtract(after, before)) * here.axes[i + 9 + k]
    return jump


@compiled
def motion_by_bone(here: TickRows, there: TickRows, row: int) -> LimbMotion:
    """The motion of a limb whose bone was recorded."""
    character, model = here.character[here.limb[row]["owner"]], here.limb[row]["model"]
    size, j = here.reaches[model, SPAN] + here.reaches[model, RIM], here.model[model]["bone"]
    a = character["first_bone"] + j
    origin = bone_position(here.bones, a)
    extent = largest_component(origin) + size
    if next_row(here, row) < 0:
        return LimbMotion(0.0, 0.0, 2.0 * size, 0.0, extent)
    b = character["next_bone"] + j
    way = subtract(bone_position(there.bones, b), origin)
    p, q = bone_orientation(here.bones, a), bone_orientation(there.bones, b)
    m, n = here.bones[a, PER_LENGTH], there.bones[b, PER_LENGTH]
    minus, plus = 0.0, 0.0
    for k in range(4):
        less, more = q[k] * n - p[k] * m, q[k] * n + p[k] * m
        minus, plus = minus + less * less, plus + more * more
    quarter = square_root(min(minus, plus) / max(minus, plus))  # the tangent of a quarter of the turn
    return LimbMotion(length_of(way), 4.0 * quarter * size, 2.0 * size, 0.0, extent)


@compiled_loop
def fill_motions(
    recorded: Recorded,
    tick: int,
    straight: Column[np.float64],
    turning: Column[np.float64],
    most_turning: Column[np.float64],
    jump: Column[np.float64],
    extent: Column[np.float64],
) -> None:
    """Write the motion of each row of the tick with index `tick`; (rows,)."""
    here, there = ticks_around(recorded, tick)
    for row in range(straight.size):
        one = motion_of(here, there, row)
        straight[row], turning[row], most_turning[row] = one.straight, one.turning, one.most_turning
        jump[row], extent[row] = one.jump, one.extent
