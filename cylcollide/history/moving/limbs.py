"""The limbs that flying bullets may hit: where they are at both ends of a tick."""

from functools import cached_property

import numpy as np

from cylcollide._types import Float64Array, Int8Array, Int32Array, Uint32Array
from cylcollide.history.models import STAYS
from cylcollide.history.rewound import Instants, RewoundLimbs
from cylcollide.history.ring import Ring
from cylcollide.kernels.recorded import FIRST_ROW, NEXT_ROW, OWNER
from cylcollide.query.labels import NO_BONE
from cylcollide.query.loops.moving_rows import AXES, CENTRE, HALF, HERE, PATH_ROW, THERE, TURN, TURN_NEXT

NO_BOX = -1
"""Of a limb that is no box, the row among the paths."""


class MovingLimbs:
    """Limbs between a tick and the next one, (m,), sorted by tick and row of the state."""

    def __init__(self, ring: Ring, tick: Int32Array, row: Int32Array) -> None:
        self.ring, self.tick, self.state_row = ring, tick, row
        self.next_row = _next_rows(ring, tick, row)
        """Row of the state of the next tick, -1 for a limb that stays where it is until then."""
        self._here = RewoundLimbs(ring, Instants(tick, np.zeros(len(row))), row)
        self._goes = np.flatnonzero(self.next_row != STAYS)
        later = Instants(tick[self._goes] + np.int32(1), np.zeros(len(self._goes)))
        self._there = RewoundLimbs(ring, later, self.next_row[self._goes])
        table = self._here.table
        self.kind: Int8Array = table.kind
        """Shape."""
        self.radius, self.radius2 = table.radius, table.radius2
        self.character: Int32Array = table.character
        self.mask: Uint32Array = table.mask
        self.box: Int32Array = table.box
        """Row among the paths of boxes, -1 for other shapes."""
        self.here = np.stack([table.p1, table.p2], axis=1)
        """Ends at the tick, recorded; (m, 2, 3)."""
        self.there = self.here.copy()
        """Ends at the next one; the same of a limb that stays."""
        self.there[self._goes] = np.stack([self._there.table.p1, self._there.table.p2], axis=1)

    @cached_property
    def rig_limb(self) -> Int32Array:
        """Limb of the rig, -1 for a bare limb."""
        return self._here.labels.rig_limb

    @cached_property
    def paths(self) -> Float64Array:
        """The ways of boxes: rows of `MovingRows.paths`."""
        own = np.flatnonzero(self.box != NO_BOX)
        paths, labels = np.zeros((len(own), PATH_ROW)), self._here.labels
        paths[:, HERE : HERE + 3], paths[:, THERE : THERE + 3] = self.here[own, 0], self.there[own, 0]
        paths[:, TURN + 3] = paths[:, TURN_NEXT + 3] = 1.0
        paths[:, AXES : HALF + 3] = self._here.table.boxes
        carried = np.flatnonzero(labels.transform[own] != NO_BONE)
        if len(carried):
            of = own[carried]
            positions, turns = labels.bone_positions.copy(), labels.bone_orientations.copy()
            paths[carried, HERE : HERE + 3], paths[carried, TURN : TURN + 4] = positions[of], turns[of]
            after = self._there.labels
            positions[self._goes], turns[self._goes] = after.bone_positions, after.bone_orientations
            paths[carried, THERE : THERE + 3], paths[carried, TURN_NEXT : TURN_NEXT + 4] = positions[of], turns[of]
            paths[carried, CENTRE : CENTRE + 3] = self._here.column("numbers")[of, :3]
            paths[carried, AXES : HALF + 3] = self._here.local_boxes()[carried]
        return paths


def _next_rows(ring: Ring, tick: Int32Array, row: Int32Array) -> Int32Array:
    """Rows in the states of the next ticks."""
    following = np.full(len(row), STAYS, np.int32)
    for k in np.unique(tick[tick < len(ring.ticks) - 1]).tolist():
        own, one = np.flatnonzero(tick == k), ring.ticks[k]
        owner, mine = one.structure.row[row[own], OWNER], row[own].astype(np.int64)
        if len(one.characters):
            first = one.characters[owner]
            moved = np.where(first[:, NEXT_ROW] == STAYS, STAYS, first[:, NEXT_ROW] + mine - first[:, FIRST_ROW])
            mine = np.where(owner >= 0, moved, mine)
        following[own] = mine
    return following
