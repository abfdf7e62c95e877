"""Calls of ShotLog: hooked objects, notes, ticks, a full queue, errors of the writer, threads."""

import copy
import gc
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable
from functools import partial
from inspect import signature
from pathlib import Path

import numpy as np
import pytest
from support.beside import repeated
from support.logging_server import POLICY, Match
from support.package import output_of

import cylcollide as cc

START, END = [0.0, -5.0, 0.0], [0.0, 5.0, 0.0]
FIRST = cc.Policy.first_surface()


def ball_world() -> cc.HitWorld:
    return cc.HitWorld(cc.Limbs.spheres([[0.0, 0, 0]], 1.0))


def move(world: cc.HitWorld, x: float) -> None:
    world.set_endpoints([[x, 0, 0]], [[x, 0, 0]])


def wait_while(is_so: Callable[[], object]) -> None:
    while is_so():
        time.sleep(0.001)


def rejudged(path: Path) -> int:
    """Number of shots in the log; asserts that rejudging all of them changes nothing."""
    with cc.ShotLog.open(path) as log:
        again = log.rejudge()
        assert again.identical, again
        assert again.shots == len(log)
        return len(log)


def test_a_log_without_a_history_ends_ticks_by_itself(tmp_path: Path):
    world = ball_world()
    with cc.ShotLog(tmp_path / "log", world) as log:
        assert log.acknowledged == -1
        world.judge_rays(START, [0, 1, 0], FIRST)
        for number in range(5):
            move(world, 0.5 * number)
            assert log.tick(number / 2) == number
            world.judge_rays(START, [0, 1, 0], FIRST)
        with pytest.raises(ValueError, match="time: expected more than 2"):
            log.tick(2.0)
    assert log.acknowledged == 4
    with cc.ShotLog.open(tmp_path / "log") as read:
        assert read.times.tolist() == [0.0, 0.5, 1.0, 1.5, 2.0]
        assert [shot.tick for shot in read] == [-1, 0, 1, 2, 3, 4]
        assert [shot.hit for shot in read] == [True] * 4 + [False] * 2
        assert str(read.explain(5)).startswith("first_surface, energy 1: 0 limbs crossed, no hit")
        assert "miss: 1 beside" in str(read.explain(5))
    assert rejudged(tmp_path / "log") == 6


def test_a_note_belongs_to_the_next_call_of_its_thread(tmp_path: Path):
    world = ball_world()
    with cc.ShotLog(tmp_path / "log", world) as log:
        log.note({"player": "ann"})
        with pytest.raises(ValueError, match="starts: expected"):
            world.judge_segments("x", END, FIRST)
        world.judge_segments(START, END, FIRST)
        log.note({"player": "bob", "at": [0.25]})
        other = threading.Thread(target=world.judge_segments, args=(START, END, FIRST))
        other.start()
        other.join()
        world.judge_segments(START, END, FIRST)
        for wrong in ("ann", {"x": np.nan}, {"x": object()}):
            with pytest.raises(ValueError, match="note: expected"):
                log.note(wrong)  # type: ignore[arg-type]
    with cc.ShotLog.open(tmp_path / "log") as read:
        assert [shot.note for shot in read] == [None, None, {"player": "bob", "at": [0.25]}]


def test_copies_and_other_objects_are_not_logged(tmp_path: Path):
    match = Match(1)
    match.tick(0)
    with cc.ShotLog(tmp_path / "log", match.world, match.history):
        for other in (copy.copy(match.history), copy.deepcopy(match.history), cc.PoseHistory(match.world)):
            other.record(5.0)
            other.judge_segments(START, END, POLICY, time=5.0)
        match.world.snapshot().judge_segments(START, END, POLICY)
        copy.deepcopy(match.world).despawn(match.ids)
    match.tick(1)
    match.shoot()
    assert rejudged(tmp_path / "log") == 0


