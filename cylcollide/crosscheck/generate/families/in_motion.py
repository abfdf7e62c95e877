"""The humanoid in motion: the bullets of :mod:`bullets` at poses of PyBullet's recorded motions.

Depth: signed metres of the grazes, as there; nan for the others. A bullet's intention speaks of its target alone.
"""

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.crosscheck.generate.bullets import AIMED, GRAZE, MISS, RIM, draw_bullets
from cylcollide.crosscheck.generate.families.shots import Intent, Shots, ShotScene
from cylcollide.crosscheck.generate.humanoid import Humanoid

POSES = 4


def draw_chunk(rng: np.random.Generator, n: int) -> list[ShotScene]:
    """Draw n bullets at four poses, each any time of any motion."""
    with Humanoid() as humanoid:
        counts = np.diff([n * place // POSES for place in range(POSES + 1)])
        return [_scene(rng, count, *_pose(humanoid, rng.random(), rng.random())) for count in counts.tolist()]


def _scene(rng: np.random.Generator, n: int, p1: Float64Array, p2: Float64Array, radius: Float64Array) -> ShotScene:
    bullets = draw_bullets(rng, n, p1, p2, radius)
    about = bullets.target >= 0
    depth = np.where(bullets.family == GRAZE, bullets.depth * np.where(about, radius[bullets.target], np.nan), np.nan)
    meets = (bullets.family == AIMED) | (np.isin(bullets.family, (GRAZE, RIM)) & (bullets.depth > 0))
    intent = np.where(meets, Intent.HIT, Intent.MISS).astype(np.int8)
    # A bullet that is meant to miss misses every limb: any will do as its target.
    target = np.where(bullets.family == MISS, 0, bullets.target).astype(np.int32)
    return ShotScene(p1, p2, radius, Shots(bullets.start, bullets.end, intent, depth, target))


def _pose(humanoid: Humanoid, motion: float, share: float) -> tuple[Float64Array, Float64Array, Float64Array]:
    name = list(humanoid.motions)[int(motion * len(humanoid.motions))]
    return (*humanoid.pose(name, share * humanoid.motions[name].duration), humanoid.radius)
