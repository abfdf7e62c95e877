"""SIMD operations for numba: vectors of eight numbers, and the machine operations that numba itself does not offer.

Each operation compiles to one or two of LLVM's instructions, which become one of AVX-512, two of AVX, four of SSE or
NEON, whatever the processor has. The bodies here define the result, and run where nothing is compiled
(`NUMBA_DISABLE_JIT=1`): there eight numbers are an array of eight. Lanes hold float64 or float32, and add, subtract,
multiply, divide, compare and negate as numbers do; truths have `&` and `|`.

Operations on vectors of eight also take single numbers, with bit-equal results, so that a kernel is written once.
"""

import ctypes
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import inf, isfinite
from typing import Any, TypeAlias, cast

import numpy as np
from llvmlite import ir
from numba.core import types
from numpy.typing import NDArray

from cylcollide.runtime import simd_llvm
from cylcollide.runtime.simd_llvm import LANES
from cylcollide.runtime.simd_types import TRUTHS, choice, elementwise, lanes_of, lanes_of_number, machine

__all__ = [
    "LANES",
    "Real",
    "Truth",
    "absolute",
    "append_where",
    "broadcast",
    "broadcast_like",
    "fused_multiply_add",
    "highest_bit",
    "lane",
    "larger",
    "load",
    "load_at",
    "load_rows",
    "load_triples",
    "logical_not",
    "lowest_bit",
    "movemask",
    "prefetch",
    "select",
    "smaller",
    "square_root",
    "store",
    "store_rows",
    "truncate",
    "with_sign",
]

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


def _where(truth: Any, a: Any, b: Any) -> Real:
    """`a` where `truth`, else `b`; a vector if any of the three is one."""
    if any(np.ndim(value) for value in (truth, a, b)):
        return cast(Real, np.where(truth, a, b))
    return cast(Real, a if truth else b)


@machine(choice, simd_llvm.select)
def select(truth: Truth, a: Real, b: Real) -> Real:
    """`a` where `truth`, else `b`; a single truth may select between vectors."""
    return _where(truth, a, b)


@elementwise(simd_llvm.larger)
def larger(a: Real | Short, b: Real | Short) -> Real:
    """The larger of two; `b` if either is NaN, or if they are equal."""
    return _where(a > b, a, b)


@elementwise(simd_llvm.smaller)
def smaller(a: Real | Short, b: Real | Short) -> Real:
    """The smaller of two; `b` if either is NaN, or if they are equal."""
    return _where(a < b, a, b)


@elementwise(simd_llvm.call("fabs"))
def absolute(value: Real) -> Real:
    """Absolute value."""
    return abs(value)


@elementwise(simd_llvm.call("sqrt"))
def square_root(value: Real) -> Real:
    """Square root; NaN of a negative."""
    return cast(Real, np.sqrt(value))


@elementwise(simd_llvm.call("trunc"))
def truncate(value: Real) -> Real:
    """The number rounded towards zero."""
    return cast(Real, np.trunc(value))


@elementwise(simd_llvm.call("copysign"))
def with_sign(value: Real, sign: Real) -> Real:
    """The magnitude of the first with the sign of the second."""
    return cast(Real, np.copysign(value, sign))


@elementwise(simd_llvm.call("fma"))
def fused_multiply_add(a: Real, b: Real, c: Real) -> Real:
    """The value a b + c with one rounding; of float64 only where nothing is compiled."""
    if any(np.ndim(value) for value in (a, b, c)):
        return cast(Real, np.vectorize(_fused, otypes=[np.float64])(a, b, c))
    return _fused(a, b, c)


@elementwise(simd_llvm.first)
def broadcast_like(value: Real, like: Real) -> Real:
    """The number; in all eight lanes if `like` is a vector.

    It gives branches that return a constant the same type as the others.
    """
    return _where(True, value, like)


@machine(lambda truth: truth(truth), ir.IRBuilder.not_)
def logical_not(truth: Truth) -> Truth:
    """Not `truth`, of a bool or of eight."""
    return truth == 0


@cache
def _fma_of_c() -> Callable[[float, float, float], float] | None:
    """The C library's `fma`, None if it cannot be loaded."""
    try:
        function = ctypes.CDLL(None).fma
    except (AttributeError, OSError, TypeError):
        return None
    function.argtypes, function.restype = [ctypes.c_double] * 3, ctypes.c_double
    return cast(Callable[[float, float, float], float], function)


def _fused(a: float, b: float, c: float) -> float:
    """The value a b + c rounded once: by the C library, or by rational arithmetic."""
    function = _fma_of_c() or _fused_by_fractions
    return function(a, b, c)


def _fused_by_fractions(a: float, b: float, c: float) -> float:
    """The value a b + c rounded once, by rational arithmetic unless an operand is zero or not finite."""
    if isfinite(a) and isfinite(b) and not isfinite(c):
        return c
    if a == 0.0 or b == 0.0 or not (isfinite(a) and isfinite(b)):
        return a * b + c
    total = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return float(total)
    except OverflowError:
        return inf if total > 0 else -inf


