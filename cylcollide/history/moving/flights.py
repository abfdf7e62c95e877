"""Flying bullets as a query is given them: straight pieces with the times of bullet and targets, checked."""

from typing import NamedTuple, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import ALL_LAYERS, BoolArray, Float64Array, Int64Array, Uint32Array
from cylcollide.history.flight import FlightPath
from cylcollide.history.moments import ON_OLD, OnOld, count
from cylcollide.history.requests import ProtectedSince, check_names, protected_by
from cylcollide.history.ticks import Tick

RESOLUTION = 2.0**-10
"""Of a tick: how finely contacts with boxes are bounded, unless a query says otherwise."""


class MovingOptions(TypedDict, total=False):
    """Options of `PoseHistory.cast_moving`."""

    mask: ArrayLike
    ignore_character: ArrayLike | None
    protected_since: ProtectedSince | None
    on_old: OnOld
    resolution: float
    threads: int | None


class Flights(NamedTuple):
    """Checked bullets: pieces in the order of bullets and, of each, in the order of time."""

    starts: Float64Array  # (pieces, 3)
    ends: Float64Array  # (pieces, 3)
    t0: Float64Array  # (pieces,): the bullet's time, and so on
    t1: Float64Array
    target_t0: Float64Array  # times of the targets, which are kept
    target_t1: Float64Array
    offsets: Int64Array  # (bullets + 1,): the pieces of bullet b are offsets[b] to offsets[b + 1]
    error: Float64Array  # (pieces,)
    clamped: BoolArray  # (pieces,): other times of the targets were asked for
    kept: BoolArray  # (pieces,): False for one that misses, as its times are not kept
    mask: Uint32Array  # (bullets,), or (1,) for all
    ignored: Int64Array  # the same

    @property
    def bullets(self) -> int:
        """How many there are."""
        return len(self.offsets) - 1


class Filters(NamedTuple):
    """What a query about flying bullets says besides."""

    protected: tuple[Int64Array, Float64Array]
    """Characters, and the targets' time from which on each is not hit."""
    resolution: float
    threads: int | None


def checked_filters(options: MovingOptions) -> Filters:
    """The checked options of a query that are about all bullets."""
    check_names(options, MovingOptions)
    resolution = options.get("resolution", RESOLUTION)
    numeric = validate.is_real(resolution) and not isinstance(resolution, bool)
    if not (numeric and 0.0 < resolution <= 1.0):
        raise ValueError(f"resolution: expected a number above 0 and at most 1, a share of a tick, got {resolution!r}")
    return Filters(protected_by(options), float(resolution), validate.workers(options.get("threads")))


def checked_flights(
    ticks: tuple[Tick, ...],
    starts: ArrayLike | FlightPath,
    ends: ArrayLike | None,
    times: tuple[ArrayLike | None, ArrayLike | None],
    target_times: tuple[ArrayLike | None, ArrayLike | None],
    options: MovingOptions,
) -> Flights:
    """The bullets of a query: from starts (n, 3) to ends (n, 3), each between two times, or a path.

    Raises
    ------
    ValueError
        For numbers, shapes or times that are not accepted, naming the first bad row; nothing is left half done.
    """
    if isinstance(starts, FlightPath):
        if not (ends is None and times[0] is None and times[1] is None):
            raise ValueError(
                "path: expected no ends, t0 and t1 beside a path, which has them, got some; leave them out"
            )
        path, names = starts, ("path.starts", "path.ends", "path.t0", "path.t1")
        first, last = validate.vectors(path.starts, names[0]), validate.vectors(path.ends, names[1], len(path.starts))
        given: tuple[ArrayLike, ArrayLike] = (path.t0, path.t1)
    else:
        if ends is None or times[0] is None or times[1] is None:
            raise ValueError("ends, t0, t1: expected all three beside starts, got None; or pass a path alone")
        path, names = None, ("starts", "ends", "t0", "t1")
        given = (times[0], times[1])
        first, last = _rays(starts, ends, (*given, *target_times))
    n = len(first)
    t0, t1 = (validate.per_row(values, name, n) for values, name in zip(given, names[2:], strict=True))
    _check_order(t0, t1, names[2:])
    offsets, error = np.arange(n + 1), np.zeros(n)
    if path is not None:
        offsets = _offsets(path, n, t0, t1)
        error = validate.per_row(path.error, "path.error", n)
    target = [
        own if values is None else validate.per_row(values, name, n)
        for own, values, name in zip((t0, t1), target_times, ("target_t0", "target_t1"), strict=True)
    ]
    _check_order(target[0], target[1], ("target_t0", "target_t1"))
    target_t0, target_t1, clamped, kept = _kept_times(ticks, target[0], target[1], options.get("on_old", "error"))
    bullets = len(offsets) - 1
    mask = validate.masks(options.get("mask", ALL_LAYERS), bullets)
    ignored = validate.ignored_characters(options.get("ignore_character"), bullets)
    return Flights(first, last, t0, t1, target_t0, target_t1, offsets, error, clamped, kept, mask, ignored)


