"""Worker processes: each may end alone, an error of a task has its traceback, an error of the caller ends all."""

import os
import signal
import time
from concurrent.futures import BrokenExecutor
from multiprocessing import active_children

import pytest

from cylcollide.crosscheck.workers import worker_processes


def test_workers_answer_in_order_continue_after_an_error_and_end_alone():
    with worker_processes(2) as workers:
        assert list(workers.map(abs, [-1, -2, -3])) == [1, 2, 3]
        assert workers.submit(os.getpid).result() != os.getpid()
        with pytest.raises(ValueError, match="invalid literal") as raised:
            workers.submit(int, "one").result()
        assert "in _work" in raised.value.__notes__[0]
        with pytest.raises(TypeError, match="pickle"):
            workers.submit(memoryview, b"").result()
        assert workers.submit(sorted, [2, 1], reverse=True).result() == [2, 1]
        assert workers.submit(signal.pthread_sigmask, signal.SIG_BLOCK, []).result() >= {signal.SIGINT}
        slow, lost = workers.submit(time.sleep, 1.0), workers.submit(os._exit, 3)
        with pytest.raises(BrokenExecutor, match="ended before"):
            lost.result()
        assert slow.result() is None
    assert active_children() == []


def test_errors_end_workers_at_once():
    def sleep_and_fail():
        with worker_processes(1) as workers:
            futures.extend(workers.submit(time.sleep, 600.0) for _ in range(5))
            raise KeyError

    began, futures = time.monotonic(), []
    with pytest.raises(KeyError):
        sleep_and_fail()
    assert time.monotonic() - began < 30.0
    assert all(future.cancelled() or isinstance(future.exception(), BrokenExecutor) for future in futures)
    assert active_children() == []
