"""What a query about points answers: `PointHits`."""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from cylcollide._types import Float64Array, Int32Array
from cylcollide.runtime.memory import frozen, read_only


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
