"""The queries of a `PoseHistory`: those of a world, with a time for each ray, and those for flying bullets."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Self

from cylcollide._types import BoolArray, Float64Array
from cylcollide.characters.judge import ShotRequest, judge_flight
from cylcollide.characters.judged import Judged
from cylcollide.history.blades import PastSweepRequest, past_sweep, past_sweeps
from cylcollide.history.doubts import PastDoubtRequest, past_doubt, past_doubts
from cylcollide.history.moving.contacts import first_contacts
from cylcollide.history.moving.hits import MovingHits
from cylcollide.history.moving.request import MovingRequest, moving_request
from cylcollide.history.nearest import PastNear, PastNearRequest, past_boxes, past_closest, past_spheres, past_within
from cylcollide.history.past import Past
from cylcollide.history.requests import (
    PastRequest,
    Protected,
    past_capsules,
    past_points,
    past_ray_shots,
    past_rays,
    past_segment_shots,
    past_segments,
)
from cylcollide.history.rewound import RewoundLimbs, all_limbs
from cylcollide.history.sample_times import RequestedTimes, sample_times
from cylcollide.history.ticks import Ring
from cylcollide.limbs.limbs import Limbs
from cylcollide.process.signatures import Shown
from cylcollide.query.arguments import arguments_of
from cylcollide.query.blades import SweptHits
from cylcollide.query.boxes import BoxRequest
from cylcollide.query.chords import Chords
from cylcollide.query.doubts import Doubts
from cylcollide.query.hits import RayHits
from cylcollide.query.nearest import ClosestPoints, NearLimbs
from cylcollide.query.overlaps import Overlaps
from cylcollide.query.points import PointHits
from cylcollide.world.hit_world import HitWorld
from cylcollide.world.observers import ChangeLock, JudgedCall


class PastQueries(metaclass=Shown):
    """The queries of a history: those of a world, with a time for each ray."""

    _world: HitWorld
    _recording: ChangeLock

    @abstractmethod
    def _kept(self) -> Ring:
        """The kept ticks; ValueError if there are none."""

    @property
    @abstractmethod
    def times(self) -> Float64Array:
        """Times of the kept ticks, ascending."""

    def limbs_at(self, time: float | None = None, *, tick: int | None = None, alpha: float | None = None) -> Limbs:
        """The limbs that a query at that time tests, in the order of its rows."""
        return self._limbs_at(time, tick, alpha).limbs()

    def _limbs_at(self, time: float | None, tick: int | None, alpha: float | None) -> RewoundLimbs:
        """`limbs_at` in the form that results read."""
        ring = self._kept()
        times, index = sample_times(ring, 1, (time, tick, alpha, "error"), has_on_old=False)
        return all_limbs(ring, int(index[0]), float(times.alpha[0]))

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
        return PastNear(self._world, self._kept(), request).near()._by_distance()

    @arguments_of(past_spheres)
    def overlap_spheres(self, request: PastNearRequest) -> NearLimbs:
        """All limbs that each ball touches or overlaps at its time; as `HitWorld.overlap_spheres`."""
        return PastNear(self._world, self._kept(), request).near()

    @arguments_of(past_doubts)
    def doubt_segments(self, request: PastDoubtRequest) -> Doubts:
        """Whether each closed segment hits any limb, if the place and time of limbs are uncertain.

        As `HitWorld.doubt_segments`. Each limb may be anywhere within `radius` of its places in
        [time - time_radius, time + time_radius]. DEPENDS if not all of that time is kept, or if
        any limb appears, disappears, jumps, or changes its layers or protection in it.
        """
        return past_doubt(self._world, self._kept(), request)

    @arguments_of(past_sweeps)
    def sweep_capsules(self, request: PastSweepRequest) -> SweptHits:
        """The first limb that each blade touches, while limbs move from t0 to t1.

        As `HitWorld.sweep_capsules`. Times are one for all or (n,), t1 not before t0. Without t1
        limbs stand still at their places at t0.
        """
        return past_sweep(self._world, self._kept(), request)

    @arguments_of(past_boxes)
    def overlap_boxes(self, request: tuple[BoxRequest, RequestedTimes, Protected]) -> Overlaps:
        """All limbs that each box touches or overlaps at its time; as `HitWorld.overlap_boxes`."""
        boxes, requested, protected = request
        return PastNear(self._world, self._kept(), (boxes[0], requested, protected)).touching(boxes)

    @arguments_of(past_capsules)
    def overlap_capsules(self, request: PastRequest) -> Overlaps:
        """All limbs that each capsule touches or overlaps at its time; as `HitWorld.overlap_capsules`."""
        return self._past(request).overlaps()

    def _past(self, request: PastRequest) -> Past:
        """A request with the kept ticks."""
        return Past(self._world, self._kept(), request)

    def _judge(self, request: PastRequest, shots: ShotRequest) -> Judged:
        ring = self._kept()
        rows = shots.policy_rows(ring.ticks[-1].roster.groups)
        judged = judge_flight(Past(self._world, ring, request).chords(), shots, rows)
        if self._recording.observers:  # under the lock, so that the call follows its tick
            self._recording.notify_shots(JudgedCall(shots, judged, ring=ring, past=request[1:]), lambda: True)
        return judged

    def _before_shots(self) -> Self:
        for observer in self._recording.observers:
            observer._admit(True)
        return self

    @arguments_of(moving_request)
    def cast_moving(self, request: Callable[[Ring], MovingRequest]) -> MovingHits:
        """The limb that each flying bullet hits first, and when; limbs move while it flies.

        A bullet flies straight from its start to its end. The ends of limbs move on straight lines
        from each tick to the next, regardless of `interpolate`. First contacts and their order are
        those of real arithmetic on these numbers; contacts with boxes, which are as in `limbs_at`,
        are bounded. A fast limb that crosses the bullet's path between ticks is hit.

        Parameters
        ----------
        starts, ends
            Start and end of each bullet, (n, 3) each or one for all. Or only a path of `flight`: a
            row of the result is then one of its bullets, with the first contact over its pieces.
        t0, t1
            Times at start and end, (n,) or one for all; t1 >= t0. With t1 = t0 it is a ray.
        target_t0, target_t1
            The targets' time at the bullet's start and end, linear between them; (n,) or one for
            all, for a path one per piece. By default t0 and t1.
        mask, ignore_character
            As in every query; one per bullet, or one for all.
        protected_since
            For each character the time from which on it is not hit, in the targets' time.
        on_old
            The treatment of targets' times that are not kept. "error": a ValueError that names the
            first row. "clamp": `target_t0` and `target_t1` each become the nearest kept time, and
            `clamped` is True. "miss": such a bullet, or piece of a path, hits nothing.
        resolution
            The share of a tick to which contacts with boxes are bounded; others are `undecided`.
        threads
            The number of threads; None: one per processor.

        Raises
        ------
        ValueError
            For numbers, shapes and times that are not accepted; the message names the first row.
        """
        return first_contacts(request(self._kept()), self._world)
