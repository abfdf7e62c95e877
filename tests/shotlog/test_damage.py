"""Whatever is cut off or flipped in the files of a log: its first ticks are there as logged, or it is refused."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from support.logging_server import Match

import cylcollide as cc

TICKS = 30


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, list[tuple[int, str]]]:
    """A log that is still written, one that is closed, and the shots of both."""
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
    """How many ticks are there, None for a log that is refused; all that is there must be as it was logged."""
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


def cut_wal(logs, places: np.ndarray, folder: Path) -> list[int | None]:
    live, _, shots = logs
    path, wal, found = folder / "log", Path(f"{live}-wal").read_bytes(), []
    shutil.copy(live, path)
    for place in places.tolist():
        (folder / "log-wal").write_bytes(wal[:place])
        found.append(ticks_of(path, shots))
    return found


def check_wal(found: list[int | None]) -> None:
    """The less is cut off, the more is there."""
    counts = [-1 if one is None else one for one in found]
    assert counts == sorted(counts)
    assert counts[-1] == TICKS


def test_a_write_ahead_log_cut_anywhere_gives_whole_ticks(logs, tmp_path: Path):
    size = Path(f"{logs[0]}-wal").stat().st_size
    places = np.unique(np.linspace(0, size, 40).astype(int))
    check_wal(cut_wal(logs, places, tmp_path))


def spoil(logs, folder: Path, cuts: int, flips: int) -> tuple[int, int]:
    """Cut and flip; how many logs were refused, and how many had less ticks than were logged."""
    _, closed, shots = logs
    content, path = closed.read_bytes(), folder / "log"
    rng, found = np.random.default_rng(1), []
    for place in rng.integers(0, len(content), cuts).tolist():
        path.write_bytes(content[:place])
        found.append(ticks_of(path, shots))
    for place in rng.integers(0, 8 * len(content), flips).tolist():
        flipped = bytearray(content)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        found.append(ticks_of(path, shots))
    return found.count(None), sum(one is not None and one < TICKS for one in found)


def test_a_file_that_is_cut_or_flipped_has_no_wrong_shot(logs, tmp_path: Path):
    assert ticks_of(logs[1], logs[2]) == TICKS
    _, less = spoil(logs, tmp_path, 20, 40)
    assert less > 10


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_a_write_ahead_log_cut_at_each_byte(logs, tmp_path: Path):
    size = Path(f"{logs[0]}-wal").stat().st_size
    check_wal(cut_wal(logs, np.arange(max(size - 65536, 0), size + 1), tmp_path))


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_a_file_cut_and_flipped_at_2000_places(logs, tmp_path: Path):
    refused, less = spoil(logs, tmp_path, 1000, 1000)
    print(f"2,000 damaged files: {refused} refused, {less} with less ticks")
    assert less > 500
