"""Poses of some characters of a world, or of a static, checked and written into the columns of a state."""

from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import BoolArray, Float64Array, Int64Array
from cylcollide.bones.rig_rows import Bones, Parts, place_limbs, place_limbs_of_rigs
from cylcollide.characters.matrices import MatrixOrder, poses_of_matrices, transform_error
from cylcollide.characters.poses import bone_poses, raise_misplaced
from cylcollide.characters.rig import Rig
from cylcollide.characters.skeleton import bone_label
from cylcollide.constants import LIMBS_PER_THREAD
from cylcollide.process.threads import in_chunks
from cylcollide.runtime.simd import LANES
from cylcollide.shapes import quaternions
from cylcollide.world.layout import WorldLayout, ranges
from cylcollide.world.pose_columns import PoseColumns
from cylcollide.world.roster import Roster


@dataclass(frozen=True, slots=True)
class StaticPose:
    """The pose of one static; `static` is its index among the statics."""

    static: int
    position: Float64Array  # (1, 3)
    orientation: Float64Array  # (1, 4)

    @classmethod
    def of(cls, static: int, position: ArrayLike, orientation: ArrayLike) -> "StaticPose":
        """The checked pose of a static."""
        return cls(static, validate.vectors(position, "position", 1), quaternions(orientation, "orientation", 1))

    def changed(self, _: Roster, layout: WorldLayout) -> Parts:
        """The indices of the static's limbs, boxes and bone in a state."""
        return layout.indices_of(np.array([len(layout.ids) + self.static]))

    def write(self, columns: PoseColumns, roster: Roster, layout: WorldLayout) -> None:
        """Write bone, ends and boxes; ValueError if limbs would be out of range."""
        owner, rig = len(layout.ids) + self.static, roster.statics.rows_of(self.static)
        first = Parts(*(column[owner : owner + 1] for column in layout.first))
        columns.positions[first.bones], columns.orientations[first.bones] = self.position, self.orientation
        if place_limbs(rig, 1, columns.bones, first, columns.placed) >= 0:
            raise ValueError(
                f"position: expected a place where all limbs of the static have ends of magnitude at most 2**500 "
                f"(about 3e150) and keep their axes, got {self.position[0].tolist()}; choose a larger unit"
            )


