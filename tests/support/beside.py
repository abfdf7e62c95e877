"""Calls that threads repeat while a test does something else."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event


@contextmanager
def repeated(*calls: Callable[[], object]) -> Iterator[list[Future[None]]]:
    """Repeat each call in its own thread until the block ends; then raise the first exception that a call raised.

    A call that raises is not repeated.
    """
    ended = Event()

    def repeat(call: Callable[[], object]) -> None:
        while not ended.is_set():
            call()

    with ThreadPoolExecutor(len(calls)) as threads:
        running = [threads.submit(repeat, call) for call in calls]
        try:
            yield running
        finally:
            ended.set()
    for one in running:
        one.result()
