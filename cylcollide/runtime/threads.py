"""Chunks of rows over a pool of threads, which end with the query that started them."""

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import cache
from typing import TypeVar

from cylcollide.constants import (
    RAYS_PER_TASK,
    RAYS_SHARED,
    SMALLEST_STREAM,
)

Result = TypeVar("Result")


def in_chunks(n: int, threads: int | None, task: Callable[[int, int], Result]) -> list[Result]:
    """The task's answers for consecutive chunks of n rows, in order, worked on by so many threads."""
    if n <= RAYS_SHARED:
        return [task(0, n)]
    if threads is None:
        threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    most, threads = threads, max(1, min(threads, n // SMALLEST_STREAM))  # loops over many rays take eight at least
    count = -(-n // (RAYS_PER_TASK if threads == 1 else RAYS_SHARED))
    count += -count % threads  # as many for each thread
    left = deque((k, n * k // count, n * (k + 1) // count) for k in range(count))
    answers: dict[int, Result] = {}

    def work() -> None:
        while left:
            try:
                k, begin, end = left.popleft()
            except IndexError:  # somebody else was faster
                return
            answers[k] = task(begin, end)

    helpers: list[Future[None]] = []
    try:
        with suppress(RuntimeError):  # Python is ending, or there are as many threads as there may be: fewer will do
            for _ in range(threads - 1):
                helpers.append(shared_pool(most - 1).submit(work))
        work()  # who asks need not wait to be woken
    finally:
        left.clear()  # after an error nobody begins anew
        begun = [helper for helper in helpers if not helper.cancel()]
        wait(begun)
    for helper in begun:
        helper.result()
    return [answers[k] for k in range(count)]


@cache
def shared_pool(threads: int) -> ThreadPoolExecutor:
    """So many threads, which stay with their room: a query is over before new ones would have made theirs."""
    return ThreadPoolExecutor(threads, "cylcollide")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=shared_pool.cache_clear)  # a fork has no threads but the one that forked
