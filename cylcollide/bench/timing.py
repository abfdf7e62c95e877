"""Timing with interleaved rounds, so that a machine that slows down slows all works alike."""

import gc
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from cylcollide._types import Float64Array

Work = Callable[[], object]
Clock = Callable[[], float]


def seconds(work: Work, clock: Clock = time.perf_counter) -> float:
    """Duration of one call in seconds."""
    began = clock()
    work()
    return clock() - began


def interleaved(works: Mapping[str, Work], rounds: int, clock: Clock = time.perf_counter) -> dict[str, Float64Array]:
    """Times of each work in each round, A B C A B C ...; (rounds,) seconds each.

    The garbage collector is off, as in `timeit`: it would run in a random turn.
    """
    times = {name: np.empty(rounds) for name in works}
    gc.collect()
    was_on = gc.isenabled()
    gc.disable()
    try:
        for turn in range(rounds):
            for name, work in works.items():
                times[name][turn] = seconds(work, clock)
    finally:
        if was_on:
            gc.enable()
    return times


def repeated(work: Work, times: int) -> Work:
    """The work so many times in a row."""

    def run() -> None:
        for _ in range(times):
            work()

    return run


def spread(values: Sequence[float] | Float64Array) -> tuple[float, float, float]:
    """Median, least and largest."""
    return float(np.median(values)), float(np.min(values)), float(np.max(values))
