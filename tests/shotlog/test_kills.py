"""A killed server leaves every acknowledged tick on disk, and every logged shot is judged again identically."""

import json
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support import logging_server

import cylcollide as cc

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
