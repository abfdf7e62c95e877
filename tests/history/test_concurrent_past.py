"""Two threads query the past while a third moves the world and records it: each answer belongs to one whole ring."""

import threading
import time
from collections import Counter
from concurrent.futures import FIRST_EXCEPTION, wait

import numpy as np
import pytest
from support.beside import repeated
from support.cases.everyday_worlds import make_crowd
from support.character_life import Life
from support.check_cylinders import differing
from support.matches.answers import HIT, OF_BONES, columns, compressed
from support.matches.volley import Moment, draw_volley

import cylcollide as cc
from cylcollide.history import PoseHistory
from cylcollide.world import observers

RING = 12
SHOTS = 6


class Record:
    """A life of characters that moves, records with either interpolation, and keeps a snapshot of each tick."""

    def __init__(self, life: Life) -> None:
        self.life, self.ticks = life, 0
        self.histories = [PoseHistory(life.world, RING, mode) for mode in ("bones", "ends")]
        self.snapshots: dict[int, cc.Snapshot] = {}
        for _ in range(RING):
            self.step()

    def step(self) -> None:
        """Record a tick; its snapshot is stored first."""
        for _ in range(4):
            self.life.step()
        self.snapshots[self.ticks] = self.life.world.snapshot()
        self.snapshots.pop(self.ticks - 10 * RING, None)
        for history in self.histories:
            history.record(self.ticks / 64)
        self.ticks += 1


class Checker:
    """Queries at recorded ticks, compared with snapshots, and at times between them."""

    def __init__(self, record: Record, seed: int) -> None:
        self.record, self.rng, self.seen = record, np.random.default_rng(seed), Counter()

    @property
    def is_covered(self) -> bool:
        """Whether it had answers of all kinds."""
        return min(self.seen[kind] for kind in ("answers", "hits", "chords")) > 30

    def ask(self) -> None:
        """Query and compare."""
        history = self.record.histories[self.rng.integers(2)]
        self.ask_ticks(history)
        self.ask_times(history)

    def ask_ticks(self, history: PoseHistory) -> None:
        """Assert that ticks equal their snapshots; queries use times, since ticks may be dropped meanwhile."""
        last = self.record.ticks - 2
        known = [k for k in range(last - RING, last + 1) if k in self.record.snapshots]
        ticks = self.rng.choice(known, 4)
        states = [self.record.snapshots.get(int(k)) for k in ticks]
        kept = [(int(k), state) for k, state in zip(ticks, states, strict=True) if state is not None]
        moments = [
            Moment(k / 64, slice(i * SHOTS, (i + 1) * SHOTS), np.empty(0), cc.HitWorld(state.limbs))
            for i, (k, state) in enumerate(kept)
        ]
        volley = draw_volley(moments, SHOTS, self.rng)
        options = {"on_old": "miss", "threads": int(self.rng.integers(1, 3))}
        hits = history.cast_segments(volley.start, volley.end, volley.time, **options)
        fields = (*HIT, *(OF_BONES if history is self.record.histories[0] else OF_BONES[:2]))
        for moment, (k, state) in zip(moments, kept, strict=True):
            self.check(history, hits[moment.rows], k, moment.time, fields, state, volley.rows(moment.rows))

    def ask_times(self, history: PoseHistory) -> None:
        """Assert that times between ticks equal worlds of the limbs of that time."""
        for at in self.rng.uniform(*history.times[[0, -1]], 2).tolist():
            try:
                world = cc.HitWorld(history.limbs_at(at))
            except ValueError:
                assert at < history.times[0], (at, history)
                continue
            shots = draw_volley([Moment(at, slice(SHOTS), np.empty(0), world)], SHOTS, self.rng)
            hits, chords = (
                ask(shots.start, shots.end, shots.time, on_old="miss")
                for ask in (history.cast_segments, history.chords_segments)
            )
            if self.check(history, hits, int(np.floor(at * 64)), at, HIT, world, shots) and chords.tick[0] >= 0:
                want = world.chords_segments(shots.start, shots.end)
                found = ("limb", "entry_fraction", "exit_fraction")
                assert not differing(compressed(chords, found), compressed(want, found))
                self.seen["chords"] += len(want)

    def check(self, history: PoseHistory, hits, tick: int, at: float, fields, state, shots) -> bool:
        """Assert that a moment gives the answers of this state, or none if it was dropped."""
        if hits.tick[0] < 0:
            assert (hits.tick < 0).all()
            assert not hits.hit.any()
            assert at < history.times[0], (at, history)
            return False
        assert (hits.tick == tick).all(), (hits.tick, tick, at)
        want = columns(state.cast_segments(shots.start, shots.end), fields)
        assert not differing(columns(hits, fields), want), (history, at)
        self.seen["hits"] += int(want["hit"].sum())
        self.seen["answers"] += len(hits)
        return True


@pytest.mark.parametrize("seconds", [1.5, pytest.param(60.0, marks=[pytest.mark.long, pytest.mark.timeout(600)])])
def test_the_past_is_queried_while_recorded(seconds: float):
    """Until the ring was filled a few times and each thread had answers; a busy machine gets a minute more."""
    record = Record(Life(np.random.default_rng(4), make_crowd(8)))
    askers = [Checker(record, 1), Checker(record, 2)]

    def is_enough() -> bool:
        return record.ticks >= 4 * RING and all(asker.is_covered for asker in askers)

    with repeated(record.step, *(asker.ask for asker in askers)) as calls:
        wait(calls, seconds, FIRST_EXCEPTION)
        latest = time.monotonic() + 60.0
        while not is_enough() and not any(call.done() for call in calls) and time.monotonic() < latest:
            time.sleep(0.01)
    print(record.ticks, [asker.seen for asker in askers])
    assert is_enough()


class JudgingObserver:
    """At each new tick, another thread judges a shot at it; `order`: the notifications."""

    def __init__(self, history: cc.PoseHistory) -> None:
        self.order = list[str]()
        self.thread = threading.Thread(
            target=history.judge_segments, args=([0, -5, 0], [0, 5, 0], cc.Policy.first_surface(), 0.0)
        )

    def _admit(self, has_shots: bool) -> None:
        pass

    def _record_change(self, name: str, **_: object) -> None:
        self.thread.start()
        self.thread.join(0.2)
        self.order.append(name)

    def _record_shots(self, _: object) -> None:
        self.order.append("shots")


def test_a_call_at_a_tick_that_is_being_recorded_comes_after_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(observers, "LOCK_TIMEOUT", 60.0)
    history = cc.PoseHistory(cc.HitWorld(cc.Limbs.spheres([[0.0, 0, 0]], 1.0)))
    judging = JudgingObserver(history)
    history._recording.observers += (judging,)
    history.record(0.0)
    judging.thread.join()
    assert judging.order == ["record", "shots"]
