"""Construction path: the same kind of shots at a body made by createCollisionShape, loadURDF (both ways) and loadMJCF.

Depth: as for side grazes, nan for the aimed.
"""

import numpy as np

from cylcollide.crosscheck.engine.setup import CONSTRUCTIONS, Setup
from cylcollide.crosscheck.generate.families.generic import aimed
from cylcollide.crosscheck.generate.families.shots import ShotScene, joined
from cylcollide.crosscheck.generate.families.side_graze import grazes
from cylcollide.crosscheck.generate.families.target import Body


def draw(rng: np.random.Generator, body: Body, n: int) -> list[ShotScene]:
    """Draw n segments, a quarter for each path."""
    each = max(2, n // len(CONSTRUCTIONS))
    return [
        body.scene(
            joined([aimed(rng, body, each - each // 3), grazes(rng, body, each // 3)]),
            Setup(construction=construction),
        )
        for construction in CONSTRUCTIONS
    ]
