"""Stretches: the parts of flights within one tick each, where limbs move on straight lines."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int64Array
from cylcollide.history.moving.flights import Flights
from cylcollide.history.ticks import Tick


class Stretches(NamedTuple):
    """Stretches of flights, in the order of pieces and of time.

    A stretch is that part of a piece where tick k counts: time_k <= T(s) < time_k+1, T the targets' time. Its last
    moment belongs to the next one, but for the last stretch of a piece.
    """

    piece: Int64Array  # (n,)
    tick: Int64Array  # (n,): place among the ticks
    begin: Float64Array  # (n,): s where it begins, 0 to 1, rounded
    end: Float64Array  # (n,): s where it ends
    alpha0: Float64Array  # (n,): how far it is from the tick to the next at `begin`, rounded
    alpha1: Float64Array  # (n,): the same at `end`
    last: BoolArray  # (n,): whether it is the last of its piece, closed at its end
    offsets: Int64Array  # (bullets + 1,): stretches of bullet b are offsets[b] to offsets[b + 1]


def stretches_of(ticks: Sequence[Tick], flights: Flights) -> Stretches:
    """The stretches of all pieces that are kept."""
    times = np.array([tick.time for tick in ticks])
    t0, t1 = flights.target_t0, flights.target_t1
    first, last = (np.searchsorted(times, t, side="right") - 1 for t in (t0, t1))
    count = np.where(flights.kept, last - first + 1, 0)
    piece = np.repeat(np.arange(len(t0)), count)
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(count)])
    tick = first[piece] + np.arange(len(piece)) - before[piece]
    is_first, is_last = tick == first[piece], tick == last[piece]
    following = np.minimum(tick + 1, len(ticks) - 1)
    t0, t1, time, after = t0[piece], t1[piece], times[tick], times[following]
    # every difference and quotient is rounded once, so that each result has three half ulps of error at most
    span, step = np.where(t1 > t0, t1 - t0, 1.0), np.where(after > time, after - time, 1.0)
    return Stretches(
        piece,
        tick,
        np.where(is_first, 0.0, (time - t0) / span),
        np.where(is_last, 1.0, (after - t0) / span),
        np.where(is_first, (t0 - time) / step, 0.0),
        np.where(is_last, (t1 - time) / step, 1.0),
        is_last,
        before[flights.offsets],
    )


def points_at(flights: Flights, piece: Int64Array, s: Float64Array) -> Float64Array:
    """Where bullets are at parameters s of their pieces, rounded; both ends as they are given; (n, 3)."""
    share = s[:, None]
    point: Float64Array = (1.0 - share) * flights.starts[piece] + share * flights.ends[piece]
    return point
