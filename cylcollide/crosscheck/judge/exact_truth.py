"""Settles disagreements: the exact first limb in rational arithmetic, and by how much the verdict is decided.

The exact answer comes from brute force over all limbs of the pose in plain integers: no tree, no float64 kernel, no
tolerance. What it confirms is proved, not probable.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from cylcollide._types import Float64Array, Int32Array
from cylcollide.crosscheck.judge.rounded_cylinder import Rounded, least_distance
from cylcollide.exact.cylinder import Cylinder
from cylcollide.exact.line import RayNumbers
from cylcollide.exact.order import Chord, closest


def exact_first_limbs(
    starts: Float64Array, ends: Float64Array, p1: Float64Array, p2: Float64Array, radius: Float64Array
) -> Int32Array:
    """The limb that each closed segment (n, 3) meets first out of m limbs, -1 for none, in rational arithmetic, (n,).

    Metres, taken as the exact numbers they are; limbs met at the same point are ordered by their index.
    """
    limbs = solids(p1.tolist(), p2.tolist(), radius.tolist())
    first = [exact_hit(start, end, limbs) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    return np.array([-1 if hit is None else hit[0] for hit in first], dtype=np.int32)


def solids(p1: Iterable[Any], p2: Iterable[Any], radius: Iterable[float]) -> list[tuple[int, Cylinder]]:
    """The limbs as exact arithmetic holds them, with their indices."""
    ends = zip(p1, p2, radius, strict=True)
    return [(index, Cylinder(tuple(a), tuple(b), r)) for index, (a, b, r) in enumerate(ends)]


def exact_hit(start: Any, end: Any, limbs: list[tuple[int, Cylinder]]) -> tuple[int, Chord] | None:
    """The limb that a closed segment meets first, and its way through it; None for a miss."""
    hit, _ = closest(RayNumbers(tuple(start), tuple(end), True, 1.0), limbs, "hit")
    return hit


def clearances(
    starts: Float64Array, ends: Float64Array, p1: Float64Array, p2: Float64Array, radius: Float64Array
) -> Float64Array:
    """Return the least signed distance of each segment from its own cylinder, in metres, (n,).

    Positive is the gap of a segment that misses; negative the depth to which a segment cuts in, measured from the
    nearest face. All arguments row by row: (n, 3) in metres, ``radius`` (n,).
    """
    none = np.zeros(len(starts))
    solids = Rounded(np.ascontiguousarray(p1), np.ascontiguousarray(p2), np.ascontiguousarray(radius), none, none)
    return least_distance(solids, np.ascontiguousarray(starts), np.ascontiguousarray(ends)).distance
