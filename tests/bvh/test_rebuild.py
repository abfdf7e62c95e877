"""A tree that no longer fits is rebuilt: few limbs at once, many by a thread, even if that thread fails."""

import os
import signal
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import shots_at
from support.cases.everyday_worlds import leap, make_crowd
from support.check_cylinders import same_bits, sized
from support.package import output_of

import cylcollide as cc
from cylcollide.bvh.refit import tree_cost
from cylcollide.process import tasks
from cylcollide.world import hit_world, snapshot

Array = np.ndarray
WAIT = 60.0  # seconds; only reached if something is broken


class Held:
    """Replaces the build: in a thread of its own it waits for `free`, then builds, or raises `error`."""

    def __init__(self, build: Callable[[Array, Array], object]) -> None:
        self.build, self.begun, self.free = build, threading.Semaphore(0), threading.Semaphore(0)
        self.error: BaseException | None = None

    def __call__(self, low: Array, high: Array) -> object:
        if isinstance(threading.current_thread(), threading._DummyThread):  # the thread of a `Task`
            self.begun.release()
            assert self.free.acquire(timeout=WAIT)
            if self.error:
                raise self.error
        return self.build(low, high)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    """Worlds of any size are rebuilt by a thread, which waits for `free`."""
    held = Held(snapshot.build)
    monkeypatch.setattr(snapshot, "build", held)
    monkeypatch.setattr(hit_world, "REBUILT_AT_ONCE", 0)
    yield held
    for _ in range(99):
        held.free.release()
    for end in rebuilding():
        with end:
            pass
    assert not rebuilding(), "a thread is left over"


def rebuilding() -> list[threading.Lock]:
    return list(tasks._running)


def check_answers(world: cc.HitWorld, limbs: cc.Limbs) -> None:
    """Assert that the world answers as a fresh one."""
    fresh, (start, end) = cc.HitWorld(limbs), shots_at(limbs, sized(200))
    want = fresh.cast_segments(start, end)
    assert want.hit.any()
    assert not same_bits(want, world.cast_segments(start, end))
    assert world.occluded_segments(start, end).tolist() == want.hit.tolist()
    assert world.limbs == limbs


def same_tree(world: cc.HitWorld, limbs: cc.Limbs) -> bool:
    """Whether the world's tree has the same children in the same slots as a new one over the limbs."""
    return np.array_equal(world.snapshot()._tree.child, cc.HitWorld(limbs).snapshot()._tree.child)


def test_few_limbs_are_rebuilt_at_once(crowd: cc.Limbs):
    world = cc.HitWorld(crowd)
    limbs = leap(world, 1)
    assert not rebuilding()
    assert same_tree(world, limbs)
    check_answers(world, limbs)


def test_small_moves_and_moves_of_all_keep_the_tree(crowd: cc.Limbs):
    world = cc.HitWorld(crowd)
    tree = world.snapshot()._tree
    for by in (0.01, 1000.0):
        world.set_endpoints(crowd.p1 + by, crowd.p2 + by)
        assert world.snapshot()._tree.child is tree.child


@pytest.mark.parametrize("by", [0.125, 8.0])
def test_a_change_of_scale_causes_a_rebuild(by: float):
    """After limbs move closer together or apart, the cost of the tree when built is no reference."""
    limbs = make_crowd(200)
    wide = limbs.p1 * 16.0
    world = cc.HitWorld(limbs.moved(wide, wide + (limbs.p2 - limbs.p1)))
    tree = world.snapshot()._tree
    world.set_endpoints(wide * by, wide * by + (limbs.p2 - limbs.p1))
    assert world.snapshot()._tree.child is not tree.child


def test_an_outlier_does_not_cause_a_rebuild():
    """A limb moves far outside; the cost of the other limbs is that of the tree when built."""
    limbs = make_crowd(200)
    ends = limbs.p1.copy(), limbs.p2.copy()
    for end in ends:
        end[0] += 1e9
    world = cc.HitWorld(limbs.moved(*ends))
    tree = world.snapshot()._tree
    for by in (2e9, 1e12, 3e5):
        for end in ends:
            end[0] += by
        world.set_endpoints(*ends)
        assert world.snapshot()._tree.child is tree.child


def test_the_largest_world_and_back(crowd: cc.Limbs):
    """At 1e149 the tree is another, with finite areas; back at the start it equals the first one."""
    world = cc.HitWorld(crowd)
    world.set_endpoints(crowd.p1 * 1e149, crowd.p2 * 1e149)
    tree = world.snapshot()._tree
    assert np.isfinite(tree_cost(tree.bounds, tree.frame.scale))
    world.set_endpoints(crowd.p1, crowd.p2)
    assert world.snapshot()._tree.child is not tree.child
    assert same_tree(world, crowd)
    check_answers(world, crowd)


