"""Measurements other than rays per second: building, moving, a single call, points, threads, start-up, memory."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import cycle

import numpy as np

from cylcollide.bench.past import PAST, past_works
from cylcollide.bench.runner import BASE, Progress, unsupported_reason
from cylcollide.bench.timing import Work, interleaved, nbytes, paced, seconds, spread
from cylcollide.bench.workloads import FRAME, WORKLOADS, Crowd, cast_limbs, points_near
from cylcollide.engines import Engine, create
from cylcollide.world import HitWorld

SLOW = 1.0  # seconds: longer tasks are timed once, not in every round
POINTS = 100_000
FRAMES = 4  # frames of the animation, which is repeated

FIRST_QUERY = """
import time
began = time.perf_counter()
import cylcollide as cc
world = cc.HitWorld(cc.Limbs.cylinders([[0, 0, 0]], [[0, 0, 1]], 0.1))
assert world.cast_segments([[-1, 0, 0.5]], [[1, 0, 0.5]]).hit[0]
print(time.perf_counter() - began)
"""
"""Run in a new process, whose compiled code is already on disk."""


@dataclass(frozen=True)
class TaskRow:
    """The measurement of one engine at one task."""

    task: str
    engine: str
    value: float  # median of the rounds, in `unit`
    unit: str
    ratio: float = float("nan")  # speed over that of cylcollide in the same rounds
    note: str = ""


def run_tasks(engines: Sequence[str], rays: int, rounds: int, progress: Progress) -> list[TaskRow]:
    """Measure all tasks; engines by name, `BASE` first."""
    found = []
    with ExitStack() as stack:
        made = [stack.enter_context(create(name)) for name in engines]
        for measure in (_building, _moving, _single_calls):
            progress(f"tasks: {measure.__name__.strip('_').replace('_', ' ')}")
            found += measure(made, rounds)
    progress("tasks: past")
    for task, works in past_works(rays).items():
        found += _compared(task, works, rounds, {BASE: "the present, 1 thread", PAST: "speed over the present's"})
    for alone in (_points, _threads, _first_query, _memory):
        progress(f"tasks: {alone.__name__.strip('_').replace('_', ' ')}")
        found.append(alone(rays, rounds))
    return found


def _building(engines: Sequence[Engine], rounds: int) -> list[TaskRow]:
    limbs = WORKLOADS["W3"].limbs()
    fit = [engine for engine in engines if not unsupported_reason(engine, limbs)]
    works = {engine.name: partial(engine.build, limbs) for engine in fit}
    return _compared(f"build, {len(limbs):,} limbs", works, rounds, {})


def _moving(engines: Sequence[Engine], rounds: int) -> list[TaskRow]:
    """Time moving the limbs that `_building` has built in the engines."""
    workload = WORKLOADS["W3"]
    crowd = Crowd(workload.characters, workload.field)
    frames = [crowd.ends(frame * FRAME) for frame in range(1, FRAMES + 1)]
    fit = [engine for engine in engines if not unsupported_reason(engine, workload.limbs())]
    notes = {engine.name: "" if engine.capabilities.moves else "builds anew" for engine in fit}
    works = {engine.name: _walking(engine, frames) for engine in fit}
    return _compared(f"move, {len(crowd.radius):,} limbs", works, rounds, notes)


def _walking(engine: Engine, frames: Sequence[tuple[np.ndarray, np.ndarray]]) -> Work:
    turn = cycle(frames)
    return lambda: engine.set_endpoints(*next(turn))


def _compared(task: str, works: Mapping[str, Work], rounds: int, notes: dict[str, str]) -> list[TaskRow]:
    """A `TaskRow` for each work, in milliseconds; slow works are timed once."""
    once = {name: seconds(work) for name, work in works.items()}
    times = interleaved({name: work for name, work in works.items() if once[name] <= SLOW}, rounds)
    found = []
    base = times.get(BASE, np.array([once[BASE]]))
    for name in works:
        taken = times.get(name, np.array([once[name]]))
        remarks = [notes.get(name, ""), "once" if name not in times else ""]
        ratio = spread(base / taken)[0] if len(base) == len(taken) else float(np.median(base) / taken[0])
        found.append(TaskRow(task, name, 1e3 * spread(taken)[0], "ms", ratio, ", ".join(filter(None, remarks))))
    return found


def _single_calls(engines: Sequence[Engine], rounds: int) -> list[TaskRow]:
    """Time one ray at one humanoid: by the protocol for all engines, and by a direct call of this library."""
    workload = WORKLOADS["W2"]
    limbs = workload.limbs()
    world = HitWorld(limbs)
    start, end = (column[:1] for column in workload.segments(world, 64))
    fit = [engine for engine in engines if not unsupported_reason(engine, limbs)]
    for engine in fit:
        engine.build(limbs)
    works: dict[str, Work] = {engine.name: partial(engine.cast_segments, start, end) for engine in fit}
    times = paced(works | {f"{BASE}, directly": lambda: world.cast_segments(start, end).limb}, rounds)
    notes = [*("its adapter" for _ in works), "HitWorld.cast_segments(...).limb"]
    return [
        TaskRow("one ray, one humanoid", name, 1e6 * spread(taken)[0], "µs", spread(times[BASE] / taken)[0], note)
        for (name, taken), note in zip(times.items(), notes, strict=True)
    ]


def _points(_: int, rounds: int) -> TaskRow:
    limbs = WORKLOADS["W3"].limbs()
    world, points = HitWorld(limbs), points_near(limbs, POINTS)
    inside = float((world.contains_points(points, threads=1).limb >= 0).mean())
    taken = interleaved({BASE: lambda: world.contains_points(points, threads=1)}, rounds)[BASE]
    note = f"{POINTS:,} points, {inside:.0%} inside, 1 thread"
    return TaskRow(f"points, {len(limbs):,} limbs", BASE, POINTS / spread(taken)[0] / 1e6, "million/s", note=note)


def _threads(rays: int, rounds: int) -> TaskRow:
    workload = WORKLOADS["W3"]
    world = HitWorld(workload.limbs())
    segments = workload.segments(world, rays)
    times = interleaved({str(n): partial(cast_limbs, world, segments, n) for n in (1, 2)}, rounds)
    gain, low, high = spread(times["1"] / times["2"])
    return TaskRow("2 threads, W3", BASE, gain, "times", note=f"over 1 thread; {low:.2f} to {high:.2f}")


def _first_query(_: int, rounds: int) -> TaskRow:
    def fresh() -> float:
        done = subprocess.run([sys.executable, "-c", FIRST_QUERY], capture_output=True, text=True, check=True)
        return float(done.stdout)

    fresh()  # compiles code that is not on disk yet
    taken = [fresh() for _ in range(min(rounds, 5))]
    return TaskRow("import and first query", BASE, spread(taken)[0], "s", note="a fresh process, compiled code on disk")


def _memory(_: int, __: int) -> TaskRow:
    limbs = WORKLOADS["W4"].limbs()
    size = nbytes(HitWorld(limbs))
    return TaskRow(f"memory, {len(limbs):,} limbs", BASE, size / 1e6, "MB", note="arrays of the world: limbs and tree")
