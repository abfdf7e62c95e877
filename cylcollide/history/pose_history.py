"""PoseHistory: the last states of a world, and queries in the past with a time for each ray."""

from threading import Lock
from typing import NamedTuple, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import BoolArray, Float64Array, Int64Array
from cylcollide.characters.judge import judge_flight, shots_of
from cylcollide.characters.policy import Policy
from cylcollide.history.moments import Moments
from cylcollide.history.moving.queries import MovingQueries
from cylcollide.history.options import (
    PastOptions,
    PointOptions,
    Protection,
    check_names,
    checked_protection,
    moments_of,
    request_of_rays,
    request_of_segments,
)
from cylcollide.history.results import RewoundChords, RewoundHits, RewoundJudged, RewoundPoints
from cylcollide.history.rewound import Blocks, Pairs, RewoundLimbs, blocks_of, pairs_of
from cylcollide.history.ticks import Interpolation, Tick, tick_of
from cylcollide.kernels.ray import Rays
from cylcollide.limbs.limbs import Limbs
from cylcollide.query.listed import chords_listed, closest_listed, contains_listed, farthest
from cylcollide.query.loops.listed import Lists
from cylcollide.query.request import RayRequest
from cylcollide.world.hit_world import HitWorld

ENTRIES_AT_FIRST = 2
"""Of more characters and bare limbs on the way of a ray, those behind the closest hit in so many are left out."""


class Past(NamedTuple):
    """What the rays of one query are judged against."""

    moments: Moments
    limbs: RewoundLimbs
    lists: Lists


