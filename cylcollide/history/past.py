"""What the rays of a query in the past are judged against, and the closest limb of each."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from cylcollide._types import ALL_LAYERS, Float64Array, Int32Array, Int64Array
from cylcollide.bvh.traverse import make_stack
from cylcollide.history.moments import NO_TICK, Moments
from cylcollide.history.rewound import Instants, RewoundLimbs
from cylcollide.history.ring import Ring
from cylcollide.kernels.ray import Rays
from cylcollide.query import exact_fallback
from cylcollide.query.hits import RayHits, named_columns
from cylcollide.query.loops.columns import missed_hits
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.loops.listed import Lists, pieces_of_lists
from cylcollide.query.loops.recorded import Protection, rows_near_rays
from cylcollide.query.loops.recorded_sort import sorted_by_tick
from cylcollide.query.loops.recorded_stream import cast_recorded
from cylcollide.query.request import RayRequest, batch_rows
from cylcollide.query.scratch import scratch_for_recorded, scratch_for_streams
from cylcollide.runtime.threads import in_chunks


class Past(NamedTuple):
    """The moments of a query, as loops read them."""

    ring: Ring
    moments: Moments
    at: Instants
    protection: Protection

    @classmethod
    def of(cls, ring: Ring, moments: Moments, ids: Int64Array, since: Float64Array) -> "Past":
        """Of these moments, where characters (protected,), ascending, are not hit from some time on."""
        place = np.where(moments.tick == NO_TICK, NO_TICK, moments.tick - ring.first).astype(np.int32)
        return cls(ring, moments, Instants(place, moments.alpha), Protection(ids, since, moments.time))

    def take(self, rows: Int64Array) -> "Past":
        """The moments of some rays."""
        moments = self.moments.take(rows)
        protection = self.protection._replace(time=moments.time)
        return self._replace(moments=moments, at=self.at.take(rows), protection=protection)

    def near(self, batch: RayBatch, all_layers: bool = False) -> tuple[Int64Array, Int32Array]:
        """The rows of the limbs that each ray may hit, in compressed rows."""
        ring, stack = self.ring, make_stack(self.ring.deepest_tree)
        return rows_near_rays(batch, ring.recorded, self.at.tick, self.protection, all_layers, stack)

    def limbs_of_rays(self, batch: RayBatch, all_layers: bool = False) -> tuple[RewoundLimbs, Lists]:
        """The limbs that each ray may hit, placed for it alone, and the list of each ray."""
        offsets, row = self.near(batch, all_layers)
        limbs = RewoundLimbs(self.ring, self.at.repeated(np.diff(offsets)), row)
        return limbs, Lists(offsets, np.arange(len(row), dtype=np.int32))


def batch_of_points(points: Float64Array) -> RayBatch:
    """Points as segments without length."""
    limit, mask, nobody = np.full(1, np.inf), np.full(1, ALL_LAYERS, np.uint32), np.full(1, -1, np.int64)
    return RayBatch(Rays(points, points, True, limit), mask, nobody, 0)


def closest_in_past(past: Past, request: RayRequest, threads: int | None) -> RayHits:
    """The closest limb of each ray at its moment; the rays of the request must have been copied."""
    batch, n = request.batch, len(request.first)
    hits, at, recorded = missed_hits(n), past.at, past.ring.recorded
    tree, order = past.ring.deepest_tree, sorted_by_tick(batch.rays, at.tick, at.alpha, len(past.ring.ticks))

    def task(begin: int, end: int) -> None:
        state, stream, _, refine = scratch_for_streams(tree, 0)
        buffers = (state, stream, refine, scratch_for_recorded())
        cast_recorded(batch, recorded, order, past.protection, *buffers, begin, end, hits)

    in_chunks(n, threads, task)
    undecided = np.count_nonzero(hits.undecided)
    hit = np.flatnonzero(hits.limb >= 0)
    row = hits.limb[hit]
    hits.limb[hit] = np.arange(len(hit))
    if not undecided:
        limbs = RewoundLimbs(past.ring, at.take(hit), row)
        return RayHits(named_columns(batch, hits), limbs, request.inside)
    open_rows = np.flatnonzero(hits.undecided)
    some, rays = past.take(open_rows), batch_rows(batch, open_rows)
    offsets, near = some.near(rays)
    of_hits, of_open = at.take(hit), some.at.repeated(np.diff(offsets))
    joined = Instants(np.concatenate([of_hits.tick, of_open.tick]), np.concatenate([of_hits.alpha, of_open.alpha]))
    limbs = RewoundLimbs(past.ring, joined, np.concatenate([row, near]))
    lists = Lists(offsets, np.arange(len(hit), len(hit) + len(near), dtype=np.int32))

    def candidates(_rows: Int64Array) -> Iterable[Iterable[int]]:
        pieces = pieces_of_lists(rays, limbs.kernel_rows, lists, np.arange(len(open_rows)))
        return exact_fallback.limbs_of_pieces(*pieces)

    return RayHits(named_columns(batch, hits), limbs, request.inside, candidates)
