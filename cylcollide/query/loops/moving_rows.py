"""Flying bullets and limbs that move, as loops read them: pieces, tick intervals, and limbs at two ticks."""

from math import inf
from typing import NamedTuple, TypeAlias

import numpy as np

from cylcollide._types import Column, Float64Array, LayerMasks, Rows, Shape, Vectors
from cylcollide.bones.bone import between, carried, rotation_of
from cylcollide.constants import LARGEST_SAFE, SMALLEST_SAFE, SMALLEST_SPAN
from cylcollide.kernels.double_double import (
    DoubleDouble,
    DoubleDoubleVector,
    Vector,
    as_double_double,
    dd_add,
    dd_divide,
    dd_multiply,
    two_difference,
)
from cylcollide.kernels.ray import as_vector, largest_component, subtract
from cylcollide.kernels.traits import WITH_AXES
from cylcollide.recorded.limbs import (
    Recorded,
    TickRows,
    bone_orientation,
    bone_position,
    character_of,
    is_by_ends,
    layers_of,
    local_ends,
    model_of,
    next_row,
    ticks_around,
    triple,
)
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.simd import Real, select

BOX, CAPSULE, SPHERE = int(Shape.BOX), int(Shape.CAPSULE), int(Shape.SPHERE)

P1, P2, P1_NEXT, P2_NEXT, RADIUS, RADIUS2, EXTENT, MOVING_ROW = 0, 3, 6, 9, 12, 13, 14, 16
"""Columns of `MovingRows.rows`, points by their first, and how many there are."""

START, END, ALPHA0, ALPHA1, INTERVAL_ROW = 0, 3, 6, 7, 8
"""Columns of `IntervalRows.rows`."""

HERE, THERE, TURN, TURN_NEXT, CENTRE, AXES, HALF, PATH_ROW = 0, 3, 6, 10, 14, 17, 26, 32
"""Columns of `MovingRows.paths`, as `BoxPath` has them."""

STAYS, NO_BOX = -1, -1
"""In place of a row of the next tick, and of one of `MovingRows.paths`."""

ZERO, ONE = (0.0, 0.0), (1.0, 0.0)

SMALLEST_PART = 2.0**-40
"""Least coordinates in an interval, relative to the whole flight's: double-doubles then err by less than u**1.2."""


class FlightRows(NamedTuple):
    """Pieces of flights; (pieces,) each, and the times of the ticks."""

    starts: Vectors  # (pieces, 3)
    ends: Vectors  # (pieces, 3)
    t0: Column[np.float64]  # of the bullet
    t1: Column[np.float64]
    target_t0: Column[np.float64]  # of the targets
    target_t1: Column[np.float64]
    times: Column[np.float64]  # (ticks + 1,): of the ticks, the last one twice


class IntervalRows(NamedTuple):
    """The parts of pieces within one tick each, in the order of pieces and of time; (n,) each.

    An interval is where tick k counts: time_k <= T(s) < time_k+1, T the targets' time. Its last moment belongs to the
    next one, except in the last interval of a piece.
    """

    offsets: Column[np.int64]  # (bullets + 1,): intervals of bullet b are offsets[b] to offsets[b + 1]
    rows: Rows[np.float64]  # (n, INTERVAL_ROW): the bullet at both ends and alphas there, rounded
    piece: Column[np.int64]
    tick: Column[np.int64]  # place among the times
    is_last: Column[np.bool_]  # of its piece
    is_open: Column[np.bool_]  # left to exact arithmetic if a limb may be hit


class MovingRows(NamedTuple):
    """The columns of n limbs between two ticks."""

    rows: Rows[np.float64]  # (n, MOVING_ROW): ends at both ticks, or its centre twice, radii and extent
    paths: Rows[np.float64]  # (boxes, PATH_ROW)
    row: Column[np.int32]  # of the state of the tick
    kind: Column[np.int8]  # Shape
    kernel_shape: Column[np.int8]  # Shape, SPHERE for a capsule that has no length at both ticks
    next_row: Column[np.int32]  # of the state of the next tick, `STAYS` for one that stays until then
    character: Column[np.int32]
    mask: LayerMasks
    box: Column[np.int32]  # row of `paths`, -1 for a shape without axes


Ends: TypeAlias = tuple[DoubleDouble, DoubleDouble]
"""A number at both ends of a tick interval."""


@compiled_loop
def fill_intervals(
    flights: FlightRows,
    first: Column[np.int64],
    last: Column[np.int64],
    before: Column[np.int64],
    intervals: IntervalRows,
) -> None:
    """Write the intervals of pieces, `offsets` excepted. One is open if double-doubles do not hold its ends.

    `first`, `last`: the ticks in which each piece begins and ends. `before` (pieces + 1,): how many intervals precede
    those of each piece, then their total. A piece without intervals misses.
    """
    for i in range(first.size):
        start, goal = as_vector(flights.starts, i), as_vector(flights.ends, i)
        for j in range(before[i], before[i + 1]):
            k, row = first[i] + j - before[i], intervals.rows[j]
            s, alpha, is_known = limits_of(flights, i, k)
            # rounded once, each coordinate errs by its own last digit, however long the whole flight is
            begin, end = end_at(start, goal, s[0]), end_at(start, goal, s[1])
            row[ALPHA0], row[ALPHA1] = alpha[0][0], alpha[1][0]
            largest = 0.0
            for axis in range(3):
                row[START + axis], row[END + axis] = begin[axis][0], end[axis][0]
                largest = max(largest, abs(begin[axis][0]), abs(end[axis][0]))
            reach = max(largest_component(start), largest_component(goal))
            intervals.piece[j], intervals.tick[j], intervals.is_last[j] = i, k, k == last[i]
            intervals.is_open[j] = not (is_known and reach * SMALLEST_PART <= largest)


