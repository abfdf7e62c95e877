"""Points whose nearest place on a limb is hard to compute: on surfaces, rims, axes and medial axes, near and far."""

import numpy as np
from support.oracle.shapes.table import MAKERS

import cylcollide as cc


def any_limb(name: str, rng: np.random.Generator, far: float, unit: float = 1.0) -> cc.Limbs:
    """Return a limb about `far` units from the origin, long or short, thick or thin."""
    centre, axis = rng.normal(size=(2, 3))
    axis *= 10.0 ** rng.uniform(-1, 0.5) / np.linalg.norm(axis)
    ends = unit * (far * centre - axis), unit * (far * centre + axis)
    return MAKERS[name](*ends, unit * 10.0 ** rng.uniform(-2, 0.5), rng)


def near_points(limbs: cc.Limbs, rng: np.random.Generator, count: int) -> np.ndarray:
    """Return points (7 count, 3) about a single limb: around it, on or near its axis, caps, wall and rims, far away."""
    p1, p2, radius = limbs.p1[0], limbs.p2[0], max(limbs.radius[0], limbs.half_extents[0].max())
    axis = p2 - p1 if (p1 != p2).any() else np.array([0.0, 0.0, radius])
    length = np.linalg.norm(axis)
    across = np.cross(axis, rng.normal(size=(count, 3)))
    across *= radius / np.linalg.norm(across, axis=1, keepdims=True)
    along, out = rng.uniform(-0.5, 1.5, (count, 1)), rng.uniform(0.0, 2.0, (count, 1))
    ends = rng.integers(0, 2, (count, 1)).astype(float)
    tiny = 10.0 ** rng.uniform(-18, -6, (count, 1))
    size = length + radius
    return np.concatenate([
        p1 + along * axis + out * across,
        p1 + along * axis,
        p1 + along * axis + tiny * across,
        p1 + ends * axis + out * across,
        p1 + along * axis + across,
        p1 + ends * axis + (1.0 + tiny) * across,
        p1 + rng.normal(size=(count, 3)) * size * 10.0 ** rng.uniform(1, 6, (count, 1)),
    ])  # fmt: skip
