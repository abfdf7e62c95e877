"""Loads, stores, single lanes and bit masks: compiled and interpreted."""

from math import inf, nan

import numpy as np
import pytest
from support.check_cylinders import IS_COMPILED
from support.machine_code import as_machine_code, interpreted
from support.simd_operations import EDGES, FLOAT32_EDGES, check_append_where, same

from cylcollide.runtime.simd import (
    LANES,
    broadcast,
    first_least,
    highest_bit,
    lane,
    load,
    load_at,
    load_rows,
    load_triples,
    logical_not,
    lowest_bit,
    movemask,
    store,
    store_rows,
)


@as_machine_code
def read(array, rows, first, stride, column, out):
    store(out, 0, load(array, first))
    store(out, 8, load_at(array, rows, first, stride, column))
    columns = load_rows(array.reshape(-1, stride), rows, first, column)
    for k in range(len(columns)):
        store(out, 16 + LANES * k, columns[k])
    triples = load_triples(array, first)
    for k in range(len(triples)):
        store(out, 80 + LANES * k, triples[k])


@pytest.mark.parametrize("way", [lambda f: f, interpreted])
@pytest.mark.parametrize(("kind", "row_kind"), [(np.float64, np.int32), (np.float32, np.int64)])
def test_loads_from_any_offset_and_of_rows_that_repeat(way, kind, row_kind):
    rng = np.random.default_rng(2)
    array = rng.normal(size=660).astype(kind)
    for first in range(20):  # most are unaligned
        for stride, column in ((11, 0), (11, 2), (12, 4), (15, 7)):
            rows = rng.integers(0, 5, 40).astype(row_kind)
            out = np.zeros((13, LANES), kind)
            way(read)(array, rows, first, stride, column, out.reshape(-1))
            eight_rows, matrix = rows[first : first + 8], array.reshape(-1, stride)
            assert len(set(eight_rows)) < LANES
            assert same(out[0], array[first : first + 8])
            assert same(out[1], matrix[eight_rows, column])
            assert same(out[2:10], matrix[eight_rows, column : column + 8].T)
            assert same(out[10:], array[first : first + 24].reshape(8, 3).T)


@as_machine_code
def write(numbers, offset, out):
    store(out, offset, load(numbers, 0))


@as_machine_code
def write_truths(numbers, offset, out):
    store(out, offset, load(numbers, 0) > 0.0)


@pytest.mark.parametrize("way", [lambda f: f, interpreted])
@pytest.mark.parametrize("kind", ["f8", "f4", "i4", "u1", "?"])
def test_store_converts_and_leaves_the_neighbours_alone(way, kind):
    rounded = np.array([0.1, -0.0, 1e300, -inf, nan, 1e-320, 16777217.0, -2.5])
    whole_numbers = np.array([0.9, -0.9, 100.99, 0.0, -0.0, 7.0, 31.5, 127.9])
    numbers = rounded if kind in ("f8", "f4") else whole_numbers
    for offset in range(17):
        if kind != "?":
            out = np.full(40, 55, kind)
            way(write)(numbers, offset, out)
            with np.errstate(over="ignore"):
                want = np.insert(np.full(32, 55, kind), offset, numbers.astype(kind))
            assert np.array_equal(out.view(f"u{out.itemsize}"), want.view(f"u{out.itemsize}"))
        out = np.ones(40, kind)
        way(write_truths)(numbers, offset, out)
        assert np.array_equal(out, np.insert(np.ones(32, kind), offset, numbers > 0.0))


def test_float32_lanes_widen_when_stored():
    out = np.zeros(8)
    write(FLOAT32_EDGES, 0, out)
    assert same(out, FLOAT32_EDGES[:8].astype(float))


@as_machine_code
def write_rows(numbers, first, column, out):
    c = load(numbers, 0), load(numbers, 8), load(numbers, 16), load(numbers, 24)
    store_rows(out, first, column, (*c, load(numbers, 32), load(numbers, 40), load(numbers, 48), load(numbers, 56)))


@pytest.mark.parametrize("way", [lambda f: f, interpreted])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_store_rows_turns_columns_and_leaves_the_rest_alone(way, kind):
    numbers = np.random.default_rng(4).normal(size=(8, LANES))
    for first, column in ((0, 0), (3, 1), (2, 5)):
        out, want = np.zeros((2, 12, 13), kind)
        want[first : first + 8, column : column + 8] = numbers.T
        way(write_rows)(numbers.reshape(-1), first, column, out)
        assert same(out, want)


@as_machine_code
def taken_apart(numbers, short, out, found):
    """Broadcasts, single lanes and bit masks of eight numbers."""
    for k in range(LANES):
        out[0, k] = lane(load(numbers, 0), k)
        store(out, LANES * (1 + k), broadcast(numbers[k]))
    store(out, 9 * LANES, broadcast(3))
    store(out, 10 * LANES, broadcast(short[0]) * broadcast(short[0]))
    found[0] = movemask(load(numbers, 0) > 0.0)
    found[1] = movemask(logical_not(load(numbers, 0) > 0.0))
    found[2] = movemask(broadcast(short[0]) > broadcast(short[1]))


@pytest.mark.parametrize("way", [lambda f: f, interpreted])
def test_spread_lane_and_bits(way):
    numbers, short = EDGES[:8].copy(), np.array([0.1, 0.2], np.float32)
    out, found = np.zeros((11, LANES)), np.zeros(3, np.int64)
    way(taken_apart)(numbers, short, out, found)
    assert same(out[0], numbers)
    assert same(out[1:9], np.repeat(numbers, 8).reshape(8, 8))
    assert same(out[9], np.full(8, 3.0))
    assert same(out[10], np.full(8, float(short[0] * short[0])))  # a product of float32
    want = sum(1 << k for k in range(8) if numbers[k] > 0.0)
    assert found.tolist() == [want, 255 - want, 0]
    assert want not in (0, 255)


@pytest.mark.parametrize("way", [lambda f: f, interpreted])
def test_append_where_packs_in_order(way):
    check_append_where(way)


@as_machine_code
def ends(number):
    return lowest_bit(number), highest_bit(number)


@pytest.mark.parametrize("way", [lambda f: f, interpreted])
def test_lowest_and_highest_bit(way):
    numbers = {1 << k | 1 << j for k in range(63) for j in range(63)} | set(range(1, 300))
    assert all(way(ends)(n) == ((n & -n).bit_length() - 1, n.bit_length() - 1) for n in numbers)


@as_machine_code
def least(array):
    return first_least(load(array, 0))


@pytest.mark.parametrize("way", [lambda f: f, interpreted])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_first_least_is_the_first_index(way, kind):
    rng = np.random.default_rng(4)
    for _ in range(200):
        numbers = rng.choice([-np.inf, -2.0, -0.0, 0.0, 1.0, np.inf], LANES).astype(kind)
        assert way(least)(numbers) == numbers.tolist().index(numbers.min())


@pytest.mark.skipif(not IS_COMPILED, reason="numba refuses, not the interpreter")
@pytest.mark.parametrize(
    "array", [np.zeros((8, 8)).T, np.zeros(32)[::2], np.zeros(8, np.int64), np.zeros(8, np.float16)[:0]]
)
def test_loads_refuse_what_they_would_misread(array):
    with pytest.raises(pytest.importorskip("numba").TypingError, match="in C order, got"):
        write(array, 0, np.zeros(8))