def test_bad_arguments_leave_no_file(tmp_path: Path):
    world, path = ball_world(), tmp_path / "log"
    for arguments, options in (
        ((None,), {}), ((world, 1), {}), ((world, cc.PoseHistory(ball_world())), {}), ((world,), {"queue": 0}),
        ((world,), {"synchronous": "off"}), ((world,), {"when_full": "?"}), ((world,), {"queue": 1.5}),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="expected"):
            cc.ShotLog(path, *arguments, **options)
    path.write_text("kept")
    with pytest.raises(FileExistsError, match="expected a new file"):
        cc.ShotLog(path, world)
    assert path.read_text() == "kept"
    with pytest.raises(OSError, match="none"):
        cc.ShotLog(tmp_path / "none" / "log", world)
    with pytest.raises(ValueError, match=r"call history\.record"):
        cc.ShotLog(tmp_path / "new", world, cc.PoseHistory(world)).tick(0.0)
    with pytest.raises(OSError, match="none"):
        cc.ShotLog.open(tmp_path / "none")


class Stopped:
    """A connection that waits before each commit, or fails."""

    def __init__(self, file: sqlite3.Connection, error: Exception | None = None) -> None:
        self.file, self.error, self.goes_on, self.waits = file, error, threading.Event(), threading.Event()

    def execute(self, command: str, *arguments):
        if command == "COMMIT":
            if self.error is not None:
                raise self.error
            self.waits.set()
            self.goes_on.wait()
        return self.file.execute(command, *arguments)

    def __getattr__(self, name: str):
        return getattr(self.file, name)


def blocked_log(path: Path, match: Match, error: Exception | None = None, **options) -> tuple[cc.ShotLog, Stopped]:
    log = cc.ShotLog(path, match.world, match.history, **options)
    log._writer._file = stopped = Stopped(log._writer._file, error)
    return log, stopped


def test_a_full_queue_raises_before_any_effect(tmp_path: Path):
    match = Match(2)
    log, stopped = blocked_log(tmp_path / "log", match, queue=3)
    match.tick(0)
    assert stopped.waits.wait(60)  # the writer holds this tick and takes no further one from the queue

    def play() -> None:
        for number in range(1, 100):
            match.tick(number)
            match.shoot()

    with pytest.raises(RuntimeError, match="ShotLog: expected fewer than 3 ticks in the queue"):
        play()
    there, limbs = match.history.ticks[-1], match.world.limbs
    with pytest.raises(RuntimeError, match="when_full='wait'"):
        match.tick(100)
    with pytest.raises(RuntimeError, match="when_full='wait'"):
        match.shoot()
    assert match.world.limbs == limbs
    assert match.history.ticks[-1] == there < 10
    stopped.goes_on.set()
    log.close()
    assert log.acknowledged == there
    match.tick(101)
    rejudged(tmp_path / "log")


def test_a_full_queue_waits(tmp_path: Path):
    match = Match(3)
    log, stopped = blocked_log(tmp_path / "log", match, queue=2, when_full="wait")
    threading.Timer(0.1, stopped.goes_on.set).start()
    for number in range(12):
        match.tick(number)
    assert stopped.goes_on.is_set()
    log.close()
    assert (log.acknowledged, log.gaps) == (11, 0)


def test_a_full_queue_drops_ticks_then_logs_a_whole_state(tmp_path: Path):
    match = Match(4)
    log, stopped = blocked_log(tmp_path / "log", match, queue=2, when_full="drop")
    match.tick(0)
    assert stopped.waits.wait(60)
    for number in range(1, 20):
        match.tick(number)
        match.shoot()
    assert log.gaps > 20
    gaps = log.gaps
    stopped.goes_on.set()
    wait_while(lambda: log._writer.ticks_waiting)
    match.shoot()  # at ticks that the log does not have
    for number in range(20, 30):
        match.tick(number)
        match.shoot()
        wait_while(lambda: log._writer.ticks_waiting)
    assert log.gaps == gaps + 1
    log.close()
    with cc.ShotLog.open(tmp_path / "log") as read:
        assert 12 < len(read.ticks) < 20
        assert read.ticks[-10:].tolist() == list(range(20, 30))
        assert [shot.tick for shot in read][-20:] == [number for number in range(20, 30) for _ in range(2)]
    assert rejudged(tmp_path / "log") > 20


def test_an_error_of_the_writer_is_raised_by_the_next_calls(tmp_path: Path):
    match, error = Match(5), sqlite3.OperationalError("disk is full")
    log, _ = blocked_log(tmp_path / "log", match, error)
    match.tick(0)
    wait_while(lambda: log._writer.error is None)
    limbs = match.world.limbs
    for call in (lambda: match.tick(1), match.shoot, lambda: match.world.spawn(match.rig)):
        with pytest.raises(sqlite3.OperationalError, match="disk is full"):
            call()
    assert match.world.limbs == limbs
    log.close()
    match.tick(1)
    silent, _ = blocked_log(tmp_path / "other", match, error)
    match.tick(2)
    with pytest.raises(sqlite3.OperationalError, match="disk is full"):
        silent.close()


