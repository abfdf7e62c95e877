"""Flying bullets and limbs that move, as loops read them: pieces, stretches, and limbs at two ticks."""

from math import inf
from typing import NamedTuple

from cylcollide._types import BoolArray, Float64Array, Int8Array, Int32Array, Int64Array, Shape, Uint32Array
from cylcollide.constants import LARGEST_SAFE, SMALLEST_SAFE, SMALLEST_SPAN
from cylcollide.kernels.double_double import (
    DoubleDouble,
    DoubleDoubleVector,
    Vector,
    dd_add,
    dd_divide,
    dd_multiply,
    two_difference,
)
from cylcollide.kernels.interpolation import between
from cylcollide.kernels.moving_box import BoxPath
from cylcollide.kernels.ray import as_vector, largest_component
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.entry_point import entry_point

BOX, CAPSULE, SPHERE = int(Shape.BOX), int(Shape.CAPSULE), int(Shape.SPHERE)

P1, P2, P1_NEXT, P2_NEXT, RADIUS, RADIUS2, EXTENT, MOVING_ROW = 0, 3, 6, 9, 12, 13, 14, 16
"""Columns of `MovingRows.rows`, points by their first, and how many there are."""

START, END, ALPHA0, ALPHA1, STRETCH_ROW = 0, 3, 6, 7, 8
"""Columns of `StretchRows.rows`."""

HERE, THERE, TURN, TURN_NEXT, CENTRE, AXES, HALF, PATH_ROW = 0, 3, 6, 10, 14, 17, 26, 32
"""Columns of `MovingRows.paths`, as `BoxPath` has them."""


ZERO, ONE = (0.0, 0.0), (1.0, 0.0)

SMALLEST_PART = 2.0**-40
"""Least coordinates of a stretch, of those of the whole flight: double-doubles then err by less than u**1.2 of them."""


class FlightRows(NamedTuple):
    """Pieces of flights; (pieces,) each, and the times of the ticks."""

    starts: Float64Array  # (pieces, 3)
    ends: Float64Array  # (pieces, 3)
    t0: Float64Array  # of the bullet
    t1: Float64Array
    target_t0: Float64Array  # of the targets
    target_t1: Float64Array
    times: Float64Array  # (ticks + 1,): of the ticks, the last one twice


class StretchRows(NamedTuple):
    """The parts of pieces within one tick each, in the order of pieces and of time; (n,) each.

    A stretch is where tick k counts: time_k <= T(s) < time_k+1, T the targets' time. Its last moment belongs to the
    next one, but for the last stretch of a piece.
    """

    offsets: Int64Array  # (bullets + 1,): stretches of bullet b are offsets[b] to offsets[b + 1]
    piece: Int64Array
    tick: Int64Array  # place among the times
    rows: Float64Array  # (n, STRETCH_ROW): the bullet at both ends and alphas there, rounded
    is_last: BoolArray  # of its piece
    is_open: BoolArray  # left to exact arithmetic if a limb may be hit


class MovingRows(NamedTuple):
    """The columns of n limbs between two ticks that loops read."""

    solid: Int8Array  # (n,): Shape, SPHERE for a capsule that has no length at both ticks
    character: Int32Array  # (n,)
    mask: Uint32Array  # (n,): layers
    rows: Float64Array  # (n, MOVING_ROW)
    box: Int32Array  # (n,): row of `paths`, -1 for other shapes
    paths: Float64Array  # (boxes, PATH_ROW)


class Limits(NamedTuple):
    """Both ends of a stretch."""

    s: tuple[DoubleDouble, DoubleDouble]
    alpha: tuple[DoubleDouble, DoubleDouble]


@entry_point(reads_all=True)
def fill_stretches(
    flights: FlightRows, first: Int64Array, last: Int64Array, before: Int64Array, stretches: StretchRows
) -> None:
    """Write the stretches of pieces, `offsets` excepted. One is open if double-doubles do not hold its ends.

    Parameters
    ----------
    first, last, before
        Of each piece the ticks in which it begins and ends, and how many stretches come before its own; those of the
        last piece end with `before[pieces]`. A piece without stretches misses.
    """
    for i in range(first.size):
        start, goal = as_vector(flights.starts, i), as_vector(flights.ends, i)
        for j in range(before[i], before[i + 1]):
            k, row = first[i] + j - before[i], stretches.rows[j]
            limits, is_known = limits_of(flights, i, k)
            # rounded once, each coordinate errs by its own last digit, however long the whole flight is
            begin, end = dd_between(start, goal, limits.s[0]), dd_between(start, goal, limits.s[1])
            row[ALPHA0], row[ALPHA1] = limits.alpha[0][0], limits.alpha[1][0]
            largest = 0.0
            for axis in range(3):
                row[START + axis], row[END + axis] = begin[axis][0], end[axis][0]
                largest = max(largest, abs(begin[axis][0]), abs(end[axis][0]))
            reach = max(largest_component(start), largest_component(goal))
            stretches.piece[j], stretches.tick[j], stretches.is_last[j] = i, k, k == last[i]
            stretches.is_open[j] = not (is_known and reach * SMALLEST_PART <= largest)


