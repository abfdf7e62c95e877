"""Arguments that are lists, tuples or numbers, and results as tuples: the extension has the results of plain Python."""

import gc
import sys

import numpy as np
import pytest

from cylcollide import validate
from cylcollide.bullet import tuples
from cylcollide.bullet.arguments import integer, layers, real, vectors
from cylcollide.bullet.tuples import MISS, hit_tuples, read_rows, read_states, results_unchanged

COMPILED = tuples.MACHINE_CODE is not None


class Number:
    """An object that `float` accepts."""

    def __float__(self) -> float:
        raise AssertionError("no code of the caller's runs")

    def __repr__(self) -> str:
        return "Number()"


class Three(list):
    """A list of another class."""


ROWS = [
    [[1.0, 2.0, 3.0], (4.0, 5.0, 6.0)], ([1, 2.5, -3],), [[2**53, -(2**53), 0]], [[np.float64(1.5)] * 3],
    [Three([1.0] * 3)], [[2**53 + 1, 0, 0]], [[-(2**70), 0, 0]], [[True, 0.0, 0.0]], [[np.int64(1), 0.0, 0.0]],
    [[1j, 0.0, 0.0]], [["1", 0.0, 0.0]], [[None] * 3], [[Number()] * 3], [[1.0, 2.0]], [[1.0, 2.0, 3.0, 4.0]],
    [[]], [1.0, 2.0, 3.0], [[[1.0, 2.0, 3.0], 2.0, 3.0]], [np.ones(3)], [{0: 1.0}], [[np.nan, np.inf, -0.0]],
    [[1.0] * 3, [1.0] * 2], [], [[1e308, 5e-324, 0.1]],
]  # fmt: skip


@pytest.mark.parametrize("rows", ROWS, ids=repr)
def test_rows_are_read_as_by_plain_python(rows):
    read, expected = np.full((2, 4, 3), 7.0)
    done = read_rows(rows, read)
    assert done == tuples._read_rows(rows, expected) in (0, len(rows))
    if done:
        assert np.array_equal(read, expected, equal_nan=True)
        assert (np.signbit(read) == np.signbit(expected)).all()
    assert (read[len(rows) :] == 7.0).all(), "no row but those that are given"


STATE = (1.0, 2.0, 3.0), (4.0, 5.0, 6.0, 7.0)


@pytest.mark.parametrize("states", [
    STATE, (STATE,), (STATE, STATE), ((*STATE, STATE[0], STATE[1]),) * 2, [list(STATE)], (*STATE, 5.0), (),
    STATE[:1], (STATE[:1],), STATE[::-1][:1], (STATE[0], STATE[0]), ((STATE[1], STATE[1]),), ((STATE[0], (1.0, "2")),),
], ids=repr)  # fmt: skip
def test_states_are_read_as_by_plain_python(states):
    read, expected = np.full((2, 4, 7), 7.0)
    calls = [(lambda *_: states, (1, 2), 1), None, (lambda first, second: STATE, (1, 2), 3)]
    plain = failure(tuples._read_states, calls, expected)
    assert failure(read_states, calls, read) is plain
    assert plain is None or plain is AssertionError
    assert (read[0] == 7.0).all()
    assert plain or ((read == expected).all() and (read[3] == np.concatenate(STATE)).all())


def failure(function, *given):
    """The type of the error, None without one."""
    try:
        function(*given)
    except Exception as error:
        return type(error)
    return None


def test_one_of_several_calls_is_chosen():
    def state(k):
        return (float(k), 0.0, 0.0), (0.0,) * 4

    for function in (read_states, tuples._read_states):
        read = np.full((3, 7), 7.0)
        calls = [(None, (state, (1,), 0)), ((state, (2,), 1), (state, (3,), 1)), [None, (state, (4,), 2)]]
        assert function(calls, read, np.array([1, 0, 0])) is None
        assert read[:, 0].tolist() == [1.0, 2.0, 7.0]
        with pytest.raises(IndexError):
            function(calls, read, np.array([1, 2, 0]))


def test_only_wanted_rows_are_read():
    def states(body, links, flag):
        asked.append((body, links, flag))
        return tuple(((float(k), 0.0, 0.0), (0.0,) * 4, ()) for k in links)

    for function in (read_states, tuples._read_states):
        read, asked = np.full((6, 7), 7.0), []
        calls = [(states, (5, [10, 11, 12], 0), 1), (states, (6, [13], 0), 4), (states, (7, [14], 1), 5)]
        assert function(calls, read, np.array([True, True, False, True, False, True])) is None
        assert asked == [(5, [10, 12], 0), (7, [14], 1)]
        assert read[:, 0].tolist() == [7.0, 10.0, 7.0, 12.0, 7.0, 14.0]
        with pytest.raises(AssertionError):
            function([(lambda *_: (STATE[:1],), (5, [1]), 0)], read, np.ones(6, bool))


def test_errors_of_calls_are_passed_on():
    def fails(*_):
        raise KeyError("gone")

    for function in (read_states, tuples._read_states):
        with pytest.raises(KeyError, match="gone"):
            function([(fails, (), 0)], np.zeros((1, 7)))


