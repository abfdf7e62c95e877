"""Chunks of rows in parallel threads: the caller's and helper threads that persist between queries."""

import os
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Lock
from typing import TypeVar

from cylcollide.constants import LEAST_RAYS_PER_TASK, RAYS_PER_TASK, SMALLEST_STREAM
from cylcollide.process.tasks import while_python_runs

Result = TypeVar("Result")


def in_chunks(
    n: int, threads: int | None, task: Callable[[int, int], Result], shared: int | None = None
) -> list[Result]:
    """Results of task(begin, end) for consecutive chunks of n rows, in order.

    `threads` is the greatest number of threads, with the caller's; None: the number of processors. `shared` is the
    number of rows per chunk; None, for rays: at most RAYS_PER_TASK, and at least 4 chunks per thread to balance load.
    """
    if n <= (shared or LEAST_RAYS_PER_TASK):
        return [task(0, n)]
    if threads is None:
        threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if shared is None:
        threads = max(1, min(threads, n // SMALLEST_STREAM))  # a chunk must not be smaller than a stream
        shared = min(max(n if threads == 1 else n // (4 * threads), LEAST_RAYS_PER_TASK), RAYS_PER_TASK)
    count = -(-n // shared)
    count += -count % threads  # the same number for each thread
    pending = deque((k, task) for k in range(count))  # a helper may hold `work` longer than the call, but not `task`
    results: dict[int, Result] = {}
    errors: list[BaseException] = []
    busy = [Lock() for _ in range(threads - 1)]

    def work() -> None:
        while pending:
            try:
                k, task_of_chunk = pending.popleft()
            except IndexError:  # the queue was drained by another thread
                return
            results[k] = task_of_chunk(n * k // count, n * (k + 1) // count)

    def help_out(own: Lock) -> None:
        with own:
            try:
                while_python_runs(work, own)
            except BaseException as error:
                errors.append(error)

    try:
        helpers.submit([partial(help_out, own) for own in busy])
        work()  # the calling thread works too
        _finish(pending, busy)
    except BaseException:
        _finish(pending, busy)  # a signal handler's exception may have interrupted it
        raise
    if errors:
        raise errors.pop()
    return [results.pop(k) for k in range(count)]


def _finish(pending: deque[tuple[int, Callable[[int, int], Result]]], busy: list[Lock]) -> None:
    """Start no more chunks and return when the helpers have ended theirs, even if signal handlers raise meanwhile."""
    try:
        pending.clear()
        while busy:
            with busy[-1]:
                busy.pop()
    finally:
        if busy:
            _finish(pending, busy)


class Helpers:
    """Threads that persist between queries, as do their thread-local buffers: allocation takes longer than a query.

    They share a queue and locks, both written in C, with callers. An exception that a signal handler raises in the
    middle of `concurrent.futures` may leave a lock held for ever.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Reset to no threads: the child of a fork has only the thread that forked."""
        self._functions, self._count = SimpleQueue[Callable[[], None]](), 0

    def submit(self, functions: list[Callable[[], None]]) -> None:
        """Call each function in a helper, as soon as one is free; call fewer if threads cannot be started."""
        with suppress(RuntimeError):  # the system has no more, or Python is exiting
            while self._count < len(functions):
                start_new_thread(self._serve, ())
                self._count += 1
        for function in functions[: self._count]:
            self._functions.put(function)

    def _serve(self) -> None:
        functions = self._functions
        while True:
            functions.get()()


helpers = Helpers()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=helpers.reset)
