"""Characters that are moved in the columns of the present state, and all that must keep it from being written."""

import copy
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle
from typing import Any

import numpy as np
import pytest
from support.character_life import all_shapes_rig, answers, check_equal
from support.check_cylinders import JIT

import cylcollide as cc
from cylcollide.constants import LIMBS_SHARED
from cylcollide.world import in_place
from cylcollide.world.in_place import MOVED, OUTSIDE, READ_ELSEWHERE, Stage
from cylcollide.world.pose_columns import PoseColumns

pytestmark = pytest.mark.skipif(not JIT, reason="plain Python is never written in place")
MANY = 40
EVERYWHERE = ([[-9.0, -9.0, -9.0]], [[9.0, 9.0, 9.0]])


class Crowd:
    """Characters within a fixed box around all limbs, whose corners are two that never move."""

    def __init__(self, rig: cc.Rig, count: int = MANY) -> None:
        self.rig, self.rng, self.world = rig, np.random.default_rng(count), cc.HitWorld()
        self.ids = self.world.spawn(rig, count)
        self.home = self.rng.uniform(-3, 3, (count, 3))  # near which each one stays: no other tree is due
        self.at, self.turn = self.pose(np.arange(count))
        self.at[0], self.at[1] = self.at[0] - 9.0, self.at[1] + 9.0
        for _ in range(2):  # the second time into columns that can be written
            self.world.set_poses(self.ids, self.at, self.turn)

    def pose(self, rows: Any) -> tuple[np.ndarray, np.ndarray]:
        turn = self.rig.rest_orientations + 0.2 * self.rng.normal(size=(len(rows), len(self.rig.bone_names), 4))
        return self.rig.forward(self.home[rows] + self.rng.uniform(-0.1, 0.1, (len(rows), 3)), [0, 0, 0, 1], turn)

    def move(self, *rows: int) -> None:
        """Other poses of characters that do not stand in the corners."""
        chosen = list(rows) or [int(self.rng.integers(2, len(self.ids)))]
        self.at[chosen], self.turn[chosen] = self.pose(chosen)
        self.world.set_poses(self.ids[chosen], self.at[chosen], self.turn[chosen])

    def limbs(self) -> cc.Limbs:
        """The limbs that the world must have."""
        return self.rig.place(self.at, self.turn, character=self.ids)


@contextmanager
def results() -> Iterator[list[int]]:
    """What `Stage.move` returns meanwhile."""
    seen: list[int] = []
    whole = Stage.move

    def spy(*arguments: Any) -> int:
        seen.append(whole(*arguments))
        return seen[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stage, "move", spy)
        yield seen


@pytest.mark.parametrize("rig", [cc.Rig.humanoid(), all_shapes_rig()], ids=["humanoid", "all shapes"])
def test_moves_are_in_place_and_have_the_bits_of_others(rig: cc.Rig):
    crowd = Crowd(rig)
    state = id(crowd.world.snapshot())
    with results() as seen:
        for k in range(1, 60):
            crowd.move(*(crowd.rng.permutation(MANY - 2)[: 1 + k % 5] + 2).tolist())
            _ = crowd.world.cast_segments(*EVERYWHERE).limb_name
    assert seen == [MOVED] * 59
    assert id(crowd.world.snapshot()) == state
    fresh, rays = cc.HitWorld(crowd.limbs()), (crowd.rng.uniform(-4, 4, (500, 3)), crowd.rng.uniform(-4, 4, (500, 3)))
    assert check_equal(answers(crowd.world, rays, {}), answers(fresh, rays, {})) > 50
    assert crowd.world.limbs == fresh.limbs
    positions, orientations = crowd.world.snapshot().columns[4:6]
    assert positions.tobytes() == crowd.at.tobytes()
    assert orientations.tobytes() == crowd.turn.tobytes()


def numbers_of(held: Any) -> list[bytes]:
    """All numbers that an object of a state holds."""
    if isinstance(held, tuple | list):
        return [number for part in held for number in numbers_of(part)]
    if isinstance(held, cc.Snapshot):
        return numbers_of([held.table, held.columns, held.tree])
    if isinstance(held, cc.HitWorld):
        return numbers_of(held.snapshot())
    if isinstance(held, cc.PoseHistory):
        return numbers_of(held.limbs_at(0.0).table)
    if hasattr(held, "fraction"):
        return numbers_of([held.fraction, held.position, held.local_position])
    if hasattr(held, "entry_position"):
        return numbers_of([held.entry_position, held.local_position])
    if hasattr(held, "axis_distance_squared"):
        return numbers_of([held.axis_distance_squared])
    return [np.asarray(held).tobytes()] if held is not None else []


