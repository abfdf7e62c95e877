"""Hits as PyBullet's tuples, made of columns by loops of the interpreter's own."""

import gc

import numpy as np

from cylcollide.bullet.merge_hits import MergedHits
from cylcollide.bullet.passthrough import RayTestResult

NOWHERE = (0.0, 0.0, 0.0)
MISS: RayTestResult = (-1, -1, 1.0, NOWHERE, NOWHERE)

MANY = 1000
"""From so many tuples on, collecting garbage while they are made takes longer than making them: each collection visits
tuples of numbers, which are no part of any cycle, and now and then every object of the program."""


def as_tuples(merged: MergedHits) -> tuple[RayTestResult, ...]:
    """One (body, link, fraction, position, normal) a ray; all misses are one tuple."""
    n, rows = len(merged.body_link), np.flatnonzero(merged.body_link[:, 0] >= 0)
    if len(rows) == n:
        return tuple(_tuples_of_hits(merged))
    results = [MISS] * n
    if len(rows):
        found = _tuples_of_hits(MergedHits._make([column.take(rows, axis=0) for column in merged]))
        for row, hit in zip(rows.tolist(), found, strict=True):
            results[row] = hit
    return tuple(results)


def _tuples_of_hits(hits: MergedHits) -> list[RayTestResult]:
    """One tuple a hit, made without garbage collection if they are many."""
    collects = len(hits.body_link) >= MANY and gc.isenabled()
    try:
        if collects:
            gc.disable()
        return _zipped(hits)
    finally:
        if collects:
            gc.enable()


def _zipped(hits: MergedHits) -> list[RayTestResult]:
    body, link = hits.body_link.T.tolist()
    points, normals = (zip(*column.T.tolist(), strict=True) for column in (hits.position, hits.normal))
    return list(zip(body, link, hits.fraction.tolist(), points, normals, strict=True))
