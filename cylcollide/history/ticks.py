"""Ticks: what is kept of a state, and what lies between it and the next one."""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int64Array
from cylcollide.bvh.layout import HIGH, Tree
from cylcollide.bvh.refit import refit
from cylcollide.constants import LARGEST_NUMBER, SMALLEST_SIZE, TREE_WIDTH
from cylcollide.history.models import STAYS, Models, Structure
from cylcollide.kernels import recorded as columns
from cylcollide.kernels.recorded import BONE_SIZE, COLUMNS, NEXT_BONE, NEXT_ROW, ORDINARY, Recorded
from cylcollide.kernels.swept import PAD, fill_bones, fill_reach_boxes, sweep_boxes
from cylcollide.runtime import memory
from cylcollide.runtime.addresses import address_of
from cylcollide.runtime.memory import aligned
from cylcollide.world.roster import Roster
from cylcollide.world.snapshot import Snapshot

Interpolation: TypeAlias = Literal["bones", "ends"]

NO_BOUNDS = np.empty((0, 2 * HIGH, TREE_WIDTH), np.float32)
"""Of a tree that is to be fitted: a tick must not keep those of a state, which are written again."""


class Boxes(NamedTuple):
    """Boxes around the limbs of a state, whichever way they are turned."""

    low: Float64Array  # (rows, 3)
    high: Float64Array  # (rows, 3)
    extent: Float64Array  # (characters,): the largest coordinate


@dataclass(frozen=True)
class Tick:
    """One recorded state, and where its limbs may be before the next one. Never changed."""

    number: int
    time: float
    roster: Roster
    structure: Structure
    characters: Int64Array
    """As in `kernels.recorded.TickRows`."""
    ends: tuple[Float64Array, Float64Array]
    """Ends p1, p2 of the bare limbs, or of all limbs if ends are interpolated."""
    axes: Float64Array
    """Axes and half extents of the boxes among them."""
    roots: Float64Array
    """Where the first bone of each posed character is, (characters, 3)."""
    bones: Float64Array
    """As in `kernels.recorded.TickRows`: of all posed characters, or none if ends are interpolated; and a last row that
    is nobody's, for loops that read some row beside one that is not used."""
    by_ends: bool
    """Whether ends are interpolated, not bones."""
    tree_at_tick: Tree | None
    """A tree over the limbs, with bounds of no meaning; None once it is known what follows."""
    boxes: Boxes | None
    """None once it is known what follows."""
    swept: Tree | None = None
    """The tree over boxes around all that is from this tick to the next one; None for the last tick."""

    def __getstate__(self) -> dict[str, Any]:
        """The fields, and not the addresses: the arrays of a copy or pickle have others."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def tree(self) -> Tree:
        """A tree over boxes around all limbs from this tick until the next one, or around them as they are."""
        if self.swept is not None:
            return self.swept
        assert self.tree_at_tick is not None
        assert self.boxes is not None
        return refit(self.tree_at_tick, self.boxes.low, self.boxes.high)

    def followed_by(self, tick: "Tick", teleport_distance: float) -> "Tick":
        """The same tick, before another one."""
        mine, theirs, boxes, later = self.structure, tick.structure, self.boxes, tick.boxes
        assert self.tree_at_tick is not None
        assert boxes is not None
        assert later is not None
        place = theirs.place_of(mine.ids)
        place = np.where(self._teleports(tick, place, teleport_distance), STAYS, place)
        goes = place != STAYS
        characters = mine.characters.copy()
        if len(theirs.ids):
            for column, first in ((NEXT_ROW, columns.FIRST_ROW), (NEXT_BONE, columns.FIRST_BONE)):
                characters[:, column] = np.where(goes, theirs.characters[place, first], STAYS)
            extent = np.maximum(boxes.extent, np.where(goes, later.extent[place], 0.0))
        else:
            extent = boxes.extent
        shortest = mine.models.shortest[mine.rig]
        far = (extent > 0.5 * LARGEST_NUMBER) | (shortest < PAD * extent) | (shortest < SMALLEST_SIZE / PAD)
        characters[:, ORDINARY] = ~far
        if mine is theirs and np.array_equal(characters, mine.settled):
            characters = mine.settled  # the same numbers for many ticks: less memory, and more of it in the cache
        made = replace(self, characters=characters)
        low, high = memory.rows((2, mine.rows, 3))
        both = Recorded(np.stack([made.addresses, tick.addresses]), np.zeros((2, 10)), self.by_ends)
        sweep_boxes(both, mine.models.span, boxes.low, boxes.high, later.low, later.high, low, high)
        return replace(made, tree_at_tick=None, boxes=None, swept=refit(self.tree_at_tick, low, high))

    def _teleports(self, tick: "Tick", place: Int64Array, distance: float) -> BoolArray:
        """Which characters do not come to the next tick, where their place is, or are moved there at once."""
        stays: BoolArray = np.asarray(place == STAYS)
        found = np.flatnonzero(~stays)
        ids = self.structure.ids[found]
        mine, theirs = self.roster.index_of_living(ids), tick.roster.index_of_living(ids)
        stays[found] = self.roster.teleports[mine] != tick.roster.teleports[theirs]
        if np.isfinite(distance) and len(found):
            step = tick.roots[place[found]] - self.roots[found]
            stays[found] |= np.hypot(np.hypot(step[:, 0], step[:, 1]), step[:, 2]) > distance
        return stays

    @cached_property
    def addresses(self) -> Int64Array:
        """A row of `Recorded.address`, but for the tree."""
        row, structure = np.zeros(COLUMNS, np.int64), self.structure
        models = structure.models
        row[columns.ROWS], row[columns.ENDS], row[columns.BOXES] = structure.rows, len(self.ends[0]), len(self.axes)
        row[columns.CHARACTERS], row[columns.BONES] = len(structure.ids), len(self.bones)
        row[columns.SHARED_LAYERS] = structure.shared_layers
        row[columns.MODELS], row[columns.MODEL_BOXES] = len(models.codes), len(models.boxes)
        for column, array in (
            (columns.ROW, structure.row), (columns.CHARACTER, self.characters), (columns.NUMBERS, models.numbers),
            (columns.CODES, models.codes), (columns.MODEL_BOX, models.boxes), (columns.P1, self.ends[0]),
            (columns.P2, self.ends[1]), (columns.AXES, self.axes), (columns.BONE_ROWS, self.bones),
        ):  # fmt: skip
            row[column] = address_of(array)
        return row

    @cached_property
    def addresses_with_tree(self) -> Int64Array:
        """The same, with the tree's."""
        row, tree = self.addresses.copy(), self.tree
        row[columns.NODES] = len(tree.child)
        row[columns.BOUNDS], row[columns.CHILD] = address_of(tree.bounds), address_of(tree.child)
        row[columns.AXIS] = address_of(tree.axis)
        return row

    @cached_property
    def space(self) -> Float64Array:
        """A row of `Recorded.space`."""
        space = self.tree.space
        return np.array([*space.centre, space.scale, *space.low, *space.high])


