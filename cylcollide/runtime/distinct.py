"""Distinct rows of an array."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def distinct_rows(rows: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Index of the first of each distinct row, in lexicographic order, and the place of each row in this order.

    `numpy.unique` with an axis compares structured entries, and discards exceptions of signal handlers meanwhile.
    """
    order = np.lexsort(rows.T[::-1])
    ascending, is_new = rows[order], np.ones(len(rows), np.bool_)
    is_new[1:] = (ascending[1:] != ascending[:-1]).any(axis=1)
    number = np.empty(len(rows), np.int64)
    number[order] = np.cumsum(is_new) - 1
    return order[is_new], number
