"""SIMD operations: vectors of eight numbers, and machine operations that Python does not have.

The bodies here define the result, and run as plain Python, where eight numbers are an array of eight. In compiled
functions each operation becomes one or two of LLVM's instructions (`native/emitters.py`), which become one of AVX-512,
two of AVX, four of SSE or NEON, by level of processor. Lanes hold float64 or float32, and add, subtract, multiply,
divide, compare and negate as numbers do; truths have `&` and `|`.

Operations on vectors of eight also take single numbers, with bit-equal results, so that a kernel is written once.
"""

from decimal import Context, Decimal
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

LANES = 8
"""Numbers in a vector."""

Real: TypeAlias = float
"""A float64, or a vector of eight."""
Truth: TypeAlias = bool
"""A bool, or a vector of eight."""
Short: TypeAlias = np.float32
"""A float32, not widened to float64, as in the boxes of a tree."""
Array: TypeAlias = NDArray[Any]
"""An array in C order; of float64 or float32 where lanes are loaded from it."""
Rows: TypeAlias = NDArray[np.signedinteger[Any]]
"""Row numbers, none of them negative."""


# Operations on one number or on eight.


def select(truth: Truth | np.bool_, a: Real | Short, b: Real | Short) -> Real:
    """`a` where `truth`, else `b`; a single truth may select between vectors."""
    is_of_lanes = np.ndarray in map(type, (truth, a, b))
    return cast(Real, np.where(truth, a, b) if is_of_lanes else a if truth else b)


def larger(a: Real | Short, b: Real | Short) -> Real:
    """The larger of two; `b` if either is NaN, or if they are equal."""
    return select(a > b, a, b)


def smaller(a: Real | Short, b: Real | Short) -> Real:
    """The smaller of two; `b` if either is NaN, or if they are equal."""
    return select(a < b, a, b)


def absolute(value: Real) -> Real:
    """Absolute value."""
    return abs(value)


def square_root(value: Real) -> Real:
    """Square root; NaN of a negative."""
    return cast(Real, np.sqrt(value))


def truncate(value: Real) -> Real:
    """The number rounded towards zero."""
    return cast(Real, np.trunc(value))


def with_sign(value: Real, sign: Real) -> Real:
    """The magnitude of the first with the sign of the second."""
    return cast(Real, np.copysign(value, sign))


EXACT = Context(prec=4000, traps=[])
"""Holds all digits of a product of two float64 and of its sum with a third."""


def _fused(a: float, b: float, c: float) -> float:
    """The value a b + c of single numbers: by a ratio of integers, or by decimals if that is 0 or no float64."""
    try:
        (a_top, a_bottom), (b_top, b_bottom), (c_top, c_bottom) = map(float.as_integer_ratio, (a, b, c))
        bottom = a_bottom * b_bottom
        value = (a_top * b_top * c_bottom + c_top * bottom) / (bottom * c_bottom)
    except (OverflowError, ValueError):  # infinite or NaN
        value = 0.0
    return value or float(EXACT.fma(Decimal(a), Decimal(b), Decimal(c)))


_fused_lanes = np.vectorize(_fused, otypes=[np.float64])


def fused_multiply_add(a: Real, b: Real, c: Real) -> Real:
    """The value a b + c with one rounding; in plain Python of float64 only."""
    is_of_lanes = np.ndarray in map(type, (a, b, c))
    return cast(Real, _fused_lanes(a, b, c) if is_of_lanes else np.float64(_fused(a, b, c)))


def broadcast_like(value: Real, like: Real) -> Real:
    """The number; in all eight lanes if `like` is a vector.

    It gives branches that return a constant the same type as the others.
    """
    return select(True, value, like)


def logical_not(truth: Truth) -> Truth:
    """Not `truth`, of a bool or of eight."""
    return truth == 0


# Between one number and eight.


def broadcast(number: float | Short) -> Real:
    """A vector with the number in all eight lanes, of float32 if the number is."""
    return cast(Real, np.full(LANES, number))


def lane(numbers: Real, k: int) -> float:
    """Number `k` of eight."""
    return cast(float, np.asarray(numbers)[k])


def movemask(truth: Truth) -> int:
    """Eight bools as the bits of an integer, the first one lowest; one bool as 0 or 1."""
    return sum(1 << k for k, holds in enumerate(np.atleast_1d(truth)) if holds)


def first_least(numbers: Real) -> int:
    """Index of the first minimum of eight numbers, none of them NaN."""
    return int(np.argmin(numbers))


def lowest_bit(number: int) -> int:
    """Index of the lowest bit that is set, of a positive number."""
    return int(number & -number).bit_length() - 1


def highest_bit(number: int) -> int:
    """Index of the highest bit that is set, of a positive number."""
    return int(number).bit_length() - 1


# Memory. Offsets count entries from the first of the array, and are not checked.


def load(array: Array, offset: int) -> Real:
    """Eight consecutive entries, from entry `offset` on."""
    return cast(Real, array.reshape(-1)[offset : offset + LANES].copy())


def load_triples(array: Array, offset: int) -> tuple[Real, Real, Real]:
    """Eight consecutive triples, from entry `offset` on: the vectors of their first, second and third entries."""
    x, y, z = array.reshape(-1)[offset : offset + 3 * LANES].reshape(LANES, 3).T.copy()
    return cast(Real, x), cast(Real, y), cast(Real, z)


def load_at(array: Array, rows: Rows, first: int, stride: int, column: int) -> Real:
    """Column `column` of an array whose rows are `stride` long, for the eight rows `rows[first]` and following."""
    return cast(Real, array.reshape(-1)[_eight_of(rows, first) * stride + column])


def load_rows(matrix: Array, rows: Rows, first: int, column: int) -> tuple[Real, ...]:
    """Eight columns of a matrix, from `column` on, for the eight rows `rows[first]` and following."""
    return tuple(cast(Real, matrix[_eight_of(rows, first), column + k]) for k in range(LANES))


def _eight_of(rows: Rows, first: int) -> NDArray[np.intp]:
    return rows.reshape(-1)[first : first + LANES].astype(np.intp)


def store(array: Array, offset: int, value: Real | Truth) -> None:
    """Write eight consecutive entries, from entry `offset` on, converted to the array's dtype.

    To float32 by rounding to nearest, to integers by truncation; the value must fit the signed integer of that width.
    """
    array.reshape(-1)[offset : offset + LANES] = value


def store_rows(matrix: Array, first: int, column: int, columns: tuple[Real, ...]) -> None:
    """Write eight columns, from `column` on, of the rows from `first` on; float64 is rounded to the matrix's dtype."""
    matrix[first : first + LANES, column : column + LANES] = np.array(columns).T


def append_where(array: Rows, offset: int, rows: Rows, first: int, truth: Truth) -> int:
    """Write those of the eight entries `rows[first]` and following whose truth holds, packed; returns their number.

    The rest of the eight entries from `offset` on becomes 0, any of the eight, or stays unchanged: a list of row
    numbers always holds valid ones. Both arrays hold int32.
    """
    chosen = rows.reshape(-1)[first : first + LANES][np.asarray(truth)]
    array.reshape(-1)[offset : offset + len(chosen)] = chosen
    return len(chosen)


def prefetch(array: Array, offset: int) -> None:  # a hint: nothing to do in plain Python
    """Prefetch the cache line of entry `offset` of an array."""
