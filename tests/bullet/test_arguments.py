"""Arguments of the ray tests: lists have a fast path, which accepts and refuses the same as arrays."""

import numpy as np
import pytest

from cylcollide import validate
from cylcollide.bullet.arguments import integer, layers, real, vectors


@pytest.mark.parametrize("convert", [list, tuple, np.array, lambda row: np.array(row, np.float32).tolist()])
def test_rows_of_any_kind_are_the_same_numbers(convert):
    rows = [[0.5, -1.25, 3.0], [1e30, -0.0, 2.0**-149]]
    given = vectors([convert(row) for row in rows], "x")
    assert given.dtype == np.float64
    assert given.tobytes() == validate.vectors([convert(row) for row in rows], "x").tobytes()
    assert vectors([[1.0, 2, True]], "x").tolist() == [[1.0, 2.0, 1.0]]
    assert vectors([[1, 2, 3]], "x").tolist() == [[1.0, 2.0, 3.0]]
    for one in ([1.0, 2.0, 3.0], (1.0, 2.0, 3.0), [1, 2.0, 3.0], [np.float64(1.0), 2.0, 3.0], np.arange(1, 4)):
        assert vectors(one, "x").tolist() == [[1.0, 2.0, 3.0]]
        assert vectors(one, "x").dtype == np.float64
    assert vectors([], "x").shape == (0, 3)


def test_numbers_one_by_one():
    assert integer(np.int8(-3), "k") == -3
    assert integer(True, "k") == 1
    assert (layers(-1, "k"), layers(2**32 - 1, "k"), layers(-(2**31), "k")) == (2**32 - 1, 2**32 - 1, 2**31)
    assert real(3, "k") == 3.0
    for call, value in ((integer, 2**31), (integer, 1.0), (layers, 2**32), (layers, "1"), (real, None), (real, "x")):
        with pytest.raises(ValueError, match=r"^k: expected .* got .*; leave it out for the default"):
            call(value, "k")
