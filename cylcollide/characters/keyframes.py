"""Where a time lies among the frames of a recorded motion."""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Float64Array, Int64Array


class Between(NamedTuple):
    """Two neighbouring frames and the share of the way from one to the other, for each time."""

    first: Int64Array
    second: Int64Array
    share: Float64Array
    turns: Float64Array  # how often the motion has begun again, 0 unless it loops; inf beyond float64


def locate(frame_times: Float64Array, times: Float64Array, loop: bool) -> Between:
    """Find the frames around times, both in seconds from the first frame; clamped to the motion, or looped.

    Frame times increase from 0. A looped motion shows its end as its beginning.
    """
    duration = frame_times[-1]
    turns = np.zeros_like(times)
    if loop and duration > 0.0:
        within = np.mod(times, duration)  # exact for times of any size
        with np.errstate(over="ignore"):  # more often than float64 can say, of the shortest motions
            turns = np.rint((times - within) / duration)
    else:
        within = np.clip(times, 0.0, duration)
    last = len(frame_times) - 1
    first = np.clip(np.searchsorted(frame_times, within, side="right") - 1, 0, max(last - 1, 0))
    second = np.minimum(first + 1, last)
    step = np.where(second > first, frame_times[second] - frame_times[first], 1.0)
    return Between(first, second, (within - frame_times[first]) / step, turns)
