"""Limbs of each shape, and thick segments through them, past them, along their axes, and from inside."""

import numpy as np
from numpy.typing import NDArray
from support.oracle.shapes.table import MAKERS, SHAPE_ROWS

import cylcollide as cc

Array = NDArray[np.float64]
KINDS = tuple(MAKERS)
BOUNDED = tuple(name for row in SHAPE_ROWS.values() if row.is_bounded for name in row.makers)
"""Makers of shapes whose contacts are bounded, not exact."""


def limb_of(kind: str, rng: np.random.Generator, spread: float = 1.0) -> cc.Limbs:
    """Return one random limb near the origin."""
    p1 = spread * rng.uniform(-1.0, 1.0, 3)
    return MAKERS[kind](p1, p1 + rng.uniform(-1.0, 1.0, 3), rng.uniform(0.05, 0.5), rng)


def mixed_limbs(n: int, rng: np.random.Generator, spread: float) -> cc.Limbs:
    """Return n limbs of all shapes in turn."""
    return cc.Limbs.concat([limb_of(KINDS[k % len(KINDS)], rng, spread) for k in range(n)])


def segment_at(limb: cc.Limbs, rng: np.random.Generator) -> tuple[Array, Array, float]:
    """Return start, end and radius of a segment near a limb; one in six is parallel to its axis, one in six normal."""
    radius = float(rng.choice([0.01, 0.05, 0.3, 1.0]))
    middle, axis = 0.5 * (limb.p1 + limb.p2)[0], (limb.p2 - limb.p1)[0]
    direction = rng.normal(size=3)
    way = rng.integers(6)
    if way == 0 and axis.any():
        direction = axis * rng.choice([-1.0, 1.0])
    elif way == 1 and axis.any():
        direction = np.cross(axis, direction)
    direction /= np.linalg.norm(direction)
    target = middle + rng.normal(size=3) * 0.4 * (1.0 + radius)
    return target - direction * rng.uniform(0.0, 4.0), target + direction * rng.uniform(0.0, 4.0), radius
