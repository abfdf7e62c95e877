"""Validation of user input; behind it all arrays are trusted.

Each check returns a new array (float64, C order, unless said otherwise), so that later changes of the input have no
effect. It raises ValueError with what was expected, what was given, in which row first, and the remedy.
"""

from numbers import Real
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from cylcollide._types import ALL_LAYERS, POLICY_CODES, BoolArray, Float64Array, Int64Array, Uint32Array


def first_bad_row(bad: BoolArray) -> int | None:
    """Index of the first row with any True, or None."""
    return int(bad.reshape(-1).argmax()) // (bad.size // len(bad)) if bad.any() else None


def _as_float64(values: ArrayLike, name: str, shape: str) -> Float64Array:
    """The same numbers as a new float64 array in C order; ValueError for numbers that float64 cannot represent."""
    try:
        given = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name}: expected numbers of shape {shape}, got uneven rows ({error})") from None
    numbers = all(isinstance(value, Real) for value in given.flat) if given.dtype == object else True
    if given.dtype.kind not in "iufO" or not numbers:
        raise ValueError(f"{name}: expected real numbers of shape {shape}, got {_described(values)} of {given.dtype}")
    try:
        array = np.array(given, dtype=np.float64, order="C")
    except OverflowError:  # whole numbers beyond float64's largest
        large = next(i for i, one in enumerate(np.atleast_1d(given)) if not _fits_float64(one))
        raise ValueError(
            f"{name}: expected numbers that float64 holds, got one above 1e308 in row {large}; scale them down"
        ) from None
    if given.dtype.itemsize >= array.dtype.itemsize and given.dtype != array.dtype:
        lost = ~np.isnan(array) & (np.asarray(array.astype(given.dtype) != given, bool))
        row = first_bad_row(np.atleast_1d(lost))
        if row is not None:
            raise ValueError(
                f"{name}: expected numbers that float64 holds exactly, got {np.atleast_1d(given)[row]} of "
                f"{given.dtype} in row {row}; round them first"
            )
    return array


def _fits_float64(values: Any) -> bool:
    """Whether no number is beyond the largest of float64."""
    try:
        np.array(values, dtype=np.float64)
    except OverflowError:
        return False
    return True


FLOAT64 = np.dtype(np.float64)
EVERY_LAYER, IGNORE_NONE, NO_LIMIT = np.full(1, ALL_LAYERS, np.uint32), np.full(1, -1, np.int64), np.full(1, np.inf)
"""The defaults of most queries; read, never written."""


def _described(values: object) -> str:
    shape = getattr(values, "shape", None)
    return f"shape {shape}" if shape is not None else type(values).__name__


def _finite(array: Float64Array, name: str) -> Float64Array:
    row = first_bad_row(~np.isfinite(array))
    if row is not None:
        raise ValueError(
            f"{name}: expected finite numbers, got {array[row].tolist()} in row {row}; remove or repair such rows"
        )
    return array


def as_vectors(values: ArrayLike, name: str, rows: int | None = None) -> Float64Array:
    """Vectors (n, 3) in C order, not yet checked for finite numbers, and not copied if given in that form."""
    if type(values) is np.ndarray and values.dtype is FLOAT64 and values.flags.carray:
        given: Float64Array = values
        shape = given.shape
        if len(shape) == 2 and shape[1] == 3 and (rows is None or rows == shape[0]):
            return given
        if shape == (3,) and (rows is None or rows == 1):
            return given.reshape(1, 3)
    return _vectors(values, name, rows)


def vectors(values: ArrayLike, name: str, rows: int | None = None) -> Float64Array:
    """Finite vectors (n, 3); one vector (3,) counts as one row. `rows`: the required n, if any."""
    return _finite(_vectors(values, name, rows), name)


