"""Worlds whose bounding boxes are hard to handle (far, flat, piled up, of mixed sizes), and shots at them."""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from support.cases.everyday_shape_worlds import mixed
from support.cases.everyday_worlds import make_crowd
from support.cases.frames import Array

import cylcollide as cc

X = np.eye(3)
UNTURNED = np.array([0.0, 0.0, 0.0, 1.0])


def upright(foot: Array, height: Array | float, radius: Array | float) -> cc.Limbs:
    """Cylinders along z."""
    return cc.Limbs.cylinders(foot, foot + X[2] * np.reshape(height, (-1, 1)), radius)


def grid() -> cc.Limbs:
    """Upright cylinders and unturned boxes in a grid, side by side: boxes share faces, and limbs touch."""
    place = np.stack(np.meshgrid(*[np.arange(4.0) * 2] * 3), axis=-1).reshape(-1, 3)
    boxes = cc.Limbs.boxes(place + 1, UNTURNED, [0.5, 1.0, 0.25])
    return cc.Limbs.concat([upright(place, 1.0, 0.5), boxes, cc.Limbs.spheres(place[::3] + X[0], 0.5)])


def flat(rng: Generator) -> cc.Limbs:
    """Discs, plates and axis-aligned needles about the plane z = 0, thinner than the padding of bounding boxes."""
    at = np.column_stack([rng.integers(-8, 9, (60, 2)) * 1.0, np.zeros(60)])
    thin = 2.0 ** -rng.integers(20, 60, 20)
    plates = cc.Limbs.boxes(at[:20], UNTURNED, np.column_stack([np.ones(20), np.full(20, 0.5), thin]))
    needles = cc.Limbs.cylinders(at[40:], at[40:] + X[np.arange(20) % 2] * 3, thin)
    return cc.Limbs.concat([plates, upright(at[20:40], thin, 1.0), needles])


def line(rng: Generator) -> cc.Limbs:
    """Needles end to end on one axis: their common box has almost no width."""
    x = rng.permutation(40)[:, None] * X[0]
    return cc.Limbs.cylinders(x, x + X[0], 1e-9)


def piled() -> cc.Limbs:
    """Five limbs, 40 copies of each, in random order."""
    five = mixed(5, seed=3).limbs()
    return five[np.random.default_rng(4).permutation(np.repeat(np.arange(5), 40))]


def one_place(rng: Generator) -> cc.Limbs:
    """200 limbs about one centre, whose boxes differ by a few bits."""
    step = rng.choice([-1.0, 1.0], (200, 3)) * (1 + rng.integers(0, 3, (200, 3)) * 2.0**-50)
    return cc.Limbs.cylinders(-step, step, 0.25)


def grown(limbs: cc.Limbs, size: float, by: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> cc.Limbs:
    """Cylinders scaled and moved."""
    return cc.Limbs.cylinders(limbs.p1 * size + by, limbs.p2 * size + by, limbs.radius * size)


def sizes(rng: Generator) -> cc.Limbs:
    """Cylinders from micrometres to megametres."""
    size = np.where(rng.random(60) < 0.2, 1e6, 10.0 ** rng.uniform(-6, 1, 60))
    p1 = rng.normal(size=(60, 3)) * np.where(size > 10, 3e6, 3.0)[:, None]
    return cc.Limbs.cylinders(p1, p1 + rng.normal(size=(60, 3)) * size[:, None], size / 4)


def crowd() -> cc.Limbs:
    """Limbs of all shapes in a box of 6 m."""
    return mixed(41).limbs()


def monster(at: float) -> cc.Limbs:
    """A crowd, and one limb at a place so far away that products of lengths overflow."""
    return cc.Limbs.concat([crowd(), upright(np.full((1, 3), at), at / 4, at / 8)])


HARD: dict[str, Callable[[], cc.Limbs]] = {
    "crowd": crowd,
    "far away": lambda: grown(make_crowd(), 1.0, (1e7, -1e7, 1e7)),
    "grid": grid,
    "flat": lambda: flat(np.random.default_rng(1)),
    "line": lambda: line(np.random.default_rng(2)),
    "piled": piled,
    "one place": lambda: one_place(np.random.default_rng(3)),
    "all sizes": lambda: sizes(np.random.default_rng(5)),
    "one at 1e150": lambda: monster(1e150),
    "one at 1e30": lambda: monster(1e30),
    "tiny": lambda: grown(make_crowd(), 1e-12),
    "huge": lambda: grown(make_crowd(), 1e12),
}
"""Worlds by name."""

SHOTS = ("anywhere", "along axes", "in box faces", "at ends", "from far", "from very far", "from inside", "points")


def shots(limbs: cc.Limbs, n: int, seed: int) -> tuple[Array, Array, Array]:
    """Starts, ends and kinds of n segments, equally many of each kind in `SHOTS`."""
    rng = np.random.default_rng(seed)
    kind, k = np.arange(n) % len(SHOTS), rng.integers(0, max(1, len(limbs)), n)
    if not len(limbs):
        return *rng.normal(size=(2, n, 3)), kind
    low, high = np.minimum(limbs.p1, limbs.p2)[k], np.maximum(limbs.p1, limbs.p2)[k]
    half = limbs.half_extents[k] + limbs.radius[k, None]
    low, high = low - half, high + half
    centre, size = (limbs.p1[k] + limbs.p2[k]) / 2, (high - low).max(axis=1, keepdims=True)
    reach = max(float(np.median(np.abs(limbs.p1 - np.median(limbs.p1, axis=0)))), float(np.median(size)))
    axis = X[rng.integers(0, 3, n)] * rng.choice([-1.0, 1.0], (n, 1))
    random = rng.normal(size=(n, 3))
    random /= np.linalg.norm(random, axis=1)[:, None]
    corner = np.where(rng.random((n, 3)) < 0.5, low, high)
    face = np.where((rng.random((n, 3)) < 0.6) & (axis == 0), corner, centre)  # some coordinates of a box's corner
    near = centre + (rng.random((n, 3)) - 0.5) * size
    far = 10.0 ** np.where(kind == 4, rng.uniform(2, 5, n), rng.uniform(6, 9, n))[:, None]
    of = [kind[:, None] == j for j in range(len(SHOTS))]
    aim = np.select([of[0], of[1], of[2], of[3], of[4], of[5]], [near, centre, face, limbs.p2[k], near, near], centre)
    step = np.select(
        [of[1] | of[2], of[4] | of[5]], [axis * (2 * size + reach), random * far * reach], random * (size + reach)
    )
    start, end = np.where(of[6] | of[7], aim, aim - step), np.where(of[7], aim, aim + step)
    return start, end, kind
