"""Margin sweep: aimed shots and grazes at one body, with PyBullet's collision margin from 0 to 10 cm.

Depth: as for side grazes, nan for the aimed.
"""

import numpy as np

from cylcollide.crosscheck.engine.setup import Setup
from cylcollide.crosscheck.generate.families.shots import ShotScene
from cylcollide.crosscheck.generate.families.side_graze import draw_setups
from cylcollide.crosscheck.generate.families.target import Body

MARGINS = (0.0, 1e-9, 1e-6, 1e-4, 1e-3, 5e-3, 1e-2, 0.04, 0.05, 0.06, 0.1)


def draw(rng: np.random.Generator, body: Body, n: int) -> list[ShotScene]:
    """Draw n segments, each at one of the margins."""
    return draw_setups(rng, body, n, [Setup(margin=margin) for margin in MARGINS])