def _vectors(values: ArrayLike, name: str, rows: int | None) -> Float64Array:
    """`vectors`, finite or not."""
    array = _as_float64(values, name, "(n, 3)")
    if array.shape == (0,):
        array = array.reshape(0, 3)
    if array.ndim == 1 and array.size == 3:
        array = array.reshape(1, 3)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"{name}: expected shape (n, 3), got {array.shape}; one row a vector x, y, z")
    if rows is not None and len(array) != rows:
        raise ValueError(f"{name}: expected {rows} rows, got {len(array)}; rows belong together one by one")
    return array


def per_row(values: ArrayLike, name: str, rows: int) -> Float64Array:
    """Finite numbers (rows,), given as such or as one number for all."""
    array = _as_float64(values, name, "(n,) or one number")
    if array.ndim == 0:
        array = np.full(rows, array[()])
    if array.shape != (rows,):
        raise ValueError(f"{name}: expected one number or shape ({rows},), got shape {array.shape}")
    return _finite(array, name)


def positive(array: Float64Array, name: str) -> Float64Array:
    """The same numbers, if all are larger than zero."""
    row = first_bad_row(array <= 0.0)
    if row is not None:
        raise ValueError(f"{name}: expected > 0, got {array[row].tolist()} in row {row}; leave such limbs out")
    return array


def not_negative(array: Float64Array, name: str) -> Float64Array:
    """The same numbers, if none is below zero."""
    row = first_bad_row(array < 0.0)
    if row is not None:
        raise ValueError(f"{name}: expected >= 0, got {array[row].tolist()} in row {row}")
    return array


def _same_rows(one: Float64Array, other: Float64Array) -> BoolArray:
    """Which rows of two (n, 3) arrays are equal; by columns, thirty times as fast as numpy's reduction over rows."""
    same: BoolArray = one[:, 0] == other[:, 0]
    for axis in (1, 2):
        same &= one[:, axis] == other[:, axis]
    return same


def axes(p1: Float64Array, p2: Float64Array, needed: BoolArray, names: tuple[str, str] = ("p1", "p2")) -> None:
    """Raise ValueError where p1 = p2 in a row that needs an axis."""
    row = first_bad_row(_same_rows(p1, p2) & needed)
    if row is not None:
        raise ValueError(
            f"{names[1]}: expected an end other than {names[0]}, got {p1[row].tolist()} twice in row {row}; "
            "a limb without length has no axis"
        )


def centres(p1: Float64Array, p2: Float64Array, needed: BoolArray, name: str = "p2") -> None:
    """Raise ValueError where p1 and p2 differ in a row that has a centre only."""
    row = first_bad_row(~_same_rows(p1, p2) & needed)
    if row is not None:
        raise ValueError(
            f"{name}: expected p1 = p2, the centre of a sphere or box, got {p1[row].tolist()} and {p2[row].tolist()} "
            f"in row {row}"
        )


def quaternions(values: ArrayLike, name: str, rows: int) -> Float64Array:
    """Finite quaternions x, y, z, w (rows, 4) other than zero, given as such or as one (4,) for all."""
    array = np.atleast_2d(_as_float64(values, name, "(n, 4)"))
    if array.shape == (1, 4):
        array = np.repeat(array, rows, axis=0)
    if array.shape != (rows, 4):
        raise ValueError(f"{name}: expected shape ({rows}, 4) or (4,), got {array.shape}; quaternions x, y, z, w")
    row = first_bad_row((_finite(array, name) == 0.0).all(axis=1))
    if row is not None:
        raise ValueError(f"{name}: expected a quaternion other than zero, got {array[row].tolist()} in row {row}")
    return array


