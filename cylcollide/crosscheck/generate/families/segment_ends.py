"""Segment ends: shot at the side or a cap, ended d past its surface or d short of it, d = 10⁻¹ … 10⁻⁸ m or 0.

Depth: of the end inside the surface (to the nearest face), negative outside. 0 is meant for aligned bodies only, whose
side and caps have exact coordinates: there the end touches.
"""

import numpy as np

from cylcollide.crosscheck.generate.families.shots import Intent, ShotScene, shots
from cylcollide.crosscheck.generate.families.target import Body, angles, directions, signs, where


def draw(rng: np.random.Generator, body: Body, n: int) -> list[ShotScene]:
    """Draw n segments at one body; none is deeper than half the radius."""
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