def _rays(starts: ArrayLike, ends: ArrayLike, times: tuple[ArrayLike | None, ...]) -> tuple[Float64Array, Float64Array]:
    """Starts and ends, (n, 3) each; one bullet for several times is repeated."""
    pair = validate.as_pairs(starts, ends, ("starts", "ends"))
    first, last = (validate.vectors(one, name) for one, name in zip(pair, ("starts", "ends"), strict=True))
    names = ("t0", "t1", "target_t0", "target_t1")
    most = max(count(values, name) for values, name in zip(times, names, strict=True))
    if len(first) == 1 and most > 1:
        first, last = np.repeat(first, most, axis=0), np.repeat(last, most, axis=0)
    return first, last


def _check_order(begin: Float64Array, end: Float64Array, names: tuple[str, ...]) -> None:
    """Raise ValueError where a time ends before it begins."""
    row = validate.first_bad_row(end < begin)
    if row is not None:
        raise ValueError(
            f"{names[1]}: expected at least {names[0]}, got {end[row]} < {begin[row]} in row {row}; time does not "
            "run backwards"
        )


def _offsets(path: FlightPath, pieces: int, t0: Float64Array, t1: Float64Array) -> Int64Array:
    """Where the pieces of each bullet begin; ValueError if they are not in order."""
    bullet = validate.integers(path.bullet, "path.bullet", pieces, 0, 2**31 - 1)
    step = np.diff(bullet)
    row = validate.first_bad_row((step < 0) | ((step == 0) & (t0[1:] < t1[:-1])))
    if row is not None:
        raise ValueError(
            f"path.bullet: expected pieces in the order of bullets and, of each, of time, got bullet {bullet[row + 1]} "
            f"at {t0[row + 1]} after bullet {bullet[row]} until {t1[row]} in row {row + 1}; sort them"
        )
    count = int(bullet[-1]) + 1 if pieces else 0
    return np.searchsorted(bullet, np.arange(count + 1))


def _kept_times(
    ticks: tuple[Tick, ...], begin: Float64Array, end: Float64Array, on_old: OnOld
) -> tuple[Float64Array, Float64Array, BoolArray, BoolArray]:
    """Times of targets that are kept, which ones are not those that were asked for, and which are kept at all."""
    validate.one_of(on_old, "on_old", *ON_OLD)
    first, last = ticks[0].time, ticks[-1].time
    outside = [(values < first) | (values > last) for values in (begin, end)]
    if on_old == "error":
        for name, values, bad in zip(("target_t0", "target_t1"), (begin, end), outside, strict=True):
            row = validate.first_bad_row(bad)
            if row is not None:
                more = f", {int(bad.sum())} rows in all" if bad.sum() > 1 else ""
                raise ValueError(
                    f"{name}: expected {first} to {last}, which is kept, got {values[row]} in row {row}{more}; keep "
                    "more ticks, or say what such a time means by on_old='clamp' or 'miss'"
                )
    bad = outside[0] | outside[1]
    clamped = bad if on_old == "clamp" else np.zeros(len(bad), np.bool_)
    return np.clip(begin, first, last), np.clip(end, first, last), clamped, ~bad | clamped
