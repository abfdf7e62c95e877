"""Requests about the limbs near points: checked points, reaches and filters."""

from __future__ import annotations

from typing import NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import ALL_LAYERS, Float64Array, Int64Array
from cylcollide.query.loops.inputs import PointFilters
from cylcollide.query.request import Filters, as_distances, some_rows


class NearRequest(NamedTuple):
    """Points, the reach of each, and the limbs that each considers."""

    points: Float64Array  # (n, 3)
    reach: Float64Array  # (n,), or (1,) for all
    filters: PointFilters
    threads: int | None

    def rows(self, rows: Int64Array, reach: Float64Array) -> NearRequest:
        """The request of some points, with other reaches."""
        filters = PointFilters(some_rows(self.filters.mask, rows), some_rows(self.filters.ignored, rows))
        return NearRequest(self.points[rows], reach, filters, self.threads)


def rows_together(*counts: int) -> int:
    """The common number of rows of arguments, where one row of any stands for all; 0 if any has none."""
    return next((count for count in counts if count != 1), 1)


def near_request(
    points: Float64Array,
    reach: Float64Array,
    mask: ArrayLike = ALL_LAYERS,
    ignore_character: ArrayLike | None = None,
    threads: int | None = None,
) -> NearRequest:
    """A request about checked points and reaches."""
    n = len(points)
    filters = PointFilters(validate.masks(mask, n), validate.ignored_characters(ignore_character, n))
    return NearRequest(points, reach, filters, validate.workers(threads))


def closest_request(points: ArrayLike, *, max_distance: ArrayLike = np.inf, **options: Unpack[Filters]) -> NearRequest:
    """A request about the limb nearest to each point (n, 3), at most `max_distance` away, (n,) or one for all."""
    places = validate.vectors(points, "points")
    return near_request(places, as_distances(max_distance, len(places)), **options)


def within_request(points: ArrayLike, radius: ArrayLike, **options: Unpack[Filters]) -> NearRequest:
    """A request about all limbs within a radius of each point (n, 3), 0 or more, (n,) or one for all."""
    places = validate.vectors(points, "points")
    return near_request(places, one_or_radii(radius, "radius", len(places)), **options)


def sphere_request(centers: ArrayLike, radii: ArrayLike, **options: Unpack[Filters]) -> NearRequest:
    """A request about all limbs that balls touch, given by centres (n, 3) and radii, (n,) or one for all."""
    places = validate.vectors(centers, "centers")
    return near_request(places, one_or_radii(radii, "radii", len(places)), **options)


def one_or_radii(values: ArrayLike, name: str, rows: int) -> Float64Array:
    """`as_radii` of each row, or (1,) for all."""
    return validate.sizes_or_zero(validate.in_range(validate.one_or_numbers(values, name, rows), name), name)


def as_radii(values: ArrayLike, name: str, rows: int) -> Float64Array:
    """Radii (rows,), each 0 or as large as a size must be, given as (rows,) or as one for all."""
    return validate.sizes_or_zero(validate.per_row(values, name, rows), name)
