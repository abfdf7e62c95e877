"""Construction path: the same kind of shots at a body made by createCollisionShape, loadURDF (both ways) and loadMJCF.

Depth: as for side grazes, nan for the aimed.
"""

import numpy as np

from cylcollide.crosscheck.engine.setup import CONSTRUCTIONS, Setup
from cylcollide.crosscheck.generate.families.shots import ShotScene
from cylcollide.crosscheck.generate.families.side_graze import draw_setups
from cylcollide.crosscheck.generate.families.target import Body


def draw(rng: np.random.Generator, body: Body, n: int) -> list[ShotScene]:
    """Draw n segments, a quarter for each path."""
    return draw_setups(rng, body, n, [Setup(construction=construction) for construction in CONSTRUCTIONS])
