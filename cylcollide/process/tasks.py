"""Functions in separate threads, which no signal interrupts; locks that the child of a fork does not inherit."""

import atexit
import os
import sys
import threading
from _thread import start_new_thread  # not as other libraries may replace it later
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import TypeVar

Result = TypeVar("Result")

_forks = 0
"""The number of forks from the first process to this one."""


class OwnLock:
    """A lock of this process, used as `with lock():`. The child of a fork, copies and pickles get a new lock.

    Threads that held it before a fork do not exist in the child, and have changed nothing there.
    """

    def __init__(self) -> None:
        self._of_forks = {_forks: Lock()}

    def __call__(self) -> Lock:
        """The lock."""
        return self._of_forks.get(_forks) or self._of_forks.setdefault(_forks, Lock())

    def __reduce__(self) -> tuple[type["OwnLock"], tuple[()]]:
        """A free lock."""
        return OwnLock, ()


def _count_fork() -> None:
    """In the child of a fork, which has none of the running threads."""
    global _forks  # noqa: PLW0603  # a fact of the process
    _forks += 1
    _running.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


class Task:
    """A function that runs in its own thread. Python waits for it at exit; other threads may wait for it, too.

    It is no `threading.Thread`: if a signal handler raises while `threading` starts a thread, that wait may block for
    ever, or the exception is lost where the thread object is deleted. This thread is started by one call of C code.
    RuntimeError if no more threads can be started, or Python is exiting.
    """

    def __init__(self, function: Callable[[], object]) -> None:
        self._function, self._forks, self._has_ended, self._end = function, _forks, False, Lock()
        self._end.acquire()
        if _exiting:
            raise RuntimeError("Python is exiting: no thread can be started")
        start_new_thread(self._run, ())

    def _run(self) -> None:
        try:
            while_python_runs(self._function, self._end)
        except BaseException:
            threading.excepthook(threading.ExceptHookArgs([*sys.exc_info(), None]))
        finally:
            self._has_ended = True
            self._end.release()

    @property
    def is_running(self) -> bool:
        """Whether it has not ended; never in the child of a fork, which has no such thread."""
        return not self._has_ended and self._forks == _forks

    def wait(self) -> None:
        """Return when it has ended."""
        if self.is_running:
            with self._end:
                pass


_running: deque[Lock] = deque()
"""Locks of functions that run; each is free when its function has ended."""
_exiting = False


def while_python_runs(function: Callable[[], object], end: Lock) -> None:
    """Call a function and delay Python's exit until `end`, a lock held by it, is free; do nothing during exit."""
    _running.append(end)
    try:
        if not _exiting:  # else nothing waits for the end
            function()
    finally:
        with suppress(ValueError):  # a fork has cleared it
            _running.remove(end)


@atexit.register
def _exit() -> None:
    """Start no more tasks and wait for the running ones: compiled code must not run during Python's shutdown."""
    global _exiting  # noqa: PLW0603  # a fact of the process
    _exiting = True
    for end in list(_running):
        with end:
            pass


def uninterrupted(function: Callable[[], Result]) -> Result:
    """Call a function in another thread, where Python runs no signal handlers that could interrupt it.

    The function always runs to its end. An exception that a handler raises meanwhile is raised here.
    """
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)

    try:
        task = Task(run)
    except RuntimeError:  # Python is exiting, or no more threads can be started
        return function()
    task.wait()
    if errors:
        raise errors[0]
    return results[0] if results else function()  # Python began to exit before the function did
