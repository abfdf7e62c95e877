"""Limbs of each shape, and thick segments at them: through them, past them, along their axes, and from inside."""

import numpy as np
from numpy.typing import NDArray

import cylcollide as cc

Array = NDArray[np.float64]
KINDS = ("sphere", "capsule", "cylinder", "tube", "box", "tapered", "cone", "ellipsoid")
BOUNDED = ("tapered", "cone", "ellipsoid")
"""Shapes whose contacts are bounded only."""


def limb_of(kind: str, rng: np.random.Generator, spread: float = 1.0) -> cc.Limbs:
    """Return one random limb near the origin."""
    p1 = spread * rng.uniform(-1.0, 1.0, (1, 3))
    p2, r, r2 = p1 + rng.uniform(-1.0, 1.0, (1, 3)), rng.uniform(0.05, 0.5), rng.uniform(0.05, 0.5)
    if kind == "sphere":
        return cc.Limbs.spheres(p1, r)
    if kind == "capsule":
        return cc.Limbs.capsules(p1, p2, r)
    if kind == "cylinder":
        return cc.Limbs.cylinders(p1, p2, r)
    if kind == "tube":
        return cc.Limbs.tubes(p1, p2, r, r * rng.uniform(0.1, 0.9))
    if kind == "tapered":
        return cc.Limbs.tapered_cylinders(p1, p2, r, r2)
    if kind == "cone":
        return cc.Limbs.cones(p1, p2, r)
    if kind == "ellipsoid":
        return cc.Limbs.ellipsoids(p1, p2, r)
    return cc.Limbs.boxes(p1, rng.normal(size=4), rng.uniform(0.05, 0.5, (1, 3)))


def mixed_limbs(n: int, rng: np.random.Generator, spread: float) -> cc.Limbs:
    """Return n limbs of all shapes in turn."""
    return cc.Limbs.concat([limb_of(KINDS[k % len(KINDS)], rng, spread) for k in range(n)])


def segment_at(limb: cc.Limbs, rng: np.random.Generator) -> tuple[Array, Array, float]:
    """Return start, end and radius of a segment near a limb; one in six along its axis, one in six at right angles."""
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
