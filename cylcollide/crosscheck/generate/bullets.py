"""The bullets at the humanoid: four seeded families, each with an intended verdict; ``docs/crosscheck.md`` lists them.

A depth is a signed share of the target's radius: > 0 hits the target, < 0 misses it; another limb may be in front. No
bullet starts in a limb. Random numbers depend only on (seed, pose), so chunks may have any number of poses.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cylcollide._types import Float64Array, Int32Array
from cylcollide.bullet.humanoid import Humanoid
from cylcollide.crosscheck.generate.shots import (
    FiredSegments,
    LimbFrame,
    ShotScene,
    across,
    angles,
    directions,
    either_way,
    signs,
    unit,
)
from cylcollide.limbs.limbs import Limbs
from cylcollide.world import HitWorld

BULLET_FAMILIES = ("aimed", "graze", "rim", "miss")
AIMED, GRAZE, RIM, MISS = range(len(BULLET_FAMILIES))
SHARES = (0.6, 0.2, 0.1, 0.1)
DEPTH_DECADES = (-7.0, -1.0)
RANGE_METRES = (2.0, 50.0)
BEHIND_METRES = 1.0
MISS_GAP_METRES = 0.002


@dataclass(frozen=True, kw_only=True)
class Bullets(FiredSegments):
    """Bullets at one pose: the target of a miss is -1, depths are shares of the target's radius (graze, rim) or nan."""

    family: Int32Array  # code into BULLET_FAMILIES, (n,)


def draw_bullets(rng: np.random.Generator, n: int, p1: Float64Array, p2: Float64Array, radius: Float64Array) -> Bullets:
    """Draw ``n`` bullets at one pose of a character: limb ends (m, 3) and radii (m,) in metres."""
    family = rng.choice(len(BULLET_FAMILIES), size=n, p=SHARES).astype(np.int32)
    target = rng.integers(len(radius), size=n, dtype=np.int32)
    depth = -signs(rng, n) * 10.0 ** rng.uniform(*DEPTH_DECADES, size=n)
    through, heading = np.empty((n, 3)), np.empty((n, 3))
    for code, draw in ((AIMED, _aim), (GRAZE, _graze), (RIM, _cross_rim)):
        rows = np.flatnonzero(family == code)
        limb = target[rows]
        through[rows], heading[rows] = draw(rng, _Limbs(p1[limb], p2[limb], radius[limb]), depth[rows])
    centre, reach = _bounding_ball(p1, p2, radius)
    rows = np.flatnonzero(family == MISS)
    through[rows], heading[rows] = _pass_by(rng, len(rows), p1, p2, radius)
    target[rows] = -1
    depth[(family == AIMED) | (family == MISS)] = np.nan
    # Along the bullet, the ball lies within ± reach of its centre.
    middle = np.einsum("ni,ni->n", centre - through, heading)
    nearest, farthest = RANGE_METRES
    before = nearest * (farthest / nearest) ** rng.random(n)
    start = through + (middle - reach - before)[:, None] * heading
    end = through + (middle + reach + BEHIND_METRES)[:, None] * heading
    return Bullets(start, end, depth, target, family=family)


class _Limbs(LimbFrame):
    """Limbs with an orthonormal frame each, (n, 3)."""

    def __init__(self, p1: Float64Array, p2: Float64Array, radius: Float64Array) -> None:
        self.p1, self.p2, self.radius, self.axis = p1, p2, radius, unit(p2 - p1)
        self.across = across(self.axis)
        self.athwart = np.cross(self.axis, self.across)

    def on_axis(self, share: Float64Array) -> Float64Array:
        return self.p1 + share[:, None] * (self.p2 - self.p1)


def _aim(rng: np.random.Generator, limb: _Limbs, depth: Float64Array) -> tuple[Float64Array, Float64Array]:
    n = len(depth)
    off = 0.999 * limb.radius * np.sqrt(rng.random(n))
    point = limb.on_axis(rng.uniform(0.001, 0.999, n)) + off[:, None] * limb.radial(angles(rng, n))
    return point, directions(rng, n)


def _graze(rng: np.random.Generator, limb: _Limbs, depth: Float64Array) -> tuple[Float64Array, Float64Array]:
    n = len(depth)
    # The line lies in a plane parallel to the axis, at least 30° off the axis' direction; its closest approach to the
    # axis is this point, so its distance from the axis is exactly (1 - depth) radius.
    angle, slope = angles(rng, n), rng.uniform(np.pi / 6, 5 * np.pi / 6, n)
    point = limb.on_axis(rng.uniform(0.05, 0.95, n)) + (limb.radius * (1 - depth))[:, None] * limb.radial(angle)
    return point, -either_way(rng, limb.slanted(angle, slope))


def _cross_rim(rng: np.random.Generator, limb: _Limbs, depth: Float64Array) -> tuple[Float64Array, Float64Array]:
    cap, angle = signs(rng, len(depth)), angles(rng, len(depth))
    centre = np.where(cap[:, None] > 0, limb.p2, limb.p1)
    point = centre + (limb.radius * (1 - depth))[:, None] * limb.radial(angle)
    return point, -either_way(rng, limb.across_rim(rng, cap, angle))


