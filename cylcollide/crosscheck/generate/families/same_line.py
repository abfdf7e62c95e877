"""Same line: near-tangent lines, each begun at many places, and flown along in steps as a game does.

Depth: of the line below the side, up to 1.5 mm or half the radius either way; nan for a step of a flight.
"""

from itertools import pairwise

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.crosscheck.generate.families.shots import Intent, ShotScene, by_sign, joined, shots
from cylcollide.crosscheck.generate.families.target import Body, angles

STARTS = 8
STEPS = 8


def draw(rng: np.random.Generator, body: Body, n: int) -> list[ShotScene]:
    """Draw n segments at one body: lines of eight starts and eight steps each, as far as n goes."""
    lines = max(1, n // (STARTS + STEPS))
    depth = min(0.0015, 0.5 * body.radius) * rng.uniform(-1, 1, lines)
    angle, slope = angles(rng, lines), rng.uniform(np.pi / 6, 5 * np.pi / 6, lines)
    point = body.at(body.half * rng.uniform(-0.5, 0.5, lines), body.radius - depth, angle)
    heading = np.cos(slope)[:, None] * body.axis + np.sin(slope)[:, None] * body.radial(angle + np.pi / 2)
    # Starts stay 2 mm and 1.1 sizes in front of the closest approach, outside the ball around the body.
    before = 0.002 + body.size * 2.2 * 10.0 ** rng.uniform(0, 1, (STARTS, lines))
    behind = point + 3 * body.size * heading
    whole = [shots(point - step[:, None] * heading, behind, by_sign(depth), depth) for step in before]
    steps = _flown(rng, point, heading, 3 * body.size)
    return [body.scene(joined([*whole, *(shots(start, end, Intent.EITHER) for start, end in steps)]))]


def _flown(
    rng: np.random.Generator, point: Float64Array, heading: Float64Array, reach: float
) -> list[tuple[Float64Array, Float64Array]]:
    # One flight over each line, its first step begun anywhere within a step's length.
    stride = 2 * reach / STEPS
    offset = -reach - stride * rng.random(len(point))
    stops = [point + (offset + stride * step)[:, None] * heading for step in range(STEPS + 1)]
    return list(pairwise(stops))
