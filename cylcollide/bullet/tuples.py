"""Hits as PyBullet's tuples, made of columns by loops of the interpreter's own."""

from typing import TypeAlias

import numpy as np

from cylcollide.bullet.merge_hits import MergedHits

RayTestResult: TypeAlias = tuple[int, int, float, tuple[float, float, float], tuple[float, float, float]]

NOWHERE = (0.0, 0.0, 0.0)
MISS: RayTestResult = (-1, -1, 1.0, NOWHERE, NOWHERE)


def as_tuples(merged: MergedHits) -> tuple[RayTestResult, ...]:
    """One (body, link, fraction, position, normal) a ray; all misses are one tuple."""
    n, rows = len(merged.body), np.flatnonzero(merged.body >= 0)
    body, link, fraction, position, normal = merged
    if len(rows) < n:
        body, link, fraction, position, normal = body[rows], link[rows], fraction[rows], position[rows], normal[rows]
    points, normals = (zip(*column.T.tolist(), strict=True) for column in (position, normal))
    hits = zip(body.tolist(), link.tolist(), fraction.tolist(), points, normals, strict=True)
    if len(rows) == n:
        return tuple(hits)
    results = [MISS] * n
    for row, hit in zip(rows.tolist(), hits, strict=True):
        results[row] = hit
    return tuple(results)
