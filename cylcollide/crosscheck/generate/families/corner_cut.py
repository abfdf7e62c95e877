"""Corner cut: in a plane through the axis, at 45° across the corner of cap and side, ± 10⁻ᵏ radii from the rim.

Depth: distance of the line from the rim, into the limb. Both faces must move by 1/√2 of it to touch the line.
"""

import numpy as np

from cylcollide.crosscheck.generate.families.shots import ShotScene, by_sign, shots
from cylcollide.crosscheck.generate.families.target import Body, angles, either_way, signed_shares, signs

DIAGONAL = np.sqrt(0.5)


def draw(rng: np.random.Generator, body: Body, n: int) -> list[ShotScene]:
    """Draw n segments at one body."""
    depth = body.radius * signed_shares(rng, n)
    cap, angle = signs(rng, n), angles(rng, n)
    inward = DIAGONAL * depth
    point = body.at(cap * (body.half - inward), body.radius - inward, angle)
    heading = DIAGONAL * (body.radial(angle) - cap[:, None] * body.axis)
    start, end = body.past(rng, point, either_way(rng, heading))
    return [body.scene(shots(start, end, by_sign(depth), depth))]
