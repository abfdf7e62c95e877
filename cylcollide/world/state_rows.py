"""Which rows a state has: bare limbs, then posed characters by ascending id; and their columns that poses keep."""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import BoolArray, Float64Array, Int8Array, Int32Array, Int64Array, Uint32Array
from cylcollide.characters.rig import Rig
from cylcollide.limbs.limbs import Limbs
from cylcollide.query.labels import NO_BONE, RowLabels
from cylcollide.runtime.memory import frozen

RIG_LAYERS = -1
"""Layers of a character whose limbs have the masks of its rig."""


LAYERED = ("layers", "mask", "shared_mask")
"""What of `StateRows` depends on the layers of characters."""


class Changed(NamedTuple):
    """What an update writes, by index."""

    rows: Int32Array
    boxes: Int32Array
    bones: Int32Array


class Counts(NamedTuple):
    """Sizes of rigs or characters, by column."""

    rows: Int64Array
    boxes: Int64Array
    bones: Int64Array


class StateRows:
    """The rows of bare limbs and of posed characters, and their columns that do not change when they move."""

    def __init__(
        self, bare: Limbs, rigs: tuple[Rig, ...], ids: Int32Array, rig: Int32Array, layers: Int64Array
    ) -> None:
        self.bare, self.rigs, self.ids, self.rig, self.layers = bare, rigs, ids, rig, layers
        table = bare.table
        sizes = [(len(one.limbs), len(one.limbs.table.boxes), len(one.bone_names)) for one in rigs]
        of_rig = np.array(sizes, np.int64).reshape(-1, 3)
        counts = of_rig[rig]
        ends = np.cumsum(counts, axis=0) + np.array([len(bare), len(table.boxes), 0])
        first = (ends - counts).astype(np.int32)
        self.first_row, self.first_box, self.first_bone = (frozen(np.ascontiguousarray(column)) for column in first.T)
        self.counts = Counts(*(frozen(np.ascontiguousarray(column)) for column in counts.T))
        last = ends[-1].tolist() if len(ids) else [len(bare), len(table.boxes), 0]
        self.rows, self.boxes, self.bones = int(last[0]), int(last[1]), int(last[2])

    @cached_property
    def stacked_row(self) -> Int64Array:
        """Of each row, its number among the bare limbs and then those of all rigs, one rig after another."""
        limbs_before = np.cumsum([len(self.bare)] + [len(one.limbs) for one in self.rigs])
        begins = np.repeat(limbs_before[self.rig] - self.first_row, self.counts.rows)
        return frozen(np.concatenate([np.arange(len(self.bare)), begins + np.arange(len(self.bare), self.rows)]))

    def _gathered(self, name: str) -> NDArray[np.generic]:
        """A column of the bare limbs and the rigs', by row."""
        if not len(self.ids):
            return getattr(self.bare.table, name)  # type: ignore[no-any-return]
        parts = [getattr(self.bare.table, name), *(getattr(one.limbs.table, name) for one in self.rigs)]
        column = np.concatenate(parts)[self.stacked_row]
        return frozen(column)

    @cached_property
    def kind(self) -> Int8Array:
        """`Shape`, (rows,)."""
        return self._gathered("kind")  # type: ignore[return-value]

    @cached_property
    def radius(self) -> Float64Array:
        """First radius, (rows,)."""
        return self._gathered("radius")  # type: ignore[return-value]

    @cached_property
    def radius2(self) -> Float64Array:
        """Second radius, (rows,)."""
        return self._gathered("radius2")  # type: ignore[return-value]

    @cached_property
    def box(self) -> Int32Array:
        """Row of the boxes, -1 for other shapes, (rows,)."""
        if not len(self.ids):
            return self.bare.table.box
        box = self._gathered("box").astype(np.int32)
        characters = box[len(self.bare) :]
        characters += np.where(characters >= 0, np.repeat(self.first_box, self.counts.rows), 0).astype(np.int32)
        return frozen(box)

    @cached_property
    def character(self) -> Int32Array:
        """Number of the character, (rows,)."""
        if not len(self.ids):
            return self.bare.character
        column = np.concatenate([self.bare.character, np.repeat(self.ids, self.counts.rows)])
        return frozen(column)

    @cached_property
    def mask(self) -> Uint32Array:
        """Layers, (rows,)."""
        if not len(self.ids):
            return self.bare.mask
        mask = self._gathered("mask").astype(np.uint32)
        layers = np.repeat(self.layers, self.counts.rows)
        own = layers != RIG_LAYERS
        mask[len(self.bare) :][own] = layers[own].astype(np.uint32)
        return frozen(mask)

    @cached_property
    def shared_mask(self) -> int:
        """Bitwise and of all masks."""
        return int(np.bitwise_and.reduce(self.mask))

    @cached_property
    def hit_group(self) -> Int32Array:
        """Hit group, (rows,)."""
        if not len(self.ids):
            return self.bare.hit_group
        column = np.concatenate([self.bare.hit_group, *(one.limbs.hit_group for one in self.rigs)])[self.stacked_row]
        return frozen(column)

    @cached_property
    def names(self) -> NDArray[np.object_]:
        """Names, (rows,)."""
        names = [*self.bare.names, *(name for one in self.rigs for name in one.limbs.names)]
        return frozen(np.array(names, object)[self.stacked_row])

    @cached_property
    def _bone_columns(self) -> tuple[Int32Array, Int32Array, Int32Array]:
        """Bone, limb in the rig and row of transforms of each row; -1 for bare limbs."""
        nothing = np.full(len(self.bare), NO_BONE, np.int32)
        bone = np.concatenate([nothing, *(one.limb_bone for one in self.rigs)])[self.stacked_row]
        transform, limb = bone.copy(), np.full(self.rows, NO_BONE, np.int32)
        transform[len(self.bare) :] += np.repeat(self.first_bone, self.counts.rows)
        limb[len(self.bare) :] = np.arange(len(self.bare), self.rows) - np.repeat(self.first_row, self.counts.rows)
        return frozen(bone), frozen(limb), frozen(transform)

    @property
    def bone(self) -> Int32Array:
        """Bone of the character's rig, -1 for bare limbs; (rows,)."""
        return self._bone_columns[0]

    @property
    def rig_limb(self) -> Int32Array:
        """Limb of the character's rig, -1 for bare limbs; (rows,)."""
        return self._bone_columns[1]

    @property
    def transform(self) -> Int32Array:
        """Row of the bone that carries each limb among all bones, -1 for bare limbs; (rows,)."""
        return self._bone_columns[2]

    def labels(self, positions: Float64Array, orientations: Float64Array) -> RowLabels:
        """What is known of each row; the transforms of all bones are (bones, 3) and (bones, 4)."""
        return RowLabels(self.names, self.hit_group, *self._bone_columns, positions, orientations)

    def with_layers(self, layers: Int64Array) -> "StateRows":
        """The same rows, where the characters have other layers, (characters,)."""
        other = StateRows(self.bare, self.rigs, self.ids, self.rig, layers)
        vars(other).update({name: column for name, column in vars(self).items() if name not in LAYERED})
        return other

    def index_of(self, ids: Int32Array) -> tuple[Int64Array, BoolArray]:
        """Of each id, its place among the posed characters, and whether it is among them."""
        index = np.minimum(np.searchsorted(self.ids, ids), max(len(self.ids) - 1, 0))
        return index, self.ids[index] == ids if len(self.ids) else np.zeros(len(ids), np.bool_)

    def changed(self, index: Int64Array) -> Changed:
        """What belongs to these characters, by their places in ascending order."""
        if len(index) == len(self.ids):
            return self.every_character
        first = (self.first_row, self.first_box, self.first_bone)
        return Changed(*(ranges(begin[index], count[index]) for begin, count in zip(first, self.counts, strict=True)))

    @cached_property
    def every_character(self) -> Changed:
        """What belongs to all characters."""
        first, last = (len(self.bare), len(self.bare.table.boxes), 0), (self.rows, self.boxes, self.bones)
        return Changed(*(frozen(np.arange(*ends, dtype=np.int32)) for ends in zip(first, last, strict=True)))

    def runs_in(self, other: "StateRows") -> "Runs":
        """Which rows, boxes and bones of this state are in another one's with the same bare limbs, and where."""
        index, found = other.index_of(self.ids)
        place = np.where(found, index, -1)
        breaks = np.flatnonzero((np.diff(place) != 1) | (place[:-1] < 0)) + 1
        begin, end = np.append(0, breaks)[: len(place)], np.append(breaks, len(place))[: len(place)]
        begin, end = begin[place[begin] >= 0], end[place[begin] >= 0]
        here, there = ((s.first_row, s.first_box, s.first_bone) for s in (self, other))
        runs = []
        for kept, mine, theirs, count in zip(
            (len(self.bare), len(self.bare.table.boxes), 0), here, there, self.counts, strict=True
        ):
            last = mine[end - 1] + count[end - 1]
            moved = zip(mine[begin].tolist(), last.tolist(), theirs[place[begin]].tolist(), strict=True)
            runs.append([Run(0, kept, 0), *map(Run._make, moved)])
        return Runs(*runs)


class Run(NamedTuple):
    """Consecutive entries that are kept together."""

    begin: int
    end: int
    to: int
    """Where the first one comes to stand."""


class Runs(NamedTuple):
    """The entries of a state's columns that are in another one's."""

    rows: list[Run]
    boxes: list[Run]
    bones: list[Run]


def numbers(runs: list[Run], count: int) -> Int32Array:
    """Where each of `count` entries comes to stand, -1 for one that is gone."""
    number = np.full(count, -1, np.int32)
    for begin, end, to in runs:
        number[begin:end] = np.arange(to, to + end - begin)
    return number


def ranges(begin: Int32Array, count: Int64Array) -> Int32Array:
    """The numbers from each begin on, as many as its count, one after another."""
    if len(begin) == 1:
        return np.arange(begin[0], begin[0] + count[0], dtype=np.int32)
    before = np.cumsum(count) - count
    joined: Int32Array = (np.arange(count.sum()) + np.repeat(begin - before, count)).astype(np.int32)
    return joined
