"""Segments against past limbs of uncertain place and time.

Around the time of a segment a limb moves by at most the sum of its bone's translation and turn from tick to tick. So an
uncertain time is treated as an uncertain place.
"""

from __future__ import annotations

from copy import copy
from typing import TypeAlias, Unpack

import numpy as np
from numpy.typing import ArrayLike

from cylcollide._types import Float64Array, Int32Array, Int64Array, Shape
from cylcollide.constants import LARGEST_NUMBER
from cylcollide.history.past import Past
from cylcollide.history.requests import PastOptions, PastRequest, Protected, past_segments
from cylcollide.history.rewound import RewoundLimbs
from cylcollide.history.sample_times import NO_TICK, SampleTimes
from cylcollide.history.ticks import Ring, Tick
from cylcollide.query.doubts import DEPENDS, EXCLUDED, Doubts, are_certain, doubts_of, doubts_with
from cylcollide.query.near_requests import as_radii
from cylcollide.query.overlaps import limbs_of_chords
from cylcollide.query.request import radii_of
from cylcollide.validate import NO_RADIUS
from cylcollide.world.hit_world import HitWorld

BOX = int(Shape.BOX)

PAD = 2.0**-44
"""Times the largest coordinate: far above the rounding of placed limbs."""


MOST_TURN = 1.9
"""Distance of unit axes: below 2, no axis on the straight way between them vanishes."""


PastDoubtRequest: TypeAlias = tuple[PastRequest, Float64Array]
"""Segments as thick as limbs may be off in space, and how far these may be off in time, (n,)."""


def past_doubts(
    starts: ArrayLike,
    ends: ArrayLike,
    radius: ArrayLike,
    time: ArrayLike | None = None,
    *,
    time_radius: ArrayLike = 0.0,
    **options: Unpack[PastOptions],
) -> PastDoubtRequest:
    """A request about closed segments whose times are uncertain by `time_radius`, (n,) or one for all."""
    past = past_segments(starts, ends, time, radius=radius, **options)
    return past, as_radii(time_radius, "time_radius", len(past[0].first))


def past_doubt(world: HitWorld, ring: Ring, request: PastDoubtRequest) -> Doubts:
    """The limbs that each segment may hit, if each limb is near a place that it has within `time_radius`."""
    ((rays, asked, protected), time_radius), radius = request, radii_of(request[0][0])
    past = Past(world, ring, request[0])
    times = past.times
    least = np.where(times.tick == NO_TICK, DEPENDS, EXCLUDED).astype(np.int8)
    if not time_radius.any():
        return doubts_of(past.chords(), radius, least)._rewound(times, past.present)
    spread = Spread(ring, times, time_radius, protected)
    least[spread.is_open] = DEPENDS
    grown = copy(rays)
    grown.radius = radius + spread.most
    if not grown.radius.any():
        grown.radius = NO_RADIUS
    found = Past(world, ring, (grown, asked, protected)).chords()
    query, row, _ = limbs_of_chords(found)
    limbs = found._judged[0]
    assert isinstance(limbs, RewoundLimbs)
    reach = radius[query] + spread.motion(query, limbs._state_row[row])
    is_far = reach > LARGEST_NUMBER  # an infinite reach is one of these
    thick = np.where(is_far, 0.0, reach)
    hits = limbs.limbs()[row].cast_segments(rays.first[query], rays.second[query], radius=thick)
    near = np.flatnonzero(hits.hit | hits.undecided | is_far)
    query, row, thick = query[near], row[near], thick[near]
    certain = are_certain(found, query, row, thick) & ~spread.is_open[query] & ~is_far[near]
    return doubts_with(limbs, query, row, certain, least)._rewound(times, past.present)


