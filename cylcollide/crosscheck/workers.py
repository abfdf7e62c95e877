"""Worker processes that ignore Ctrl-C at the terminal (the process that started them ends them), or a Dask cluster."""

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Lock, Thread, local
from traceback import format_exc
from typing import Any, ParamSpec, TypeVar

from cylcollide._version import not_installed

P = ParamSpec("P")
T = TypeVar("T")

SPAWN = get_context("spawn")  # not forked: a fork copies the locks of threads, including PyBullet's


def _end_with_parent() -> None:
    """End this process as soon as the one that started it has ended in any way."""
    if parent := parent_process():
        parent.join()
    os._exit(1)


def _work(tasks: Connection) -> None:
    """Compute tasks from a connection until it is closed."""
    Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError):
        while True:
            task = tasks.recv()
            try:
                tasks.send((task(), None))
            except Exception as error:
                error.add_note(format_exc())
                tasks.send((None, error))


class _Workers(ThreadPoolExecutor):
    """Threads, each of which sends its tasks to its own process.

    Processes share no locks and no queues: a process that ends, however early, only fails its own task.
    """

    def __init__(self, count: int) -> None:
        super().__init__(count, initializer=self._start)
        self._lock, self._is_ended = Lock(), False
        self._own, self._started = local(), list[tuple[BaseProcess, Connection]]()

    def _start(self) -> None:
        """Start this thread's process with SIGINT blocked, which it inherits."""
        if hasattr(signal, "pthread_sigmask"):  # Windows has no such masks
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        with self._lock:
            self._own.tasks, other_end = SPAWN.Pipe()
            process = SPAWN.Process(target=_work, args=(other_end,))
            process.start()
            other_end.close()
            self._started.append((process, self._own.tasks))
            if self._is_ended:
                process.kill()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        return super().submit(self._compute, partial(fn, *args, **kwargs))

    def _compute(self, task: Callable[[], Any]) -> Any:
        """The result of a task from this thread's process; BrokenExecutor if the process ends first."""
        try:
            self._own.tasks.send(task)
            answer, error = self._own.tasks.recv()
        except (EOFError, OSError) as ended:
            raise BrokenExecutor("a worker process ended before it returned a result") from ended
        if error is not None:
            raise error
        return answer

    def end(self) -> None:
        """End all processes at once."""
        with self._lock:
            self._is_ended = True
            for process, _ in self._started:
                process.kill()

    def close(self) -> None:
        """Cancel tasks that have not begun, wait for the others, and end the processes."""
        self.shutdown(cancel_futures=True)
        for process, tasks in self._started:
            tasks.close()
            process.join()


@contextmanager
def worker_processes(count: int) -> Iterator[Executor]:
    """Executor of new processes, which end with the block: immediately if it is left by an error."""
    resource_tracker.ensure_running()
    pool = _Workers(count)
    try:
        yield pool
    except BaseException:
        pool.end()
        raise
    finally:
        pool.close()


@contextmanager
def local_processes(jobs: int) -> Iterator[Executor | None]:
    """Worker processes on this machine; None, for this thread, with one job."""
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")
    with nullcontext() if jobs == 1 else worker_processes(jobs) as pool:
        yield pool


@contextmanager
def executor_of(jobs: int | None, scheduler: str | None) -> Iterator[Executor | None]:
    """Worker processes of this machine or, with the address of a Dask scheduler, its cluster.

    ImportError for a scheduler without the extra ``cluster``, OSError if the cluster is not reachable.
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
