"""Work in threads: chunks of rows, by the calling thread and a shared pool; and tasks that no signal may cut short."""

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import cache
from threading import Thread
from typing import TypeVar

from cylcollide.constants import (
    RAYS_PER_TASK,
    RAYS_SHARED,
    SMALLEST_STREAM,
)

Result = TypeVar("Result")


def uninterrupted(task: Callable[[], Result]) -> Result:
    """Run a task in a thread, where no signal's handler is run: none can end an import or LLVM half-way.

    An exception that a handler raises here, while the task runs, is passed on; the task goes on to its end.
    """
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(task())
        except BaseException as error:
            errors.append(error)

    thread = Thread(target=run, name="cylcollide-load")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


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
    pending = deque((k, n * k // count, n * (k + 1) // count) for k in range(count))
    results: dict[int, Result] = {}

    def work() -> None:
        while pending:
            try:
                k, begin, end = pending.popleft()
            except IndexError:  # the queue was drained by another thread
                return
            results[k] = task(begin, end)

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
    return [results[k] for k in range(count)]


@cache
def shared_pool(threads: int) -> ThreadPoolExecutor:
    """A pool of threads that outlives queries, as do its thread-local buffers: allocating these outlasts a query."""
    return ThreadPoolExecutor(threads, "cylcollide")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=shared_pool.cache_clear)  # a fork has no threads but the one that forked
