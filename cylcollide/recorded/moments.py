"""For each of many times, the last recorded time that is not after it, and alpha, the share of the way to the next."""

import numpy as np

from cylcollide._types import Column, Float64Array
from cylcollide.constants import SMALLEST_SPAN
from cylcollide.runtime.compile import compiled_loop, inlined


@inlined
def last_not_after(times: Float64Array, t: float) -> int:
    """Index of the last of ascending times that is at most t; the first one must be."""
    low, high = 0, times.size
    while high - low > 1:
        middle = (low + high) // 2
        if times[middle] <= t:
            low = middle
        else:
            high = middle
    return low


@compiled_loop
def find_moments(
    requested: Column[np.float64],
    times: Column[np.float64],
    judged: Column[np.float64],
    place: Column[np.int64],
    alpha: Column[np.float64],
    outside: Column[np.bool_],
) -> int:
    """Write the moments of n finite times; returns how many are before the first recorded one or after the last.

    Outputs, (n,): the time, clamped to the recorded range; the index of the last recorded time that is not after it;
    alpha to the next one; and whether the time was clamped. Recorded times are ascending.
    """
    last, count = times.size - 1, 0
    first, span = times[0], times[last] - times[0]
    scale = last / span if span > SMALLEST_SPAN else 0.0  # a quotient that overflows would make a guess of nan
    for i in range(requested.size):
        t = min(max(requested[i], first), times[last])
        k = min(int((t - first) * scale), last)  # a guess: right if ticks are evenly spaced
        if times[k] > t or (k < last and times[k + 1] <= t):
            k = last_not_after(times, t)
        judged[i], place[i], outside[i] = t, k, t != requested[i]
        alpha[i] = (t - times[k]) / (times[k + 1] - times[k]) if k < last else 0.0
        count += t != requested[i]
    return count
