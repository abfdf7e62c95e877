"""Shares of a query among threads: least size, errors, interrupts, exit of Python, and nested queries."""

import _thread
import os
import signal
import sys
import threading
import time
import weakref
from functools import partial
from types import FrameType

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import shots_at
from support.cases.everyday_worlds import make_crowd
from support.check_cylinders import IS_COMPILED
from support.force_loop import STREAMS, forced
from support.machine_code import replace_loop
from support.package import output_of, run_python

import cylcollide as cc
from cylcollide.constants import LEAST_RAYS_PER_TASK, SMALLEST_STREAM
from cylcollide.process import threads
from cylcollide.process.tasks import Task
from cylcollide.process.threads import in_chunks
from cylcollide.query import chords
from cylcollide.runtime.simd import LANES


@pytest.mark.parametrize("threads", [1, 2, 3, 50, 100_000])
def test_shares_are_at_least_one_stream_long(threads: int):
    """Shares of less than eight rays would be written beyond their ends."""
    n = LEAST_RAYS_PER_TASK + 77
    shares = in_chunks(n, threads, lambda begin, end: (begin, end))
    assert min(end - begin for begin, end in shares) >= SMALLEST_STREAM >= LANES
    assert [begin for begin, _ in shares] == [0, *(end for _, end in shares[:-1])]
    assert shares[-1][1] == n


def test_an_error_is_raised_after_all_tasks():
    """Running tasks read the caller's arrays, so the first error is raised when the last task has ended."""
    active, n = set[int](), 3 * LEAST_RAYS_PER_TASK

    def task(begin: int, end: int) -> None:
        active.add(begin)
        all_have_begun.wait(60)
        if end == n:
            time.sleep(0.1)
        active.remove(begin)
        if end < n:
            raise ValueError("a bad row")

    for _ in range(8):
        all_have_begun = threading.Barrier(3)
        with pytest.raises(ValueError, match="a bad row"):
            in_chunks(n, 3, task)
        assert not active


class Interrupted(BaseException):
    """Raised by the handler of a signal."""


def test_an_exception_at_any_moment_leaves_no_helper_at_work():
    """Python runs signal handlers where a function begins and after each call, where it also calls a profiler."""
    main, active, n = threading.get_ident(), set[int](), 3 * LEAST_RAYS_PER_TASK

    def task(begin: int, end: int) -> int:
        if threading.get_ident() == main:
            time.sleep(0.0005)  # until helpers have begun
        else:
            active.add(begin)
            time.sleep(0.003)
            active.remove(begin)
        return end - begin

    def interrupt_after(calls: int) -> bool:
        """Whether the task was interrupted before it ended."""
        left = [calls]

        def profile(frame: FrameType, *_: object) -> None:
            left[0] -= frame.f_code.co_name != "interrupt_after"
            if left[0] < 0:
                sys.setprofile(None)
                raise Interrupted

        try:
            sys.setprofile(profile)
            in_chunks(n, 3, task)
        except Interrupted:
            return True
        finally:
            sys.setprofile(None)
        return False

    count = 0
    while interrupt_after(count):
        assert not active, count
        assert sum(in_chunks(n, 3, task)) == n
        count += 1
    assert count > 40


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="signals")
def test_an_interrupt_of_the_wait_for_helpers_does_not_end_it():
    main, active, interrupts = threading.get_ident(), set[int](), []

    def task(begin: int, _end: int) -> None:
        if threading.get_ident() == main:
            while len(active) < 2:
                time.sleep(0.001)
            signal.setitimer(signal.ITIMER_REAL, 0.03, 0.04)
            raise ValueError("a bad row")
        active.add(begin)
        time.sleep(0.3)
        active.remove(begin)

    def interrupt(*_: object) -> None:
        interrupts.append(sorted(active))
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(Interrupted):
            in_chunks(3 * LEAST_RAYS_PER_TASK, 3, task)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not active
    assert len(interrupts) > 1
    assert interrupts[0]


def test_without_helpers_the_caller_does_all_work(monkeypatch: pytest.MonkeyPatch):
    """The system's limit of threads may be reached, or Python may be exiting."""

    def refused(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "start_new_thread", refused)
    monkeypatch.setattr(threads, "helpers", threads.Helpers())
    n = 5 * LEAST_RAYS_PER_TASK
    assert sum(in_chunks(n, 7, lambda begin, end: end - begin)) == n


