"""Rows as users choose them."""

from typing import Any

import numpy as np

from cylcollide._types import Int64Array


def chosen_rows(rows: Any, n: int, what: str) -> Int64Array:
    """Numbers of the rows, of n, that an index, a slice, a mask or an array of indices chooses; `what` has rows.

    Raises
    ------
    IndexError
        If they are out of range, masked, or of more than one dimension.
    """
    if np.ma.isMaskedArray(rows):
        raise IndexError(f"{what}: expected indices, a slice or a mask, got a masked array; fill it first")
    chosen = np.atleast_1d(np.arange(n)[rows])
    if chosen.ndim != 1:
        raise IndexError(f"{what}: expected indices, a slice or a mask of one dimension, got {chosen.ndim}")
    return chosen
