"""Elbow: two equal limbs that share an end and enclose 60°, shot at near the joint.

Depth: none meant; which limb comes first is left to the exact answer.
"""

import numpy as np

from cylcollide.crosscheck.generate.shots import Intent, ShotScene, shots
from cylcollide.crosscheck.generate.target import Body, directions

BEND = np.pi / 3


def draw(rng: np.random.Generator, body: Body, n: int) -> list[ShotScene]:
    """Draw n segments at the body and its fellow."""
    joint = body.centre + body.half * body.axis
    other = joint + 2 * body.half * (np.sin(BEND) * body.across - np.cos(BEND) * body.axis)
    point = joint + 2.5 * body.radius * rng.random(n)[:, None] ** (1 / 3) * directions(rng, n)
    heading = directions(rng, n)
    before = 0.002 + 6 * body.size * rng.uniform(1, 5, n)
    start, end = point - before[:, None] * heading, point + 6 * body.size * heading
    p1, p2 = np.array([body.centre - body.half * body.axis, joint]), np.array([joint, other])
    return [ShotScene(p1, p2, np.full(2, body.radius), shots(start, end, Intent.EITHER))]
