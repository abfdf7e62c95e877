"""Logs that are closed: what they still answer, and what they refuse."""

from pathlib import Path

import pytest
from support.logging_server import Match

import cylcollide as cc


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
