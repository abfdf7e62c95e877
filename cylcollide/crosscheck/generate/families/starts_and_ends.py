"""Segments that begin next to a body or in it, or end at its surface."""

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.crosscheck.generate.shots import Intent, ShotScene, joined, shots
from cylcollide.crosscheck.generate.target import Body, angles, directions, signs, where

GAPS = (0.0005, 0.0009, 0.0011, 0.002)
SKIN = 0.001


def near_start(rng: np.random.Generator, body: Body, n: int) -> list[ShotScene]:
    """Near-surface start: 0.5, 0.9, 1.1 or 2 mm outside the side, then inward, but too short, tangent or outward.

    Depth: negative, the gap between segment and limb; nan for those that go in. A quarter of n each.
    """
    parts = []
    for kind in range(4):
        count = (n + kind) // 4
        gap, angle, slope = rng.choice(GAPS, count), angles(rng, count), angles(rng, count)
        start = body.at(body.half * rng.uniform(-0.6, 0.6, count), body.radius + gap, angle)
        outward, along = body.radial(angle), body.slanted(angle, slope)
        if kind == 0:
            # Down to half a radius below the surface, and aside by less than the limb goes on in any direction.
            down = start - (0.002 + 0.5 * body.radius) * outward
            parts.append(shots(start, down + (0.3 * body.radius * rng.random(count))[:, None] * along, Intent.HIT))
        elif kind == 1:
            # Sideways by less than the limb goes on along its axis; the surface curves away: half the gap is left.
            end = start - (0.5 * gap)[:, None] * outward + (0.3 * body.half * rng.random(count))[:, None] * along
            parts.append(shots(start, end, Intent.MISS, -_gap(body, start, end)))
        else:
            rise = np.zeros(count) if kind == 2 else rng.uniform(0.05, 1, count)
            heading = rise[:, None] * outward + np.sqrt(1 - rise**2)[:, None] * along
            end = start + (body.size * rng.uniform(0.1, 5, count))[:, None] * heading
            parts.append(shots(start, end, Intent.MISS, -gap))
    return [body.scene(joined(parts))]


def _gap(body: Body, start: Float64Array, end: Float64Array) -> Float64Array:
    """Least distance of the segments from the infinite side, (n,)."""
    flat = [points - body.centre for points in (start, end)]
    first, last = (points - np.einsum("ni,i->n", points, body.axis)[:, None] * body.axis for points in flat)
    step = last - first
    share = -np.einsum("ni,ni->n", first, step) / np.einsum("ni,ni->n", step, step)
    nearest: Float64Array = np.linalg.norm(first + np.clip(share, 0, 1)[:, None] * step, axis=1)
    gap: Float64Array = nearest - body.radius
    return gap


def inside_start(rng: np.random.Generator, body: Body, n: int) -> list[ShotScene]:
    """Inside start: anywhere inside, in the outer 1 mm or quarter radius if that is less, on the axis, in the centre.

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
    return [body.scene(shots(start, end, Intent.HIT, depth))]


def segment_ends(rng: np.random.Generator, body: Body, n: int) -> list[ShotScene]:
    """Segment ends: shot at the side or a cap, ended d past its surface or d short of it, d = 10⁻¹ … 10⁻⁸ m or 0.

    Depth: of the end inside the surface (to the nearest face), negative outside; at most half the radius. 0 is meant
    for aligned bodies only, whose side and caps have exact coordinates: there the end touches.
    """
    steps = [step for step in 10.0 ** -np.arange(1.0, 9.0) if step < 0.5 * body.radius]
    depth = signs(rng, n) * rng.choice([*steps, 0.0] if body.aligned else steps, n)
    touching = depth == 0.0
    # A touching end stands on one of the four lines of the side whose coordinates are exact.
    angle = np.where(touching, np.pi / 2 * rng.integers(4, size=n), angles(rng, n))
    radial = where(touching, np.round(body.radial(angle)), body.radial(angle))
    cap = signs(rng, n)[:, None] * body.axis
    on_cap = rng.random(n) < 0.3
    outward = where(on_cap, cap, radial)
    on_axis = body.centre + (body.half * rng.uniform(-0.4, 0.4, n))[:, None] * body.axis
    on_side = on_axis + (body.radius - depth)[:, None] * radial
    within = body.centre + (0.4 * body.radius * rng.random(n))[:, None] * radial
    end = where(on_cap, within + (body.half - depth)[:, None] * cap, on_side)
    # Any direction at least 30° steep on the face that is met.
    aside = directions(rng, n)
    aside -= np.einsum("ni,ni->n", aside, outward)[:, None] * outward
    aside /= np.linalg.norm(aside, axis=1)[:, None]
    steep = rng.uniform(np.pi / 6, np.pi / 2, n)
    back = np.sin(steep)[:, None] * outward + np.cos(steep)[:, None] * aside
    start = end + (2.5 * body.size * 10.0 ** rng.uniform(0, 1, n))[:, None] * back
    intent = np.where(depth >= 0, Intent.HIT, Intent.MISS).astype(np.int8)
    return [body.scene(shots(start, end, intent, depth))]
