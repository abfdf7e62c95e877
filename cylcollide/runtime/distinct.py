"""Distinct rows of an array."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def distinct_rows(rows: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each distinct row is first, in the order of their numbers; and the number of each row among these.

    `numpy.unique` with an axis compares structured entries, and discards what a handler of a signal raises meanwhile.
    """
    order = np.lexsort(rows.T[::-1])
    ascending, is_new = rows[order], np.ones(len(rows), np.bool_)
    is_new[1:] = (ascending[1:] != ascending[:-1]).any(axis=1)
    number = np.empty(len(rows), np.int64)
    number[order] = np.cumsum(is_new) - 1
    return order[is_new], number
