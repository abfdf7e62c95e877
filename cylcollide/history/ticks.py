"""Ticks: what is kept of a state, and what lies between it and the next one."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int32Array, Int64Array
from cylcollide.bvh.build import build
from cylcollide.bvh.layout import Tree
from cylcollide.kernels.interpolation import REACH_PAD, fill_character_boxes
from cylcollide.kernels.rig_rows import Bones
from cylcollide.query.loops.listed import Centres
from cylcollide.world.roster import Roster
from cylcollide.world.snapshot import Snapshot
from cylcollide.world.state_rows import StateRows

Interpolation: TypeAlias = Literal["bones", "ends"]


@dataclass(frozen=True)
class Boxes:
    """Boxes around the entries of a tick: its bare limbs, then its posed characters."""

    low: Float64Array  # (entries, 3)
    high: Float64Array  # (entries, 3)

    @cached_property
    def tree(self) -> Tree:
        """The tree over them; that of an entry without limbs is nowhere."""
        nowhere, somewhere = self.low > self.high, np.zeros_like(self.low)
        return build(np.where(nowhere, somewhere, self.low), np.where(nowhere, somewhere, self.high))

    def joined(self, other: "Boxes", row: Int64Array) -> "Boxes":
        """Boxes around these and those of another tick, where entry i is in row `row[i]`, or in none: -1."""
        low, high = other.low[row], other.high[row]
        low[row < 0], high[row < 0] = np.inf, -np.inf
        return Boxes(np.minimum(self.low, low), np.maximum(self.high, high))


@dataclass(frozen=True)
class Next:
    """What follows a tick."""

    tick: "Tick"
    first_bone: Int32Array
    """Where the bones of each posed character begin in the next tick, -1 if it stays where it is until then."""
    first_row: Int32Array
    """The same of its rows."""
    boxes: Boxes
    """Boxes around all that is between both."""


@dataclass(frozen=True)
class Tick:
    """One recorded state. Never changed."""

    number: int
    time: float
    roster: Roster
    rows: StateRows
    ends: tuple[Float64Array, Float64Array]
    """Ends p1, p2 of the bare limbs, or of all limbs if ends are interpolated."""
    box_rows: Float64Array
    """Axes and half extents of the boxes among them."""
    roots: Float64Array
    """Where the first bone of each posed character is, (characters, 3)."""
    bones: Bones
    """The bones of all posed characters; none if ends are interpolated."""
    centres: Centres | None
    """The middles of all limbs; None if ends are interpolated."""
    boxes: Boxes
    next: Next | None = None
    """None for the last tick."""

    @property
    def entries(self) -> int:
        """How many bare limbs and posed characters there are."""
        return len(self.boxes.low)

    def followed_by(self, tick: "Tick", teleport_distance: float) -> "Tick":
        """The same tick, before another one."""
        place, found = tick.rows.index_of(self.rows.ids)
        if len(self.rows.ids):
            found = found & ~self._teleports(tick, place, found, teleport_distance)
        place = np.where(found, place, -1)
        bare = len(self.rows.bare)
        row = np.concatenate([np.arange(bare), np.where(found, bare + place, -1)])
        boxes = self.boxes.joined(tick.boxes, row) if tick.entries else self.boxes
        first = (tick.rows.first_bone, tick.rows.first_row)
        first_bone, first_row = (np.where(found, column[place], -1) if len(column) else place for column in first)
        return replace(
            self, next=Next(replace(tick, next=None), first_bone.astype(np.int32), first_row.astype(np.int32), boxes)
        )

    def _teleports(self, tick: "Tick", place: Int64Array, found: BoolArray, distance: float) -> BoolArray:
        """Which characters were moved to the next tick at once; `place` is that of those that are found there."""
        mine = self.roster.index_of_living(self.rows.ids)
        theirs = tick.roster.index_of_living(self.rows.ids[found])
        teleported = np.zeros(len(found), np.bool_)
        teleported[found] = self.roster.teleports[mine[found]] != tick.roster.teleports[theirs]
        if np.isfinite(distance):
            step = tick.roots[np.where(found, place, 0)] - self.roots
            teleported |= np.hypot(np.hypot(step[:, 0], step[:, 1]), step[:, 2]) > distance
        return teleported


def tick_of(state: Snapshot, number: int, time: float, interpolate: Interpolation) -> Tick:
    """What is kept of a state."""
    rows, columns, table = state.rows, state.columns, state.table
    limbs = len(rows.bare) if interpolate == "bones" else rows.rows
    solids = len(rows.bare.table.boxes) if interpolate == "bones" else rows.boxes
    positions, orientations = columns.positions, columns.orientations
    if interpolate == "ends":
        positions, orientations = positions[:0], orientations[:0]
    ends = table.p1[:limbs].copy(), table.p2[:limbs].copy()
    bones = Bones(positions.copy(), orientations.copy())
    low, high = _limb_boxes(*ends, rows.limb_reach[:limbs])
    bare = len(rows.bare)
    if interpolate == "ends":
        around = [_joined(low[bare:], rows, np.minimum), _joined(high[bare:], rows, np.maximum)]
    else:
        around = list(np.empty((2, len(rows.ids), 3)))
        fill_character_boxes(bones.positions, rows.bone_reach, rows.first_bone, rows.counts.bones, *around)
    boxes = Boxes(np.concatenate([low[:bare], around[0]]), np.concatenate([high[:bare], around[1]]))
    centres = None
    if interpolate == "bones":
        centres = Centres(0.5 * table.p1 + 0.5 * table.p2, bones.positions, rows.transform)
    roots = columns.positions[rows.first_bone]
    return Tick(number, time, state.roster, rows, ends, table.boxes[:solids].copy(), roots, bones, centres, boxes)


def _limb_boxes(p1: Float64Array, p2: Float64Array, reach: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Corners of boxes around limbs, whichever way their axes and boxes are turned."""
    low, high = np.minimum(p1, p2), np.maximum(p1, p2)
    more = reach[:, None] + REACH_PAD * (np.maximum(np.abs(low), np.abs(high)) + reach[:, None])
    return low - more, high + more


def _joined(corners: Float64Array, rows: StateRows, of_all: np.ufunc) -> Float64Array:
    """Corners of the boxes around the limbs of each character."""
    nothing = np.inf if of_all is np.minimum else -np.inf
    joined = np.full((len(rows.ids), 3), nothing)
    some = rows.counts.rows > 0
    if some.any():
        joined[some] = of_all.reduceat(corners, (rows.first_row - len(rows.bare))[some], axis=0)
    return joined