# Between one number and eight.


@machine(lambda number: lanes_of_number(number)(lanes_of_number(number).element), simd_llvm.broadcast)
def broadcast(number: float | Short) -> Real:
    """A vector with the number in all eight lanes, of float32 if the number is."""
    return cast(Real, np.full(LANES, number))


@machine(lambda numbers, _k: numbers.element(numbers, types.int64), simd_llvm.lane)
def lane(numbers: Real, k: int) -> float:
    """Number `k` of eight."""
    return cast(float, np.asarray(numbers)[k])


@machine(lambda _truth: types.int64(TRUTHS), simd_llvm.movemask)
def movemask(truth: Truth) -> int:
    """Eight bools as the bits of an integer, the first one lowest."""
    return sum(1 << k for k, holds in enumerate(np.asarray(truth)) if holds)


@machine(lambda _number: types.int64(types.int64), simd_llvm.lowest_bit)
def lowest_bit(number: int) -> int:
    """Index of the lowest bit that is set, of a positive number."""
    return int(number & -number).bit_length() - 1


@machine(lambda _number: types.int64(types.int64), simd_llvm.highest_bit)
def highest_bit(number: int) -> int:
    """Index of the highest bit that is set, of a positive number."""
    return int(number).bit_length() - 1


# Memory. Offsets count entries from the first of the array, and are not checked.


@machine(lambda array, _offset: lanes_of(array)(array, types.intp), simd_llvm.load)
def load(array: Array, offset: int) -> Real:
    """Eight consecutive entries, from entry `offset` on."""
    return cast(Real, array.reshape(-1)[offset : offset + LANES].copy())


@machine(lambda array, _offset: types.UniTuple(lanes_of(array), 3)(array, types.intp), simd_llvm.load_triples)
def load_triples(array: Array, offset: int) -> tuple[Real, Real, Real]:
    """Eight consecutive triples, from entry `offset` on: the vectors of their first, second and third entries."""
    x, y, z = array.reshape(-1)[offset : offset + 3 * LANES].reshape(LANES, 3).T.copy()
    return cast(Real, x), cast(Real, y), cast(Real, z)


@machine(lambda array, rows, *_: lanes_of(array)(array, rows, types.intp, types.intp, types.intp), simd_llvm.load_at)
def load_at(array: Array, rows: Rows, first: int, stride: int, column: int) -> Real:
    """Column `column` of an array whose rows are `stride` long, for the eight rows `rows[first]` and following."""
    return cast(Real, array.reshape(-1)[_eight_of(rows, first) * stride + column])


@machine(
    lambda matrix, rows, *_: types.UniTuple(lanes_of(matrix), LANES)(matrix, rows, types.intp, types.intp),
    simd_llvm.load_rows,
)
def load_rows(matrix: Array, rows: Rows, first: int, column: int) -> tuple[Real, ...]:
    """Eight columns of a matrix, from `column` on, for the eight rows `rows[first]` and following."""
    return tuple(cast(Real, matrix[_eight_of(rows, first), column + k]) for k in range(LANES))


def _eight_of(rows: Rows, first: int) -> NDArray[np.intp]:
    return rows.reshape(-1)[first : first + LANES].astype(np.intp)


@machine(lambda array, _offset, value: types.void(array, types.intp, value), simd_llvm.store)
def store(array: Array, offset: int, value: Real | Truth) -> None:
    """Write eight consecutive entries, from entry `offset` on, converted to the array's dtype.

    To float32 by rounding to nearest, to integers by truncation; the value must fit the signed integer of that width.
    """
    array.reshape(-1)[offset : offset + LANES] = value


@machine(
    lambda matrix, _first, _column, columns: types.void(matrix, types.intp, types.intp, columns),
    simd_llvm.store_rows,
)
def store_rows(matrix: Array, first: int, column: int, columns: tuple[Real, ...]) -> None:
    """Write eight columns, from `column` on, of the rows from `first` on; float64 is rounded to the matrix's dtype."""
    matrix[first : first + LANES, column : column + LANES] = np.array(columns).T


@machine(
    lambda array, _offset, rows, *_: types.int64(array, types.intp, rows, types.intp, TRUTHS),
    simd_llvm.append_where,
)
def append_where(array: Rows, offset: int, rows: Rows, first: int, truth: Truth) -> int:
    """Write those of the eight entries `rows[first]` and following whose truth holds, packed; returns their number.

    The rest of the eight entries from `offset` on is 0 then, or unchanged: eight entries read from a list of row
    numbers are always valid ones. Both arrays hold integers of one dtype.
    """
    chosen = rows.reshape(-1)[first : first + LANES][np.asarray(truth)]
    array.reshape(-1)[offset : offset + len(chosen)] = chosen
    return len(chosen)


@machine(lambda array, _offset: types.void(array, types.intp), simd_llvm.prefetch)
def prefetch(array: Array, offset: int) -> None:  # a hint: nothing to do where nothing is compiled
    """Prefetch the cache line of entry `offset` of an array."""
