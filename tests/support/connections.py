"""A server and one client on a line with jitter, loss and reordering: their messages, and the times the client drew."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True)
class Line:
    """Delays between server and client in seconds; each packet takes delay plus jitter, and some are lost."""

    down: float = 0.05
    up: float = 0.05
    jitter: float = 0.0
    """Mean of the exponentially distributed jitter of each packet."""
    loss: float = 0.0
    """Share of lost packets in each direction."""
    rate: float = 60.0
    """States per second; each is sent at its own time."""
    frames: float = 144.0
    """Client messages per second, at a random phase relative to the states."""
    buffer: float = 0.1


class Messages(NamedTuple):
    """A client's messages by time of arrival, (n,) each. All times but `round_trip` are of the server's clock."""

    sent: np.ndarray
    arrived: np.ndarray
    acknowledged: np.ndarray
    """Time of the newest state received when the message was sent."""
    newest: np.ndarray
    """Time drawn by a client that stays `buffer` behind the newest state, and so advances in steps."""
    smooth: np.ndarray
    """Time drawn by a client whose clock runs evenly, `buffer` plus the mean age of the newest state behind."""
    round_trip: np.ndarray
    """Sum of the delays of this message and of the newest state, without the time between them."""


def messages(line: Line, seconds: float, seed: int) -> Messages:
    """One client's messages, by time of arrival."""
    rng = np.random.default_rng(seed)

    def arrivals(times, way):
        return times + way + rng.exponential(line.jitter, len(times)) if line.jitter else times + way

    states = np.arange(0.0, seconds, 1.0 / line.rate)
    states = states[rng.random(len(states)) >= line.loss]
    come = arrivals(states, line.down)
    sent = np.arange(1.0 + rng.random() / line.frames, seconds, 1.0 / line.frames)
    sent = sent[rng.random(len(sent)) >= line.loss]
    order = np.argsort(come, kind="stable")
    newest = np.maximum.accumulate(states[order])  # an older state that arrives later changes nothing
    acknowledged = newest[np.searchsorted(come[order], sent, side="right") - 1]
    way_down = come[np.searchsorted(states, acknowledged)] - acknowledged
    arrived = arrivals(sent, line.up)
    smooth = sent - (sent - acknowledged).mean() - line.buffer
    columns = (sent, arrived, acknowledged, acknowledged - line.buffer, smooth, arrived - sent + way_down)
    return Messages._make(column[np.argsort(arrived, kind="stable")] for column in columns)
