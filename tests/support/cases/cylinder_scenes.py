"""Rays with limits, and scenes of several limbs in which the order of limbs along the ray is the question.

The scenes stand in integers (see `support.cases.cylinder_rays_exact.Frame`), so that ties are real ties in float64:
limbs that share a cap, a wall, an elbow or everything, and mirror images that are met at the same irrational place.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from support.cases.cylinder_rays import Array, Whole
from support.cases.cylinder_rays_exact import EXACT, Frame, frames, sample
from support.oracle.cylinder import Limb, Ray, ray, segment

# Rays with limits ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rays:
    """n questions: is the closed cylinder (p1, p2, radius) hit by origin + t·direction within max_distance?"""

    family: NDArray[np.str_]  # (n,)
    p1: Array  # (n, 3)
    p2: Array
    radius: Array  # (n,)
    origin: Array  # (n, 3)
    direction: Array  # any length
    max_distance: Array  # (n,)

    def __len__(self) -> int:
        return len(self.radius)

    def limb(self, i: int) -> Limb:
        """Return the limb of row i for the oracle."""
        return Limb(tuple(self.p1[i].tolist()), tuple(self.p2[i].tolist()), float(self.radius[i]))

    def query(self, i: int) -> Ray:
        """Return the ray of row i for the oracle."""
        return ray(self.origin[i], self.direction[i], float(self.max_distance[i]))


def sample_rays(count: int, seed: int) -> Rays:
    """Return `count` rays: two in three from the segment families, the others with a limit exactly at a surface."""
    rng = np.random.default_rng([seed, 1000])
    s = sample(3 * count // 4, seed)
    s = s.take(np.flatnonzero((s.end != s.start).any(axis=1)))
    n = len(s)
    step = s.end - s.start
    # A power of two keeps what an exact family promises; any other factor makes another line of the float families.
    exact = np.isin(s.family, list(EXACT))
    step *= np.where(exact, 2.0 ** rng.integers(-9, 10, n), 10.0 ** rng.uniform(-3, 3, n))[:, None]
    reach = np.linalg.norm(s.end - s.start, axis=1) * 10.0 ** rng.uniform(-2, 1, n)
    limits = np.select([rng.random(n) < 0.5, rng.random(n) < 0.1], [np.inf, 0.0], reach)
    return _joined([Rays(s.family, s.p1, s.p2, s.radius, s.start, step, limits), _at_the_limit(rng, count - n)])


QUADRUPLES = np.array([(1, 2, 2, 3), (2, 3, 6, 7), (1, 4, 8, 9), (4, 4, 7, 9), (0, 3, 4, 5), (0, 0, 1, 1)])
"""x² + y² + z² = length² in integers: directions whose length is exact."""


def _at_the_limit(rng: Generator, n: int) -> Rays:
    """Return rays whose max_distance is exactly the distance of a surface point ahead, or the float64 beside it."""
    f = frames(rng, n)
    quadruple = QUADRUPLES[rng.integers(0, len(QUADRUPLES), n)]
    step = rng.permuted(quadruple[:, :3], axis=1) * rng.choice([-1, 1], (n, 3))
    on_cap = rng.random(n) < 0.5
    z = np.where(on_cap, rng.integers(0, 2, n) * f.height, rng.integers(0, f.height + 1))
    point = f.point(np.where(on_cap[:, None] & (rng.random((n, 1)) < 0.7), f.rim // 2, f.rim), z)
    steps = rng.integers(1, 60, n)
    origin = f.world(point - steps[:, None] * step)
    direction = f.world(point - (steps - 1)[:, None] * step) - origin
    limit = f.length(steps * quadruple[:, 3])
    nudge = rng.choice([-np.inf, np.nan, np.inf], n)
    limit = np.where(np.isnan(nudge), limit, np.nextafter(limit, nudge))
    foot, top = f.world(np.zeros((n, 3), dtype=np.int64)), f.world(f.point(0 * f.rim, f.height))
    return Rays(np.full(n, "at the limit", dtype="U24"), foot, top, f.length(f.radius), origin, direction, limit)


def _joined(parts: list[Rays]) -> Rays:
    """Return all rows of all parts."""
    return Rays(*(np.concatenate([getattr(p, name) for p in parts]) for name in Rays.__dataclass_fields__))


# Scenes -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scene:
    """m limbs in one world and k segments through it."""

    name: str
    p1: Array  # (m, 3)
    p2: Array
    radius: Array  # (m,)
    start: Array  # (k, 3)
    end: Array

    def limbs(self) -> list[Limb]:
        """Return the limbs for the oracle."""
        rows = zip(self.p1.tolist(), self.p2.tolist(), self.radius.tolist(), strict=True)
        return [Limb(tuple(p1), tuple(p2), r) for p1, p2, r in rows]

    def query(self, i: int) -> Ray:
        """Return segment i for the oracle."""
        return segment(self.start[i], self.end[i])


@dataclass(frozen=True)
class _Plan:
    """Limbs in local integers and points that rays should pass through."""

    p1: Whole  # (m, 3)
    p2: Whole
    radius: Whole  # (m,)
    aims: Whole  # (a, 3)
    in_plane: bool = False  # rays stay in the local plane x = 0


def _elbows(rng: Generator) -> _Plan:
    """A chain: each limb starts at the end of the one before, all of one radius; aimed at the joints."""
    steps = rng.integers(-20, 21, (8, 3))
    steps[:, 2] |= 1
    joints = np.cumsum(steps, axis=0)
    return _Plan(joints[:-1], joints[1:], np.full(7, 5), joints)


def _stack(rng: Generator) -> _Plan:
    """Cylinders on top of each other, sharing cap planes, in shuffled order; aimed at seams, on the wall and within."""
    z = np.cumsum(rng.integers(3, 12, 8))
    order = rng.permutation(7)
    p1, p2 = np.zeros((2, 7, 3), dtype=np.int64)
    p1[:, 2], p2[:, 2] = z[:-1][order], z[1:][order]
    swap = rng.random(7) < 0.3
    p1[swap], p2[swap] = p2[swap], p1[swap]
    across = np.array([(5, 0), (3, 4), (-4, 3), (0, 0), (1, 2), (0, 10), (-6, -8)])
    aims = np.array([(x, y, h) for x, y in across for h in z])
    return _Plan(p1, p2, np.where(rng.random(7) < 0.7, 5, 10), aims)


def _twins(rng: Generator) -> _Plan:
    """One limb many times: equal, turned round, longer with the same wall, wider with the same caps."""
    same = [(0, 12, 5), (0, 12, 5), (12, 0, 5), (-4, 12, 5), (0, 20, 5), (0, 12, 10), (12, 0, 10), (-4, 20, 5)]
    rows = np.array(same)[rng.permutation(len(same))]
    p1, p2 = np.zeros((2, len(rows), 3), dtype=np.int64)
    p1[:, 2], p2[:, 2] = rows[:, 0], rows[:, 1]
    aims = np.array([(x, y, h) for x, y in [(3, 4), (5, 0), (0, 0), (1, -2), (6, 8)] for h in (-4, 0, 5, 12, 20)])
    return _Plan(p1, p2, rows[:, 2], aims)


def _mirror(rng: Generator) -> _Plan:
    """Pairs of mirror images in the plane x = 0, met by rays of that plane at the same, mostly irrational, place."""
    p1, p2 = rng.integers(-12, 13, (2, 6, 3))
    p2[:, 2] += 13 + p1[:, 2]
    flip = np.array([-1, 1, 1])
    radius = rng.integers(2, 9, 6)
    order = rng.permutation(12)
    aims = np.vstack([p1, p2]) * np.array([0, 1, 1])
    ends = (np.vstack([p, p * flip])[order] for p in (p1, p2))
    return _Plan(*ends, np.tile(radius, 2)[order], aims, in_plane=True)


def _nested(rng: Generator) -> _Plan:
    """Limbs within limbs about one axis: a start inside several of them leaves them one by one."""
    inner, outer = np.sort(rng.integers(1, 30, (2, 7)), axis=0)
    p1, p2 = np.zeros((2, 7, 3), dtype=np.int64)
    p1[:, 2], p2[:, 2] = -inner, outer
    aims = rng.integers(-6, 7, (12, 3)) * np.repeat([0, 1], 6)[:, None]
    return _Plan(p1, p2, rng.integers(3, 12, 7), aims)


def _crowd(rng: Generator) -> _Plan:
    """Limbs of all sizes strewn over a box."""
    p1 = rng.integers(-60, 61, (24, 3))
    step = rng.integers(-15, 16, (24, 3))
    step[:, 0] |= 1
    return _Plan(p1, p1 + step, rng.integers(1, 12, 24), np.vstack([p1, p1 + step]))


PLANS: dict[str, Callable[[Generator], _Plan]] = {
    "elbows": _elbows,
    "stack": _stack,
    "twins": _twins,
    "mirror": _mirror,
    "nested": _nested,
    "crowd": _crowd,
}
"""Scenes by name."""


def scene(name: str, rays: int, seed: int) -> Scene:
    """Return one scene with `rays` segments, the same for the same seed."""
    rng = np.random.default_rng([seed, 2000 + list(PLANS).index(name)])
    plan, f = PLANS[name](rng), frames(rng, 1)
    aim = plan.aims[rng.integers(0, len(plan.aims), rays)]
    step = rng.integers(-9, 10, (rays, 3)) * (rng.random((rays, 3)) < 0.7)
    if plan.in_plane:
        step[:, 0] = 0
    start = aim - rng.integers(0, 9, (rays, 1)) * step
    end = aim + rng.integers(0, 9, (rays, 1)) * step
    points = (_world(f, p) for p in (plan.p1, plan.p2))
    radius = f.repeated(len(plan.radius)).length(plan.radius)
    return Scene(name, *points, radius, _world(f, start), _world(f, end))


def _world(f: Frame, local: Whole) -> Array:
    """Return local points in the world of one frame."""
    return f.repeated(len(local)).world(local)
