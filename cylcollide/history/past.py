"""Evaluates rays against recorded limbs, each ray at its own time; the counterpart of a world's snapshot."""

from functools import partial

import numpy as np

from cylcollide import validate
from cylcollide._types import NO_LIMB, Float64Array, Int32Array, Int64Array, Shape
from cylcollide.bvh.traverse import make_stack
from cylcollide.constants import BLOCK_RAYS
from cylcollide.history.requests import PastRequest
from cylcollide.history.rewound import AtTimes, RewoundLimbs, all_limbs
from cylcollide.history.ticks import Ring, Structure
from cylcollide.kernels.about_limb import TERMS
from cylcollide.process.threads import in_chunks
from cylcollide.query import exact_fallback
from cylcollide.query.chords import Chords, chord_rows
from cylcollide.query.clearance import CLEARED_AT_ONCE, considered_rows, corner_speeds
from cylcollide.query.hits import RayHits, named_columns
from cylcollide.query.loops.chords import pieces_of_lists
from cylcollide.query.loops.clearance import Cleared, find_clearances_recorded, nothing_cleared
from cylcollide.query.loops.columns import INT32, CompressedRows, missed_hits, offsets_of, ray_of_each
from cylcollide.query.loops.inputs import PointFilters, RayBatch
from cylcollide.query.loops.points import PointColumns
from cylcollide.query.loops.ray_sort import Order, sorted_by_tick
from cylcollide.query.loops.recorded_candidates import rows_near_rays
from cylcollide.query.loops.recorded_points import locate_recorded
from cylcollide.query.loops.recorded_stream import cast_recorded
from cylcollide.query.overlaps import Overlaps, overlaps_of
from cylcollide.query.points import PointHits, axis_distances, resolve_points
from cylcollide.query.request import LabelledLimbs, batch_rows
from cylcollide.query.results import gather
from cylcollide.query.scratch import scratch_for_points, scratch_for_recorded, scratch_for_streams
from cylcollide.world.hit_world import HitWorld


