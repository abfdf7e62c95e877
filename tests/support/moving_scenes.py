"""Histories of a few limbs of every shape but boxes, and bullets at them, most of them nearly degenerate.

The motion of each limb (`MOTIONS`) and the family of each bullet (`FAMILIES`) are random.
"""

from typing import NamedTuple

import numpy as np
from support.oracle.shapes.rows import Shapes

import cylcollide as cc
from cylcollide._types import Shape
from cylcollide.kernels.traits import TRAITS

Array = np.ndarray

SHAPES = tuple(shape for shape, traits in TRAITS.items() if not traits.has_axes)
MOTIONS = ("drift", "spin", "still", "shrink", "carried")
FAMILIES = ("everyday", "graze", "time", "rim", "along", "whole")


class Scene(NamedTuple):
    """A recorded history, and its limbs as numbers."""

    history: cc.PoseHistory
    kind: Array  # (m,)
    radii: Array  # (m, 2)
    ends: Array  # (k, m, 2, 3): at each tick
    times: Array  # (k,)
    motions: tuple[str, ...]  # of the limbs


class Bullets(NamedTuple):
    """Bullets (n,) and the limbs that they are aimed at."""

    points: Array  # (n, 2, 3): start and end
    target: Array  # (n, 2): times
    family: Array  # (n,): of `FAMILIES`
    limb: Array  # (n,): aimed at


def limbs_of(kind: Array, p1: Array, p2: Array, radii: Array) -> cc.Limbs:
    """Limbs of these shapes, in this order."""
    r, r2 = radii.T
    return Shapes(kind, p1, p2, r, r2, np.zeros((len(kind), 4)), np.zeros((len(kind), 3))).limbs()


def scene_of(rng: np.random.Generator, whole: bool) -> Scene:
    """Four bare limbs and, unless all numbers are integers, two characters with the other limbs."""
    ticks, bare = int(rng.integers(3, 5)), 4
    kind = np.array([int(SHAPES[k % 6]) for k in rng.permutation(6 if not whole else 4)])
    kind = np.append(kind, rng.choice(kind, 2)) if not whole else kind
    m = len(kind)
    radius = rng.integers(1, 3, m).astype(float) if whole else rng.uniform(0.05, 0.5, m)
    radius2 = np.where(
        kind == Shape.TUBE, radius * 0.5, np.where(kind == Shape.TAPERED, radius * rng.choice([0, 0.5, 1, 1.5], m), 0.0)
    )
    ends, motions = np.zeros((ticks, bare, 2, 3)), []
    for j in range(bare):
        motion = str(rng.choice(MOTIONS[:4]))
        ends[:, j] = moving_ends(rng, motion, ticks, whole)
        motions.append(motion)
    ends[:, kind[:bare] == Shape.SPHERE, 1] = ends[:, kind[:bare] == Shape.SPHERE, 0]
    limbs = limbs_of(kind[:bare], ends[0, :, 0], ends[0, :, 1], np.column_stack([radius, radius2])[:bare])
    world = cc.HitWorld(limbs)
    rig, ids = None, np.empty(0, np.int32)
    if m > bare:
        local = rng.uniform(-0.4, 0.4, (2, m - bare, 3))
        carried = limbs_of(kind[bare:], *local, np.column_stack([radius, radius2])[bare:])
        rig = cc.Rig(
            ["a", "b"], [-1, 0], [[0, 0, 0], [0, 0, 0.3]], [[0, 0, 0, 1]] * 2, carried, np.arange(m - bare) % 2
        )
        ids = world.spawn(rig, 2)
        motions += ["carried"] * (2 * (m - bare))
    history = cc.PoseHistory(world, ticks, str(rng.choice(["bones", "ends"])))
    times = np.cumsum(rng.integers(1, 4, ticks) / 4.0 if whole else rng.uniform(0.01, 0.1, ticks)) + rng.integers(
        0, 100
    )
    root, turn = rng.uniform(-1, 1, (2, 3)), rng.normal(size=(2, 4))
    joints = np.tile([0.0, 0.0, 0.0, 1.0], (2, 2, 1)) + 0.2 * rng.normal(size=(2, 2, 4))
    for k in range(ticks):
        world.set_endpoints(ends[k, :, 0], ends[k, :, 1])
        if rig is not None:
            world.set_poses(ids, *rig.forward(root, turn, joints))
            root, turn = root + 0.2 * rng.normal(size=(2, 3)), turn + 0.3 * rng.normal(size=(2, 4))
        history.record(float(times[k]))
    found = [history.limbs_at(tick=k) for k in range(ticks)]
    both = np.stack([np.stack([one.p1, one.p2], axis=1) for one in found])
    table = found[0]._table
    return Scene(
        history, table.kind.copy(), np.column_stack([table.radius, table.radius2]), both, times, tuple(motions)
    )


