"""The limbs of recorded states that the rays of a request may hit, and the queries on them."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

import numpy as np

from cylcollide._types import Float64Array, Int32Array, Int64Array
from cylcollide.bvh.traverse import make_stack
from cylcollide.history.present import present_positions
from cylcollide.history.requests import PastRequest
from cylcollide.history.rewound import RewoundLimbs
from cylcollide.history.ring import Ring
from cylcollide.history.sample_times import NO_TICK, SampleTimes, sample_times
from cylcollide.query import exact_fallback
from cylcollide.query.chords import Chords, chords_listed
from cylcollide.query.closest import closest_recorded
from cylcollide.query.hits import RayHits, named_columns
from cylcollide.query.loops.chords import pieces_of_lists
from cylcollide.query.loops.columns import CompressedRows, ray_of_each
from cylcollide.query.loops.recorded import Protection, rows_near_rays
from cylcollide.query.points import PointHits, contains_listed
from cylcollide.query.request import RayRequest, batch_rows
from cylcollide.world.hit_world import HitWorld


class Past(NamedTuple):
    """A request about the past, and the ticks that it is judged by: as `Snapshot` for the present."""

    ring: Ring
    rays: RayRequest
    times: SampleTimes
    place: Int32Array  # of the tick of each ray in the ring, NO_TICK for none
    protection: Protection
    present: Callable[..., Float64Array]  # the present positions of a result

    @classmethod
    def of(cls, world: HitWorld, ring: Ring, request: PastRequest) -> "Past":
        """The request, judged by the ticks of a world; ValueError for times that are not kept."""
        rays, asked, protected = request
        times = sample_times(ring, len(rays.first), asked)
        place = np.where(times.tick == NO_TICK, NO_TICK, times.tick - ring.first).astype(np.int32)
        protection = Protection(*protected, times.time)
        return cls(ring, rays, times, place, protection, partial(present_positions, world))

    def closest(self) -> RayHits:
        """The closest limb of each ray."""
        ring, rays = self.ring, self.rays
        hits = closest_recorded(rays, ring.recorded, ring.deepest_tree, self.place, self.times.alpha, self.protection)
        hit = np.flatnonzero(hits.limb >= 0)
        row = hits.limb[hit]
        hits.limb[hit] = np.arange(len(hit))
        limbs, candidates = self._limbs(hit, row), None
        if np.count_nonzero(hits.undecided):
            undecided = np.flatnonzero(hits.undecided)
            offsets, near = self._near(undecided)
            limbs = self._limbs(np.append(hit, undecided[ray_of_each(offsets)]), np.append(row, near))
            lists = offsets, np.arange(len(hit), len(hit) + len(near), dtype=np.int32)
            candidates = partial(self._candidates, limbs, lists)
        found = RayHits(named_columns(rays.batch, hits), limbs, rays.inside, candidates)
        return found.rewound(self.times, self.present)

    def chords(self) -> Chords:
        """Every limb that each ray crosses."""
        limbs, lists = self._listed()
        found = Chords(self.rays.batch, limbs, chords_listed(limbs, self.rays, lists))
        return found.rewound(self.times, self.present)

    def contains(self) -> PointHits:
        """The limb that contains each point, in whatever layer it is."""
        limbs, lists = self._listed(all_layers=True)
        return contains_listed(limbs, self.rays.first, lists).rewound(self.times, None)

    def _candidates(self, limbs: RewoundLimbs, lists: CompressedRows, rays: Int64Array) -> Iterable[Iterable[int]]:
        """The limbs on the list of each of these rays that it does not certainly miss."""
        some = batch_rows(self.rays.batch, rays)
        return exact_fallback.limbs_of_pieces(*pieces_of_lists(some, limbs.kernel_rows, 0, lists, False))

    def _limbs(self, ray: Int64Array, row: Int32Array) -> RewoundLimbs:
        """Rows of states, each where it was at the moment of its ray."""
        return RewoundLimbs(self.ring, self.place[ray], self.times.alpha[ray], row)

    def _listed(self, all_layers: bool = False) -> tuple[RewoundLimbs, CompressedRows]:
        """The limbs that each ray may hit, placed for it alone, and the list of each ray."""
        self.rays.copy_checked(0, len(self.place))
        offsets, row = self._near(slice(None), all_layers)
        return self._limbs(ray_of_each(offsets), row), (offsets, np.arange(len(row), dtype=np.int32))

    def _near(self, rays: Int64Array | slice, all_layers: bool = False) -> CompressedRows:
        """The rows of the limbs that each of these rays may hit."""
        protection = self.protection._replace(time=self.protection.time[rays])
        batch, stack = batch_rows(self.rays.batch, rays), make_stack(self.ring.deepest_tree)
        return rows_near_rays(batch, self.ring.recorded, self.place[rays], protection, all_layers, stack)
