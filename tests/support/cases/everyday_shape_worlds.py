"""Everyday worlds of all shapes, and shots at them, for tests that do not check exactness."""

from collections.abc import Collection

import numpy as np
from support.cases.frames import Array
from support.oracle.cylinder import Ray, segment
from support.oracle.shapes.rows import Shapes, concat, shapes
from support.oracle.shapes.table import SHAPE_ROWS

import cylcollide as cc


def mixed(count: int, seed: int = 5, kinds: Collection[int] = SHAPE_ROWS) -> Shapes:
    """Return limbs of the shapes in turn, scattered over a box of 6 m; radii 0.2 to 0.6 m, lengths about 1 m."""
    rng = np.random.default_rng(seed)
    kind = np.resize(list(kinds), count)
    p1, radius = rng.uniform(-3, 3, (count, 3)), rng.uniform(0.2, 0.6, count)
    p2, share = p1 + rng.normal(size=(count, 3)), rng.uniform(0.1, 0.9, count)
    pointed = rng.random(count) < 0.4  # zero radius2, where the shape allows it
    turn, half = rng.normal(size=(count, 4)), rng.uniform(0.2, 0.8, (count, 3))
    parts = []
    for k in kinds:
        row, at = SHAPE_ROWS[k], kind == k
        low, high = row.share or (0.0, 0.0)
        radius2 = radius * np.where(pointed & (low == 0.0), 0.0, low + (high - low) * share)
        columns = {"p1": p1, "p2": p2, "radius": radius, "radius2": radius2, "orientation": turn, "half": half}
        parts.append(shapes(k, **{name: columns[name][at] for name in row.takes}))
    order = np.argsort(np.concatenate([np.flatnonzero(kind == k) for k in kinds]))
    return concat(parts).take(order)


def shots_at(limbs: Shapes | cc.Limbs, n: int, seed: int = 3) -> tuple[Array, Array]:
    """Return n segments: most cross a limb, some start or end in one, some are aimed at nothing."""
    rng = np.random.default_rng(seed)
    start, end = rng.uniform(-5, 5, (2, n, 3))
    if not len(limbs):
        return start, end
    k = rng.integers(0, len(limbs), n)
    # A point within about one radius of the limb's axis: mostly in the limb.
    off = rng.normal(size=(n, 3))
    off *= (rng.uniform(0.3, 1, n) * np.maximum(limbs.radius[k], 0.3) / np.linalg.norm(off, axis=1))[:, None]
    near = limbs.p1[k] + rng.random((n, 1)) * (limbs.p2 - limbs.p1)[k] + off
    kind = rng.integers(0, 6, (n, 1))
    start = np.where(kind == 0, near, start)
    return start, np.select([kind == 1, kind >= 3], [near, 2 * near - start], end)


def segments_of(start: Array, end: Array) -> list[Ray]:
    """Return the segments in the oracle's form."""
    return [segment(a, b) for a, b in zip(start, end, strict=True)]
