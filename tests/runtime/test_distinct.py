"""Distinct rows, as `numpy.unique` has them."""

import numpy as np
import pytest

from cylcollide.runtime.distinct import distinct_rows


@pytest.mark.parametrize("kind", [np.int64, np.float64, np.float32])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (500, 2), (500, 19)])
def test_rows_are_those_of_unique(kind: type, shape: tuple[int, int]):
    rows = np.random.default_rng(2).integers(-1, 2, shape).astype(kind)
    rows[len(rows) // 2 :] = rows[: len(rows) - len(rows) // 2]
    distinct, first, number = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    found, numbers = distinct_rows(rows)
    assert (found == first).all()
    assert (numbers == number.reshape(-1)).all()
    assert (rows[found][numbers] == rows).all()
    assert len(found) == len(distinct)
