"""Helpers of comparisons: sizes of samples, fields of hits, errors in ulp. `support.check_shapes` compares."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from support.oracle.cylinder import Ray
from support.oracle.lines import Solid

from cylcollide.runtime import levels

IS_COMPILED = levels.CHOICE.level != levels.PLAIN
"""Whether machine code is used; plain Python is hundreds of times slower."""

POSITION_ULPS = 4
"""The promise: positions within 4 ulp of the largest coordinate among ray ends, limb ends and hit point."""

DISTANCE_ULPS = 16
"""A t within 4 ulp in every coordinate is within 4√3 < 7 ulp of distance; the root and the products add rounding errors
of less than 2√3·4 half ulps of a coordinate."""


def sized(count: int, interpreted: int | None = None) -> int:
    """Return the size of a sample: `count`, or a quarter of it (at least 60) if kernels are interpreted.

    `interpreted` replaces that quarter, for tests that use no machine code: the gate runs them in plain Python, too.
    """
    return count if IS_COMPILED else min(count, max(60, count // 4)) if interpreted is None else interpreted


ExactPoint = Sequence[Fraction]
"""Three coordinates without rounding, or within 2^-160 relative."""


def ulp_at(limb: Solid, query: Ray, point: ExactPoint) -> float:
    """Return one ulp of the largest coordinate among ray ends, limb ends (a centre) and the point."""
    end = query.target if query.segment else ()
    return math.ulp(max(abs(float(x)) for x in (*query.origin, *end, *limb.p1, *limb.p2, *point)))


def worst_error(point: ExactPoint, answer: Sequence[float]) -> float:
    """Return the largest coordinate error of a position; inf if it is not finite."""
    if not all(map(math.isfinite, answer)):
        return math.inf
    return _worst([a.as_integer_ratio() for a in answer], point)


def worst_error_along(point: ExactPoint, query: Ray, fraction: float) -> float:
    """Return the largest coordinate error of the exact origin + fraction·direction; inf if it is not finite."""
    if not math.isfinite(fraction):
        return math.inf
    (n, m), along = fraction.as_integer_ratio(), []
    for o, d in zip(query.origin, query.direction, strict=True):
        (p, q), below = o.as_integer_ratio(), m * d.denominator
        along.append((p * below + n * d.numerator * q, q * below))
    return _worst(along, point)


def _worst(answer: Sequence[tuple[int, int]], point: ExactPoint) -> float:
    """Return the largest difference, rounded once; `answer` has numerators and denominators, not always reduced."""
    return max(
        abs(n * x.denominator - x.numerator * m) / (m * x.denominator) for (n, m), x in zip(answer, point, strict=True)
    )


FIELDS = [
    *("hit", "limb", "character", "started_inside", "thickness"),
    *("fraction", "distance", "position", "normal", "face"),
    *("exit_fraction", "exit_distance", "exit_position", "exit_normal", "exit_face"),
]
"""Every array of a RayHits."""


Columns = dict[str, np.ndarray]


def same_bits(one, other, rows=slice(None), fields=FIELDS) -> list[str]:
    """Return the names of fields that differ in some bit between two results (nan equals nan)."""
    pairs = ((name, getattr(one, name)[rows], getattr(other, name)) for name in fields)
    return [name for name, x, y in pairs if _first_difference(x, y) is not None]


def differing(got: Columns, want: Columns) -> list[str]:
    """Return the names of columns that differ in some bit (nan equals nan), each with the first differing row."""
    assert got.keys() == want.keys()
    return [f"{name}{first}" for name in got if (first := _first_difference(got[name], want[name])) is not None]


def _first_difference(one: np.ndarray, other: np.ndarray) -> list | None:
    if one.shape != other.shape or one.dtype != other.dtype:
        return [one.shape, other.shape, one.dtype, other.dtype]
    same = one == other
    if one.dtype.kind == "f":
        same = (same & (np.signbit(one) == np.signbit(other))) | (np.isnan(one) & np.isnan(other))
    rows = np.flatnonzero(~(same if same.ndim == 1 else same.all(axis=1)))
    return [int(rows[0]), one[rows[0]], other[rows[0]]] if len(rows) else None
