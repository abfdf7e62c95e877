"""What a query answers: `RayHits`, `Chords`, `PointHits`. Heavy fields are computed when first asked for."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import Any, Protocol, SupportsIndex, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import NO_CHARACTER, BoolArray, Float64Array, Int8Array, Int32Array, Int64Array
from cylcollide.kernels.limb_table import LimbRows, LimbTable
from cylcollide.kernels.ray import Rays
from cylcollide.query.loops.columns import ChordColumns, ChordRows, ray_of_each
from cylcollide.query.request import RayResult

Scalar = TypeVar("Scalar", bound=np.generic)

Surface: TypeAlias = tuple[Float64Array, Float64Array]
"""Positions and unit outward normals; (n, 3) each."""


class HitSource(Protocol):
    """What a query found, and what is computed when it is first asked for."""

    @property
    def result(self) -> RayResult:
        """The rays and their columns."""

    @property
    def table(self) -> LimbTable:
        """The limbs."""

    @property
    def rechecked(self) -> int:
        """How many rays needed exact arithmetic."""

    def chords(self) -> tuple[ChordColumns, BoolArray]:
        """The whole chord of each hit, both ends as double-doubles; and which ones come from exact arithmetic."""

    def surface(self) -> Surface:
        """Position and normal of each hit."""

    def exit_surface(self, chords: ChordColumns, exact: BoolArray) -> Surface:
        """Position and normal where each ray leaves, of what `chords` answers."""


def read_only(column: NDArray[Scalar]) -> NDArray[Scalar]:
    """A view of a column that cannot be written: loops index by limbs and faces without a check."""
    view = column.view()
    view.setflags(write=False)
    return view


def frozen(column: NDArray[Scalar]) -> NDArray[Scalar]:
    """The same array, which from now on cannot be written: one that nothing else writes."""
    column.setflags(write=False)
    return column


class RayHits:
    """The closest hit of each ray, row by row; arrays that cannot be written.

    Lengths are in the unit of the input, fractions are parameters of the ray (0 to 1 on a segment). A miss has `hit`
    False, `limb` and `character` -1, `face` NONE, infinite fractions and distances, NaN positions and normals. A ray
    that starts in its limb has face INSIDE and a zero normal; so has the exit of one that ends there.
    """

    def __init__(self, found: HitSource) -> None:
        self._found = found

    @property
    def rechecked(self) -> int:
        """How many rays needed exact arithmetic."""
        return self._found.rechecked

    @property
    def limb(self) -> Int32Array:
        """Index of the limb hit, -1 for a miss; int32 (n,)."""
        return read_only(self._found.result.limb)

    @property
    def fraction(self) -> Float64Array:
        """Parameter of the hit point, inf for a miss; (n,)."""
        return read_only(self._found.result.fraction)

    @property
    def face(self) -> Int8Array:
        """`Face` of the hit; int8 (n,)."""
        return read_only(self._found.result.face)

    @property
    def started_inside(self) -> BoolArray:
        """The start lies in some limb that the query considers, hit or not; bool (n,)."""
        return read_only(self._found.result.inside)

    def __len__(self) -> int:
        return len(self.limb)

    def __repr__(self) -> str:
        return f"RayHits({len(self)} rays, {int(self.hit.sum())} hits, {self.rechecked} rechecked)"

    def __getitem__(self, i: SupportsIndex) -> "RayHit":
        """One row, as plain values."""
        row, fields = index(i), RayHit.__annotations__
        return RayHit(**{name: _plain(getattr(self, name)[row]) for name in fields})

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
    def character(self) -> Int32Array:
        """Character of the limb hit, -1 for a miss or a limb of nobody; int32 (n,)."""
        limb, characters = self._found.result.limb, self._found.table.character
        if len(characters) == 0:
            return frozen(np.full_like(limb, NO_CHARACTER))
        character = characters[limb]
        character[limb < 0] = NO_CHARACTER
        return frozen(character)

    @cached_property
    def _length(self) -> Float64Array:
        return _lengths(self._found.result.batch.rays)

    @cached_property
    def distance(self) -> Float64Array:
        """Distance from the start to the hit point, inf for a miss; (n,)."""
        return frozen(_times(self.fraction, self._length))

    @cached_property
    def exit_distance(self) -> Float64Array:
        """Distance from the start to the exit point, inf for a miss; (n,)."""
        return frozen(_times(self.exit_fraction, self._length))

    @cached_property
    def thickness(self) -> Float64Array:
        """Length of the ray inside the limb, 0 for a touch, NaN for a miss; (n,)."""
        entry, leave = self._chords.entry, self._chords.exit
        return frozen(((leave[:, 0] - entry[:, 0]) + (leave[:, 1] - entry[:, 1])) * self._length)

    @cached_property
    def _hit_surface(self) -> Surface:
        position, normal = self._found.surface()
        return frozen(position), frozen(normal)

    @cached_property
    def _exit_surface(self) -> Surface:
        position, normal = self._found.exit_surface(*self._known_chords)
        return frozen(position), frozen(normal)

    @property
    def position(self) -> Float64Array:
        """Hit point, NaN for a miss; (n, 3)."""
        return self._hit_surface[0]

    @property
    def normal(self) -> Float64Array:
        """Unit outward normal at the hit point, zero for INSIDE, NaN for a miss; (n, 3)."""
        return self._hit_surface[1]

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
    character: int
    face: int
    started_inside: bool
    exit_fraction: float
    exit_distance: float
    exit_position: Float64Array
    exit_normal: Float64Array
    exit_face: int
    thickness: float


class Chords:
    """Every limb that each ray crosses, sorted along the ray, in compressed rows.

    The chords of ray i are rows `offsets[i]:offsets[i + 1]`. `ray`, `limb`, `character`, `entry_fraction`,
    `exit_fraction`, `entry_face`, `exit_face` and `thickness` all have one entry a chord. No array can be written.
    """

    def __init__(self, rays: Rays, limbs: LimbRows, rows: ChordRows) -> None:
        chords = rows.chords
        self._rays, self._limbs, self._chords = rays, limbs, chords
        self.offsets: Int64Array = read_only(rows.offsets)
        self.rechecked = rows.rechecked
        """How many rays needed exact arithmetic."""
        self.limb: Int32Array = read_only(chords.limb)
        self.entry_fraction: Float64Array = frozen(chords.entry[:, 0])
        self.exit_fraction: Float64Array = frozen(chords.exit[:, 0])
        self.entry_face: Int8Array = read_only(chords.entry_face)
        self.exit_face: Int8Array = read_only(chords.exit_face)

    def __len__(self) -> int:
        return len(self.limb)

    def __repr__(self) -> str:
        return f"Chords({len(self)} chords of {len(self.offsets) - 1} rays, {self.rechecked} rechecked)"

    @cached_property
    def ray(self) -> Int64Array:
        """Row of the ray; int64, one a chord."""
        return frozen(ray_of_each(self.offsets))

    @cached_property
    def character(self) -> Int32Array:
        """Character of the limb; int32, one a chord."""
        return frozen(self._limbs.character[self.limb])

    @cached_property
    def thickness(self) -> Float64Array:
        """Length of the chord in the unit of the input; one a chord."""
        entry, leave = self._chords.entry, self._chords.exit
        inside = (leave[:, 0] - entry[:, 0]) + (leave[:, 1] - entry[:, 1])
        return frozen(inside * _lengths(self._rays)[self.ray])


class PointHits:
    """For each point: the limb that holds it, how many limbs do, and the squared distance from that limb's axis.

    No array can be written.
    """

    def __init__(self, limb: Int32Array, count: Int32Array, distances: Callable[[], Float64Array]) -> None:
        self._limb, self._count, self._distances = limb, count, distances

    @property
    def limb(self) -> Int32Array:
        """Lowest index of a limb that holds the point, -1 if none does; int32 (n,)."""
        return read_only(self._limb)

    @property
    def count(self) -> Int32Array:
        """How many limbs hold the point; int32 (n,)."""
        return read_only(self._count)

    def __len__(self) -> int:
        return len(self._limb)

    def __repr__(self) -> str:
        return f"PointHits({len(self)} points, {np.count_nonzero(self._count)} in a limb)"

    @cached_property
    def axis_distance_squared(self) -> Float64Array:
        """Squared distance from that limb's axis, -1.0 if none holds the point; (n,)."""
        return frozen(self._distances())


def _plain(value: Any) -> Any:
    """A numpy scalar as a Python one; arrays stay."""
    return value.item() if isinstance(value, np.generic) else value


def _lengths(rays: Rays) -> Float64Array:
    """Length of one unit of fraction, (n,)."""
    displacement = rays.second - rays.origin if rays.is_segment else rays.second
    length: Float64Array = np.hypot(np.hypot(displacement[:, 0], displacement[:, 1]), displacement[:, 2])
    return length


def _times(fraction: Float64Array, length: Float64Array) -> Float64Array:
    """Fraction * length with inf kept for misses of zero-length rays."""
    return np.multiply(fraction, length, out=fraction.copy(), where=np.isfinite(fraction))