def test_an_update_does_not_wait_for_the_tree(crowd: cc.Limbs, held: Held):
    world = cc.HitWorld(crowd)
    tree = world.snapshot()._tree
    limbs = leap(world, 1)
    assert held.begun.acquire(timeout=WAIT)
    assert world.snapshot()._tree.child is tree.child
    check_answers(world, limbs)
    held.free.release()
    world.finish_rebuild()
    assert same_tree(world, limbs)
    check_answers(world, limbs)


def test_a_tree_finished_after_moves_is_refitted(crowd: cc.Limbs, held: Held):
    """It is refitted to the present limbs; nothing else is built meanwhile."""
    world = cc.HitWorld(crowd)
    asked = leap(world, 1)
    assert held.begun.acquire(timeout=WAIT)
    for k in range(1, 6):
        limbs = asked.moved(asked.p1 + 0.01 * k, asked.p2 + 0.01 * k)
        world.set_endpoints(limbs.p1, limbs.p2)
    assert len(rebuilding()) == 1
    held.free.release()
    world.finish_rebuild()
    assert same_tree(world, asked)
    assert not held.begun.acquire(timeout=0.01), "built twice"
    check_answers(world, limbs)


def test_a_tree_finished_too_late_is_built_again(crowd: cc.Limbs, held: Held):
    """If the finished tree no longer fits, another one is built without a further update."""
    world = cc.HitWorld(crowd)
    leap(world, 1)
    assert held.begun.acquire(timeout=WAIT)
    limbs = leap(world, 2)
    held.free.release()
    assert held.begun.acquire(timeout=WAIT)
    check_answers(world, limbs)
    held.free.release()
    world.finish_rebuild()
    assert same_tree(world, limbs)
    check_answers(world, limbs)


def test_a_failed_rebuild_is_reported_and_retried(crowd: cc.Limbs, held: Held, monkeypatch: pytest.MonkeyPatch):
    told: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", told.append)
    world, held.error = cc.HitWorld(crowd), MemoryError("full")
    held.free.release()
    limbs = leap(world, 1)
    world.finish_rebuild()
    assert [one.exc_value for one in told] == [held.error]
    check_answers(world, limbs)
    assert not same_tree(world, limbs)
    held.error = None
    held.free.release()
    world.set_endpoints(limbs.p1, limbs.p2)
    world.finish_rebuild()
    assert same_tree(world, limbs)
    told.clear()


@pytest.mark.usefixtures("held")
def test_without_a_thread_the_update_rebuilds(crowd: cc.Limbs, monkeypatch: pytest.MonkeyPatch):
    def start(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    world = cc.HitWorld(crowd)
    monkeypatch.setattr(tasks, "start_new_thread", start)
    limbs = leap(world, 1)
    assert same_tree(world, limbs)
    world.finish_rebuild()


def test_an_unreferenced_world_is_freed_at_once(crowd: cc.Limbs, held: Held):
    world = cc.HitWorld(crowd)
    leap(world, 1)
    assert held.begun.acquire(timeout=WAIT)
    gone = weakref.ref(world)
    del world
    assert gone() is None
    held.free.release()
    for end in rebuilding():
        with end:
            pass
    assert not rebuilding()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("locked", [False, True])
def test_a_world_moves_after_a_fork(crowd: cc.Limbs, held: Held, locked: bool):
    """The child has no thread that builds the tree or releases a lock."""
    world = cc.HitWorld(crowd)
    limbs = leap(world, 1)
    assert held.begun.acquire(timeout=WAIT)
    if locked:
        world._lock().acquire()  # as the thread does while it installs the tree
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # instead of a deadlock
        try:
            held.free = threading.Semaphore(9)
            world.finish_rebuild()
            check_answers(world, limbs)
            world.set_endpoints(limbs.p1, limbs.p2)
            world.finish_rebuild()
            assert same_tree(world, limbs)
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    if locked:
        world._lock().release()


LEAP_AND_END = """
import sys, threading
sys.path.insert(0, {tests!r})
import cylcollide as cc
from support.cases.everyday_worlds import leap, make_crowd

def work():
    world = cc.HitWorld(make_crowd(3000))
    leap(world, 1)
    kept.append(world)
    going.set()
    while {forever}:
        leap(world, 1)

kept, going = [], threading.Event()
threading.Thread(target=work, daemon=True).start()
assert going.wait(300)
"""


@pytest.mark.skipif(sized(2) < 2, reason="plain Python builds a thousand limbs for long")
@pytest.mark.parametrize("forever", [False, True])
def test_a_program_exits_meanwhile(forever: bool):
    """Python only waits until compiled code returns, even if a daemon thread continues to move limbs."""
    code = LEAP_AND_END.format(tests=str(Path(__file__).parents[1]), forever=forever)
    begun = time.monotonic()
    output_of("-c", code, timeout=300)
    assert time.monotonic() - begun < 250
