"""What all results share: columns and how to complete them, rows, moments in the past, and what is known of limbs."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property
from operator import index
from typing import Any, Generic, NoReturn, Protocol, Self, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import NO_CHARACTER, NO_LIMB, BoolArray, Float64Array, Int32Array, Int64Array
from cylcollide.kernels.ray import Rays
from cylcollide.query.labels import NO_BONE
from cylcollide.query.loops import surface as surface_loops
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.request import LabelledLimbs
from cylcollide.query.scratch import scratch_for_surface
from cylcollide.runtime import memory
from cylcollide.runtime.memory import frozen

NO_HIT_GROUP = -1
"""The hit group of a miss."""

Columns: TypeAlias = Mapping[str, NDArray[Any]]
"""Columns by name."""

Surface: TypeAlias = tuple[Float64Array, Float64Array]
"""Positions and unit outward normals; (n, 3) each."""

T = TypeVar("T")
Row = TypeVar("Row")


class Field(Generic[T]):
    """A column of a result, which can be neither set nor written; `_columns` of the result has those that are known.

    `by` names the method of the result that computes it, with others, when the first of them is read.
    """

    def __init__(self, doc: str, by: str = "") -> None:
        self.__doc__, self._by = doc, by

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, result: None, owner: type) -> Self: ...
    @overload
    def __get__(self, result: Any, owner: type) -> T: ...
    def __get__(self, result: Any, owner: type) -> Self | T:
        """The column, computed if it is not known yet."""
        if result is None:
            return self
        columns: dict[str, Any] = result._columns
        if self._name not in columns:
            columns.update(getattr(result, self._by)())
        column: Any = frozen(columns[self._name])
        return column  # type: ignore[no-any-return]

    def __set__(self, result: object, value: object) -> NoReturn:
        """Raise AttributeError."""
        raise AttributeError(f"{type(result).__name__}.{self._name}: cannot be set")


class SampleTimes(Protocol):
    """The moments of rays or points in the past."""

    def take(self, rows: Any) -> "SampleTimes":
        """Those of some rows."""

    def _asdict(self) -> dict[str, Any]: ...


class Result(ABC):
    """What a query answers, a row a ray or point.

    A slice, a mask or an array of indices chooses rows. Results of a `PoseHistory` also have `time`, `tick`, `alpha`
    and `clamped` of each row, and `present_position()` where they have positions; others raise AttributeError.
    """

    _what = "hits"  # in messages about rows
    _sample_times: SampleTimes | None = None
    _present: Callable[..., Float64Array] | None = None
    _columns: dict[str, NDArray[Any]]
    """Those that are known; `Field` reads and completes them."""

    time = Field[Float64Array]("The time that was judged; (n,).", "_times")
    tick = Field[Int64Array](
        "The last tick that is not after it, -1 for a time that is not kept; int64 (n,).",
        "_times",
    )
    alpha = Field[Float64Array]("How far it is from that tick to the next, 0 to 1, nan for tick -1; (n,).", "_times")
    clamped = Field[BoolArray]("Whether a time was asked for that is not kept; bool (n,).", "_times")

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    def _count(self) -> int:
        """How many rows can be chosen."""
        return len(self)

    @abstractmethod
    def _take(self, rows: Int64Array) -> Self:
        """The given rows, without moments."""

    def __getitem__(self, rows: Any) -> Self:
        """The rows that an index, a slice, a mask or an array of indices chooses."""
        chosen = chosen_rows(rows, self._count, self._what)
        part = self._take(chosen)
        return part if self._sample_times is None else part.rewound(self._sample_times.take(chosen), self._present)

    def rewound(self, times: SampleTimes, present: Callable[..., Float64Array] | None) -> Self:
        """Add the moments of the rows of a query in the past; returns the result.

        `present` finds the present positions of a result, from itself, its positions, the rows of its limbs and their
        table.
        """
        self._sample_times, self._present = times, present
        return self

    def _times(self) -> Columns:
        if self._sample_times is None:
            raise AttributeError(f"{type(self).__name__}: expected a query of a PoseHistory, the present has no ticks")
        return self._sample_times._asdict()


class LimbFields(Result):
    """Results with a limb in each row, or -1 for none."""

    _limbs: LabelledLimbs
    """The limbs that were judged."""
    _row: Int32Array
    """Row of the limb among these, -1 for a miss; int32 (n,)."""

    @property
    @abstractmethod
    def _surface(self) -> Surface:
        """Position and normal of the hit, or of the entry."""

    def __len__(self) -> int:
        return len(self._row)

    @property
    def limb(self) -> Int32Array:
        """Index of the limb, a row of the state, -1 for a miss; int32 (n,)."""
        return frozen(self._row) if self._limbs.state_row is None else self._state_rows

    @cached_property
    def _state_rows(self) -> Int32Array:
        """Rows of the state, where limbs are numbered otherwise."""
        row = self._limbs.state_row
        return self._row if row is None else gather(row, self._row, NO_LIMB)

    @cached_property
    def character(self) -> Int32Array:
        """Character of the limb, -1 for a miss or a limb of nobody; int32 (n,)."""
        return gather(self._limbs.table.character, self._row, NO_CHARACTER)

    @cached_property
    def limb_name(self) -> NDArray[Any]:
        """Name of the limb, a str, None for a miss; (n,) of objects."""
        return gather(self._limbs.labels.names, self._row, None)

    @cached_property
    def hit_group(self) -> Int32Array:
        """Hit group of the limb, -1 for a miss; int32 (n,)."""
        return gather(self._limbs.labels.hit_group, self._row, NO_HIT_GROUP)

    @cached_property
    def bone(self) -> Int32Array:
        """Bone of the character's rig that carries the limb, -1 for a miss or a bare limb; int32 (n,)."""
        return gather(self._limbs.labels.bone, self._row, NO_BONE)

    @cached_property
    def rig_limb(self) -> Int32Array:
        """Index of the limb in the character's rig, -1 for a miss or a bare limb; int32 (n,)."""
        return gather(self._limbs.labels.rig_limb, self._row, NO_LIMB)

    local_position = Field[Float64Array](
        "The position in the frame of the limb's bone, NaN for a miss or a bare limb; (n, 3).",
        "_local",
    )
    local_normal = Field[Float64Array]("The normal in the same frame, NaN for a miss or a bare limb; (n, 3).", "_local")

    def _local(self) -> Columns:
        labels, (position, normal) = self._limbs.labels, self._surface
        bones = labels.transform, labels.bone_positions, labels.bone_orientations
        local_position, local_normal = memory.rows(position.shape), memory.rows(position.shape)
        surface_loops.write_local_surface(self._row, *bones, position, normal, local_position, local_normal)
        return {"local_position": local_position, "local_normal": local_normal}

    def present_position(self) -> Float64Array:
        """Where these places are now, on limbs that have moved since; (n, 3), NaN for misses and despawned characters.

        Of queries in the past. The place stays where it is in the frame of its bone. Of bare limbs, and where ends are
        interpolated, it keeps its share of the way between the limb's ends, and what is beside the axis turns by the
        shortest turn of the axis; in a box it keeps its coordinates. Each call reads the present state of the world. In
        float64, not exact.
        """
        present = self._present
        if present is None:
            raise AttributeError("present_position: expected a query of a PoseHistory, got one of the present")
        return frozen(present(self, self._surface[0], self._row, self._limbs.table))


