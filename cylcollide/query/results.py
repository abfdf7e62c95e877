"""Results with a limb, or a hit, in each row: labels of the limb, and positions and normals on it."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from operator import index
from typing import Any, Protocol, Self, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import NO_CHARACTER, NO_LIMB, BoolArray, Float64Array, Int32Array, Int64Array
from cylcollide.kernels.ray import Rays
from cylcollide.process.files import Columns
from cylcollide.query.labels import NO_BONE, NO_STATIC
from cylcollide.query.loops import surface as surface_loops
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.request import LabelledLimbs
from cylcollide.query.result import Computed, Field, TimedResult
from cylcollide.query.scratch import scratch_for_surface
from cylcollide.runtime import memory
from cylcollide.runtime.memory import frozen

NO_HIT_GROUP = -1
"""The hit group of a miss."""

Surface: TypeAlias = tuple[Float64Array, Float64Array]
"""Positions and unit outward normals; (n, 3) each."""

Row_co = TypeVar("Row_co", covariant=True)


class HasRows(Protocol[Row_co]):
    """Results for which an index returns one row, as plain values."""

    @property
    def _kind_of_row(self) -> type[Row_co]:
        """The class of a row, whose fields are names of columns."""


class LimbFields(TimedResult):
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
        return frozen(self._row if self._limbs._state_row is None else self._state_rows)

    @cached_property
    def _state_rows(self) -> Int32Array:
        """Rows of the state, also where `_limbs` are numbered differently."""
        row = self._limbs._state_row
        return self._row if row is None else gather(row, self._row, NO_LIMB)

    @Computed
    def character(self) -> Int32Array:
        """Character of the limb, -1 for a miss, a static or a limb without one; int32 (n,)."""
        return gather(self._limbs._table.character, self._row, NO_CHARACTER)

    @Computed
    def static(self) -> Int32Array:
        """Handle of the static that the limb belongs to, -1 for a miss or another limb; int32 (n,)."""
        return gather(self._limbs._labels.static, self._row, NO_STATIC)

    @Computed
    def limb_name(self) -> NDArray[Any]:
        """Name of the limb, a str, None for a miss; (n,) of objects."""
        return gather(self._limbs._labels.names, self._row, None)

    @Computed
    def hit_group(self) -> Int32Array:
        """Hit group of the limb, -1 for a miss; int32 (n,)."""
        return gather(self._limbs._labels.hit_group, self._row, NO_HIT_GROUP)

    @Computed
    def bone(self) -> Int32Array:
        """Bone of the rig that carries the limb, -1 for a miss or without a bone; int32 (n,)."""
        return gather(self._limbs._labels.bone, self._row, NO_BONE)

    @Computed
    def rig_limb(self) -> Int32Array:
        """Index of the limb in the character's rig, -1 for a miss or without a rig; int32 (n,)."""
        return gather(self._limbs._labels.rig_limb, self._row, NO_LIMB)

    local_position = Field[Float64Array](
        "The position in the frame of the bone or static, NaN for a miss or a bare limb; (n, 3).", "_local"
    )
    local_normal = Field[Float64Array]("The normal in the same frame, NaN for a miss or a bare limb; (n, 3).", "_local")

    def _local(self) -> Columns:
        labels, (position, normal) = self._limbs._labels, self._surface
        bones = labels.transform, labels.bone_positions, labels.bone_orientations
        local_position, local_normal = memory.rows(position.shape), memory.rows(position.shape)
        surface_loops.write_local_surface(self._row, *bones, position, normal, local_position, local_normal)
        return {"local_position": local_position, "local_normal": local_normal}

    def present_position(self) -> Float64Array:
        """Where these places are now, on limbs that have moved since; (n, 3), NaN for misses.

        Only for queries in the past. The place keeps its coordinates in the frame of its bone or
        static. On bare limbs, and where ends are interpolated, it keeps its share of the way
        between the limb's ends, and its offset from the axis turns by the shortest turn of the
        axis; in a box it keeps its coordinates. Each call reads the present state of the world. In
        float64, not exact.
        """
        present = self._present
        if present is None:
            raise AttributeError("present_position: expected a query of a PoseHistory, got one of the present")
        return frozen(present(self, self._surface[0], self._row, self._limbs._table))


class HitFields(LimbFields):
    """Results with one hit or miss per row."""

    position = Field[Float64Array](
        "Hit point, or entry into the limb that a policy counts; NaN for a miss; (n, 3).", "_surface_columns"
    )
    normal = Field[Float64Array](
        "Unit outward normal there, zero for INSIDE, NaN for a miss; (n, 3).", "_surface_columns"
    )

    @abstractmethod
    def _surface_columns(self) -> Columns:
        """`position` and `normal`."""

    @property
    def _surface(self) -> Surface:
        return self.position, self.normal

    @Computed
    def hit(self) -> BoolArray:
        """Whether there is a hit; bool (n,)."""
        return frozen(self._row >= 0)

    @overload
    def __getitem__(self: HasRows[Row_co], rows: SupportsIndex) -> Row_co: ...
    @overload
    def __getitem__(self, rows: Any) -> Self: ...
    def __getitem__(self, rows: Any) -> Any:
        """One row, as plain values; for a slice, a mask or an array of indices, a result."""
        kind = getattr(self, "_kind_of_row", None)
        if kind is None or not is_index(rows):
            return super().__getitem__(rows)
        row = [getattr(self, name)[index(rows)] for name in kind.__annotations__]
        return kind(*(value.item() if isinstance(value, np.generic) else value for value in row))


def is_index(rows: Any) -> bool:
    """Whether `rows` is an integer of any type, or an integer array without dimensions; a bool is an invalid mask."""
    is_one = isinstance(rows, SupportsIndex) and not isinstance(rows, bool) and getattr(rows, "ndim", 0) == 0
    return is_one and getattr(getattr(rows, "dtype", None), "kind", "i") in "iu"


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

    `exact`: rows (k,) whose fractions kernels do not decide, and these fractions as double-doubles (k, 2). `leaving`:
    whether the faces are those where the rays leave.
    """
    table, (rows, ends) = limbs._kernel_rows, exact
    position, normal = memory.rows((len(limb), 3)), memory.rows((len(limb), 3))
    thin, radius = limb, batch.rays.radius
    if len(radius):
        thin = np.where(radius > 0.0, np.int32(NO_LIMB), limb)
    surface_loops.write_surface(batch, table, thin, fraction, face, leaving, *scratch_for_surface(), position, normal)
    if len(radius):
        surface_loops.write_contacts(batch, table, limb, fraction, face, position, normal)
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
