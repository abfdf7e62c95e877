"""Buffers on loan, and a pool of them for large arrays; arrays that are aligned, read-only, or at an address.

Returning memory to the system and mapping it again, page by page, costs more than filling it.
"""

import ctypes
from collections import deque
from collections.abc import Callable
from math import prod
from typing import Any, TypeAlias, TypeVar
from weakref import ReferenceType, ref

import numpy as np
from numpy.typing import DTypeLike, NDArray

from cylcollide.constants import MOST_KEPT, SMALLEST_KEPT

Scalar = TypeVar("Scalar", bound=np.generic)

Records: TypeAlias = NDArray[np.void]
"""An array of records."""

FLOAT64 = np.dtype(np.float64)

LINE = 64
"""Bytes of a cache line, to which buffers are aligned."""


class Lender:
    """A buffer of bytes that begins at a cache line, and all leases of it.

    A lease is an array that only the lent arrays keep alive, by the buffer protocol, so that a weak reference to it
    shows whether any of them is left. Destructors and callbacks are not used: an interrupt that is raised within one
    is lost. Where arrays are deleted late, memory is reused late.
    """

    def __init__(self, size: int, is_read_only: bool = False) -> None:
        self.buffer = aligned((size,), np.uint8, np.empty)  # pages that are not touched take no memory
        """For the owner, whose views of it are no leases."""
        self._is_read_only, self._leases = is_read_only, deque[ReferenceType[NDArray[np.uint8]]]()

    def lend(self) -> NDArray[np.uint8]:
        """The buffer as an array with its own lease, which is recorded before the array can be used."""
        lease: Any = self.buffer.view()
        self._leases.append(ref(lease))
        lent = memoryview(lease)
        return np.asarray(lent.toreadonly() if self._is_read_only else lent)

    @property
    def is_free(self) -> bool:
        """Whether no lent array, and no view of one, is left. Only one thread at a time may read this."""
        while self._leases and self._leases[0]() is None:
            self._leases.popleft()
        return not self._leases


_pool: dict[int, deque[Lender]] = {}
"""Lenders of buffers in use or not, by capacity."""


def acquire(size: int) -> NDArray[np.uint8]:
    """An uninitialised array of at least `size` bytes from the pool, to be passed to ``np.ndarray(buffer=...)``.

    A full pool drops all its buffers: each returns to the system when it is no longer in use.
    """
    capacity = 1 << size.bit_length()
    lenders = _pool.setdefault(capacity, deque())
    for _ in range(len(lenders)):
        try:
            lender = lenders.popleft()  # no other thread finds it until it is put back
        except IndexError:  # another thread was faster
            break
        lent = lender.lend() if lender.is_free else None
        lenders.append(lender)
        if lent is not None:
            return lent
    if sum(kept * len(others) for kept, others in list(_pool.items())) + capacity > MOST_KEPT:
        _pool.clear()
    lender = Lender(capacity)
    lent = lender.lend()
    if capacity <= MOST_KEPT:
        _pool.setdefault(capacity, deque()).append(lender)
    return lent


def rows(shape: tuple[int, ...], kind: np.dtype[Any] = FLOAT64) -> NDArray[Any]:
    """An uninitialised array of this shape, of float64 or another dtype."""
    size = kind.itemsize * prod(shape)
    return np.empty(shape, kind) if size < SMALLEST_KEPT else np.ndarray(shape, kind, acquire(size))


def copies_of(vector: NDArray[Any], n: int) -> NDArray[Any]:
    """Copies of one vector (1, 3), (n, 3); column by column takes a third of the time of `np.repeat`."""
    copies = rows((n, 3))
    copies[:, 0], copies[:, 1], copies[:, 2] = vector[0]
    return copies


def column(n: int, kind: np.dtype[Any] = FLOAT64) -> NDArray[Any]:
    """An uninitialised array (n,), as `rows`; few entries take half the time."""
    return np.empty(n, kind) if n < 1024 else rows((n,), kind)


def aligned(shape: tuple[int, ...], kind: DTypeLike, allocate: Callable[..., NDArray[Any]] = np.zeros) -> NDArray[Any]:
    """An array that begins at a cache line, of zeros or from `np.empty`; not pooled.

    Each row of eight float64 then lies within one line.
    """
    memory = allocate(prod(shape) * np.dtype(kind).itemsize + LINE, np.uint8)
    return np.ndarray(shape, kind, memory, -memory.__array_interface__["data"][0] % LINE)


def frozen(column: NDArray[Scalar]) -> NDArray[Scalar]:
    """The same array, made read-only: loops index by limbs and faces without a check of bounds."""
    column.setflags(False)  # type: ignore[call-arg]  # write=False takes thrice as long, and is half of `hits.limb`
    return column


def address_of(array: NDArray[Any]) -> int:
    """Address of the first number of an array in C order; it does not keep the array alive."""
    if not array.flags.c_contiguous:
        raise TypeError(f"expected an array in C order, got strides {array.strides} for shape {array.shape}")
    return array.ctypes.data


def entries_at(kind: type[Scalar] | np.dtype[Scalar], address: int, count: int) -> NDArray[Scalar]:
    """`count` numbers or records at an address: a loop reads the arrays of any number of recorded states this way.

    Loops read a field of a record by its name: `limbs[k]["model"]`.
    """
    memory: Any = (ctypes.c_uint8 * (int(count) * np.dtype(kind).itemsize)).from_address(int(address))
    return np.ndarray(int(count), kind, memory)
