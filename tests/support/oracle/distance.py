"""Distances of segments from limbs by dense sampling and golden-section search, in extended precision."""

from collections.abc import Callable

import numpy as np
from support.oracle.thick import distance

import cylcollide as cc

Long = np.longdouble
GRID, WORST, STEPS = 250, 4, 26
"""Samples, refined samples, and golden-section steps of each half. A smooth minimum needs half the digits of its place.

The second half begins with new places, since errors of the reused ones grow.
"""

GOLDEN = (np.sqrt(Long(5)) - 1) / 2


def _length(v: np.ndarray) -> np.ndarray:
    return np.sqrt((v * v).sum(axis=-1))


def least(f: Callable, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the minimum of each row's function and its place, by golden-section search."""
    for k in range(2 * STEPS):
        if k % STEPS == 0:
            s, t = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
            at_s, at_t = f(s), f(t)
        left = at_s <= at_t
        low, high = np.where(left, low, s), np.where(left, t, high)
        new = np.where(left, high - GOLDEN * (high - low), low + GOLDEN * (high - low))
        known, at_new = np.where(left, at_s, at_t), f(new)
        s, t = np.where(left, new, t), np.where(left, s, new)
        at_s, at_t = np.where(left, at_new, known), np.where(left, known, at_new)
    return f(low), low


def segment_distance(limb: cc.Limbs, start: np.ndarray, end: np.ndarray) -> tuple[float, float]:
    """Return the distance of a segment and the fraction of its nearest point; there may be several local minima."""
    first, step = np.asarray(start, Long), np.asarray(end, Long) - np.asarray(start, Long)

    def at(t: np.ndarray) -> np.ndarray:
        return distance(limb, first + t[:, None] * step)

    square = step @ step
    centre = (limb.p1[0].astype(Long) + limb.p2[0]) / 2
    middle = np.clip((centre - first) @ step / square, 0, 1) if square else Long(0)
    near = middle + np.linspace(-4, 4, GRID, dtype=Long) * _size(limb, first + middle * step) / max(square**0.5, 1e-300)
    grid = np.unique(np.clip(np.concatenate([np.linspace(0, 1, GRID, dtype=Long), near]), 0, 1))
    known = at(grid)
    k = np.clip(np.argsort(known)[:WORST], 1, len(grid) - 2)
    value, where = least(at, grid[k - 1], grid[k + 1])
    value, where = np.append(value, known), np.append(where, grid)
    best = int(np.argmin(value))
    return float(value[best]), float(where[best])


def least_distance(limb: cc.Limbs, start: np.ndarray, end: np.ndarray) -> float:
    """Return a lower bound of the distance of a segment: that from a ball around the limb."""
    centre, step = (limb.p1[0] + limb.p2[0]) / 2, end - start
    share = np.clip((centre - start) @ step / (step @ step), 0, 1)
    return float(np.linalg.norm(start + share * step - centre)) - 2.0 * size(limb)


def _size(limb: cc.Limbs, place: np.ndarray) -> Long:
    """Return the larger of the limb's size and the distance of its middle from a point."""
    return max(Long(size(limb)), _length(place - (limb.p1[0].astype(Long) + limb.p2[0]) / 2))


def size(limb: cc.Limbs) -> float:
    """Return the largest of the limb's lengths."""
    numbers = [limb.radius[0], limb.radius2[0], np.abs(limb.p2[0] - limb.p1[0]).max(), limb.half_extents[0].max()]
    return float(max(numbers))
