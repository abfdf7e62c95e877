"""Moves in place, observed at any moment by threads, forks, signal handlers and interrupts."""

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import cycle
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest
from support.beside import repeated
from support.character_life import all_shapes_rig
from support.moves_in_place import EVERYWHERE, HOLDERS, MANY, Crowd, numbers_of, results
from support.package import output_of

import cylcollide as cc
from cylcollide.runtime.levels import MACHINE_CODE
from cylcollide.world.in_place import MOVED, READ_ELSEWHERE

pytestmark = pytest.mark.skipif(MACHINE_CODE is None, reason="plain Python is never written in place")


def test_kept_arrays_stay_as_characters_come_move_and_go():
    """Arrays of many states, held for a while by this thread and by another one."""
    crowd, rig, kept, passed = Crowd(all_shapes_rig()), all_shapes_rig(), [], SimpleQueue[Any]()
    names, errors = [*HOLDERS], []

    def other() -> None:
        while (pair := passed.get()) is not None:
            time.sleep(1e-4)
            if numbers_of(pair[0]) != pair[1]:
                errors.append(pair)

    thread = threading.Thread(target=other)
    thread.start()
    with results() as seen:
        for step in range(300):
            if step % 3 == 0:
                held = HOLDERS[names[crowd.rng.integers(len(names))]](crowd.world)
                kept.append((held, numbers_of(held)))
                if step % 2:
                    passed.put(kept.pop())
                del held
            crowd.move(*(crowd.rng.permutation(MANY - 2)[: 1 + step % 3] + 2).tolist())
            if step % 10 == 0:
                more = crowd.world.spawn(rig, 2)
                crowd.world.set_poses(more, crowd.at[:2], crowd.turn[:2])
                crowd.world.set_layers(more, step)
            if step % 10 == 5:
                crowd.world.despawn(more)
            if len(kept) > 8:
                thing, numbers = kept.pop(int(crowd.rng.integers(9)))
                assert numbers_of(thing) == numbers
                del thing
    passed.put(None)
    thread.join()
    assert not errors
    assert min(map(seen.count, (MOVED, READ_ELSEWHERE))) > 20
    crowd.world.despawn(np.setdiff1d(crowd.world.characters, crowd.ids))
    assert crowd.world.limbs == crowd.limbs()


class Trace:
    """A trace function that calls `act` once, before bytecode number `due` within the world's lock."""

    files = ("present.py", "hit_world.py", "pose_columns.py", "memory.py", "in_place.py", "snapshot.py")

    def __init__(self, due: int, act: Callable[[], Any]) -> None:
        self.due, self.act, self.seen, self.found = due, act, 0, []

    def __call__(self, frame: Any, event: str, _: Any) -> Any:
        code = frame.f_code
        frame.f_trace_opcodes = code.co_filename.endswith(self.files) and code.co_name != "_pose"
        if event == "opcode":
            self.seen += 1
            if self.seen == self.due:
                self.found.append(self.act())
        return self


def check_every_bytecode(act: Callable[[Crowd], Any], check: Callable[[Crowd, list[Any]], None]) -> int:
    """Call `act` once before each bytecode of a move in place; returns their number.

    Signal handlers run before some bytecodes.
    """
    crowd = Crowd(cc.Rig.humanoid())
    (first, first_turn), (last, last_turn) = (crowd.pose([7]) for _ in range(2))
    for due in range(1, 100_000):
        crowd.world.set_poses(crowd.ids[7], first[0], first_turn[0])
        trace, before = Trace(due, lambda: act(crowd)), sys.gettrace()
        sys._getframe().f_trace_opcodes = True  # without this CPython 3.12 sends no opcode events
        sys.settrace(trace)
        try:
            with suppress(KeyboardInterrupt):
                crowd.world.set_poses(crowd.ids[7], last[0], last_turn[0])
        finally:
            sys.settrace(before)
        crowd.at[7], crowd.turn[7] = last[0], last_turn[0]
        check(crowd, trace.found)
        if trace.seen < due:
            return due
    raise AssertionError("no end")


def test_results_kept_by_a_signal_handler_stay():
    """Any result, at any moment of a move, belongs to the state before or after it, and stays so."""
    kinds = set()

    def act(crowd: Crowd) -> Any:
        held = crowd.world.snapshot()._table.p1
        return held, held.tobytes(), crowd.world.occluded_segments(*EVERYWHERE)

    def check(crowd: Crowd, found: list[Any]) -> None:
        now = crowd.limbs()
        assert crowd.world.limbs == now
        for held, numbers, _ in found:
            assert held.tobytes() == numbers
            kinds.add(numbers == now.p1.tobytes())

    assert check_every_bytecode(act, check) > 200
    assert kinds == {False, True}


