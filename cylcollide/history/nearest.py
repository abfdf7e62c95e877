"""The limbs near points in the past: each point at its own time."""

from __future__ import annotations

from functools import partial
from typing import TypeAlias, Unpack

import numpy as np
from numpy.typing import ArrayLike

from cylcollide._types import NO_LIMB, Int64Array
from cylcollide.history.requests import PastOptions, Protected, in_the_past, protected_by
from cylcollide.history.rewound import AtTimes
from cylcollide.history.sample_times import Asked
from cylcollide.history.ticks import Ring
from cylcollide.query.boxes import BoxRequest, box_request, overlaps_among
from cylcollide.query.loops.columns import CompressedRows, find_rows, ray_of_each
from cylcollide.query.loops.nearest import missed_nearest
from cylcollide.query.loops.recorded_nearest import find_nearest_recorded, find_within_recorded
from cylcollide.query.near_requests import NearRequest, closest_request, sphere_request, within_request
from cylcollide.query.nearest import ClosestPoints, NearLimbs, resolve_nearest, resolve_within
from cylcollide.query.overlaps import Overlaps
from cylcollide.query.results import gather
from cylcollide.runtime.threads import in_chunks
from cylcollide.world.hit_world import HitWorld

PastNearRequest: TypeAlias = tuple[NearRequest, Asked, Protected]
"""Points and reaches, when each is judged, and the protected characters."""


def past_closest(
    points: ArrayLike,
    time: ArrayLike | None = None,
    *,
    max_distance: ArrayLike = np.inf,
    **options: Unpack[PastOptions],
) -> PastNearRequest:
    """A request about the limb nearest to each point (n, 3) at its time."""
    asked, protected, others = in_the_past(time, options)
    return closest_request(points, max_distance=max_distance, **others), asked, protected_by(protected)


def past_within(
    points: ArrayLike, radius: ArrayLike, time: ArrayLike | None = None, **options: Unpack[PastOptions]
) -> PastNearRequest:
    """A request about all limbs within a radius of each point (n, 3) at its time."""
    asked, protected, others = in_the_past(time, options)
    return within_request(points, radius, **others), asked, protected_by(protected)


def past_spheres(
    centers: ArrayLike, radii: ArrayLike, time: ArrayLike | None = None, **options: Unpack[PastOptions]
) -> PastNearRequest:
    """A request about all limbs that balls touch at their times; centers (n, 3)."""
    asked, protected, others = in_the_past(time, options)
    return sphere_request(centers, radii, **others), asked, protected_by(protected)


def past_boxes(
    center: ArrayLike,
    orientation: ArrayLike,
    half_extents: ArrayLike,
    time: ArrayLike | None = None,
    **options: Unpack[PastOptions],
) -> tuple[BoxRequest, Asked, Protected]:
    """A request about all limbs that boxes touch at their times."""
    asked, protected, others = in_the_past(time, options)
    return box_request(center, orientation, half_extents, **others), asked, protected_by(protected)


class PastNear(AtTimes):
    """A request about limbs near points, and the ticks that it is judged by."""

    def __init__(self, world: HitWorld, ring: Ring, request: PastNearRequest) -> None:
        """The request, judged by the ticks of a world; ValueError for times that are not kept."""
        self.request, asked, protected = request
        super().__init__(world, ring, len(self.request.points), asked, protected)

    def closest(self) -> ClosestPoints:
        """The nearest limb of each point."""
        request, n = self.request, len(self.place)
        columns, past = missed_nearest(n), self.points(slice(None), *request[:3])

        def task(begin: int, end: int) -> int:
            return find_nearest_recorded(past, *self.memory(), begin, end, columns)

        if any(in_chunks(n, request.threads, task)):
            rows = np.flatnonzero(columns.undecided)
            offsets, codes = self._within(rows, request.rows(rows, columns.upper[rows]))
            limbs = self.limbs(rows[ray_of_each(offsets)], codes >> 1)
            own = np.arange(len(codes), dtype=np.int32)
            resolve_nearest(request, limbs._table, rows, (offsets, own), columns)
            columns.limb[rows] = gather(codes >> 1, columns.limb[rows], NO_LIMB)
        hit = np.flatnonzero(columns.limb >= 0)
        row = np.full(n, NO_LIMB, np.int32)
        row[hit] = np.arange(len(hit))
        found = ClosestPoints(request.points, self.limbs(hit, columns.limb[hit]), row)
        return found._rewound(self.times, self.present)

    def near(self) -> NearLimbs:
        """All limbs within the reach of each point, by row."""
        offsets, codes = self._within(slice(None), self.request)
        offsets, kept = resolve_within(
            self.request, self.limbs(ray_of_each(offsets), codes >> 1)._table,
            (offsets, 2 * np.arange(len(codes), dtype=np.int32) + (codes & 1)),
        )  # fmt: skip
        limbs, own = self.limbs(ray_of_each(offsets), (codes >> 1)[kept]), np.arange(len(kept), dtype=np.int32)
        return NearLimbs(self.request.points, limbs, offsets, own)._rewound(self.times, self.present)

    def touching(self, boxes: BoxRequest) -> Overlaps:
        """All limbs that each box touches, by row."""
        offsets, codes = self._within(slice(None), self.request)
        limbs, own = self.limbs(ray_of_each(offsets), codes >> 1), np.arange(len(codes), dtype=np.int32)
        return overlaps_among(limbs, boxes, (offsets, own))._rewound(self.times, self.present)

    def _within(self, rows: Int64Array | slice, request: NearRequest) -> CompressedRows:
        """As `candidates`, of some points: rows of their ticks."""
        past = self.points(rows, *request[:3])
        return find_rows(len(request.points), partial(find_within_recorded, past, *self.memory()))
