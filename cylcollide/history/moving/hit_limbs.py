"""The limbs that flying bullets have hit, each where it was at the moment of its contact."""

from functools import cached_property

import numpy as np

from cylcollide._types import Float64Array, Int32Array, Int64Array, Shape
from cylcollide.history.moving.limbs import MovingLimbs
from cylcollide.history.rewound import RewoundLimbs
from cylcollide.kernels.limb_table import LimbRows, LimbTable, make_table
from cylcollide.query.labels import RowLabels
from cylcollide.query.loops.moving_rows import STAYS
from cylcollide.runtime.memory import frozen


class HitLimbs:
    """Limbs at moments between ticks, (n,), as results read them; `state_row` has their rows in the state of the tick.

    Ends are between those of both ticks, on straight lines; boxes and bones are as `PoseHistory.limbs_at` has them.
    """

    def __init__(self, limbs: MovingLimbs, row: Int64Array, alpha: Float64Array) -> None:
        self._all, self._rows, self._alpha = limbs, row, alpha
        self.state_row: Int32Array = frozen(limbs.state_row[row])
        """Of each limb its row in the state of its tick."""

    @cached_property
    def _rewound(self) -> RewoundLimbs:
        return RewoundLimbs(self._all.ring, self._all.tick[self._rows], self._alpha, self.state_row)

    @cached_property
    def table(self) -> LimbTable:
        """The columns of the limbs."""
        t, rows, share = self._rewound.table, self._rows, self._alpha[:, None]
        straight = ((self._all.next_row[rows] != STAYS) & (t.kind != int(Shape.BOX)))[:, None]
        p1, p2 = (
            np.where(straight, (1.0 - share) * self._all.here[rows, k] + share * self._all.there[rows, k], placed)
            for k, placed in enumerate((t.p1, t.p2))
        )
        return make_table(t.kind, p1, p2, t.radius, t.radius2, t.box, t.boxes, t.character, t.mask)

    @cached_property
    def kernel_rows(self) -> LimbRows:
        """What loops read of the limbs."""
        return self.table.kernel_rows

    @property
    def labels(self) -> RowLabels:
        """Names, hit groups and bones of the limbs, and these bones between both ticks, if bones were recorded."""
        return self._rewound.labels
