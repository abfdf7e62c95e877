"""Machine code made ahead of the calls that need it, by several processes."""

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from cylcollide.runtime import code_cache, entry_point
from cylcollide.runtime.compile import ENTRY_POINTS
from cylcollide.runtime.compile_worker import Worker
from cylcollide.runtime.entry_point import POLL_SECONDS
from cylcollide.runtime.threads import uninterrupted


class Request(NamedTuple):
    """An entry point, with examples of its arguments."""

    name: str
    arguments: tuple[Any, ...]

    def is_made(self) -> bool:
        """Whether there is machine code on disk."""
        from cylcollide.runtime import machine_code  # noqa: PLC0415  numba takes half a second

        return code_cache.is_kept(self.name, machine_code.tag(self.arguments))

    def load(self) -> None:
        """Load machine code from disk; make it if there is none."""
        uninterrupted(lambda: ENTRY_POINTS[self.name].load_or_build(self.arguments))

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

    missing = [request for request in requests if not request.is_made()]
    pending, workers = sorted(missing, key=lambda request: request.size), []  # the largest is popped first
    try:
        for _ in range(min(processes, len(missing))):
            workers.append(Worker(code_cache.writable_directory()))
        busy: dict[Worker, Request] = {}
        while pending or busy:
            for worker in workers:
                if worker in busy and (busy[worker].is_made() or not worker.is_alive()):
                    del busy[worker]
                if pending and worker not in busy and worker.is_alive():
                    busy[worker] = pending.pop()
                    worker.request(*busy[worker])
            if not any(worker.is_alive() for worker in workers):
                break  # no process can be started: made here, one after another, as they are loaded
            yield len(requests) - len(pending) - len(busy)
            time.sleep(POLL_SECONDS)
    finally:
        for worker in workers:
            worker.end()
    for request in requests:
        request.load()
    yield len(requests)