class Poses:
    """Bone transforms of k characters in the world. Shapes are checked here, numbers in `write`."""

    def __init__(self, roster: Roster, index: Int64Array, positions: ArrayLike, orientations: ArrayLike) -> None:
        bones = bones_of_each(roster, index)
        if len(index) == 0:
            given = validate.as_numbers(positions, "positions", "(k, b, 3)")
            bones = given.shape[-2] if given.ndim > 1 else 0
        at, turn = bone_poses(positions, orientations, bones)
        if len(at) != len(index):
            raise ValueError(f"positions: expected {len(index)} characters, one for each id, got {len(at)}")
        self._order = np.arange(len(index))
        if len(index) > 1 and (index[1:] < index[:-1]).any():
            self._order = np.argsort(index)
            index, at, turn = index[self._order], at[self._order], turn[self._order]
        self._roster, self._index, self._at, self._turn = roster, index, at, turn

    @property
    def posed_index(self) -> Int64Array:
        """The indices of the characters among the posed ones."""
        return self._roster.place[self._index]

    @property
    def rig(self) -> Rig | None:
        """The rig of the characters, None if they have several rigs."""
        if len(self._roster.rigs) == 1:
            return self._roster.rigs[0]
        row = self._roster.rig[self._index]
        return self._roster.rigs[row[0]] if (row == row[0]).all() else None

    @property
    def bones(self) -> Bones:
        """Copies of the characters' bones, one character after another."""
        return Bones(self._at.reshape(-1, 3).copy(), self._turn.reshape(-1, 4).copy())

    def given(self, jumps: BoolArray | bool) -> dict[str, Any]:
        """These poses as arguments of `set_poses`; `jumps`: which characters are teleported, in the order given."""
        teleport = jumps if isinstance(jumps, bool) else jumps[self._order]
        ids = self._roster.ids[self._index]
        return {"ids": ids, "positions": self._at, "orientations": self._turn, "teleport": teleport}

    def changed(self, roster: Roster, layout: WorldLayout) -> Parts:
        """The indices of the characters' limbs, boxes and bones in a state, in whose roster they are posed."""
        return layout.indices_of(roster.place[self._index])

    def write(self, columns: PoseColumns, roster: Roster, layout: WorldLayout) -> None:
        """Write bones, ends and boxes; a ValueError names character, bone and row of an invalid pose."""
        posed = roster.place[self._index]
        if len(posed) == len(layout.ids):
            columns.positions[: self._at.size // 3].reshape(self._at.shape)[...] = self._at
            columns.orientations[: self._turn.size // 4].reshape(self._turn.shape)[...] = self._turn
        else:
            bones = ranges(layout.first.bones[posed], layout.counts.bones[posed])
            columns.positions[bones], columns.orientations[bones] = self._at.reshape(-1, 3), self._turn.reshape(-1, 4)
        first = Parts(*(column[posed] for column in layout.first))
        if len(layout.rigs) == 1:
            self._place_rig(layout.rigs[0], np.arange(len(posed)), first, columns)
            return
        rig_of_each = roster.rig[self._index]
        numbers = np.unique(rig_of_each)
        if len(posed) < LANES * len(numbers):  # too few of each rig to fill SIMD lanes
            self._place_one_by_one(layout, posed, first, columns)
            return
        for number in numbers.tolist():
            own = np.flatnonzero(rig_of_each == number)
            self._place_rig(roster.rigs[number], own, Parts(*(column[own] for column in first)), columns)

    def _place_one_by_one(self, layout: WorldLayout, posed: Int64Array, first: Parts, columns: PoseColumns) -> None:
        """Write the limbs of characters of many rigs."""
        rig_of_each = layout.rig[posed].astype(np.int64)
        bad = place_limbs_of_rigs(layout.stacked_rigs, rig_of_each, columns.bones, first, columns.placed)
        if bad >= 0:
            self.raise_misplaced(layout.rigs[rig_of_each[bad]], bad)

    def _place_rig(self, rig: Rig, own: Int64Array, first: Parts, columns: PoseColumns) -> None:
        """Write the limbs of the characters with this rig: the rows `own` of the poses."""
        bones, placed = columns.bones, columns.placed

        def place(begin: int, end: int) -> int:
            some = Parts(*(column[begin:end] for column in first))
            bad = place_limbs(rig._rows, len(rig.bone_names), bones, some, placed)
            return bad if bad < 0 else begin + bad

        limbs = max(len(rig.limbs), 1)
        for bad in in_chunks(len(own), None, place, max(LIMBS_PER_THREAD // limbs, 1)):
            if bad >= 0:
                self.raise_misplaced(rig, int(own[bad]))

    def raise_misplaced(self, rig: Rig, row: int) -> NoReturn:
        """Raise the ValueError of the row that `place_limbs` refused."""
        character = self._roster.ids[self._index[row]]
        where = f"row {self._order[row]} (character {character})"
        raise_misplaced(rig, self._at, self._turn, row, where)


OwnerPoses: TypeAlias = Poses | StaticPose
"""New poses of characters or of a static."""


def poses_by_matrices(roster: Roster, index: Int64Array, matrices: ArrayLike, order: MatrixOrder) -> Poses:
    """Poses given as transforms; a ValueError names character, bone and row of an invalid one."""
    (positions, orientations), numbers, bad = poses_of_matrices(matrices, order, bones_of_each(roster, index))
    if len(positions) != len(index):
        raise ValueError(f"matrices: expected {len(index)} characters, one for each id, got {len(positions)}")
    if bad >= 0:
        row, number = divmod(bad, positions.shape[1])
        names = roster.rigs[roster.rig[index[row]]].bone_names
        wrong, bone = transform_error(numbers[row, number], order), bone_label(names, number)
        raise ValueError(f"matrices: {wrong}; it is {bone} in row {row} (character {roster.ids[index[row]]})")
    return Poses(roster, index, positions, orientations)


def bones_of_each(roster: Roster, index: Int64Array) -> int:
    """The common number of bones of these characters; ValueError if they differ."""
    if len(roster.rigs) == 1:
        return len(roster.rigs[0].bone_names)
    counts = np.array([len(rig.bone_names) for rig in roster.rigs], np.int64)[roster.rig[index]]
    other = np.flatnonzero(counts != counts[:1])
    if len(other):
        raise ValueError(
            f"ids: expected characters with equally many bones, got {counts[0]} in row 0 and {counts[other[0]]} in "
            f"row {other[0]}; pose rigs of other sizes in separate calls"
        )
    return int(counts[0]) if len(counts) else 0
