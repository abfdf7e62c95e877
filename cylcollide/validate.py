"""Validation of user input; all other code trusts its arrays.

Each check returns a new array (float64, C order, unless said otherwise), so that later changes of the input have no
effect. It raises ValueError with the expected and the given value, the first bad row, and the remedy.
"""

import operator
import sys
from collections.abc import Callable
from itertools import chain
from numbers import Integral, Real
from typing import Any, SupportsIndex, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cylcollide._types import ALL_LAYERS, POLICY_CODES, BoolArray, Float64Array, Int64Array, Uint32Array
from cylcollide.constants import LARGEST_NUMBER, SMALLEST_SIZE, UNIT_ROUNDOFF
from cylcollide.runtime import memory


def first_bad_row(bad: BoolArray) -> int | None:
    """Index of the first row with any True, or None."""
    return int(bad.reshape(-1).argmax()) // (bad.size // len(bad)) if bad.any() else None


def _as_array(values: object, name: str, expected: str) -> NDArray[Any]:
    """Values of any type as an array; ValueError for uneven rows and for masked entries."""
    if type(values) is not np.ndarray and _has_masked_entries(values):
        raise ValueError(f"{name}: expected {expected}, got masked entries; fill them or leave such rows out")
    try:
        return np.asarray(values)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name}: expected {expected}, got uneven rows or no numbers ({error})") from None


def _has_masked_entries(values: object) -> bool:
    """Whether any entry is masked. Numpy imports its masked arrays on first use, so they are not imported here."""
    if "numpy.ma" not in sys.modules:
        return False
    return bool(np.ma.is_masked(values)) or any(issubclass(kind, np.ma.MaskedArray) for kind in _entry_types(values))


def _entry_types(values: object) -> set[type]:
    """The types of the entries of a list or tuple, and of the entries of lists and tuples in it."""
    rows = values if isinstance(values, list | tuple) else ()
    nested = chain.from_iterable(row for row in rows if isinstance(row, list | tuple))
    return {*map(type, rows), *map(type, nested)}


def as_numbers(values: ArrayLike, name: str, shape: str, *last: int) -> NDArray[Any]:
    """The values as an array of real numbers of any dtype; nothing is copied before its shape is checked.

    An empty list stands for no rows with these last axes.
    """
    given = _as_array(values, name, f"numbers of shape {shape}")
    if given.dtype == FLOAT64 and isinstance(values, list | tuple) and (np.abs(given) >= 1.0 / UNIT_ROUNDOFF).any():
        given = np.asarray(values, object)  # numpy rounds integers beside floats
    if given.dtype.kind not in "iufO" or (given.dtype == object and not all(map(is_real, given.flat))):
        got = f"shape {values.shape}" if hasattr(values, "shape") else type(values).__name__
        raise ValueError(f"{name}: expected real numbers of shape {shape}, got {got} of {given.dtype}")
    return given.reshape(0, *last) if given.shape == (0,) else given


def as_float64(given: NDArray[Any], name: str) -> Float64Array:
    """The same numbers as a new float64 array in C order; ValueError for numbers that float64 cannot represent."""
    if given.dtype == FLOAT64:
        copy = memory.rows(given.shape)
        copy[...] = given
        return copy
    numbers = np.array([*map(nearest_float, given.flat)]).reshape(given.shape) if given.dtype == object else given
    with np.errstate(over="ignore"):
        array = np.array(numbers, dtype=np.float64, order="C")
    if given.dtype.itemsize >= array.dtype.itemsize and given.dtype != array.dtype:
        held = array if given.dtype.kind in "fO" else np.where(array < np.iinfo(given.dtype).max, array, 0.0)
        lost = ~np.isnan(array) & np.asarray(held.astype(given.dtype) != given, bool)
        if (row := first_bad_row(np.atleast_1d(lost))) is not None:
            raise ValueError(
                f"{name}: expected numbers that float64 holds exactly, got {shown(np.atleast_1d(given)[row])} of "
                f"{given.dtype} in row {row}; round them first"
            )
    return array


def shown(value: Any) -> str:
    """A value as in a message, on one line and not too long; Python refuses to print very long integers."""
    try:
        text = repr(value.tolist() if isinstance(value, np.ndarray | np.generic) and value.size < 100 else value)
    except ValueError:
        return "a number too long to print"
    text = " ".join(text.split())
    return text if len(text) <= 100 else f"{text[:60]}...{text[-20:]}"


def is_real(value: object) -> TypeGuard[float]:
    """Whether a value is a real number of Python or numpy; `timedelta64` is registered as one, but excluded."""
    return isinstance(value, Real) and not isinstance(value, np.timedelta64)


def from_zero(value: object, name: str) -> float:
    """A number of at least 0; infinite beyond the range of float64."""
    if not (number := one_number(value)) >= 0.0:
        raise ValueError(f"{name}: expected a number >= 0, got {shown(value)}")
    return number


