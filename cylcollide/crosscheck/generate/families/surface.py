"""Past the side, a rim or a corner of one body, at a depth that is known by construction."""

from itertools import pairwise

import numpy as np

from cylcollide.crosscheck.generate.shots import Intent, Shots, ShotScene, by_sign, joined, shots
from cylcollide.crosscheck.generate.target import Body, angles, signed_shares, signs

DIAGONAL = np.sqrt(0.5)
STARTS = 8
STEPS = 8


def side_graze(rng: np.random.Generator, body: Body, n: int) -> list[ShotScene]:
    """Side graze: past the side at ± 10⁻ᵏ radii, k = 1 … 7, at least 30° off the axis' direction.

    Depth: of the cut below the side, where it is deepest; negative the gap to the side, where it is narrowest.
    """
    return [body.scene(grazes(rng, body, n))]


def grazes(rng: np.random.Generator, body: Body, n: int) -> Shots:
    """Draw grazes of the middle 60 % of the side, whose closest approach to the axis is known by construction."""
    depth = body.radius * signed_shares(rng, n)
    angle, slope = angles(rng, n), rng.uniform(np.pi / 6, 5 * np.pi / 6, n)
    point = body.at(body.half * rng.uniform(-0.6, 0.6, n), body.radius - depth, angle)
    return body.at_depth(rng, point, body.slanted(angle, slope), depth)


def rim(rng: np.random.Generator, body: Body, n: int) -> list[ShotScene]:
    """Rim: through a point of a cap's plane, ± 10⁻ᵏ radii inside the rim, down through the cap and out of the side.

    Depth: of that point inside the rim, within the cap's plane; the cut is shallower, the gap narrower than that.
    """
    depth = body.radius * signed_shares(rng, n)
    cap, angle = signs(rng, n), angles(rng, n)
    point = body.at(cap * body.half, body.radius - depth, angle)
    return [body.scene(body.at_depth(rng, point, body.across_rim(rng, cap, angle), depth))]


def corner_cut(rng: np.random.Generator, body: Body, n: int) -> list[ShotScene]:
    """Corner cut: in a plane through the axis, at 45° across the corner of cap and side, ± 10⁻ᵏ radii from the rim.

    Depth: distance of the line from the rim, into the limb. Both faces must move by 1/√2 of it to touch the line.
    """
    depth = body.radius * signed_shares(rng, n)
    cap, angle = signs(rng, n), angles(rng, n)
    inward = DIAGONAL * depth
    point = body.at(cap * (body.half - inward), body.radius - inward, angle)
    heading = DIAGONAL * (body.radial(angle) - cap[:, None] * body.axis)
    return [body.scene(body.at_depth(rng, point, heading, depth))]


def axis_parallel(rng: np.random.Generator, body: Body, n: int) -> list[ShotScene]:
    """Axis-parallel: along the whole limb, ± 10⁻ᵏ radii inside or outside its side.

    Depth: of the line below the side; negative the gap. Along a random axis the direction is parallel up to its
    rounding.
    """
    depth = body.radius * signed_shares(rng, n)
    point = body.at(body.half * rng.uniform(-1, 1, n), body.radius - depth, angles(rng, n))
    return [body.scene(body.at_depth(rng, point, np.tile(body.axis, (n, 1)), depth))]


def same_line(rng: np.random.Generator, body: Body, n: int) -> list[ShotScene]:
    """Same line: near-tangent lines, each begun at eight places, and flown along in eight steps as a game does.

    Depth: of the line below the side, up to 1.5 mm or half the radius either way; nan for a step of a flight. As many
    lines as n allows.
    """
    lines = max(1, n // (STARTS + STEPS))
    depth = min(0.0015, 0.5 * body.radius) * rng.uniform(-1, 1, lines)
    angle, slope = angles(rng, lines), rng.uniform(np.pi / 6, 5 * np.pi / 6, lines)
    point = body.at(body.half * rng.uniform(-0.5, 0.5, lines), body.radius - depth, angle)
    heading, reach = body.slanted(angle, slope), 3 * body.size
    # Starts stay 2 mm and 1.1 sizes in front of the closest approach, outside the ball around the body.
    before = 0.002 + body.size * 2.2 * 10.0 ** rng.uniform(0, 1, (STARTS, lines))
    whole = [shots(point - step[:, None] * heading, point + reach * heading, by_sign(depth), depth) for step in before]
    # One flight over each line, its first step begun anywhere within a step's length.
    stride = 2 * reach / STEPS
    offset = -reach - stride * rng.random(lines)
    stops = [point + (offset + stride * step)[:, None] * heading for step in range(STEPS + 1)]
    return [body.scene(joined([*whole, *(shots(start, end, Intent.EITHER) for start, end in pairwise(stops))]))]
