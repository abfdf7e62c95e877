"""Why a segment missed: the nearest limb at its time, and when the same segment would have hit."""

from collections.abc import Mapping
from typing import TypedDict, cast

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import ALL_LAYERS, NO_CHARACTER, NO_LIMB, BoolArray, Float64Array, Int64Array
from cylcollide.characters.policy_checks import Group, group_number
from cylcollide.history.hit_times import intervals, searched_times
from cylcollide.history.miss_explanation import MissExplanation
from cylcollide.history.queries import PastQueries
from cylcollide.history.requests import PastOptions, ProtectedSince, check_names, protected_by
from cylcollide.limbs.distance import Nearest, nearest_limb
from cylcollide.limbs.limbs import Limbs
from cylcollide.query.chords import Chords
from cylcollide.query.results import NO_HIT_GROUP
from cylcollide.runtime.memory import frozen


class MissOptions(TypedDict, total=False):
    """Options of `PoseHistory.explain_miss`; they mean what they mean for queries."""

    mask: int
    ignore_character: int | None
    protected_since: ProtectedSince | None
    threads: int | None


NOTHING = Nearest(NO_LIMB, np.inf, np.inf, frozen(np.full(3, np.nan)), frozen(np.full(3, np.nan)))
"""The nearest limb where there is none."""


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
    """The explanation of one segment, start and end (3,), at one time of a history that does not go on meanwhile."""
    check_names(options, MissOptions)
    ends = (validate.vectors(start, "start", 1), validate.vectors(end, "end", 1))
    moment = float(validate.per_row(time, "time", 1)[0])
    asked = None if hit_group is None else group_number(hit_group, "hit_group", group_names)
    step = None if resolution is None else float(validate.per_row(resolution, "resolution", 1)[0])
    if step is not None and not step > 0.0:
        raise ValueError(f"resolution: expected a time > 0, got {resolution!r}")
    filters = cast(PastOptions, options)
    at_time, chords = history.cast_segments(*ends, moment, **filters), history.chords_segments(*ends, moment, **filters)
    limbs = history.limbs_at(moment)
    crossed = np.flatnonzero(_of_group(chords, asked))
    if len(crossed):
        k, place = crossed[0], chords.entry_position[crossed[0]]
        nearest = Nearest(int(chords.limb[k]), 0.0, float(chords.entry_fraction[k]), place, place)
    else:
        rows = _judged_rows(limbs, asked, moment, options)
        nearest = nearest_limb(limbs.table, rows, ends[0][0], ends[1][0]) or NOTHING
    times = searched_times(history.times, step)

    def hits_at(moments: Float64Array) -> BoolArray:
        every = history.chords_segments(*ends, moments, **filters)
        return np.asarray(np.bincount(every.ray[_of_group(every, asked)], minlength=len(moments)) > 0)

    row, known = nearest.limb, nearest.limb != NO_LIMB
    return MissExplanation(
        hit=len(crossed) > 0,
        limb=row,
        limb_name=limbs.names[row] if known else None,
        character=int(limbs.character[row]) if known else NO_CHARACTER,
        hit_group=int(limbs.hit_group[row]) if known else NO_HIT_GROUP,
        gap=nearest.gap,
        point=frozen(nearest.point),
        segment_point=frozen(nearest.segment_point),
        fraction=nearest.fraction,
        intervals=frozen(intervals(hits_at, times)),
        resolution=float(np.diff(times).max(initial=0.0)),
        asked_group=asked,
        first=at_time[0],
        start=frozen(ends[0][0]),
        end=frozen(ends[1][0]),
        time=moment,
        tick=int(at_time.tick[0]),
        alpha=float(at_time.alpha[0]),
        ticks=frozen(history.times),
        group_names=group_names,
        limbs=limbs,
    )


def _of_group(chords: Chords, group: int | None) -> BoolArray:
    """Which chords are in limbs of this group, None for any."""
    return np.ones(len(chords), np.bool_) if group is None else np.asarray(chords.hit_group == group)


def _judged_rows(limbs: Limbs, group: int | None, time: float, options: MissOptions) -> Int64Array:
    """The rows of the limbs of this group, None for any, that a query with these options may hit."""
    judged: BoolArray = (limbs.mask & validate.masks(options.get("mask", ALL_LAYERS), 1)[0]) != 0
    ignored = validate.ignored_characters(options.get("ignore_character"), 1)[0]
    if ignored != NO_CHARACTER:
        judged &= limbs.character != ignored
    if group is not None:
        judged &= limbs.hit_group == group
    ids, begins = protected_by(options)
    judged &= ~np.isin(limbs.character, ids[begins <= time])
    return np.flatnonzero(judged)