class HitFields(LimbFields, Generic[Row]):
    """Results with one hit a row, or a miss. With a `_row_type`, `hits[i]` is one row as plain values."""

    _row_type: type[Row] | None = None

    position = Field[Float64Array](
        "Hit point, or entry into the limb that a policy counts; NaN for a miss; (n, 3).", "_spots"
    )
    normal = Field[Float64Array]("Unit outward normal there, zero for INSIDE, NaN for a miss; (n, 3).", "_spots")

    @abstractmethod
    def _spots(self) -> Columns:
        """`position` and `normal`."""

    @property
    def _surface(self) -> Surface:
        return self.position, self.normal

    @cached_property
    def hit(self) -> BoolArray:
        """Whether there is a hit; bool (n,)."""
        return frozen(self._row >= 0)

    @overload
    def __getitem__(self, rows: SupportsIndex) -> Row: ...
    @overload
    def __getitem__(self, rows: Any) -> Self: ...
    def __getitem__(self, rows: Any) -> "Row | Self":
        """One row, as plain values; the hits of a slice, a mask or an array of indices, as a result like this."""
        if self._row_type is None or not isinstance(rows, SupportsIndex) or getattr(rows, "ndim", 0) != 0:
            return super().__getitem__(rows)
        columns = {name: getattr(self, name)[index(rows)] for name in self._row_type.__annotations__}
        plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in columns.items()}
        return self._row_type(**plain)


