"""Stale boxes: the body is moved into place, or its margin is changed, and asked at once, without a step between.

Depth: as for side grazes, nan for the aimed.
"""

import numpy as np

from cylcollide.crosscheck.engine.setup import Setup
from cylcollide.crosscheck.generate.families.shots import ShotScene
from cylcollide.crosscheck.generate.families.side_graze import draw_setups
from cylcollide.crosscheck.generate.families.target import Body


def draw(rng: np.random.Generator, body: Body, n: int) -> list[ShotScene]:
    """Draw n segments at one body, a third for each way to leave the boxes alone."""
    margin = 0.1 * body.radius
    setups = (
        Setup(moved=10 * body.size, stale=True),
        Setup(margin=margin, stale=True),
        Setup(construction="urdf", margin=margin, stale=True),
    )
    return draw_setups(rng, body, n, setups)
