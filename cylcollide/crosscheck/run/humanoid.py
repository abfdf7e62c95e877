"""The sweep: bullets at every pose, both engines asked, every disagreement settled.

All chance at a pose comes from (seed, pose): how the poses are dealt out to processes changes nothing.
"""

import multiprocessing
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from typing import Any, TypeVar

import numpy as np

from cylcollide import __version__
from cylcollide._types import BoolArray, Int32Array
from cylcollide.crosscheck.generate.bullets import draw_bullets
from cylcollide.crosscheck.generate.humanoid import Humanoid
from cylcollide.crosscheck.judge.compare import compare
from cylcollide.crosscheck.judge.result import Agreed, CrosscheckResult, Disagreements, Poses
from cylcollide.crosscheck.run.humanoid_summary import family_rows
from cylcollide.engines import Engine
from cylcollide.engines.bullet import BulletEngine
from cylcollide.limbs.limbs import Limbs
from cylcollide.world import HitWorld

FRAMES_PER_MOTION = 10
POSES_PER_TASK = 5

Progress = Callable[[int], None]
"""Told after every task how many more bullets are done."""

EngineFactory = Callable[[], Engine]

Table = TypeVar("Table", Agreed, Disagreements)


@dataclass(frozen=True)
class Task:
    """Some consecutive poses and the bullets to fire at each. Picklable: it travels to a worker process."""

    seed: int
    engine: EngineFactory
    poses: Poses
    first_pose: int
    last_pose: int  # exclusive
    first_ray: Sequence[int]  # number of the first bullet of each pose of the sweep, and one past the last: (p + 1,)


@dataclass(frozen=True)
class Answers:
    """What a task found: all its bullets in short, and what is kept of them."""

    family: Int32Array
    hit: BoolArray
    rechecked: int
    agreed: Agreed
    disagreements: Disagreements