def one_number(value: object) -> float:
    """A real number as float64, infinite beyond its range; NaN for a bool or any other value."""
    return nearest_float(value) if is_real(value) and not isinstance(value, bool) else np.nan


def nearest_float(value: float) -> float:
    """The nearest float64, infinite beyond its range."""
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


FLOAT64, EVERY_LAYER, IGNORE_NONE = np.dtype(np.float64), np.full(1, ALL_LAYERS, np.uint32), np.full(1, -1, np.int64)
SEQUENCES, NUMBERS, ONE = (list, tuple), (float, int), ((), (1,))
NO_LIMIT, NO_RADIUS = np.full(1, np.inf), np.empty(0)
"""The defaults of most queries; read, never written."""


def in_range(array: Float64Array, name: str, where: Callable[[int], str] = "in row {}".format) -> Float64Array:
    """The same numbers, if all are finite and in the accepted range; `where`: how messages name a row."""
    if not (array.max(initial=0.0) <= LARGEST_NUMBER and array.min(initial=0.0) >= -LARGEST_NUMBER):  # or NaN
        row = int(first_bad_row(~(np.abs(array) <= LARGEST_NUMBER)) or 0)
        raise ValueError(
            f"{name}: expected finite numbers of magnitude at most 2**500 (about 3e150), got {shown(array[row])} "
            f"{where(row)}; remove or repair such rows, or choose a larger unit"
        )
    return array


def as_vectors(values: ArrayLike, name: str) -> Float64Array:
    """Vectors (n, 3) in C order, not yet checked for the range of numbers, and not copied if given in that form."""
    if type(values) is np.ndarray and values.dtype is FLOAT64 and values.flags.carray:
        given: Float64Array = values
        shape = given.shape
        if len(shape) == 2 and shape[1] == 3:
            return given
        if shape == (3,):
            return given.reshape(1, 3)
    elif isinstance(values, list | tuple) and len(values) == 3 and all(type(x) is float for x in values):
        return np.array([values], np.float64)  # one vector of Python's floats: half the time
    return _vectors(values, name, None)


def vectors(values: ArrayLike, name: str, rows: int | None = None) -> Float64Array:
    """Vectors (n, 3) of accepted numbers; one vector (3,) counts as one row. `rows`: the required n, if any."""
    return in_range(_vectors(values, name, rows), name)


def _vectors(values: ArrayLike, name: str, rows: int | None) -> Float64Array:
    """`vectors` without the check of the range of numbers."""
    array = as_numbers(values, name, "(n, 3)", 3)
    if array.shape == (3,):
        array = array.reshape(1, 3)
    if array.ndim != 2 or array.shape[1] != 3:
        expected = "(3,) or (n, 3)" if array.ndim == 1 else "(n, 3)"
        vector = "x, y, z" + "; of x, y, z, w take [..., :3]" * (array.shape[-1:] == (4,))
        raise ValueError(f"{name}: expected shape {expected}, got {array.shape}; one row per vector {vector}")
    if rows is not None and len(array) != rows:
        raise ValueError(f"{name}: expected {rows} rows, got {len(array)}; rows belong together one by one")
    return as_float64(array, name)


def per_row(values: ArrayLike, name: str, rows: int) -> Float64Array:
    """Accepted numbers (rows,), given as such or as one number for all, () or (1,)."""
    numbers = in_range(one_or_numbers(values, name, rows), name)
    return np.full(rows, numbers[0]) if len(numbers) == 1 != rows else numbers


def one_or_numbers(values: ArrayLike, name: str, rows: int) -> Float64Array:
    """Any numbers, (rows,), or (1,) for all."""
    array = as_numbers(values, name, "(n,) or one number")
    if array.shape not in (*ONE, (rows,)):
        raise ValueError(f"{name}: expected one number or shape ({rows},), got shape {array.shape}")
    return as_float64(array, name).reshape(-1)


def sizes(array: Float64Array, name: str) -> Float64Array:
    """The same numbers, if all are as large as a size must be."""
    row = first_bad_row(array < SMALLEST_SIZE)
    if row is not None:
        raise ValueError(
            f"{name}: expected > 0, at least 2**-500 (about 3e-151), got {array[row].tolist()} in row {row}; "
            "leave such limbs out"
        )
    return array


def sizes_or_zero(array: Float64Array, name: str) -> Float64Array:
    """The same numbers, if each is zero or as large as a size must be."""
    row = first_bad_row((array < SMALLEST_SIZE) & (array != 0.0))
    if row is not None:
        got = f"{shown(array[row])} in row {row}"
        raise ValueError(f"{name}: expected 0, or at least 2**-500 (about 3e-151), got {got}")
    return array


