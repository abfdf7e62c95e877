"""Arrays by their addresses: how one loop reads as many arrays as there are recorded states.

Python keeps the arrays alive as long as a loop runs; an address is no reference.
"""

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import Float32Array, Float64Array, Int8Array, Int32Array, Int64Array


def address_of(array: NDArray[Any]) -> int:
    """Where the numbers of an array in C order begin."""
    if not array.flags.c_contiguous:
        raise TypeError(f"expected an array in C order, got strides {array.strides} for shape {array.shape}")
    return array.ctypes.data


def float64_at(address: int, count: int) -> Float64Array:
    """So many float64 numbers at an address."""
    return _numbers_at(address, count, np.float64)


def float32_at(address: int, count: int) -> Float32Array:
    """So many float32 numbers at an address."""
    return _numbers_at(address, count, np.float32)


def int64_at(address: int, count: int) -> Int64Array:
    """So many int64 numbers at an address."""
    return _numbers_at(address, count, np.int64)


def int32_at(address: int, count: int) -> Int32Array:
    """So many int32 numbers at an address."""
    return _numbers_at(address, count, np.int32)


def int8_at(address: int, count: int) -> Int8Array:
    """So many int8 numbers at an address."""
    return _numbers_at(address, count, np.int8)


def _numbers_at(address: int, count: int, kind: Any) -> NDArray[Any]:
    size = int(count) * np.dtype(kind).itemsize
    return np.frombuffer((ctypes.c_uint8 * size).from_address(int(address)), kind) if size else np.empty(0, kind)
