"""What a query about flying bullets asks, and against what: stretches, and the limbs that each comes near."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cylcollide._types import BoolArray, Float64Array
from cylcollide.history.moving.flights import Filters, Flights
from cylcollide.history.moving.limbs import MovingLimbs, Near, limbs_near, near_stretches
from cylcollide.history.moving.stretches import Stretches, stretches_of
from cylcollide.history.ticks import Tick
from cylcollide.query.loops.listed import Lists


class Question(NamedTuple):
    """What a query about flying bullets asks, and against what."""

    ticks: Sequence[Tick]
    flights: Flights
    stretches: Stretches
    limbs: MovingLimbs
    lists: Lists
    """Of each stretch, the limbs that the bullet does not certainly miss there."""
    until: dict[int, float]
    """Of each protected character the targets' time from which on it is not hit."""
    is_open: BoolArray
    """(stretches,): one of these times is within the stretch, so that only rational arithmetic judges it."""


def question_of(ticks: tuple[Tick, ...], flights: Flights, filters: Filters) -> Question:
    """What checked bullets are judged against."""
    stretches = stretches_of(ticks, flights)
    near, is_open = near_stretches(ticks, flights, stretches), np.zeros(len(stretches.tick), np.bool_)
    until: dict[int, float] = {}
    if filters.protected is not None:
        until = dict(zip(*(column.tolist() for column in filters.protected), strict=True))
        (begin, end), since = _target_times(ticks, flights, stretches), _since(ticks, stretches, near, until)
        hit = begin[near.stretch] < since
        near, since = Near(near.stretch[hit], near.entry[hit]), since[hit]
        last = stretches.last[near.stretch]
        is_open[near.stretch[(since < end[near.stretch]) | (last & (since == end[near.stretch]))]] = True
    limbs, lists = limbs_near(ticks, stretches, near)
    return Question(ticks, flights, stretches, limbs, lists, until, is_open)


def _target_times(ticks: Sequence[Tick], flights: Flights, stretches: Stretches) -> tuple[Float64Array, Float64Array]:
    """The targets' times at both ends of stretches: times of ticks, or of the pieces."""
    after = np.array([*(tick.time for tick in ticks[1:]), np.inf])[stretches.tick]
    begin = np.maximum(flights.target_t0[stretches.piece], np.array([tick.time for tick in ticks])[stretches.tick])
    return begin, np.minimum(flights.target_t1[stretches.piece], after)


def _since(ticks: Sequence[Tick], stretches: Stretches, near: Near, until: dict[int, float]) -> Float64Array:
    """Of each pair the time from which on its character is protected, inf for never."""
    tick, since = stretches.tick[near.stretch], np.full(len(near.stretch), np.inf)
    ids = np.array(sorted(until), np.int64)
    times = np.array([until[k] for k in ids.tolist()])
    for k in np.unique(tick).tolist() if until else ():
        own = np.flatnonzero(tick == k)
        rows = ticks[k].rows
        character = np.concatenate([rows.bare.character, rows.ids])[near.entry[own]]
        place = np.minimum(np.searchsorted(ids, character), len(ids) - 1)
        since[own] = np.where(ids[place] == character, times[place], np.inf)
    return since
