"""Forms of arrays: those that hold the same numbers, and those that no argument accepts."""

import tempfile
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Plain = NDArray[np.float64]


class Subclass(np.ndarray):
    """A subclass of ndarray."""


class Frame:
    """Stands for another library's table: it converts itself by `__array__`."""

    def __init__(self, array: Any) -> None:
        self.array, self.shape = array, np.shape(array)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.array, dtype)

    def __len__(self) -> int:
        return len(self.array)


class Exporter:
    """An object with nothing but the array interface."""

    def __init__(self, array: Any) -> None:
        self.array = np.ascontiguousarray(array)
        self.__array_interface__ = self.array.__array_interface__


class Broken:
    """An object whose conversion to an array fails."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError("no array")


def strided(array: Plain) -> Plain:
    """Every second row and column of a larger array."""
    wide = np.full([2 * size for size in array.shape], np.nan)
    wide[tuple(slice(None, None, 2) for _ in array.shape)] = array
    return wide[tuple(slice(None, None, 2) for _ in array.shape)]


def mapped(array: Plain) -> Plain:
    """The array in a memory-mapped file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "numbers"
        array.tofile(path)
        return np.memmap(path, array.dtype, "r", shape=array.shape) if array.size else array


def unaligned(array: Plain) -> Plain:
    """The array at an address that is not a multiple of 8."""
    memory = np.zeros(array.nbytes + 1, np.uint8)
    shifted = np.ndarray(array.shape, array.dtype, memory, 1)
    shifted[...] = array
    return shifted


def with_entry(value: Any) -> Callable[[Plain], Any]:
    """A function that returns an array with one entry replaced, as an array of objects."""

    def spoiled(array: Plain) -> Any:
        rows = array.astype(object)
        rows.reshape(-1)[array.size // 2 :][:1] = [value]
        return rows

    return spoiled


def masked(array: Plain) -> Any:
    """The array with one entry masked."""
    hidden = np.ma.MaskedArray(array.copy(), mask=np.zeros(array.shape, bool))
    if array.size:
        hidden.reshape(-1)[array.size // 2 :][:1] = np.ma.masked
    return hidden


SAME: dict[str, Callable[[Plain], Any]] = {
    "as it is": lambda a: a,
    "Fortran": np.asfortranarray,
    "strided": strided,
    "reversed": lambda a: a[::-1].copy()[::-1],
    "unaligned": unaligned,
    "big endian": lambda a: a.astype(">f8"),
    "read-only": lambda a: np.frombuffer(a.tobytes()).reshape(a.shape),
    "memory map": mapped,
    "subclass": lambda a: a.view(Subclass),
    "matrix": lambda a: a.view(np.matrix) if a.ndim == 2 else a,
    "masked nowhere": np.ma.MaskedArray,
    "list": np.ndarray.tolist,
    "tuple": lambda a: tuple(map(tuple, a.tolist())) if a.ndim == 2 else tuple(a.tolist()),
    "list of arrays": lambda a: list(a) if a.ndim else a,
    "objects": lambda a: a.astype(object),
    "fractions": lambda a: np.array([Fraction(x) for x in a.flat], object).reshape(a.shape),
    "long doubles": lambda a: a.astype(np.longdouble),
    "frame": Frame,
    "array interface": Exporter,
    "memoryview": lambda a: memoryview(np.ascontiguousarray(a)) if a.size else a,
    "float32": lambda a: a.astype(np.float32),
    "float16": lambda a: a.astype(np.float16),
    "integers": lambda a: a.astype(np.int64) if (a == np.round(a)).all() else a,
    "small integers": lambda a: a.astype(np.int8) if (a == np.round(a)).all() else a,
}
"""Forms of the same numbers (eighths of small integers): the result must be the same."""

WRONG: dict[str, Callable[[Plain], Any]] = {
    "masked": masked,
    "list of masked rows": lambda a: list(masked(a)) if a.ndim else masked(a),
    "complex": lambda a: a + 1j,
    "bool": lambda a: a > 0,
    "text": lambda a: a.astype(str),
    "bytes": lambda a: a.astype("S"),
    "dates": lambda a: a.astype("M8[s]"),
    "durations": lambda a: a.astype("m8[s]"),
    "records": lambda a: np.zeros(a.shape, "f8,f8"),
    "void": lambda a: np.zeros(a.shape, "V8"),
    "more dimensions": lambda a: a[..., None, None],
    "no dimensions": lambda a: np.array(3.5) if a.ndim == 2 else np.zeros((2, 2)),
    "empty": lambda a: np.zeros((0, 2)),
    "endless": lambda a: np.broadcast_to(np.float64(1.0), (2**40, 4)),
    "flat": lambda a: np.zeros(5 * a.size + 4),
    "uneven": lambda a: [[1.0, 2.0, 3.0], [1.0]],
    "deep": lambda a: [[[[a.tolist()]]]],
    "dict": lambda a: dict(enumerate(a.tolist())),
    "set": lambda a: set(a.flat),
    "generator": lambda a: (row for row in a.tolist()),
    "broken": lambda a: Broken(),
    "function": lambda a: np.zeros,
    "none": lambda a: None,
    "decimals": with_entry(Decimal(1)),
    "a none": with_entry(None),
    "a text": with_entry("1"),
    "a list": with_entry([1.0]),
    "a long integer": with_entry(10**400),
    "a finer fraction": with_entry(Fraction(1, 3)),
    "a masked entry": with_entry(np.ma.masked),
    "nan": lambda a: np.where(np.arange(a.size).reshape(a.shape) == a.size // 2, np.nan, a),
    "inf": lambda a: np.where(np.arange(a.size).reshape(a.shape) == a.size // 2, -np.inf, a),
    "huge": lambda a: np.where(np.arange(a.size).reshape(a.shape) == a.size // 2, 1e200, a),
    "negative huge": lambda a: (a - 1e308).tolist(),
    "long doubles beyond": lambda a: a.astype(np.longdouble) * np.longdouble(2) ** 3000 + np.longdouble(2) ** 4000,
    "finer long doubles": lambda a: a.astype(np.longdouble) + np.longdouble(2) ** -60,
}
"""Forms that arguments refuse with an error message, except where a form happens to be valid."""
