"""Points near limbs of one shape: anywhere around them, just beside the surface, and beside rims or edges."""

from typing import Any

import numpy as np

from cylcollide._types import Float64Array, Int32Array, Shape
from cylcollide.crosscheck.generate.shots import directions, where
from cylcollide.engines._adapter import quaternions
from cylcollide.limbs.limbs import Limbs

SHAPES = (Shape.SPHERE, Shape.CAPSULE, Shape.CYLINDER, Shape.BOX, Shape.ELLIPSOID)
ACROSS, APART = 5, 2.5
"""Number of limbs along each side of a cube, and their spacing in metres: no point is nearer to another limb."""
RADIUS, HALF_LENGTH = (0.015, 0.2), (0.02, 0.3)
"""Least and largest sizes, metres."""
NEAR, FAR = 1e-8, 0.1
"""Least and largest distance from a surface or an edge, metres."""


def draw_points(shape: Shape, n: int, seed: int) -> tuple[Limbs, Float64Array, Int32Array]:
    """Draw limbs of a shape, n points (n, 3) about them, and the limb of each (n,).

    A third of the points lie around limbs, a third beside surfaces, and a third beside rims or edges.
    """
    rng = np.random.default_rng([seed, int(shape)])
    limbs = _limbs(shape, rng)
    limb = rng.integers(len(limbs), size=n).astype(np.int32)
    of_each, third = limbs[limb], np.arange(n) % 3
    middle = 0.5 * (of_each.p1 + of_each.p2)
    size = 0.5 * np.linalg.norm(of_each.p2 - of_each.p1, axis=1) + np.linalg.norm(of_each.half_extents, axis=1)
    size += of_each.radius
    way = directions(rng, n)
    around = middle + (1.5 * size * rng.random(n))[:, None] * way
    offset = _log_uniform((NEAR, FAR), n, rng) * rng.choice([-1.0, 1.0], n)
    nearest = of_each.closest_points(middle + 1.5 * size[:, None] * way)
    thin = np.where(of_each.radius > 0.0, of_each.radius, of_each.half_extents.min(axis=1))
    beside = nearest.position + np.maximum(offset, -0.5 * thin)[:, None] * nearest.normal
    edge = _edges(of_each, nearest.position, rng) + offset[:, None] * directions(rng, n)
    return limbs, where(third == 0, around, where(third == 1, beside, edge)), limb


def _log_uniform(between: tuple[float, float], shape: Any, rng: np.random.Generator) -> Float64Array:
    return np.asarray(np.exp(rng.uniform(np.log(between[0]), np.log(between[1]), shape)))


def _limbs(shape: Shape, rng: np.random.Generator) -> Limbs:
    grid = APART * (np.stack(np.meshgrid(*[np.arange(ACROSS)] * 3), axis=-1).reshape(-1, 3) - 0.5 * (ACROSS - 1))
    n = len(grid)
    radius, half = (_log_uniform(sizes, n, rng) for sizes in (RADIUS, HALF_LENGTH))
    axis = half[:, None] * directions(rng, n)
    if shape == Shape.SPHERE:
        return Limbs.spheres(grid, radius)
    if shape == Shape.BOX:
        return Limbs.boxes(grid, rng.normal(size=(n, 4)), _log_uniform(RADIUS, (n, 3), rng))
    make = {Shape.CAPSULE: Limbs.capsules, Shape.CYLINDER: Limbs.cylinders, Shape.ELLIPSOID: Limbs.ellipsoids}[shape]
    return make(grid - axis, grid + axis, radius)


def _edges(limbs: Limbs, otherwise: Float64Array, rng: np.random.Generator) -> Float64Array:
    """A place on a rim of each cylinder or an edge of each box; `otherwise` for shapes without rims and edges."""
    n, shape = len(limbs), Shape(int(limbs.kind[0]))
    if shape == Shape.BOX:
        share = rng.choice([-1.0, 1.0], (n, 3))
        share[np.arange(n), rng.integers(3, size=n)] = rng.uniform(-1.0, 1.0, n)
        return np.asarray(limbs.p1 + np.einsum("ni,nij->nj", share * limbs.half_extents, limbs.box_axes))
    if shape != Shape.CYLINDER:
        return otherwise
    axis = limbs.p2 - limbs.p1
    across = np.cross(axis, directions(rng, n))
    across *= (limbs.radius / np.linalg.norm(across, axis=1))[:, None]
    return np.asarray(np.where(rng.random(n)[:, None] < 0.5, limbs.p1, limbs.p2) + across)


def rounded(limbs: Limbs, points: Float64Array, margin: Float64Array) -> Float64Array:
    """Signed distances of points (n, 3) from cylinders or boxes (n,) whose edges are rounded by margins (n,).

    Each solid is shrunk by its margin, and swept by a ball of that radius.
    """
    if limbs.kind[0] == Shape.BOX:
        core = Limbs.boxes(limbs.p1, quaternions(limbs.box_axes), limbs.half_extents - margin[:, None])
    else:
        axis = limbs.p2 - limbs.p1
        end = axis * (margin / np.linalg.norm(axis, axis=1))[:, None]
        core = Limbs.cylinders(limbs.p1 + end, limbs.p2 - end, limbs.radius - margin)
    return np.asarray(core.closest_points(points).distance - margin)
