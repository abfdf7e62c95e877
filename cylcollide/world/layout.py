"""The layout of a world's columns: bare limbs, posed characters by ascending id, statics; unchanged by moves."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import (
    NO_CHARACTER,
    BoolArray,
    Column,
    Float64Array,
    Int8Array,
    Int32Array,
    Int64Array,
    Rows,
    Uint32Array,
)
from cylcollide.bones.rig_rows import Parts, StackedRigs, stacked_rigs
from cylcollide.characters.rig import Rig
from cylcollide.limbs.limbs import Limbs
from cylcollide.query.labels import NO_BONE, NO_STATIC, RowLabels
from cylcollide.runtime.compile import compiled_loop
from cylcollide.runtime.memory import frozen
from cylcollide.world.shared_rows import Shared, shared_rows
from cylcollide.world.statics import Statics

ABOVE_ALL_IDS = 2**32

RIG_LAYERS = -1
"""Entry of `layers` for a character whose limbs have the masks of its rig."""

LAYERED = ("layers", "mask", "shared_mask")
"""The attributes of a `WorldLayout` that depend on the layers of characters."""


MOST_WRITTEN = 8
"""Largest number of new owners for which columns by row are copied and patched rather than gathered anew."""


class RowColumns(NamedTuple):
    """The columns by row that every state needs."""

    kind: Column[np.int8]
    radius: Column[np.float64]
    radius2: Column[np.float64]
    box: Column[np.int32]
    character: Column[np.int32]
    mask: Column[np.uint32]


class WorldLayout:
    """The rows of bare limbs, posed characters and statics, and the columns that do not change when limbs move.

    Characters, then statics, are the owners of rows: each has limbs, boxes and bones.
    """

    def __init__(
        self, bare: Limbs, rigs: tuple[Rig, ...], ids: Int32Array, rig: Int32Array, layers: Int64Array, statics: Statics
    ) -> None:
        self.bare, self.rigs, self.ids, self.rig, self.layers, self.statics = bare, rigs, ids, rig, layers, statics
        self.bare_counts = len(bare), len(bare._table.boxes), 0
        sizes = np.array([(len(one.limbs), len(one.limbs._table.boxes), len(one.bone_names)) for one in rigs], np.int32)
        counts = np.empty((3, 1 + len(ids) + len(statics.handles)), np.int32)  # of the bare limbs, then of each owner
        counts[:, 0], counts[:, 1 + len(ids) :] = self.bare_counts, statics.sizes.T
        if len(rigs):
            sizes.T.take(rig, 1, counts[:, 1 : 1 + len(ids)], "clip")
        ends = frozen(np.add.accumulate(counts, 1, np.int32))
        self.counts, self.first = Parts(*frozen(counts)[:, 1:]), Parts(*ends[:, :-1])
        """The number of limbs, boxes and bones of each owner, and the index of its first."""
        self.first_static: tuple[int, int, int] = tuple(ends[:, len(ids)].tolist())
        """The index of the first limb, box and bone of the statics."""
        self.rows, self.boxes, self.bones = ends[:, -1].tolist()

    @cached_property
    def owners(self) -> Int64Array:
        """A different number for each owner, ascending."""
        owners, characters = np.empty(len(self.ids) + len(self.statics.handles), np.int64), len(self.ids)
        owners[:characters], owners[characters:] = self.ids, self.statics.handles
        owners[characters:] += ABOVE_ALL_IDS
        return frozen(owners)

    @cached_property
    def stacked_row(self) -> Int64Array:
        """For each row, its index in the concatenation of the bare limbs, the limbs of each rig and the statics."""
        limbs_before = np.cumsum([len(self.bare)] + [len(one.limbs) for one in self.rigs])
        of_statics = limbs_before[-1] + self.first.rows[len(self.ids) :] - self.first_static[0]
        begins = np.append(limbs_before[self.rig], of_statics) - self.first.rows
        moved = np.repeat(begins, self.counts.rows) + np.arange(len(self.bare), self.rows)
        return frozen(np.concatenate([np.arange(len(self.bare)), moved]))

    def _stacked(self, of_bare: NDArray[Any], of_rigs: list[NDArray[Any]], of_statics: NDArray[Any]) -> NDArray[Any]:
        """A read-only column by row, gathered from the columns of the bare limbs, each rig and the statics."""
        if not len(self.counts.rows):
            return of_bare
        return frozen(np.concatenate([of_bare, *of_rigs, of_statics])[self.stacked_row])

    def _of_limbs(self, name: str) -> NDArray[Any]:
        of_rigs = [getattr(one.limbs._table, name) for one in self.rigs]
        return self._stacked(getattr(self.bare._table, name), of_rigs, getattr(self.statics.limbs._table, name))

    def _by_owner(self, of_characters: NDArray[Any], of_statics: int) -> NDArray[Any]:
        """The entry of each character, and the one entry of all statics, repeated for each of their limbs."""
        column = np.append(of_characters, np.full(len(self.statics.handles), of_statics, of_characters.dtype))
        return np.repeat(column, self.counts.rows)

    @cached_property
    def shapes(self) -> tuple[Int8Array, Float64Array, Float64Array]:
        """`Shape`, first and second radius, (rows,) each."""
        return self._of_limbs("kind"), self._of_limbs("radius"), self._of_limbs("radius2")

    @cached_property
    def box(self) -> Int32Array:
        """Row in the table of boxes, -1 for other shapes, (rows,)."""
        box = self._of_limbs("box")
        if not len(self.counts.rows):
            return box
        moved = box.copy()
        owned, first = moved[len(self.bare) :], self.first.boxes[: len(self.ids)]
        owned += np.where(owned >= 0, self._by_owner(first, self.first_static[1]), 0).astype(np.int32)
        return frozen(moved)

    @cached_property
    def character(self) -> Int32Array:
        """Number of the character, (rows,)."""
        if not len(self.counts.rows):
            return self.bare.character
        return frozen(np.concatenate([self.bare.character, self._by_owner(self.ids, NO_CHARACTER)]))

    @cached_property
    def mask(self) -> Uint32Array:
        """Layers, (rows,)."""
        if not len(self.counts.rows):
            return self.bare.mask
        mask, layers = self._of_limbs("mask").copy(), self._by_owner(self.layers, RIG_LAYERS)
        own = layers != RIG_LAYERS
        mask[len(self.bare) :][own] = layers[own].astype(np.uint32)
        return frozen(mask)

    @cached_property
    def shared_mask(self) -> int:
        """Bitwise AND of all masks."""
        return int(np.bitwise_and.reduce(self.mask))

    @cached_property
    def hit_group(self) -> Int32Array:
        """Hit group, (rows,)."""
        of_rigs = [one.limbs.hit_group for one in self.rigs]
        return self._stacked(self.bare.hit_group, of_rigs, self.statics.limbs.hit_group)

    @cached_property
    def names(self) -> NDArray[np.object_]:
        """Names, (rows,)."""
        parts = [self.bare, *(one.limbs for one in self.rigs), self.statics.limbs]
        return frozen(np.array([name for one in parts for name in one.names], object)[self.stacked_row])

    @cached_property
    def _bone_columns(self) -> tuple[Int32Array, Int32Array, Int32Array]:
        """Bone and limb in the character's rig, -1 for other limbs; row of the bone among all; (rows,) each."""
        bare, of_statics = np.full(len(self.bare), NO_BONE, np.int32), np.zeros(len(self.statics.limbs), np.int32)
        transform = self._stacked(bare, [one.limb_bone for one in self.rigs], of_statics).copy()
        bone, limb, of_characters = transform.copy(), np.full(self.rows, NO_BONE, np.int32), len(self.ids)
        transform[len(bare) :] += np.repeat(self.first.bones, self.counts.rows)
        bone[self.first_static[0] :] = NO_BONE
        begins = np.repeat(self.first.rows[:of_characters], self.counts.rows[:of_characters])
        limb[len(bare) : self.first_static[0]] = np.arange(len(bare), self.first_static[0]) - begins
        return frozen(bone), frozen(limb), frozen(transform)

    @cached_property
    def static(self) -> Int32Array:
        """Handle of the static, -1 for other limbs, (rows,)."""
        column = np.full(self.rows, NO_STATIC, np.int32)
        column[self.first_static[0] :] = np.repeat(self.statics.handles, self.counts.rows[len(self.ids) :])
        return frozen(column)

    @cached_property
    def stacked_rigs(self) -> StackedRigs:
        """The limbs of all rigs in the frames of their bones."""
        return stacked_rigs([rig._rows for rig in self.rigs], [len(rig.bone_names) for rig in self.rigs])

    def labels(self, positions: Float64Array, orientations: Float64Array) -> RowLabels:
        """The labels of each row; the transforms of all bones are (bones, 3) and (bones, 4)."""
        return RowLabels(self.names, self.hit_group, *self._bone_columns, positions, orientations, self.static)

    def with_layers(self, layers: Int64Array) -> "WorldLayout":
        """The same layout with other layers of the characters, (characters,)."""
        other = WorldLayout(self.bare, self.rigs, self.ids, self.rig, layers, self.statics)
        vars(other).update({name: column for name, column in vars(self).items() if name not in LAYERED})
        return other

    def indices_of(self, owners: Int64Array) -> Parts:
        """The indices of the limbs, boxes and bones of these owners, given by index in ascending order."""
        if len(owners) == len(self.ids) and (len(owners) == 0 or owners[-1] < len(self.ids)):
            return self.every_character
        return Parts(*(ranges(b[owners], n[owners]) for b, n in zip(self.first, self.counts, strict=True)))

    @cached_property
    def every_character(self) -> Parts:
        """The indices of the limbs, boxes and bones of all characters."""
        ends = zip(self.bare_counts, self.first_static, strict=True)
        return Parts(*(frozen(np.arange(*pair, dtype=np.int32)) for pair in ends))

    def has_owners_of(self, other: "WorldLayout") -> bool:
        """Whether both layouts have the same characters and statics."""
        return np.array_equal(self.ids, other.ids) and np.array_equal(self.statics.handles, other.statics.handles)

    def shared_with(self, later: "WorldLayout") -> Shared:
        """The limbs, boxes and bones shared with a later layout of the same bare limbs: their indices in both."""
        return shared_rows(self.owners, later.owners, self.rows, self.bare_counts, self.counts, self.first, later.first)

    def take_over(self, before: "WorldLayout", shared: Shared) -> None:
        """Copy the columns by row that every state needs from an earlier layout: faster than gathering them."""
        if not len(self.counts.rows) or len(shared.new) > MOST_WRITTEN:
            return
        old = RowColumns(*before.shapes, before.box, before.character, before.mask)
        made = RowColumns(*(np.empty(self.rows, column.dtype) for column in old))
        _copy_shared(shared.runs, old, made)
        kind, radius, radius2, box, character, mask = made
        for owner in shared.new:
            begin = int(self.first.rows[owner])
            rows = slice(begin, begin + int(self.counts.rows[owner]))
            label, layers, first_box = NO_CHARACTER, RIG_LAYERS, self.first_static[1]
            of_limbs, skipped = self.statics.limbs, self.first_static[0]
            if owner < len(self.ids):
                label, layers, first_box = (int(c[owner]) for c in (self.ids, self.layers, self.first.boxes))
                of_limbs, skipped = self.rigs[self.rig[owner]].limbs, begin
            table, own = of_limbs._table, slice(begin - skipped, rows.stop - skipped)
            kind[rows], radius[rows], radius2[rows] = table.kind[own], table.radius[own], table.radius2[own]
            box[rows], character[rows] = table.box[own], label
            mask[rows] = table.mask[own] if layers == RIG_LAYERS else layers
            if first_box:
                box[rows] += np.where(box[rows] >= 0, first_box, 0)
        for column in made:
            frozen(column)
        vars(self).update(shapes=(kind, radius, radius2), box=box, character=character, mask=mask)


