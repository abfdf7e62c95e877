"""A server and one client over a line with jitter, loss and overtaking: what each knew, and what the client drew."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True)
class Line:
    """The ways between both, in seconds; each packet takes its way plus jitter, and some are lost."""

    down: float = 0.05
    up: float = 0.05
    jitter: float = 0.0
    """The mean of what an exponential distribution adds to each way."""
    loss: float = 0.0
    """The share of packets that do not arrive, each way."""
    rate: float = 60.0
    """States a second, each sent at its own time."""
    frames: float = 144.0
    """Messages of the client a second, out of step with the states."""
    buffer: float = 0.1


class Messages(NamedTuple):
    """What a client sent, by time of arrival; (n,) each. All times but `round_trip` are the server's clock's."""

    sent: np.ndarray
    arrived: np.ndarray
    acknowledged: np.ndarray
    """The time of the newest state that had come when it was sent."""
    newest: np.ndarray
    """What a client draws that stays `buffer` behind the newest state, and so moves in steps."""
    smooth: np.ndarray
    """What a client draws whose clock runs evenly, `buffer` behind the mean age of the newest state."""
    round_trip: np.ndarray
    """What this message and the newest state took together, without the wait between both."""


def messages(line: Line, seconds: float, seed: int) -> Messages:
    """What one client sent, by time of arrival."""
    rng = np.random.default_rng(seed)

    def arrivals(times, way):
        return times + way + rng.exponential(line.jitter, len(times)) if line.jitter else times + way

    states = np.arange(0.0, seconds, 1.0 / line.rate)
    states = states[rng.random(len(states)) >= line.loss]
    come = arrivals(states, line.down)
    sent = np.arange(1.0 + rng.random() / line.frames, seconds, 1.0 / line.frames)
    sent = sent[rng.random(len(sent)) >= line.loss]
    order = np.argsort(come, kind="stable")
    newest = np.maximum.accumulate(states[order])  # a state that was overtaken changes nothing
    acknowledged = newest[np.searchsorted(come[order], sent, side="right") - 1]
    way_down = come[np.searchsorted(states, acknowledged)] - acknowledged
    arrived = arrivals(sent, line.up)
    smooth = sent - (sent - acknowledged).mean() - line.buffer
    columns = (sent, arrived, acknowledged, acknowledged - line.buffer, smooth, arrived - sent + way_down)
    return Messages._make(column[np.argsort(arrived, kind="stable")] for column in columns)
