"""What a cast answers: `RayHits`, the closest hit of each ray. Heavy fields are computed when first asked for."""

from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import Any, Protocol, SupportsIndex, overload

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int8Array, Int32Array, Int64Array
from cylcollide.query.limb_fields import LimbFields, Surface, distances, ray_lengths
from cylcollide.query.loops.columns import ChordColumns
from cylcollide.query.request import LabelledLimbs, RayResult
from cylcollide.query.row_choice import chosen_rows
from cylcollide.runtime.memory import frozen, read_only


class HitSource(Protocol):
    """What a query found, and what is computed when it is first asked for."""

    @property
    def result(self) -> RayResult:
        """The rays and their columns."""

    @property
    def limbs(self) -> LabelledLimbs:
        """The limbs."""

    @property
    def rechecked(self) -> int:
        """How many rays needed exact arithmetic."""

    def take(self, rows: Int64Array) -> "HitSource":
        """The same of the given rows."""

    def chords(self) -> tuple[ChordColumns, BoolArray]:
        """The whole chord of each hit, both ends as double-doubles; and which ones come from exact arithmetic."""

    def surface(self) -> Surface:
        """Position and normal of each hit."""

    def exit_surface(self, chords: ChordColumns, exact: BoolArray) -> Surface:
        """Position and normal where each ray leaves, of what `chords` answers."""


class RayHits(LimbFields):
    """The closest hit of each ray, row by row; arrays that cannot be written.

    Lengths are in the unit of the input, fractions are parameters of the ray (0 to 1 on a segment). A miss has `hit`
    False, `limb` and `character` -1, `limb_name` None, `face` NONE, infinite fractions and distances, NaN positions and
    normals. A ray that starts in its limb has face INSIDE and a zero normal; so has the exit of one that ends there.

    `hits[i]` is one row, as a `RayHit`; a slice, a mask or an array of indices chooses rows, as `RayHits`.
    """

    def __init__(self, found: HitSource) -> None:
        self._found = found

    @property
    def _limbs(self) -> LabelledLimbs:
        return self._found.limbs

    @property
    def rechecked(self) -> int:
        """How many rays needed exact arithmetic."""
        return self._found.rechecked

    @property
    def _row(self) -> Int32Array:
        return self._found.result.limb

    @property
    def limb(self) -> Int32Array:
        """Index of the limb hit, a row of the state, -1 for a miss; int32 (n,)."""
        found = self._found
        return frozen(found.result.limb) if found.limbs.state_row is None else self._state_rows

    @property
    def fraction(self) -> Float64Array:
        """Parameter of the hit point, inf for a miss; (n,)."""
        return frozen(self._found.result.fraction)

    @property
    def face(self) -> Int8Array:
        """`Face` of the hit; int8 (n,)."""
        return frozen(self._found.result.face)

    @property
    def started_inside(self) -> BoolArray:
        """The start lies in some limb that the query considers, hit or not; bool (n,)."""
        return frozen(self._found.result.inside)

    def __len__(self) -> int:
        return len(self._found.result.limb)

    def __repr__(self) -> str:
        return f"RayHits({len(self)} rays, {int(self.hit.sum())} hits, {self.rechecked} rechecked)"

    @overload
    def __getitem__(self, rows: SupportsIndex) -> "RayHit": ...
    @overload
    def __getitem__(self, rows: Any) -> "RayHits": ...
    def __getitem__(self, rows: Any) -> "RayHit | RayHits":
        """One row, as plain values; the hits of a slice, a mask or an array of indices, as `RayHits`."""
        if isinstance(rows, SupportsIndex) and getattr(rows, "ndim", 0) == 0:
            row, fields = index(rows), RayHit.__annotations__
            return RayHit(**{name: plain_value(getattr(self, name)[row]) for name in fields})
        return RayHits(self._found.take(chosen_rows(rows, len(self), "hits")))

    @cached_property
    def hit(self) -> BoolArray:
        """Whether the ray hits; bool (n,)."""
        return frozen(self._found.result.limb >= 0)

    @cached_property
    def _known_chords(self) -> tuple[ChordColumns, BoolArray]:
        return self._found.chords()

    @property
    def _chords(self) -> ChordColumns:
        """The whole chord of each hit, both ends as double-doubles."""
        return self._known_chords[0]

    @cached_property
    def exit_fraction(self) -> Float64Array:
        """Parameter at which the ray leaves the limb or ends in it, inf for a miss; (n,)."""
        return read_only(np.ascontiguousarray(self._chords.exit[:, 0]))

    @cached_property
    def exit_face(self) -> Int8Array:
        """`Face` the ray leaves by, INSIDE if it ends in the limb; int8 (n,)."""
        return read_only(self._chords.exit_face)

    @cached_property
    def _length(self) -> Float64Array:
        return ray_lengths(self._found.result.batch.rays)

    @cached_property
    def distance(self) -> Float64Array:
        """Distance from the start to the hit point, inf for a miss; (n,)."""
        return distances(self.fraction, self._length)

    @cached_property
    def exit_distance(self) -> Float64Array:
        """Distance from the start to the exit point, inf for a miss; (n,)."""
        return distances(self.exit_fraction, self._length)

    @cached_property
    def thickness(self) -> Float64Array:
        """Length of the ray inside the limb, 0 for a touch, NaN for a miss; (n,)."""
        return frozen(self._chords.extent * self._length)

    @cached_property
    def _surface(self) -> Surface:
        position, normal = self._found.surface()
        return frozen(position), frozen(normal)

    @cached_property
    def _exit_surface(self) -> Surface:
        position, normal = self._found.exit_surface(*self._known_chords)
        return frozen(position), frozen(normal)

    @property
    def position(self) -> Float64Array:
        """Hit point, NaN for a miss; (n, 3)."""
        return self._surface[0]

    @property
    def normal(self) -> Float64Array:
        """Unit outward normal at the hit point, zero for INSIDE, NaN for a miss; (n, 3)."""
        return self._surface[1]

    @property
    def exit_position(self) -> Float64Array:
        """Point where the ray leaves the limb or ends in it, NaN for a miss; (n, 3)."""
        return self._exit_surface[0]

    @property
    def exit_normal(self) -> Float64Array:
        """Unit outward normal at the exit, zero if the ray ends in the limb, NaN for a miss; (n, 3)."""
        return self._exit_surface[1]


@dataclass(frozen=True)
class RayHit:
    """One row of `RayHits`, as plain Python values and small arrays."""

    hit: bool
    fraction: float
    distance: float
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
    started_inside: bool
    exit_fraction: float
    exit_distance: float
    exit_position: Float64Array
    exit_normal: Float64Array
    exit_face: int
    thickness: float


def plain_value(value: Any) -> Any:
    """A numpy scalar as a Python one; arrays stay."""
    return value.item() if isinstance(value, np.generic) else value
