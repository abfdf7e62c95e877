"""Logs of random lives, of calls whose arguments are overwritten later, and closed ones: judged again identically."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from gc import collect
from pathlib import Path
from typing import Any
from weakref import ref

import numpy as np
import pytest
from support.awkward_calls import END, PLACE, POLICY, ROWS, calls, history, world
from support.cases.everyday_worlds import make_crowd
from support.logged_life import LoggedLife
from support.logging_server import Match, logged

import cylcollide as cc
from cylcollide.shotlog import rejudged, shot_log


def lived(path: Path, seed: int, steps: int) -> LoggedLife:
    """Log a random life."""
    bare = make_crowd(3) if seed % 2 else cc.HitWorld().limbs
    life = LoggedLife(path, seed, bare)
    with life.log as log:
        for _ in range(steps):
            life.step()
    assert log.acknowledged == life.history.ticks[-1]
    assert log.gaps == 0
    return life


@pytest.mark.parametrize("seed", range(3))
def test_a_life_is_judged_again_identically(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shot_log, "STATE_EACH", 7)
    life = lived(tmp_path / "log", seed, 18)
    with cc.ShotLog.open(tmp_path / "log") as log:
        assert len(log) == len(life.answers) > 200
        assert log.ticks.tolist() == list(range(log.ticks[0], log.ticks[0] + 18))
        assert log.times[-1] == life.time
        again = log.rejudge()
        assert again.identical, again
        assert again.shots == len(log)
        assert [shot.limb for shot in log] == [limb for limb, _ in life.answers]
        for i in np.linspace(0, len(log) - 1, 12).astype(int).tolist():
            assert str(log.judged(i).explain(0)).partition(", ")[2] == life.answers[i][1]
            assert log[i].number == i
    assert sum(limb >= 0 for limb, _ in life.answers) > 20


def test_shots_are_judged_again_in_any_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A loop over all shots reads each page once; any other order of shots or spans, threads and an interrupt agree."""
    monkeypatch.setattr(shot_log, "STATE_EACH", 10)
    logged(tmp_path / "log", 50, 2)
    with cc.ShotLog.open(tmp_path / "log") as log:
        pages = list[int]()
        page_of = log._source.page
        monkeypatch.setattr(log._source, "page", lambda place: pages.append(place) or page_of(place))
        forward = [log.judged(i).limb.item() for i in range(len(log))]
        assert len(pages) <= len(log._pages) + sum(span.begin - span.first for span in log._spans)
        assert forward == [shot.limb for shot in log]
        assert len(log._spans) > 1
        some = np.random.default_rng(2).permutation(len(log))[:6].tolist()
        assert [log.judged(i).limb.item() for i in some] == [forward[i] for i in some]
        with ThreadPoolExecutor(4) as threads:
            assert list(threads.map(lambda i: log.explain(i).judged.limb.item(), some)) == [forward[i] for i in some]
        at = next(i for i in range(4, len(log), 2) if forward[i] != forward[i + 2])  # in another call than the next one
        log.judged(0)
        with monkeypatch.context() as patch:
            patch.setattr(rejudged, "judged_again", _interrupted)
            with pytest.raises(KeyboardInterrupt):
                log.judged(at)
        assert log.judged(at).limb.item() == forward[at]
        again = log.rejudge(run=lambda judge_span, spans: [judge_span(span) for span in reversed(spans)][::-1])
        assert again.identical, again
        assert again.shots == len(log)


def _interrupted(*_: Any) -> Any:
    raise KeyboardInterrupt


@pytest.mark.parametrize("form", [np.ndarray.copy, np.ndarray.tolist])
def test_calls_whose_arguments_are_overwritten_later(form: Callable[[Any], Any], tmp_path: Path):
    """A log holds nothing that the caller may still write: no array, list or mapping, and times only as float64."""
    several: dict[str, Any] = {"policy": [POLICY] * ROWS, "protected_since": {1: 0.5}}
    asked: list[tuple[Callable[..., Any], dict[str, Any]]] = [
        (one.call, {name: form(array) for name, array in one.arguments.items()})
        for one in calls().values()
        if one.function.startswith(("HitWorld.judge", "PoseHistory.judge"))
    ]
    asked.append((history().judge_segments, {"starts": PLACE, "ends": END, "time": Fraction(5, 2), **several}))
    past, present = tmp_path / "past", tmp_path / "present"
    with cc.ShotLog(past, history().world, history()), cc.ShotLog(present, world()):
        for judge, given in asked:
            judge(**given)
        for value in [value for _, given in asked[:-1] for value in given.values()] + [*several.values()]:
            value.clear() if hasattr(value, "clear") else value.fill(0)
    for path, rows in ((past, 5 * ROWS), (present, 2 * ROWS)):
        with cc.ShotLog.open(path) as log:
            assert log.rejudge().identical
            assert len(log) == rows
            assert path is present or [shot.time for shot in log][-ROWS:] == [2.5] * ROWS


def test_a_closed_log_takes_no_notes_and_ticks(tmp_path: Path):
    log = cc.ShotLog(tmp_path / "log", cc.HitWorld())
    assert log.tick(0.0) == 0
    log.close()
    log.close()
    for call in (lambda: log.note({"player": "ann"}), lambda: log.tick(1.0)):
        with pytest.raises(ValueError, match="expected an open ShotLog, got one that is closed; make another"):
            call()
    assert (log.acknowledged, log.gaps) == (0, 0)


def test_a_closed_log_that_was_read_answers_no_more(tmp_path: Path):
    match = Match(2)
    with cc.ShotLog(tmp_path / "log", match.world, match.history):
        match.tick(0)
        match.shoot()
    with cc.ShotLog.open(tmp_path / "log") as read:
        count = len(read)
        assert len(read.judged(0)) == 1
    assert (len(read), read.ticks.tolist()) == (count, [0])
    for call in (lambda: read[0], lambda: read.judged(0), lambda: read.explain(0), lambda: list(read)):
        with pytest.raises(ValueError, match=r"log: expected an open log, got one that is closed; open it again"):
            call()


def test_a_closed_log_is_forgotten_by_its_history(tmp_path: Path):
    """Also by one without a tick, whose length is 0."""
    history = cc.PoseHistory(cc.HitWorld())
    log = cc.ShotLog(tmp_path / "match.shots", history.world, history)
    known = ref(log)
    log.close()
    del log
    collect()
    assert known() is None
