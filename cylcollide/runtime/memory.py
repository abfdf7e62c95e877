"""A pool of buffers for large arrays, each reused once nothing refers to it, and arrays aligned to cache lines.

Returning memory to the system and mapping it again, page by page, costs more than filling it.
"""

from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from cylcollide.constants import MOST_KEPT, SMALLEST_KEPT

LINE = 64
"""Bytes of a cache line, to which buffers are aligned."""

_free: dict[int, list[NDArray[np.uint8]]] = {}


class PooledBuffer:
    """Bytes of the pool, returned to it when the last array that uses them is deleted.

    Arrays are made of it through the array interface: numpy lets them and their slices refer to one array of bytes, and
    that one to this object.
    """

    _free, _most = _free, MOST_KEPT  # at interpreter exit names of the module may be gone before a buffer is

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
    """An uninitialised array of `size` bytes from the pool, to be passed to ``np.ndarray(buffer=...)``."""
    capacity = 1 << (size + LINE).bit_length()
    try:
        memory = _free[capacity].pop()
    except (KeyError, IndexError):
        memory = np.empty(capacity, np.uint8)  # pages that are not touched take no memory
    return np.asarray(PooledBuffer(memory, size))


def columns(n: int, *kinds: np.dtype[Any]) -> list[NDArray[Any]]:
    """Uninitialised arrays (n,) of these dtypes, in one buffer; larger item sizes must come first, for alignment."""
    size = n * sum([kind.itemsize for kind in kinds])
    if size < SMALLEST_KEPT:
        return [np.empty(n, kind) for kind in kinds]
    buffer, begin, arrays = acquire(size), 0, []
    for kind in kinds:
        arrays.append(np.ndarray(n, kind, buffer, begin))
        begin += n * kind.itemsize
    return arrays


def rows(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """An uninitialised array of float64 of this shape."""
    size = 8 * prod(shape)
    return np.empty(shape) if size < SMALLEST_KEPT else np.ndarray(shape, np.float64, acquire(size))


def aligned(shape: tuple[int, ...], kind: DTypeLike) -> NDArray[Any]:
    """An array of zeros that begins at a cache line, so that a row of eight float64 lies within one; not pooled."""
    size = prod(shape) * np.dtype(kind).itemsize
    memory = np.zeros(size + LINE, np.uint8)
    return np.ndarray(shape, kind, memory, -memory.ctypes.data % LINE)
