"""PoseHistory: the last states of a world, and queries in the past with a time for each ray."""

from functools import partial
from typing import TypeVar, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import BoolArray, Float64Array, Int64Array
from cylcollide.characters.judge import judge_flight, shots_of
from cylcollide.characters.judged import Judged
from cylcollide.characters.policy import Policy
from cylcollide.history.inspection import Inspection
from cylcollide.history.moving.queries import MovingQueries
from cylcollide.history.options import (
    PastOptions,
    PointOptions,
    check_names,
    checked_protection,
    moments_of,
    request_of_rays,
    request_of_segments,
)
from cylcollide.history.past import Past, batch_of_points, closest_in_past
from cylcollide.history.present import present_positions
from cylcollide.history.rewound import Instants, RewoundLimbs
from cylcollide.history.ring import Ring
from cylcollide.history.ticks import Interpolation, Tick, structure_of, tick_of
from cylcollide.limbs.limbs import Limbs
from cylcollide.query.hits import RayHits
from cylcollide.query.listed import chords_listed, contains_listed
from cylcollide.query.point_hits import PointHits
from cylcollide.query.ray_chords import Chords
from cylcollide.query.request import RayRequest
from cylcollide.query.results import Result
from cylcollide.runtime.threads import OwnLock
from cylcollide.world.hit_world import HitWorld
from cylcollide.world.state_rows import StateRows

Answer = TypeVar("Answer", bound=Result)


