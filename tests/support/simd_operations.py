"""Every operation of `runtime.simd` on numbers, on lanes and on scalars, and the same in numpy."""

from fractions import Fraction
from math import inf, isfinite, nan

import numpy as np
from support.machine_code import as_machine_code

from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import (
    LANES,
    absolute,
    append_where,
    broadcast_like,
    fused_multiply_add,
    larger,
    load,
    logical_not,
    select,
    smaller,
    square_root,
    store,
    truncate,
    with_sign,
)

TINY = 5e-324  # the smallest subnormal
EDGES = np.array(
    [0.0, -0.0, 1.0, -1.0, inf, -inf, nan, TINY, -TINY, 2.2e-308, 1.7e308, -1.7e308, 0.1, -2.5, 3e9, 1e-200]
)
FLOAT32_EDGES = np.array([0.0, -0.0, 1.0, inf, -inf, nan, 1e-45, -1e-45, 3e38, -3e38, 0.1, -2.5], np.float32)


@inlined
def numbers_from(a, b, c):
    """Every operation on numbers, for scalars or lanes of eight."""
    return (
        a + b,
        a - b,
        a * b,
        a / b,
        -a,
        larger(a, b),
        smaller(a, b),
        absolute(a),
        square_root(a),
        truncate(a),
        with_sign(a, b),
        fused_multiply_add(a, b, c),
        broadcast_like(a, b),
        select(a < b, a, c),
        select(a <= b, a, c),
        select(a > b, a, c),
        select(a >= b, a, c),
        select(a == b, a, c),
        select(logical_not(a < b), a, c),
        select((a < b) & (b < c), a, c),
        select((a < b) | (b < c), a, c),
    )


@inlined
def numbers_beside_literals(a):
    """Operations of lanes with a literal, which is broadcast."""
    return (
        a + 0.5,
        1.0 / a,
        larger(0.0, a),
        smaller(a, 0.0),
        with_sign(2.0, a),
        fused_multiply_add(2.0, a, 1.0),
        select(2.0 >= a, 7.0, a),  # noqa: SIM300 - the number comes first on purpose
        broadcast_like(-0.0, a),
    )


@as_machine_code
def eight(a, b, c, out):
    """Apply the operations to lanes; row k of `out` is result k."""
    for offset in range(0, a.size, LANES):
        results = numbers_from(load(a, offset), load(b, offset), load(c, offset))
        for k in range(len(results)):
            store(out, k * a.size + offset, results[k])


@as_machine_code
def one(a, b, c, out):
    """Apply the operations to scalars; row k of `out` is result k."""
    for i in range(a.size):
        results = numbers_from(a[i], b[i], c[i])
        for k in range(len(results)):
            out[k, i] = results[k]


@as_machine_code
def eight_beside_literals(a, out):
    for offset in range(0, a.size, LANES):
        results = numbers_beside_literals(load(a, offset))
        for k in range(len(results)):
            store(out, k * a.size + offset, results[k])


@as_machine_code
def one_beside_literals(a, out):
    for i in range(a.size):
        results = numbers_beside_literals(a[i])
        for k in range(len(results)):
            out[k, i] = results[k]


def fused(a, b, c):
    """a b + c rounded once, by rational arithmetic unless an operand is zero or not finite."""
    if isfinite(a) and isfinite(b) and not isfinite(c):
        return c
    if a == 0.0 or b == 0.0 or not (isfinite(a) and isfinite(b)):
        return a * b + c
    total = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return float(total)
    except OverflowError:
        return inf if total > 0 else -inf


@np.errstate(all="ignore")
def by_numpy(a, b, c):
    """The expected results of `numbers_from`, a row each."""
    fused_rows = [fused(*row) for row in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)]
    return np.array(
        [
            a + b,
            a - b,
            a * b,
            a / b,
            np.negative(a),
            np.where(a > b, a, b),
            np.where(a < b, a, b),
            np.abs(a),
            np.sqrt(a),
            np.trunc(a),
            np.copysign(a, b),
            fused_rows,
            a,
            np.where(a < b, a, c),
            np.where(a <= b, a, c),
            np.where(a > b, a, c),
            np.where(a >= b, a, c),
            np.where(a == b, a, c),
            np.where(a < b, c, a),
            np.where((a < b) & (b < c), a, c),
            np.where((a < b) | (b < c), a, c),
        ],
        a.dtype,
    )


FUSED = 11  # row of the fused multiply-add


@np.errstate(all="ignore")
def literals_by_numpy(a):
    """The expected results of `numbers_beside_literals`."""
    return np.array(
        [
            a + 0.5,
            1.0 / a,
            np.where(a < 0.0, 0.0, a),
            np.where(a < 0.0, a, 0.0),
            np.copysign(2.0, a),
            [fused(2.0, x, 1.0) for x in a.tolist()],
            np.where(a <= 2.0, 7.0, a),
            np.full(a.size, -0.0),
        ]
    )


def images(numbers):
    """The bits of the numbers; every NaN has the same bits."""
    numbers = np.asarray(numbers)
    return np.where(np.isnan(numbers), numbers.dtype.type(nan), numbers).view(f"u{numbers.dtype.itemsize}")


def same(a, b):
    """Whether two arrays are bit-equal and have the same dtype."""
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and np.array_equal(images(a), images(b))


def triples(edges, seed=11):
    """Three columns: all pairs of edge cases, numbers of all sizes, and products that the third nearly cancels."""
    rng = np.random.default_rng(seed)
    kind, info = edges.dtype.type, np.finfo(edges.dtype)
    a, b = (column.ravel() for column in np.meshgrid(edges, edges))
    c = rng.permutation(a)
    n = 256
    wild = np.ldexp(rng.uniform(-1, 1, (3, n)), rng.integers(info.minexp - 40, info.maxexp - 1, (3, n)))
    x, y = rng.uniform(-2, 2, (2, n))
    with np.errstate(over="ignore", under="ignore"):
        close = np.array([x, y, -(x.astype(kind) * y.astype(kind))]).astype(kind)
        columns = np.concatenate([[a, b, c], wild.astype(kind), close], axis=1)
    return np.ascontiguousarray(columns[:, : columns.shape[1] // LANES * LANES])


def results_of(function, columns, rows):
    out = np.full((rows, columns[0].size), 99.0, columns[0].dtype)
    function(*columns, out)
    return out


@as_machine_code
def appended(rows, first, numbers, offset, out):
    """Append the rows of positive numbers, then those of the others; return the length of each list."""
    count = append_where(out, offset, rows, first, load(numbers, 0) > 0.0)
    return count, append_where(out, offset + count, rows, first, logical_not(load(numbers, 0) > 0.0))


def check_append_where(way):
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
