"""Operations on eight lanes have the bits of scalar ones, compiled and interpreted, on every kind of processor."""

import inspect
import os
from math import inf, nan
from pathlib import Path

import numpy as np
import pytest
from support.check_cylinders import IS_COMPILED
from support.machine_code import as_machine_code, interpreted
from support.package import ABOVE_PACKAGE, output_of
from support.simd_operations import (
    EDGES,
    FLOAT32_EDGES,
    FUSED,
    TINY,
    by_numpy,
    eight,
    eight_beside_literals,
    fused,
    literals_by_numpy,
    one,
    one_beside_literals,
    results_of,
    same,
    triples,
)

from cylcollide.runtime.simd import LANES, broadcast, fused_multiply_add, load, logical_not, select, store


def test_lanes_single_numbers_interpreter_and_numpy_agree_on_float64():
    """All operations on numbers, for random ones and every pair of zeros, infinities, NaN, subnormals and others."""
    columns = triples(EDGES)
    want = by_numpy(*columns)
    for function in (eight, one, interpreted(eight), interpreted(one)):
        got = results_of(function, columns, len(want))
        assert same(got, want), [k for k in range(len(want)) if not same(got[k], want[k])]
    assert np.isnan(want).any(axis=1).all()
    zeros, subnormal = want == 0.0, (np.abs(want) < np.finfo(float).tiny) & (want != 0.0)
    assert np.signbit(want)[zeros].any()
    assert not np.signbit(want)[zeros].all()
    assert subnormal.any(axis=1).sum() > 15
    assert np.isinf(want).any(axis=1).all()


def test_lanes_single_numbers_and_numpy_agree_on_float32():
    columns = triples(FLOAT32_EDGES)
    want = by_numpy(*columns)
    side, single = (results_of(function, columns, len(want)) for function in (eight, one))
    rows = [k for k in range(len(want)) if k != FUSED]  # numpy rounds this one in float64 here
    assert same(side[rows], want[rows])
    assert same(single[rows], want[rows])
    assert not IS_COMPILED or same(side[FUSED], single[FUSED])
    assert np.allclose(side[FUSED], want[FUSED], rtol=1e-7, atol=1e-44, equal_nan=True)


def test_scalars_beside_lanes_are_broadcast():
    a = np.ascontiguousarray(triples(EDGES)[0])
    want = literals_by_numpy(a)
    for function in (
        eight_beside_literals,
        one_beside_literals,
        interpreted(eight_beside_literals),
        interpreted(one_beside_literals),
    ):
        assert same(results_of(function, (a,), len(want)), want)


def test_fused_multiply_add_rounds_once():
    """Also as plain Python, on products that cancel, overflow and vanish."""
    cases = [
        (0.1, 10.0, -1.0, 2.0**-54),
        (1 + 2.0**-52, 1 - 2.0**-53, -1.0, 2.0**-53 - 2.0**-105),
        (1e300, 1e300, -inf, -inf),
        (1e300, 1e300, 0.0, inf),
        (-1e300, 1e300, 1.0, -inf),
        (1e200, 1e200, -1e308, inf),
        (TINY, -0.25, 0.0, -0.0),
        (0.0, -1.0, -0.0, -0.0),
        (0.0, -1.0, 0.0, 0.0),
        (1.0, 1.0, -1.0, 0.0),
        (inf, 0.0, 1.0, nan),
        (inf, 1.0, -inf, nan),
        (nan, 1.0, 1.0, nan),
        (1.0, 1.0, nan, nan),
    ]
    a, b, c, want = np.array(cases).T
    assert same([fused(*row[:3]) for row in cases], want)
    with np.errstate(all="ignore"):
        assert same(inspect.unwrap(fused_multiply_add)(a, b, c), want)


@as_machine_code
def chosen(truths, limits, out):
    """One condition with lanes and with scalars, eight conditions with scalars, and `logical_not` of one."""
    for k in range(truths.size):
        store(out, k * 4 * LANES, select(truths[k], load(limits, 0), 5.0))
        store(out, k * 4 * LANES + LANES, select(logical_not(truths[k]), load(limits, 0), load(limits, LANES)))
        store(out, k * 4 * LANES + 2 * LANES, broadcast(select(truths[k], 2.0, 3.0)))
        store(out, k * 4 * LANES + 3 * LANES, select(load(limits, 0) < 4.0, 1.0, 2.0))


@pytest.mark.parametrize("way", [lambda f: f, interpreted])
def test_one_condition_selects_all_lanes(way):
    truths, limits, out = np.array([True, False]), np.arange(16.0), np.zeros((2, 4, LANES))
    way(chosen)(truths, limits, out)
    small = [1.0] * 4 + [2.0] * 4
    assert same(out[0], [limits[:8], limits[8:], [2.0] * 8, small])
    assert same(out[1], [[5.0] * 8, limits[:8], [3.0] * 8, small])


# On processors with fewer instructions.

OPERATIONS = """
import sys
import numpy as np
from support import simd_operations

simd_operations.check_append_where(lambda f: f)
columns = simd_operations.triples(simd_operations.EDGES)
np.save(sys.argv[1], simd_operations.results_of(simd_operations.eight, columns, 21))
"""


def lesser(processor):
    """Environment in which numba compiles for a processor with fewer instructions than this one."""
    binding = pytest.importorskip("llvmlite.binding")
    if processor == "generic":
        return {"NUMBA_CPU_NAME": "generic"}
    features = binding.get_host_cpu_features()
    given = (f"{'+' if on and 'avx512' not in name else '-'}{name}" for name, on in features.items())
    return {"NUMBA_CPU_FEATURES": ",".join(given)}


@pytest.mark.skipif(not IS_COMPILED, reason="about machine code")
@pytest.mark.long
@pytest.mark.ci_long
@pytest.mark.parametrize("processor", ["generic", "no AVX-512"])
def test_operations_are_bit_equal_on_lesser_processors(tmp_path, processor):
    """Four SSE2 vectors without fused multiply-add, or two AVX vectors, give the bits of this processor.

    Without a packing instruction, an earlier version left uninitialised entries behind a list and read them as rows.
    """
    path = os.pathsep.join([str(ABOVE_PACKAGE), str(Path(__file__).parents[1])])
    output_of("-c", OPERATIONS, tmp_path / "results.npy", env={**os.environ, **lesser(processor), "PYTHONPATH": path})
    columns = triples(EDGES)
    want = results_of(eight, columns, 21)
    assert same(np.load(tmp_path / "results.npy"), want)
