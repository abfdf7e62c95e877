"""Segments against past limbs of uncertain place and time.

Around the time of a segment a limb moves by at most the sum of its bone's translation and turn from tick to tick. So an
uncertain time is treated as an uncertain place, in each span of time in which no limb appears, disappears or jumps.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias, Unpack

import numpy as np
from numpy.typing import ArrayLike

from cylcollide._types import BoolArray, Float64Array, Int32Array, Int64Array
from cylcollide.constants import LARGEST_NUMBER
from cylcollide.history.past import Past
from cylcollide.history.requests import PastOptions, PastRequest, Protected, past_segments
from cylcollide.history.rewound import RewoundLimbs
from cylcollide.history.sample_times import NO_TICK, SampleTimes, sample_times
from cylcollide.history.ticks import STAYS, Ring, Tick
from cylcollide.query.doubts import DEPENDS, EXCLUDED, Doubts, are_certain, doubts_of, doubts_with
from cylcollide.query.loops.columns import ray_of_each
from cylcollide.query.near_requests import as_radii
from cylcollide.query.request import radii_of
from cylcollide.recorded.motion import MARGIN, fill_motions
from cylcollide.runtime.distinct import distinct_rows
from cylcollide.validate import NO_RADIUS
from cylcollide.world.hit_world import HitWorld

PAD = 2.0**-44
"""Relative to the largest coordinate: far above the rounding of placed limbs."""

PastDoubtRequest: TypeAlias = tuple[PastRequest, Float64Array]
"""Segments whose radii are the uncertainty of limbs in space, and the uncertainty in time, (n,)."""


def past_doubts(
    starts: ArrayLike,
    ends: ArrayLike,
    radius: ArrayLike,
    time: ArrayLike | None = None,
    *,
    time_radius: ArrayLike = 0.0,
    **options: Unpack[PastOptions],
) -> PastDoubtRequest:
    """A request for closed segments whose times are uncertain by `time_radius`, (n,) or one for all."""
    past = past_segments(starts, ends, time, radius=radius, **options)
    return past, as_radii(time_radius, "time_radius", len(past[0].first))


def past_doubt(world: HitWorld, ring: Ring, request: PastDoubtRequest) -> Doubts:
    """The limbs that each segment may hit, if each limb is near one of its places within `time_radius`."""
    ((rays, _, protected), time_radius), radius = request, radii_of(request[0][0])
    past = Past(world, ring, request[0])
    times = past.times
    is_loose = (radius > 0.0) | (time_radius > 0.0)
    least = np.where((times.tick == NO_TICK) & is_loose, DEPENDS, EXCLUDED).astype(np.int8)
    doubted = (time_radius > 0.0) | (times.clamped & (radius > 0.0))
    if not doubted.any():
        return doubts_of(past.chords(), radius, least)._rewound(times, past.present)
    rays.copy_checked(0, len(radius))
    spans = Spans(ring, times, time_radius, doubted, protected)
    least[spans.is_open] = DEPENDS
    radius = radius[spans.segment]
    most = np.minimum(radius + spans.motion_of_any, LARGEST_NUMBER)
    grown = rays.of_rows(spans.segment, most if most.any() else NO_RADIUS)
    limbs, (offsets, row) = Past(world, ring, (grown, spans.times, protected)).near()
    span = ray_of_each(offsets)
    reach = radius[span] + spans.motion(span, limbs._state_row)
    is_far = ~(reach <= LARGEST_NUMBER)  # true for NaN, too: infinite motions of both signs
    thick = np.where(is_far, 0.0, reach)
    hits = limbs.limbs().cast_segments(grown.first[span], grown.second[span], radius=thick)
    near = np.flatnonzero(hits.hit | hits.undecided | is_far)
    span, row, thick, segment = span[near], row[near], thick[near], spans.segment[span[near]]
    certain = are_certain(grown.batch.rays, limbs, span, row, thick) & ~spans.is_open[segment] & ~is_far[near]
    once = limbs_once(segment, limbs, row, spans.is_own[span])
    return doubts_with(limbs, segment[once], row[once], certain[once], least)._rewound(times, past.present)


def limbs_once(segment: Int64Array, limbs: RewoundLimbs, row: Int32Array, is_own: BoolArray) -> Int64Array:
    """Indices of one pair for each segment and limb, preferably at the segment's own moment; in order."""
    first = np.argsort(~is_own, kind="stable")
    pairs = np.column_stack([segment, limbs.identity[row]])[first]
    once = first[distinct_rows(pairs)[0]]
    return once[np.lexsort((limbs._state_row[row[once]], segment[once]))]


