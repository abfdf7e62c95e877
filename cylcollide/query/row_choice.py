"""Rows as users choose them."""

from typing import Any

import numpy as np

from cylcollide._types import Int64Array


def chosen_rows(rows: Any, n: int, what: str) -> Int64Array:
    """Numbers of the rows, of n, that an index, a slice, a mask or an array of indices chooses; `what` has rows.

    Raises
    ------
    IndexError
        If they are none, out of range, masked, or of more than one dimension.
    """
    if np.ma.isMaskedArray(rows) or (isinstance(rows, list | tuple) and any(map(np.ma.isMaskedArray, rows))):
        raise IndexError(f"{what}: expected indices, a slice or a mask, got masked ones; fill them first")
    try:
        chosen = np.atleast_1d(np.arange(n)[rows])
    except (TypeError, ValueError) as error:
        raise IndexError(f"{what}: expected indices, a slice or a mask, got {type(rows).__name__} ({error})") from None
    if chosen.ndim != 1:
        raise IndexError(f"{what}: expected indices, a slice or a mask of one dimension, got {chosen.ndim}")
    return chosen
