"""The result of `cast_moving`: `MovingHits`, the first contact of each bullet. Most fields are computed lazily."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from cylcollide._types import POLICY_HIT, BoolArray, Float64Array, Int8Array, Int64Array
from cylcollide.kernels.ray import Rays
from cylcollide.process.files import Columns
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.loops.moving_rows import FlightRows
from cylcollide.query.loops.surface import write_exactly
from cylcollide.query.record import Record
from cylcollide.query.request import LabelledLimbs
from cylcollide.query.result import Field
from cylcollide.query.results import HitFields
from cylcollide.validate import EVERY_LAYER, IGNORE_NONE, NO_LIMIT, NO_RADIUS


@dataclass(frozen=True, eq=False)
class MovingHit(Record):
    """One row of `MovingHits`, as plain Python values and small arrays."""

    hit: bool
    fraction: float
    position: Float64Array
    normal: Float64Array
    limb: int
    limb_name: str | None
    hit_group: int
    character: int
    static: int
    bone: int
    rig_limb: int
    local_position: Float64Array
    local_normal: Float64Array
    face: int
    time: float
    target_time: float
    tick: int
    alpha: float
    clamped: bool
    undecided: bool
    piece: int
    error: float
    exit_fraction: float
    exit_piece: int
    exit_time: float
    duration: float


class MovingHits(HitFields):
    """The first contact of each bullet with a moving limb, row by row. Arrays are read-only.

    Lengths and times are in the units of the input. A miss has `hit` False, `limb`, `character`, `tick` and `piece` -1,
    `limb_name` None, `face` NONE, infinite fractions, NaN times, positions and normals. A bullet that starts in a limb
    hits it at fraction 0 with face INSIDE and a zero normal.

    `hits[i]` is one row, as a `MovingHit`; a slice, a mask or an array of indices chooses rows, as `MovingHits`.
    """

    _kind_of_row = MovingHit
    fields: ClassVar[tuple[str, ...]] = tuple(MovingHit.__annotations__)

    fraction = Field[Float64Array](
        "Where along its piece, from start to end, the bullet hits, 0 to 1; inf for a miss; (n,).", "_rounded"
    )
    piece = Field[Int64Array](
        "The piece of the path in which it hits; the bullet itself without a path; -1 for a miss; int64 (n,)."
    )
    error = Field[Float64Array](
        "How far that piece is from the curve it stands for, at most; 0 without a path, nan for a miss; (n,)."
    )
    face = Field[Int8Array]("`Face` of the contact; int8 (n,).")
    time = Field[Float64Array]("The bullet's time of the contact, nan for a miss; (n,).")
    target_time = Field[Float64Array]("The targets' time of the contact, nan for a miss; (n,).")
    tick = Field[Int64Array](
        "The last tick that is not after the targets' time of the contact, -1 for a miss; int64 (n,)."
    )
    alpha = Field[Float64Array]("How far it is from that tick to the next, 0 to 1, nan for a miss; (n,).")
    clamped = Field[BoolArray]("Whether requested times of the targets were not kept; bool (n,).")
    undecided = Field[BoolArray](
        """Whether the resolution does not decide what the bullet hits first: only of boxes that turn; bool (n,).

        Such a row has the contact that is certain, if there is one, else it is a miss.
        """
    )
    exit_fraction = Field[Float64Array](
        "Where along its `exit_piece` the bullet leaves the limb, or its flight ends in it; inf for a miss; (n,).",
        "_exits",
    )
    exit_piece = Field[Int64Array]("The piece in which it does so, -1 for a miss; int64 (n,).", "_exits")
    exit_time = Field[Float64Array]("The bullet's time of it, nan for a miss; (n,).", "_exits")
    duration = Field[Float64Array](
        "How long the bullet is in the limb, in its own time; 0 for a touch, nan for a miss; (n,).", "_exits"
    )

    def __init__(
        self,
        flights: FlightRows,
        limbs: LabelledLimbs,
        contacts: Columns,
        exits: Callable[[], Columns],
        present: Callable[..., Float64Array] | None,
    ) -> None:
        """`contacts`: first contacts by the names of `MovingColumns`, also `error`, `clamped`, and the limb's `row`.

        `exits` computes `exit_fraction`, `exit_piece`, `exit_time` and `duration`; `present` is that of `_rewound`.
        """
        self._flights, self._contacts, self._exits, self._present = flights, contacts, exits, present
        self._limbs, self._row = limbs, contacts["row"]
        self._columns = {name: column for name, column in contacts.items() if name != "fraction"}

    def _take(self, rows: Int64Array) -> MovingHits:
        contacts = {name: column[rows] for name, column in self._contacts.items()}
        return MovingHits(self._flights, self._limbs, contacts, partial(self._some_exits, rows), self._present)

    def _some_exits(self, rows: Int64Array) -> Columns:
        return {name: getattr(self, name)[rows] for name in ("exit_fraction", "exit_piece", "exit_time", "duration")}

    def _summary(self) -> str:
        undecided = int(self.undecided.sum())
        more = f", {undecided} undecided" if undecided else ""
        return f"MovingHits({len(self)} bullets, {int(self.hit.sum())} hits, {self.rechecked} rechecked{more})"

    def _rounded(self) -> Columns:
        return {"fraction": self._contacts["fraction"][:, 0].copy()}

    @property
    def rechecked(self) -> int:
        """The number of bullets that needed exact arithmetic."""
        return int(np.count_nonzero(~self._contacts["accurate"]))

    def _surface_columns(self) -> Columns:
        flights, piece, rows = self._flights, self.piece, np.flatnonzero(self.hit)
        position, normal = np.full((2, len(self), 3), np.nan)
        rays = Rays(flights.starts[piece], flights.ends[piece], True, NO_LIMIT, NO_RADIUS)
        batch, fraction = RayBatch(rays, EVERY_LAYER, IGNORE_NONE, POLICY_HIT), self._contacts["fraction"]
        write_exactly(
            batch, self._limbs._kernel_rows, rows, self._row[rows], fraction[rows], self.face[rows], position, normal
        )
        return {"position": position, "normal": normal}
