"""The definition of the past, on a scripted match: every answer is bit for bit that of a fresh world of its limbs.

Sixty-four people in recorded motions, and both interpolations recorded side by side. Volleys are shot at moments of
their own, up to 0.3 s ago. Each volley goes through every kind of query in one batch whose shots are shuffled, by one
thread or two, and some shots again one by one; the world that is made of `limbs_at` of a moment, less who is protected
then, answers the same shots as if there were no history.
"""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pytest
from support.matches.answers import (
    HIT,
    OF_BONES,
    Ask,
    Columns,
    columns,
    differing,
    filters,
    in_order,
    of_worlds,
    queries,
)
from support.matches.script import BARE, TICKS_A_SECOND, Match
from support.matches.volley import Moment, Volley, draw_times, draw_volley, joined, moments_of

from cylcollide.history import PoseHistory

INSIDE = ("hit", "exit", "ignore")
LIVE_SHOTS = 6
AGAIN_EVERY = 32
"""Ticks in which volleys are gathered, to be asked again together."""


@dataclass
class Referee:
    """A match with its histories, and the comparisons; `seen` counts them, for one that saw nothing shows nothing."""

    match: Match
    ticks: int
    every: int  # ticks from volley to volley
    moments: int  # of a volley
    pellets: int  # shots at each moment
    seen: Counter[str] = field(default_factory=Counter)
    live: dict[int, tuple[Volley, Columns]] = field(default_factory=dict)
    asked: dict[str, list[tuple[Volley, dict[str, Columns]]]] = field(default_factory=lambda: {i: [] for i in INSIDE})

    def __post_init__(self) -> None:
        world, self.rng = self.match.world, self.match.rng
        self.histories = {
            "bones": PoseHistory(world, self.ticks, "bones", teleport_distance=2.0),
            "ends": PoseHistory(world, self.ticks, "ends"),
        }

    def play(self, ticks: int) -> None:
        """Record so many ticks, and compare."""
        for _ in range(ticks):
            self.match.step()
            for history in self.histories.values():
                tick = history.record(self.match.time)
            self._ask_the_present(tick)
            if tick % self.every == 0:
                self._shoot()
            if tick % AGAIN_EVERY == 0:
                self._ask_again()

    def _ask_the_present(self, tick: int) -> None:
        """Keep what the live world answers now: what any history must answer about this tick as long as it has it."""
        world = self.match.world
        now = Moment(self.match.time, slice(0, LIVE_SHOTS), np.arange(len(world)), world)
        volley = draw_volley([now], LIVE_SHOTS, self.rng)
        answer = world.cast_segments(volley.start, volley.end, **filters(volley))
        self.live[tick] = volley, columns(answer, (*HIT, *OF_BONES))
        self.live.pop(tick - self.ticks, None)

    def _shoot(self) -> None:
        """Compare a volley by either interpolation, by every kind of query."""
        times = draw_times(self.histories["bones"], self.rng, self.moments)
        since = self._protected(times) if self.rng.random() < 0.3 else None
        inside, policy, on_rays = INSIDE[self.rng.integers(3)], int(self.rng.integers(4)), bool(self.rng.integers(2))
        options = {"inside": inside, "threads": (None, 1, 2)[self.rng.integers(3)]}
        self.seen[f"policy {policy} on {'rays' if on_rays else 'segments'}, {inside}"] += 1
        volley, hits = None, {}
        for mode, history in self.histories.items():
            moments = moments_of(history, times, self.pellets, since)
            volley = volley or draw_volley(moments, self.pellets, self.rng)
            for name, ask in queries(policy, on_rays).items():
                want = of_worlds(ask, moments, volley, options)
                self._compare(history, name, ask, volley, want, {**options, "protected_since": since})
                if name == "cast_segments":
                    hits[mode] = want
            self._compare_with_the_present(history)
        self._count(hits["bones"], times)
        if since is None:
            self.asked[inside] = [*self.asked[inside], (volley, hits)]

    def _compare(self, history: PoseHistory, name: str, ask: Ask, volley: Volley, want: Columns, options: dict) -> None:
        """Assert that the past answers this in one shuffled batch, and for some shots one by one."""
        order = self.rng.permutation(len(volley.time))
        shuffled = volley.rows(order)
        got = in_order(ask(history, shuffled, {**options, "time": shuffled.time}), np.argsort(order))
        assert not differing(got, want), (name, history, self.match.tick, options)
        for i in order[:2].tolist():
            one = volley.rows(slice(i, i + 1))
            got = ask(history, one, {**options, "time": one.time[0]})
            assert not differing(got, in_order(want, np.array([i]))), (name, i, history, self.match.tick, options)
        self.seen[name] += len(order)
        self.seen[f"{name}, hits"] += int(want["hit"].sum() if "hit" in want else (want["limb"] >= 0).sum())

    def _compare_with_the_present(self, history: PoseHistory) -> None:
        """Assert that ticks which are kept answer in every field, bones included, as the live world did then."""
        for tick in self.rng.choice(list(self.live), 3).tolist():
            volley, want = self.live[tick]
            alpha = None if self.rng.random() < 0.5 else 0.0
            hits = history.cast_segments(volley.start, volley.end, tick=tick, alpha=alpha, **filters(volley))
            got = columns(hits, (*HIT, *(OF_BONES if history is self.histories["bones"] else OF_BONES[:2])))
            assert not differing(got, {name: want[name] for name in got}), (history, tick)
            self.seen["as the live world, hits on bones"] += int((want["bone"] >= 0).sum())

    def _ask_again(self) -> None:
        """Assert that volleys whose moments are kept are answered as before: in one batch, by two threads."""
        for inside, volleys in self.asked.items():
            for mode, history in self.histories.items():
                asked = [one for one in volleys if one[0].time.min() >= history.times[0]]
                if asked:
                    volley = joined([one for one, _ in asked])
                    want = {name: np.concatenate([hits[mode][name] for _, hits in asked]) for name in HIT}
                    options = {"inside": inside, "threads": 2, **filters(volley)}
                    hits = history.cast_segments(volley.start, volley.end, volley.time, **options)
                    assert not differing(columns(hits, HIT), want), (history, inside)
                    self.seen["asked again"] += len(hits)
            volleys.clear()

    def _protected(self, times: np.ndarray) -> dict[int, float]:
        """Return some who live, labels of bare limbs, and an id that nobody has, safe from some of the times on."""
        who = self.rng.choice([*self.match.living, *BARE[1:], 10**6], 12)
        return {int(i): float(self.rng.choice(times)) for i in who}

    def _count(self, hits: Columns, times: np.ndarray) -> None:
        """Count what was hit, and when."""
        who = hits["character"][hits["hit"]]
        self.seen["of bare limbs"] += int(np.isin(who, BARE).sum())
        self.seen["of the gone"] += int((~np.isin(who, [*BARE, *self.match.living])).sum())
        self.seen["of those who are hidden by now"] += int(np.isin(who, list(self.match.hidden)).sum())
        self.seen["that start inside"] += int(hits["started_inside"].sum())
        self.seen["misses"] += int((~hits["hit"]).sum())
        self.seen["touches"] += int((hits["thickness"] == 0.0).sum())
        self.seen["moments at ticks"] += int(np.isin(times, self.histories["bones"].times).sum())


