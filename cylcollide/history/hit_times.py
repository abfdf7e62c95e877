"""When something was so: times between ticks that are asked in steps, and bisected where the answer changes."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import BoolArray, Float64Array

STEPS_OF_A_TICK = 4
"""In how many steps the time between two ticks is searched, if no resolution is given."""

PARTS = 16
"""In how many parts a span of time is cut at once: a batch of times costs little more than one."""

MOST_TIMES = 1_000_000
"""How many times are searched at most."""

TIMES_AT_ONCE = 10_000
"""How many in one batch."""

SIGN = np.uint64(1 << 63)

Predicate: TypeAlias = Callable[[Float64Array], BoolArray]
"""Whether it is so at each of these times, (n,)."""


def searched_times(ticks: Float64Array, resolution: float | None) -> Float64Array:
    """All ticks, the last moment before each, and times between them, ascending, no farther apart than `resolution`.

    At a tick things may change at once, as after a teleport: so the moment before it is among them.
    """
    before = np.nextafter(ticks[1:], -np.inf)
    span = np.diff(ticks)
    steps = np.full(len(span), STEPS_OF_A_TICK) if resolution is None else np.maximum(np.ceil(span / resolution), 1.0)
    if steps.sum() > MOST_TIMES:
        raise ValueError(
            f"resolution: expected at most {MOST_TIMES} steps from {ticks[0]} to {ticks[-1]}, got {resolution}, which "
            f"are {steps.sum():.3g}; choose a coarser one"
        )
    between = [np.linspace(a, b, int(n) + 1) for a, b, n in zip(ticks[:-1], before, steps.tolist(), strict=True)]
    return np.unique(np.concatenate([*between, ticks[-1:]]))


def intervals(is_so: Predicate, times: Float64Array) -> Float64Array:
    """The closed intervals (k, 2), ascending, in which it is so, as far as these ascending times show them.

    It is so at both ends of each, and not at the float64 next to an end, unless that is outside of all times. What is
    shorter than the step between two times may be left out, or joined.
    """
    batches = np.split(times, range(TIMES_AT_ONCE, len(times), TIMES_AT_ONCE))
    so = np.concatenate([is_so(batch) for batch in batches])
    change = np.flatnonzero(so[1:] != so[:-1])
    begins = so[change + 1]
    ends = _ends(is_so, times[change], times[change + 1], begins)
    first, last = ends[begins], ends[~begins]
    if so[0]:
        first = np.append(times[0], first)
    if so[-1]:
        last = np.append(last, times[-1])
    return np.stack([first, last], axis=1)


def _ends(is_so: Predicate, low: Float64Array, high: Float64Array, begins: BoolArray) -> Float64Array:
    """Between `low` and `high`, (k,), the time at which it begins to be so, or the last one at which it still is."""
    a, b = _keys(low), _keys(high)
    row = np.arange(len(a))
    while (b - a > 1).any():
        step = np.maximum((b - a) // np.uint64(PARTS), np.uint64(1))
        key = np.minimum(a[:, None] + step[:, None] * np.arange(PARTS, dtype=np.uint64), b[:, None])
        key = np.append(key, b[:, None], axis=1)
        inner = is_so(_times(key[:, 1:-1].ravel())).reshape(len(a), -1)
        so = np.concatenate([~begins[:, None], inner, begins[:, None]], axis=1)
        # Where it begins, behind the last time at which it is not so; where it ends, before the first one.
        last_not = PARTS - np.argmin(so[:, ::-1], axis=1)
        k = np.where(begins, last_not, np.argmin(so, axis=1) - 1)
        a, b = key[row, k], key[row, k + 1]
    return _times(np.where(begins, b, a))


def _keys(times: Float64Array) -> NDArray[np.uint64]:
    """Integers in the order of the times; those of neighbours among float64 are one apart."""
    bits = times.view(np.uint64)
    return np.where(bits & SIGN, ~bits, bits | SIGN)


def _times(keys: NDArray[np.uint64]) -> Float64Array:
    """The times of these integers."""
    return np.where(keys & SIGN, keys ^ SIGN, ~keys).view(np.float64)
