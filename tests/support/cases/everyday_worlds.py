"""Worlds of everyday cylinders, for tests that do not check exactness."""

import numpy as np

import cylcollide as cc


def make_crowd(count: int = 40, seed: int = 5) -> cc.Limbs:
    """Return `count` cylinders scattered over a box of 6 m."""
    rng = np.random.default_rng(seed)
    p1 = rng.uniform(-3, 3, (count, 3))
    i = np.arange(count)
    return cc.Limbs.cylinders(
        p1, p1 + rng.normal(size=(count, 3)), rng.uniform(0.05, 0.4, count), character=i // 8, mask=1 << (i % 3)
    )


def leap(world: cc.HitWorld, seed: int) -> cc.Limbs:
    """Permute the places of the world's limbs; return the moved limbs, independent of the world."""
    limbs = world.limbs
    by = limbs.p1[np.random.default_rng(seed).permutation(len(limbs))] - limbs.p1
    world.set_endpoints(limbs.p1 + by, limbs.p2 + by)
    return limbs.moved(limbs.p1 + by, limbs.p2 + by)
