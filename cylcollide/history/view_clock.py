"""The time that a client displays, estimated from the states that it acknowledges."""

from __future__ import annotations

import operator
from bisect import bisect_left, insort
from collections import deque
from typing import NamedTuple

from cylcollide import validate
from cylcollide.constants import LARGEST_NUMBER
from cylcollide.process.signatures import Shown


class ViewEstimate(NamedTuple):
    """The time that a client displayed when it sent a message."""

    time: float
    """The server's estimate."""
    bound: float
    """Largest difference of an honest claim from the estimate."""


class ViewClock(metaclass=Shown):
    """The time that a client displays, estimated from the states that its messages acknowledge.

    It does not use the client's clock. Each message names the newest state that its sender had
    received. The age of that state, when the message arrives, is latency down + wait for a frame +
    latency up. A client that draws `buffer` behind the newest state displays the time

        arrived - age - buffer

    The estimate uses the median age of the last messages. Its bound is the largest minus the
    least of these ages, plus one step, since the client may move its view evenly, or from state to
    state. A client that acknowledges late is treated like one on a slow connection;
    `RewindLimits.most_back` limits its advantage.

    Parameters
    ----------
    buffer
        The interpolation delay of the client behind its newest state, at least 0.
    step
        The time from one state to the next, at least 0.
    window
        The number of last messages used, at least 1.
    """

    __slots__ = ("_ages", "_sorted", "buffer", "step", "window")

    def __init__(self, buffer: float, step: float, window: int = 64) -> None:
        for value, name in ((buffer, "buffer"), (step, "step")):
            if not 0.0 <= validate.one_number(value) <= LARGEST_NUMBER:
                raise ValueError(
                    f"{name}: expected a number from 0 to 2**500 (about 3e150), got {validate.shown(value)}"
                )
        if not validate.is_integer(window) or operator.index(window) < 1:
            raise ValueError(f"window: expected an integer >= 1, got {validate.shown(window)}")
        self.buffer, self.step, self.window = float(buffer), float(step), operator.index(window)
        self._ages: deque[float] = deque()
        self._sorted: list[float] = []

    def __len__(self) -> int:
        """The number of messages now in the window."""
        return len(self._ages)

    def acknowledge(self, arrived: float, state: object) -> bool:
        """Add a message: its arrival by the server's clock, and the newest state that it names.

        Returns False for a state that no client can have received, one later than `arrived` or not
        finite. Such a message is ignored.
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
        """The time that the client displayed when it sent the message that arrived at `arrived`.

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
        expected = "a finite number of magnitude at most 2**500 (about 3e150)"
        raise ValueError(f"arrived: expected {expected}, got {validate.shown(arrived)}")
    return now
