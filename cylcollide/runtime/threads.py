"""Work in threads: chunks of rows, by the caller and a shared pool; and functions that no signal may cut short."""

import _thread
import atexit
import os
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from cylcollide.constants import RAYS_PER_TASK, RAYS_SHARED, SMALLEST_STREAM

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Result = TypeVar("Result")

_forks = 0
"""How many forks lead to this process."""


class OwnLock:
    """What `with lock():` holds: a lock of this process. The child of a fork, copies and pickles have new ones.

    Threads that held it before a fork do not exist in the child, and have changed nothing there.
    """

    def __init__(self) -> None:
        self._of_forks = {_forks: Lock()}

    def __call__(self) -> Lock:
        """The lock."""
        return self._of_forks.get(_forks) or self._of_forks.setdefault(_forks, Lock())

    def __reduce__(self) -> tuple[type["OwnLock"], tuple[()]]:
        """A lock that nobody holds."""
        return OwnLock, ()


def _count_fork() -> None:
    """In the child of a fork."""
    global _forks  # noqa: PLW0603  # a fact of the process
    _forks += 1
    shared_pool.cache_clear()  # a fork has no threads but the one that forked


class Task:
    """A function in a thread of its own. Python waits for its end at exit, and others may wait for it.

    It is no `threading.Thread`: an exception that a handler raises while `threading` starts a thread may block that
    wait for ever, or is lost where the thread object is deleted. One call of C code starts this thread.

    Raises
    ------
    RuntimeError
        If no more threads can be started, or Python is exiting.
    """

    def __init__(self, function: Callable[[], object]) -> None:
        self._function, self._forks, self._has_ended, self._end = function, _forks, False, Lock()
        self._end.acquire()
        if _exiting:
            raise RuntimeError("Python is exiting: no thread can be started")
        _thread.start_new_thread(self._run, ())

    def _run(self) -> None:
        _running.append(self)
        try:
            if not _exiting:  # else nothing waits for the end
                self._function()
        except BaseException:
            threading.excepthook(threading.ExceptHookArgs([*sys.exc_info(), None]))
        finally:
            _running.remove(self)
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


_running: deque[Task] = deque()
_exiting = False


@atexit.register
def _exit() -> None:
    """Start no more tasks and wait for those that run: compiled code must not run while Python is torn down."""
    global _exiting  # noqa: PLW0603  # a fact of the process
    _exiting = True
    for task in list(_running):
        task.wait()


def uninterrupted(function: Callable[[], Result]) -> Result:
    """Call a function in a thread, where Python runs no signal handler: none can end the function half-way.

    An exception that a handler raises meanwhile is raised here; the function runs to its end.
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


def in_chunks(
    n: int, threads: int | None, task: Callable[[int, int], Result], shared: int | None = None
) -> list[Result]:
    """Results of task(begin, end) for consecutive chunks of n rows, in order.

    `threads` is the most that work at once, the caller included; None: the number of processors. `shared`: rows of a
    chunk; None: of rays, RAYS_SHARED if several threads work, and RAYS_PER_TASK if one does.
    """
    if n <= (shared or RAYS_SHARED):
        return [task(0, n)]
    if threads is None:
        threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    most = threads
    if shared is None:
        threads = max(1, min(threads, n // SMALLEST_STREAM))  # a chunk must not be smaller than a stream
        shared = RAYS_PER_TASK if threads == 1 else RAYS_SHARED
    count = -(-n // shared)
    count += -count % threads  # equally many for each thread
    pending = deque((k, task) for k in range(count))  # a thread may keep `work` longer, but nothing of the caller's
    results: dict[int, Result] = {}

    def work() -> None:
        while pending:
            try:
                k, task_of_chunk = pending.popleft()
            except IndexError:  # the queue was drained by another thread
                return
            results[k] = task_of_chunk(n * k // count, n * (k + 1) // count)

    from concurrent.futures import wait  # noqa: PLC0415  not imported where one thread does all

    helpers: list[Future[None]] = []
    try:
        with suppress(RuntimeError):  # Python is exiting, or no more threads can be started: fewer work
            for _ in range(threads - 1):
                helpers.append(shared_pool(most - 1).submit(work))
        work()  # the calling thread works too
    finally:
        pending.clear()  # after an error no new chunk starts
        started = [helper for helper in helpers if not helper.cancel()]
        wait(started)
    for helper in started:
        helper.result()
    return [results.pop(k) for k in range(count)]


@cache
def shared_pool(threads: int) -> "ThreadPoolExecutor":
    """A pool of threads that outlives queries, as do its thread-local buffers: allocating these outlasts a query."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  not imported where one thread does all

    return ThreadPoolExecutor(threads, "cylcollide")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)
