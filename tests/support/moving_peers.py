"""Capsules and spheres on straight paths, each with one bullet, for this library and another package."""

from typing import NamedTuple

import numpy as np

import cylcollide as cc

Array = np.ndarray
APART = 40.0
"""Metres between two limbs: a bullet is near its own limb only."""


class Pairs(NamedTuple):
    """Bullets and limbs over one tick, one row per pair."""

    start: Array  # (n, 3)
    end: Array
    p1: Array  # (n, 3) at the tick
    p2: Array
    p1_next: Array  # and at the next one
    p2_next: Array
    radius: Array  # (n,)


def pairs_of(rng: np.random.Generator, n: int, kind: str, grazes: float = 0.5) -> Pairs:
    """Capsules or spheres; the share `grazes` of bullets passes within 10⁻⁹ … 10⁻¹ radii of the wall at some time."""
    row = np.arange(n)
    middle = APART * np.column_stack([row % 16, row // 16 % 16, row // 256]).astype(float)
    half = rng.uniform(-0.3, 0.3, (n, 3)) * (kind == "capsule")
    drift, turn = 0.2 * rng.normal(size=(n, 3)), 0.2 * rng.normal(size=(n, 3)) * (kind == "capsule")
    p1, p2, p1_next, p2_next = middle - half, middle + half, middle + drift - half - turn, middle + drift + half + turn
    radius, u, share = rng.uniform(0.05, 0.3, n), rng.random((n, 1)), rng.random((n, 1))
    a, b = p1 + u * (p1_next - p1), p2 + u * (p2_next - p2)
    way = rng.normal(size=(n, 3))
    across = np.cross(b - a, way) if kind == "capsule" else np.cross(rng.normal(size=(n, 3)), way)
    across /= np.linalg.norm(across, axis=1)[:, None]
    beside = np.where(
        rng.random(n) < grazes, rng.choice([-1, 1], n) * 10.0 ** rng.uniform(-9, -1, n), rng.uniform(-1, 1, n)
    )
    place = a + share * (b - a) + across * (radius * (1.0 + beside))[:, None]
    moving = (1 - share) * (p1_next - p1) + share * (p2_next - p2) + way * rng.uniform(0.5, 2.0, (n, 1))
    return Pairs(place - u * moving, place + (1 - u) * moving, p1, p2, p1_next, p2_next, radius)


def history_of(pairs: Pairs, kind: str) -> cc.PoseHistory:
    """A history of the limbs at two ticks, with times 0 and 1."""
    made = cc.Limbs.capsules if kind == "capsule" else lambda p1, _p2, r: cc.Limbs.spheres(p1, r)
    world = cc.HitWorld(made(pairs.p1, pairs.p2, pairs.radius))
    history = cc.PoseHistory(world, interpolate="ends")
    history.record(0.0)
    world.set_endpoints(pairs.p1_next, pairs.p2_next)
    history.record(1.0)
    return history


def peer_contacts(ccd: object, pairs: Pairs, kind: str) -> tuple[Array, Array]:
    """Whether `ipctk`'s continuous collision detection reports a contact of each pair, and its earliest time."""
    hit, time = np.zeros(len(pairs.radius), np.bool_), np.full(len(pairs.radius), np.inf)
    for i, (x, y, p, q, u, v, r) in enumerate(zip(*pairs, strict=True)):
        if kind == "capsule":
            hit[i], time[i] = ccd.point_edge_ccd(x, p, q, y, u, v, float(r), 1.0)
        else:
            hit[i], time[i] = ccd.point_point_ccd(x, p, y, u, float(r), 1.0)
    return hit, np.where(hit, time, np.inf)


def outside_cube(pairs: Pairs) -> Array:
    """Whether each bullet starts farther from its limb's axis than the radius in the maximum norm, (n,)."""
    share = np.linspace(0.0, 1.0, 401)[:, None, None]
    offsets = pairs.start - (pairs.p1 + share * (pairs.p2 - pairs.p1))
    return np.abs(offsets).max(axis=-1).min(axis=0) > 1.01 * pairs.radius
