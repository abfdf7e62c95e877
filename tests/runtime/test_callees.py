"""Functions that compiled functions call: arguments and results of every kind, and other programs of numba beside."""

from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys
from support.check_cylinders import JIT
from support.machine_code import as_machine_code, interpreted

from cylcollide.runtime.compile import compiled, inlined

pytestmark = pytest.mark.skipif(not JIT, reason="about machine code")


class Pair(NamedTuple):
    """A number and an array."""

    number: float
    row: np.ndarray


@inlined
def turned(pair, both=True):
    return Pair(-pair.number, pair.row[1:]), both and pair.number > 0.0


@compiled
def doubled(pair, times=2):
    for k in range(len(pair.row)):
        pair.row[k] *= times


@compiled
def extremes(pair, count):
    turned_pair, positive = turned(pair)
    doubled(turned_pair)
    if count > 3:
        return max(pair.row[0], turned_pair.number, 2.0), count in (4, 5), positive
    return min(pair.row[0], turned_pair.number), False, turned(pair, False)[1]


@as_machine_code
def all_kinds(row, out):
    scratch = np.zeros((2, row.size))
    for count in range(6):
        value, is_listed, positive = extremes(Pair(4.5 - count, row), count)
        out[count, 0], out[count, 1], out[count, 2] = value, int(is_listed), int(positive)
        scratch[count % 2] += row
    out[6:, 0] = scratch.sum()


def test_tuples_arrays_defaults_and_truths_go_in_and_out():
    """Every form of argument and result, through functions that are inlined and others; and what they write."""
    answers = []
    for way in (all_kinds, interpreted(all_kinds)):
        row, out = np.array([0.25, -3.0, 7.0]), np.zeros((7, 3))
        way(row, out)
        answers.append((row, out))
    assert np.array_equal(*(row for row, _ in answers))
    assert np.array_equal(*(out for _, out in answers))
    assert answers[0][1][:, 1:].any(axis=0).all()


def test_what_an_entry_point_allocates_is_freed():
    """Arrays that functions of numba's own make for it, too."""
    row, out = np.array([0.25, -3.0, 7.0]), np.zeros((7, 3))
    all_kinds(row, out)
    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats()
    for _ in range(5):
        all_kinds(row, out)
    after = rtsys.get_allocation_stats()
    assert after.alloc - before.alloc == after.free - before.free >= 5


def test_a_program_of_numba_s_own_is_compiled_as_ever():
    """Functions of numba that entry points have used, `min` and `np.zeros`, still raise, and have machine code."""
    row, out = np.array([0.25, -3.0, 7.0]), np.zeros((7, 3))
    all_kinds(row, out)

    @numba.njit
    def zeros(count, other):
        return np.zeros((min(count, other), 2))

    assert zeros(3, 2).shape == (2, 2)
    with pytest.raises(ValueError, match="negative dimensions"):
        zeros(-1, 2)
