"""What `cast_moving` answers: `MovingHits`, the first contact of each bullet. Heavy fields are computed lazily."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import Any, NamedTuple, SupportsIndex, overload

import numpy as np

from cylcollide._types import NO_LIMB, POLICY_HIT, BoolArray, Float64Array, Int8Array, Int32Array, Int64Array
from cylcollide.history.moving.flights import Flights
from cylcollide.history.moving.limbs import HitLimbs
from cylcollide.kernels.ray import Rays
from cylcollide.query.hits import plain_value
from cylcollide.query.limb_fields import LimbFields, Surface
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.loops.surface import write_exactly
from cylcollide.query.row_choice import chosen_rows
from cylcollide.runtime.memory import frozen
from cylcollide.validate import EVERY_LAYER, IGNORE_NONE, NO_LIMIT

NO_PIECE = -1
"""The piece of a miss."""


class Contacts(NamedTuple):
    """The first contact of each bullet; (n,) each, arrays that cannot be written."""

    fraction: Float64Array  # (n, 2) and so on, as in `ContactRows`
    time: Float64Array
    target_time: Float64Array
    alpha: Float64Array
    piece: Int64Array
    tick: Int64Array
    face: Int8Array  # Face, INSIDE if the bullet starts in the limb, NONE for a miss
    row: Int32Array  # of the limb among those that are hit, -1 for a miss
    clamped: BoolArray
    undecided: BoolArray
    rechecked: BoolArray


class Exits(NamedTuple):
    """Where bullets leave their limbs; (n,) each."""

    piece: Int64Array  # -1 for a miss
    fraction: Float64Array  # s of that piece, inf for a miss
    time: Float64Array  # the bullet's, nan for a miss
    duration: Float64Array  # since the contact, nan for a miss


class Found(NamedTuple):
    """What a query has found."""

    flights: Flights
    limbs: HitLimbs
    contacts: Contacts
    exits: Callable[[], Exits]
    """Computed for all bullets of the query, when first asked for."""


class MovingHits(LimbFields):
    """The first contact of each bullet with a limb that moves, row by row; arrays that cannot be written.

    Lengths and times are in the units of the input. A miss has `hit` False, `limb`, `character`, `tick` and `piece` -1,
    `limb_name` None, `face` NONE, infinite fractions, NaN times, positions and normals. A bullet that starts in a limb
    hits it at fraction 0 with face INSIDE and a zero normal.

    `hits[i]` is one row, as a `MovingHit`; a slice, a mask or an array of indices chooses rows, as `MovingHits`.
    """

    def __init__(self, found: Found, chosen: Int64Array | None = None) -> None:
        self._found, self._chosen = found, chosen
        columns = found.contacts if chosen is None else (frozen(column[chosen]) for column in found.contacts)
        self._contacts = Contacts._make(columns)

    @property
    def _limbs(self) -> HitLimbs:
        return self._found.limbs

    @property
    def _row(self) -> Int32Array:
        return self._contacts.row

    def __len__(self) -> int:
        return len(self._contacts.row)

    def __repr__(self) -> str:
        undecided = int(self.undecided.sum())
        more = f", {undecided} undecided" if undecided else ""
        return f"MovingHits({len(self)} bullets, {int(self.hit.sum())} hits, {self.rechecked} rechecked{more})"

    @overload
    def __getitem__(self, rows: SupportsIndex) -> "MovingHit": ...
    @overload
    def __getitem__(self, rows: Any) -> "MovingHits": ...
    def __getitem__(self, rows: Any) -> "MovingHit | MovingHits":
        """One row, as plain values; the hits of a slice, a mask or an array of indices, as `MovingHits`."""
        if isinstance(rows, SupportsIndex) and getattr(rows, "ndim", 0) == 0:
            row, fields = index(rows), MovingHit.__annotations__
            return MovingHit(**{name: plain_value(getattr(self, name)[row]) for name in fields})
        chosen = chosen_rows(rows, len(self), "hits")
        return MovingHits(self._found, chosen if self._chosen is None else self._chosen[chosen])

    @cached_property
    def hit(self) -> BoolArray:
        """Whether the bullet hits; bool (n,)."""
        return frozen(self._contacts.row >= 0)

    @cached_property
    def fraction(self) -> Float64Array:
        """Where along its piece, from start to end, the bullet hits, 0 to 1; inf for a miss; (n,)."""
        return frozen(self._contacts.fraction[:, 0].copy())

    @property
    def piece(self) -> Int64Array:
        """The piece of the path in which it hits; the bullet itself without a path; -1 for a miss; int64 (n,)."""
        return self._contacts.piece

    @cached_property
    def error(self) -> Float64Array:
        """How far that piece is from the curve it stands for, at most; 0 without a path, nan for a miss; (n,)."""
        return _of_pieces(self._found.flights.error, self.piece)

    @property
    def face(self) -> Int8Array:
        """`Face` of the contact; int8 (n,)."""
        return self._contacts.face

    @property
    def time(self) -> Float64Array:
        """The bullet's time of the contact, nan for a miss; (n,)."""
        return self._contacts.time

    @property
    def target_time(self) -> Float64Array:
        """The targets' time of the contact, nan for a miss; (n,)."""
        return self._contacts.target_time

    @property
    def tick(self) -> Int64Array:
        """The last tick that is not after the targets' time of the contact, -1 for a miss; int64 (n,)."""
        return self._contacts.tick

    @property
    def alpha(self) -> Float64Array:
        """How far it is from that tick to the next, 0 to 1, nan for a miss; (n,)."""
        return self._contacts.alpha

    @property
    def clamped(self) -> BoolArray:
        """Whether other times of the targets were asked for, which are not kept; bool (n,)."""
        return self._contacts.clamped

    @property
    def undecided(self) -> BoolArray:
        """Whether the resolution leaves open what the bullet hits first: only of boxes that turn; bool (n,).

        Such a row has the contact that is certain, if there is one, else it is a miss.
        """
        return self._contacts.undecided

    @cached_property
    def rechecked(self) -> int:
        """How many bullets needed exact arithmetic."""
        return int(self._contacts.rechecked.sum())

    @cached_property
    def _known_exits(self) -> Exits:
        exits = self._found.exits()
        return exits if self._chosen is None else Exits._make(frozen(column[self._chosen]) for column in exits)

    @property
    def exit_fraction(self) -> Float64Array:
        """Where along its `exit_piece` the bullet leaves the limb, or its flight ends in it; inf for a miss; (n,)."""
        return self._known_exits.fraction

    @property
    def exit_piece(self) -> Int64Array:
        """The piece in which it does so, -1 for a miss; int64 (n,)."""
        return self._known_exits.piece

    @property
    def exit_time(self) -> Float64Array:
        """The bullet's time of it, nan for a miss; (n,)."""
        return self._known_exits.time

    @property
    def duration(self) -> Float64Array:
        """How long the bullet is in the limb, in its own time; 0 for a touch, nan for a miss; (n,)."""
        return self._known_exits.duration

    @cached_property
    def _surface(self) -> Surface:
        flights, (fraction, *_) = self._found.flights, self._contacts
        row, piece, face = self._contacts.row, self._contacts.piece, self._contacts.face
        position, normal = np.full((2, len(row), 3), np.nan)
        rays = Rays(flights.starts[piece], flights.ends[piece], True, NO_LIMIT)
        batch = RayBatch(rays, EVERY_LAYER, IGNORE_NONE, POLICY_HIT)
        write_exactly(batch, self._limbs.kernel_rows, np.flatnonzero(row != NO_LIMB), row[row != NO_LIMB],
                           fraction[row != NO_LIMB], face[row != NO_LIMB], position, normal)  # fmt: skip
        return frozen(position), frozen(normal)

    @property
    def position(self) -> Float64Array:
        """Where the bullet is at the contact, NaN for a miss; (n, 3)."""
        return self._surface[0]

    @property
    def normal(self) -> Float64Array:
        """Unit outward normal of the limb there at that moment, zero for INSIDE, NaN for a miss; (n, 3)."""
        return self._surface[1]


def _of_pieces(column: Float64Array, piece: Int64Array) -> Float64Array:
    """Entries of a column by piece, nan for piece -1."""
    entries = np.full(len(piece), np.nan)
    entries[piece >= 0] = column[piece[piece >= 0]]
    return frozen(entries)


@dataclass(frozen=True)
class MovingHit:
    """One row of `MovingHits`, as plain Python values and small arrays."""

    hit: bool
    fraction: float
    position: Float64Array
    normal: Float64Array
    limb: int
    limb_name: str | None
    hit_group: int
    character: int
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