def test_states_are_read_into_several_arrays():
    def state(k):
        asked.append(k)
        return (float(k), 0.0, 0.0), (0.0,) * 4

    for function in (read_states, tuples._read_states):
        read, asked = np.full((3, 2, 7), -1.0), []
        calls = [[(state, (3 * k,), 0), (state, (3 * k + 1,), 1)] for k in range(3)]
        either = [(None, calls[1][0]), (calls[1][1], None)]
        chosen = np.array([1, 1])
        assert function(calls[0], read[0], None, either, read[1], chosen, calls[2], read[2], None) is None
        assert read[:, :, 0].tolist() == [[0.0, 1.0], [3.0, -1.0], [6.0, 7.0]]
        assert asked == [0, 1, 3, 6, 7]


def test_results_unchanged():
    asked = []

    def double(number):
        asked.append(number)
        return 2 * number

    for function in (results_unchanged, tuples._results_unchanged):
        calls = (double, (1,), 2), None, (double, (2,), 4.0), (double, (3,), 7), (double, (4,), 8)
        asked.clear()
        assert function(calls) is False
        assert asked == [1, 2, 3], "no more is asked than has to be"
        assert function(calls[:3]) is True
        assert function(calls, np.array([1, 1, 0, 0, 1], bool)) is True
        assert function(calls, np.array([0, 0, 0, 1, 0], bool)) is False
        assert function(()) is True
        with pytest.raises(ZeroDivisionError):
            function(((divmod, (1, 0), 3),))


@pytest.mark.skipif(not COMPILED, reason="plain Python")
def test_arrays_that_cannot_take_rows_are_refused():
    frozen = np.zeros((2, 3))
    frozen.flags.writeable = False
    for array in (frozen, np.zeros((3, 2)).T, np.zeros((2, 3), np.float32), np.zeros(6), [[0.0] * 3]):
        with pytest.raises(TypeError):
            read_rows([[1.0] * 3], array)
        with pytest.raises(TypeError):
            read_states([], array)
    for rows in ([[1.0] * 3] * 3, "abc", None):
        assert read_rows(rows, np.zeros((2, 3))) == tuples._read_rows(rows, np.zeros((2, 3))) == 0
    call, array = (lambda: STATE, (), 0), np.zeros((1, 7))
    for calls, *chosen in ((None,), ([call], np.zeros(2, np.int64)), ([call], np.zeros(1)), ([call[:2]],), ([[call]],)):
        with pytest.raises((TypeError, SystemError)):
            read_states(calls, array, *chosen)
    ones = np.ones(1, bool)
    for call in (((lambda *_: STATE), (1, [1, 2]), 0), ((lambda *_: STATE), (1, [1]), -1), ((lambda: STATE), (), 0)):
        with pytest.raises((TypeError, SystemError)):
            read_states([call], array, ones)
    with pytest.raises(TypeError):
        read_states([((lambda *_: STATE), (1, [1]), 0)], array, np.ones(2, bool))
    for first in (1, -1):
        with pytest.raises(AssertionError, match="states of two tuples with 7 floats"):
            read_states([(lambda: STATE, (), first)], array)
    for given in ([],), ([], array, None, []), ([], array, None, [], array):
        with pytest.raises(TypeError, match="read_states"):
            read_states(*given)
    for given in (), ([],), ((), ones), ((), None), ((call,), np.ones(1, np.int64)), ((call,), ones, ones):
        with pytest.raises(TypeError, match="results_unchanged"):
            results_unchanged(*given)
    for calls in ((1,), ((1, 2),), ((len, ([],), 0, 0),), ((len, 5, 0),)):
        with pytest.raises((TypeError, SystemError)):
            results_unchanged(calls)


def columns(n):
    rng = np.random.default_rng(n)
    link = rng.integers(-1, 5, (n, 2)).astype(np.int32)
    return link, rng.random(n), rng.normal(size=(n, 3)), rng.normal(size=(n, 3))


@pytest.mark.parametrize("n", [0, 1, 3000])
def test_hits_are_tuples_of_pythons_numbers(n):
    made, expected = hit_tuples(n, *columns(n), MISS), tuples._hit_tuples(n, *columns(n), MISS)
    assert made == expected
    assert hit_tuples(n // 2, *columns(n), MISS) == expected[: n // 2]
    assert {type(x) for hit in made for x in (*hit[:3], *hit[3], *hit[4])} <= {int, float}
    assert all(hit is MISS for hit in made if hit[0] < 0)
    if COMPILED:
        assert not any(gc.is_tracked(hit) for hit in made if hit[0] >= 0), "garbage collection visits none"


@pytest.mark.skipif(not COMPILED, reason="plain Python")
def test_columns_of_other_forms_are_refused():
    link, fraction, position, normal = columns(4)
    for given in (
        (5, link, fraction, position, normal), (-1, link, fraction, position, normal),
        (4, link.astype(np.int64), fraction, position, normal), (4, link, fraction[:3], position, normal),
        (4, link, fraction, position[:, :2].copy(), normal), (4, link, fraction, position, normal[::2]),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="hit_tuples"):
            hit_tuples(*given, MISS)


def test_references_are_counted():
    row, before = [0.5, 1.5, 2.5], sys.getrefcount(MISS)
    counts = [sys.getrefcount(x) for x in (row, *row)]
    for _ in range(100):
        assert read_rows([row] * 3, np.empty((3, 3))) == 3
        assert not read_rows([row, [row]], np.empty((3, 3)))
        hits = hit_tuples(10, np.full((10, 2), -1, np.int32), *columns(10)[1:], MISS)
    assert len(hits) == 10
    del hits
    assert sys.getrefcount(MISS) == before
    assert [sys.getrefcount(x) for x in (row, *row)] == counts


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
