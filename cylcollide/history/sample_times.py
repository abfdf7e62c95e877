"""The time of each ray of a query in the past: requested times become ticks and alphas."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import BoolArray, Float64Array, Int32Array, Int64Array
from cylcollide.constants import LARGEST_NUMBER
from cylcollide.history.ticks import Ring
from cylcollide.query.result import chosen_rows
from cylcollide.recorded.moments import find_moments
from cylcollide.runtime.memory import FLOAT64, frozen

OnOld: TypeAlias = Literal["error", "clamp", "miss"]
ON_OLD: tuple[OnOld, ...] = ("error", "clamp", "miss")

RequestedTimes: TypeAlias = tuple[ArrayLike | None, ArrayLike | None, ArrayLike | None, OnOld]
"""Time, or tick and alpha, of each ray or of all; and the treatment of times that are not kept."""

NO_TICK = -1
"""The tick of a ray whose time is not kept."""
ANY_TICK = -(2**63), 2**63 - 1
"""The range of tick numbers that may be requested."""
FEW = 16
"""Up to this length, numbers are checked one by one."""


class SampleTimes(NamedTuple):
    """The time of each ray; read-only arrays, (n,) each."""

    time: Float64Array
    """The time at which the ray is evaluated."""
    tick: Int64Array
    """The last tick that is not after `time`; -1 for a time that is not kept, where every ray misses."""
    alpha: Float64Array
    """The fraction of the way from this tick to the next, 0 to 1; nan for tick -1."""
    clamped: BoolArray
    """Whether the requested time is not kept and was replaced by the nearest kept time."""

    def take(self, rows: Any) -> SampleTimes:
        """The sample times of some rays."""
        chosen = chosen_rows(rows, len(self.time), "moments")
        return SampleTimes._make(frozen(column[chosen]) for column in (self.time, self.tick, self.alpha, self.clamped))


def sample_times(
    ring: Ring, n: int, requested: RequestedTimes | SampleTimes, has_on_old: bool = True, name: str = "time"
) -> tuple[SampleTimes, Int32Array]:
    """The sample times of n rays, and the index of each tick in the ring, NO_TICK for none.

    Given sample times are unchanged. Error messages use `has_on_old` and `name`.
    """
    if isinstance(requested, SampleTimes):
        return requested, np.where(requested.tick == NO_TICK, NO_TICK, requested.tick - ring.first).astype(np.int32)
    time, tick, alpha, on_old = requested
    validate.one_of(on_old, "on_old", *ON_OLD)
    if time is not None and tick is None and alpha is None:
        return _times_at(ring, time, n, on_old, has_on_old, name)
    if time is None and tick is not None:
        return _times_of_ticks(ring, tick, alpha, n, on_old, has_on_old)
    given = [key for key, value in (("time", time), ("tick", tick), ("alpha", alpha)) if value is not None]
    raise ValueError(f"{name}: expected either time, or tick and perhaps alpha; got {' and '.join(given) or 'neither'}")


def _times_at(
    ring: Ring, time: ArrayLike, n: int, on_old: OnOld, has_on_old: bool, name: str
) -> tuple[SampleTimes, Int32Array]:
    """The sample times of n times, given as (n,) or one for all."""
    requested = one_or_each(time, name, n)
    begins, index, outside = ring.times, np.empty(n, np.int64), np.empty(n, np.bool_)
    judged, alpha = np.empty(n), np.empty(n)
    count = find_moments(requested, begins, judged, index, alpha, outside)
    if on_old == "error" and count:
        raise_not_kept((ring.times[0], ring.times[-1]), name, requested, outside, has_on_old)
    number = ring.first + index
    if on_old == "miss" and count:
        judged, number, alpha, index = (np.where(outside, without, known) for without, known in (
            (requested, judged), (NO_TICK, number), (np.nan, alpha), (NO_TICK, index)))  # fmt: skip
        outside = np.zeros(n, np.bool_)
    return SampleTimes(frozen(judged), frozen(number), frozen(alpha), frozen(outside)), index.astype(np.int32)


def raise_not_kept(
    kept: tuple[float, float], name: str, given: Float64Array | Int64Array, outside: BoolArray, has_on_old: bool = True
) -> NoReturn:
    """Raise the ValueError of times or ticks (n,) that are not all kept; it names `on_old` if `has_on_old`."""
    count, row = int(outside.sum()), int(outside.argmax())
    remedy = "keep more ticks" + ", or pass on_old='clamp' or 'miss'" * has_on_old
    raise ValueError(
        f"{name}: expected {kept[0]} to {kept[1]}, which is kept, got {given[row]} in row {row}"
        f"{f', {count} rows in all' if count > 1 else ''}; {remedy}"
    )


def _times_of_ticks(
    ring: Ring, tick: ArrayLike, alpha: ArrayLike | None, n: int, on_old: OnOld, has_on_old: bool
) -> tuple[SampleTimes, Int32Array]:
    """The sample times of n ticks and alphas, (n,) or one for all. The time of a tick that is not kept is unknown."""
    first, last = ring.first, ring.last
    number = validate.integers(tick, "tick", n, *ANY_TICK)
    outside = (number < first) | (number > last)
    if on_old == "error" and outside.any():
        raise_not_kept((first, last), "tick", number, outside, has_on_old)
    share = np.zeros(n) if alpha is None else one_or_each(alpha, "alpha", n)
    row = validate.first_bad_row(~((share >= 0.0) & (share <= 1.0)))
    if row is not None:
        raise ValueError(f"alpha: expected 0 to 1, got {share[row]} in row {row}")
    outside |= (number == last) & (share > 0.0)
    row = validate.first_bad_row(outside)
    if row is not None:
        if on_old == "error":
            raise ValueError(
                f"alpha: expected 0 for tick {last}, the last one, got {share[row]} in row {row}; "
                "record another one first"
            )
        number, share = np.clip(number, first, last), np.where(outside, 0.0, share)
    begins = ring.times
    index = number - first
    end = begins[np.minimum(index + 1, len(begins) - 1)]
    judged = np.where(share == 1.0, end, np.minimum(begins[index] + share * (end - begins[index]), end))
    if on_old == "miss":
        judged, share = (np.where(outside, np.nan, known) for known in (judged, share))
        number, index = (np.where(outside, NO_TICK, known) for known in (number, index))
        outside = np.zeros(n, np.bool_)
    return SampleTimes(frozen(judged), frozen(number), frozen(share), frozen(outside)), index.astype(np.int32)


def count(values: ArrayLike | None, name: str) -> int:
    """The number of values, NumPy's `size`; ValueError if they are not an array of numbers."""
    if values is None or isinstance(values, float | int):
        return 1
    if isinstance(values, list | tuple) and values and type(values[0]) in validate.NUMBERS:  # saves 10 µs for 200
        return len(values)
    return (values if isinstance(values, np.ndarray) else validate.as_numbers(values, name, "(n,) or one number")).size


def one_or_each(values: ArrayLike, name: str, n: int) -> Float64Array:
    """Finite numbers as (n,), given as (n,) or one for all."""
    number: Any = values
    if isinstance(number, float) and abs(number) <= LARGEST_NUMBER:  # the common case: saves 9 µs
        numbers = np.empty(n)
        numbers[:] = number
        return numbers
    is_short = type(number) is np.ndarray and number.dtype == FLOAT64 and number.shape == (n,) and n <= FEW
    if is_short and all(abs(x) <= LARGEST_NUMBER for x in number.tolist()):  # saves 3 µs
        return np.asarray(number.copy())
    return validate.per_row(values, name, n)
