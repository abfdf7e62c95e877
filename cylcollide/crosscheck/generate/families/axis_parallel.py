"""Axis-parallel: along the whole limb, ± 10⁻ᵏ radii inside or outside its side.

Depth: of the line below the side; negative the gap. Along a random axis the direction is parallel up to its rounding.
"""

import numpy as np

from cylcollide.crosscheck.generate.families.shots import ShotScene, by_sign, shots
from cylcollide.crosscheck.generate.families.target import Body, angles, either_way, signed_shares


def draw(rng: np.random.Generator, body: Body, n: int) -> list[ShotScene]:
    """Draw n segments at one body."""
    depth = body.radius * signed_shares(rng, n)
    point = body.at(body.half * rng.uniform(-1, 1, n), body.radius - depth, angles(rng, n))
    heading = either_way(rng, np.tile(body.axis, (n, 1)))
    start, end = body.past(rng, point, heading)
    return [body.scene(shots(start, end, by_sign(depth), depth))]