class Past(AtTimes):
    """A request in the past, with the ticks on which it is evaluated; the counterpart of `Snapshot`."""

    def __init__(self, world: HitWorld, ring: Ring, request: PastRequest) -> None:
        """`ring`: the recorded ticks; `world`: for present positions. ValueError for times that are not kept."""
        self.rays, requested, protected = request
        super().__init__(world, ring, len(self.rays.first), requested, protected)

    def closest(self) -> RayHits:
        """The closest limb of each ray."""
        rays, order, hits = self.rays, self._sorted(), missed_hits(len(self.tick_index))

        def task(begin: int, end: int) -> None:
            scratch = scratch_for_streams(self.ring.deepest_tree, 0), scratch_for_recorded()
            cast_recorded(rays.batch, self.ring.recorded, order, self.protection, *scratch, begin, end, hits)

        in_chunks(len(self.tick_index), rays.threads, task)
        read, hit = named_columns(rays.batch, hits), np.flatnonzero(hits.limb >= 0)
        ray, row, resolved = hit, hits.limb[hit], None
        if np.count_nonzero(hits.undecided):
            undecided = np.flatnonzero(hits.undecided)
            offsets, near = self._near(undecided)
            open_ray, lists = undecided[ray_of_each(offsets)], (offsets, np.arange(len(near), dtype=np.int32))
            few = self.limbs(open_ray, near)  # placed separately: limbs of other hits may never need to be placed

            def candidates(rows: Int64Array) -> CompressedRows:
                return pieces_of_lists(batch_rows(rays.batch, rows), few._kernel_rows, 0, lists, False)

            resolved = exact_fallback.resolve_hits(read, few._table, rays.inside, candidates)
            ray, row = np.append(open_ray, hit), np.append(near, row)
        hits.limb[hit] = np.arange(len(row) - len(hit), len(row))
        limbs = self.limbs(ray, row)
        found = RayHits(read, limbs, rays.inside, resolved, self)
        return found._rewound(self.times, self.present)

    def _sorted(self) -> Order:
        """The rays, copied, checked, and sorted by tick."""
        rays, ticks = self.rays, len(self.ring.ticks)
        order, are_valid = sorted_by_tick(rays.raw, rays.batch.rays, self.tick_index, self.times.alpha, ticks)
        if not are_valid:
            rays.raise_invalid()
        return order

    @property
    def batch(self) -> RayBatch:
        """The rays."""
        return self.rays.batch

    def of_ray(self, i: int) -> tuple[LabelledLimbs, Int64Array]:
        """All limbs at the moment of ray i, and the rows of those that it considers."""
        placed = all_limbs(self.ring, self.tick_index.item(i), self.times.alpha.item(i))
        rows, (ids, since, time) = considered_rows(placed, self.batch, i), self.protection
        return placed, rows[~np.isin(placed._table.character[rows], ids[since <= time[i]])]

    def nearest(self, rows: Int64Array) -> Cleared:
        """The limb, a row of its tick, that needs the least growth to touch each of these rays; or OPEN."""
        batch, cleared, ring = self.batch, nothing_cleared(len(rows)), self.ring
        filters = PointFilters(batch.mask, batch.ignored)
        past = self.points(batch.rays.origin, validate.NO_LIMIT, filters)
        structures = {id(tick.structure): tick.structure for tick in ring.ticks}.values()
        fastest = max(map(_fastest_corner, structures), default=0.0)

        def task(begin: int, end: int) -> None:
            memory = *self.memory(), np.empty(TERMS)
            find_clearances_recorded(batch, past, rows, fastest, *memory, begin, end, *cleared)

        in_chunks(len(rows), None, task, CLEARED_AT_ONCE)
        return cleared

    def chords(self) -> Chords:
        """Every limb that each ray crosses."""
        (limbs, (offsets, listed)), batch = self.near(), self.batch

        def pieces(begin: int, end: int) -> CompressedRows:
            lists = offsets[begin : end + 1], listed
            return pieces_of_lists(batch, limbs._kernel_rows, begin, lists, False)

        return Chords(batch, limbs, chord_rows(limbs, self.rays, pieces))._rewound(self.times, self.present)

    def contains(self) -> PointHits:
        """The limb that contains each point."""
        rays, n, order = self.rays, len(self.tick_index), self._sorted()
        columns = PointColumns(np.full(n, NO_LIMB, INT32), np.zeros(n, INT32), np.zeros(n, np.bool_))

        def task(begin: int, end: int) -> None:
            tree, memory = self.ring.deepest_tree, np.empty((BLOCK_RAYS, 3))
            places, pairs, queue = scratch_for_points(tree)
            scratch = memory, places, pairs, tree.stack_size, queue.queued, scratch_for_recorded()
            locate_recorded(rays.batch, self.ring.recorded, order, self.protection, *scratch, begin, end, columns)

        in_chunks(n, rays.threads, task)
        points = rays.batch.rays.origin
        if np.count_nonzero(columns.undecided):
            undecided = np.flatnonzero(columns.undecided)
            offsets, near = self._near(undecided)
            limbs = self.limbs(undecided[ray_of_each(offsets)], near)
            placed = np.flatnonzero(limbs._kernel_rows.mask).astype(np.int32)
            lists = offsets_of(ray_of_each(offsets)[placed], len(undecided)), placed
            resolve_points(points, undecided, limbs._table, lists, columns)
            columns.limb[undecided] = gather(near, columns.limb[undecided], NO_LIMB)
        return PointHits(columns.limb, columns.limb_count, partial(self._distances, points, columns.limb))._rewound(
            self.times, None
        )

    def overlaps(self) -> Overlaps:
        """Every limb that each thick segment touches."""
        return overlaps_of(self.chords())._rewound(self.times, self.present)

    def _distances(self, points: Float64Array, row: Int32Array) -> Float64Array:
        """The squared distance of each point from the axis of the limb in a row of its tick, -1.0 for none."""
        hit, limb = np.flatnonzero(row >= 0), np.full(len(row), NO_LIMB, np.int32)
        limb[hit] = np.arange(len(hit))
        limbs = self.limbs(hit, row[hit])
        return axis_distances(points, limbs._table, limbs._kernel_rows, limb)

    def near(self) -> tuple[RewoundLimbs, CompressedRows]:
        """The limbs that each ray may hit, placed separately for each ray, and the list of each ray."""
        self.rays.copy_checked(0, len(self.tick_index))
        offsets, row = self._near(slice(None))
        return self.limbs(ray_of_each(offsets), row), (offsets, np.arange(len(row), dtype=np.int32))

    def _near(self, rays: Int64Array | slice) -> CompressedRows:
        """The rows of the limbs that each of these rays may hit."""
        batch, stack = batch_rows(self.rays.batch, rays), make_stack(self.ring.deepest_tree)
        return rows_near_rays(batch, self.ring.recorded, self.tick_index[rays], self.protected(rays), False, stack)


def _fastest_corner(structure: Structure) -> float:
    """Largest of `corner_speeds` until the next tick; inf if axes of tapered limbs by recorded ends may be short."""
    kind, numbers = structure.models.codes["kind"], structure.models.numbers
    by_ends = kind[structure.limb["model"][: structure.ends]]
    if (by_ends == int(Shape.TAPERED)).any():
        return np.inf
    return float(corner_speeds(kind, numbers[:, :3], numbers[:, 3:6], *numbers[:, 6:].T).max(initial=0.0))
