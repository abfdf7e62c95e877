"""The limbs near points in the past: each point at its own time."""

from __future__ import annotations

from typing import TypeAlias, Unpack

import numpy as np
from numpy.typing import ArrayLike

from cylcollide._types import NO_LIMB
from cylcollide.history.requests import PastOptions, Protected, at_times
from cylcollide.history.rewound import AtTimes
from cylcollide.history.sample_times import RequestedTimes
from cylcollide.history.ticks import Ring
from cylcollide.query.boxes import BoxRequest, box_request, overlaps_among
from cylcollide.query.loops.columns import CompressedRows, chords_of_rays, find_rows, ray_of_each
from cylcollide.query.loops.recorded_nearest import find_near_recorded
from cylcollide.query.near_requests import NearRequest, closest_request, sphere_request, within_request
from cylcollide.query.nearest import ClosestPoints, NearLimbs, resolve_nearest, resolve_within, rows_in_chunks
from cylcollide.query.overlaps import Overlaps
from cylcollide.world.hit_world import HitWorld

PastNearRequest: TypeAlias = tuple[NearRequest, RequestedTimes, Protected]
"""Points and reaches; the time of each; and the protected characters."""


def past_closest(
    points: ArrayLike,
    time: ArrayLike | None = None,
    *,
    max_distance: ArrayLike = np.inf,
    **options: Unpack[PastOptions],
) -> PastNearRequest:
    """A request for the limb nearest to each point (n, 3) at its time."""
    places, when, others = at_times(time, options, points=points)
    return closest_request(places, max_distance=max_distance, **others), *when


def past_within(
    points: ArrayLike, radius: ArrayLike, time: ArrayLike | None = None, **options: Unpack[PastOptions]
) -> PastNearRequest:
    """A request for all limbs within a radius of each point (n, 3) at its time."""
    places, when, others = at_times(time, options, points=points)
    return within_request(places, radius, **others), *when


def past_spheres(
    centers: ArrayLike, radii: ArrayLike, time: ArrayLike | None = None, **options: Unpack[PastOptions]
) -> PastNearRequest:
    """A request for all limbs that balls touch at their times; centers (n, 3)."""
    places, when, others = at_times(time, options, centers=centers)
    return sphere_request(places, radii, **others), *when


def past_boxes(
    center: ArrayLike,
    orientation: ArrayLike,
    half_extents: ArrayLike,
    time: ArrayLike | None = None,
    **options: Unpack[PastOptions],
) -> tuple[BoxRequest, RequestedTimes, Protected]:
    """A request for all limbs that boxes touch at their times."""
    places, when, others = at_times(time, options, center=center, half_extents=half_extents)
    return box_request(places, orientation, half_extents, **others), *when


class PastNear(AtTimes):
    """A request for limbs near points, with the ticks on which it is evaluated."""

    def __init__(self, world: HitWorld, ring: Ring, request: PastNearRequest) -> None:
        """`ring`: the recorded ticks; `world`: for present positions. ValueError for times that are not kept."""
        self.request, requested, protected = request
        super().__init__(world, ring, len(self.request.points), requested, protected)

    def closest(self) -> ClosestPoints:
        """The nearest limb of each point."""
        offsets, codes = self._within(True)
        which = ray_of_each(offsets)
        limbs, row = self.limbs(which, codes >> 1), np.full(len(self.tick_index), NO_LIMB, np.int32)
        row[which] = np.arange(len(which))
        if len(codes) > np.count_nonzero(row >= 0) or np.bitwise_or.reduce(codes, initial=0) & 1:
            is_open = offsets[1:] - offsets[:-1] > 1
            is_open[which[(codes & 1) != 0]] = True
            rows = np.flatnonzero(is_open)
            begins, listed = chords_of_rays(offsets, rows)
            resolve_nearest(self.request, limbs._table, rows, (begins, listed.astype(np.int32)), row)
        return ClosestPoints(self.request.points, limbs, row)._rewound(self.times, self.present)

    def near(self) -> NearLimbs:
        """All limbs within the reach of each point, by row."""
        offsets, codes = self._within(False)
        offsets, kept = resolve_within(
            self.request, self.limbs(ray_of_each(offsets), codes >> 1)._table,
            (offsets, 2 * np.arange(len(codes), dtype=np.int32) + (codes & 1)),
        )  # fmt: skip
        limbs, own = self.limbs(ray_of_each(offsets), (codes >> 1)[kept]), np.arange(len(kept), dtype=np.int32)
        return NearLimbs(limbs, offsets, own, (), (self.request.points,))._rewound(self.times, self.present)

    def touching(self, boxes: BoxRequest) -> Overlaps:
        """All limbs that each box touches, by row."""
        offsets, codes = self._within(False)
        limbs, own = self.limbs(ray_of_each(offsets), codes >> 1), np.arange(len(codes), dtype=np.int32)
        return overlaps_among(limbs, boxes, (offsets, own))._rewound(self.times, self.present)

    def _within(self, shrinks: bool) -> CompressedRows:
        """Offsets and codes, 2 · row (+ 1 if undecided), of limbs within reach; `shrinks`: only possible nearest."""
        request, past = self.request, self.points(*self.request[:3])

        def task(begin: int, end: int) -> CompressedRows:
            args = past, shrinks, *self.memory()
            return find_rows(
                end - begin,
                lambda offsets, codes: find_near_recorded(*args, np.empty(len(codes)), begin, end, offsets, codes),
            )

        return rows_in_chunks(request, task)
