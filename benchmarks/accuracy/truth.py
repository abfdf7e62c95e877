"""The truth that `run.py` measures against: rational arithmetic for where, extended precision for the normal.

The fraction of the entry is a root in whole numbers, rounded to a sum of two float64 (relative error below 2⁻¹⁰⁰). The
normal is that of the textbook at that point, in numpy's `longdouble`: 64 bits or more except on Windows and on ARM
Macs, where it has 53 and our own normals are measured to no better than the rounding of the point.
"""

from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import cylcollide as cc
from cylcollide._types import Face, Float64Array, Int64Array, Shape
from cylcollide.bench.workloads import Segments
from cylcollide.exact.line import segment_numbers
from cylcollide.exact.order import limb_chords
from cylcollide.exact.solid import Solid
from cylcollide.query.exact_fallback import exact_limb

CHUNK = 2_000  # rays that a process takes at a time, about 0.1 s
Long = NDArray[np.longdouble]


class Truth(NamedTuple):
    """Where n rays enter one limb; NaN and `Face.NONE` for a miss."""

    fraction: Float64Array  # (n, 2), high and low word
    face: Int64Array  # (n,)


def decide(limbs: cc.Limbs, shots: Segments, pool: Executor) -> Truth:
    """Decide every ray against the one limb in rational arithmetic."""
    chunks = range(0, len(shots.starts), CHUNK)
    solid = exact_limb(limbs._table, 0)
    parts = [(shots.starts[i : i + CHUNK], shots.ends[i : i + CHUNK]) for i in chunks]
    rows = np.concatenate(list(pool.map(_decided, [solid] * len(parts), *zip(*parts, strict=True))))
    return Truth(rows[:, :2], rows[:, 2].astype(np.int64))


def _decided(solid: Solid, starts: Float64Array, ends: Float64Array) -> Float64Array:
    """High word, low word and face of the entry of each segment; (n, 3)."""
    rows = np.full((len(starts), 3), np.nan)
    rows[:, 2] = Face.NONE
    for row, start, end in zip(rows, starts.tolist(), ends.tolist(), strict=True):
        chords = limb_chords(segment_numbers(start, end), solid)
        if chords:
            row[:] = *chords[0].entry.double_double(), chords[0].entry_face
    return rows


def normals(limbs: cc.Limbs, shots: Segments, truth: Truth) -> Long:
    """Unit outward normals at the entries; (n, 3), NaN for a miss."""
    start, end = (x.astype(np.longdouble) for x in shots)
    point = start + truth.fraction.astype(np.longdouble).sum(axis=1)[:, None] * (end - start)
    p1, p2 = limbs.p1[0].astype(np.longdouble), limbs.p2[0].astype(np.longdouble)
    axis, x = p2 - p1, point - p1
    square = axis @ axis
    kind = Shape(int(limbs.kind[0]))
    if kind == Shape.BOX:
        axes = np.repeat(limbs.box_axes[0].astype(np.longdouble), 2, axis=0) * np.resize([-1, 1], 6)[:, None]
        gradient = axes[np.where(truth.face == Face.NONE, 0, truth.face - Face.NEG_X)]
    elif kind == Shape.SPHERE:
        gradient = x
    else:
        share = ((x @ axis) / square)[:, None]
        across = x - share * axis
        if kind == Shape.CAPSULE:
            gradient = x - np.clip(share, 0, 1) * axis
        elif kind == Shape.ELLIPSOID:
            gradient = across / limbs.radius[0] ** 2 + (share - 0.5) * axis * (4 / square)
        else:
            # The wall is |across| = r1 + (r2 - r1) share; a bore's normal points to the axis.
            slope = limbs.radius2[0] - limbs.radius[0] if kind == Shape.TAPERED else 0.0
            gradient = _unit(across) - slope * axis / square
            face = truth.face[:, None]
            gradient = np.where(face == Face.BORE, -gradient, gradient)
            gradient = np.where(face == Face.CAP1, -axis, np.where(face == Face.CAP2, axis, gradient))
    return np.where(np.isnan(truth.fraction[:, :1]), np.nan, _unit(gradient))


def _unit(vector: Long) -> Long:
    unit: Long = vector / np.sqrt((vector * vector).sum(axis=1))[:, None]
    return unit
