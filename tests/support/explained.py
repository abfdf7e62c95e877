"""Rays with hand-made explanations, and segments aimed at the limbs of their rows."""

import numpy as np
from support.oracle.shapes.table import SHAPE_ROWS

import cylcollide as cc

THIN = [2.0**-490, 1e-17, 1e17, 2.0**490]


def needles_and_sheets(thin: float) -> tuple[cc.Limbs, ...]:
    """Return limbs of all shapes but spheres: one size (radius, length, half extent) is `thin`, others are 1 to 4."""
    return (
        cc.Limbs.cylinders([[0, 0, 0]], [[0, 0, 4]], thin),
        cc.Limbs.tubes([[0, 0, 0]], [[0, 0, 4]], thin, thin / 2),
        cc.Limbs.cones([[0, 0, 0]], [[0, 0, 4]], thin),
        cc.Limbs.cones([[0, 0, 0]], [[0, 0, thin]], 1.0),
        cc.Limbs.ellipsoids([[0, 0, 0]], [[0, 0, 4]], thin),
        cc.Limbs.capsules([[0, 0, 0]], [[0, 0, 4]], thin),
        cc.Limbs.boxes([[0, 0, 2]], [0, 0, 0, 1], [[thin, 1, 2]]),
    )


BY_HAND = {name: case for row in SHAPE_ROWS.values() for name, case in row.explained.items()}


def shots_at_own(world, seed=8):
    """Return ends of segments, each aimed at the limb of its row: most hit, some end early or miss."""
    rng = np.random.default_rng(seed)
    target = (world.p1 + world.p2) / 2 + rng.normal(size=world.p1.shape) * 0.45
    step = rng.normal(size=target.shape)
    return target - step * rng.uniform(0, 4, (len(world), 1)), target + step * rng.uniform(-0.5, 4, (len(world), 1))
