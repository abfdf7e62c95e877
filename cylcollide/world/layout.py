"""The layout of a world's columns: bare limbs, then posed characters by ascending id; and the columns poses keep."""

from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import BoolArray, Float64Array, Int8Array, Int32Array, Int64Array, Uint32Array
from cylcollide.bones.rig_rows import Parts, StackedRigs, stacked_rigs
from cylcollide.characters.rig import Rig
from cylcollide.limbs.limbs import Limbs
from cylcollide.query.labels import NO_BONE, RowLabels
from cylcollide.runtime.memory import frozen

RIG_LAYERS = -1
"""Layers of a character whose limbs have the masks of its rig."""

LAYERED = ("layers", "mask", "shared_mask")
"""What of a `WorldLayout` depends on the layers of characters."""


Runs: TypeAlias = list[list[tuple[slice, slice]]]
"""Of limbs, boxes and bones: slices of one layout, and those of another one with the same characters."""


class WorldLayout:
    """The rows of bare limbs and of posed characters, and their columns that do not change when they move."""

    def __init__(
        self, bare: Limbs, rigs: tuple[Rig, ...], ids: Int32Array, rig: Int32Array, layers: Int64Array
    ) -> None:
        self.bare, self.rigs, self.ids, self.rig, self.layers = bare, rigs, ids, rig, layers
        sizes = [(len(one.limbs), len(one.limbs.table.boxes), len(one.bone_names)) for one in rigs]
        counts = np.array(sizes, np.int64).reshape(-1, 3)[rig]
        self.bare_counts = len(bare), len(bare.table.boxes), 0
        ends = np.cumsum(counts, axis=0) + np.array(self.bare_counts)
        self.counts, self.first = (Parts(*map(frozen, n.T.astype(np.int32).copy())) for n in (counts, ends - counts))
        """How many limbs, boxes and bones each character has, and where they begin."""
        self.rows, self.boxes, self.bones = map(int, ends[-1] if len(ids) else self.bare_counts)

    @cached_property
    def stacked_row(self) -> Int64Array:
        """Of each row, its number among the bare limbs and then those of all rigs, one rig after another."""
        limbs_before = np.cumsum([len(self.bare)] + [len(one.limbs) for one in self.rigs])
        begins = np.repeat(limbs_before[self.rig] - self.first.rows, self.counts.rows)
        return frozen(np.concatenate([np.arange(len(self.bare)), begins + np.arange(len(self.bare), self.rows)]))

    def _stacked(self, of_bare: NDArray[Any], of_rigs: list[NDArray[Any]]) -> NDArray[Any]:
        """A column by row, of those of the bare limbs and of each rig; not to be written."""
        return frozen(np.concatenate([of_bare, *of_rigs])[self.stacked_row]) if len(self.ids) else of_bare

    def _of_limbs(self, name: str) -> NDArray[Any]:
        return self._stacked(getattr(self.bare.table, name), [getattr(one.limbs.table, name) for one in self.rigs])

    def _by_character(self, column: NDArray[Any]) -> NDArray[Any]:
        """Entries of characters, repeated for each of their limbs."""
        return np.repeat(column, self.counts.rows)

    @cached_property
    def shapes(self) -> tuple[Int8Array, Float64Array, Float64Array]:
        """`Shape`, first and second radius, (rows,) each."""
        return self._of_limbs("kind"), self._of_limbs("radius"), self._of_limbs("radius2")

    @cached_property
    def box(self) -> Int32Array:
        """Row of the boxes, -1 for other shapes, (rows,)."""
        box = self._of_limbs("box")
        if not len(self.ids):
            return box
        moved = box.copy()
        characters = moved[len(self.bare) :]
        characters += np.where(characters >= 0, self._by_character(self.first.boxes), 0).astype(np.int32)
        return frozen(moved)

    @cached_property
    def character(self) -> Int32Array:
        """Number of the character, (rows,)."""
        if not len(self.ids):
            return self.bare.character
        return frozen(np.concatenate([self.bare.character, self._by_character(self.ids)]))

    @cached_property
    def mask(self) -> Uint32Array:
        """Layers, (rows,)."""
        if not len(self.ids):
            return self.bare.mask
        mask, layers = self._of_limbs("mask").copy(), self._by_character(self.layers)
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
        return self._stacked(self.bare.hit_group, [one.limbs.hit_group for one in self.rigs])

    @cached_property
    def names(self) -> NDArray[np.object_]:
        """Names, (rows,)."""
        names = [*self.bare.names, *(name for one in self.rigs for name in one.limbs.names)]
        return frozen(np.array(names, object)[self.stacked_row])

    @cached_property
    def _bone_columns(self) -> tuple[Int32Array, Int32Array, Int32Array]:
        """Bone and limb of the character's rig, and row of the bone among all; -1 for bare limbs; (rows,) each."""
        bare = np.full(len(self.bare), NO_BONE, np.int32)
        bone = self._stacked(bare, [one.limb_bone for one in self.rigs])
        limb, transform = np.full(self.rows, NO_BONE, np.int32), bone.copy()
        transform[len(bare) :] += self._by_character(self.first.bones)
        limb[len(bare) :] = np.arange(len(bare), self.rows) - self._by_character(self.first.rows)
        return frozen(bone), frozen(limb), frozen(transform)

    @cached_property
    def stacked_rigs(self) -> StackedRigs:
        """The limbs of all rigs in the frames of their bones."""
        return stacked_rigs([rig.rows for rig in self.rigs], [len(rig.bone_names) for rig in self.rigs])

    def labels(self, positions: Float64Array, orientations: Float64Array) -> RowLabels:
        """What is known of each row; the transforms of all bones are (bones, 3) and (bones, 4)."""
        return RowLabels(self.names, self.hit_group, *self._bone_columns, positions, orientations)

    def with_layers(self, layers: Int64Array) -> "WorldLayout":
        """The same rows, where the characters have other layers, (characters,)."""
        other = WorldLayout(self.bare, self.rigs, self.ids, self.rig, layers)
        vars(other).update({name: column for name, column in vars(self).items() if name not in LAYERED})
        return other

    def indices_of(self, characters: Int64Array) -> Parts:
        """The limbs, boxes and bones of these characters, given by their places in ascending order."""
        if len(characters) == len(self.ids):
            return self.every_character
        return Parts(*(ranges(b[characters], n[characters]) for b, n in zip(self.first, self.counts, strict=True)))

    @cached_property
    def every_character(self) -> Parts:
        """Those of all characters."""
        ends = zip(self.bare_counts, (self.rows, self.boxes, self.bones), strict=True)
        return Parts(*(frozen(np.arange(*pair, dtype=np.int32)) for pair in ends))

    def runs_in(self, other: "WorldLayout") -> Runs:
        """Where the limbs, boxes and bones are that a layout with the same bare limbs has, too: here, and there."""
        place, found = index_among(self.ids, other.ids)
        kept = np.flatnonzero(found)
        to = place[kept]
        breaks = np.flatnonzero((kept[1:] - kept[:-1] != 1) | (to[1:] - to[:-1] != 1))
        begin, end = np.append(0, breaks + 1)[: len(kept)], np.append(breaks, len(kept) - 1)
        ends = list(zip(kept[begin].tolist(), kept[end].tolist(), to[begin].tolist(), strict=True)) if len(kept) else []
        runs = []
        for bare, count, mine, theirs in zip(self.bare_counts, self.counts, self.first, other.first, strict=True):
            begins = [(mine[a], mine[b] + count[b], theirs[to]) for a, b, to in ends]
            moved = [(slice(begin, end), slice(to, to + end - begin)) for begin, end, to in begins]
            runs.append([(slice(0, bare), slice(0, bare)), *moved])
        return runs


def ranges(begin: Int32Array, count: Int32Array) -> Int32Array:
    """The numbers from each begin on, as many as its count, one after another."""
    if len(begin) == 1:
        return np.arange(begin[0], begin[0] + count[0], dtype=np.int32)
    before = np.cumsum(count) - count
    joined: Int32Array = (np.arange(count.sum()) + np.repeat(begin - before, count)).astype(np.int32)
    return joined


def index_among(ids: Int32Array, sorted_ids: Int32Array) -> tuple[Int64Array, BoolArray]:
    """Of each id its place among ascending ones, and whether it is one of them."""
    if ids is sorted_ids or not len(sorted_ids):
        return np.arange(len(ids)), np.full(len(ids), ids is sorted_ids)
    place = np.minimum(np.searchsorted(sorted_ids, ids), len(sorted_ids) - 1)
    return place, sorted_ids[place] == ids
