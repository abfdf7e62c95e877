"""The limbs that flying bullets have hit, each where it was at the moment of its contact."""

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int32Array, Int64Array, Shape
from cylcollide.history.moving.limbs import MovingLimbs
from cylcollide.history.ticks import Tick
from cylcollide.kernels.interpolation import interpolate_bones
from cylcollide.kernels.limb_table import LimbRows, LimbTable, make_table
from cylcollide.kernels.rig_rows import Bones, Placed, Places, RigRows, place_limbs
from cylcollide.query.labels import NO_BONE, RowLabels
from cylcollide.runtime.memory import frozen


class StruckLimbs:
    """Limbs at moments between ticks, (n,), as results read them; `state_row` has their rows in the state of the tick.

    Ends are between those of both ticks, on straight lines; boxes and bones are as `PoseHistory.limbs_at` has them.
    """

    def __init__(self, ticks: Sequence[Tick], limbs: MovingLimbs, row: Int64Array, alpha: Float64Array) -> None:
        self._ticks, self._all, self._rows, self._alpha = ticks, limbs, row, alpha

    @cached_property
    def _limbs(self) -> MovingLimbs:
        return MovingLimbs._make(column[self._rows] for column in self._all)

    @cached_property
    def state_row(self) -> Int32Array:
        """Of each limb its row in the state of its tick."""
        return frozen(self._all.state_row[self._rows])

    @cached_property
    def table(self) -> LimbTable:
        """The columns of the limbs."""
        limbs, share = self._limbs, self._alpha[:, None]
        stays = (limbs.next_row < 0)[:, None]
        p1, p2 = (
            np.where(stays, limbs.here[:, k], (1.0 - share) * limbs.here[:, k] + share * limbs.there[:, k])
            for k in range(2)
        )
        solid = np.flatnonzero(limbs.kind == Shape.BOX)
        box, boxes = np.full(len(share), NO_BONE, np.int32), np.zeros((len(solid), 12))
        box[solid] = np.arange(len(solid))
        for tick, rows in self._by_tick(solid):
            self._write_boxes(tick, rows, box, Placed(p1, p2, boxes))
        return make_table(limbs.kind, p1, p2, limbs.radius, limbs.radius2, box, boxes, limbs.character, limbs.mask)

    @cached_property
    def kernel_rows(self) -> LimbRows:
        """What loops read of the limbs."""
        return self.table.kernel_rows

    @cached_property
    def labels(self) -> RowLabels:
        """Names, hit groups and bones of the limbs, and these bones between both ticks, if bones were recorded."""
        n = len(self.state_row)
        names, (group, bone, rig_limb) = np.empty(n, object), np.empty((3, n), np.int32)
        for tick, at in self._by_tick(np.arange(n)):
            rows, row = tick.rows, self.state_row[at]
            names[at], group[at] = rows.names[row], rows.hit_group[row]
            bone[at], rig_limb[at] = rows.bone[row], rows.rig_limb[row]
        carried, bones = self._bones
        transform = np.where(carried, np.arange(n), NO_BONE).astype(np.int32)
        return RowLabels(names, group, bone, rig_limb, transform, *bones)

    def _by_tick(self, rows: Int64Array) -> Iterator[tuple[Tick, Int64Array]]:
        """Ticks, and those of the rows that are about each."""
        tick = self._limbs.tick[rows]
        return ((self._ticks[k], rows[tick == k]) for k in np.unique(tick).tolist())

    @cached_property
    def _bones(self) -> tuple[BoolArray, Bones]:
        """Whether a recorded bone carries each limb, and where that is at its moment."""
        n = len(self.state_row)
        carried, bones = np.zeros(n, np.bool_), Bones(np.zeros((n, 3)), np.zeros((n, 4)))
        for tick, at in self._by_tick(np.arange(n)):
            if len(tick.bones.positions):
                own = at[tick.rows.transform[self.state_row[at]] >= 0]
                here, there, following = tick.rows.transform[self.state_row[own]], self._limbs.next_row[own], tick
                if tick.next is not None:
                    following = tick.next.tick
                    there = np.where(there < 0, NO_BONE, following.rows.transform[there]).astype(np.int32)
                one, into = np.ones(len(own), np.int64), own.astype(np.int32)
                interpolate_bones(tick.bones, following.bones, here, there, one, self._alpha[own], into, bones)
                carried[own] = True
        return carried, bones

    def _write_boxes(self, tick: Tick, rows: Int64Array, box: Int32Array, placed: Placed) -> None:
        """Write centres, axes and half extents of the boxes among these rows, which are limbs of one tick."""
        carried, bones = self._bones
        recorded, moved = rows[~carried[rows]], rows[carried[rows]]
        placed.boxes[box[recorded]] = tick.box_rows[tick.rows.box[self.state_row[recorded]]]
        character = tick.rows.index_of(self._limbs.character[moved])[0]
        rig, limb = tick.rows.rig[character], tick.rows.rig_limb[self.state_row[moved]]
        for number, k in {*zip(rig.tolist(), limb.tolist(), strict=True)}:
            own, of_rig = moved[(rig == number) & (limb == k)].astype(np.int32), tick.rows.rigs[number].rows
            solid = of_rig.box[k]
            alone = RigRows(
                np.zeros(1, np.int32), of_rig.p1[k : k + 1], of_rig.p2[k : k + 1], np.zeros(1, np.int32),
                of_rig.boxes[solid : solid + 1],
            )  # fmt: skip
            place_limbs(alone, 1, bones, Places(own, own, box[own]), placed)
