"""The queries of a `PoseHistory`: those of a world, each ray at its own time, and those about flying bullets."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import partial
from typing import Self, Unpack

import numpy as np
from numpy.typing import ArrayLike

from cylcollide._types import NO_LIMB, BoolArray, Float64Array, Int32Array, Int64Array
from cylcollide.bvh.traverse import make_stack
from cylcollide.characters.judge import ShotRequest, judge_flight
from cylcollide.characters.judged import Judged
from cylcollide.history.flight import FlightPath
from cylcollide.history.moving.contacts import first_contacts
from cylcollide.history.moving.hits import MovingHits
from cylcollide.history.moving.request import MovingOptions, MovingRequest
from cylcollide.history.nearest import (
    PastBoxRequest,
    PastNear,
    PastNearRequest,
    past_boxes,
    past_closest,
    past_spheres,
    past_within,
)
from cylcollide.history.requests import (
    NO_TICK,
    PastRequest,
    past_capsules,
    past_points,
    past_ray_shots,
    past_rays,
    past_segment_shots,
    past_segments,
    sample_times,
)
from cylcollide.history.rewound import RewoundLimbs, all_limbs, present_positions
from cylcollide.history.ticks import Ring
from cylcollide.limbs.limbs import Limbs
from cylcollide.query import exact_fallback
from cylcollide.query.arguments import arguments_of
from cylcollide.query.chords import Chords, chords_listed
from cylcollide.query.clearance import considered_limbs
from cylcollide.query.closest import closest_recorded
from cylcollide.query.hits import RayHits, named_columns
from cylcollide.query.loops.chords import pieces_of_lists
from cylcollide.query.loops.columns import CompressedRows, ray_of_each
from cylcollide.query.loops.recorded import Protection, rows_near_rays
from cylcollide.query.nearest import ClosestPoints, NearLimbs
from cylcollide.query.overlaps import Overlaps, overlaps_of
from cylcollide.query.points import PointHits, axis_distances, located_recorded, resolve_points
from cylcollide.query.request import LabelledLimbs, batch_rows
from cylcollide.query.results import gather
from cylcollide.world.hit_world import HitWorld
from cylcollide.world.observers import ChangeLock, JudgedCall


class Past:
    """A request about the past, and the ticks that it is judged by: as `Snapshot` for the present."""

    def __init__(self, world: HitWorld, ring: Ring, request: PastRequest) -> None:
        """The request, judged by the ticks of a world; ValueError for times that are not kept."""
        self.ring, (self.rays, asked, protected) = ring, request
        self.times = sample_times(ring, len(self.rays.first), asked)
        tick = self.times.tick
        self.place: Int32Array = np.where(tick == NO_TICK, NO_TICK, tick - ring.first).astype(np.int32)
        """Of the tick of each ray in the ring, NO_TICK for none."""
        self.protection = Protection(*protected, self.times.time)
        self.present = partial(present_positions, world)
        self.recorded = ring.recorded
        if len(self.rays.radius):
            self.recorded, self._boxes = ring.grown(self.rays.radius.max(), self.place)

    def closest(self) -> RayHits:
        """The closest limb of each ray."""
        ring, rays = self.ring, self.rays
        hits = closest_recorded(rays, self.recorded, ring.deepest_tree, self.place, self.times.alpha, self.protection)
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
        read = named_columns(rays.batch, hits)
        found = RayHits(read, limbs, rays.inside, candidates, considered=self._considered)
        return found.rewound(self.times, self.present)

    def _considered(self, i: int) -> tuple[LabelledLimbs, Int64Array]:
        """All limbs at the moment of ray i, and those of them that it considers."""
        place, (ids, since, time) = self.place[i : i + 1], self.protection
        known = place.item() != NO_TICK
        row = np.arange(self.ring.ticks[place.item()].structure.rows if known else 0, dtype=np.int32)
        alpha = np.repeat(self.times.alpha[i : i + 1], len(row))
        placed = RewoundLimbs(self.ring, np.repeat(place, len(row)), alpha, row)
        limbs, rows = considered_limbs(placed, self.rays.batch, i)
        return limbs, rows[~np.isin(limbs.table.character[rows], ids[since <= time[i]])]

    def chords(self) -> Chords:
        """Every limb that each ray crosses."""
        limbs, lists = self._listed()
        found = Chords(self.rays.batch, limbs, chords_listed(limbs, self.rays, lists))
        return found.rewound(self.times, self.present)

    def contains(self) -> PointHits:
        """The limb that contains each point."""
        ring, rays = self.ring, self.rays
        args = rays, ring.recorded, ring.deepest_tree, self.place, self.times.alpha, self.protection
        columns, points = located_recorded(*args), rays.batch.rays.origin
        if (undecided := np.flatnonzero(columns.undecided)).size:
            offsets, near = self._near(undecided)
            limbs = self._limbs(undecided[ray_of_each(offsets)], near)
            of_each = np.split(np.arange(len(near)), offsets[1:-1])
            placed = [own[limbs.kernel_rows.mask[own] != 0].tolist() for own in of_each]
            resolve_points(points, limbs.table, dict(zip(undecided.tolist(), placed, strict=True)).__getitem__, columns)
            columns.limb[undecided] = gather(near, columns.limb[undecided], NO_LIMB)
        return PointHits(columns.limb, columns.limb_count, partial(self._distances, points, columns.limb)).rewound(
            self.times, None
        )

    def overlaps(self) -> Overlaps:
        """Every limb that each thick segment touches."""
        return overlaps_of(self.chords()).rewound(self.times, self.present)

    def _distances(self, points: Float64Array, row: Int32Array) -> Float64Array:
        """The squared distance of each point from the axis of the limb in a row of its tick, -1.0 for none."""
        hit, limb = np.flatnonzero(row >= 0), np.full(len(row), NO_LIMB, np.int32)
        limb[hit] = np.arange(len(hit))
        limbs = self._limbs(hit, row[hit])
        return axis_distances(points, limbs.table, limbs.kernel_rows, limb)

    def _candidates(self, limbs: RewoundLimbs, lists: CompressedRows, rays: Int64Array) -> Iterable[Iterable[int]]:
        """The limbs on the list of each of these rays that it does not certainly miss."""
        some = batch_rows(self.rays.batch, rays)
        return exact_fallback.limbs_of_pieces(*pieces_of_lists(some, limbs.kernel_rows, 0, lists, False))

    def _limbs(self, ray: Int64Array, row: Int32Array) -> RewoundLimbs:
        """Rows of states, each where it was at the moment of its ray."""
        return RewoundLimbs(self.ring, self.place[ray], self.times.alpha[ray], row)

    def _listed(self) -> tuple[RewoundLimbs, CompressedRows]:
        """The limbs that each ray may hit, placed for it alone, and the list of each ray."""
        self.rays.copy_checked(0, len(self.place))
        offsets, row = self._near(slice(None))
        return self._limbs(ray_of_each(offsets), row), (offsets, np.arange(len(row), dtype=np.int32))

    def _near(self, rays: Int64Array | slice) -> CompressedRows:
        """The rows of the limbs that each of these rays may hit."""
        protection = self.protection._replace(time=self.protection.time[rays])
        batch, stack = batch_rows(self.rays.batch, rays), make_stack(self.ring.deepest_tree)
        return rows_near_rays(batch, self.recorded, self.place[rays], protection, False, stack)


class PastQueries(ABC):
    """The queries of a history. Beside those of a world they take a time for each ray, and other options."""

    _world: HitWorld
    _recording: ChangeLock

    @abstractmethod
    def _kept(self) -> Ring:
        """The ticks that are kept, one at least."""

    @property
    @abstractmethod
    def times(self) -> Float64Array:
        """Times of the ticks that are kept, ascending."""

    def limbs_at(self, time: float | None = None, *, tick: int | None = None, alpha: float | None = None) -> Limbs:
        """The limbs that a query at that time judges, in the order of its rows."""
        ring = self._kept()
        times = sample_times(ring, 1, (time, tick, alpha, "error"), has_on_old=False)
        return all_limbs(ring, int(times.tick[0]), float(times.alpha[0])).limbs()

    @arguments_of(past_segments)
    def cast_segments(self, request: PastRequest) -> RayHits:
        """The first limb along each closed segment, at its time; as `HitWorld.cast_segments`."""
        return self._past(request).closest()

    @arguments_of(past_rays)
    def cast_rays(self, request: PastRequest) -> RayHits:
        """The first limb along each ray, at its time; as `HitWorld.cast_rays`."""
        return self._past(request).closest()

    @arguments_of(past_segments)
    def occluded_segments(self, request: PastRequest) -> BoolArray:
        """Whether each closed segment hits any limb at its time; bool (n,)."""
        return self._past(request).closest().hit

    @arguments_of(past_rays)
    def occluded_rays(self, request: PastRequest) -> BoolArray:
        """Whether each ray hits any limb at its time; bool (n,)."""
        return self._past(request).closest().hit

    @arguments_of(past_segments)
    def chords_segments(self, request: PastRequest) -> Chords:
        """Every limb that each closed segment crosses at its time; as `HitWorld.chords_segments`."""
        return self._past(request).chords()

    @arguments_of(past_rays)
    def chords_rays(self, request: PastRequest) -> Chords:
        """Every limb that each ray crosses at its time; as `HitWorld.chords_rays`."""
        return self._past(request).chords()

    @arguments_of(past_segment_shots, before="_before_shots")
    def judge_segments(self, request: tuple[PastRequest, ShotRequest]) -> Judged:
        """Which limb of each closed segment counts at its time; as `HitWorld.judge_segments`."""
        return self._judge(*request)

    @arguments_of(past_ray_shots, before="_before_shots")
    def judge_rays(self, request: tuple[PastRequest, ShotRequest]) -> Judged:
        """Which limb of each ray counts at its time; as `HitWorld.judge_rays`."""
        return self._judge(*request)

    @arguments_of(past_points)
    def contains_points(self, request: PastRequest) -> PointHits:
        """The limb that contains each point (n, 3) at its time; as `HitWorld.contains_points`."""
        return self._past(request).contains()

    @arguments_of(past_closest)
    def closest_points(self, request: PastNearRequest) -> ClosestPoints:
        """The limb of least distance from each point (n, 3) at its time; as `HitWorld.closest_points`."""
        return PastNear(self._world, self._kept(), request).closest()

    @arguments_of(past_within)
    def points_within(self, request: PastNearRequest) -> NearLimbs:
        """All limbs within a radius of each point (n, 3) at its time; as `HitWorld.points_within`."""
        return PastNear(self._world, self._kept(), request).near().by_distance()

    @arguments_of(past_spheres)
    def overlap_spheres(self, request: PastNearRequest) -> NearLimbs:
        """All limbs that each ball touches or overlaps at its time; as `HitWorld.overlap_spheres`."""
        return PastNear(self._world, self._kept(), request).near()

    @arguments_of(past_boxes)
    def overlap_boxes(self, request: PastBoxRequest) -> Overlaps:
        """All limbs that each box touches or overlaps at its time; as `HitWorld.overlap_boxes`."""
        return PastNear(self._world, self._kept(), request.near).touching(request.boxes)

    @arguments_of(past_capsules)
    def overlap_capsules(self, request: PastRequest) -> Overlaps:
        """All limbs that each capsule touches or overlaps at its time; as `HitWorld.overlap_capsules`."""
        return self._past(request).overlaps()

    def _past(self, request: PastRequest) -> Past:
        """The limbs that a request is about."""
        return Past(self._world, self._kept(), request)

    def _judge(self, request: PastRequest, shots: ShotRequest) -> Judged:
        ring = self._kept()
        rows = shots.weapons.rows(ring.ticks[-1].roster.groups)
        judged = judge_flight(Past(self._world, ring, request).chords(), shots, rows)
        for observer in self._recording.observers:
            observer.tell_shots(JudgedCall(shots, judged, ring=ring, past=request[1:]))
        return judged

    def _before_shots(self) -> Self:
        for observer in self._recording.observers:
            observer.admit(True)
        return self

    def cast_moving(
        self,
        starts: ArrayLike | FlightPath,
        ends: ArrayLike | None = None,
        t0: ArrayLike | None = None,
        t1: ArrayLike | None = None,
        target_t0: ArrayLike | None = None,
        target_t1: ArrayLike | None = None,
        **options: Unpack[MovingOptions],
    ) -> MovingHits:
        """The limb that each flying bullet hits first, and when; limbs move while it flies.

        A bullet is at its start at time `t0` and at its end at `t1`, and flies straight between. The ends of limbs move
        on straight lines from each tick to the next, whatever `interpolate` says. First contacts and their order are
        those of real arithmetic on these numbers; boxes turn, theirs are bounded from both sides. A fast limb that
        crosses the bullet's way between two ticks is hit.

        Parameters
        ----------
        starts, ends
            Where each bullet flies, (n, 3) each or one for all. Or a path alone, as `flight` makes it: of each of its
            bullets, which are the rows of the result, the first contact over its pieces.
        t0, t1
            When, (n,) or one for all; t1 >= t0. With t1 = t0 it is a ray.
        target_t0, target_t1
            The targets' time at the bullet's start and at its end, between them a linear function of the bullet's;
            (n,) or one for all, of a path one a piece; without, t0 and t1. The ticks that they fall into are judged.
        mask, ignore_character
            As in every query; one a bullet, or one for all.
        protected_since
            A time per character from which on it is not hit, in the targets' time.
        on_old
            What targets' times mean that are not kept. "error": a ValueError that names the first row. "clamp": each of
            `target_t0` and `target_t1` becomes the nearest time that is kept, between them it is linear again, and
            `clamped` says so. "miss": such a bullet hits nothing, such a piece of a path neither.
        resolution
            Share of a tick to which contacts with boxes are bounded; what it leaves open is `undecided`.
        threads
            Most threads that work at the same time; None: one a processor.

        Raises
        ------
        ValueError
            For numbers, shapes and times that are not accepted, with the first bad row.
        """
        return first_contacts(MovingRequest(self._kept(), starts, ends, (t0, t1), (target_t0, target_t1), options))
