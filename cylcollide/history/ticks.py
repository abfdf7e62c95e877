"""Ticks: what is kept of a state, and what lies between it and the next one."""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from cylcollide._types import BoolArray, Float32Array, Float64Array, Int64Array
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.refit import Slots, united
from cylcollide.constants import LARGEST_NUMBER, SMALLEST_SIZE, TREE_WIDTH
from cylcollide.history.models import STAYS, Models, Structure
from cylcollide.recorded import limbs as columns
from cylcollide.recorded.limbs import BONE_SIZE, COLUMNS, Recorded
from cylcollide.recorded.swept_boxes import PAD, fill_bones, fill_growth
from cylcollide.runtime import memory
from cylcollide.runtime.memory import Records, address_of
from cylcollide.world.roster import Roster
from cylcollide.world.snapshot import Snapshot

Interpolation: TypeAlias = Literal["bones", "ends"]


@dataclass(frozen=True)
class Tick:
    """One recorded state, and where its limbs may be before the next one. Never changed."""

    number: int
    time: float
    roster: Roster
    structure: Structure
    characters: Records
    """As in `recorded.limbs.TickRows`."""
    ends: tuple[Float64Array, Float64Array]
    """Ends p1, p2 of the bare limbs, or of all limbs if ends are interpolated."""
    axes: Float64Array
    """Axes and half extents of the boxes among them."""
    roots: Float64Array
    """Where the first bone of each posed character is, (characters, 3)."""
    bones: Float64Array
    """As in `recorded.limbs.TickRows`: of all posed characters, or none if ends are interpolated; and a last row that
    is nobody's, for loops that read some row beside one that is not used."""
    by_ends: bool
    """Whether ends are interpolated, not bones."""
    tree: Tree
    """A tree over boxes around all that is from this tick to the next one; of the last tick, around all limbs there."""
    slots: Slots | None
    """Where the limbs stand in it; None once it is known what follows."""

    def __getstate__(self) -> dict[str, Any]:
        """The fields, and not the addresses: the arrays of a copy or pickle have others."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def followed_by(self, tick: "Tick", teleport_distance: float) -> "Tick":
        """The same tick, before another one."""
        made = replace(self, characters=self._characters_before(tick, teleport_distance), slots=None)
        if not self.structure.rows or not tick.structure.rows:
            return made
        assert self.slots is not None
        models, tree, after = self.structure.models, self.tree, tick.tree
        space = tree.space.joined(after.space, models.most_growth)
        growth = np.zeros(tree.child.size, np.float32)
        both = Recorded(np.stack([made.addresses, tick.addresses]), np.zeros((2, 10)), self.by_ends)
        least = PAD * max(map(abs, (*space.centre, 1.0 / space.scale)))
        fill_growth(both, models.span, models.rim, self.slots.items, space.scale, least, growth)
        is_same = tree.child is after.child and self.structure is tick.structure
        boxes = after.bounds if is_same else self._boxes_at(tick, made.characters)
        return replace(made, tree=united(tree, after, boxes, growth, space))

    def _characters_before(self, tick: "Tick", teleport_distance: float) -> Records:
        """The characters, each with its places in the next tick."""
        mine, theirs = self.structure, tick.structure
        if not len(mine.ids):
            return mine.characters
        extent = max(abs(x) for one in (self, tick) for corner in one.tree.space.corners() for x in corner)
        shortest = mine.models.shortest
        far = (extent > 0.5 * LARGEST_NUMBER) | (shortest < PAD * extent) | (shortest < SMALLEST_SIZE / PAD)
        place = np.arange(len(mine.ids)) if mine is theirs else theirs.place_of(mine.ids)
        goes = self._goes_on(tick, place, teleport_distance)
        if mine is theirs and goes.all() and not far.any():
            return mine.settled  # the same numbers for many ticks: less memory, and more of it in the cache
        characters = mine.characters.copy()
        for following, first in (("next_row", "first_row"), ("next_bone", "first_bone")):
            characters[following][goes] = theirs.characters[first][place[goes]]
        characters["is_ordinary"] = ~far[mine.rig]
        return characters

    def _goes_on(self, tick: "Tick", place: Int64Array, distance: float) -> BoolArray:
        """Which characters come to the next tick, where their place is, and are not moved there at once."""
        goes: BoolArray = np.asarray(place != STAYS)
        if self.roster is not tick.roster:
            ids = self.structure.ids[goes]
            mine, theirs = self.roster.index_of_living(ids), tick.roster.index_of_living(ids)
            goes[goes] = self.roster.teleports[mine] == tick.roster.teleports[theirs]
        if np.isfinite(distance):
            step = tick.roots[place[goes]] - self.roots[goes]
            goes[goes] = np.hypot(np.hypot(step[:, 0], step[:, 1]), step[:, 2]) <= distance
        return goes

    def _boxes_at(self, tick: "Tick", characters: Records) -> Float32Array:
        """The boxes of the limbs at the next tick, in its frame, where the tree has them now; any of one that stays."""
        assert self.slots is not None
        assert tick.slots is not None
        bare, owner, row = self.structure.bare, self.structure.limb["owner"], np.arange(self.structure.rows)
        first, following = (characters[name][owner[bare:]] for name in ("first_row", "next_row"))
        row[bare:] = np.where(following == STAYS, 0, row[bare:] - first + following)
        here, there, bounds = self.slots.items, tick.slots.items[row], self.tree.bounds.copy()
        found = tick.tree.bounds[there // TREE_WIDTH, :, there % TREE_WIDTH]
        bounds[here // TREE_WIDTH, :, here % TREE_WIDTH] = found
        return bounds

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
            (columns.ROW, structure.limb), (columns.CHARACTER, self.characters), (columns.NUMBERS, models.numbers),
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
    layout, moved, table, by_ends = state.layout, state.columns, state.table, interpolate == "ends"
    limbs = layout.rows if by_ends else structure.bare
    solids = layout.boxes if by_ends else len(layout.bare.table.boxes)
    bones: Float64Array = memory.aligned((1 if by_ends else layout.bones + 1, BONE_SIZE), np.float64, np.empty)
    bones[-1] = 0.0
    if not by_ends:
        fill_bones(moved.positions, moved.orientations, bones)
    roots = moved.positions[layout.first.bones]
    ends = table.p1[:limbs].copy(), table.p2[:limbs].copy()
    axes = table.boxes[:solids].copy()
    bounds = memory.rows((state.tree.bounds.size // 2,)).view(np.float32).reshape(state.tree.bounds.shape)
    bounds[...] = state.tree.bounds  # a tick must not keep those of a state, which are written again
    return Tick(
        number, time, state.roster, structure, structure.characters, ends, axes, roots, bones, by_ends,
        state.tree._replace(bounds=memory.frozen(bounds)), state.slots,
    )  # fmt: skip


def structure_of(state: Snapshot, before: Structure | None) -> Structure:
    """The structure of a state; its models are those of an earlier one where they are the same."""
    layout = state.layout
    if before is not None and before.models.are_of(layout.bare, layout.rigs):
        return Structure(layout, before.models)
    return Structure(layout, Models(layout.bare, layout.rigs))
