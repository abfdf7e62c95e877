"""Memory for arrays: large ones are lent again once nobody holds a slice of them, and all begin with a cache line.

To have memory given back to the system and handed out anew, page by page, costs more than to fill it.
"""

from math import prod
from typing import Any, cast
from weakref import finalize

import numpy as np
from numpy.typing import DTypeLike, NDArray

from cylcollide._types import MOST_KEPT, SMALLEST_KEPT

LINE = 64
"""Bytes of a cache line: where every lent array begins."""


class Loan(np.ndarray[Any, np.dtype[np.uint8]]):
    """Lent bytes.

    A type of its own, for an array refers to the last owner that is of another type than the owner's owner: what is
    made of a loan, and slices of it, keep the loan alive, not the memory alone.
    """


_kept: dict[int, list[Loan]] = {}


def lend(size: int) -> Loan:
    """So many bytes, not yet filled; arrays are to be made with ``buffer=``."""
    room = 1 << (size + LINE).bit_length()
    kept = _kept.setdefault(room, [])
    try:
        memory = kept.pop()
    except IndexError:
        memory = Loan(room, np.uint8)  # what is not touched takes no memory
    first = -memory.ctypes.data % LINE
    loan = cast(Loan, memory[first : first + size])
    finalize(loan, _keep, memory)
    return loan


def _keep(memory: Loan) -> None:
    if sum(map(len, _kept.values())) < MOST_KEPT:
        _kept[memory.size].append(memory)


def columns(n: int, *kinds: DTypeLike) -> tuple[NDArray[Any], ...]:
    """Arrays (n,) of these kinds, largest first, to be filled."""
    sizes = [np.dtype(kind).itemsize for kind in kinds]
    if n * sum(sizes) < SMALLEST_KEPT:
        return tuple(np.empty(n, kind) for kind in kinds)
    loan, begins = lend(n * sum(sizes)), np.cumsum([0, *sizes]) * n
    return tuple(np.ndarray(n, kind, loan, begin) for kind, begin in zip(kinds, begins[:-1].tolist(), strict=True))


def rows(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """An array of float64, to be filled."""
    size = 8 * shape[0] * shape[1]
    return np.empty(shape) if size < SMALLEST_KEPT else np.ndarray(shape, np.float64, lend(size))


def aligned(shape: tuple[int, ...], kind: DTypeLike) -> NDArray[Any]:
    """An array of zeros that is kept by whoever asks: a row of eight float64 lies within one cache line."""
    size = prod(shape) * np.dtype(kind).itemsize
    memory = np.zeros(size + LINE, np.uint8)
    return np.ndarray(shape, kind, memory, -memory.ctypes.data % LINE)
