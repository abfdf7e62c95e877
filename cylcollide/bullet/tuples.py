"""PyBullet's lists and tuples to arrays and back: by functions of the extension, which see no more than numbers."""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, TypeAlias

from cylcollide._types import Float64Array, Int32Array
from cylcollide.runtime.levels import MACHINE_CODE

RayTestResult: TypeAlias = tuple[int, int, float, tuple[float, float, float], tuple[float, float, float]]
"""What PyBullet reports of a ray: body, link, fraction, position, normal."""

MISS: RayTestResult = (-1, -1, 1.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))

EXACT = 2**53
"""Whole numbers up to here are float64."""


def _is_number(value: Any) -> bool:
    return isinstance(value, float) or (type(value) is int and abs(value) <= EXACT)


def _read_rows(rows: Sequence[Any], array: Float64Array, first: int, parts: int) -> bool:
    for k, row in enumerate(rows, first):
        numbers = list(chain.from_iterable(row[:parts])) if parts else row
        if not isinstance(row, (list, tuple)) or len(numbers) != array.shape[1] or not all(map(_is_number, numbers)):
            return False
        array[k] = numbers
    return True


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


read_rows: Callable[[Any, Float64Array, int, int], bool] = getattr(MACHINE_CODE, "read_rows", _read_rows)
"""Write lists or tuples of floats and small ints into rows of an array (n, w) from one on; False where they are others.

Arguments: rows, array, the first row, and how many parts of a row, lists or tuples, hold its w numbers: 0 for the row
itself. After False some are written.
"""

hit_tuples: Callable[..., list[RayTestResult]] = getattr(MACHINE_CODE, "hit_tuples", _hit_tuples)
"""A tuple per hit of the first n rows: body and link, fraction, position, normal; the last argument for a miss."""
