"""Near-surface start: 0.5, 0.9, 1.1 or 2 mm outside the side, then inward, inward but too short, tangent or outward.

Depth: negative, the gap between segment and limb; nan for those that go in.
"""

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.crosscheck.generate.families.shots import Intent, Shots, ShotScene, joined, shots
from cylcollide.crosscheck.generate.families.target import Body, angles

GAPS = (0.0005, 0.0009, 0.0011, 0.002)


def draw(rng: np.random.Generator, body: Body, n: int) -> list[ShotScene]:
    """Draw n segments at one body, a quarter of each kind."""
    counts = [(n + place) // 4 for place in range(4)]
    parts = [fire(rng, body, count) for fire, count in zip((_inward, _short, _tangent, _outward), counts, strict=True)]
    return [body.scene(joined(parts))]


def _starts(rng: np.random.Generator, body: Body, n: int) -> tuple[Float64Array, ...]:
    """Gap (n,), start, direction away from the axis and a direction along the surface, (n, 3) each."""
    gap, angle, slope = rng.choice(GAPS, n), angles(rng, n), angles(rng, n)
    start = body.at(body.half * rng.uniform(-0.6, 0.6, n), body.radius + gap, angle)
    along = np.cos(slope)[:, None] * body.axis + np.sin(slope)[:, None] * body.radial(angle + np.pi / 2)
    return gap, start, body.radial(angle), along


def _inward(rng: np.random.Generator, body: Body, n: int) -> Shots:
    _, start, outward, along = _starts(rng, body, n)
    # Down to half a radius below the surface, and aside by less than the limb goes on in any direction.
    down = start - (0.002 + 0.5 * body.radius) * outward
    end = down + (0.3 * body.radius * rng.random(n))[:, None] * along
    return shots(start, end, Intent.HIT)


def _short(rng: np.random.Generator, body: Body, n: int) -> Shots:
    gap, start, outward, along = _starts(rng, body, n)
    # Sideways by less than the limb goes on along its axis; the surface curves away, so that the gap is half at least.
    end = start - (0.5 * gap)[:, None] * outward + (0.3 * body.half * rng.random(n))[:, None] * along
    return shots(start, end, Intent.MISS, -_gap(body, start, end))


def _tangent(rng: np.random.Generator, body: Body, n: int) -> Shots:
    gap, start, _, along = _starts(rng, body, n)
    return shots(start, start + (body.size * rng.uniform(0.1, 5, n))[:, None] * along, Intent.MISS, -gap)


def _outward(rng: np.random.Generator, body: Body, n: int) -> Shots:
    gap, start, outward, along = _starts(rng, body, n)
    rise = rng.uniform(0.05, 1, n)
    heading = rise[:, None] * outward + np.sqrt(1 - rise**2)[:, None] * along
    return shots(start, start + (body.size * rng.uniform(0.1, 5, n))[:, None] * heading, Intent.MISS, -gap)


def _gap(body: Body, start: Float64Array, end: Float64Array) -> Float64Array:
    """Least distance of the segments from the infinite side, (n,)."""

    def across(points: Float64Array) -> Float64Array:
        offset = points - body.centre
        flat: Float64Array = offset - np.einsum("ni,i->n", offset, body.axis)[:, None] * body.axis
        return flat

    first, step = across(start), across(end) - across(start)
    share = -np.einsum("ni,ni->n", first, step) / np.einsum("ni,ni->n", step, step)
    nearest: Float64Array = np.linalg.norm(first + np.clip(share, 0, 1)[:, None] * step, axis=1)
    gap: Float64Array = nearest - body.radius
    return gap
