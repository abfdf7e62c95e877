"""The humanoid in motion: the bullets of :mod:`bullets` at poses of PyBullet's recorded motions.

Depth: signed metres of the grazes; nan for the others. A bullet's intention speaks of its target alone.
"""

from dataclasses import replace

import numpy as np

from cylcollide.crosscheck.generate.bullets import GRAZE, draw_bullets
from cylcollide.crosscheck.generate.humanoid import Humanoid
from cylcollide.crosscheck.generate.shots import ShotScene

POSES = 4


def draw_chunk(rng: np.random.Generator, n: int) -> list[ShotScene]:
    """Draw n bullets at four poses, each any time of any motion."""
    scenes = []
    with Humanoid() as humanoid:
        radius, motions = humanoid.radius, list(humanoid.motions)
        for count in np.diff([n * place // POSES for place in range(POSES + 1)]).tolist():
            motion = motions[int(rng.random() * len(motions))]
            p1, p2 = humanoid.pose(motion, rng.random() * humanoid.motions[motion].duration)
            bullets = draw_bullets(rng, count, p1, p2, radius)
            # A bullet that is meant to miss misses every limb: any will do as its target.
            target = np.maximum(bullets.target, 0)
            depth = np.where(bullets.family == GRAZE, bullets.depth * radius[target], np.nan)
            scenes.append(ShotScene(p1, p2, radius, replace(bullets, target=target, depth=depth)))
    return scenes
