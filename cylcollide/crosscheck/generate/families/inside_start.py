"""Inside start: anywhere inside, within 1 mm of the side or a quarter radius if that is less, on the axis, the centre.

Depth: of the start below the nearest face.
"""

import numpy as np

from cylcollide.crosscheck.generate.families.shots import Intent, ShotScene, shots
from cylcollide.crosscheck.generate.families.target import Body, angles, directions

SKIN = 0.001


def draw(rng: np.random.Generator, body: Body, n: int) -> list[ShotScene]:
    """Draw n segments at one body, a quarter of each kind."""
    kind = rng.integers(4, size=n)
    height = body.half * rng.uniform(-0.999, 0.999, n)
    skin = min(SKIN, 0.25 * body.radius) * rng.uniform(0.001, 0.999, n)
    distance = np.choose(kind, [0.999 * body.radius * np.sqrt(rng.random(n)), body.radius - skin, 0.0, 0.0])
    height = np.where(kind == 3, 0.0, height)
    start = body.at(height, distance, angles(rng, n))
    end = start + (body.size * rng.uniform(0.1, 5, n))[:, None] * directions(rng, n)
    depth = np.minimum(body.radius - distance, body.half - np.abs(height))
    return [body.scene(shots(start, end, Intent.HIT, depth))]
