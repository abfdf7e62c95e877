"""What is lowered without numba's ways through memory does what plain Python does; shared functions are loaded once."""

import subprocess
import sys

import numpy as np
import pytest
from support.check_cylinders import JIT
from support.processes import environment

from cylcollide.runtime.compile import compiled, inlined, shared

pytestmark = pytest.mark.skipif(not JIT, reason="about machine code")


def as_entry_point(function, *arguments, allocates=False):
    """Machine code of a function, as entry points have it."""
    from cylcollide.runtime import machine_code

    lowered = machine_code.lower(function, allocates, False, arguments)
    return machine_code.load(machine_code.optimiser().machine_code(lowered))


@compiled
def counted(start, stop, step, out):
    """Write the numbers of some ranges; return how many."""
    n = 0
    for i in range(start, stop, step):
        out[n], n = i, n + 1
    for i in range(start, stop):
        if i == 3:
            continue
        if i > 5:
            break
        out[n], n = 10 * i, n + 1
    else:
        out[n], n = -1, n + 1
    for i in range(start, stop, 3):
        for j in range(stop, start, -2):
            out[n], n = 100 * i + j, n + 1
    numbers = range(start) if step > 0 else range(stop, start)
    for i in numbers:
        out[n], n = 1000 + i, n + 1
    for i in range(out[0]):
        n += i
    return n


def counts(start, stop, step, out):
    """The same, by an entry point."""
    return counted(start, stop, step, out)


@pytest.mark.parametrize("kind", [np.int64, np.int32])
def test_ranges(kind):
    code = None
    for start in (-4, 0, 3, 7):
        for stop in (-5, 0, 2, 7):
            for step in (-3, -2, -1, 1, 2, 5):
                found = np.zeros((2, 300), kind)
                code = code or as_entry_point(counts, 1, 1, 1, found[0])
                numbers = [way(start, stop, step, row) for way, row in zip((code, counted), found, strict=True)]
                assert numbers[0] == numbers[1], (start, stop, step)
                assert (found[0] == found[1]).all(), (start, stop, step)


@compiled
def item_of_all(one, two, three, flags, small, k):
    """Items by constant and variable indices, from the start and the end, in one to three dimensions."""
    one[k], one[-1] = two[-1, k], three[0, -2, k]
    two[k, 0] = three[k, 1, -1] + one[0] * small[-k - 1]
    three[-1, k, 1] = two[0, -1] - three[1, 0, 0]
    flags[k], flags[-1] = two[k, 0] > 0.0, small[0] == 3
    small[k], small[-1] = small[1] + 1, k
    small[np.uint64(1)] = 7
    if flags[0] and not flags[-k]:
        first = one[0]
    else:
        first = -one[1]
    last = first + two[1, 1]
    for _ in range(k):
        last = last * 0.5 + first
    return first - last


def items(one, two, three, flags, small, k):
    """The same, by an entry point."""
    value = item_of_all(one, two, three, flags, small, k)
    one[0] += value + two[k, -1]
    return value


def arrays(seed):
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=4), rng.normal(size=(3, 2)), rng.normal(size=(2, 3, 2)), rng.random(3) > 0.5,
        rng.integers(-5, 5, 4).astype(np.int8),
    )  # fmt: skip


@pytest.mark.parametrize("allocates", [False, True])
def test_items(allocates: bool):
    code = as_entry_point(items, *arrays(0), 1, allocates=allocates)
    for seed in range(20):
        for k in (0, 1):
            found = [(way(*given, k), given) for way in (code, items) for given in [arrays(seed)]]
            assert found[0][0] == found[1][0]
            assert all(np.array_equal(a, b) for a, b in zip(found[0][1], found[1][1], strict=True)), (seed, k)


@compiled
def facts(name, rows):
    """What an array knows of itself; a view of it is passed on."""
    total = 0.0
    for row in rows:
        total += row.sum() + row.strides[0]
    total += name[0].size + 10 * name[0].shape[0] + 100 * name[0].strides[0] + 1000 * name[0].itemsize
    total += name[1].size + 10 * name[1].shape[1] + 100 * name[1].strides[0] + 10000 * name[1].strides[1]
    return total + ends(name[1][1:], name[1][0], name[1][:, 0])


@compiled
def ends(rows, row, column):
    """Of contiguous views, and of one that is not."""
    return rows[-1, -1] + row[-1] + column[-1] + column.strides[0] + rows.strides[0] + row.strides[0] + len(column)


def facts_of(first, second):
    """The same, by an entry point."""
    return facts((first, second), second)


@pytest.mark.parametrize("shape", [(3, 2), (2, 5), (4, 1)])
def test_what_an_array_knows_of_itself(shape: tuple[int, int]):
    first, second = np.arange(5, dtype=np.float32), np.arange(float(np.prod(shape))).reshape(shape)
    assert as_entry_point(facts_of, first, second)(first, second) == facts_of(first, second)


@shared
def halved(x, times):
    for _ in range(times):
        x = 0.5 * x + 1.0
    return x, times


@shared
def halved_twice(x, row, times):
    y, count = halved(x, times)
    row[0] = halved(y, count)[0]
    return y


@inlined
def tripled(x):
    return 3.0 * x


def one(row):
    """An entry point."""
    return halved_twice(tripled(row[1]), row, 2) + halved(row[0], 1)[0]


def other(row):
    """Another one, that calls the same."""
    return halved(row[1], 5)[0] + halved_twice(row[0], row, 3)


def test_shared_functions_are_made_once_and_loaded_once():
    from cylcollide.runtime import machine_code

    row, optimiser = np.array([0.25, 3.0]), machine_code.Optimiser()
    lowered = [machine_code.lower(function, False, False, (row,)) for function in (one, other)]
    for each in lowered:
        assert [symbol.split(".")[-2] for symbol in each.called.shared] == ["halved", "halved_twice"]  # callees first
    contents = [optimiser.machine_code(each) for each in lowered]
    assert len(optimiser._shared) == 2
    for content, plain in zip(contents, (one, other), strict=True):
        rows = np.tile(row, (2, 1))
        assert machine_code.load(content)(rows[0]) == plain(rows[1])
        assert (rows[0] == rows[1]).all()
        assert set(lowered[0].called.shared) <= machine_code._loaded


@pytest.mark.long
@pytest.mark.ci_long
def test_symbols_of_shared_functions_are_the_same_in_every_process():
    """Machine code that one process has made calls what another one has made."""
    script = """
import sys
from cylcollide.runtime import code_cache, machine_code
from cylcollide.runtime.compile import entry_point_named
from cylcollide.warm_up.warm_up import requests_of_every_query
requests = {r.name: r for r in requests_of_every_query(code_cache.writable_directory())}
for name in sys.argv[1:]:
    lowered = machine_code.lower(entry_point_named(name).function, False, False, requests[name].arguments)
print(*sorted(lowered.called.shared))
"""
    found = [
        subprocess.run(
            [sys.executable, "-c", script, *names], env=environment(), capture_output=True, text=True, check=True
        ).stdout
        for names in (
            ["query.loops.brute_force.cast_brute_force"],
            ["query.loops.chords.cast_chords", "query.loops.brute_force.cast_brute_force"],
        )
    ]
    assert found[0] == found[1]
    assert "graze_fraction" in found[0]
