"""Side graze: past the side at ± 10⁻ᵏ radii, k = 1 … 7, at least 30° off the axis' direction.

Depth: of the cut below the side, where it is deepest; negative the gap to the side, where it is narrowest.
"""

from collections.abc import Sequence

import numpy as np

from cylcollide.crosscheck.engine.setup import Setup
from cylcollide.crosscheck.generate.families.generic import aimed
from cylcollide.crosscheck.generate.families.shots import Shots, ShotScene, by_sign, joined, shots
from cylcollide.crosscheck.generate.families.target import Body, angles, either_way, signed_shares


def draw(rng: np.random.Generator, body: Body, n: int) -> list[ShotScene]:
    """Draw n segments at one body."""
    return [body.scene(grazes(rng, body, n))]


def draw_setups(rng: np.random.Generator, body: Body, n: int, setups: Sequence[Setup]) -> list[ShotScene]:
    """Draw n segments at one body, shared by the setups: two thirds aimed, with a depth of nan, and one of grazes."""
    each = max(2, n // len(setups))
    return [
        body.scene(joined([aimed(rng, body, each - each // 3), grazes(rng, body, each // 3)]), setup)
        for setup in setups
    ]


def grazes(rng: np.random.Generator, body: Body, n: int) -> Shots:
    """Draw grazes of the middle 60 % of the side, whose closest approach to the axis is known by construction."""
    depth = body.radius * signed_shares(rng, n)
    angle, slope = angles(rng, n), rng.uniform(np.pi / 6, 5 * np.pi / 6, n)
    point = body.at(body.half * rng.uniform(-0.6, 0.6, n), body.radius - depth, angle)
    tangent = body.radial(angle + np.pi / 2)
    heading = np.cos(slope)[:, None] * body.axis + np.sin(slope)[:, None] * tangent
    start, end = body.past(rng, point, either_way(rng, heading))
    return shots(start, end, by_sign(depth), depth)