def play(
    seed: int, ticks: int, people: int, ring: int = 64, every: int = 4, moments: int = 14, pellets: int = 8
) -> Referee:
    """Play a match of so many ticks, and print what was seen."""
    referee = Referee(Match(np.random.default_rng(seed), people), ring, every, moments, pellets)
    referee.play(ticks)
    print(*sorted(referee.seen.items()), *sorted(referee.match.events.items()), sep="\n")
    return referee


RARE = ("of bare limbs", "of the gone", "of those who are hidden by now", "that start inside", "touches", "misses")
EVENTS = ("joins", "leaves", "hides", "shows", "layers", "teleports", "leaps", "turns over")


def test_a_short_match():
    referee = play(1, 3 * TICKS_A_SECOND, 16, every=6, moments=6, pellets=6)
    seen, match = referee.seen, referee.match
    assert seen["cast_segments"] == 2 * 30 * 36
    assert all(seen[name] > 3 for name in (*RARE, "moments at ticks")), seen
    assert all(match.events[name] > 0 for name in EVENTS), match.events
    assert seen["asked again"] > 1000
    assert seen["as the live world, hits on bones"] > 300


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_a_match():
    """100,800 shots by either interpolation, each by eight kinds of query, at 12,600 moments; 5 minutes on one core."""
    referee = play(2, 60 * TICKS_A_SECOND, 64)
    seen, match = referee.seen, referee.match
    assert seen["cast_segments"] == 2 * 100_800
    kinds = [name for name in seen if name.startswith("policy")]
    assert len(kinds) == 4 * 2 * 3
    assert min(seen[name] for name in kinds) > 10
    assert all(seen[name] > 50 for name in (*RARE, "moments at ticks")), seen
    assert all(match.events[name] > 20 for name in EVENTS), match.events
    for name in ("cast_segments", "cast_rays", "chords", "judge", "impacts", "contains_points"):
        assert seen[f"{name}, hits"] > 25_000, name
    assert seen["asked again"] > 100_000
    assert seen["as the live world, hits on bones"] > 10_000


@pytest.mark.parametrize("wraps", [20, pytest.param(1000, marks=[pytest.mark.long, pytest.mark.timeout(1200)])])
def test_a_ring_that_wraps(wraps: int):
    """Seven ticks are kept of many: of those that are kept any is answered, of those before none."""
    referee = play(3, 7 * wraps, 4, ring=7, every=14, moments=3, pellets=4)
    assert referee.seen["cast_segments"] == 2 * 12 * (wraps // 2)
    assert referee.seen["cast_segments, hits"] > 6 * wraps
    assert referee.seen["as the live world, hits on bones"] > 3 * wraps
    for history in referee.histories.values():
        assert history.ticks.tolist() == list(range(7 * wraps - 7, 7 * wraps))
        with pytest.raises(ValueError, match=f"time: expected {history.times[0]} to {history.times[-1]}"):
            history.limbs_at(np.nextafter(history.times[0], 0.0))
