"""Distances of points from limbs in extended precision, and contact times of a moving ball by bisection.

Distances are from the edges of a solid's profile, or from an ellipse, whose nearest point bisection finds. On x86
`longdouble` has a 64-bit mantissa: distances are right to 2⁻⁶⁰ of the coordinates.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from support.oracle.lines import BOX, ELLIPSOID
from support.oracle.nearest import profile_of

import cylcollide as cc

Long = NDArray[np.longdouble]


def distance(limb: cc.Limbs, points: Long) -> Long:
    """Return the distances (n,) of points (n, 3) from one limb, 0 inside."""
    kind, p1, p2 = limb.kind[0], *(ends[0].astype(np.longdouble) for ends in (limb.p1, limb.p2))
    r, r2 = np.longdouble(limb.radius[0]), np.longdouble(limb.radius2[0])
    x = points - p1
    if kind == BOX:
        beyond = np.abs(x @ limb.box_axes[0].astype(np.longdouble).T) - limb.half_extents[0].astype(np.longdouble)
        return np.asarray(np.sqrt((np.maximum(beyond, 0) ** 2).sum(axis=1)))
    length = np.sqrt(((p2 - p1) ** 2).sum())
    if length == 0:
        return np.asarray(np.maximum(np.sqrt((x**2).sum(axis=1)) - r, 0))
    axis = (p2 - p1) / length
    z = x @ axis
    rho = np.sqrt(((x - z[:, None] * axis) ** 2).sum(axis=1))
    if kind == ELLIPSOID:
        return _from_ellipse(np.abs(z - length / 2), rho, length / 2, r)
    corners, ball = profile_of(int(kind), length, r, r2)
    edges = [(a, b) for a, b in pairwise(corners) if a != b]
    sides = [(b[0] - a[0]) * (rho - a[1]) - (b[1] - a[1]) * (z - a[0]) for a, b in edges]
    least = np.minimum.reduce([_from_edge(z, rho, *a, *b) for a, b in edges])
    return np.where(np.maximum.reduce(sides) < 0, 0, np.maximum(least - ball, 0))


def _from_edge(z: Long, rho: Long, z0: Long, rho0: Long, z1: Long, rho1: Long) -> Long:
    dz, drho = z1 - z0, rho1 - rho0
    square = dz * dz + drho * drho
    way = np.clip(((z - z0) * dz + (rho - rho0) * drho) / square, 0, 1)
    return np.asarray(np.hypot(z - z0 - way * dz, rho - rho0 - way * drho))


def _from_ellipse(z: Long, rho: Long, h: Long, r: Long) -> Long:
    low = np.zeros_like(z)
    high = h * z + r * rho
    for _ in range(90):
        middle = (low + high) / 2
        outside = (h * z / (middle + h * h)) ** 2 + (r * rho / (middle + r * r)) ** 2 > 1
        low, high = np.where(outside, middle, low), np.where(outside, high, middle)
    x, y = h * h * z / (high + h * h), r * r * rho / (high + r * r)
    inside = (z / h) ** 2 + (rho / r) ** 2 <= 1
    return np.where(inside, 0, np.hypot(z - x, rho - y))


SAMPLES, FEW, ROUNDS, CLOSER = 300, 40, 6, 40


def contacts(limb: cc.Limbs, start: Long, step: Long, radius: float) -> tuple[Long, Long]:
    """Return t of the entries and of the exits of contacts of a ball of this radius at start + t step, 0 <= t <= 1.

    It refines samples around the least distance; it misses a contact or a gap between two samples.
    """

    def is_touched(t: Long) -> NDArray[np.bool_]:
        return np.asarray(distance(limb, start + t[:, None] * step) <= np.longdouble(radius))

    coarse = np.linspace(np.longdouble(0), np.longdouble(1), FEW)
    spacing = np.sqrt((step * step).sum()) / (FEW - 1)
    if distance(limb, start + coarse[:, None] * step).min() > radius + spacing:  # distances have Lipschitz constant 1
        return coarse[:0], coarse[:0]
    new, width = np.linspace(np.longdouble(0), np.longdouble(1), SAMPLES), np.longdouble(2)
    t, known = new[:0], new[:0]
    for _ in range(ROUNDS + 1):
        t, known = np.append(t, new), np.append(known, distance(limb, start + new[:, None] * step))
        width /= CLOSER
        new = np.clip(t[np.argmin(known)] + np.linspace(-width, width, 81), 0, 1)
    t, rows = np.unique(t, return_index=True)
    touched = known[rows] <= np.longdouble(radius)
    changes = np.flatnonzero(touched[1:] != touched[:-1])
    low, high, before = t[changes], t[changes + 1], touched[changes]
    for _ in range(75 if len(changes) else 0):
        middle = (low + high) / 2
        as_before = is_touched(middle) == before
        low, high = np.where(as_before, middle, low), np.where(as_before, high, middle)
    entries, exits = high[~before], low[before]
    if touched[0]:
        entries = np.concatenate((t[:1], entries))
    if touched[-1]:
        exits = np.concatenate((exits, t[-1:]))
    return entries, exits
