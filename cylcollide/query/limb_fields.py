"""What results say about the limb of each row: its character, its labels, and where it was hit in its bone's frame."""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import NO_CHARACTER, NO_LIMB, Float64Array, Int32Array, Int64Array
from cylcollide.kernels.ray import Rays
from cylcollide.query.labels import NO_BONE
from cylcollide.query.loops.local_surface import write_local_surface
from cylcollide.query.request import LabelledLimbs
from cylcollide.runtime import memory
from cylcollide.runtime.memory import frozen, read_only

NO_HIT_GROUP = -1
"""The hit group of a miss."""

Surface: TypeAlias = tuple[Float64Array, Float64Array]
"""Positions and unit outward normals; (n, 3) each."""


class LimbFields(ABC):
    """Results with a limb in each row, or -1 for none. Columns are computed when they are first read."""

    @property
    @abstractmethod
    def _limbs(self) -> LabelledLimbs:
        """The limbs that were judged."""

    @property
    @abstractmethod
    def _surface(self) -> Surface:
        """Position and normal of the hit, or of the entry."""

    @property
    @abstractmethod
    def _row(self) -> Int32Array:
        """Row of the limb among those that were judged, -1 for a miss; int32 (n,)."""

    @property
    def limb(self) -> Int32Array:
        """Index of the limb, a row of the state, -1 for a miss; int32 (n,)."""
        return read_only(self._row) if self._limbs.state_row is None else self._state_rows

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

    @cached_property
    def _local(self) -> Surface:
        labels, (position, normal) = self._limbs.labels, self._surface
        bones = labels.transform, labels.bone_positions, labels.bone_orientations
        local_position, local_normal = memory.rows(position.shape), memory.rows(position.shape)
        write_local_surface(self._row, *bones, position, normal, local_position, local_normal)
        return frozen(local_position), frozen(local_normal)

    @property
    def local_position(self) -> Float64Array:
        """Where the ray hits or enters the limb, in its bone's frame then, NaN for a miss or a bare limb; (n, 3)."""
        return self._local[0]

    @property
    def local_normal(self) -> Float64Array:
        """The normal there in the same frame, NaN for a miss or a bare limb; (n, 3)."""
        return self._local[1]


def gather(column: NDArray[Any], index: Int32Array | Int64Array, missing: Any) -> NDArray[Any]:
    """Entries of a column by index, `missing` where that is negative; cannot be written."""
    if len(column) == 0:
        return frozen(np.full(len(index), missing, column.dtype))
    entries = column[index]
    entries[index < 0] = missing
    return frozen(entries)


def ray_lengths(rays: Rays) -> Float64Array:
    """Length of one unit of fraction, (n,)."""
    displacement = rays.second - rays.origin if rays.is_segment else rays.second
    length: Float64Array = np.hypot(np.hypot(displacement[:, 0], displacement[:, 1]), displacement[:, 2])
    return length


def distances(fraction: Float64Array, length: Float64Array) -> Float64Array:
    """Fraction * length with inf kept for misses of zero-length rays; cannot be written."""
    return frozen(np.multiply(fraction, length, out=fraction.copy(), where=np.isfinite(fraction)))
