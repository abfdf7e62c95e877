"""Rim: through a point of a cap's plane, ± 10⁻ᵏ radii inside the rim, down through the cap and out through the side.

Depth: of that point inside the rim, within the cap's plane; the cut is shallower, the gap narrower than that.
"""

import numpy as np

from cylcollide.crosscheck.generate.families.shots import ShotScene, by_sign, shots
from cylcollide.crosscheck.generate.families.target import Body, angles, either_way, signed_shares, signs


def draw(rng: np.random.Generator, body: Body, n: int) -> list[ShotScene]:
    """Draw n segments at one body."""
    depth = body.radius * signed_shares(rng, n)
    cap, angle = signs(rng, n), angles(rng, n)
    point = body.at(cap * body.half, body.radius - depth, angle)
    # Outside the rim such a line leaves the infinite cylinder before it comes below the cap's plane, whatever its
    # slopes: it cannot meet the limb.
    fall, swerve = rng.uniform(np.pi / 9, 7 * np.pi / 18, n), rng.uniform(-1.0, 1.0, n)
    radial, outward = body.radial(angle), cap[:, None] * body.axis
    down_and_out = np.cos(fall)[:, None] * radial - np.sin(fall)[:, None] * outward
    heading = np.cos(swerve)[:, None] * down_and_out + np.sin(swerve)[:, None] * body.radial(angle + np.pi / 2)
    start, end = body.past(rng, point, either_way(rng, heading))
    return [body.scene(shots(start, end, by_sign(depth), depth))]
