"""The humanoid in motion: the bullets of :mod:`cylcollide.crosscheck.bullets` at poses of PyBullet's recorded motions.

Depth: signed metres of the grazes, as there; nan for the others. A bullet's intention speaks of its target alone.
"""

from functools import lru_cache

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.crosscheck.bullets import AIMED, GRAZE, MISS, RIM, draw_bullets
from cylcollide.crosscheck.families.scene import Intent, Scene, Shots
from cylcollide.crosscheck.humanoid import Humanoid

POSES = 4


def draw_chunk(rng: np.random.Generator, n: int) -> list[Scene]:
    """Draw n bullets at four poses, each any time of any motion."""
    scenes = []
    for place in range(POSES):
        p1, p2, radius = _pose(rng.random(), rng.random())
        count = n * (place + 1) // POSES - n * place // POSES
        bullets = draw_bullets(rng, count, p1, p2, radius)
        about = bullets.target >= 0
        depth = np.where(
            bullets.family == GRAZE, bullets.depth * np.where(about, radius[bullets.target], np.nan), np.nan
        )
        meets = (bullets.family == AIMED) | (np.isin(bullets.family, (GRAZE, RIM)) & (bullets.depth > 0))
        intent = np.where(meets, Intent.HIT, Intent.MISS).astype(np.int8)
        # A bullet that is meant to miss misses every limb: any will do as its target.
        target = np.where(bullets.family == MISS, 0, bullets.target).astype(np.int32)
        scenes.append(Scene(p1, p2, radius, Shots(bullets.start, bullets.end, intent, depth, target)))
    return scenes


def _pose(motion: float, share: float) -> tuple[Float64Array, Float64Array, Float64Array]:
    humanoid = _humanoid()
    name = list(humanoid.motions)[int(motion * len(humanoid.motions))]
    return (*humanoid.pose(name, share * humanoid.motions[name].duration), humanoid.radius)


@lru_cache(maxsize=1)
def _humanoid() -> Humanoid:
    return Humanoid()