class PoseHistory(MovingQueries):
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
        if interpolate not in ("bones", "ends"):
            raise ValueError(f"interpolate: expected 'bones' or 'ends', got {interpolate!r}")
        if not (isinstance(teleport_distance, float | int | np.number) and teleport_distance >= 0.0):
            raise ValueError(f"teleport_distance: expected a number >= 0, got {teleport_distance!r}")
        self._world, self._interpolate, self._distance = world, interpolate, float(teleport_distance)
        self._most = validate.index(ticks, "ticks", 2**31)
        if self._most == 0:
            raise ValueError("ticks: expected 1 or more, got 0")
        self._ticks: tuple[Tick, ...] = ()
        self._recording = Lock()

    def __len__(self) -> int:
        return len(self._ticks)

    def __repr__(self) -> str:
        ticks = self._ticks
        kept = f"ticks {ticks[0].number} to {ticks[-1].number}" if ticks else "no ticks yet"
        times = f", times {ticks[0].time:g} to {ticks[-1].time:g}" if ticks else ""
        return f"PoseHistory({kept}{times}, {self._interpolate} interpolated)"

    @property
    def ticks(self) -> Int64Array:
        """Numbers of the ticks that are kept, ascending."""
        return np.array([tick.number for tick in self._ticks], np.int64)

    @property
    def times(self) -> Float64Array:
        """Their times."""
        return np.array([tick.time for tick in self._ticks])

    def record(self, time: float) -> int:
        """Keep the present state of the world; returns the number of its tick. Ticks are counted from 0.

        Raises
        ------
        ValueError
            If the time is not finite, or not after that of the last tick.
        """
        moment = float(validate.in_range(validate.per_row(time, "time", 1), "time")[0])
        with self._recording:
            ticks = self._ticks
            if ticks and moment <= ticks[-1].time:
                raise ValueError(f"time: expected more than {ticks[-1].time}, that of the last tick, got {moment}")
            number = ticks[-1].number + 1 if ticks else 0
            tick = tick_of(self._world.snapshot(), number, moment, self._interpolate)
            before = (*ticks[:-1], ticks[-1].followed_by(tick, self._distance)) if ticks else ()
            self._ticks = (*before, tick)[-self._most :]
            return number

    def limbs_at(self, time: float | None = None, *, tick: int | None = None, alpha: float | None = None) -> Limbs:
        """The limbs that a query at that time judges, in the order of its rows."""
        ticks = self._kept()
        moments = moments_of(ticks, 1, time, tick, alpha, "error")
        index = int(moments.tick[0]) - ticks[0].number
        entries = np.arange(ticks[index].entries)
        alphas = np.full(len(entries), moments.alpha[0])
        return RewoundLimbs(ticks, Blocks(np.full(len(entries), index), alphas, entries)).limbs()

    def cast_segments(
        self, starts: ArrayLike, ends: ArrayLike, time: ArrayLike | None = None, **options: Unpack[PastOptions]
    ) -> RewoundHits:
        """The first limb along each closed segment, at its time; as `HitWorld.cast_segments`."""
        return self._cast(request_of_segments(starts, ends, time, options), time, options)

    def cast_rays(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        time: ArrayLike | None = None,
        max_distance: ArrayLike = np.inf,
        **options: Unpack[PastOptions],
    ) -> RewoundHits:
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
    ) -> RewoundChords:
        """Every limb that each closed segment crosses at its time; as `HitWorld.chords_segments`."""
        return self._chords(request_of_segments(starts, ends, time, options), time, options)

    def chords_rays(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        time: ArrayLike | None = None,
        max_distance: ArrayLike = np.inf,
        **options: Unpack[PastOptions],
    ) -> RewoundChords:
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
    ) -> RewoundJudged:
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
    ) -> RewoundJudged:
        """Which limb of each ray counts at its time; as `HitWorld.judge_rays`."""
        return self._judge(
            request_of_rays(origins, directions, max_distance, time, options), policy, energy, shot, time, options
        )

    def contains_points(
        self, points: ArrayLike, time: ArrayLike | None = None, **options: Unpack[PointOptions]
    ) -> RewoundPoints:
        """The limb that contains each point (n, 3) at its time; as `HitWorld.contains_points`."""
        check_names(options, PointOptions)
        places = validate.vectors(points, "points")
        validate.workers(options.get("threads"))
        rays = Rays(places, places, True, validate.NO_LIMIT)
        moments, limbs, lists = self._past(rays, time, cast(PastOptions, options))
        return RewoundPoints.of(contains_listed(limbs, places, lists), moments)

    def _cast(self, request: RayRequest, time: ArrayLike | None, options: PastOptions) -> RewoundHits:
        request.copy_checked(0, len(request.first))
        rays, threads = request.batch.rays, validate.workers(options.get("threads"))
        ticks, moments, pairs = self._near(rays, time, options)
        if len(pairs.ray) > ENTRIES_AT_FIRST * len(rays.origin):
            limbs, lists = _rewound(ticks, moments, pairs.nearest(ENTRIES_AT_FIRST), len(rays.origin))
            found = closest_listed(limbs, request, lists, threads)
            limit = farthest(rays, found.result.fraction)[pairs.ray]
            pairs = pairs.chosen(pairs.reached <= limit)
        limbs, lists = _rewound(ticks, moments, pairs, len(rays.origin))
        return RewoundHits(closest_listed(limbs, request, lists, threads), moments)

    def _chords(self, request: RayRequest, time: ArrayLike | None, options: PastOptions) -> RewoundChords:
        moments, limbs, lists = self._past_of(request, time, options)
        rows = chords_listed(limbs, request, lists, validate.workers(options.get("threads")))
        return RewoundChords(request.batch, limbs, rows, moments)

    def _judge(
        self,
        request: RayRequest,
        policy: Policy,
        energy: ArrayLike,
        shot: ArrayLike | None,
        time: ArrayLike | None,
        options: PastOptions,
    ) -> RewoundJudged:
        shots = shots_of(policy, self._kept()[-1].roster.groups, energy, shot, len(request.first))
        chords = self._chords(request, time, options)
        return RewoundJudged.of(judge_flight(chords.judged_limbs, chords, shots), chords.moments)

    def _kept(self) -> tuple[Tick, ...]:
        if not self._ticks:
            raise ValueError("history: expected a tick at least, got none; call record(time) first")
        return self._ticks

    def _past_of(self, request: RayRequest, time: ArrayLike | None, options: PastOptions) -> Past:
        request.copy_checked(0, len(request.first))
        return self._past(request.batch.rays, time, options)

    def _past(self, rays: Rays, time: ArrayLike | None, options: PastOptions) -> Past:
        """What these checked rays are judged against."""
        ticks, moments, pairs = self._near(rays, time, options)
        return Past(moments, *_rewound(ticks, moments, pairs, len(rays.origin)))

    def _near(
        self, rays: Rays, time: ArrayLike | None, options: PastOptions
    ) -> tuple[tuple[Tick, ...], Moments, Pairs]:
        """The moments of these checked rays, and what each may hit."""
        ticks, n = self._kept(), len(rays.origin)
        when = (time, options.get("tick"), options.get("alpha"), options.get("on_old", "error"))
        moments = moments_of(ticks, n, *when)
        pairs = pairs_of(ticks, moments, rays)
        since = options.get("protected_since")
        if since is not None:
            pairs = _unprotected(ticks, moments, pairs, since)
        return ticks, moments, pairs


def _rewound(ticks: tuple[Tick, ...], moments: Moments, pairs: Pairs, rays: int) -> tuple[RewoundLimbs, Lists]:
    """The limbs of these pairs, and the list of each ray."""
    blocks, block = blocks_of(ticks, moments, pairs)
    limbs = RewoundLimbs(ticks, blocks)
    return limbs, limbs.lists(pairs, block, rays)


def _unprotected(ticks: tuple[Tick, ...], moments: Moments, pairs: Pairs, since: Protection) -> Pairs:
    """The pairs whose characters are not protected at the moment of the ray."""
    ids, begins = checked_protection(since)
    order = np.argsort(ids)
    ids, begins = ids[order], begins[order]
    hit = np.ones(len(pairs.ray), np.bool_)
    index = moments.tick[pairs.ray] - ticks[0].number
    for k in np.unique(index).tolist() if len(ids) else ():
        rows = ticks[k].rows
        labels = np.concatenate([rows.bare.character, rows.ids])
        own = np.flatnonzero(index == k)
        character = labels[pairs.entry[own]]
        place = np.minimum(np.searchsorted(ids, character), len(ids) - 1)
        hit[own] = (ids[place] != character) | (moments.time[pairs.ray[own]] < begins[place])
    return pairs.chosen(hit)