def test_an_interrupt_leaves_a_whole_move_or_nothing():
    kinds = set()

    def act(_: Crowd) -> None:
        raise KeyboardInterrupt

    def check(crowd: Crowd, _: list[Any]) -> None:
        is_new = np.array_equal(crowd.world.limbs.p1, crowd.limbs().p1)
        kinds.add(is_new)
        if is_new:
            assert crowd.world.limbs == crowd.limbs()
        else:
            assert np.count_nonzero((crowd.world.limbs.p1 != crowd.limbs().p1).any(axis=1)) == 17
        crowd.move(9)

    assert check_every_bytecode(act, check) > 200
    assert kinds == {False, True}


def check_threads(enough: int, seconds: float) -> None:
    """Two threads read while one moves, until enough moves were in place and enough were not.

    In state k all limbs of the last characters stand k steps from their origin: a state that is written while it is
    read mixes several steps, or changes later.
    """
    crowd = Crowd(cc.Rig.humanoid())
    count, reads, pauses = 3, [], cycle((0, 1, 5))
    place = crowd.at[-count:].copy()
    crowd.world.set_poses(crowd.ids[-count:], place, crowd.turn[-count:])
    origin = crowd.world.limbs.p1[-17 * count :].copy()

    def read() -> None:
        state = crowd.world.snapshot()
        first = state._table.p1[-17 * count :].copy()
        steps = first[:, 2] - origin[:, 2]
        assert np.ptp(steps) < 1e-9, steps
        time.sleep(next(pauses) * 1e-4)
        assert np.array_equal(state._table.p1[-17 * count :], first)
        reads.append(steps[0])
        del state, first
        time.sleep(1e-3)

    before, latest, step, moves = sys.getswitchinterval(), time.monotonic() + seconds, 0, 0
    sys.setswitchinterval(1e-4)
    try:
        with results() as seen, repeated(read, read):
            while min(seen.count(MOVED), moves - seen.count(MOVED)) < enough and time.monotonic() < latest:
                step, moves = (step + 1) % 64, moves + 1
                crowd.world.set_poses(crowd.ids[-count:], place + np.array([0.0, 0.0, step / 64]), crowd.turn[-count:])
    finally:
        sys.setswitchinterval(before)
    assert min(seen.count(MOVED), moves - seen.count(MOVED)) >= enough
    assert len(set(reads)) > min(enough / 4, 60)


@pytest.mark.parametrize("enough", [10, pytest.param(20_000, marks=pytest.mark.long)])
def test_threads_read_whole_states(enough: int):
    check_threads(enough, 20.0 + enough / 100)


FORKS = """
import os, threading, time, warnings
import numpy as np
import cylcollide as cc

warnings.simplefilter("ignore")  # Python's, of forks beside threads
rig, world, rng = cc.Rig.humanoid(), cc.HitWorld(), np.random.default_rng(1)
ids, some, limbs = world.spawn(rig, 400), slice(100, 180), slice(1700, 3060)
at, turn = rig.forward(rng.uniform(-5, 5, (400, 3)), [0, 0, 0, 1], rig.rest_orientations)
for _ in range(2):
    world.set_poses(ids, at, turn)
origin, ended = world.limbs.p1[limbs].copy(), []

def move():
    step = 0
    while not ended:
        step = (step + 1) % 16
        world.set_poses(ids[some], at[some] + [0, 0, step / 16], turn[some])

thread = threading.Thread(target=move)
thread.start()
seen = set()
for _ in range(30):
    time.sleep(0.001 * rng.random())
    child = os.fork()
    if child == 0:
        steps = 16 * (world.limbs.p1[limbs, 2] - origin[:, 2])
        os._exit(round(steps[0]) if np.ptp(steps) < 1e-6 else 99)
    seen.add(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
ended.append(True)
thread.join()
print(len(seen), max(seen))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs forks")
def test_a_fork_while_another_thread_moves_has_a_whole_state():
    """In state k all limbs of some characters stand k steps from their origin."""
    different, largest = map(int, output_of("-c", FORKS).split())
    assert different > 4
    assert largest < 16