def test_threads_are_native_whatever_replaces_them_later(monkeypatch: pytest.MonkeyPatch):
    """A greenlet in place of a helper or a task would block its own thread by a native lock."""
    monkeypatch.delattr(_thread, "start_new_thread")
    monkeypatch.setattr(threads, "helpers", threads.Helpers())
    in_chunks(5 * LEAST_RAYS_PER_TASK, 3, lambda begin, end: end - begin)
    assert threads.helpers._count == 2
    Task(lambda: None).wait()


def test_a_helper_that_keeps_its_work_keeps_no_array_of_the_caller(monkeypatch: pytest.MonkeyPatch):
    """A helper releases its work shortly after it has notified the caller of the end."""
    kept, lend, array = [], threads.helpers.submit, np.zeros(3)

    def keeping(functions):
        kept.extend(functions)
        lend(functions)

    monkeypatch.setattr(threads.helpers, "submit", keeping)
    alive = weakref.ref(array)
    in_chunks(5 * LEAST_RAYS_PER_TASK, 3, lambda begin, end, array=array: array.sum() + end - begin)
    del array
    assert len(kept) == 2
    assert alive() is None


SERVER = """
import threading, time
import numpy as np
import cylcollide as cc
limbs = cc.Limbs.spheres(np.zeros(3), 1.0)
start = np.tile([5.0, 0.0, 0.0], (13_000, 1))
main = threading.main_thread()

def serve():
    main.join()
    time.sleep(0.2)
    print(int(cc.HitWorld(limbs).cast_segments(start, -start, threads=3).hit.sum()), "hits")

threading.Thread(target=serve).start()
"""


@pytest.mark.skipif(not IS_COMPILED, reason="13,000 rays take minutes")
def test_a_server_goes_on_when_the_main_thread_has_ended():
    """By then Python's thread pools accept no more work."""
    assert run_python("-c", SERVER).stdout == "13000 hits\n"


@pytest.mark.parametrize("crosses_more", [False, True])
def test_a_query_within_a_query(crosses_more: bool, monkeypatch: pytest.MonkeyPatch):
    """A signal handler runs between two steps of Python and may make a query, in the same thread and function."""
    limbs = make_crowd(33)
    n = 900 if IS_COMPILED else 24
    start, end = shots_at(limbs, n)
    ask = [partial(cc.HitWorld(limbs).chords_segments, begin, begin + step, threads=1)
           for begin, step in ((start, end - start), (start + 1e3, np.ones(3)))]  # fmt: skip
    outer, inner = ask[::-1] if crosses_more else ask
    with forced(STREAMS):
        want = outer()
        call = chords.cast_stream

        def interrupted(*arguments: object) -> object:
            answer = call(*arguments)
            with monkeypatch.context() as inside:
                replace_loop(inside, interrupted, call)
                inner()
            return answer

        with monkeypatch.context() as patch:
            replace_loop(patch, call, interrupted)
            got = outer()
    assert len(inner()) != len(want)
    assert got.offsets.tobytes() == want.offsets.tobytes()
    assert got.limb.tobytes() == want.limb.tobytes()


EXITS_MEANWHILE = """
import signal, time
from cylcollide.process.tasks import uninterrupted

def task():
    time.sleep(0.5)
    print("ended", flush=True)

def stop(*_):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, stop)
signal.setitimer(signal.ITIMER_REAL, 0.1)
try:
    uninterrupted(task)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="signals")
def test_python_does_not_exit_in_the_middle_of_a_task():
    """Even if the wait for the task was interrupted."""
    assert output_of("-c", EXITS_MEANWHILE).split() == ["interrupted", "ended"]


FORK_MEANWHILE = """
import os, threading, time
from cylcollide.process.tasks import Task

has_begun = threading.Event()
task = Task(lambda: has_begun.set() or time.sleep(0.5))
has_begun.wait()
child = os.fork()
if child:
    task.wait()
    deadline = time.monotonic() + 10.0
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, 9)
            print("killed")
        time.sleep(0.01)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_the_child_of_a_fork_during_a_task_ends():
    """Its exit must not wait for a thread that exists in the parent alone."""
    assert output_of("-W", "ignore", "-c", FORK_MEANWHILE) == ""


def test_a_task_that_fails_has_ended(monkeypatch: pytest.MonkeyPatch):
    seen = []
    monkeypatch.setattr(threading, "excepthook", seen.append)
    task = Task(lambda: 1 // 0)
    task.wait()
    assert seen[0].exc_type is ZeroDivisionError
