"""Machine code made ahead of the calls that need it, by several processes."""

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from cylcollide.runtime import code_cache, entry_point
from cylcollide.runtime.compile import entry_point_named
from cylcollide.runtime.compile_worker import Worker
from cylcollide.runtime.entry_point import POLL_SECONDS
from cylcollide.runtime.threads import uninterrupted

BEGUN_AT_ONCE = 4
"""Requests to one worker: while one is optimised, others are lowered."""


class Request(NamedTuple):
    """An entry point, with examples of its arguments."""

    name: str
    arguments: tuple[Any, ...]

    def is_made(self) -> bool:
        """Whether there is machine code on disk."""
        return code_cache.is_kept(self.name, entry_point_named(self.name).tag(self.arguments))

    def load(self) -> None:
        """Load machine code from disk; make it if there is none."""
        uninterrupted(lambda: entry_point_named(self.name).load_or_build(self.arguments))

    @property
    def size(self) -> int:
        """How many arrays and numbers are passed: what takes long to compile takes many."""
        return sum(_leaves(argument) for argument in self.arguments)


def _leaves(value: Any) -> int:
    return sum(map(_leaves, value)) if isinstance(value, tuple) else 1


def recorded(task: Callable[[], None]) -> list[Request]:
    """Run a task in plain Python; the entry points that it calls."""
    with entry_point.recording() as calls:
        task()
    return [Request(*call) for call in calls.items()]


def make(requests: list[Request], processes: int) -> Iterator[int]:
    """Make what is missing, and load all; yields how many are made, from time to time."""
    from cylcollide.runtime import machine_code  # noqa: F401, PLC0415  before any of its functions is called

    pending = sorted((request for request in requests if not request.is_made()), key=lambda request: request.size)
    if pending:  # popped first, before the largest ones: so there is soon something to optimise
        pending.append(pending.pop(len(pending) // 2))
    workers = []
    try:
        for _ in range(min(max(processes // 2, 1), len(pending))):
            workers.append(Worker(code_cache.writable_directory(), min(processes, 2)))
        being_made: dict[Worker, list[Request]] = {worker: [] for worker in workers}
        while pending or any(being_made.values()):
            for worker, begun in being_made.items():
                begun[:] = [request for request in begun if worker.is_alive() and not request.is_made()]
                if pending and len(begun) < BEGUN_AT_ONCE and worker.is_alive():
                    begun.append(pending.pop())
                    worker.request(*begun[-1])
            if not any(worker.is_alive() for worker in workers):
                break  # no process can be started: made here, one after another, as they are loaded
            yield len(requests) - len(pending) - sum(map(len, being_made.values()))
            time.sleep(POLL_SECONDS)
    finally:
        for worker in workers:
            worker.end()
    for request in requests:
        request.load()
    yield len(requests)