def _pass_by(
    rng: np.random.Generator, n: int, p1: Float64Array, p2: Float64Array, radius: Float64Array
) -> tuple[Float64Array, Float64Array]:
    centre, reach = _bounding_ball(p1, p2, radius)
    point, heading = np.empty((n, 3)), np.empty((n, 3))
    rows = np.arange(n)
    # Draw a line again if it comes near a limb. A limb lies within its radius of its axis segment.
    near = HitWorld(Limbs.capsules(p1, p2, radius + MISS_GAP_METRES))
    while len(rows):
        heading[rows] = directions(rng, len(rows))
        offset = np.cross(heading[rows], directions(rng, len(rows)))
        point[rows] = centre + reach * offset
        # The ball around the limbs lies within twice its radius of the point.
        step = 3 * reach * heading[rows]
        rows = rows[near.occluded_segments(point[rows] - step, point[rows] + step)]
    return point, heading


def _bounding_ball(p1: Float64Array, p2: Float64Array, radius: Float64Array) -> tuple[Float64Array, float]:
    """Return a ball around every limb; a limb lies within its radius of its axis segment."""
    centre = 0.5 * (np.minimum(p1, p2).min(axis=0) + np.maximum(p1, p2).max(axis=0))
    ends = np.maximum(np.linalg.norm(p1 - centre, axis=1), np.linalg.norm(p2 - centre, axis=1))
    return centre, float(np.max(ends + radius))


FRAMES_PER_MOTION = 10
POSES_IN_MOTION = 4


@dataclass(frozen=True)
class SweepPoses:
    """Every pose of a sweep: ``p`` poses of one character with ``m`` limbs."""

    motion: tuple[str, ...]  # name of the motion, length p
    time: Float64Array  # seconds into the motion, (p,)
    p1: Float64Array  # limb ends, (p, m, 3)
    p2: Float64Array
    radius: Float64Array  # (m,)
    limb_names: tuple[str, ...]  # length m


@dataclass(frozen=True, kw_only=True)
class PosedScene(ShotScene):
    """One pose of a sweep and its bullets."""

    shots: Bullets
    names: tuple[str, ...]  # of the limbs
    pose: int  # row of SweepPoses
    first_ray: int  # number of the pose's first bullet in the sweep


def spread_poses(motions: Sequence[str], frames: int = FRAMES_PER_MOTION) -> SweepPoses:
    """Pose the humanoid ``frames`` times per motion, at the middles of equal intervals; ValueError if unknown."""
    with Humanoid() as humanoid:
        unknown = [name for name in motions if name not in humanoid.motions]
        if unknown:
            raise ValueError(f"expected motions out of {', '.join(humanoid.motions)}, got {unknown[0]!r}")
        names = [name for name in dict.fromkeys(motions or humanoid.motions) for _ in range(frames)]
        shares = np.tile((np.arange(frames) + 0.5) / frames, len(names) // frames)
        times = shares * [humanoid.motions[name].duration for name in names]
        ends = [humanoid.pose(name, t) for name, t in zip(names, times, strict=True)]
        p1, p2 = (np.stack(side) for side in zip(*ends, strict=True))
        return SweepPoses(tuple(names), times, p1, p2, humanoid.radius, humanoid.names)


def draw_pose(poses: SweepPoses, pose: int, rays: int, seed: int) -> PosedScene:
    """Draw the bullets at one pose, of ``rays`` distributed evenly over all; ``depth`` is a graze's share."""
    count = len(poses.motion)
    first, last = rays * pose // count, rays * (pose + 1) // count
    p1, p2 = poses.p1[pose], poses.p2[pose]
    bullets = draw_bullets(np.random.default_rng([seed, pose]), last - first, p1, p2, poses.radius)
    shots = replace(bullets, depth=np.where(bullets.family == GRAZE, bullets.depth, np.nan))
    return PosedScene(p1, p2, poses.radius, shots=shots, names=poses.limb_names, pose=pose, first_ray=first)


def draw_in_motion(rng: np.random.Generator, n: int) -> list[ShotScene]:
    """The humanoid in motion: n bullets at four poses, each at a random time of a random motion.

    Depth: signed metres for grazes; nan for the others. It concerns only the bullet's target.
    """
    scenes = []
    with Humanoid() as humanoid:
        radius, motions = humanoid.radius, list(humanoid.motions)
        for count in np.diff([n * place // POSES_IN_MOTION for place in range(POSES_IN_MOTION + 1)]).tolist():
            motion = motions[int(rng.random() * len(motions))]
            p1, p2 = humanoid.pose(motion, rng.random() * humanoid.motions[motion].duration)
            bullets = draw_bullets(rng, count, p1, p2, radius)
            # A bullet that is meant to miss has no target: take the first limb.
            target = np.maximum(bullets.target, 0)
            depth = np.where(bullets.family == GRAZE, bullets.depth * radius[target], np.nan)
            scenes.append(ShotScene(p1, p2, radius, replace(bullets, target=target, depth=depth)))
    return scenes
