"""Distances of segments from limbs by another way: edges of profiles, many points first, in extended precision."""

from collections.abc import Callable

import numpy as np
from support.oracle.lines import NAMES

import cylcollide as cc

Long = np.longdouble
GRID, WORST, STEPS, STEPS_OF_ANGLE = 250, 4, 48, 84
"""A least value of a smooth function needs half as many digits of its place as a distance of about 0 does."""

GOLDEN = (np.sqrt(Long(5)) - 1) / 2


def _length(v: np.ndarray) -> np.ndarray:
    return np.sqrt((v * v).sum(axis=-1))


def _from_edge(x: np.ndarray, a: tuple, b: tuple) -> np.ndarray:
    """Return the distances of points (k, 2) from the edge a to b."""
    start, step = np.array(a, Long), np.array(b, Long) - np.array(a, Long)
    along = np.clip((x - start) @ step / (step @ step), 0, 1) if (step != 0).any() else np.zeros(len(x), Long)
    return _length(x - start - along[:, None] * step)


def _from_ellipse(x: np.ndarray, a: Long, b: Long) -> np.ndarray:
    """Return the distances of points (k, 2) of a quadrant from an ellipse's arc, by its angle."""
    angle = np.linspace(Long(0), np.arctan2(Long(1), Long(0)), 65)

    def distance(t: np.ndarray) -> np.ndarray:
        return np.hypot(x[:, 0] - a * np.cos(t), x[:, 1] - b * np.sin(t))

    k = np.clip(np.argmin([distance(t) for t in angle], axis=0), 1, 63)
    return least(distance, angle[k - 1], angle[k + 1], STEPS_OF_ANGLE)[0]


def least(f: Callable, low: np.ndarray, high: np.ndarray, steps: int = STEPS) -> tuple[np.ndarray, np.ndarray]:
    """Return the least values of functions, row by row, and where they are, by golden sections."""
    for _ in range(steps):
        s, t = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        left = f(s) <= f(t)
        low, high = np.where(left, low, s), np.where(left, t, high)
    return f(low), low


def distance(limb: cc.Limbs, points: np.ndarray) -> np.ndarray:
    """Return the distances of points (k, 3) from the only limb."""
    kind = NAMES[limb.kind[0]]
    p1, p2 = limb.p1[0].astype(Long), limb.p2[0].astype(Long)
    r1, r2 = Long(limb.radius[0]), Long(limb.radius2[0])
    v = points - (p1 + p2) / 2
    if kind == "box":
        over = np.abs(v @ limb.box_axes[0].astype(Long).T) - limb.half_extents[0]
        return _length(np.maximum(over, 0))
    top = _length(p2 - p1) / 2
    axis = (p2 - p1) / (2 * top) if top else np.array([0, 0, 1], Long)
    height = v @ axis
    radius = _length(v - height[:, None] * axis)
    x = np.stack([height, radius], axis=1)
    if kind in ("capsule", "sphere"):
        return np.maximum(_from_edge(x, (-top, 0), (top, 0)) - r1, 0)
    if kind == "ellipsoid":
        inside = (height / top) ** 2 + (radius / r1) ** 2 <= 1
        return np.where(inside, 0, _from_ellipse(np.abs(x), top, r1))
    last, bore = (r2 if kind == "tapered" else r1), (r2 if kind == "tube" else Long(0))
    corners = [(-top, bore), (-top, r1), (top, last), (top, bore)]
    edges = [_from_edge(x, a, b) for a, b in zip(corners, corners[1:] + corners[:1], strict=True)]
    wall = r1 + (last - r1) * (height + top) / (2 * top)
    inside = (np.abs(height) <= top) & (radius <= wall) & (radius >= bore)
    return np.where(inside, 0, np.min(edges if bore else edges[:3], axis=0))


def segment_distance(limb: cc.Limbs, start: np.ndarray, end: np.ndarray) -> tuple[float, float]:
    """Return the distance of a segment, and the fraction of its nearest point; any number of local minima."""
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


def _size(limb: cc.Limbs, place: np.ndarray) -> Long:
    """Return about the limb's size and its distance from a point."""
    return max(Long(size(limb)), _length(place - (limb.p1[0].astype(Long) + limb.p2[0]) / 2))


def size(limb: cc.Limbs) -> float:
    """Return the largest of the limb's lengths."""
    numbers = [limb.radius[0], limb.radius2[0], np.abs(limb.p2[0] - limb.p1[0]).max(), limb.half_extents[0].max()]
    return float(max(numbers))