@compiled_loop
def _copy_shared(runs: Rows[np.int64], before: RowColumns, after: RowColumns) -> None:
    """Copy the rows that two layouts share, given by `Shared.runs`."""
    for k in range(runs.shape[0]):
        by, boxes = runs[k, 2] - runs[k, 0], np.int32(runs[k, 5] - runs[k, 3])
        for i in range(runs[k, 0], runs[k, 1]):
            after.kind[i + by], after.character[i + by] = before.kind[i], before.character[i]
            after.radius[i + by], after.radius2[i + by] = before.radius[i], before.radius2[i]
            after.mask[i + by] = before.mask[i]
            after.box[i + by] = before.box[i] + boxes if before.box[i] >= 0 else before.box[i]


def ranges(begin: Int32Array, count: Int32Array) -> Int32Array:
    """The concatenated ranges begin[i], ..., begin[i] + count[i] - 1."""
    if len(begin) == 1:
        return np.arange(begin[0], begin[0] + count[0], dtype=np.int32)
    before = np.cumsum(count) - count
    joined: Int32Array = (np.arange(count.sum()) + np.repeat(begin - before, count)).astype(np.int32)
    return joined


def index_among(ids: Int32Array, sorted_ids: Int32Array) -> tuple[Int64Array, BoolArray]:
    """For each id its index among `sorted_ids`, and whether it is one of them."""
    if ids is sorted_ids or not len(sorted_ids):
        return np.arange(len(ids)), np.full(len(ids), ids is sorted_ids)
    place = np.minimum(np.searchsorted(sorted_ids, ids), len(sorted_ids) - 1)
    return place, sorted_ids[place] == ids
