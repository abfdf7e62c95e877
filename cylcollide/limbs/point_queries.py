"""Point queries row by row: sides of points, distances from axes and surfaces, overlapping balls."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import HIT, MISS, NO_LIMB, UNDECIDED, BoolArray, Float64Array, Int8Array, Side
from cylcollide.kernels.limb_table import LimbRows, LimbTable
from cylcollide.process.signatures import Shown
from cylcollide.query.arguments import arguments_of
from cylcollide.query.labels import RowLabels
from cylcollide.query.loops import points as point_loops
from cylcollide.query.loops.places import bound_distances
from cylcollide.query.near_requests import NearRequest, closest_request, sphere_request
from cylcollide.query.nearest import ClosestPoints, are_within
from cylcollide.query.points import axis_distances, sides


def own_points(points: ArrayLike) -> ArrayLike:
    """Points, one per limb."""
    return points


def own_near(points: ArrayLike, *, max_distance: ArrayLike = np.inf) -> tuple[ArrayLike, ArrayLike]:
    """Points, one per limb, and the largest distance from the limb."""
    return points, max_distance


def own_spheres(centers: ArrayLike, radii: ArrayLike) -> tuple[ArrayLike, ArrayLike]:
    """Balls, one per limb."""
    return centers, radii


class PointQueries(metaclass=Shown):
    """Point queries of `Limbs`: point i and limb i; one of either stands for all."""

    _table: LimbTable
    _state_row: None

    @property
    @abstractmethod
    def _kernel_rows(self) -> LimbRows:
        """The columns that loops read."""

    @property
    @abstractmethod
    def _labels(self) -> RowLabels:
        """Names and hit groups, in the form that results read."""

    @abstractmethod
    def __len__(self) -> int: ...

    @arguments_of(own_points)
    def classify_points(self, points: ArrayLike) -> Int8Array:
        """The exact `Side` of point i with respect to limb i; one of either stands for all; (n,)."""
        position = self._positions(points)
        verdict = np.full(len(position), MISS, np.int8)
        point_loops.classify_rows(position, self._kernel_rows, verdict)
        side = np.where(verdict == HIT, int(Side.INSIDE), int(Side.OUTSIDE)).astype(np.int8)
        rows = np.flatnonzero(verdict == UNDECIDED)
        own = rows if len(self) > 1 else np.zeros_like(rows)
        side[rows] = sides(position[rows], self._table, own.astype(np.int32))
        return side

    @arguments_of(own_points)
    def axis_distance_squared(self, points: ArrayLike) -> Float64Array:
        """Greg James' test: squared distance from the axis of a point in the limb, -1.0 outside; (n,).

        Point i and limb i; or all points and one limb; or one point and all limbs. The verdict is
        exact.
        """
        position = self._positions(points)
        side = self.classify_points(position)
        limbs = (np.arange(len(side)) if len(self) > 1 else np.zeros(len(side))).astype(np.int32)
        inside = np.where(side == int(Side.OUTSIDE), np.int32(NO_LIMB), limbs)
        return axis_distances(position, self._table, self._kernel_rows, inside)

    @arguments_of(own_near)
    def closest_points(self, request: tuple[ArrayLike, ArrayLike]) -> ClosestPoints:
        """The place of limb i nearest to point i; one limb or one point stands for all.

        As `HitWorld.closest_points`: a limb farther away than `max_distance`, (n,) or one for all,
        is missed.
        """
        position = self._positions(request[0])
        near = closest_request(position, max_distance=request[1])
        row = np.arange(len(position), dtype=np.int32) if len(self) > 1 else np.zeros(len(position), np.int32)
        return ClosestPoints(position, self, np.where(self._are_within(near), row, np.int32(NO_LIMB)))

    @arguments_of(own_spheres)
    def overlap_spheres(self, request: tuple[ArrayLike, ArrayLike]) -> BoolArray:
        """Whether ball i overlaps or touches limb i, row by row as `closest_points`; bool (n,)."""
        return self._are_within(sphere_request(self._positions(request[0], "centers"), request[1]))

    def _are_within(self, request: NearRequest) -> BoolArray:
        """Whether each limb is within the reach of its point."""
        lower, upper = np.empty((2, len(request.points)))
        bound_distances(request.points, self._kernel_rows, lower, upper)
        return are_within(request, self._table, (lower, upper))

    def _positions(self, points: ArrayLike, name: str = "points") -> Float64Array:
        """Points (n, 3), one for each pair of a point and a limb."""
        position = validate.vectors(points, name)
        n = self._paired(len(position), name)
        return position if len(position) == n else np.repeat(position, n, axis=0)

    def _paired(self, rows: int, what: str) -> int:
        """The number of pairs of a row and a limb; ValueError if the counts differ and neither is 1."""
        if len(self) == 1 or rows == len(self):
            return rows
        if rows == 1:
            return len(self)
        raise ValueError(
            f"{what}: expected {len(self)} rows, one per limb (or 1), got {rows}; "
            "use HitWorld to test every ray against every limb"
        )
