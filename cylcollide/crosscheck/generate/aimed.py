"""Segments aimed at points: of one body, near the joint of two, and in extreme worlds."""

from dataclasses import replace

import numpy as np

from cylcollide.crosscheck.generate.shots import (
    FiredSegments,
    Intent,
    ShotScene,
    Target,
    angles,
    by_sign,
    directions,
    joined,
    shots,
    signs,
    unit,
)


def generic(rng: np.random.Generator, body: Target, n: int) -> list[ShotScene]:
    """Generic: at points within 1.3 radii of the axis and 1.2 half lengths of the centre, from any direction.

    Depth: none meant.
    """
    return [body.scene(aimed(rng, body, n))]


def aimed(rng: np.random.Generator, body: Target, n: int, widest: float = 1.3, longest: float = 1.2) -> FiredSegments:
    """Draw segments through points up to ``widest`` radii from the axis and ``longest`` half lengths from the centre.

    Points inside (no share above 0.999) make hits by intention; of the others both may come.
    """
    share, distance = longest * rng.uniform(-1, 1, n), widest * np.sqrt(rng.random(n))
    point = body.at(body.half * share, body.radius * distance, angles(rng, n))
    start, end = body.past(rng, point, directions(rng, n))
    inside = (np.abs(share) < 0.999) & (distance < 0.999)
    return shots(start, end, np.where(inside, Intent.HIT, Intent.EITHER).astype(np.int8))


BEND = np.pi / 3


def elbow(rng: np.random.Generator, body: Target, n: int) -> list[ShotScene]:
    """Elbow: two equal limbs that share an end and enclose 60°, shot at near the joint.

    Depth: none meant; which limb comes first is left to the exact answer.
    """
    joint = body.centre + body.half * body.axis
    other = joint + 2 * body.half * (np.sin(BEND) * body.across - np.cos(BEND) * body.axis)
    point = joint + 2.5 * body.radius * rng.random(n)[:, None] ** (1 / 3) * directions(rng, n)
    heading = directions(rng, n)
    before = 0.002 + 6 * body.size * rng.uniform(1, 5, n)
    start, end = point - before[:, None] * heading, point + 6 * body.size * heading
    p1, p2 = np.array([body.centre - body.half * body.axis, joint]), np.array([joint, other])
    return [ShotScene(p1, p2, np.full(2, body.radius), shots(start, end, Intent.EITHER))]


def extremes(rng: np.random.Generator, body: Target, n: int) -> list[ShotScene]:
    """Extremes, a third each: of length zero; of 10² … 10⁷ m; at the same body 10³ … 10⁷ m away from the origin.

    Depth: of a zero-length segment below the nearest face; negative outside. Not meant for the others.
    """
    away = body.centre + 10.0 ** rng.uniform(3, 7) * unit(rng.normal(size=3))
    far = replace(body, centre=away, aligned=False)
    near = body.scene(joined([_points(rng, body, n // 3), _long(rng, body, n - 2 * (n // 3))]))
    # A body that is larger than the coordinates' rounding by enough can be aimed at.
    if far.radius > 1e4 * float(np.spacing(np.abs(away).max())):
        return [near, far.scene(aimed(rng, far, n // 3, widest=0.9, longest=0.9))]
    return [near, far.scene(replace(aimed(rng, far, n // 3), intent=np.full(n // 3, Intent.EITHER, dtype=np.int8)))]


def _points(rng: np.random.Generator, body: Target, n: int) -> FiredSegments:
    depth = body.radius * signs(rng, n) * rng.choice([0.3, 0.1, 0.01, 0.001], n)
    point = body.at(body.half * rng.uniform(-0.6, 0.6, n), body.radius - depth, angles(rng, n))
    return shots(point, point.copy(), by_sign(depth), depth)


def _long(rng: np.random.Generator, body: Target, n: int) -> FiredSegments:
    heading = directions(rng, n)
    point = body.at(body.half * rng.uniform(-0.9, 0.9, n), body.radius * rng.uniform(0, 0.9, n), angles(rng, n))
    before, behind = 10.0 ** rng.uniform(2, 7, n), 10.0 ** rng.uniform(2, 7, n)
    # From 10⁷ m a start rounds by 10⁻⁹ m: far below a tenth of the smallest radius, 10⁻⁴ m. It must lie outside.
    before += 2 * body.size
    return shots(point - before[:, None] * heading, point + behind[:, None] * heading, Intent.HIT)