class Spans:
    """Spans of time around the moments of n segments, within which no limb appears, disappears, jumps or is protected.

    `segment` (spans,): the segment of each span, ascending. `times`: the moment at which each is judged; `is_own`:
    whether that is the moment of its segment, else the begin of the span. `doubted` (n,): segments that may be open.
    """

    def __init__(
        self, ring: Ring, times: SampleTimes, radius: Float64Array, doubted: BoolArray, protected: Protected
    ) -> None:
        low, high, begins = times.time - radius, times.time + radius, ring.times
        first, end = _ticks_within(begins, low, high)
        ticks = range(int(first.min(initial=len(begins))), int(end.max(initial=0)))
        changes = np.array([k for k in ticks if not is_continuous(ring.ticks[k], ring.ticks[k + 1])], np.int64)
        is_open = np.searchsorted(changes, first) < np.searchsorted(changes, end)
        is_open |= (times.tick == NO_TICK) | times.clamped | (low < begins[0]) | (high > begins[-1])
        for since in protected[1].tolist():
            is_open |= (low < since) & (since <= high)
        self.is_open: BoolArray = is_open & doubted
        """Whether a time is not kept, or a limb appears, disappears, jumps, or changes layers or protection then."""
        whole = np.flatnonzero(~self.is_open & (times.tick != NO_TICK))
        parts, cuts = [np.column_stack([whole, low[whole], high[whole]])], np.append(begins[changes + 1], protected[1])
        for i in np.flatnonzero(self.is_open & (low <= begins[-1]) & (high >= begins[0])).tolist():
            begin, stop = max(low[i], begins[0]), min(high[i], begins[-1])
            starts = np.unique(np.append(begin, cuts[(begin < cuts) & (cuts <= stop)]))
            ends = np.append(np.nextafter(starts[1:], -np.inf), stop)
            parts.append(np.column_stack([np.full(len(starts), i), starts, ends]))
        rows = np.concatenate(parts)
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        self.segment: Int64Array = rows[:, 0].astype(np.int64)
        own, self._low, self._high = times.take(self.segment), rows[:, 1], rows[:, 2]
        self.is_own: BoolArray = (self._low <= own.time) & (own.time <= self._high) & (own.tick != NO_TICK)
        others, _ = sample_times(ring, len(rows), (np.where(self.is_own, own.time, self._low), None, None, "clamp"))
        self.times = SampleTimes._make(np.where(self.is_own, *both) for both in zip(own, others, strict=True))
        self._begins, (self._first, self._end) = begins, _ticks_within(begins, self._low, self._high)
        self._motions = {k: motion(ring, k) for k in ticks}
        longest, extent = np.zeros((2, len(begins) + 1))
        for k, one in self._motions.items():
            longest[k + 1] = (_share(one, slice(None), 1.0) + one.jump).max(initial=0.0)
            extent[k + 1] = one.extent.max(initial=0.0)
        longest, pad = np.cumsum(longest), np.where(self._high > self._low, PAD * extent.max(), 0.0)
        self.motion_of_any: Float64Array = longest[self._end] - longest[self._first] + pad
        """Upper bound of the motion of any limb, by span."""

    def motion(self, span: Int64Array, row: Int32Array) -> Float64Array:
        """Upper bound of the distance of limbs, rows of ticks, from their places at the moments of spans."""
        sooner, later, pad = np.zeros((3, len(span)))
        for k, one in self._motions.items():
            some = np.flatnonzero((self._first[span] <= k) & (k < self._end[span]))
            length, own, limb = self._begins[k + 1] - self._begins[k], span[some], row[some]
            a, t, b = (
                np.clip((moment[own] - self._begins[k]) / length, 0.0, 1.0)
                for moment in (self._low, self.times.time, self._high)
            )
            sooner[some] += _share(one, limb, t - a) + np.where(t == 1.0, one.jump[limb], 0.0)
            later[some] += _share(one, limb, b - t) + np.where((b == 1.0) & (t < 1.0), one.jump[limb], 0.0)
            pad[some] = np.maximum(pad[some], PAD * one.extent[limb])
        return np.asarray(np.maximum(sooner, later) + pad)


class Motion(NamedTuple):
    """`recorded.motion.LimbMotion` of all limbs of a tick, (rows,) each."""

    straight: Float64Array
    turning: Float64Array
    most_turning: Float64Array
    jump: Float64Array
    extent: Float64Array


def motion(ring: Ring, place: int) -> Motion:
    """Bounds on the motion of the limbs of the tick at index `place` until the next one."""
    found = Motion(*np.empty((len(Motion._fields), ring.ticks[place].structure.rows)))
    fill_motions(ring.recorded, place, *found)
    return found


def is_continuous(tick: Tick, following: Tick) -> bool:
    """Whether no limb disappears, appears, jumps or changes its layers from one tick to the next."""
    structure = tick.structure
    statics = structure.staying["next_row"] == STAYS
    bones = structure.staying["first_bone"][statics]
    return (
        structure is following.structure
        and (tick.characters is structure.staying or not len(structure.ids))
        and np.array_equal(tick.bones[bones], following.bones[bones])
    )


def _share(motion: Motion, row: Int32Array | slice, share: Float64Array | float) -> Float64Array:
    """Upper bound of the distance that limbs move in a share of a tick."""
    turning = np.minimum(motion.turning[row] * share, motion.most_turning[row])
    return np.asarray((motion.straight[row] * share + turning) * MARGIN)


def _ticks_within(begins: Float64Array, low: Float64Array, high: Float64Array) -> tuple[Int64Array, Int64Array]:
    """The range of ticks whose motions overlap each span of time: the first, and the one after the last."""
    last = len(begins) - 1
    first, final = (np.clip(np.searchsorted(begins, time, "right") - 1, 0, last) for time in (low, high))
    end = np.minimum(np.where(high > begins[final], final + 1, final), last)
    return first, np.where(high > low, end, first)
