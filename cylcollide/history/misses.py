"""Why a segment missed: the nearest limb at its time, and when the same segment would have hit.

Times between ticks are tested in steps, and changes of the verdict are located by bisection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cylcollide import validate
from cylcollide._types import NO_CHARACTER, NO_LIMB, BoolArray, Float64Array
from cylcollide.characters.policy_checks import Group, group_number
from cylcollide.history.miss_explanation import MissExplanation
from cylcollide.history.queries import PastQueries
from cylcollide.history.requests import ProtectedSince, protected_by
from cylcollide.limbs.distance import NearestLimb, nearest_limb
from cylcollide.limbs.limbs import Limbs
from cylcollide.query.chords import Chords
from cylcollide.query.labels import NO_STATIC
from cylcollide.query.results import NO_HIT_GROUP
from cylcollide.runtime.memory import frozen

STEPS_OF_A_TICK = 4
"""The number of steps of the search between two ticks, if no resolution is given."""

PARTS = 16
"""Parts into which a bisection divides a span of time: a batch of times costs little more than one."""

MOST_TIMES = 1_000_000
"""Largest number of steps of a search."""

TIMES_AT_ONCE = 10_000
"""The number of times in one batch."""

SIGN = np.uint64(1 << 63)

Predicate: TypeAlias = Callable[[Float64Array], BoolArray]
"""Whether a condition holds at each of the times, (n,)."""


class MissOptions(TypedDict, total=False):
    """Options of `PoseHistory.explain_miss`, with the same meaning as for queries."""

    mask: int
    ignore_character: int | None
    protected_since: ProtectedSince | None
    threads: int | None


NOTHING = NearestLimb(NO_LIMB, np.inf, np.inf, frozen(np.full(3, np.nan)), frozen(np.full(3, np.nan)))
"""The result if there is no nearest limb."""


def explain_miss(
    history: PastQueries,
    start: ArrayLike,
    end: ArrayLike,
    time: float,
    hit_group: Group | None,
    resolution: float | None,
    group_names: Mapping[str, int],
    options: MissOptions,
) -> MissExplanation:
    """The explanation of one segment, start and end (3,), at one time; the history must not change meanwhile."""
    ends = (validate.vectors(start, "start", 1), validate.vectors(end, "end", 1))
    moment = float(validate.per_row(time, "time", 1)[0])
    group = None if hit_group is None else group_number(hit_group, "hit_group", group_names)
    step = None if resolution is None else float(validate.per_row(resolution, "resolution", 1)[0])
    if step is not None and not step > 0.0:
        raise ValueError(f"resolution: expected a time > 0, got {resolution!r}")
    options = {**options, "mask": int(validate.masks(options["mask"], 1)[0])}
    options["ignore_character"] = int(validate.ignored_characters(options["ignore_character"], 1)[0])
    limbs = history.limbs_at(moment)
    at_time, chords = history.cast_segments(*ends, moment, **options), history.chords_segments(*ends, moment, **options)
    reasons = _left_out(limbs, group, moment, options)
    crossed = np.flatnonzero(_of_group(chords, group))
    if len(crossed):
        k, place = crossed[0], chords.entry_position[crossed[0]]
        nearest = NearestLimb(int(chords.limb[k]), 0.0, float(chords.entry_fraction[k]), place, place)
    else:
        rows = np.flatnonzero(~np.any([*reasons.values()], axis=0))
        nearest = nearest_limb(limbs._table, rows, ends[0][0], ends[1][0]) or NOTHING
    times = np.union1d(searched_times(history.times, step), moment)

    def hits_at(moments: Float64Array) -> BoolArray:
        every = history.chords_segments(*ends, moments, **options)
        return np.asarray(np.bincount(every.ray[_of_group(every, group)], minlength=len(moments)) > 0)

    row, known, ring = nearest.limb, nearest.limb != NO_LIMB, history._kept()
    statics = ring.ticks[int(at_time.tick[0]) - ring.first].structure.static
    return MissExplanation(
        hit=len(crossed) > 0,
        limb=row,
        limb_name=limbs.names[row] if known else None,
        character=int(limbs.character[row]) if known else NO_CHARACTER,
        static=int(statics[row]) if known else NO_STATIC,
        hit_group=int(limbs.hit_group[row]) if known else NO_HIT_GROUP,
        gap=nearest.gap,
        point=frozen(nearest.point),
        segment_point=frozen(nearest.segment_point),
        fraction=nearest.fraction,
        intervals=frozen(intervals(hits_at, times)),
        resolution=float(np.diff(times).max(initial=0.0)),
        asked_group=group,
        first=at_time[0],
        start=frozen(ends[0][0]),
        end=frozen(ends[1][0]),
        time=moment,
        tick=int(at_time.tick[0]),
        alpha=float(at_time.alpha[0]),
        ticks=frozen(history.times),
        _group_names=group_names,
        _limbs=limbs,
        _statics=statics,
        _exclusion_reasons="" if known else _in_words(limbs, reasons),
    )


def _of_group(chords: Chords, group: int | None) -> BoolArray:
    """Whether each chord is in a limb of this group; None: any group."""
    return np.ones(len(chords), np.bool_) if group is None else np.asarray(chords.hit_group == group)


def _left_out(limbs: Limbs, group: int | None, time: float, options: MissOptions) -> dict[str, BoolArray]:
    """The limbs that a query with these options cannot hit, (n,) for each reason."""
    ids, begins = protected_by(options["protected_since"])
    ignored, none = options["ignore_character"], np.zeros(len(limbs), np.bool_)
    return {
        "in another group": none if group is None else np.asarray(limbs.hit_group != group),
        "of the ignored character": none if ignored == NO_CHARACTER else np.asarray(limbs.character == ignored),
        "of protected characters": np.isin(limbs.character, ids[begins <= time]),
        "in no layer of the mask": (limbs.mask & np.uint32(options["mask"])) == 0,
    }


def _in_words(limbs: Limbs, reasons: Mapping[str, BoolArray]) -> str:
    """Why none of the limbs can be hit, in words; each limb is counted under its first reason."""
    parts, left = [], np.ones(len(limbs), np.bool_)
    for reason, which in reasons.items():
        if (left & which).any():
            parts.append(f"{np.count_nonzero(left & which)} {reason}")
        left &= ~which
    return f"of {len(limbs)} limbs: {', '.join(parts)}" if len(limbs) else "there are no limbs then"


# When it would have hit -----------------------------------------------------------------------------------------------


def searched_times(ticks: Float64Array, resolution: float | None) -> Float64Array:
    """The times of all ticks, the float64 before each, and times between, ascending, at most `resolution` apart.

    Limbs may jump at a tick, as after a teleport, so the last float64 before each is searched, too.
    """
    before = np.nextafter(ticks[1:], -np.inf)
    span = np.diff(ticks)
    with np.errstate(over="ignore"):  # infinitely many steps are refused below
        exact = STEPS_OF_A_TICK if resolution is None else np.ceil(span / resolution)
    steps = np.broadcast_to(np.maximum(exact, 1.0), len(span))
    if steps.sum() > MOST_TIMES:
        raise ValueError(
            f"resolution: expected at most {MOST_TIMES} steps from {ticks[0]} to {ticks[-1]}, got {resolution}, which "
            f"are {steps.sum():.3g}; choose a coarser one"
        )
    between = [np.linspace(a, b, int(n) + 1) for a, b, n in zip(ticks[:-1], before, steps.tolist(), strict=True)]
    return np.unique(np.concatenate([*between, ticks[-1:]]))


def intervals(holds: Predicate, times: Float64Array) -> Float64Array:
    """The closed intervals (k, 2), ascending, in which a condition holds, found from samples at ascending times.

    It holds at both ends of each interval, and not at the next float64 outside, unless that is outside all times.
    Intervals, and gaps, that are shorter than a step between two times may be missed.
    """
    batches = np.split(times, range(TIMES_AT_ONCE, len(times), TIMES_AT_ONCE))
    so = np.concatenate([holds(batch) for batch in batches])
    change = np.flatnonzero(so[1:] != so[:-1])
    begins = so[change + 1]
    ends = _ends(holds, times[change], times[change + 1], begins)
    first, last = ends[begins], ends[~begins]
    if so[0]:
        first = np.append(times[0], first)
    if so[-1]:
        last = np.append(last, times[-1])
    return np.stack([first, last], axis=1)


def _ends(holds: Predicate, low: Float64Array, high: Float64Array, begins: BoolArray) -> Float64Array:
    """Between `low` and `high`, (k,), the first time at which the condition holds, or the last if not `begins`."""
    a, b = _keys(low), _keys(high)
    row = np.arange(len(a))
    while (b - a > 1).any():
        step = np.maximum((b - a) // np.uint64(PARTS), np.uint64(1))
        key = np.minimum(a[:, None] + step[:, None] * np.arange(PARTS, dtype=np.uint64), b[:, None])
        key = np.append(key, b[:, None], axis=1)
        inner = holds(_times(key[:, 1:-1].ravel())).reshape(len(a), -1)
        so = np.concatenate([~begins[:, None], inner, begins[:, None]], axis=1)
        # A begin lies after the last time at which the condition fails, an end before the first such time.
        last_not = PARTS - np.argmin(so[:, ::-1], axis=1)
        k = np.where(begins, last_not, np.argmin(so, axis=1) - 1)
        a, b = key[row, k], key[row, k + 1]
    return _times(np.where(begins, b, a))


def _keys(times: Float64Array) -> NDArray[np.uint64]:
    """Integers in the order of the times; adjacent float64 have consecutive integers."""
    bits = times.view(np.uint64)
    return np.where(bits & SIGN, ~bits, bits | SIGN)


def _times(keys: NDArray[np.uint64]) -> Float64Array:
    """The times of these integers."""
    return np.where(keys & SIGN, keys ^ SIGN, ~keys).view(np.float64)
