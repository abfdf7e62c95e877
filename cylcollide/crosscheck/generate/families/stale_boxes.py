"""Stale boxes: the body is moved into place, or its margin is changed, and asked at once, without a step between.

Depth: as for side grazes, nan for the aimed.
"""

import numpy as np

from cylcollide.crosscheck.engine.setup import Setup
from cylcollide.crosscheck.generate.families.generic import aimed
from cylcollide.crosscheck.generate.families.shots import ShotScene, joined
from cylcollide.crosscheck.generate.families.side_graze import grazes
from cylcollide.crosscheck.generate.families.target import Body


def draw(rng: np.random.Generator, body: Body, n: int) -> list[ShotScene]:
    """Draw n segments at one body, a third for each way to leave the boxes alone."""
    margin = 0.1 * body.radius
    setups = (
        Setup(moved=10 * body.size, stale=True),
        Setup(margin=margin, stale=True),
        Setup(construction="urdf", margin=margin, stale=True),
    )
    each = max(2, n // len(setups))
    return [
        body.scene(joined([aimed(rng, body, each - each // 3), grazes(rng, body, each // 3)]), setup)
        for setup in setups
    ]