def tick_of(state: Snapshot, number: int, time: float, interpolate: Interpolation, structure: Structure) -> Tick:
    """What is kept of a state."""
    rows, moved, table, by_ends = state.rows, state.columns, state.table, interpolate == "ends"
    limbs = rows.rows if by_ends else structure.bare
    solids = rows.boxes if by_ends else len(rows.bare.table.boxes)
    bones: Float64Array = aligned((1 if by_ends else rows.bones + 1, BONE_SIZE), np.float64)
    if not by_ends:
        fill_bones(moved.positions, moved.orientations, bones)
    roots = moved.positions[rows.first_bone]
    low, high = memory.rows((2, rows.rows, 3))
    boxes = Boxes(low, high, np.empty(len(rows.ids)))
    fill_reach_boxes(table.p1, table.p2, structure.row, structure.models.reach, *boxes)
    ends = table.p1[:limbs].copy(), table.p2[:limbs].copy()
    tree = state.tree._replace(bounds=NO_BOUNDS) if rows.rows else state.tree
    axes = table.boxes[:solids].copy()
    return Tick(
        number, time, state.roster, structure, structure.characters, ends, axes, roots, bones, by_ends, tree, boxes
    )


def structure_of(state: Snapshot, before: Structure | None) -> Structure:
    """The structure of a state; its models are those of an earlier one where they are the same."""
    rows = state.rows
    if before is not None and before.models.are_of(rows.bare, rows.rigs):
        return Structure(rows, before.models)
    return Structure(rows, Models(rows.bare, rows.rigs))
