"""Extremes: segments of length zero, segments of 10² … 10⁷ m, worlds 10³ … 10⁷ m away from the origin.

Depth: of a zero-length segment below the nearest face; negative outside. Not meant for the others.
"""

from dataclasses import replace

import numpy as np

from cylcollide.crosscheck.generate.families.generic import aimed
from cylcollide.crosscheck.generate.shots import Intent, Shots, ShotScene, by_sign, joined, shots
from cylcollide.crosscheck.generate.target import Body, angles, directions, signs, unit


def draw(rng: np.random.Generator, body: Body, n: int) -> list[ShotScene]:
    """Draw n segments: a third of length zero, a third long, a third at the same body far away."""
    away = body.centre + 10.0 ** rng.uniform(3, 7) * unit(rng.normal(size=3))
    far = replace(body, centre=away, aligned=False)
    return [
        body.scene(joined([_points(rng, body, n // 3), _long(rng, body, n - 2 * (n // 3))])),
        far.scene(aimed(rng, far, n // 3, widest=0.9, longest=0.9) if _is_seen(far) else _beside(rng, far, n // 3)),
    ]


def _is_seen(far: Body) -> bool:
    """Whether the body is larger than the coordinates' rounding by enough to be aimed at."""
    return far.radius > 1e4 * float(np.spacing(np.abs(far.centre).max()))


def _beside(rng: np.random.Generator, far: Body, n: int) -> Shots:
    fired = aimed(rng, far, n)
    return replace(fired, intent=np.full(n, Intent.EITHER, dtype=np.int8))


def _points(rng: np.random.Generator, body: Body, n: int) -> Shots:
    depth = body.radius * signs(rng, n) * rng.choice([0.3, 0.1, 0.01, 0.001], n)
    point = body.at(body.half * rng.uniform(-0.6, 0.6, n), body.radius - depth, angles(rng, n))
    return shots(point, point.copy(), by_sign(depth), depth)


def _long(rng: np.random.Generator, body: Body, n: int) -> Shots:
    heading = directions(rng, n)
    point = body.at(body.half * rng.uniform(-0.9, 0.9, n), body.radius * rng.uniform(0, 0.9, n), angles(rng, n))
    before, behind = 10.0 ** rng.uniform(2, 7, n), 10.0 ** rng.uniform(2, 7, n)
    # From 10⁷ m a start rounds by 10⁻⁹ m: far below a tenth of the smallest radius, 10⁻⁴ m. It must lie outside.
    before += 2 * body.size
    return shots(point - before[:, None] * heading, point + behind[:, None] * heading, Intent.HIT)