def recorded(world: cc.HitWorld) -> cc.PoseHistory:
    history = cc.PoseHistory(world)
    history.record(0.0)
    return history


HOLDERS: dict[str, Callable[[cc.HitWorld], Any]] = {
    "snapshot": lambda w: w.snapshot(),
    "hits": lambda w: w.cast_segments(*np.repeat(EVERYWHERE, 300, axis=1)),
    "few hits": lambda w: w.cast_segments(*EVERYWHERE),
    "part of hits": lambda w: w.cast_segments(*np.repeat(EVERYWHERE, 300, axis=1))[5:9],
    "chords": lambda w: w.chords_segments(*EVERYWHERE),
    "points": lambda w: w.contains_points(np.zeros((3, 3))),
    "limbs": lambda w: w.limbs.table,
    "one limb": lambda w: w.limbs[40:].table,
    "table": lambda w: w.snapshot().table,
    "columns": lambda w: w.snapshot().columns,
    "tree": lambda w: w.snapshot().tree,
    "kernel rows": lambda w: w.snapshot().kernel_rows,
    "labels": lambda w: w.snapshot().labels[-2:],
    "slice of a column": lambda w: w.snapshot().table.p1[30:50, 1],
    "slice of bounds": lambda w: w.snapshot().tree.bounds[:, 3],
    "memory": lambda w: memoryview(w.snapshot().table.p2),
    "copy of the world": copy.copy,
    "history": recorded,
    **{name: lambda w, name=name: getattr(w.snapshot().columns, name) for name in PoseColumns._fields},
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_what_is_held_keeps_its_numbers(holder: str):
    """What is computed of an answer when it is asked for, too."""
    crowd = Crowd(all_shapes_rig())
    before = numbers_of(HOLDERS[holder](crowd.world))
    held = HOLDERS[holder](crowd.world)
    assert before
    for k in range(2, MANY):
        crowd.move(k)
    assert numbers_of(held) == before
    del held
    crowd.move()
    with results() as seen:
        crowd.move()
    assert seen == [MOVED]
    assert crowd.world.limbs == crowd.limbs()


def test_each_kind_of_holding_is_counted():
    """But for a history and points, which may hold copies of their own, the move after it is not in place.

    What holds the state itself is seen before the move is tried.
    """
    for holder, hold in HOLDERS.items():
        crowd = Crowd(cc.Rig.humanoid())
        held = hold(crowd.world)
        with results() as seen:
            crowd.move()
        holds_all = holder in ("snapshot", "hits", "few hits", "part of hits", "chords", "copy of the world")
        assert seen == [READ_ELSEWHERE][holds_all:] or holder in ("history", "points"), holder
        del held


def test_a_spare_that_was_left_behind_catches_up():
    """Moves in place, and moves into other columns, which must learn of those before."""
    crowd = Crowd(cc.Rig.humanoid())
    kinds = set()
    for step in range(80):
        with results() as seen:
            held = crowd.world.snapshot().table if crowd.rng.random() < 0.4 else None
            crowd.move(*(crowd.rng.permutation(MANY - 2)[: 1 + step % 3] + 2).tolist())
        kinds |= set(seen)
        del held
        if step % 7 == 0:
            assert np.array_equal(crowd.world.snapshot().table.p1, crowd.limbs().p1)
    assert kinds == {MOVED, READ_ELSEWHERE}
    assert crowd.world.limbs == crowd.limbs()


def test_of_a_spare_no_more_is_remembered_than_all_characters():
    crowd = Crowd(cc.Rig.humanoid())
    held = crowd.world.snapshot().table
    crowd.move()  # into other columns: those that are held are the spare ones
    del held
    with results() as seen:
        for _ in range(3 * MANY):
            crowd.move()
    assert set(seen) == {MOVED}
    assert len(crowd.world._spare.moved) <= MANY + 1


def test_what_leaves_the_box_around_all_limbs_is_found_there():
    crowd = Crowd(cc.Rig.humanoid())
    with results() as seen:
        crowd.at[5] += 30.0
        crowd.world.set_poses(crowd.ids[5], crowd.at[5], crowd.turn[5])
        crowd.move(6)
    assert seen == [OUTSIDE, MOVED]
    start = crowd.limbs().p1[17 * 5] + [0.0, 0.0, 5.0]
    assert crowd.world.cast_rays([start], [[0, 0, -1]]).character[0] == crowd.ids[5]


@pytest.mark.parametrize("row", [0, 2])
def test_a_bad_pose_changes_nothing(row: int):
    crowd = Crowd(cc.Rig.humanoid())
    crowd.move(3)
    before = numbers_of(copy.deepcopy(crowd.world).snapshot().columns[:6])
    at, turn = crowd.pose([9, 8, 7])
    turn[row, 4] = np.nan
    with pytest.raises(ValueError, match=rf"for bone 4 \('head'\) in row {row} \(character {crowd.ids[9 - row]}\);"):
        crowd.world.set_poses(crowd.ids[[9, 8, 7]], at, turn)
    assert numbers_of(crowd.world.snapshot().columns[:6]) == before
    assert crowd.world.limbs == crowd.limbs()


def test_many_limbs_several_rigs_and_teleports_are_not_moved_in_place():
    crowd = Crowd(cc.Rig.humanoid(), LIMBS_SHARED // 17 + 3)
    other = cc.Rig.humanoid(1.2)
    more = crowd.world.spawn(other)
    for _ in range(3):
        crowd.world.set_poses(more, crowd.at[3], crowd.turn[3])
    with results() as seen:
        crowd.move(*range(2, len(crowd.ids)))
        crowd.world.set_poses([crowd.ids[2], more[0]], crowd.at[2:4], crowd.turn[2:4])
        crowd.world.set_poses(crowd.ids[4], crowd.at[4], crowd.turn[4], teleport=True)
    assert seen == []
    both = cc.Limbs.concat([crowd.limbs(), other.place(crowd.at[3], crowd.turn[3], character=more)])
    assert crowd.world.limbs == both


def test_where_counts_cannot_be_told_nothing_is_written_in_place(monkeypatch: pytest.MonkeyPatch):
    crowd = Crowd(cc.Rig.humanoid())
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    in_place._can_be_told.cache_clear()
    try:
        with results() as seen:
            crowd.move()
        assert seen == [READ_ELSEWHERE]
    finally:
        monkeypatch.undo()
        in_place._can_be_told.cache_clear()
    assert crowd.world.limbs == crowd.limbs()


def check_threads(enough: int, seconds: float) -> None:
    """Two threads read while one moves, until enough moves were in place and enough were not.

    In state k all limbs of the last characters stand k steps from where they began: a state that is written while it is
    read has limbs of several, or others later.
    """
    crowd = Crowd(cc.Rig.humanoid())
    count, ended, reads, errors, pauses = 3, threading.Event(), [], [], cycle((0, 1, 5))
    place = crowd.at[-count:].copy()
    crowd.world.set_poses(crowd.ids[-count:], place, crowd.turn[-count:])
    origin = crowd.world.limbs.p1[-17 * count :].copy()

    def read() -> None:
        try:
            while not ended.is_set():
                state = crowd.world.snapshot()
                first = state.table.p1[-17 * count :].copy()
                steps = first[:, 2] - origin[:, 2]
                assert np.ptp(steps) < 1e-9, steps
                time.sleep(next(pauses) * 1e-4)
                assert np.array_equal(state.table.p1[-17 * count :], first)
                reads.append(steps[0])
                del state, first
                time.sleep(1e-3)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=read) for _ in range(2)]
    before, latest, step, moves = sys.getswitchinterval(), time.monotonic() + seconds, 0, 0
    sys.setswitchinterval(1e-4)
    try:
        with results() as seen:
            for thread in threads:
                thread.start()
            while (
                not errors and min(seen.count(MOVED), moves - seen.count(MOVED)) < enough and time.monotonic() < latest
            ):
                step, moves = (step + 1) % 64, moves + 1
                crowd.world.set_poses(crowd.ids[-count:], place + np.array([0.0, 0.0, step / 64]), crowd.turn[-count:])
    finally:
        sys.setswitchinterval(before)
        ended.set()
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]
    assert min(seen.count(MOVED), moves - seen.count(MOVED)) >= enough
    assert len(set(reads)) > min(enough / 4, 60)


@pytest.mark.parametrize("enough", [10, pytest.param(20_000, marks=pytest.mark.long)])
def test_threads_read_whole_states(enough: int):
    check_threads(enough, 20.0 + enough / 100)
