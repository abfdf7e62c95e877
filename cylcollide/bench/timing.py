"""Timing in interleaved rounds, so that a slowdown of the machine affects all works alike; memory of arrays."""

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cylcollide._types import Float64Array

LEAST_TIME = 0.02  # least duration of a turn of a short work, in seconds

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


def paced(works: Mapping[str, Work], rounds: int) -> dict[str, Float64Array]:
    """As :func:`interleaved`, for works that may be short: each is called once first, then repeated within its turn."""

    def repeated(work: Work) -> tuple[Work, int]:
        work()
        times = max(1, int(LEAST_TIME / seconds(work)))

        def turn() -> None:
            for _ in range(times):
                work()

        return turn, times

    turns = {name: repeated(work) for name, work in works.items()}
    taken = interleaved({name: turn for name, (turn, _) in turns.items()}, rounds)
    return {name: taken[name] / times for name, (_, times) in turns.items()}


def spread(values: Sequence[float] | Float64Array) -> tuple[float, float, float]:
    """Median, least and largest."""
    return float(np.median(values)), float(np.min(values)), float(np.max(values))


SAFE = (str, bytes, int, float, complex, bool, type(None), type)


def nbytes(thing: object) -> int:
    """Bytes of all arrays reachable from an object, each buffer counted once."""
    buffers: dict[int, int] = {}
    for array in _arrays(thing, set()):
        owner: Any = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        buffers[id(owner)] = owner.nbytes
    return sum(buffers.values())


def _arrays(thing: object, seen: set[int]) -> Iterator[np.ndarray]:
    if isinstance(thing, SAFE) or id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        yield thing
        return
    inner: list[object] = list(getattr(thing, "__dict__", {}).values())
    inner += [getattr(thing, name) for name in getattr(type(thing), "__slots__", ()) if hasattr(thing, name)]
    if isinstance(thing, dict):
        inner += thing.values()
    elif isinstance(thing, (list, tuple, set, frozenset)):
        inner += thing
    for part in inner:
        yield from _arrays(part, seen)
