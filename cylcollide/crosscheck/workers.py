"""Worker processes that ignore Ctrl-C at the terminal: the process that started them ends them. Or a Dask cluster."""

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from multiprocessing import active_children, get_context, parent_process, resource_tracker
from threading import Thread
from typing import Any, ParamSpec, TypeVar

from cylcollide._version import not_installed

P = ParamSpec("P")
T = TypeVar("T")


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Block SIGINT: processes started meanwhile never get it, this one gets it at the end."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows, which has no such masks
        yield
        return
    resource_tracker.ensure_running()  # starting it lets the signal through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with_parent() -> None:
    """End this process as soon as the one that started it has ended, in whatever way."""

    def wait() -> None:
        if parent := parent_process():
            parent.join()
        os._exit(1)

    Thread(target=wait, daemon=True).start()


class _Workers(ProcessPoolExecutor):
    """Starts its processes, on submit, with SIGINT blocked."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        with interrupts_blocked():
            return super().submit(fn, *args, **kwargs)


@contextmanager
def worker_processes(count: int) -> Iterator[ProcessPoolExecutor]:
    """Executor of new processes, all of which have ended when the block is left: at once if it is left by an error."""
    # Spawned, not forked: a fork copies the locks of threads, those of PyBullet among them.
    others: set[Any] = set(active_children())
    pool = _Workers(count, mp_context=get_context("spawn"), initializer=_end_with_parent)
    try:
        yield pool
    except BaseException:
        for process in set(active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def local_processes(jobs: int) -> Iterator[Executor | None]:
    """Worker processes of this machine; None, for this thread, if one job is enough."""
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")
    with nullcontext() if jobs == 1 else worker_processes(jobs) as pool:
        yield pool


@contextmanager
def executor_of(jobs: int | None, scheduler: str | None) -> Iterator[Executor | None]:
    """Worker processes of this machine or, with the address of a Dask scheduler, its cluster.

    ImportError for a scheduler without the extra ``cluster``, OSError if the cluster is not there.
    """
    if scheduler is None:
        with local_processes(jobs or os.cpu_count() or 1) as executor:
            yield executor
        return
    try:
        from distributed import Client  # noqa: PLC0415  # an extra of its own
    except ImportError as missing:
        raise not_installed("distributed", "cluster", missing) from missing
    with Client(scheduler) as client:
        yield client.get_executor(retries=3)
