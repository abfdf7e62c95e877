"""Trajectories under gravity and drag as straight pieces, with a bound on their distance from the curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import Float64Array, Int32Array, Int64Array
from cylcollide.constants import LARGEST_NUMBER, SMALLEST_SIZE
from cylcollide.moving.ballistics import MOST_STEPS, STEPS_PER_DRAG, fly_bullets
from cylcollide.query.arguments import VECTORS, dimensions, flattened
from cylcollide.query.record import Record
from cylcollide.query.request import as_pairs
from cylcollide.runtime.memory import frozen

PIECES = 64
"""Pieces of a flight if no step is given: 4096 times as close to the curve as one straight line."""

MOST_PIECES = 2**26
"""Largest number of pieces of all flights of a call; they take 5 GB."""


@dataclass(frozen=True, eq=False)
class FlightPath(Record):
    """Flights as p straight pieces: bullet by bullet, in the order of time. Arrays are read-only."""

    starts: Float64Array
    """Start of each piece, (p, 3)."""
    ends: Float64Array
    """End of each piece, (p, 3): bit for bit the start of the next piece of the same bullet."""
    t0: Float64Array
    """Time at the start of each piece, (p,)."""
    t1: Float64Array
    """Time at the end of each piece, (p,): bit for bit `t0` of the next piece of the same bullet."""
    bullet: Int32Array
    """Row of the bullet, (p,)."""
    error: Float64Array
    """Bound, (p,), on the distance between piece and curve at the same time."""

    def __len__(self) -> int:
        return len(self.error)


def flight(
    starts: ArrayLike,
    velocities: ArrayLike,
    duration: ArrayLike,
    *,
    gravity: ArrayLike = (0.0, 0.0, 0.0),
    drag: ArrayLike = 0.0,
    step: ArrayLike | None = None,
    t0: ArrayLike = 0.0,
) -> FlightPath:
    """Flights of bullets as straight pieces; the acceleration is `gravity - drag |v| v`.

    Parameters
    ----------
    starts
        Positions of bullets at `t0`, (..., 3) or one for all; n rows in C order.
    velocities
        Velocities at `t0`, lengths per time, (..., 3) or one for all.
    duration
        Duration of each flight, above 0, (...) or one for all, as are `drag`, `step` and `t0`.
    gravity
        Acceleration, (..., 3) or one for all.
    drag
        The deceleration divided by the square of the speed, 1 / length, at least 0: 0.5 · density
        of the air · drag coefficient · cross-section / mass.
    step
        The longest duration of a piece, up to rounding. A piece is at most acceleration · step² / 8
        away from the curve, so sqrt(8 · distance / acceleration) keeps it within a distance. By
        default 1/64 of the duration: pieces are then 4096 times closer to the curve than one
        straight line.
    t0
        Time of each bullet at its start.

    Returns
    -------
    FlightPath
        Pieces of equal duration, at least one for each bullet.

    Raises
    ------
    ValueError
        On numbers that are not accepted, a duration or step of 0, a drag below 0, more than 2²⁶
        pieces, and flights that leave the accepted range or decelerate too fast for their step. The
        message names the first row.
    """
    given: dict[str, Any] = {"starts": starts, "velocities": velocities, "duration": duration, "gravity": gravity}
    given |= {"drag": drag, "step": step, "t0": t0}
    if any(dimensions(values) - (name in VECTORS) > 1 for name, values in given.items() if values is not None):
        given, _ = flattened(given, list(given))
        starts, velocities, duration, gravity, drag, step, t0 = given.values()
    places, speeds = as_pairs(starts, velocities, ("starts", "velocities"))
    n = len(places)
    position, velocity = validate.in_range(places, "starts").copy(), validate.in_range(speeds, "velocities").copy()
    times, begin = _positive(duration, "duration", n), validate.per_row(t0, "t0", n)
    longest = times / PIECES if step is None else _positive(step, "step", n)
    drags, pull = validate.per_row(drag, "drag", n), _gravity(gravity, n)
    row = validate.first_bad_row(drags < 0.0)
    if row is not None:
        raise ValueError(f"drag: expected >= 0, got {drags[row]} in row {row}; drag slows a bullet down")
    pieces = _pieces(times, longest)
    first = np.concatenate([[0], np.cumsum(pieces)])
    total = int(first[-1])
    bullet = np.repeat(np.arange(n, dtype=np.int32), pieces)
    path = FlightPath(
        np.empty((total, 3)), np.empty((total, 3)), np.empty(total), np.empty(total), bullet, np.empty(total)
    )
    columns = path.starts, path.ends, path.t0, path.t1, path.error
    bad = fly_bullets(position, velocity, pull, drags, begin, times, first, *columns)
    if bad >= 0:
        raise ValueError(
            f"step: expected pieces so short that drag * (speed + 2 |gravity| * step) * step is at most "
            f"{MOST_STEPS / STEPS_PER_DRAG:.0f}, got {path.error[bad] / STEPS_PER_DRAG:.3g} in row {bullet[bad]}; "
            "choose a shorter step"
        )
    _check_range(path)
    for column in (*columns, bullet):
        frozen(column)
    return path


def _gravity(values: ArrayLike, n: int) -> Float64Array:
    """Accelerations (n, 3), given as one for all or one per bullet."""
    rows = validate.vectors(values, "gravity")
    if len(rows) not in (1, n):
        raise ValueError(
            f"gravity: expected shape (3,) or ({n}, 3), got {rows.shape}; give one for all or one per bullet"
        )
    return np.ascontiguousarray(np.broadcast_to(rows, (n, 3)))


def _positive(values: ArrayLike, name: str, n: int) -> Float64Array:
    """Times above 0 as (n,), given as (n,) or one for all."""
    times = validate.in_range(validate.per_row(values, name, n), name)
    row = validate.first_bad_row(times < SMALLEST_SIZE)
    if row is not None:
        raise ValueError(
            f"{name}: expected > 0, at least 2**-500 (about 3e-151), got {times[row]} in row {row}; leave out such "
            "bullets"
        )
    return times


def _pieces(duration: Float64Array, longest: Float64Array) -> Int64Array:
    """The number of pieces of each flight, (n,)."""
    pieces = np.maximum(1.0, np.ceil(duration / longest))
    if not pieces.sum() <= MOST_PIECES:
        row = int(pieces.argmax())
        raise ValueError(
            f"step: expected at most 2**26 pieces in all, got {pieces.sum():.3g}, {pieces[row]:.3g} of them in row "
            f"{row}, of {longest[row]} in {duration[row]}; choose a longer step"
        )
    return pieces.astype(np.int64)


def _check_range(path: FlightPath) -> None:
    """Raise ValueError for a flight that leaves the accepted range, or has pieces of duration 0 after rounding."""
    k = validate.first_bad_row(~(path.t1 > path.t0))
    if k is not None:
        raise ValueError(
            f"t0: expected pieces that end later than they begin, got one from {path.t0[k]} to {path.t1[k]} after "
            f"rounding in row {path.bullet[k]}; choose longer steps, or count time from a later zero"
        )
    numbers = (path.ends, path.t1, path.error)
    if not np.max([[-column.min(initial=0.0), column.max(initial=0.0)] for column in numbers]) <= LARGEST_NUMBER:
        k = int(np.flatnonzero(~(np.abs(np.column_stack(numbers)) <= LARGEST_NUMBER).all(axis=1))[0])
        raise ValueError(
            f"duration: expected flights and bounds of at most 2**500 (about 3e150), got {path.ends[k].tolist()} at "
            f"time {path.t1[k]} in row {path.bullet[k]}; shorten it, or choose a larger unit"
        )
