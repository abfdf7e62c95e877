"""Logs of killed servers have every acknowledged tick; cut or flipped files are refused, or give their first ticks.

What they give is exactly as logged, and is judged again identically.
"""

import json
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from support import logging_server
from support.logging_server import Match

import cylcollide as cc

TICKS = 30


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, list[tuple[int, str]]]:
    """A log that is still being written, a closed one, and the shots of both."""
    folder = tmp_path_factory.mktemp("logs")
    match = Match(5)
    closed, live = folder / "closed", folder / "live"
    shots: list[tuple[int, str]] = []
    with cc.ShotLog(closed, match.world, match.history) as log:
        for number in range(TICKS):
            match.tick(number)
            log.note({"number": number})
            shots += [(limb, f"{number}") for limb in match.shoot()]
        while log.acknowledged < TICKS - 1:
            pass
        for ending in ("", "-wal"):
            shutil.copy(f"{closed}{ending}", f"{live}{ending}")
    return live, closed, shots


def ticks_of(path: Path, shots: list[tuple[int, str]]) -> int | None:
    """Number of ticks in the log, None if it is refused; asserts that its content is as logged."""
    before = [file.stat().st_mtime_ns for file in sorted(path.parent.iterdir())]
    try:
        log = cc.ShotLog.open(path)
    except ValueError as error:
        refused = str(error)
    else:
        refused = ""
    if refused:
        assert "\n" not in refused
        assert refused.startswith(str(path))
        return None
    with log:
        ticks = log.ticks.tolist()
        assert ticks == list(range(len(ticks)))
        known = [(shot.limb, str(shot.note["number"])) for shot in log]
        assert known == shots[: len(known)]
        assert len(known) in (2 * max(len(ticks) - 1, 0), 2 * len(ticks))
    assert [file.stat().st_mtime_ns for file in sorted(path.parent.iterdir())] == before
    return len(ticks)


LONG = [pytest.mark.long, pytest.mark.timeout(7200)]


@pytest.mark.parametrize("places", [40, pytest.param(None, marks=LONG)])
def test_a_write_ahead_log_cut_anywhere_gives_whole_ticks(logs, tmp_path: Path, places: int | None):
    """Cut at some places, or at each of the last 65,536 bytes: a later cut never loses more ticks."""
    live, _, shots = logs
    path, wal, counts = tmp_path / "log", Path(f"{live}-wal").read_bytes(), []
    shutil.copy(live, path)
    begin = 0 if places else max(len(wal) - 65536, 0)
    for place in np.unique(np.linspace(begin, len(wal), places or 65537, dtype=int)):
        (tmp_path / "log-wal").write_bytes(wal[:place])
        found = ticks_of(path, shots)
        counts.append(-1 if found is None else found)
    assert counts == sorted(counts)
    assert counts[-1] == TICKS


@pytest.mark.parametrize(("cuts", "flips"), [(20, 40), pytest.param(1000, 1000, marks=LONG)])
def test_a_file_that_is_cut_or_flipped_has_no_wrong_shot(logs, tmp_path: Path, cuts: int, flips: int):
    _, closed, shots = logs
    assert ticks_of(closed, shots) == TICKS
    content, path = closed.read_bytes(), tmp_path / "log"
    rng, found = np.random.default_rng(1), []
    for place in rng.integers(0, len(content), cuts).tolist():
        path.write_bytes(content[:place])
        found.append(ticks_of(path, shots))
    for place in rng.integers(0, 8 * len(content), flips).tolist():
        flipped = bytearray(content)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        found.append(ticks_of(path, shots))
    assert sum(one is not None and one < TICKS for one in found) > (cuts + flips) // 4


# Killed servers -------------------------------------------------------------------------------------------------------

KILLS = 2
"""One in the middle of a transaction, one at any moment."""


def kill(folder: Path, seed: int) -> tuple[int, int]:
    """Kill a server while it logs; return the last acknowledged tick and the number of ticks on disk."""
    folder.mkdir()
    rng, log, expected = random.Random(seed), folder / "log", folder / "expected"
    in_transaction = seed % 2 == 0
    fatal = rng.randrange(200) if in_transaction else -1
    server = subprocess.Popen([sys.executable, logging_server.__file__, log, expected, str(seed), str(fatal)])
    if not in_transaction:
        while not expected.exists():
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.4))
        server.kill()
    assert server.wait(60) == -9
    lines = expected.read_text().splitlines(keepends=True)
    said = [json.loads(line) for line in lines if line.endswith("\n")]
    acknowledged = max((tick for tick, _ in said), default=-1)
    with cc.ShotLog.open(log) as logged:
        ticks, limbs = logged.ticks.tolist(), [shot.limb for shot in logged]
        assert ticks == list(range(len(ticks)))
        assert len(ticks) > acknowledged
        known = [limb for _, shots in said for limb in shots]
        assert limbs[: len(known)] == known[: len(limbs)]
        assert len(limbs) == 2 * max(len(ticks) - 1, 0)
        again = logged.rejudge()
        assert again.identical, again
    copy = folder / "copy"
    copy.mkdir()
    for file in folder.glob("log*"):
        shutil.copy(file, copy)
    with sqlite3.connect(copy / "log") as file:
        assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    file.close()
    return acknowledged, len(ticks)


@pytest.mark.parametrize("kills", [KILLS, pytest.param(500, marks=[pytest.mark.long, pytest.mark.timeout(3600)])])
def test_acknowledged_ticks_survive_kills(tmp_path: Path, kills: int):
    counts = [kill(tmp_path / str(seed), seed) for seed in range(kills)]
    print(f"{kills} kills, {sum(ticks for _, ticks in counts):,} ticks there, all of the acknowledged ones")
    assert max(acknowledged for acknowledged, _ in counts) > 3