def moving_ends(rng: np.random.Generator, motion: str, ticks: int, whole: bool) -> Array:
    """Ends of one bare limb at each tick, (ticks, 2, 3)."""
    if whole:
        ends = rng.integers(-3, 4, (ticks, 2, 3)).astype(float)
        ends[(ends[:, 0] == ends[:, 1]).all(axis=1), 1, 2] += 2.0
        return ends if motion in ("drift", "spin") else np.repeat(ends[:1], ticks, axis=0)
    middle, half = rng.uniform(-1, 1, 3), rng.uniform(-0.5, 0.5, 3)
    found = []
    for k in range(ticks):
        own = half if k else half.copy()
        found.append([middle - own, middle + own])
        if motion != "still":
            middle = middle + rng.uniform(-0.3, 0.3, 3)
        if motion == "drift":
            half = half + 0.05 * rng.normal(size=3)
        elif motion == "spin":  # about half a turn, so that the axis is short in between, or vanishes
            half = -half + 10.0 ** rng.uniform(-15, 0) * rng.normal(size=3) * rng.integers(0, 2)
        elif motion == "shrink":
            half = half * (
                10.0 ** rng.uniform(-8, -1) if k % 2 == 0 else 1e3 * rng.random() / max(np.abs(half).max() * 1e3, 1e-9)
            )
    return np.array(found)


# Bullets ------------------------------------------------------------------------------------------------------------


def bullets_of(rng: np.random.Generator, scene: Scene, n: int, whole: bool) -> Bullets:
    """Bullets at limbs of a scene."""
    ticks, m = len(scene.times), len(scene.kind)
    limb, k = rng.integers(0, m, n), rng.integers(0, ticks - 1, n)
    names = np.full(n, "whole") if whole else rng.choice(FAMILIES[:5], n, p=[0.2, 0.4, 0.2, 0.1, 0.1])
    step = scene.times[k + 1] - scene.times[k]
    alpha = rng.random(n)
    now = scene.times[k] + alpha * step
    alpha = (now - scene.times[k]) / step
    p, q = (scene.ends[k, limb, side] for side in (0, 1))
    p_next, q_next = (scene.ends[k + 1, limb, side] for side in (0, 1))
    a, b = p + alpha[:, None] * (p_next - p), q + alpha[:, None] * (q_next - q)
    if whole:
        points = rng.integers(-4, 5, (n, 2, 3)).astype(float)
        target = np.sort(np.clip(scene.times[0] + rng.integers(0, 13, (n, 2)) / 4.0, *scene.times[[0, -1]]), axis=1)
        return Bullets(points, target, names, limb)
    # a point of the surface, and its velocity
    share, axis = rng.random(n)[:, None], b - a
    share = np.where((names == "rim")[:, None], rng.integers(0, 2, (n, 1)), share)
    length = np.maximum(np.linalg.norm(axis, axis=1)[:, None], 1e-300)
    across = np.cross(axis / length, rng.normal(size=(n, 3)))
    is_point = (np.linalg.norm(across, axis=1) < 1e-9) | (scene.kind[limb] == Shape.SPHERE)
    across[is_point] = rng.normal(size=(int(is_point.sum()), 3))
    across /= np.linalg.norm(across, axis=1)[:, None]
    beside = 1.0 + rng.choice([-1.0, 0.0, 1.0], n)[:, None] * 10.0 ** rng.uniform(-15.5, -1, (n, 1))
    place = a + share * axis + across * (width_at(scene, limb, share[:, 0])[:, None] * beside)
    speed = ((1 - share) * (p_next - p) + share * (q_next - q)) / step[:, None]
    flight = step * 10.0 ** rng.uniform(-1, 0.7, n)
    way = rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(-1, 1.3, (n, 1)) / flight[:, None]
    way = np.where((names == "graze")[:, None], way - (way * across).sum(1)[:, None] * across, way)
    way = np.where(
        (names == "along")[:, None], way * 10.0 ** rng.uniform(-16, -3, (n, 1)) * rng.integers(0, 2, (n, 1)), way
    )
    moving = speed + way
    everyday = (names == "everyday")[:, None]
    place = np.where(everyday, a + share * axis + rng.uniform(-0.5, 0.5, (n, 3)), place)
    before = rng.random(n) * flight
    at_end = names == "time"
    before = np.where(at_end, rng.choice([0.0, 1.0], n) * flight, before)
    first, last = np.maximum(now - before, scene.times[0]), np.minimum(now + flight - before, scene.times[-1])
    on_tick = at_end & (rng.random(n) < 0.3)  # the contact is at the time of a tick
    first = np.where(on_tick & (before == 0.0), scene.times[k], first)
    target = np.column_stack([np.minimum(first, now), np.maximum(last, now)])
    points = np.stack(
        [place + (target[:, :1] - now[:, None]) * moving, place + (target[:, 1:] - now[:, None]) * moving], axis=1
    )
    bullets = Bullets(points, target, names, limb)
    rows = np.flatnonzero(names == "graze")
    for _ in range(3):
        shift_to_graze(scene, bullets, rows, beside[rows, 0])
    return bullets


