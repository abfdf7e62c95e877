"""Limits on the client times that a server admits."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cylcollide import validate
from cylcollide._types import Float64Array
from cylcollide.history.sample_times import count, one_or_each
from cylcollide.process.signatures import Shown
from cylcollide.query.record import of_arrays
from cylcollide.runtime.memory import frozen


class Admission(IntEnum):
    """How a claimed time was treated."""

    CLAIMED = 0
    """Admitted as claimed."""
    DISAGREES = 1
    """Too far from the server's estimate, which is admitted instead."""
    TOO_OLD = 2
    """Farther back than allowed: the earliest allowed time is admitted."""
    TOO_NEW = 3
    """Farther ahead than allowed: the latest allowed time is admitted."""


@of_arrays
class Admitted(NamedTuple):
    """The times at which shots are judged, and the reasons; (n,) each."""

    times: Float64Array
    reasons: NDArray[np.int8]
    """`Admission` of each time."""


@dataclass(frozen=True)
class RewindLimits(metaclass=Shown):
    """How far a client's time may be from the server's, in the unit of all times.

    Source allows 1 s back and 0.2 s of disagreement with its own estimate; Overwatch allows 0.25 s.
    """

    most_back: float
    """Largest time before now, at least 0."""
    most_ahead: float = 0.0
    """Largest time after now, at least 0."""
    most_disagreement: float = np.inf
    """Largest difference of a claim from the estimate, at least 0; beyond it the estimate is used."""

    def __post_init__(self) -> None:
        for name in ("most_back", "most_ahead", "most_disagreement"):
            object.__setattr__(self, name, validate.from_zero(getattr(self, name), name))

    def admit(self, claimed: ArrayLike, estimate: ArrayLike, now: ArrayLike, bound: ArrayLike = np.inf) -> Admitted:
        """The times at which shots are judged.

        Parameters
        ----------
        claimed
            The times that clients claim, (n,) or one.
        estimate
            The server's estimates of these times, (n,) or one for all; see `estimate_time` and
            `ViewClock`.
        now
            The server's time, (n,) or one for all.
        bound
            Largest difference of each claim from its estimate, at least 0, (n,) or one for all. The
            smaller of it and `most_disagreement` applies; see `ViewClock.estimate`.

        Raises
        ------
        ValueError
            On an estimate, now or bound that is not finite; the message names the first row. A
            claim may be any number; one that is not finite disagrees.
        """
        given = validate.as_numbers(claimed, "claimed", "(n,)")
        if given.ndim > 1:
            raise ValueError(f"claimed: expected one number or shape (n,), got shape {given.shape}")
        claims, n = np.atleast_1d(validate.as_float64(given, "claimed")), given.size
        estimates, present = (one_or_each(values, name, n) for values, name in ((estimate, "estimate"), (now, "now")))
        bounds = validate.one_or_numbers(bound, "bound", n)
        _check_from_zero(bounds, "bound")
        most = np.minimum(bounds, self.most_disagreement)
        with np.errstate(invalid="ignore"):
            agrees = np.abs(claims - estimates) <= most
        times = np.where(agrees & np.isfinite(claims), claims, estimates)
        reasons = np.where(agrees & np.isfinite(claims), int(Admission.CLAIMED), int(Admission.DISAGREES))
        earliest, latest = present - self.most_back, present + self.most_ahead
        reasons[times < earliest], reasons[times > latest] = int(Admission.TOO_OLD), int(Admission.TOO_NEW)
        return Admitted(frozen(np.clip(times, earliest, latest)), frozen(reasons.astype(np.int8)))


def _check_from_zero(numbers: Float64Array, name: str) -> None:
    """Raise ValueError for a number below 0, or NaN."""
    row = validate.first_bad_row(~(numbers >= 0.0))
    if row is not None:
        raise ValueError(f"{name}: expected >= 0, got {numbers[row]} in row {row}")


def estimate_time(now: ArrayLike, round_trip: ArrayLike, buffer: ArrayLike) -> Float64Array:
    """The time that a client displayed when it sent a message: now - round_trip - buffer.

    The client sent the message at now - up. Its newest state then dated from now - up - down, since
    a state takes `down` to arrive. The client drew `buffer` behind that state. Only the sum of up
    and down matters::

          seen       newest      sent        now
        ---|-----------|-----------|-----------|--->  time of the server
           |<- buffer->|<-- down ->|<--- up -->|

    This leaves out the wait for the next state: the newest state may be older by up to the time
    between two states.

    Parameters
    ----------
    now
        When the message arrives, in the server's clock, (n,) or one.
    round_trip
        Travel time of a message to the client and back, at least 0, (n,) or one for all.
    buffer
        How far the client draws behind its newest state (its interpolation delay), at least 0, (n,)
        or one for all.
    """
    counts = {count(now, "now"), count(round_trip, "round_trip"), count(buffer, "buffer")} - {1} or {1}
    n = max(counts)  # one stands for all, also of none
    arrival, trip, delay = (
        one_or_each(values, name, n) for values, name in ((now, "now"), (round_trip, "round_trip"), (buffer, "buffer"))
    )
    for values, name in ((trip, "round_trip"), (delay, "buffer")):
        _check_from_zero(values, name)
    return arrival - trip - delay
