"""Ticks: recorded states, with trees over the motion until the next one; and the ring of kept ticks.

`Models` hold the data of limbs that motion does not change; a `Structure` gives the model of each row of a state.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from operator import is_
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import NO_LIMB, BoolArray, Float32Array, Float64Array, Int32Array, Int64Array
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.refit import Slots, united
from cylcollide.characters.rig import Rig
from cylcollide.constants import LARGEST_NUMBER, SMALLEST_SIZE, TREE_WIDTH
from cylcollide.kernels.traits import ROUND
from cylcollide.limbs.limbs import Limbs
from cylcollide.limbs.tables import HAS_AXIS
from cylcollide.query.labels import NO_BONE, NO_STATIC
from cylcollide.recorded import limbs as columns
from cylcollide.recorded.limbs import BONE_SIZE, CHARACTER_FIELDS, COLUMNS, LIMB_FIELDS, MODEL_FIELDS, Recorded
from cylcollide.recorded.swept_boxes import PAD, fill_bones, fill_growth
from cylcollide.runtime import memory
from cylcollide.runtime.memory import Records, address_of, frozen
from cylcollide.world.layout import WorldLayout, index_among
from cylcollide.world.roster import Roster
from cylcollide.world.snapshot import Snapshot

Interpolation: TypeAlias = Literal["bones", "ends"]

NO_OWNER, STAYS = -1, -1


class Models:
    """The bare limbs of a state, those of its rigs, then its statics; ticks with the same limbs share one object."""

    def __init__(self, bare: Limbs, rigs: tuple[Rig, ...], statics: Limbs) -> None:
        self.bare, self.rigs, self.statics = bare, rigs, statics
        parts, first_static = [bare, *(rig.limbs for rig in rigs), statics], sum(len(rig.limbs) for rig in rigs)
        first_static += len(bare)
        limbs, boxes = Limbs.concat(parts), [len(part._table.boxes) for part in parts]
        t = limbs._table
        self.first_box: Int64Array = np.cumsum(boxes)[:-2]
        """The first row of `boxes` of each rig."""
        self.numbers = np.column_stack([t.p1, t.p2, t.radius, t.radius2])
        self.codes = codes = np.zeros(len(limbs), MODEL_FIELDS)
        codes["kind"], codes["kernel_shape"], codes["box"], codes["mask"] = t.kind, t.kernel_shape, t.box, t.mask
        codes["needs_axis"], codes["label"] = HAS_AXIS[t.kind], NO_OWNER
        codes["label"][: len(bare)] = bare.character
        of_rigs = slice(len(bare), first_static)
        codes["bone"][: len(bare)] = NO_BONE  # a static has one bone
        codes["bone"][of_rigs] = np.concatenate([np.empty(0), *(rig.limb_bone for rig in rigs)])
        self.rig_limb: Int32Array = np.full(len(limbs), NO_LIMB, np.int32)
        """Limb of the rig, -1 for a bare limb or a static."""
        self.rig_limb[of_rigs] = np.concatenate([np.empty(0), *(np.arange(len(rig.limbs)) for rig in rigs)])
        self.boxes: Float64Array = t.boxes
        self.names: NDArray[Any] = frozen(np.array(limbs.names, object))
        self.hit_group: Int32Array = limbs.hit_group
        length = np.linalg.norm(self.numbers[:, 3:6] - self.numbers[:, :3], axis=1)
        rim = self.numbers[:, 6:].max(axis=1, initial=0.0)
        is_box = t.box >= 0
        self.local_box = np.zeros((len(limbs), 12))
        """Axes and half extents of each box in the frame of its bone."""
        self.local_box[is_box] = t.boxes[t.box[is_box]]
        rim[is_box] = np.linalg.norm(self.local_box[is_box, 9:], axis=1)
        rim[np.isin(t.kind, ROUND)] = 0.0
        ends = np.linalg.norm(self.numbers[:, :6].reshape(-1, 2, 3), axis=2)
        self.reaches = np.column_stack([ends.max(axis=1, initial=0.0), rim])
        """As in `recorded.limbs.TickRows`."""
        turned = rim[:first_static].max(initial=0.0)
        self.most_growth = float(self.reaches.sum(axis=1)[of_rigs].max(initial=turned))
        """Largest growth of any box between two ticks, rounding excluded; statics stand still."""
        length[length == 0.0] = np.inf
        of_each = np.split(length, np.cumsum(list(map(len, parts))))[1 : 1 + len(rigs)]
        self.shortest: Float64Array = np.array([one.min(initial=np.inf) for one in of_each])
        """The shortest axis of each rig."""

    def are_of(self, layout: WorldLayout) -> bool:
        """Whether these are the models of the limbs of a state."""
        same = self.bare is layout.bare and self.statics is layout.statics.limbs
        return same and len(self.rigs) == len(layout.rigs) and all(map(is_, self.rigs, layout.rigs))


class Structure:
    """The rows of a state and their owners; ticks share it until an owner is added, removed or gets other layers.

    Statics are recorded as characters of one bone that all stay until the next tick.
    """

    def __init__(self, layout: WorldLayout, models: Models, interpolate: Interpolation) -> None:
        self.models, self.ids, self.rig = models, layout.ids, layout.rig
        self.static = layout.static if len(layout.statics.handles) else np.broadcast_to(NO_STATIC, layout.rows)
        self.bare, self.rows, count = len(layout.bare), layout.rows, len(layout.ids)
        by_ends = interpolate == "ends"
        self.ends, self.boxes, _ = layout.first_static if by_ends else layout.bare_counts
        """The number of limbs recorded by their ends, which come first, and of boxes among them."""
        self.first_bone = layout.first_static[2] if by_ends else 0
        """The first recorded bone."""
        self.limb = limb = np.empty(layout.rows, LIMB_FIELDS)
        """As in `recorded.limbs.TickRows`."""
        limb["model"], limb["owner"][: self.bare] = layout.stacked_row, NO_OWNER
        limb["owner"][self.bare :] = np.repeat(np.arange(len(layout.counts.rows)), layout.counts.rows)
        self.shared_layers = layout.shared_mask
        """The layers common to all limbs."""
        self.characters = characters = np.zeros(len(layout.counts.rows), CHARACTER_FIELDS)
        """As in `recorded.limbs.TickRows`, before the next tick is recorded."""
        characters["id"][:count], characters["layers"][:count] = layout.ids, layout.layers
        characters["id"][count:], characters["layers"][count:] = NO_OWNER, columns.OWN_LAYERS
        characters["first_row"], characters["rows"] = layout.first.rows, layout.counts.rows
        characters["first_bone"] = layout.first.bones - self.first_bone
        characters["first_box"][:count] = layout.first.boxes[:count] - models.first_box[layout.rig]
        characters["next_row"] = characters["next_bone"] = STAYS
        characters["is_ordinary"][count:] = 1
        self.staying = staying = characters.copy()
        """`characters` if the next state has the same structure and no character jumps or is out of range."""
        first = layout.first
        staying["next_row"][:count], staying["next_bone"][:count] = first.rows[:count], first.bones[:count]
        staying["is_ordinary"] = 1


@dataclass(frozen=True)
class Tick:
    """One recorded state, and a tree over the motion of its limbs until the next one. Immutable."""

    number: int
    time: float
    roster: Roster
    structure: Structure
    characters: Records
    """As in `recorded.limbs.TickRows`."""
    ends: tuple[Float64Array, Float64Array]
    """Ends p1, p2 of the bare limbs, and of those of characters if ends are interpolated."""
    axes: Float64Array
    """Axes and half extents of the boxes recorded by their ends."""
    roots: Float64Array
    """Position of the first bone of each posed character, (characters, 3)."""
    bones: Float64Array
    """As in `recorded.limbs.TickRows`: of all posed characters unless ends are interpolated, and of statics; then one
    row of zeros, which loops may read where a bone has no next one."""
    by_ends: bool
    """Whether ends are interpolated, not bones."""
    tree: Tree
    """A tree over the swept boxes of limbs from this tick to the next; for the last tick, over the limbs' boxes."""
    slots: Slots | None
    """The slots of the limbs in the tree; None once the next tick is recorded."""

    def __getstate__(self) -> dict[str, Any]:
        """The fields without the addresses, since the arrays of a copy or pickle have different ones."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def followed_by(self, tick: "Tick", teleport_distance: float) -> "Tick":
        """The same tick, with its tree and characters extended to the next tick."""
        made = replace(self, characters=self._characters_before(tick, teleport_distance), slots=None)
        if not self.structure.rows or not tick.structure.rows:
            return made
        assert self.slots is not None
        models, tree, after = self.structure.models, self.tree, tick.tree
        frame = tree.frame.joined(after.frame, models.most_growth)
        growth = np.zeros(tree.child.size, np.float32)
        both = recorded_ticks((made, tick))
        least = PAD * max(map(abs, (*frame.centre, 1.0 / frame.scale)))
        fill_growth(both, self.slots.items, frame.scale, least, growth)
        is_same = tree.child is after.child and self.structure is tick.structure
        boxes = after.bounds if is_same else self._boxes_at(tick, made.characters)
        return replace(made, tree=united(tree, after, boxes, growth, frame))

    def _characters_before(self, tick: "Tick", teleport_distance: float) -> Records:
        """The characters, each with its rows and bones in the next tick."""
        mine, theirs = self.structure, tick.structure
        if not len(mine.ids):
            return mine.characters
        extent = max(abs(x) for one in (self, tick) for corner in one.tree.frame.corners() for x in corner)
        shortest = mine.models.shortest
        far = (extent > 0.5 * LARGEST_NUMBER) | (shortest < PAD * extent) | (shortest < SMALLEST_SIZE / PAD)
        place, is_there = index_among(mine.ids, theirs.ids)
        goes = self._continues(tick, place, is_there, teleport_distance)
        if mine is theirs and goes.all() and not far.any():
            return mine.staying  # one array shared by many ticks: less memory, better cache use
        made = mine.characters.copy()
        characters = made[: len(mine.ids)]
        for following, first in (("next_row", "first_row"), ("next_bone", "first_bone")):
            characters[following][goes] = theirs.characters[first][place[goes]]
        characters["is_ordinary"] = ~far[mine.rig]
        return made

    def _continues(self, tick: "Tick", place: Int64Array, is_there: BoolArray, distance: float) -> BoolArray:
        """Whether each character is in the next tick, at index `place`, and does not jump there."""
        goes = is_there.copy()
        if self.roster is not tick.roster:
            ids = self.structure.ids[goes]
            mine, theirs = self.roster.ids.searchsorted(ids), tick.roster.ids.searchsorted(ids)
            goes[goes] = self.roster.teleports[mine] == tick.roster.teleports[theirs]
        if np.isfinite(distance):
            step = tick.roots[place[goes]] - self.roots[goes]
            goes[goes] = np.hypot(np.hypot(step[:, 0], step[:, 1]), step[:, 2]) <= distance
        return goes

    def _boxes_at(self, tick: "Tick", characters: Records) -> Float32Array:
        """The boxes of the limbs at the next tick, in the slots of this tick's tree; arbitrary if a limb stays."""
        assert self.slots is not None
        assert tick.slots is not None
        bare, owner, row = self.structure.bare, self.structure.limb["owner"], np.arange(self.structure.rows)
        first, following = (characters[name][owner[bare:]] for name in ("first_row", "next_row"))
        row[bare:] = np.where(following == STAYS, 0, row[bare:] - first + following)
        slots, next_slots, bounds = self.slots.items, tick.slots.items[row], self.tree.bounds.copy()
        found = tick.tree.bounds[next_slots // TREE_WIDTH, :, next_slots % TREE_WIDTH]
        bounds[slots // TREE_WIDTH, :, slots % TREE_WIDTH] = found
        return bounds

    @cached_property
    def addresses(self) -> Int64Array:
        """A row of `Recorded.address`."""
        row, structure, tree = np.zeros(COLUMNS, np.int64), self.structure, self.tree
        models = structure.models
        row[columns.ROWS], row[columns.ENDS], row[columns.BOXES] = structure.rows, len(self.ends[0]), len(self.axes)
        row[columns.CHARACTERS], row[columns.BONES] = len(structure.characters), len(self.bones)
        row[columns.SHARED_LAYERS], row[columns.NODES] = structure.shared_layers, len(tree.child)
        row[columns.MODELS], row[columns.MODEL_BOXES] = len(models.codes), len(models.boxes)
        for column, array in (
            (columns.ROW, structure.limb), (columns.CHARACTER, self.characters), (columns.NUMBERS, models.numbers),
            (columns.CODES, models.codes), (columns.REACHES, models.reaches),
            (columns.MODEL_BOX, models.boxes), (columns.P1, self.ends[0]),
            (columns.P2, self.ends[1]), (columns.AXES, self.axes), (columns.BONE_ROWS, self.bones),
            (columns.BOUNDS, tree.bounds), (columns.CHILD, tree.child), (columns.AXIS, tree.axis),
        ):  # fmt: skip
            row[column] = address_of(array)
        return row

    @cached_property
    def frame(self) -> Float64Array:
        """A row of `Recorded.frame`."""
        frame = self.tree.frame
        return np.array([*frame.centre, frame.scale, *frame.low, *frame.high])


def recorded_ticks(ticks: Sequence[Tick]) -> Recorded:
    """Consecutive ticks in the form that loops read; the caller must keep the ticks alive."""
    addresses, frames = np.array([tick.addresses for tick in ticks]), np.array([tick.frame for tick in ticks])
    return Recorded(addresses, frames)


def tick_of(state: Snapshot, number: int, time: float, interpolate: Interpolation, structure: Structure) -> Tick:
    """A recorded state, before the next one is recorded."""
    layout, moved, table, first = state._layout, state._columns, state._table, structure.first_bone
    bones: Float64Array = memory.aligned((layout.bones - first + 1, BONE_SIZE), np.float64, np.empty)
    bones[-1] = 0.0
    fill_bones(moved.positions[first:], moved.orientations[first:], bones)
    roots = moved.positions[layout.first.bones[: len(layout.ids)]]
    ends = table.p1[: structure.ends].copy(), table.p2[: structure.ends].copy()
    axes = table.boxes[: structure.boxes].copy()
    bounds = memory.rows((state._tree.bounds.size // 2,)).view(np.float32).reshape(state._tree.bounds.shape)
    bounds[...] = state._tree.bounds  # copied, since the memory of a state's bounds is reused
    return Tick(
        number, time, state._roster, structure, structure.characters, ends, axes, roots, bones, interpolate == "ends",
        state._tree._replace(bounds=frozen(bounds)), state._slots,
    )  # fmt: skip


def structure_of(state: Snapshot, before: Structure | None, interpolate: Interpolation) -> Structure:
    """The structure of a state; it shares the models of an earlier structure if they are the same."""
    layout = state._layout
    same = before is not None and before.models.are_of(layout)
    models = before.models if before is not None and same else Models(layout.bare, layout.rigs, layout.statics.limbs)
    return Structure(layout, models, interpolate)


class Ring:
    """The kept ticks: one or more consecutive ones. Immutable: recording makes a new ring."""

    def __init__(self, ticks: tuple[Tick, ...]) -> None:
        self.ticks = ticks
        self.first, self.last = ticks[0].number, ticks[-1].number

    def __reduce__(self) -> tuple[type["Ring"], tuple[tuple[Tick, ...]]]:
        """A copy or pickle has the same ticks and new addresses of their arrays."""
        return Ring, (self.ticks,)

    def with_tick(self, tick: Tick, most: int, teleport_distance: float) -> "Ring":
        """The ring with another tick; only the last `most` ticks are kept."""
        before = self.ticks[-1].followed_by(tick, teleport_distance)
        return Ring((*self.ticks[:-1], before, tick)[-most:])

    @cached_property
    def times(self) -> Float64Array:
        """The time of each tick, (ticks,)."""
        return np.array([tick.time for tick in self.ticks])

    @cached_property
    def recorded(self) -> Recorded:
        """The ticks in the form that loops read."""
        return recorded_ticks(self.ticks)

    @property
    def by_ends(self) -> bool:
        """Whether ends are interpolated, not bones."""
        return self.ticks[0].by_ends

    @cached_property
    def deepest_tree(self) -> Tree:
        """The tree of the largest stack size; buffers for it suffice for all ticks."""
        return max((tick.tree for tick in self.ticks), key=lambda tree: tree.stack_size)
