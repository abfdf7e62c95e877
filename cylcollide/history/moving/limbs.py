"""The limbs that flying bullets may hit: their places at both ends of a tick."""

from functools import cached_property

import numpy as np

from cylcollide._types import Float64Array, Int32Array, Int64Array
from cylcollide.history.rewound import RewoundLimbs
from cylcollide.history.ticks import Ring
from cylcollide.kernels.limb_table import LimbRows, LimbTable, make_table
from cylcollide.query.labels import NO_BONE, RowLabels
from cylcollide.query.loops.columns import columns_of
from cylcollide.query.loops.moving_rows import (
    AXES,
    CENTRE,
    HALF,
    HERE,
    MOVING_ROW,
    NO_BOX,
    P1,
    P1_NEXT,
    PATH_ROW,
    STAYS,
    THERE,
    TURN,
    TURN_NEXT,
    MovingRows,
    fill_moving_rows,
)
from cylcollide.runtime.memory import aligned, frozen


class MovingLimbs:
    """Limbs between a tick and the next one, (m,), sorted by tick and row of the state."""

    def __init__(self, ring: Ring, tick: Int32Array, row: Int32Array) -> None:
        self.ring, self.tick = ring, tick
        m = len(row)
        rows, no_paths = aligned((m, MOVING_ROW), np.float64), np.empty((0, PATH_ROW))
        table = columns_of(MovingRows, m, rows, no_paths, row)
        fill_moving_rows(ring.recorded, tick, table)
        self.ends, self.next_ends = (rows[:, first : first + 6].reshape(m, 2, 3) for first in (P1, P1_NEXT))
        """Recorded ends at the tick and at the next one, equal for a limb that stays; (m, 2, 3) each."""
        self.table = table._replace(paths=self._paths_of(table))

    @cached_property
    def rig_limb(self) -> Int32Array:
        """Limb of the rig, -1 for a bare limb."""
        return RewoundLimbs(self.ring, self.tick, np.zeros(len(self.tick)), self.table.row).column("rig_limb")

    def _paths_of(self, table: MovingRows) -> Float64Array:
        """The paths of boxes: rows of `MovingRows.paths`. A box that no bone moves is given in world coordinates."""
        own = np.flatnonzero(table.box != NO_BOX)
        paths = np.zeros((len(own), PATH_ROW))
        if not len(own):
            return paths
        here = RewoundLimbs(self.ring, self.tick[own], np.zeros(len(own)), table.row[own])
        labels = here._labels
        paths[:, HERE : HERE + 3], paths[:, THERE : THERE + 3] = self.ends[own, 0], self.next_ends[own, 0]
        paths[:, TURN + 3] = paths[:, TURN_NEXT + 3] = 1.0
        paths[:, AXES : HALF + 3] = here._table.boxes
        carried = labels.bone != NO_BONE  # statics have no bone, and keep the axes of this tick
        carried &= not self.ring.by_ends
        if carried.any():
            position, turn = labels.bone_positions, labels.bone_orientations
            positions, turns = position.copy(), turn.copy()
            goes = np.flatnonzero(table.next_row[own] != STAYS)
            later = self.tick[own[goes]] + np.int32(1)
            after = RewoundLimbs(self.ring, later, np.zeros(len(goes)), table.next_row[own[goes]])._labels
            positions[goes], turns[goes] = after.bone_positions, after.bone_orientations
            carried &= (positions != position).any(axis=1) | (turns != turn).any(axis=1)
            paths[carried, HERE : HERE + 3], paths[carried, TURN : TURN + 4] = position[carried], turn[carried]
            paths[carried, THERE : THERE + 3] = positions[carried]
            paths[carried, TURN_NEXT : TURN_NEXT + 4] = turns[carried]
            paths[carried, CENTRE : CENTRE + 3] = here.column("numbers")[carried, :3]
            paths[carried, AXES : HALF + 3] = here.column("local_box")[carried]
        return paths


class HitLimbs:
    """N limbs at moments between ticks, in the form that results read.

    Ends are interpolated linearly between both ticks; boxes and bones are those of `PoseHistory.limbs_at`.
    """

    def __init__(self, limbs: MovingLimbs, row: Int64Array, alpha: Float64Array) -> None:
        self._all, self._rows, self._alpha = limbs, row, alpha
        self._state_row: Int32Array = frozen(limbs.table.row[row])
        """The row of each limb in the state of its tick."""

    @cached_property
    def _rewound(self) -> RewoundLimbs:
        return RewoundLimbs(self._all.ring, self._all.tick[self._rows], self._alpha, self._state_row)

    @cached_property
    def _table(self) -> LimbTable:
        t, rows, share = self._rewound._table, self._rows, self._alpha[:, None]
        straight = ((self._all.table.next_row[rows] != STAYS) & (t.box < 0))[:, None]
        p1, p2 = (
            np.where(straight, (1.0 - share) * self._all.ends[rows, k] + share * self._all.next_ends[rows, k], placed)
            for k, placed in enumerate((t.p1, t.p2))
        )
        return make_table(t.kind, p1, p2, t.radius, t.radius2, t.box, t.boxes, t.character, t.mask)

    @cached_property
    def _kernel_rows(self) -> LimbRows:
        return self._table.kernel_rows

    @property
    def _labels(self) -> RowLabels:
        """Names, hit groups and bones of the limbs; bone transforms are interpolated, if bones were recorded."""
        return self._rewound._labels
