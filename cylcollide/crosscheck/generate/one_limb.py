"""Families of segments at one limb: aimed, past its side, rim or corner, along it, begun or ended at its surface.

Two have more: `elbow` has two limbs that share a joint, `extremes` has limbs far away and segments of any length.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.crosscheck.generate.shots import (
    FiredSegments,
    ShotScene,
    Target,
    angles,
    directions,
    joined,
    shots,
    signed_shares,
    signs,
    unit,
    where,
)


def generic(rng: np.random.Generator, body: Target, n: int) -> list[ShotScene]:
    """Generic: at points within 1.3 radii of the axis and 1.2 half lengths of the centre, from any direction.

    Depth: none intended.
    """
    return [body.scene(aimed(rng, body, n))]


def aimed(rng: np.random.Generator, body: Target, n: int, widest: float = 1.3, longest: float = 1.2) -> FiredSegments:
    """Draw segments through points within ``widest`` radii of the axis and ``longest`` half lengths of the centre."""
    share, distance = longest * rng.uniform(-1, 1, n), widest * np.sqrt(rng.random(n))
    point = body.at(body.half * share, body.radius * distance, angles(rng, n))
    return shots(*body.past(rng, point, directions(rng, n)))


BEND = np.pi / 3


def elbow(rng: np.random.Generator, body: Target, n: int) -> list[ShotScene]:
    """Elbow: at points near the joint of two equal limbs that share an end and enclose 60°.

    Depth: none intended; the exact answer determines which limb is first.
    """
    joint = body.centre + body.half * body.axis
    other = joint + 2 * body.half * (np.sin(BEND) * body.across - np.cos(BEND) * body.axis)
    point = joint + 2.5 * body.radius * rng.random(n)[:, None] ** (1 / 3) * directions(rng, n)
    heading = directions(rng, n)
    before = 0.002 + 6 * body.size * rng.uniform(1, 5, n)
    start, end = point - before[:, None] * heading, point + 6 * body.size * heading
    p1, p2 = np.array([body.centre - body.half * body.axis, joint]), np.array([joint, other])
    return [ShotScene(p1, p2, np.full(2, body.radius), shots(start, end))]


def extremes(rng: np.random.Generator, body: Target, n: int) -> list[ShotScene]:
    """Extremes, a third each: of length zero; of 10² … 10⁷ m; at the same body 10³ … 10⁷ m away from the origin.

    Depth: of a zero-length segment below the nearest face; negative outside. The others have none.
    """
    away = body.centre + 10.0 ** rng.uniform(3, 7) * unit(rng.normal(size=3))
    far = replace(body, centre=away, aligned=False)
    near = body.scene(joined([_points(rng, body, n // 3), _long(rng, body, n - 2 * (n // 3))]))
    # Aim inside only if the body is much larger than the rounding of its coordinates.
    if far.radius > 1e4 * float(np.spacing(np.abs(away).max())):
        return [near, far.scene(aimed(rng, far, n // 3, widest=0.9, longest=0.9))]
    return [near, far.scene(aimed(rng, far, n // 3))]


def _points(rng: np.random.Generator, body: Target, n: int) -> FiredSegments:
    depth = body.radius * signs(rng, n) * rng.choice([0.3, 0.1, 0.01, 0.001], n)
    point = body.at(body.half * rng.uniform(-0.6, 0.6, n), body.radius - depth, angles(rng, n))
    return shots(point, point.copy(), depth)


def _long(rng: np.random.Generator, body: Target, n: int) -> FiredSegments:
    heading = directions(rng, n)
    point = body.at(body.half * rng.uniform(-0.9, 0.9, n), body.radius * rng.uniform(0, 0.9, n), angles(rng, n))
    before, behind = 10.0 ** rng.uniform(2, 7, n), 10.0 ** rng.uniform(2, 7, n)
    # A start at 10⁷ m is rounded by 10⁻⁹ m, far below a tenth of the smallest radius, 10⁻⁴ m. It must lie outside.
    before += 2 * body.size
    return shots(point - before[:, None] * heading, point + behind[:, None] * heading)


DIAGONAL = np.sqrt(0.5)
STARTS = 8
STEPS = 8


def side_graze(rng: np.random.Generator, body: Target, n: int) -> list[ShotScene]:
    """Side graze: past the side at ± 10⁻ᵏ radii, k = 1 … 7, at least 30° off the axis' direction.

    Depth: largest depth of the cut below the side; negative: the narrowest gap to the side.
    """
    return [body.scene(grazes(rng, body, n))]


def grazes(rng: np.random.Generator, body: Target, n: int) -> FiredSegments:
    """Draw grazes of the middle 60 % of the side, whose closest approach to the axis is known by construction."""
    depth = body.radius * signed_shares(rng, n)
    angle, slope = angles(rng, n), rng.uniform(np.pi / 6, 5 * np.pi / 6, n)
    point = body.at(body.half * rng.uniform(-0.6, 0.6, n), body.radius - depth, angle)
    return body.at_depth(rng, point, body.slanted(angle, slope), depth)


def rim(rng: np.random.Generator, body: Target, n: int) -> list[ShotScene]:
    """Rim: through a point of a cap's plane, ± 10⁻ᵏ radii inside the rim, down through the cap and out of the side.

    Depth: distance of that point from the rim in the cap's plane; the cut is shallower, the gap narrower than that.
    """
    depth = body.radius * signed_shares(rng, n)
    cap, angle = signs(rng, n), angles(rng, n)
    point = body.at(cap * body.half, body.radius - depth, angle)
    return [body.scene(body.at_depth(rng, point, body.across_rim(rng, cap, angle), depth))]


def corner_cut(rng: np.random.Generator, body: Target, n: int) -> list[ShotScene]:
    """Corner cut: in a plane through the axis, at 45° across the corner of cap and side, ± 10⁻ᵏ radii from the rim.

    Depth: distance of the line from the rim, into the limb. Both faces must move by 1/√2 of that to touch the line.
    """
    depth = body.radius * signed_shares(rng, n)
    cap, angle = signs(rng, n), angles(rng, n)
    inward = DIAGONAL * depth
    point = body.at(cap * (body.half - inward), body.radius - inward, angle)
    heading = DIAGONAL * (body.radial(angle) - cap[:, None] * body.axis)
    return [body.scene(body.at_depth(rng, point, heading, depth))]


def axis_parallel(rng: np.random.Generator, body: Target, n: int) -> list[ShotScene]:
    """Axis-parallel: along the whole limb, ± 10⁻ᵏ radii inside or outside its side.

    Depth: of the line below the side; negative: the gap. For a random axis the direction is parallel up to rounding.
    """
    depth = body.radius * signed_shares(rng, n)
    point = body.at(body.half * rng.uniform(-1, 1, n), body.radius - depth, angles(rng, n))
    return [body.scene(body.at_depth(rng, point, np.tile(body.axis, (n, 1)), depth))]


def same_line(rng: np.random.Generator, body: Target, n: int) -> list[ShotScene]:
    """Same line: near-tangent lines, each from eight starts, and in eight successive steps like a game's bullet.

    Depth: of the line below the side, within ± 1.5 mm or half the radius; nan for a step of a flight. The number of
    lines follows from n.
    """
    lines = max(1, n // (STARTS + STEPS))
    depth = min(0.0015, 0.5 * body.radius) * rng.uniform(-1, 1, lines)
    angle, slope = angles(rng, lines), rng.uniform(np.pi / 6, 5 * np.pi / 6, lines)
    point = body.at(body.half * rng.uniform(-0.5, 0.5, lines), body.radius - depth, angle)
    heading, reach = body.slanted(angle, slope), 3 * body.size
    # Starts are at least 2 mm and 1.1 sizes before the closest approach, outside the ball around the body.
    before = 0.002 + body.size * 2.2 * 10.0 ** rng.uniform(0, 1, (STARTS, lines))
    whole = [shots(point - step[:, None] * heading, point + reach * heading, depth) for step in before]
    # One flight along each line, with a random offset of up to one step.
    stride = 2 * reach / STEPS
    offset = -reach - stride * rng.random(lines)
    stops = [point + (offset + stride * step)[:, None] * heading for step in range(STEPS + 1)]
    return [body.scene(joined([*whole, *(shots(start, end) for start, end in pairwise(stops))]))]


GAPS = (0.0005, 0.0009, 0.0011, 0.002)
SKIN = 0.001


def near_start(rng: np.random.Generator, body: Target, n: int) -> list[ShotScene]:
    """Near-surface start: 0.5, 0.9, 1.1 or 2 mm outside the side, then inward, inward but too short, tangent, outward.

    Depth: negative, the gap between segment and limb; nan for inward segments. A quarter of n each.
    """
    parts = []
    for kind in range(4):
        count = (n + kind) // 4
        gap, angle, slope = rng.choice(GAPS, count), angles(rng, count), angles(rng, count)
        start = body.at(body.half * rng.uniform(-0.6, 0.6, count), body.radius + gap, angle)
        outward, along = body.radial(angle), body.slanted(angle, slope)
        if kind == 0:
            # End half a radius below the surface, moved aside by less than the limb extends in any direction.
            down = start - (0.002 + 0.5 * body.radius) * outward
            parts.append(shots(start, down + (0.3 * body.radius * rng.random(count))[:, None] * along))
        elif kind == 1:
            # Move sideways by less than the limb extends. At least half the gap remains, since the surface curves away.
            end = start - (0.5 * gap)[:, None] * outward + (0.3 * body.half * rng.random(count))[:, None] * along
            parts.append(shots(start, end, -_gap(body, start, end)))
        else:
            rise = np.zeros(count) if kind == 2 else rng.uniform(0.05, 1, count)
            heading = rise[:, None] * outward + np.sqrt(1 - rise**2)[:, None] * along
            end = start + (body.size * rng.uniform(0.1, 5, count))[:, None] * heading
            parts.append(shots(start, end, -gap))
    return [body.scene(joined(parts))]


def _gap(body: Target, start: Float64Array, end: Float64Array) -> Float64Array:
    """Least distance of the segments from the infinite side, (n,)."""
    flat = [points - body.centre for points in (start, end)]
    first, last = (points - np.einsum("ni,i->n", points, body.axis)[:, None] * body.axis for points in flat)
    step = last - first
    share = -np.einsum("ni,ni->n", first, step) / np.einsum("ni,ni->n", step, step)
    nearest: Float64Array = np.linalg.norm(first + np.clip(share, 0, 1)[:, None] * step, axis=1)
    return np.asarray(nearest - body.radius)


def inside_start(rng: np.random.Generator, body: Target, n: int) -> list[ShotScene]:
    """Inside start: anywhere, in the skin (1 mm, at most a quarter radius), on the axis, in the centre.

    Depth: of the start below the nearest face.
    """
    kind = rng.integers(4, size=n)
    height = body.half * rng.uniform(-0.999, 0.999, n)
    skin = min(SKIN, 0.25 * body.radius) * rng.uniform(0.001, 0.999, n)
    distance = np.choose(kind, [0.999 * body.radius * np.sqrt(rng.random(n)), body.radius - skin, 0.0, 0.0])
    height = np.where(kind == 3, 0.0, height)
    start = body.at(height, distance, angles(rng, n))
    end = start + (body.size * rng.uniform(0.1, 5, n))[:, None] * directions(rng, n)
    depth = np.minimum(body.radius - distance, body.half - np.abs(height))
    return [body.scene(shots(start, end, depth))]


def segment_ends(rng: np.random.Generator, body: Target, n: int) -> list[ShotScene]:
    """Segment ends: at the side or a cap, ended d past its surface or d short of it, d = 10⁻¹ … 10⁻⁸ m or 0.

    Depth: of the end below the nearest face, negative outside; at most half the radius. Only for aligned bodies, whose
    side and caps have exact coordinates, is it also 0: there the end touches.
    """
    steps = [step for step in 10.0 ** -np.arange(1.0, 9.0) if step < 0.5 * body.radius]
    depth = signs(rng, n) * rng.choice([*steps, 0.0] if body.aligned else steps, n)
    touching = depth == 0.0
    # A touching end is on one of the four lines of the side whose coordinates are exact.
    angle = np.where(touching, np.pi / 2 * rng.integers(4, size=n), angles(rng, n))
    radial = where(touching, np.round(body.radial(angle)), body.radial(angle))
    cap = signs(rng, n)[:, None] * body.axis
    on_cap = rng.random(n) < 0.3
    outward = where(on_cap, cap, radial)
    on_axis = body.centre + (body.half * rng.uniform(-0.4, 0.4, n))[:, None] * body.axis
    on_side = on_axis + (body.radius - depth)[:, None] * radial
    within = body.centre + (0.4 * body.radius * rng.random(n))[:, None] * radial
    end = where(on_cap, within + (body.half - depth)[:, None] * cap, on_side)
    # Any direction, at least 30° to the face that is hit.
    aside = directions(rng, n)
    aside -= np.einsum("ni,ni->n", aside, outward)[:, None] * outward
    aside /= np.linalg.norm(aside, axis=1)[:, None]
    steep = rng.uniform(np.pi / 6, np.pi / 2, n)
    back = np.sin(steep)[:, None] * outward + np.cos(steep)[:, None] * aside
    start = end + (2.5 * body.size * 10.0 ** rng.uniform(0, 1, n))[:, None] * back
    return [body.scene(shots(start, end, depth))]
