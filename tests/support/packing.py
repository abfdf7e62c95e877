"""Checks packed lists by `append_where` for every pattern of eight lanes."""

from collections.abc import Callable
from typing import Any

import numpy as np
from support.machine_code import as_machine_code

from cylcollide.runtime.simd import append_where, load, logical_not


@as_machine_code
def appended(rows, first, numbers, offset, out):
    """Append the rows of positive numbers, then those of the others; return the length of each list."""
    count = append_where(out, offset, rows, first, load(numbers, 0) > 0.0)
    return count, append_where(out, offset + count, rows, first, logical_not(load(numbers, 0) > 0.0))


def check_append_where(way: Callable[[Any], Callable[..., Any]]) -> None:
    """Assert that lists are packed in order, and that entries behind them are valid row numbers."""
    rows = np.arange(100, 120, dtype=np.int32)
    for pattern in range(256):
        holds = np.array([pattern >> k & 1 != 0 for k in range(8)])
        out = np.full(40, -1, np.int32)
        counts = way(appended)(rows, 3, np.where(holds, 1.0, -1.0), 5, out)
        assert counts == (holds.sum(), 8 - holds.sum())
        assert out[:5].tolist() == [-1] * 5
        assert out[5:13].tolist() == [*rows[3:11][holds], *rows[3:11][~holds]]
        assert set(out[13 : 5 + 16].tolist()) <= {0, -1}, "these may be read as rows"
        assert (out[5 + 16 :] == -1).all()
