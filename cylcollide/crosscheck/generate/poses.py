"""The humanoid at poses spread over its motions, and the bullets of a sweep at each.

All chance at a pose comes from (seed, pose): how the poses are dealt out to chunks changes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cylcollide._types import Float64Array, Int32Array
from cylcollide.bullet.humanoid import Humanoid
from cylcollide.crosscheck.generate.bullets import GRAZE, draw_bullets
from cylcollide.crosscheck.generate.shots import ShotScene

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

    family: Int32Array  # code of each bullet into BULLET_FAMILIES
    names: tuple[str, ...]  # of the limbs
    pose: int  # row of SweepPoses
    first_ray: int  # number of its first bullet in the sweep


def spread_poses(motions: Sequence[str], frames: int = FRAMES_PER_MOTION) -> SweepPoses:
    """Pose the humanoid ``frames`` times in each motion, at the middles of equal stretches; ValueError if unknown."""
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
    """Draw the bullets at one pose, of ``rays`` that are dealt out evenly to all; ``depth`` is a graze's share."""
    count = len(poses.motion)
    first, last = rays * pose // count, rays * (pose + 1) // count
    p1, p2 = poses.p1[pose], poses.p2[pose]
    bullets = draw_bullets(np.random.default_rng([seed, pose]), last - first, p1, p2, poses.radius)
    shots = replace(bullets, depth=np.where(bullets.family == GRAZE, bullets.depth, np.nan))
    return PosedScene(
        p1, p2, poses.radius, shots, family=bullets.family, names=poses.limb_names, pose=pose, first_ray=first
    )


def draw_in_motion(rng: np.random.Generator, n: int) -> list[ShotScene]:
    """The humanoid in motion: n bullets at four poses, each any time of any motion.

    Depth: signed metres of the grazes; nan for the others. A bullet's intention speaks of its target alone.
    """
    scenes = []
    with Humanoid() as humanoid:
        radius, motions = humanoid.radius, list(humanoid.motions)
        for count in np.diff([n * place // POSES_IN_MOTION for place in range(POSES_IN_MOTION + 1)]).tolist():
            motion = motions[int(rng.random() * len(motions))]
            p1, p2 = humanoid.pose(motion, rng.random() * humanoid.motions[motion].duration)
            bullets = draw_bullets(rng, count, p1, p2, radius)
            # A bullet that is meant to miss has no target: take any limb.
            target = np.maximum(bullets.target, 0)
            depth = np.where(bullets.family == GRAZE, bullets.depth * radius[target], np.nan)
            scenes.append(ShotScene(p1, p2, radius, replace(bullets, target=target, depth=depth)))
    return scenes
