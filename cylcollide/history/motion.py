"""How far limbs get from one recorded tick to the next: bounds, by limb."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cylcollide._types import Float64Array, Int64Array
from cylcollide.history.ticks import STAYS, Tick

MARGIN = 1.0 + 2.0**-40
"""Far above the rounding of these bounds."""


class Motion(NamedTuple):
    """Bounds for the limbs of a tick until the next one, metres; (rows,) each. 0 for limbs that leave or jump there."""

    straight: Float64Array
    """How far the axis gets in the whole tick, at constant speed."""
    turning: Float64Array
    """How far all else gets as the axis turns, at the highest speed."""
    most_turning: Float64Array
    """How far any turn moves a point at most."""
    jump: Float64Array
    """How far a box gets as the tick ends: where ends are interpolated, its axes change then."""
    extent: Float64Array
    """The largest coordinate."""


def motion(here: Tick, there: Tick) -> Motion:
    """How far limbs get from one tick to the next."""
    model, owner = here.structure.limb["model"], here.structure.limb["owner"]
    rows = np.arange(len(model))
    found, is_bare = Motion(*np.zeros((5, len(rows)))), owner < 0
    first, following = (
        np.where(is_bare, 0, here.characters[name][owner] if len(here.characters) else 0)
        for name in ("first_row", "next_row")
    )
    next_row = np.where(following == STAYS, STAYS, rows - first + following)
    by_ends = rows < len(here.ends[0])
    _by_ends(here, there, rows[by_ends], next_row[by_ends], found)
    _by_bones(here, there, rows[~by_ends], next_row[~by_ends], found)
    return found


def _by_ends(here: Tick, there: Tick, rows: Int64Array, next_row: Int64Array, found: Motion) -> None:
    """Write the motion of limbs whose ends were recorded."""
    models, model = here.structure.models, here.structure.limb["model"][rows]
    largest = np.abs(np.hstack([one[rows] for one in here.ends])).max(axis=1, initial=0.0)
    found.extent[rows] = largest + models.rim[model]
    goes = next_row != STAYS
    rows, next_row, model = rows[goes], next_row[goes], model[goes]
    rim, is_box = models.rim[model], models.codes["box"][model] >= 0
    (p1, far_p1), (p2, far_p2) = ((one[rows], far[next_row]) for one, far in zip(here.ends, there.ends, strict=True))
    axis, change = p2 - p1, (far_p2 - far_p1) - (p2 - p1)
    square = (change * change).sum(axis=1)
    at = np.clip(-(axis * change).sum(axis=1) / np.where(square > 0.0, square, 1.0), 0.0, 1.0)
    shortest = length_of_rows(axis + at[:, None] * change)
    turn = rim * np.sqrt(square) / np.where(shortest > 0.0, shortest, 1e-300)
    found.straight[rows] = np.maximum(length_of_rows(far_p1 - p1), length_of_rows(far_p2 - p2))
    found.turning[rows] = np.where((rim > 0.0) & ~is_box, turn, 0.0)
    found.most_turning[rows] = 2.0 * rim
    boxes = rows[is_box]
    a, b = here.axes[box_rows(here, boxes)], there.axes[box_rows(there, next_row[is_box])]
    for k in range(3):
        found.jump[boxes] += length_of_rows(b[:, 3 * k : 3 * k + 3] - a[:, 3 * k : 3 * k + 3]) * a[:, 9 + k]


def box_rows(tick: Tick, rows: Int64Array) -> Int64Array:
    """The rows of `axes` of boxes that were recorded by their ends."""
    owner = tick.structure.limb["owner"][rows]
    box: Int64Array = tick.structure.models.codes["box"][tick.structure.limb["model"][rows]].copy()
    owned = owner >= 0
    box[owned] += tick.characters["first_box"][owner[owned]]
    return box


def _by_bones(here: Tick, there: Tick, rows: Int64Array, next_row: Int64Array, found: Motion) -> None:
    """Write the motion of limbs whose bones were recorded."""
    models, model = here.structure.models, here.structure.limb["model"][rows]
    owner, bone, goes = here.structure.limb["owner"][rows], models.codes["bone"][model], next_row != STAYS
    a = here.bones[here.characters["first_bone"][owner] + bone]
    b = np.where(goes[:, None], there.bones[np.where(goes, here.characters["next_bone"][owner] + bone, 0)], a)
    p, q = unit_rows(a[:, 3:7]), unit_rows(b[:, 3:7])
    q = np.where((p * q).sum(axis=1, keepdims=True) < 0.0, -q, q)
    half = length_of_rows(q - p) / length_of_rows(q + p)  # the tangent of a quarter of the turn
    size = (models.span + models.rim)[model]
    found.straight[rows] = length_of_rows(b[:, :3] - a[:, :3])
    found.turning[rows], found.most_turning[rows] = 4.0 * half * size, 2.0 * size
    found.extent[rows] = np.abs(a[:, :3]).max(axis=1, initial=0.0) + size


def is_settled(here: Tick, there: Tick) -> bool:
    """Whether no limb leaves, comes, jumps or changes its layers from one tick to the next."""
    structure = here.structure
    statics = structure.settled["next_row"] == STAYS
    bones = structure.settled["first_bone"][statics]
    return (
        structure is there.structure
        and (here.characters is structure.settled or not len(structure.ids))
        and np.array_equal(here.bones[bones], there.bones[bones])
    )


def length_of_rows(v: Float64Array) -> Float64Array:
    """The length of each vector."""
    return np.asarray(np.sqrt((v * v).sum(axis=1)))


def unit_rows(v: Float64Array) -> Float64Array:
    """Unit vectors; 0 stays 0."""
    length = np.sqrt((v * v).sum(axis=1, keepdims=True))
    return np.asarray(v / np.where(length > 0.0, length, 1.0))