def gather(column: NDArray[Any], index: Int32Array | Int64Array, missing: Any) -> NDArray[Any]:
    """Entries of a column by index, `missing` where that is negative; cannot be written."""
    if len(column) == 0:
        return frozen(np.full(len(index), missing, column.dtype))
    entries = column[index]
    entries[index < 0] = missing
    return frozen(entries)


def surface_at(
    batch: RayBatch,
    limbs: LabelledLimbs,
    limb: Int32Array,
    fraction: Float64Array,
    face: NDArray[np.int8],
    exact: tuple[Int64Array, Float64Array],
    leaving: bool,
) -> Surface:
    """Positions and normals where rays cross faces of their limbs, NaN for limb -1.

    `exact` are rows (k,) whose fractions kernels do not decide, and these as double-doubles (k, 2). `leaving` says that
    the faces are those where the rays leave.
    """
    table, (rows, ends) = limbs.kernel_rows, exact
    position, normal = memory.rows((len(limb), 3)), memory.rows((len(limb), 3))
    surface_loops.write_surface(batch, table, limb, fraction, face, leaving, *scratch_for_surface(), position, normal)
    if len(rows):
        surface_loops.write_exactly(batch, table, rows, limb[rows], ends, face[rows], position, normal)
    return position, normal


def ray_lengths(rays: Rays) -> Float64Array:
    """Length of one unit of fraction, (n,)."""
    displacement = rays.second - rays.origin if rays.is_segment else rays.second
    length: Float64Array = np.hypot(np.hypot(displacement[:, 0], displacement[:, 1]), displacement[:, 2])
    return length


def distances(fraction: Float64Array, length: Float64Array) -> Float64Array:
    """Fraction * length with inf kept for misses of zero-length rays; cannot be written."""
    return frozen(np.multiply(fraction, length, out=fraction.copy(), where=np.isfinite(fraction)))


def chosen_rows(rows: Any, n: int, what: str) -> Int64Array:
    """Numbers of the rows, of n, that an index, a slice, a mask or an array of indices chooses; `what` has rows.

    Raises
    ------
    IndexError
        If they are none, out of range, masked, or of more than one dimension.
    """
    if np.ma.isMaskedArray(rows) or (isinstance(rows, list | tuple) and any(map(np.ma.isMaskedArray, rows))):
        raise IndexError(f"{what}: expected indices, a slice or a mask, got masked ones; fill them first")
    try:
        chosen = np.atleast_1d(np.arange(n)[rows])
    except (TypeError, ValueError) as error:
        raise IndexError(f"{what}: expected indices, a slice or a mask, got {type(rows).__name__} ({error})") from None
    if chosen.ndim != 1:
        raise IndexError(f"{what}: expected indices, a slice or a mask of one dimension, got {chosen.ndim}")
    return chosen