def _as_integers(values: object, name: str) -> NDArray[Any]:
    """The values as an array of integers; numpy converts signed and unsigned ones together to floats, and True to 1."""
    array, entries = _as_array(values, name, "integers"), _entry_types(values)
    if entries and array.dtype.kind == "f":
        array = np.asarray(values, object)
    whole = array.dtype.kind in "iu" or (array.dtype == object and all(map(is_integer, array.flat)))
    if not (whole or array.size == 0) or entries & {bool, np.bool_}:
        rows = enumerate(values if isinstance(values, list | tuple) else np.atleast_1d(array))
        row, value = next(((row, value) for row, value in rows if not is_integer(value)), (0, values))
        raise ValueError(f"{name}: expected integers, got {shown(value)} in row {row}")
    return array


def integers(values: ArrayLike, name: str, rows: int, low: int, high: int, *, one: bool = True) -> Int64Array:
    """Integers from low to high, (rows,) of int64; `one`: or one for all, () or (1,)."""
    array = _as_integers(values, name)
    if array.shape in ONE and (one or rows == 1):
        array = np.full(rows, array.reshape(-1)[0])
    if array.shape != (rows,):
        raise ValueError(f"{name}: expected one integer or shape ({rows},), got shape {array.shape}")
    return _within(array, name, low, high)


def _within(array: NDArray[Any], name: str, low: int, high: int) -> Int64Array:
    """Integers (n,) as int64; ValueError, naming the first bad row, unless all are from low to high."""
    row = first_bad_row((array < low) | (array > high))
    if row is not None:
        raise ValueError(f"{name}: expected {span(low, high)}, got {shown(array[row])} in row {row}")
    return array.astype(np.int64)


def span(low: int, high: int) -> str:
    """The integers from low to high, of which there may be none, as in a message."""
    return f"{low} to {high}" if low <= high else "no number, as there are none to choose from"


def is_integer(value: object) -> TypeGuard[SupportsIndex]:
    """Whether a value is an integer of Python or numpy; bools and `timedelta64` are excluded."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.timedelta64)


def list_of_integers(values: ArrayLike, name: str, high: int) -> Int64Array:
    """Integers from 0 to high, (m,) of int64; one integer becomes (1,)."""
    if is_integer(values) and 0 <= operator.index(values) <= high:
        return np.array([values], np.int64)
    array = _as_integers(values, name)
    if array.ndim > 1:
        raise ValueError(f"{name}: expected one integer or shape (m,), got shape {array.shape}")
    return _within(array.reshape(-1), name, 0, high)


def indices(values: ArrayLike, name: str, size: int) -> Int64Array:
    """Distinct indices below `size`, (m,) of int64."""
    array = list_of_integers(values, name, size - 1)
    unique, first = np.unique(array, return_index=True)
    if len(unique) != len(array):
        row = int(np.setdiff1d(np.arange(len(array)), first)[0])
        raise ValueError(f"{name}: expected each limb once, got {array[row]} again in row {row}")
    return array


def index(value: object, name: str, size: int) -> int:
    """One index below `size`."""
    if not is_integer(value) or not 0 <= operator.index(value) < size:
        raise ValueError(f"{name}: expected {span(0, size - 1)}, got {shown(value)}")
    return operator.index(value)


def one_or_per_row(values: Any, name: str, rows: int, low: int, high: int) -> Int64Array:
    """As `integers`, but one integer becomes one entry, (1,)."""
    array = _as_integers(values, name)
    return integers(array, name, 1 if array.shape in ONE else rows, low, high)


def masks(mask: ArrayLike, rows: int) -> Uint32Array:
    """Layer masks of 32 bits, (1,) or (rows,)."""
    given: object = mask
    if isinstance(given, int) and given == ALL_LAYERS:
        return EVERY_LAYER
    return one_or_per_row(mask, "mask", rows, 0, ALL_LAYERS).astype(np.uint32)


def ignored_characters(ignore_character: ArrayLike | None, rows: int) -> Int64Array:
    """Characters to ignore, (1,) or (rows,); -1 or None: none is ignored."""
    if ignore_character is None:
        return IGNORE_NONE
    return one_or_per_row(ignore_character, "ignore_character", rows, -1, 2**31 - 1)


def policy(inside: str) -> int:
    """Code of an `inside=` policy."""
    try:
        return POLICY_CODES[inside]
    except (KeyError, TypeError):
        return POLICY_CODES[one_of(inside, "inside", *POLICY_CODES)]


def one_of(value: object, name: str, *known: str) -> str:
    """The value, if it is one of these words."""
    if isinstance(value, str) and value in known:
        return value
    *most, last = map(repr, known)
    raise ValueError(f"{name}: expected {', '.join(most)} or {last}, got {shown(value)}")


def flag(value: object, name: str) -> bool:
    """The value, if it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name}: expected True or False, got {shown(value)}")
    return bool(value)


def workers(threads: int | None) -> int | None:
    """Number of threads, None for the number of processors."""
    if threads is not None and (not is_integer(threads) or operator.index(threads) < 1):
        raise ValueError(f"threads: expected an integer >= 1 or None, got {shown(threads)}")
    return None if threads is None else operator.index(threads)
