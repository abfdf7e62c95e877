"""Work in threads: chunks of rows, by the caller and a shared pool."""

import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from cylcollide.constants import RAYS_PER_TASK, RAYS_SHARED, SMALLEST_STREAM

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Result = TypeVar("Result")


def in_chunks(
    n: int, threads: int | None, task: Callable[[int, int], Result], shared: int | None = None
) -> list[Result]:
    """Results of task(begin, end) for consecutive chunks of n rows, in order.

    `threads` is the most that work at once, the caller included; None: the number of processors. `shared`: rows of a
    chunk; None: of rays, up to RAYS_PER_TASK, and four chunks or more for each thread: faster ones take more.
    """
    if n <= (shared or RAYS_SHARED):
        return [task(0, n)]
    if threads is None:
        threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    most = threads
    if shared is None:
        threads = max(1, min(threads, n // SMALLEST_STREAM))  # a chunk must not be smaller than a stream
        shared = min(max(n if threads == 1 else n // (4 * threads), RAYS_SHARED), RAYS_PER_TASK)
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


if hasattr(os, "register_at_fork"):  # a fork has no threads but the one that forked
    os.register_at_fork(after_in_child=shared_pool.cache_clear)