class Spread:
    """Intervals of time about n moments, and how far limbs move in them."""

    def __init__(self, ring: Ring, times: SampleTimes, radius: Float64Array, protected: Protected) -> None:
        begins, last = ring.times, len(ring.ticks) - 1
        self._ticks, self._begins, self._time = ring.ticks, begins, times.time
        self._from, self._to = times.time - radius, times.time + radius
        kept = (times.tick != NO_TICK) & ~times.clamped & (self._from >= begins[0]) & (self._to <= begins[-1])
        self._first, there = (
            np.clip(np.searchsorted(begins, one, "right") - 1, 0, last) for one in (self._from, self._to)
        )
        end = np.minimum(np.where(self._to > begins[there], there + 1, there), last)
        self._end: Int64Array = np.where(radius > 0.0, end, self._first)
        self._pad = PAD * max(
            (abs(x) for tick in ring.ticks for corner in tick.tree.frame.corners() for x in corner), default=0.0
        )
        self._pad = min(self._pad, LARGEST_NUMBER)  # corners of limbs far from all others are infinite
        self._pads: Float64Array = np.where(radius > 0.0, self._pad, 0.0)
        least, most = int(self._first.min(initial=last)), int(self._end.max(initial=0))
        motion, broken = np.zeros((2, last + 2))
        for k in range(least, most):
            longest = self._longest(k)
            broken[k + 1], motion[k + 1] = np.isinf(longest), 0.0 if np.isinf(longest) else longest
        broken, motion = np.cumsum(broken), np.cumsum(motion)
        self.is_open = ~kept | (broken[self._end] > broken[self._first])
        """Whether a time is not kept, or some limb comes, goes, jumps or changes layers or protection meanwhile."""
        for since in protected[1].tolist():
            self.is_open |= (self._from < since) & (since <= self._to)
        self.is_open &= radius > 0.0
        moved = motion[self._end] - motion[self._first]
        self.most: Float64Array = np.where(self.is_open, 0.0, moved + 2.0 * self._pads)
        """Upper bound of the motion of any limb; 0 where `is_open`."""

    def _longest(self, k: int) -> float:
        """How far any limb moves from a tick to the next; inf if one comes, goes, jumps or changes otherwise."""
        here, there = self._ticks[k], self._ticks[k + 1]
        structure = here.structure
        settled = here.characters is structure.settled or not len(structure.ids)
        if structure is not there.structure or not settled:
            return np.inf
        row = np.arange(structure.rows, dtype=np.int32)
        return float(_motion(here, there, row, np.zeros(len(row)), np.ones(len(row))).max(initial=0.0))

    def motion(self, query: Int64Array, row: Int32Array) -> Float64Array:
        """Upper bound of how far limbs, rows of ticks, get from their places at the moments of intervals."""
        sooner, later = np.zeros((2, len(query)))
        first, end = self._first[query], np.where(self.is_open, 0, self._end)[query]
        for k in range(int(first.min(initial=0)), int(end.max(initial=0))):
            some = np.flatnonzero((first <= k) & (k < end))
            length, own = self._begins[k + 1] - self._begins[k], query[some]
            a, t, b = (
                np.clip((moment[own] - self._begins[k]) / length, 0.0, 1.0)
                for moment in (self._from, self._time, self._to)
            )
            ticks = self._ticks[k], self._ticks[k + 1]
            sooner[some] += _motion(*ticks, row[some], a, t)
            later[some] += _motion(*ticks, row[some], t, b)
        pads = np.where(self.is_open, 0.0, self._pads)[query]
        return np.asarray(np.maximum(sooner, later) + pads)


def _motion(here: Tick, there: Tick, row: Int32Array, first: Float64Array, last: Float64Array) -> Float64Array:
    """Upper bound of how far points of each limb move between two shares of one tick; inf for a jump."""
    structure, models = here.structure, here.structure.models
    model, owner = structure.limb["model"][row], structure.limb["owner"][row]
    share, far = last - first, np.zeros(len(row))
    by_ends = row < len(here.ends[0])
    if (own := np.flatnonzero(by_ends)).size:
        ways = [(one[row[own]], other[row[own]]) for one, other in zip(here.ends, there.ends, strict=True)]
        far[own] = share[own] * np.maximum(*(length_of_rows(b - a) for a, b in ways))
        axes = [unit_rows(_between(ways[1], at[own]) - _between(ways[0], at[own])) for at in (first, last)]
        turn, rim = length_of_rows(axes[1] - axes[0]), models.rim[model[own]]
        far[own] += np.where(rim > 0.0, np.where(turn < MOST_TURN, turn * rim, np.inf), 0.0)
        boxes = own[(models.codes["kind"][model[own]] == BOX) & (last[own] == 1.0)]
        box = models.codes["box"][model[boxes]]
        box += np.where(owner[boxes] >= 0, here.characters["first_box"][owner[boxes]] if len(here.characters) else 0, 0)
        for k in range(3):  # axes change only at ticks
            jump = length_of_rows(there.axes[box, 3 * k : 3 * k + 3] - here.axes[box, 3 * k : 3 * k + 3])
            far[boxes] += jump * here.axes[box, 9 + k]
    if (own := np.flatnonzero(~by_ends)).size:
        bone = structure.characters["first_bone"][owner[own]] + models.codes["bone"][model[own]]
        a, b = here.bones[bone], there.bones[bone]
        p, q = a[:, 3:7] * a[:, 7:], b[:, 3:7] * b[:, 7:]
        q = np.where((p * q).sum(axis=1, keepdims=True) < 0.0, -q, q)
        turns = [unit_rows((1.0 - at[own, None]) * p + at[own, None] * q) for at in (first, last)]
        size = (models.span + models.rim)[model[own]]
        far[own] = share[own] * length_of_rows(b[:, :3] - a[:, :3]) + 2.0 * length_of_rows(turns[1] - turns[0]) * size
        stays = here.characters["next_bone"][owner[own]] < 0  # a static: at rest until the next tick
        far[own[stays]] = np.where((a == b).all(axis=1), 0.0, np.inf)[stays]
    return far


def _between(ends: tuple[Float64Array, Float64Array], share: Float64Array) -> Float64Array:
    """Interpolated ends."""
    return np.asarray((1.0 - share[:, None]) * ends[0] + share[:, None] * ends[1])


def length_of_rows(v: Float64Array) -> Float64Array:
    """The length of each vector."""
    return np.asarray(np.sqrt((v * v).sum(axis=1)))


def unit_rows(v: Float64Array) -> Float64Array:
    """Unit vectors; 0 stays 0."""
    length = np.sqrt((v * v).sum(axis=1, keepdims=True))
    return np.asarray(v / np.where(length > 0.0, length, 1.0))
