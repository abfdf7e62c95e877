"""A pool of buffers for large arrays, each reused once nothing refers to it; aligned arrays, and read-only ones.

Returning memory to the system and mapping it again, page by page, costs more than filling it.
"""

from math import prod
from sys import getrefcount
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from cylcollide.constants import MOST_KEPT, SMALLEST_KEPT

Scalar = TypeVar("Scalar", bound=np.generic)

LINE = 64
"""Bytes of a cache line, to which buffers are aligned."""

_pool: dict[int, list[NDArray[np.uint8]]] = {}
"""Buffers by capacity, in use or not. A buffer is free while nothing but this refers to it.

No destructor returns buffers: an interrupt that is raised within a destructor is lost.
"""


def _references(buffers: list[NDArray[np.uint8]]) -> int:
    """References to the first of these buffers, those of the list and of this function included."""
    for buffer in buffers:
        return getrefcount(buffer)
    return 0


_FREE = _references([np.empty(0, np.uint8)])
"""`_references` of a buffer that nothing else refers to."""


def _free_buffer(capacity: int) -> NDArray[np.uint8] | None:
    """A buffer of this capacity that no array uses.

    Of two threads that look at the same one at once, both count the reference of the other, and neither takes it.
    """
    for buffer in _pool.get(capacity, ()):
        if getrefcount(buffer) <= _FREE:
            return buffer
    return None


def _add_to_pool(buffer: NDArray[np.uint8]) -> None:
    """Keep a new buffer in the pool, unless it is full; first, a full pool forgets the buffers that are in use."""
    if sum(capacity * len(buffers) for capacity, buffers in list(_pool.items())) + buffer.size > MOST_KEPT:
        for capacity, buffers in list(_pool.items()):
            _pool[capacity] = [kept for kept in buffers if getrefcount(kept) <= _FREE]
    if sum(capacity * len(buffers) for capacity, buffers in list(_pool.items())) + buffer.size <= MOST_KEPT:
        _pool.setdefault(buffer.size, []).append(buffer)


def acquire(size: int) -> NDArray[np.uint8]:
    """An uninitialised array of `size` bytes from the pool, to be passed to ``np.ndarray(buffer=...)``."""
    capacity = 1 << (size + LINE).bit_length()
    buffer = _free_buffer(capacity)
    if buffer is None:
        buffer = np.empty(capacity, np.uint8)  # pages that are not touched take no memory
        _add_to_pool(buffer)
    begin = -buffer.__array_interface__["data"][0] % LINE
    return buffer[begin : begin + size]


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


def uninitialised(shape: tuple[int, ...], kind: DTypeLike) -> NDArray[Any]:
    """The same, with no numbers in it yet."""
    memory = np.empty(prod(shape) * np.dtype(kind).itemsize + LINE, np.uint8)
    return np.ndarray(shape, kind, memory, -memory.ctypes.data % LINE)


def read_only(column: NDArray[Scalar]) -> NDArray[Scalar]:
    """A view of a column that cannot be written: loops index by limbs and faces without a check."""
    return frozen(column.view())


def frozen(column: NDArray[Scalar]) -> NDArray[Scalar]:
    """The same array, which from now on cannot be written: one that nothing else writes."""
    column.setflags(False)  # type: ignore[call-arg]  # write=False takes thrice as long, and is half of `hits.limb`
    return column