class PoseHistory(Inspection, MovingQueries):
    """A ring of the last states of a world, its ticks. The world goes on; no query here touches it.

    A query takes `time`, one or one a ray, or `tick` and `alpha`. Time t means the last tick k that is not after t,
    and alpha = (t - time of k) / (time of k + 1 - time of k). Between ticks, bones are interpolated and carry their
    limbs, or the ends of limbs are interpolated; the verdict is exact for the float64 numbers of `limbs_at` that time.
    A character that had no pose at tick k is not hit; its layers, rig and shapes are those of tick k.

    Queries share these arguments besides the world's own: `on_old`, what a time means that is not kept ("error": a
    ValueError that names the rows; "clamp": the nearest time that is kept, and `clamped` of the result says so; "miss":
    nothing is hit); `protected_since`, a time per character from which on it is not hit.

    Parameters
    ----------
    world
        Whose states are recorded.
    ticks
        How many are kept.
    interpolate
        "bones": positions linearly, orientations by normalised linear interpolation the short way. "ends": ends of
        limbs, linearly; boxes keep the axes of tick k. Bare limbs are always interpolated by their ends.
    teleport_distance
        A character whose first bone goes farther between two ticks stays where it was until the next one; so does one
        that was posed with `teleport=True`.
    """

    def __init__(
        self,
        world: HitWorld,
        ticks: int = 64,
        interpolate: Interpolation = "bones",
        teleport_distance: float = np.inf,
    ) -> None:
        if not isinstance(world, HitWorld):
            raise ValueError(f"world: expected a HitWorld, got {type(world).__name__}")
        validate.one_of(interpolate, "interpolate", "bones", "ends")
        if not (validate.is_real(teleport_distance) and teleport_distance >= 0.0):
            raise ValueError(f"teleport_distance: expected a number >= 0, got {teleport_distance!r}")
        self._world, self._interpolate, self._distance = world, interpolate, float(teleport_distance)
        self._most = validate.index(ticks, "ticks", 2**31)
        if self._most == 0:
            raise ValueError("ticks: expected 1 or more, got 0")
        self._ring: Ring | None = None
        self._recorded_rows: StateRows | None = None
        self._recording = OwnLock()

    def __len__(self) -> int:
        return len(self._kept_ticks)

    @property
    def _kept_ticks(self) -> tuple[Tick, ...]:
        return () if self._ring is None else self._ring.ticks

    def __repr__(self) -> str:
        ticks = self._kept_ticks
        kept = f"ticks {ticks[0].number} to {ticks[-1].number}" if ticks else "no ticks yet"
        times = f", times {ticks[0].time:g} to {ticks[-1].time:g}" if ticks else ""
        return f"PoseHistory({kept}{times}, {self._interpolate} interpolated)"

    @property
    def world(self) -> HitWorld:
        """The world whose states are recorded."""
        return self._world

    @property
    def ticks(self) -> Int64Array:
        """Numbers of the ticks that are kept, ascending."""
        return np.array([tick.number for tick in self._kept_ticks], np.int64)

    @property
    def times(self) -> Float64Array:
        """Their times."""
        return np.array([tick.time for tick in self._kept_ticks])

    def record(self, time: float) -> int:
        """Keep the present state of the world; returns the number of its tick. Ticks are counted from 0.

        Raises
        ------
        ValueError
            If the time is not finite, or not after that of the last tick.
        """
        moment = float(validate.in_range(validate.per_row(time, "time", 1), "time")[0])
        with self._recording():
            ring = self._ring
            if ring is not None and moment <= ring.ticks[-1].time:
                raise ValueError(f"time: expected more than {ring.ticks[-1].time}, that of the last tick, got {moment}")
            number, state = 0 if ring is None else ring.last + 1, self._world.snapshot()
            if state.rows is not self._recorded_rows or ring is None:
                structure = structure_of(state, None if ring is None else ring.ticks[-1].structure)
            else:
                structure = ring.ticks[-1].structure
            tick = tick_of(state, number, moment, self._interpolate, structure)
            self._ring = Ring((tick,)) if ring is None else ring.with_tick(tick, self._most, self._distance)
            self._recorded_rows = state.rows
            return number

    def limbs_at(self, time: float | None = None, *, tick: int | None = None, alpha: float | None = None) -> Limbs:
        """The limbs that a query at that time judges, in the order of its rows."""
        ring = self._kept()
        moments = moments_of(ring, 1, time, tick, alpha, "error")
        place = int(moments.tick[0]) - ring.first
        rows = np.arange(ring.ticks[place].structure.rows, dtype=np.int32)
        at = Instants(np.full(len(rows), place, np.int32), np.full(len(rows), moments.alpha[0]))
        return RewoundLimbs(ring, at, rows).limbs()

    def cast_segments(
        self, starts: ArrayLike, ends: ArrayLike, time: ArrayLike | None = None, **options: Unpack[PastOptions]
    ) -> RayHits:
        """The first limb along each closed segment, at its time; as `HitWorld.cast_segments`."""
        return self._cast(request_of_segments(starts, ends, time, options), time, options)

    def cast_rays(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        time: ArrayLike | None = None,
        max_distance: ArrayLike = np.inf,
        **options: Unpack[PastOptions],
    ) -> RayHits:
        """The first limb along each ray, at its time; as `HitWorld.cast_rays`."""
        return self._cast(request_of_rays(origins, directions, max_distance, time, options), time, options)

    def occluded_segments(
        self, starts: ArrayLike, ends: ArrayLike, time: ArrayLike | None = None, **options: Unpack[PastOptions]
    ) -> BoolArray:
        """Whether each closed segment hits any limb at its time; bool (n,)."""
        return self.cast_segments(starts, ends, time, **options).hit

    def occluded_rays(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        time: ArrayLike | None = None,
        max_distance: ArrayLike = np.inf,
        **options: Unpack[PastOptions],
    ) -> BoolArray:
        """Whether each ray hits any limb at its time; bool (n,)."""
        return self.cast_rays(origins, directions, time, max_distance, **options).hit

    def chords_segments(
        self, starts: ArrayLike, ends: ArrayLike, time: ArrayLike | None = None, **options: Unpack[PastOptions]
    ) -> Chords:
        """Every limb that each closed segment crosses at its time; as `HitWorld.chords_segments`."""
        return self._chords(request_of_segments(starts, ends, time, options), time, options)

    def chords_rays(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        time: ArrayLike | None = None,
        max_distance: ArrayLike = np.inf,
        **options: Unpack[PastOptions],
    ) -> Chords:
        """Every limb that each ray crosses at its time; as `HitWorld.chords_rays`."""
        return self._chords(request_of_rays(origins, directions, max_distance, time, options), time, options)

    def judge_segments(
        self,
        starts: ArrayLike,
        ends: ArrayLike,
        policy: Policy,
        time: ArrayLike | None = None,
        energy: ArrayLike = 1.0,
        shot: ArrayLike | None = None,
        **options: Unpack[PastOptions],
    ) -> Judged:
        """Which limb of each closed segment counts at its time; as `HitWorld.judge_segments`."""
        return self._judge(request_of_segments(starts, ends, time, options), policy, energy, shot, time, options)

    def judge_rays(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        policy: Policy,
        time: ArrayLike | None = None,
        max_distance: ArrayLike = np.inf,
        energy: ArrayLike = 1.0,
        shot: ArrayLike | None = None,
        **options: Unpack[PastOptions],
    ) -> Judged:
        """Which limb of each ray counts at its time; as `HitWorld.judge_rays`."""
        return self._judge(
            request_of_rays(origins, directions, max_distance, time, options), policy, energy, shot, time, options
        )

    def contains_points(
        self, points: ArrayLike, time: ArrayLike | None = None, **options: Unpack[PointOptions]
    ) -> PointHits:
        """The limb that contains each point (n, 3) at its time; as `HitWorld.contains_points`."""
        check_names(options, PointOptions)
        places = validate.vectors(points, "points")
        validate.workers(options.get("threads"))
        past = self._past(len(places), time, cast(PastOptions, options))
        limbs, lists = past.limbs_of_rays(batch_of_points(places), all_layers=True)
        return self._at(past, contains_listed(limbs, places, lists))

    def _cast(self, request: RayRequest, time: ArrayLike | None, options: PastOptions) -> RayHits:
        request.copy_checked(0, len(request.first))
        past = self._past(len(request.first), time, options)
        return self._at(past, closest_in_past(past, request, validate.workers(options.get("threads"))))

    def _chords(self, request: RayRequest, time: ArrayLike | None, options: PastOptions) -> Chords:
        request.copy_checked(0, len(request.first))
        past = self._past(len(request.first), time, options)
        limbs, lists = past.limbs_of_rays(request.batch)
        rows = chords_listed(limbs, request, lists, validate.workers(options.get("threads")))
        return self._at(past, Chords(request.batch, limbs, rows))

    def _judge(
        self,
        request: RayRequest,
        policy: Policy,
        energy: ArrayLike,
        shot: ArrayLike | None,
        time: ArrayLike | None,
        options: PastOptions,
    ) -> Judged:
        shots = shots_of(policy, self._kept().ticks[-1].roster.groups, energy, shot, len(request.first))
        return judge_flight(self._chords(request, time, options), shots)

    def _at(self, past: Past, result: Answer) -> Answer:
        """The result with the moments of its rows."""
        return result.rewound(past.moments, partial(present_positions, self._world))

    def _kept(self) -> Ring:
        if self._ring is None:
            raise ValueError("history: expected a tick at least, got none; call record(time) first")
        return self._ring

    def _past(self, n: int, time: ArrayLike | None, options: PastOptions) -> Past:
        """What n rays are judged against."""
        ring = self._kept()
        when = (time, options.get("tick"), options.get("alpha"), options.get("on_old", "error"))
        protected = checked_protection(options.get("protected_since"))
        return Past.of(ring, moments_of(ring, n, *when), *protected)
