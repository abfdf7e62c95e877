"""PyBullet's lists and tuples to arrays and back, by functions of the extension, which only copies numbers."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, compress, count
from typing import Any, TypeAlias

from cylcollide._types import BoolArray, Float64Array, Int32Array, Int64Array
from cylcollide.runtime.levels import MACHINE_CODE

RayTestResult: TypeAlias = tuple[int, int, float, tuple[float, float, float], tuple[float, float, float]]
"""PyBullet's result of a ray: body, link, fraction, position, normal."""

Call: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...], int]
"""A function of PyBullet that returns a state, or a tuple of states, its arguments, and the row of the first state."""

MISS: RayTestResult = (-1, -1, 1.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
"""Hits of solids without a body number, which `loadBullet` makes, have body -1, too, but a normal."""

EXACT = 2**53
"""Integers up to this magnitude are exact in float64."""


def _is_number(value: Any) -> bool:
    return isinstance(value, float) or (type(value) is int and abs(value) <= EXACT)


def _read_row(row: Any, array: Float64Array, k: int) -> bool:
    if not isinstance(row, (list, tuple)) or len(row) != array.shape[1] or not all(map(_is_number, row)):
        return False
    array[k] = row
    return True


def _read_rows(rows: Any, array: Float64Array) -> int:
    are_rows = isinstance(rows, (list, tuple)) and len(rows) <= len(array)
    return len(rows) if are_rows and all(_read_row(row, array, k) for k, row in enumerate(rows)) else 0


def _read_pass(calls: Sequence[Any], array: Float64Array, chosen: Int64Array | BoolArray | None = None) -> None:
    wants = chosen is not None and chosen.dtype == bool
    for k, entry in enumerate(calls):
        call = entry if chosen is None or wants else entry[chosen[k]]
        if call is not None:
            function, arguments, first = call
            rows: Iterable[int] = count(first)
            if chosen is not None and wants:
                links = {first + k: link for k, link in enumerate(arguments[1]) if chosen[first + k]}
                arguments, rows = (arguments[0], [*links.values()], *arguments[2:]), [*links]
            found = function(*arguments) if rows else ()
            for row, state in zip(rows, (found,) if found and isinstance(found[0][0], float) else found, strict=False):
                if not _read_row([*chain.from_iterable(state[:2])], array, row):
                    raise AssertionError(f"expected states of two tuples with {array.shape[1]} floats, got {found}")


def _read_states(*given: Any) -> None:
    for first in range(0, len(given), 3):
        _read_pass(*given[first : first + 3])


def _results_unchanged(calls: Sequence[Any], checked: BoolArray | None = None) -> bool:
    chosen = calls if checked is None else compress(calls, checked.tolist())
    return all(call is None or call[0](*call[1]) == call[2] for call in chosen)


def _hit_tuples(
    n: int,
    body_link: Int32Array,
    fraction: Float64Array,
    position: Float64Array,
    normal: Float64Array,
    miss: RayTestResult,
) -> list[RayTestResult]:
    columns = (column[:n].tolist() for column in (body_link, fraction, position, normal))
    return [
        (link[0], link[1], time, tuple(point), tuple(up)) if link[0] >= 0 else miss
        for link, time, point, up in zip(*columns, strict=True)
    ]


read_rows: Callable[[Any, Float64Array], int] = getattr(MACHINE_CODE, "read_rows", _read_rows)
"""Write lists or tuples of floats and small ints into the first rows of an array (n, w).

Returns how many, 0 for other values, of which some may then be written.
"""

read_states: Callable[..., None] = getattr(MACHINE_CODE, "read_states", _read_states)
"""Make calls, and write the first two tuples of each state into rows of an array (n, w).

Arguments: m of `Call`, the array, and optionally one of: int64 (m,), the index of the call to make if each entry is a
tuple of calls, or of None for no call; bool (n,), the wanted rows: the second argument of each call, a list, is reduced
to the items of these rows. Further groups of three arguments, the third possibly None, make more calls.
"""

results_unchanged: Callable[..., bool] = getattr(MACHINE_CODE, "results_unchanged", _results_unchanged)
"""Whether functions still return the same: a tuple (m,), each entry (function, arguments, result) or None.

A bool array (m,), if given, selects the functions that are called.
"""

hit_tuples: Callable[..., list[RayTestResult]] = getattr(MACHINE_CODE, "hit_tuples", _hit_tuples)
"""A tuple for each of the first n rows: body, link, fraction, position, normal; the last argument for a miss."""