def test_an_interrupted_change_is_followed_by_a_whole_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    match = Match(6)
    with cc.ShotLog(tmp_path / "log", match.world, match.history) as log:
        match.tick(0)
        tell = log._record_change

        def interrupted(*_: object, **__: object) -> None:
            monkeypatch.setattr(log, "_record_change", tell)
            raise KeyboardInterrupt

        monkeypatch.setattr(log, "_record_change", interrupted)
        with pytest.raises(KeyboardInterrupt):
            match.tick(1)  # moves the limbs, but the log misses the change
        match.history.record(2.0)
        match.shoot(8)
        match.world.judge_rays(START, END, POLICY)
    assert rejudged(tmp_path / "log") == 9


def test_threads_judge_while_another_one_moves_and_records(tmp_path: Path):
    match = Match(7)
    match.tick(0)
    with cc.ShotLog(tmp_path / "log", match.world, match.history, when_full="wait") as log:

        def shoot(rng: np.random.Generator) -> None:
            start, end = rng.uniform(-3, 3, (2, 3, 3))
            log.note({"from": start[0].tolist()})
            match.world.judge_segments(start, end, POLICY)
            match.history.judge_segments(start, end, POLICY, time=match.history.times[-1], on_old="clamp")

        with repeated(*(partial(shoot, np.random.default_rng(seed)) for seed in range(2))):
            for number in range(1, 60):
                match.tick(number)
    assert rejudged(tmp_path / "log") > 20


def test_a_log_that_is_written_can_be_read(tmp_path: Path):
    match = Match(8)
    with cc.ShotLog(tmp_path / "log", match.world, match.history) as log:
        for number in range(5):
            match.tick(number)
            match.shoot()
        wait_while(lambda: log.acknowledged < 4)
        assert rejudged(tmp_path / "log") == 8
    assert sorted(file.name for file in tmp_path.iterdir()) == ["log"]


def test_objects_removed_from_the_world_are_not_kept(tmp_path: Path):
    match, kept = Match(9), list[weakref.ref[object]]()
    with cc.ShotLog(tmp_path / "log", match.world, match.history) as log:
        for number in range(8):
            wall, rig = cc.Limbs.spheres([[0.0, 0, 0]], 1.0), cc.Rig.humanoid().scaled(2.0)
            kept += weakref.ref(wall), weakref.ref(rig)
            handle, ids = match.world.add_static(wall), match.world.spawn(rig)
            match.world.set_poses(ids, *rig.forward([0, 0, 1], [0, 0, 0, 1], rig.rest_orientations))
            match.tick(number)
            match.world.remove_static(handle)
            match.world.despawn(ids)
        wait_while(lambda: log.acknowledged < 7)
        gc.collect()
        assert sum(one() is not None for one in kept) <= 5  # the last wall, and rigs of kept ticks


def test_a_program_that_ends_without_closing_loses_nothing(tmp_path: Path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[2])\n"
        "from support.logging_server import Match; import cylcollide as cc\n"
        "match = Match(1); log = cc.ShotLog(sys.argv[1], match.world, match.history)\n"
        "for number in range(5): match.tick(number); match.shoot()"
    )
    tests = Path(__file__).parents[1]
    output_of("-c", code, tmp_path / "log", tests)
    assert rejudged(tmp_path / "log") == 10


KEPT = {
    "policy", "energy", "shot", "inside", "mask", "ignore_character", "max_distance", "time", "radius",
    "starts", "ends", "origins", "directions",
}  # fmt: skip
WHEN = {"tick", "alpha", "on_old", "protected_since"}


def test_every_argument_of_a_judged_call_is_kept():
    """A new argument must be added to `shotlog/shots.py`, too."""
    for kind in (cc.HitWorld, cc.PoseHistory):
        for name in ("judge_segments", "judge_rays"):
            assert set(signature(getattr(kind, name)).parameters) - KEPT - WHEN <= {"self", "threads"}
