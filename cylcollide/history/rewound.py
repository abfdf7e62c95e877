"""Limbs of the past: only those that the rays of a query may hit, each where it was at the moment of its ray."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import BoolArray, Float64Array, Int8Array, Int32Array, Int64Array, Uint32Array
from cylcollide.characters.rig import Rig
from cylcollide.constants import SMALLEST_SIZE
from cylcollide.history.moments import NO_TICK, Moments
from cylcollide.history.ticks import Boxes, Tick
from cylcollide.kernels.interpolation import interpolate_bones, interpolate_ends
from cylcollide.kernels.limb_table import LimbRows, LimbTable, make_table
from cylcollide.kernels.ray import Rays
from cylcollide.kernels.rig_rows import Bones, Placed, Places, place_limbs
from cylcollide.limbs.limbs import Limbs
from cylcollide.limbs.tables import HAS_AXIS
from cylcollide.query.labels import NO_BONE, RowLabels
from cylcollide.query.loops.listed import Lists, find_boxes, find_characters
from cylcollide.world.state_rows import ranges


class Pairs(NamedTuple):
    """Rays, and entries of their ticks that they do not certainly miss."""

    ray: Int64Array
    entry: Int64Array
    reached: Float64Array
    """The length before which the ray is certainly not in the entry."""

    def chosen(self, rows: BoolArray) -> "Pairs":
        """Some of them."""
        return Pairs(self.ray[rows], self.entry[rows], self.reached[rows])

    def nearest(self, most: int) -> "Pairs":
        """For each ray, so many that it may reach first."""
        order = np.lexsort((self.reached, self.ray))
        ray = self.ray[order]
        begins = np.flatnonzero(np.append(True, ray[1:] != ray[:-1]))
        rank = np.arange(len(ray)) - np.repeat(begins, np.diff(np.append(begins, len(ray))))
        chosen = np.zeros(len(ray), np.bool_)
        chosen[order[rank < most]] = True
        return self.chosen(chosen)


class Blocks(NamedTuple):
    """Entries at moments, sorted by tick, moment and entry."""

    tick: Int64Array  # (blocks,): place among the ticks
    alpha: Float64Array  # (blocks,)
    entry: Int64Array  # (blocks,)


def pairs_of(ticks: Sequence[Tick], moments: Moments, rays: Rays) -> Pairs:
    """Every entry that a ray may hit at its moment."""
    index = np.where(moments.tick == NO_TICK, NO_TICK, moments.tick - ticks[0].number)
    found = [Pairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
    for k in np.unique(index[index >= 0]).tolist():
        rows, tick = np.flatnonzero(index == k), ticks[k]
        boxes = tick.boxes if tick.next is None or not moments.alpha[rows].any() else tick.next.boxes
        found.append(_near_limbs(tick, rays, moments, _near(rays, rows, boxes)))
    ray, entry, reached = (np.concatenate(column) for column in zip(*found, strict=True))
    return Pairs(ray, entry, reached)


def _near_limbs(tick: Tick, rays: Rays, moments: Moments, pairs: Pairs) -> Pairs:
    """Those of the pairs of one tick whose ray comes near a limb, where bones were recorded; and all bare limbs."""
    rows, bare = tick.rows, len(tick.rows.bare)
    character = pairs.entry - bare
    own = np.flatnonzero(character >= 0)
    if not len(own) or tick.centres is None:
        return pairs
    place, following = character[own], tick.next
    first_there, there = np.full(len(own), -1, np.int32), tick.centres
    if following is not None and following.tick.centres is not None:
        first_there, there = following.first_row[place], following.tick.centres
    reached = np.empty(len(own))
    find_characters(
        rays, pairs.ray[own], tick.centres, there, rows.first_row[place], first_there, rows.counts.rows[place],
        moments.alpha[pairs.ray[own]], rows.limb_radius, reached,
    )  # fmt: skip
    pairs.reached[own] = np.maximum(pairs.reached[own], reached)
    return pairs.chosen(pairs.reached < np.inf)


def _near(rays: Rays, rows: Int64Array, boxes: Boxes) -> Pairs:
    """Pairs of one of these rays and a box that it does not certainly miss."""
    most = 64 + 8 * len(rows)
    while True:
        (ray, box), reached = np.empty((2, most), np.int32), np.empty(most)
        used = find_boxes(rays, rows, boxes.low, boxes.high, ray, box, reached)
        if used <= most:
            return Pairs(rows[ray[:used]], box[:used].astype(np.int64), reached[:used])
        most = used


def blocks_of(ticks: Sequence[Tick], moments: Moments, pairs: Pairs) -> tuple[Blocks, Int64Array]:
    """The distinct entries at moments among pairs, and the block of each pair."""
    tick, alpha = moments.tick[pairs.ray] - ticks[0].number, moments.alpha[pairs.ray]
    order = np.lexsort((pairs.entry, alpha, tick))
    columns = [column[order] for column in (tick, alpha, pairs.entry)]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    block = np.empty(len(order), np.int64)
    block[order] = np.cumsum(is_new) - 1
    return Blocks._make(column[is_new] for column in columns), block


class Sizes(NamedTuple):
    """Where blocks are in their states, and how long; (blocks,) each."""

    row: Int64Array
    rows: Int64Array
    box: Int64Array
    boxes: Int64Array
    bone: Int64Array
    bones: Int64Array
    next_row: Int64Array  # in the next tick, -1 for a block that stays
    next_bone: Int64Array


def _before(count: Int64Array) -> Int32Array:
    """Where each of several runs begins."""
    return (np.cumsum(count) - count).astype(np.int32)


class RewoundLimbs:
    """Blocks of limbs, where they were. Results read them as they do a state; `state_row` has their rows in theirs.

    A limb that has no axis at its moment, as one that is turned over by its ends, is in no layer: it is not hit.
    """

    def __init__(self, ticks: Sequence[Tick], blocks: Blocks) -> None:
        self._ticks, self._blocks = ticks, blocks
        self._structures = list({id(tick.rows): tick.rows for tick in ticks}.values())
        self._bare = len(ticks[0].rows.bare)
        number = {id(rows): k for k, rows in enumerate(self._structures)}
        self._structure = np.array([number[id(tick.rows)] for tick in ticks])[blocks.tick]
        self._sizes = sizes = self._all_sizes()
        self.first, self.count = _before(sizes.rows), sizes.rows
        self._first_box, self._first_bone = _before(sizes.boxes), _before(sizes.bones)
        self.state_row: Int32Array = ranges(sizes.row.astype(np.int32), sizes.rows)
        self._bones = self._interpolated_bones()
        self.table: LimbTable = self._made_table()

    def _all_sizes(self) -> Sizes:
        sizes = Sizes(*np.zeros((len(Sizes._fields), len(self._blocks.tick)), np.int64))
        for k, rows in enumerate(self._structures):
            own = np.flatnonzero(self._structure == k)
            entry, bare = self._blocks.entry[own], len(rows.bare)
            b, c = own[entry < bare], own[entry >= bare]
            limb, character = entry[entry < bare], entry[entry >= bare] - bare
            box = rows.bare.table.box[limb]
            sizes.row[b], sizes.rows[b], sizes.next_row[b] = limb, 1, limb
            sizes.box[b], sizes.boxes[b] = np.maximum(box, 0), box >= 0
            sizes.row[c], sizes.rows[c] = rows.first_row[character], rows.counts.rows[character]
            sizes.box[c], sizes.boxes[c] = rows.first_box[character], rows.counts.boxes[character]
            sizes.bone[c], sizes.bones[c] = rows.first_bone[character], rows.counts.bones[character]
            sizes.next_row[c] = sizes.next_bone[c] = -1
            for number in np.unique(self._blocks.tick[c]).tolist():
                following, at = self._ticks[number].next, self._blocks.tick[c] == number
                if following is not None:
                    sizes.next_row[c[at]] = following.first_row[character[at]]
                    sizes.next_bone[c[at]] = following.first_bone[character[at]]
        return sizes

    def _spans(self) -> Iterator[tuple[Tick, slice]]:
        """Ticks, and the blocks of each."""
        used, begins = np.unique(self._blocks.tick, return_index=True)
        ends = np.append(begins, len(self._blocks.tick))[1:]
        for k, begin, end in zip(used.tolist(), begins.tolist(), ends.tolist(), strict=True):
            yield self._ticks[k], slice(begin, end)

    def _interpolated_bones(self) -> Bones:
        """The bones of all blocks; none where ends are interpolated."""
        sizes, blocks = self._sizes, self._blocks
        if self._by_ends:
            return Bones(np.empty((0, 3)), np.empty((0, 4)))
        count = int(sizes.bones.sum())
        bones = Bones(np.empty((count, 3)), np.empty((count, 4)))
        for tick, at in self._spans():
            following = tick if tick.next is None else tick.next.tick
            here, there, into = (
                np.ascontiguousarray(column[at].astype(np.int32))
                for column in (sizes.bone, sizes.next_bone, self._first_bone)
            )
            interpolate_bones(tick.bones, following.bones, here, there, sizes.bones[at], blocks.alpha[at], into, bones)
        return bones

    @property
    def _by_ends(self) -> bool:
        """Whether all ends were recorded, not bones."""
        return any(len(tick.bones.positions) < tick.rows.bones for tick in self._ticks)

    def _column(self, name: str) -> NDArray[Any]:
        """A column of the states, by limb."""
        if len(self._structures) == 1:
            return getattr(self._structures[0], name)[self.state_row]  # type: ignore[no-any-return]
        structure = np.repeat(self._structure, self.count)
        column = np.empty(len(self.state_row), getattr(self._structures[0], name).dtype)
        for k, rows in enumerate(self._structures):
            column[structure == k] = getattr(rows, name)[self.state_row[structure == k]]
        return column

    def _made_table(self) -> LimbTable:
        kind, radius, radius2, character = (self._column(name) for name in ("kind", "radius", "radius2", "character"))
        mask, box = self._column("mask"), self._column("box")
        moved = np.repeat(self._first_box - self._sizes.box, self.count)
        box = np.where(box >= 0, box + moved, -1).astype(np.int32)
        p1, p2 = np.empty((2, len(kind), 3))
        placed = Placed(p1, p2, np.empty((int(self._sizes.boxes.sum()), 12)))
        self._hide_points(self._copy_ends(placed), kind, placed, mask)
        if not self._by_ends:
            self._place(placed, mask)
        return make_table(kind, placed.p1, placed.p2, radius, radius2, box, placed.boxes, character, mask)

    def _copy_ends(self, placed: Placed) -> Int32Array:
        """Write the ends that were recorded, interpolated, and the boxes of their ticks: of bare limbs, or of all.

        Returns their rows.
        """
        sizes, blocks = self._sizes, self._blocks
        recorded = np.ones(len(blocks.entry), np.bool_) if self._by_ends else blocks.entry < self._bare
        for tick, at in self._spans() if recorded.any() else ():
            own = np.flatnonzero(recorded[at]) + at.start
            following, count = tick if tick.next is None else tick.next.tick, sizes.rows[own]
            here = ranges(sizes.row[own].astype(np.int32), count)
            there = np.where(
                np.repeat(sizes.next_row[own] < 0, count), -1, ranges(sizes.next_row[own].astype(np.int32), count)
            ).astype(np.int32)
            into, alpha = ranges(self.first[own], count), np.repeat(blocks.alpha[own], count)
            for mine, ends, later in zip(placed, tick.ends, following.ends, strict=False):
                interpolate_ends(ends, later, here, there, alpha, into, mine)
            count = sizes.boxes[own]
            from_rows = ranges(sizes.box[own].astype(np.int32), count)
            placed.boxes[ranges(self._first_box[own], count)] = tick.box_rows[from_rows]
        return ranges(self.first[recorded], self.count[recorded])

    def _place(self, placed: Placed, mask: Uint32Array) -> None:
        """Write the limbs of characters by their bones."""
        blocks, rows = self._blocks, self._structures
        of_rig: dict[int, tuple[Rig, list[Int64Array]]] = {}
        for k, state in enumerate(rows):
            own = np.flatnonzero((self._structure == k) & (blocks.entry >= len(state.bare)))
            rig = state.rig[blocks.entry[own] - len(state.bare)]
            for number in np.unique(rig).tolist():
                one = state.rigs[number]
                of_rig.setdefault(id(one), (one, []))[1].append(own[rig == number])
        for one, parts in of_rig.values():
            left = np.concatenate(parts)
            while len(left):
                first = Places(self._first_bone[left], self.first[left], self._first_box[left])
                bad = place_limbs(one.rows, len(one.bone_names), self._bones, first, placed)
                if bad < 0:
                    break
                self._hide_character(one, int(left[bad]), placed, mask)
                left = left[bad + 1 :]

    def _hide_character(self, rig: Rig, block: int, placed: Placed, mask: Uint32Array) -> None:
        """Put a character where it was at its tick, in no layer."""
        tick, sizes = self._ticks[self._blocks.tick[block]], self._sizes
        here = slice(sizes.bone[block], sizes.bone[block] + sizes.bones[block])
        into = slice(self._first_bone[block], self._first_bone[block] + sizes.bones[block])
        self._bones.positions[into], self._bones.orientations[into] = (column[here] for column in tick.bones)
        first = Places(*(column[block : block + 1] for column in (self._first_bone, self.first, self._first_box)))
        place_limbs(rig.rows, len(rig.bone_names), self._bones, first, placed)
        mask[self.first[block] : self.first[block] + self.count[block]] = 0

    def _hide_points(self, rows: Int32Array, kind: Int8Array, placed: Placed, mask: Uint32Array) -> None:
        """Put those of these limbs that have lost their axis where they were at their ticks, in no layer."""
        axis = np.abs(placed.p2[rows] - placed.p1[rows]).max(axis=1, initial=0.0)
        lost = rows[(axis < SMALLEST_SIZE) & (HAS_AXIS[kind[rows]] | (axis > 0.0))]
        for row in lost.tolist():
            block = int(np.searchsorted(self.first, row, side="right")) - 1
            tick, state_row = self._ticks[self._blocks.tick[block]], self.state_row[row]
            placed.p1[row], placed.p2[row] = tick.ends[0][state_row], tick.ends[1][state_row]
            mask[row] = 0

    @cached_property
    def kernel_rows(self) -> LimbRows:
        """What loops read of the limbs."""
        return self.table.kernel_rows

    @cached_property
    def labels(self) -> RowLabels:
        """Names, hit groups and bones of the limbs; where ends are interpolated, no transforms of bones."""
        bone, carried = self._column("bone"), self._column("bone") >= 0
        transform = np.where(carried, np.repeat(self._first_bone, self.count) + bone, NO_BONE).astype(np.int32)
        if self._by_ends:
            transform = np.full_like(transform, NO_BONE)
        names, hit_group, rig_limb = (self._column(name) for name in ("names", "hit_group", "rig_limb"))
        return RowLabels(names, hit_group, bone, rig_limb, transform, *self._bones)

    def lists(self, pairs: Pairs, block: Int64Array, rays: int) -> Lists:
        """The limbs of each ray's blocks, ascending."""
        offsets = np.zeros(rays + 1, np.int64)
        np.add.at(offsets, pairs.ray + 1, self.count[block])
        block = block[np.lexsort((block, pairs.ray))]
        return Lists(np.cumsum(offsets), ranges(self.first[block], self.count[block]))

    def limbs(self) -> Limbs:
        """All of them."""
        return Limbs(self.table, self.labels.hit_group, tuple(self.labels.names.tolist()))
