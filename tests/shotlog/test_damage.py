"""A log with cut files or flipped bits either is refused, or gives its first ticks exactly as logged."""

import shutil
from pathlib import Path

import numpy as np
import pytest
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
