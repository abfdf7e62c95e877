"""Memory for arrays: large ones are lent again once nobody holds a slice of them, and all begin with a cache line.

To have memory given back to the system and handed out anew, page by page, costs more than to fill it.
"""

from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from cylcollide.constants import MOST_KEPT, SMALLEST_KEPT

LINE = 64
"""Bytes of a cache line: where every lent array begins."""

_free: dict[int, list[NDArray[np.uint8]]] = {}


class PooledBuffer:
    """Lent bytes, which go back when nobody refers to them.

    Arrays are made of it through the array interface: numpy lets them and their slices refer to one array of bytes, and
    that one to this.
    """

    _free, _most = _free, MOST_KEPT  # while a program ends, names of the module may be gone before a loan is

    def __init__(self, memory: NDArray[np.uint8], size: int) -> None:
        self._memory = memory
        address = memory.__array_interface__["data"][0]
        data = (address + -address % LINE, False)
        self.__array_interface__ = {"shape": (size,), "typestr": "|u1", "data": data, "version": 3}

    def __del__(self) -> None:
        kept, size = self._free, self._memory.size
        if size + sum([other * len(buffers) for other, buffers in list(kept.items())]) <= self._most:
            kept.setdefault(size, []).append(self._memory)


def acquire(size: int) -> NDArray[np.uint8]:
    """So many bytes, not yet filled; arrays are to be made with ``buffer=``."""
    room = 1 << (size + LINE).bit_length()
    try:
        memory = _free[room].pop()
    except (KeyError, IndexError):
        memory = np.empty(room, np.uint8)  # what is not touched takes no memory
    return np.asarray(PooledBuffer(memory, size))


def columns(n: int, *kinds: np.dtype[Any]) -> list[NDArray[Any]]:
    """Arrays (n,) of these kinds, largest first, to be filled."""
    size = n * sum([kind.itemsize for kind in kinds])
    if size < SMALLEST_KEPT:
        return [np.empty(n, kind) for kind in kinds]
    loan, begin, arrays = acquire(size), 0, []
    for kind in kinds:
        arrays.append(np.ndarray(n, kind, loan, begin))
        begin += n * kind.itemsize
    return arrays


def rows(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """An array of float64, to be filled."""
    size = 8 * prod(shape)
    return np.empty(shape) if size < SMALLEST_KEPT else np.ndarray(shape, np.float64, acquire(size))


def aligned(shape: tuple[int, ...], kind: DTypeLike) -> NDArray[Any]:
    """An array of zeros that is kept by whoever asks: a row of eight float64 lies within one cache line."""
    size = prod(shape) * np.dtype(kind).itemsize
    memory = np.zeros(size + LINE, np.uint8)
    return np.ndarray(shape, kind, memory, -memory.ctypes.data % LINE)