@inlined
def limits_of(flights: FlightRows, piece: int, k: int) -> tuple[Limits, bool]:
    """Both ends of the stretch of a piece in tick k, and whether they have the accuracy of double-doubles."""
    first, last = flights.target_t0[piece], flights.target_t1[piece]
    time, after = flights.times[k], flights.times[k + 1]
    span, step = two_difference(last, first), two_difference(after, time)
    s0, s1, alpha0, alpha1 = ZERO, ONE, ZERO, ONE
    is_known = True
    if first < time:
        s0 = dd_divide(two_difference(time, first), span)
        is_known &= span[0] >= SMALLEST_SPAN
    elif first > time:
        alpha0 = dd_divide(two_difference(first, time), step)
        is_known &= step[0] >= SMALLEST_SPAN
    if after > time:
        if last >= after:
            s1 = dd_divide(two_difference(after, first), span)
            is_known &= span[0] >= SMALLEST_SPAN
        else:
            alpha1 = dd_divide(two_difference(last, time), step)
            is_known &= step[0] >= SMALLEST_SPAN
    else:
        alpha1 = ZERO
    return Limits((s0, s1), (alpha0, alpha1)), is_known


@compiled
def dd_between(a: Vector, b: Vector, share: DoubleDouble) -> DoubleDoubleVector:
    """The point between a and b."""
    if share == ZERO:
        return (a[0], 0.0), (a[1], 0.0), (a[2], 0.0)
    if share == ONE:
        return (b[0], 0.0), (b[1], 0.0), (b[2], 0.0)
    return number_between(a[0], b[0], share), number_between(a[1], b[1], share), number_between(a[2], b[2], share)


@inlined
def number_between(a: float, b: float, share: DoubleDouble) -> DoubleDouble:
    """The number between a and b."""
    return dd_add((a, 0.0), dd_multiply(share, two_difference(b, a)))


@entry_point(reads_all=True)
def fill_moving_rows(
    kind: Int8Array,
    here: Float64Array,
    there: Float64Array,
    radius: Float64Array,
    radius2: Float64Array,
    table: MovingRows,
) -> None:
    """Write `solid` and `rows`; p1 and p2 of limbs at both ticks are (n, 2, 3).

    A limb whose sizes float64 products cannot hold gets an infinite extent, so that every bullet is undecided.
    """
    for i in range(kind.size):
        row, extent, longest, size = table.rows[i], 0.0, 0.0, max(radius[i], radius2[i])
        for axis in range(3):
            row[P1 + axis], row[P2 + axis] = here[i, 0, axis], here[i, 1, axis]
            row[P1_NEXT + axis], row[P2_NEXT + axis] = there[i, 0, axis], there[i, 1, axis]
        is_safe = size >= SMALLEST_SAFE
        for first in (P1, P1_NEXT):
            length = 0.0
            for axis in range(3):
                a, b = row[first + axis], row[first + P2 + axis]
                extent, length = max(extent, abs(a), abs(b)), max(length, abs(b - a))
            is_safe &= length >= SMALLEST_SAFE or length == 0.0
            longest = max(longest, length)
        row[RADIUS], row[RADIUS2] = radius[i], radius2[i]
        row[EXTENT] = extent + size if is_safe and extent + size <= LARGEST_SAFE else inf
        table.solid[i] = SPHERE if kind[i] == CAPSULE and longest == 0.0 else kind[i]
        if kind[i] == BOX:
            row[EXTENT] = 0.0  # the kernel of boxes knows its own


@inlined
def vector(row: Float64Array, first: int) -> Vector:
    """Three columns of a row, from `first` on."""
    return row[first], row[first + 1], row[first + 2]


@inlined
def vector_between(row: Float64Array, first: int, last: int, alpha: float) -> Vector:
    """The point between two points of a row."""
    return (
        between(row[first], row[last], alpha),
        between(row[first + 1], row[last + 1], alpha),
        between(row[first + 2], row[last + 2], alpha),
    )


@inlined
def box_path(path: Float64Array) -> BoxPath:
    """A row of `MovingRows.paths`."""
    turn = (path[TURN], path[TURN + 1], path[TURN + 2], path[TURN + 3])
    turn_next = (path[TURN_NEXT], path[TURN_NEXT + 1], path[TURN_NEXT + 2], path[TURN_NEXT + 3])
    axes = (vector(path, AXES), vector(path, AXES + 3), vector(path, AXES + 6))
    return BoxPath(
        vector(path, HERE), vector(path, THERE), turn, turn_next, vector(path, CENTRE), axes, vector(path, HALF)
    )
