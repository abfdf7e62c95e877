"""Generic: aimed at points within 1.3 radii of the axis and 1.2 half lengths of the centre, from any direction.

Depth: none meant.
"""

import numpy as np

from cylcollide.crosscheck.generate.shots import Intent, Shots, ShotScene, shots
from cylcollide.crosscheck.generate.target import Body, angles, directions


def draw(rng: np.random.Generator, body: Body, n: int) -> list[ShotScene]:
    """Draw n segments at one body."""
    return [body.scene(aimed(rng, body, n))]


def aimed(rng: np.random.Generator, body: Body, n: int, widest: float = 1.3, longest: float = 1.2) -> Shots:
    """Draw segments through points up to ``widest`` radii from the axis and ``longest`` half lengths from the centre.

    Points inside (no share above 0.999) make hits by intention; of the others both may come.
    """
    share, distance = longest * rng.uniform(-1, 1, n), widest * np.sqrt(rng.random(n))
    point = body.at(body.half * share, body.radius * distance, angles(rng, n))
    start, end = body.past(rng, point, directions(rng, n))
    inside = (np.abs(share) < 0.999) & (distance < 0.999)
    return shots(start, end, np.where(inside, Intent.HIT, Intent.EITHER).astype(np.int8))
