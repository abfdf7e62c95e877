"""Arrays by their addresses: how one loop reads as many arrays as there are recorded states.

Python keeps the arrays alive as long as a loop runs; an address is no reference.
"""

import ctypes
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.generic)


def address_of(array: NDArray[Any]) -> int:
    """Where the numbers of an array in C order begin."""
    if not array.flags.c_contiguous:
        raise TypeError(f"expected an array in C order, got strides {array.strides} for shape {array.shape}")
    return array.ctypes.data


def _numbers_at(kind: type[Number], address: int, count: int) -> NDArray[Number]:
    """So many numbers of a type at an address; the build has machine code for this."""
    memory: Any = (ctypes.c_uint8 * (int(count) * np.dtype(kind).itemsize)).from_address(int(address))
    return np.ndarray(int(count), kind, memory)


float64_at = partial(_numbers_at, np.float64)
float32_at = partial(_numbers_at, np.float32)
int64_at = partial(_numbers_at, np.int64)
int32_at = partial(_numbers_at, np.int32)
int8_at = partial(_numbers_at, np.int8)
