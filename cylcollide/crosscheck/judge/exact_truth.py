"""Settles disagreements: the exact first limb in rational arithmetic, and by how much the verdict is decided.

The exact answer comes from brute force over all limbs of the pose in plain integers: no tree, no float64 kernel, no
tolerance. What it confirms is proved, not probable.
"""

import numpy as np

from cylcollide._types import Float64Array, Int32Array
from cylcollide.exact.cylinder import Cylinder
from cylcollide.exact.line import RayNumbers, Triple
from cylcollide.exact.order import closest

GOLDEN = (np.sqrt(5) - 1) / 2
GOLDEN_STEPS = 100  # each shrinks the bracket by 0.618: 0.618^100 < 2^-53 of the segment's length, with room


def exact_first_limbs(
    starts: Float64Array, ends: Float64Array, p1: Float64Array, p2: Float64Array, radius: Float64Array
) -> Int32Array:
    """Return the limb that each closed segment meets first, -1 for none, in rational arithmetic, (n,).

    Parameters
    ----------
    starts, ends
        Segments, (n, 3) in metres, taken as the exact numbers they are.
    p1, p2, radius
        The limbs of the pose, (m, 3) and (m,) in metres. Limbs met at the same point are ordered by their index.
    """
    limbs = [
        (index, Cylinder(_triple(a), _triple(b), float(r)))
        for index, (a, b, r) in enumerate(zip(p1, p2, radius, strict=True))
    ]
    first = np.full(len(starts), -1, dtype=np.int32)
    for row, (start, end) in enumerate(zip(starts, ends, strict=True)):
        hit, _ = closest(RayNumbers(_triple(start), _triple(end), True, 1.0), limbs, "hit")
        if hit is not None:
            first[row] = hit[0]
    return first


def clearances(
    starts: Float64Array, ends: Float64Array, p1: Float64Array, p2: Float64Array, radius: Float64Array
) -> Float64Array:
    """Return the least signed distance of each segment from its own cylinder, in metres, (n,).

    Positive is the gap of a segment that misses; negative the depth to which a segment cuts in, measured from the
    nearest face. All arguments row by row: (n, 3) in metres, ``radius`` (n,).

    The signed distance of a convex solid is convex along a line, so that golden-section search (Kiefer 1953) finds its
    least value; near the least point the value errs only with the square of the error in place.
    """
    low, high = np.zeros(len(starts)), np.ones(len(starts))

    def distance(fraction: Float64Array) -> Float64Array:
        return _signed_distance(starts + fraction[:, None] * (ends - starts), p1, p2, radius)

    for _ in range(GOLDEN_STEPS):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        left_is_less = distance(left) < distance(right)
        low, high = np.where(left_is_less, low, left), np.where(left_is_less, right, high)
    return distance(0.5 * (low + high))


def _signed_distance(points: Float64Array, p1: Float64Array, p2: Float64Array, radius: Float64Array) -> Float64Array:
    axis = p2 - p1
    length = np.linalg.norm(axis, axis=1)
    from_p1 = points - p1
    height = np.einsum("ni,ni->n", from_p1, axis) / length
    radial = np.linalg.norm(np.cross(from_p1, axis), axis=1) / length - radius
    axial = np.abs(height - 0.5 * length) - 0.5 * length
    outside = np.hypot(np.maximum(radial, 0), np.maximum(axial, 0))
    signed: Float64Array = outside + np.minimum(np.maximum(radial, axial), 0)
    return signed


def _triple(vector: Float64Array) -> Triple:
    x, y, z = vector.tolist()
    return x, y, z