def spread_poses(motions: Sequence[str], frames: int = FRAMES_PER_MOTION) -> Poses:
    """Pose the humanoid ``frames`` times in each motion, at the middles of equal stretches of its duration.

    Raises
    ------
    ValueError
        If there is no such motion.
    """
    with Humanoid() as humanoid:
        unknown = [name for name in motions if name not in humanoid.motions]
        if unknown:
            raise ValueError(f"expected motions out of {', '.join(humanoid.motions)}, got {unknown[0]!r}")
        names = [name for name in dict.fromkeys(motions or humanoid.motions) for _ in range(frames)]
        shares = np.tile((np.arange(frames) + 0.5) / frames, len(names) // frames)
        times = shares * [humanoid.motions[name].duration for name in names]
        ends = [humanoid.pose(name, t) for name, t in zip(names, times, strict=True)]
        return Poses(
            motion=tuple(names),
            time=times,
            p1=np.stack([p1 for p1, _ in ends]),
            p2=np.stack([p2 for _, p2 in ends]),
            radius=humanoid.radius,
            limb_names=humanoid.names,
        )


def run_crosscheck(
    rays: int,
    seed: int,
    motions: Sequence[str] = (),
    jobs: int = 1,
    engine: EngineFactory = BulletEngine,
    progress: Progress | None = None,
) -> CrosscheckResult:
    """Fire ``rays`` bullets at the humanoid and compare an engine's answers with ours.

    Parameters
    ----------
    rays
        Bullets, dealt out evenly to the poses; at least 1.
    seed
        Of all chance, at least 0. Equal seeds, rays and motions give equal results, times apart.
    motions
        Which motions to play; none means all.
    jobs
        Worker processes; 1 works in this process.
    engine
        Makes the other engine; must be picklable where ``jobs > 1``.
    progress
        Called with the number of bullets that each finished task adds.

    Raises
    ------
    ValueError
        If there is no such motion, or a number is too small.
    """
    for name, value, least in (("rays", rays, 1), ("seed", seed, 0), ("jobs", jobs, 1)):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")
    began = time.perf_counter()
    poses = spread_poses(motions)
    tasks = _deal(poses, rays, seed, engine)
    found = []
    for task, answers in zip(tasks, _run_all(tasks, jobs), strict=True):
        found.append(answers)
        if progress is not None:
            progress(task.first_ray[task.last_pose] - task.first_ray[task.first_pose])
    agreed = _concatenate(Agreed, [part.agreed for part in found])
    disagreements = _concatenate(Disagreements, [part.disagreements for part in found])
    family, hit = np.concatenate([part.family for part in found]), np.concatenate([part.hit for part in found])
    name, versions = _versions(engine)
    return CrosscheckResult(
        engine=name,
        seed=seed,
        rays=rays,
        seconds=time.perf_counter() - began,
        rechecked=sum(part.rechecked for part in found),
        versions=versions,
        rows=family_rows(family, hit, agreed, disagreements),
        poses=poses,
        agreed=agreed,
        disagreements=disagreements,
    )


def run_task(task: Task) -> Answers:
    """Fire the bullets of some poses: one world and one engine, moved from pose to pose."""
    poses, found = task.poses, []
    limbs = [
        Limbs.cylinders(poses.p1[pose], poses.p2[pose], poses.radius, name=poses.limb_names)
        for pose in range(task.first_pose, task.last_pose)
    ]
    world = HitWorld(limbs[0])
    with task.engine() as engine:
        engine.build(limbs[0])
        for pose, posed in enumerate(limbs, start=task.first_pose):
            world.set_endpoints(posed.p1, posed.p2)
            engine.set_endpoints(posed.p1, posed.p2)
            found.append(_fire(task, pose, posed, world, engine))
    return Answers(
        np.concatenate([part.family for part in found]),
        np.concatenate([part.hit for part in found]),
        sum(part.rechecked for part in found),
        _concatenate(Agreed, [part.agreed for part in found]),
        _concatenate(Disagreements, [part.disagreements for part in found]),
    )


def _fire(task: Task, pose: int, limbs: Limbs, world: HitWorld, engine: Engine) -> Answers:
    first, last = task.first_ray[pose], task.first_ray[pose + 1]
    chance = np.random.default_rng([task.seed, pose])
    bullets = draw_bullets(chance, last - first, limbs.p1, limbs.p2, limbs.radius)
    ours = world.cast_segments(bullets.start, bullets.end)
    theirs = engine.cast_segments(bullets.start, bullets.end)
    agreed, disagreements = compare(bullets, ours, theirs, limbs)
    return Answers(
        bullets.family,
        ours.hit,
        ours.rechecked,
        replace(agreed, ray=agreed.ray + first, pose=agreed.pose + np.int32(pose)),
        replace(disagreements, ray=disagreements.ray + first, pose=disagreements.pose + np.int32(pose)),
    )


def _deal(poses: Poses, rays: int, seed: int, engine: EngineFactory) -> list[Task]:
    count = len(poses.motion)
    first_ray = [rays * pose // count for pose in range(count + 1)]
    return [
        Task(seed, engine, poses, first, min(first + POSES_PER_TASK, count), first_ray)
        for first in range(0, count, POSES_PER_TASK)
    ]


def _run_all(tasks: list[Task], jobs: int) -> Iterator[Answers]:
    if jobs == 1:
        yield from map(run_task, tasks)
        return
    _compile_once(tasks[0])
    # Spawned, not forked: a fork copies the threads' locks of a process that already runs numba and PyBullet.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=context) as pool:
        yield from pool.map(run_task, tasks)


def _compile_once(task: Task) -> None:
    # Fills numba's cache on disk, so that the workers do not all compile the same kernels.
    run_task(replace(task, last_pose=task.first_pose + 1, first_ray=[0, *[1] * len(task.poses.motion)]))


def _concatenate(table: type[Table], parts: Sequence[Table]) -> Table:
    columns: dict[str, Any] = {
        field.name: np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(table)
    }
    return table(**columns)


def _versions(engine: EngineFactory) -> tuple[str, dict[str, str]]:
    with engine() as probe:
        name, own = probe.name, probe.versions
    packages = {package: version(package) for package in ("numpy", "numba")}
    return name, {"cylcollide": __version__, **own, **packages, "python": platform.python_version()}
