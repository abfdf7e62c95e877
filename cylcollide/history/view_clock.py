"""The time that a client saw, from the states that it acknowledges."""

from __future__ import annotations

import operator
from bisect import bisect_left, insort
from collections import deque
from typing import NamedTuple

from cylcollide import validate
from cylcollide.constants import LARGEST_NUMBER
from cylcollide.process.signatures import Shown


class ViewEstimate(NamedTuple):
    """What a client saw when it sent a message."""

    time: float
    """The server's estimate."""
    bound: float
    """How far an honest claim may be from it."""


class ViewClock(metaclass=Shown):
    """The time that a client sees, from the states that its messages acknowledge.

    It reads no clock of the client. Each message names the newest state that its sender had
    received. The age of that state, when the message arrives, is the sum of the way down, the wait
    for a frame, and the way up. A client that draws `buffer` behind the newest state sees

        arrived - age - buffer

    The estimate takes the median age of the last messages for `age`. Its bound is the difference
    between the largest and the least of these ages, plus one step, since the client may move its
    view evenly, or from state to state. A client that acknowledges late is treated like one with a
    slow line; `RewindLimits.most_back` limits what it gains.

    Parameters
    ----------
    buffer
        How far the client draws behind its newest state, at least 0.
    step
        The time from one state to the next, at least 0.
    window
        How many messages count, at least 1.
    """

    __slots__ = ("_ages", "_sorted", "buffer", "step", "window")

    def __init__(self, buffer: float, step: float, window: int = 64) -> None:
        for value, name in ((buffer, "buffer"), (step, "step")):
            if not 0.0 <= validate.one_number(value) <= LARGEST_NUMBER:
                raise ValueError(f"{name}: expected a number >= 0, got {validate.shown(value)}")
        if not validate.is_integer(window) or operator.index(window) < 1:
            raise ValueError(f"window: expected an integer >= 1, got {validate.shown(window)}")
        self.buffer, self.step, self.window = float(buffer), float(step), operator.index(window)
        self._ages: deque[float] = deque()
        self._sorted: list[float] = []

    def __len__(self) -> int:
        """How many messages count now."""
        return len(self._ages)

    def acknowledge(self, arrived: float, state: object) -> bool:
        """Note when a message arrived, by the server's time, and the newest state that it names.

        Returns False for a state that no client can have received, one later than `arrived` or not
        finite. Such a message does not count.
        """
        now, seen = _time(arrived), validate.one_number(state)
        if not -LARGEST_NUMBER <= seen <= now:
            return False
        if len(self._ages) == self.window:
            del self._sorted[bisect_left(self._sorted, self._ages.popleft())]
        age = now - seen
        self._ages.append(age)
        insort(self._sorted, age)
        return True

    def estimate(self, arrived: float) -> ViewEstimate:
        """What the client saw when it sent the message that arrived at this time of the server.

        Call `acknowledge` for that message first. Before any acknowledgement the age and the bound
        are 0.
        """
        now, ages, n = _time(arrived), self._sorted, len(self._sorted)
        if not n:
            return ViewEstimate(now - self.buffer, 0.0)
        median = 0.5 * (ages[(n - 1) // 2] + ages[n // 2])
        return ViewEstimate(now - median - self.buffer, ages[-1] - ages[0] + self.step)


def _time(arrived: object) -> float:
    """A time of the server as float64."""
    now = validate.one_number(arrived)
    if not abs(now) <= LARGEST_NUMBER:  # or NaN
        raise ValueError(f"arrived: expected a finite number, got {validate.shown(arrived)}")
    return now
