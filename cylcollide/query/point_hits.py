"""What a query about points answers: `PointHits`."""

from collections.abc import Callable
from functools import cached_property, partial

import numpy as np

from cylcollide._types import Float64Array, Int32Array, Int64Array
from cylcollide.query.results import Result
from cylcollide.runtime.memory import frozen


class PointHits(Result):
    """For each point: the limb that holds it, how many limbs do, and the squared distance from that limb's axis.

    No array can be written. A slice, a mask, an index or an array of indices chooses points.
    """

    _what = "points"

    def __init__(self, limb: Int32Array, count: Int32Array, distances: Callable[[], Float64Array]) -> None:
        self._limb, self._limb_count, self._distances, self._columns = limb, count, distances, {}

    def __len__(self) -> int:
        return len(self.limb)

    def __repr__(self) -> str:
        return f"PointHits({len(self)} points, {np.count_nonzero(self.count)} in a limb)"

    @property
    def limb(self) -> Int32Array:
        """Lowest index of a limb that holds the point, -1 if none does; int32 (n,)."""
        return frozen(self._limb)

    @property
    def count(self) -> Int32Array:
        """How many limbs hold the point; int32 (n,)."""
        return frozen(self._limb_count)

    @cached_property
    def axis_distance_squared(self) -> Float64Array:
        """Squared distance from that limb's axis, -1.0 if none holds the point; (n,)."""
        return frozen(self._distances())

    def _take(self, rows: Int64Array) -> "PointHits":
        return type(self)(self.limb[rows], self.count[rows], partial(self._some_distances, rows))

    def _some_distances(self, rows: Int64Array) -> Float64Array:
        return self.axis_distance_squared[rows]
