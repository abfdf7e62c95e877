"""The server's estimate of the time that a client saw: by round trips, and by acknowledged states."""

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import cylcollide as cc


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


LINES = {
    "at once": Line(0.0, 0.0),
    "100 ms": Line(),
    "slow down": Line(0.12, 0.02),
    "slow up": Line(0.02, 0.12),
    "300 ms": Line(0.15, 0.15, jitter=0.005),
    "jitter": Line(jitter=0.015),
    "loss": Line(loss=0.1),
    "jitter and loss": Line(jitter=0.02, loss=0.2),
    "20 states a second": Line(jitter=0.01, loss=0.05, rate=20.0),
    "in step": Line(frames=60.0),
}
FROM_ZERO = "expected a number from 0 to 2**500 (about 3e150)"
FINITE = "expected a finite number of magnitude at most 2**500 (about 3e150)"


@pytest.mark.parametrize("down", [0.0, 0.05, 0.12])
def test_an_estimate_does_not_depend_on_how_the_round_trip_is_divided(down: float):
    """States are so frequent that the newest one is no older than its way down."""
    sent = messages(Line(down, 0.14 - down, rate=1e5), 1.2, seed=1)
    assert len(sent.sent) > 25
    estimate = cc.estimate_time(sent.arrived, 0.14, 0.1)
    assert np.abs(estimate - sent.newest).max() <= 1.1e-5


@pytest.mark.parametrize("name", LINES)
def test_a_round_trip_estimate_errs_by_the_age_of_a_state(name: str):
    """The age of the newest state at the client is at most the time until the next one arrives."""
    line = LINES[name]
    sent = messages(line, 60.0, seed=2)
    waits = sent.round_trip - (sent.arrived - sent.acknowledged)  # minus the age
    for drawn in (sent.newest, sent.smooth):
        error = cc.estimate_time(sent.arrived, sent.round_trip, line.buffer) - drawn
        assert np.abs(error).max() <= -waits.min() + 12 * line.jitter + 1e-9
        assert np.median(np.abs(error)) <= 1.0 / line.rate + line.jitter


@pytest.mark.parametrize("name", LINES)
def test_honest_claims_are_admitted_and_claims_beyond_the_bound_are_refused(name: str):
    line, limits = LINES[name], cc.RewindLimits(1.0)
    clock, sent = cc.ViewClock(line.buffer, 1.0 / line.rate), messages(line, 20.0, seed=3)
    estimates, bounds = np.empty((2, len(sent.sent)))
    for i, (arrived, state) in enumerate(zip(sent.arrived.tolist(), sent.acknowledged.tolist(), strict=True)):
        assert clock.acknowledge(arrived, state)
        estimates[i], bounds[i] = clock.estimate(arrived)
    assert len(bounds) > 1000
    assert bounds.max() <= 3.0 / line.rate * (1 if line.loss == 0.0 else 4) + 25 * line.jitter
    for drawn in (sent.newest, sent.smooth):
        assert not limits.admit(drawn, estimates, sent.arrived, bound=bounds).reasons.any()
        assert np.median(np.abs(estimates - drawn)) <= 1.0 / line.rate + line.jitter
    late = sent.newest - 2.0 * bounds.max() - 1e-9
    refused = limits.admit(late, estimates, sent.arrived, bound=bounds).reasons
    assert (refused == cc.Admission.DISAGREES).all()


def test_the_bound_follows_the_window():
    """A late message widens it until that message leaves the window."""
    clock = cc.ViewClock(buffer=0.1, step=0.015625, window=4)
    for k in range(4):
        clock.acknowledge(1.0 + 0.25 * k, 0.875 + 0.25 * k)
    assert clock.estimate(2.0) == (2.0 - 0.125 - 0.1, 0.015625)
    clock.acknowledge(2.0, 1.5)
    assert clock.estimate(2.0) == (2.0 - 0.125 - 0.1, 0.375 + 0.015625)
    for k in range(4):
        assert clock.estimate(2.0).bound == 0.375 + 0.015625
        clock.acknowledge(2.25 + 0.25 * k, 2.125 + 0.25 * k)
    assert clock.estimate(4.0) == (4.0 - 0.125 - 0.1, 0.015625)
    assert len(clock) == 4


def test_a_window_may_be_an_integer_of_numpy():
    clock = cc.ViewClock(0.1, 0.1, np.int64(4))
    assert type(clock.window) is int
    assert clock.window == 4


def test_the_median_of_an_even_window_is_the_mean_of_the_middle_two():
    clock = cc.ViewClock(0.0, 0.0)
    for age in (0.5, 0.125, 0.25, 1.0):
        clock.acknowledge(2.0, 2.0 - age)
    assert clock.estimate(2.0) == (2.0 - 0.375, 0.875)


def test_without_acknowledgements_only_the_buffer_is_subtracted():
    clock = cc.ViewClock(0.125, 0.25)
    assert clock.estimate(3.0) == (2.875, 0.0)
    assert len(clock) == 0


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.longdouble, np.int16, np.uint64])
def test_numbers_of_any_kind_count_as_float64(kind: type):
    """Without warnings; 1000.5 - 0.1 is not representable in 16 or 32 bits."""
    clock, arrived = cc.ViewClock(0.1, kind(2)), kind(1000.5)
    now = float(arrived)
    first = clock.estimate(arrived)
    assert (first.time, type(first.time)) == (now - 0.1, float)
    assert clock.acknowledge(arrived, kind(999))
    assert not clock.acknowledge(arrived, kind(1002))
    second = clock.estimate(arrived)
    assert second == (now - (now - 999.0) - 0.1, 2.0)
    assert [*map(type, second)] == [float, float]
    limits = cc.RewindLimits(kind(1), kind(2), kind(3))
    assert (limits.most_back, limits.most_ahead, limits.most_disagreement) == (1.0, 2.0, 3.0)
    assert {type(limits.most_back), type(limits.most_ahead), type(limits.most_disagreement)} == {float}


@pytest.mark.parametrize("state", [np.nan, np.inf, -np.inf, "now", None, True, 3.5, [1.0], 10**400, -(10**400)])
def test_states_that_cannot_be_seen_are_dropped(state):
    clock = cc.ViewClock(0.125, 0.25)
    assert clock.acknowledge(3.0, state) is False
    assert len(clock) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cc.ViewClock(-1.0, 0.1), f"buffer: {FROM_ZERO}, got -1.0"),
        (lambda: cc.ViewClock(1e300, 0.1), f"buffer: {FROM_ZERO}, got 1e+300"),
        (lambda: cc.ViewClock(0.1, np.inf), f"step: {FROM_ZERO}, got inf"),
        (lambda: cc.ViewClock(0.1, 0.1, 0), "window: expected an integer >= 1, got 0"),
        (lambda: cc.ViewClock(0.1, 0.1, 2.0), "window: expected an integer >= 1, got 2.0"),
        (lambda: cc.ViewClock(0.1, 0.1).acknowledge(np.nan, 1.0), f"arrived: {FINITE}, got nan"),
        (lambda: cc.ViewClock(0.1, 0.1).acknowledge(-1e300, 1.0), f"arrived: {FINITE}, got -1e+300"),
        (lambda: cc.ViewClock(0.1, 0.1).estimate("1"), f"arrived: {FINITE}, got '1'"),
    ],
)
def test_bad_numbers(call, message: str):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        call()
