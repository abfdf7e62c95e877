"""Poses of some characters of a world, checked and written into the columns of a state."""

import numpy as np
from numpy.typing import ArrayLike

from cylcollide._types import Int32Array, Int64Array
from cylcollide.characters.poses import bone_poses, raise_misplaced
from cylcollide.kernels.rig_rows import Bones, Placed, Places, place_limbs
from cylcollide.world.pose_columns import PoseColumns
from cylcollide.world.roster import Roster
from cylcollide.world.state_rows import Changed, StateRows


class Poses:
    """Bones of k characters in the world. Shapes are checked here, numbers when they are written."""

    ids: Int32Array
    """The characters, (k,), ascending."""

    def __init__(self, roster: Roster, index: Int64Array, positions: ArrayLike, orientations: ArrayLike) -> None:
        counts = np.array([len(rig.bone_names) for rig in roster.rigs], np.int64)[roster.rig[index]]
        bones = int(counts[0]) if len(counts) else np.shape(positions)[-2] if np.ndim(positions) > 1 else 0
        if (counts != bones).any():
            row = int((counts != bones).argmax())
            raise ValueError(
                f"ids: expected characters with equally many bones, got {bones} in row 0 and {counts[row]} in row "
                f"{row}; pose rigs of other sizes in calls of their own"
            )
        at, turn = bone_poses(positions, orientations, bones)
        if len(at) != len(index):
            raise ValueError(f"positions: expected {len(index)} characters, one for each id, got {len(at)}")
        self._order = np.argsort(index, kind="stable")
        if not np.array_equal(self._order, np.arange(len(index))):
            index, at, turn = index[self._order], at[self._order], turn[self._order]
        self.ids, self._rig, self._rigs, self._at, self._turn = (
            roster.ids[index],
            roster.rig[index],
            roster.rigs,
            at,
            turn,
        )

    def changed(self, rows: StateRows) -> Changed:
        """What belongs to these characters, which are posed."""
        return rows.changed(rows.index_of(self.ids)[0])

    def write(self, columns: PoseColumns, rows: StateRows) -> None:
        """Write bones, ends and boxes; ValueError, naming character, bone and row, for what is no pose."""
        place, _ = rows.index_of(self.ids)
        bones = rows.changed(place).bones
        columns.positions[bones], columns.orientations[bones] = self._at.reshape(-1, 3), self._turn.reshape(-1, 4)
        for number in [int(self._rig[0])] if len(rows.rigs) == 1 else np.unique(self._rig).tolist():
            rig, own = self._rigs[number], np.flatnonzero(self._rig == number)
            first = Places(*(column[place[own]] for column in (rows.first_bone, rows.first_row, rows.first_box)))
            bad = place_limbs(
                rig.rows, len(rig.bone_names), Bones(columns.positions, columns.orientations), first,
                Placed(columns.p1, columns.p2, columns.boxes),
            )  # fmt: skip
            if bad >= 0:
                row = int(own[bad])
                given = f" (character {self.ids[row]}, row {self._order[row]} as given)"
                raise_misplaced(rig.bone_names, rig.limb_names, rig.rows, self._at, self._turn, row, given)
