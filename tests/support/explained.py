"""Rays whose explanation is known by hand, and rays at limbs of their own."""

import numpy as np
from support.oracle.shapes.table import SHAPE_ROWS

BY_HAND = {name: case for row in SHAPE_ROWS.values() for name, case in row.explained.items()}


def shots_at_own(world, seed=8):
    """Return ends of segments, each at its own limb: most hit, some end early or pass."""
    rng = np.random.default_rng(seed)
    target = (world.p1 + world.p2) / 2 + rng.normal(size=world.p1.shape) * 0.45
    step = rng.normal(size=target.shape)
    return target - step * rng.uniform(0, 4, (len(world), 1)), target + step * rng.uniform(-0.5, 4, (len(world), 1))
