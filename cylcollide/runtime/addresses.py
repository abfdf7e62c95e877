"""Arrays by their addresses: how one loop reads as many arrays as there are recorded states.

Python keeps the arrays alive as long as a loop runs; an address is no reference.
"""

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Records: TypeAlias = NDArray[np.void]
"""An array of records."""
Number = TypeVar("Number", bound=np.generic)


def address_of(array: NDArray[Any]) -> int:
    """Where the numbers of an array in C order begin."""
    if not array.flags.c_contiguous:
        raise TypeError(f"expected an array in C order, got strides {array.strides} for shape {array.shape}")
    return array.ctypes.data


def _entries_at(kind: Any, address: int, count: int) -> NDArray[Any]:
    """So many entries of a dtype at an address; the build has machine code for this."""
    memory: Any = (ctypes.c_uint8 * (int(count) * np.dtype(kind).itemsize)).from_address(int(address))
    return np.ndarray(int(count), kind, memory)


AT_ADDRESS: list[Callable[[int, int], NDArray[Any]]] = []
"""All functions of an address and a count that `numbers_at` and `records_at` have made."""


def numbers_at(kind: type[Number]) -> Callable[[int, int], NDArray[Number]]:
    """The function of an address and a count whose result is so many numbers there."""
    AT_ADDRESS.append(partial(_entries_at, kind))
    return AT_ADDRESS[-1]


def records_at(fields: np.dtype[np.void]) -> Callable[[int, int], Records]:
    """The same of records; loops read a field by its name, as `limbs[k]["model"]`."""
    AT_ADDRESS.append(partial(_entries_at, fields))
    return AT_ADDRESS[-1]


float64_at, float32_at = numbers_at(np.float64), numbers_at(np.float32)
int32_at, int8_at = numbers_at(np.int32), numbers_at(np.int8)