@inlined
def limits_of(flights: FlightRows, piece: int, k: int) -> tuple[Ends, Ends, bool]:
    """S and alpha at both ends of the interval of a piece in tick k, and whether they have double-double accuracy."""
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
    return (s0, s1), (alpha0, alpha1), is_known


@compiled
def end_at(a: Vector, b: Vector, share: DoubleDouble) -> DoubleDoubleVector:
    """`dd_between` of one pair, faster at both ends: most intervals begin or end with their piece."""
    if share == ZERO:
        return as_double_double(a)
    return as_double_double(b) if share == ONE else dd_between(a, b, share)


@inlined
def dd_between(a: Vector, b: Vector, share: DoubleDouble) -> DoubleDoubleVector:
    """The point at a share between a and b, exactly a or b at the ends; of one pair, or of eight."""
    begins, ends = share[0] == 0.0, (share[0] == 1.0) & (share[1] == 0.0)
    x, y, z = number_between(a[0], b[0], share), number_between(a[1], b[1], share), number_between(a[2], b[2], share)
    exact = begins | ends
    return (
        (select(begins, a[0], select(ends, b[0], x[0])), select(exact, 0.0, x[1])),
        (select(begins, a[1], select(ends, b[1], y[0])), select(exact, 0.0, y[1])),
        (select(begins, a[2], select(ends, b[2], z[0])), select(exact, 0.0, z[1])),
    )


@inlined
def number_between(a: Real, b: Real, share: DoubleDouble) -> DoubleDouble:
    """The number at a share between a and b."""
    return dd_add((a, 0.0), dd_multiply(share, two_difference(b, a)))


@compiled_loop
def fill_moving_rows(recorded: Recorded, tick: Column[np.int32], table: MovingRows) -> None:
    """Write n limbs between two ticks, except `paths`; `tick` is the place of each tick, `table.row` the row there.

    A limb whose sizes float64 products cannot hold gets an infinite extent, so that every bullet is undecided.
    """
    last, current, boxes = recorded.address.shape[0] - 1, 0, 0
    here, there = ticks_around(recorded, 0)
    for i in range(tick.size):
        if tick[i] != current:
            current = tick[i]
            here, there = ticks_around(recorded, current)
        row, following = table.row[i], STAYS
        model = here.limb[row]["model"]
        if current < last:
            following = next_row(here, row)
        p, q = recorded_ends(here, row)
        u, v = recorded_ends(there, following) if following >= 0 else (p, q)
        kind = here.model[model]["kind"]
        has_axes = kind in WITH_AXES
        if has_axes:
            q, v = p, u
        table.kind[i], table.next_row[i], table.box[i] = kind, following, boxes if has_axes else NO_BOX
        boxes += has_axes
        table.character[i], table.mask[i] = character_of(here, row), layers_of(here, row)
        numbers = table.rows[i]
        numbers[RADIUS], numbers[RADIUS2] = here.numbers[model, 6], here.numbers[model, 7]
        for axis in range(3):
            numbers[P1 + axis], numbers[P2 + axis], numbers[P1_NEXT + axis] = p[axis], q[axis], u[axis]
            numbers[P2_NEXT + axis] = v[axis]
        length, longest = axis_length(p, q), max(axis_length(p, q), axis_length(u, v))
        table.kernel_shape[i] = SPHERE if kind == CAPSULE and longest == 0.0 else kind
        numbers[EXTENT] = moving_extent(numbers, length, axis_length(u, v))
        if has_axes:
            numbers[EXTENT] = 0.0 if kind == BOX else inf  # the kernel of boxes computes its own


@inlined
def recorded_ends(here: TickRows, row: int) -> tuple[Vector, Vector]:
    """The ends of a limb at its tick, as recorded or carried by its bone; if it has axes, its centre comes first."""
    if is_by_ends(here, row):
        return triple(here.p1, row), triple(here.p2, row)
    bone = here.character[here.limb[row]["owner"]]["first_bone"] + model_of(here, row)["bone"]
    origin, rotation = bone_position(here.bones, bone), rotation_of(bone_orientation(here.bones, bone))
    local1, local2 = local_ends(here, here.limb[row]["model"])
    return carried(rotation, origin, local1), carried(rotation, origin, local2)


@inlined
def axis_length(p: Vector, q: Vector) -> float:
    """The largest component of the vector from p to q."""
    return largest_component(subtract(q, p))


@inlined
def moving_extent(row: Float64Array, length: float, length_next: float) -> float:
    """The extent of a limb at both ticks; inf if float64 products cannot hold its sizes."""
    extent, size = 0.0, max(row[RADIUS], row[RADIUS2])
    for column in range(P1, RADIUS):
        extent = max(extent, abs(row[column]))
    is_safe = size >= SMALLEST_SAFE and extent + size <= LARGEST_SAFE
    is_safe &= (length >= SMALLEST_SAFE or length == 0.0) and (length_next >= SMALLEST_SAFE or length_next == 0.0)
    return extent + size if is_safe else inf


@inlined
def vector(row: Float64Array, first: int) -> Vector:
    """Three columns of a row, from `first` on."""
    return row[first], row[first + 1], row[first + 2]


@inlined
def place_between(a: Vector, b: Vector, alpha: Real) -> Vector:
    """The point at alpha between two points; of one limb, or of eight."""
    return between(a[0], b[0], alpha), between(a[1], b[1], alpha), between(a[2], b[2], alpha)