def width_at(scene: Scene, limb: Array, share: Array) -> Array:
    """The radius of limbs at the given shares of their axes."""
    kind, (r, r2) = scene.kind[limb], scene.radii[limb].T
    sloping = np.where(kind == Shape.TAPERED, r + (r2 - r) * share, r)
    return np.where(kind == Shape.ELLIPSOID, 2 * r * np.sqrt(np.maximum(share * (1 - share), 0.0)), sloping)


def shift_to_graze(scene: Scene, bullets: Bullets, rows: Array, beside: Array) -> None:
    """Shift bullets so that their least distance from the axis, between the caps, is `beside` times the radius."""
    low, high = np.zeros(len(rows)), np.ones(len(rows))
    for _ in range(9):
        s = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, 17)
        off, width = outside_by(scene, bullets, rows, s)
        best = np.argmin(np.where(width > 0, np.linalg.norm(off, axis=-1) - width, np.inf), axis=1)[:, None]
        middle, step = np.take_along_axis(s, best, axis=1)[:, 0], (high - low) / 16
        low, high = np.maximum(middle - step, 0), np.minimum(middle + step, 1)
    off, width = (np.take_along_axis(x, best.reshape(-1, *[1] * (x.ndim - 1)), axis=1)[:, 0] for x in (off, width))
    distance = np.linalg.norm(off, axis=1)
    good = (distance > 1e-6) & (width > 0)
    move = np.where(good, beside * width / np.where(good, distance, 1.0) - 1.0, 0.0)
    bullets.points[rows] += (np.clip(move, -2, 2)[:, None] * off)[:, None, :]


def outside_by(scene: Scene, bullets: Bullets, rows: Array, s: Array) -> tuple[Array, Array]:
    """The vectors from the axis to bullets at s (n, k), and the limb's radius there; 0 beyond the caps."""
    target, limb = bullets.target[rows], bullets.limb[rows][:, None]
    time = target[:, :1] + s * (target[:, 1:] - target[:, :1])
    k = np.clip(np.searchsorted(scene.times, time, side="right") - 1, 0, len(scene.times) - 2)
    alpha = ((time - scene.times[k]) / (scene.times[k + 1] - scene.times[k]))[..., None]
    p, q = (
        scene.ends[k, limb, side] + alpha * (scene.ends[k + 1, limb, side] - scene.ends[k, limb, side])
        for side in (0, 1)
    )
    start, end = bullets.points[rows, None, 0], bullets.points[rows, None, 1]
    y, a = start + s[..., None] * (end - start) - p, q - p
    share = (y * a).sum(-1) / np.maximum((a * a).sum(-1), 1e-300)
    kind = scene.kind[limb]
    has_balls = (kind == Shape.CAPSULE) | (kind == Shape.SPHERE)
    near = np.where(has_balls, np.clip(share, 0, 1), share)
    width = width_at(scene, np.broadcast_to(limb, share.shape).ravel(), near.ravel()).reshape(share.shape)
    return y - near[..., None] * a, np.where((near >= 0) & (near <= 1), width, 0.0)