def integers(values: ArrayLike, name: str, rows: int, low: int, high: int) -> Int64Array:
    """Integers from low to high, (rows,) of int64, given as such or as one for all."""
    array = np.asarray(values)
    if array.dtype == bool or not (np.issubdtype(array.dtype, np.integer) or array.size == 0):
        raise ValueError(f"{name}: expected integers, got dtype {array.dtype}")
    if array.ndim == 0:
        array = np.full(rows, array[()])
    if array.shape != (rows,):
        raise ValueError(f"{name}: expected one integer or shape ({rows},), got shape {array.shape}")
    row = first_bad_row((array < low) | (array > high))
    if row is not None:
        raise ValueError(f"{name}: expected {low} to {high}, got {array[row]} in row {row}")
    return array.astype(np.int64)


def indices(values: ArrayLike, name: str, size: int) -> Int64Array:
    """Distinct indices below `size`, (m,) of int64."""
    array = np.atleast_1d(np.asarray(values))
    array = integers(array, name, array.size, 0, size - 1)
    unique, first = np.unique(array, return_index=True)
    if len(unique) != len(array):
        row = int(np.setdiff1d(np.arange(len(array)), first)[0])
        raise ValueError(f"{name}: expected each limb once, got {array[row]} again in row {row}")
    return array


def one_or_per_row(values: Any, name: str, rows: int, low: int, high: int) -> Int64Array:
    """As `integers`, but one integer becomes one entry, (1,)."""
    if np.ndim(values) == 0:
        return integers(values, name, 1, low, high)
    return integers(values, name, rows, low, high)


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
        raise ValueError(f"inside: expected one of 'hit', 'exit', 'ignore', got {inside!r}") from None


def distances(max_distance: ArrayLike, rows: int) -> Float64Array:
    """Largest distances of rays in metres: (rows,), or (1,) for all; inf is allowed."""
    given: object = max_distance
    if isinstance(given, float) and given >= 0.0:
        return NO_LIMIT if given == np.inf else np.array([given])
    distance = _as_float64(max_distance, "max_distance", "(n,) or one number")
    if distance.ndim == 0:
        distance = distance.reshape(1)
    elif distance.shape != (rows,):
        raise ValueError(f"max_distance: expected one number or shape ({rows},), got shape {distance.shape}")
    row = first_bad_row(~(distance >= 0.0))
    if row is not None:
        raise ValueError(f"max_distance: expected >= 0 (inf for no limit), got {distance[row].tolist()} in row {row}")
    return distance


def limits(distances: Float64Array, directions: Float64Array) -> Float64Array:
    """Largest fractions (n,): distance / |direction|, in float64."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(distances / lengths(directions))


def lengths(vectors: Float64Array) -> Float64Array:
    """Euclidean norms (n,) of vectors (n, 3) that are not zero, scaled where a square would overflow or vanish."""
    x, y, z = vectors.T
    length = np.sqrt(x * x + y * y + z * z)
    inaccurate = ~((length > 1e-140) & (length < 1e140))
    if inaccurate.any():
        largest = np.abs(vectors[inaccurate]).max(axis=1, keepdims=True)
        length[inaccurate] = largest[:, 0] * np.linalg.norm(vectors[inaccurate] / largest, axis=1)
    return np.asarray(length)


def directions(values: ArrayLike, name: str, rows: int) -> Float64Array:
    """Finite directions (rows, 3) of any length other than zero."""
    array = vectors(values, name, rows)
    row = first_bad_row((array == 0.0).all(axis=1))
    if row is not None:
        raise ValueError(
            f"{name}: expected a direction other than zero, got {array[row].tolist()} in row {row}; "
            "call cast_segments with start = end, or contains_points, for a point test"
        )
    return array


def raise_changed(*names: str) -> NoReturn:
    """Raise the ValueError of arrays in which a loop has read a bad number that is not there any more."""
    raise ValueError(
        f"{', '.join(names)}: expected numbers that stay while a query reads them, got some that changed from bad to "
        "good; pass copies"
    )


def workers(threads: int | None) -> int | None:
    """Number of threads, None for the number of processors."""
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
        raise ValueError(f"threads: expected a whole number >= 1 or None, got {threads!r}")
    return threads
