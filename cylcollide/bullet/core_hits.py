"""Bullet's rule for balls and capsules that contain a ray's start: they are hit if the ray goes towards their core.

The core of a ball is its centre, that of a capsule its axis segment. With k the point of the core nearest to the start
x, a segment is hit at fraction 0 if (end - x)·(x - k) < 0, with the normal (x - k) / |x - k|. The sign is exact.
"""

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int32Array
from cylcollide.bullet.tuples import RayTestResult
from cylcollide.constants import UNIT_ROUNDOFF
from cylcollide.exact.line import Triple
from cylcollide.exact.numbers import dot, scaled_integers, subtract, vector_of
from cylcollide.kernels.traits import ROUND
from cylcollide.world import Snapshot

ERROR = 64.0 * UNIT_ROUNDOFF
"""Error of x - k in float64, relative to |x - p1| + |p2 - p1|; twice that of ten successive roundings per component."""

NEAR_CORE = 2.0**30
"""Least ratio of |x - k| to its error at which the direction of x - k is right to nine digits."""


def core_hits(
    world: Snapshot, body_links: Int32Array, starts: Float64Array, ends: Float64Array, mask: int
) -> dict[int, list[RayTestResult]]:
    """Hits of segments (n, 3), (n, 3) at their starts, by row, in the order of limbs; `body_links` is by limb."""
    held = world.chords_segments(starts, starts, inside="hit", mask=mask)
    table = world.limbs._table
    is_round = np.isin(table.kind[held.limb], ROUND)
    ray, limb = held.ray[is_round], held.limb[is_round]
    towards, normal = _towards_core(starts[ray], ends[ray], table.p1[limb], table.p2[limb])
    found: dict[int, list[RayTestResult]] = {}
    columns = ray, body_links[limb], starts[ray], normal
    for row, (body, link), (x, y, z), (a, b, c) in zip(*(column[towards].tolist() for column in columns), strict=True):
        found.setdefault(row, []).append((body, link, 0.0, (x, y, z), (a, b, c)))
    return found


def _towards_core(
    starts: Float64Array, ends: Float64Array, p1: Float64Array, p2: Float64Array
) -> tuple[BoolArray, Float64Array]:
    """Whether each segment goes towards the core p1 p2 of its own limb, and the normals; all (n, 3)."""
    with np.errstate(all="ignore"):  # rows that overflow are not certain
        way, axis, out = ends - starts, p2 - p1, starts - p1
        square, along = (axis * axis).sum(axis=1), (out * axis).sum(axis=1)
        error = ERROR * (np.linalg.norm(out, axis=1) + np.linalg.norm(axis, axis=1))
        out = out - np.clip(along / np.where(square > 0.0, square, 1.0), 0.0, 1.0)[:, None] * axis
        distance, slope = np.linalg.norm(out, axis=1), (way * out).sum(axis=1)
        certain = (np.abs(slope) > 2.0 * error * np.linalg.norm(way, axis=1)) & (distance > NEAR_CORE * error)
        towards, normal = slope < 0.0, out / distance[:, None]
    for i in np.flatnonzero(~certain).tolist():
        towards[i], normal[i] = _exactly(*(column[i].tolist() for column in (starts, ends, p1, p2)))
    return towards, normal


def _exactly(start: Triple, end: Triple, p1: Triple, p2: Triple) -> tuple[bool, Float64Array]:
    """`_towards_core` for one segment, in exact arithmetic."""
    numbers = scaled_integers((*start, *end, *p1, *p2))
    at, to, first, last = (vector_of(numbers[k : k + 3]) for k in range(0, 12, 3))
    out, axis = subtract(at, first), subtract(last, first)
    along, square = dot(out, axis), dot(axis, axis)
    if along >= square:
        out = subtract(at, last)
    elif along > 0:
        out = vector_of([square * x - along * a for x, a in zip(out, axis, strict=True)])
    largest = max(map(abs, out))
    normal = np.array([x / largest for x in out]) if largest else np.zeros(3)
    return dot(subtract(to, at), out) < 0, normal / (np.linalg.norm(normal) or 1.0)
