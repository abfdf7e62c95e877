"""Scaling: rays a second against the number of limbs and against the batch size, with build time and memory."""

from collections.abc import Callable
from dataclasses import dataclass

from cylcollide._types import Int32Array
from cylcollide.bench.memory import nbytes
from cylcollide.bench.runner import Progress
from cylcollide.bench.timing import Work, interleaved, seconds, spread
from cylcollide.bench.workloads import Segments, crowd_of
from cylcollide.world import HitWorld

LEAST_TIME = 0.02  # seconds that a timed loop of small batches takes at least
CROWD = 17_000  # limbs against which batches are measured: W3's


@dataclass(frozen=True)
class Point:
    """One measurement; rates may be compared within one run only."""

    against: str  # the varied quantity, "limbs" or "batch"
    limbs: int
    batch: int  # rays a call
    hit_share: float  # of the rays; on a small field most leave it without a hit
    rate: float  # rays a second, one thread, median of the rounds
    rate_low: float
    rate_high: float
    build_seconds: float
    megabytes: float  # of the world's arrays


def run_scaling(rays: int, rounds: int, progress: Progress, decades: int = 6) -> list[Point]:
    """Measure worlds of 10² to 10^decades limbs with so many rays a call, and batches of 1 to 10^decades rays."""
    worlds = []
    for limbs in [10**k for k in range(2, decades + 1)]:
        progress(f"scaling: {limbs:,} limbs")
        worlds.append(_world(limbs, rays))
    batches = [10**k for k in range(decades + 1)]
    progress("scaling: rounds")
    crowd, segments, build, size = _world(CROWD, max(rays, batches[-1]))
    found = _measured("limbs", [(world, drawn, build, size) for world, drawn, build, size in worlds], rounds)
    return found + _measured("batch", [(crowd, segments.first(n), build, size) for n in batches], rounds)


def _world(limbs: int, rays: int) -> tuple[HitWorld, Segments, float, float]:
    workload = crowd_of(limbs)
    solids = workload.limbs()
    HitWorld(solids[:64])  # compiled
    world = HitWorld(solids)
    build = seconds(lambda: HitWorld(solids))
    return world, workload.segments(world, rays), build, nbytes(world) / 1e6


def _measured(against: str, cases: list[tuple[HitWorld, Segments, float, float]], rounds: int) -> list[Point]:
    works, repeats, hits = {}, {}, []
    for row, (world, segments, _, _) in enumerate(cases):
        work = _cast(world, segments)
        hits.append(float((work() >= 0).mean()))
        repeats[str(row)] = max(1, int(LEAST_TIME / seconds(work)))
        works[str(row)] = _repeated(work, repeats[str(row)])
    times = interleaved(works, rounds)
    found = []
    for row, (world, segments, build, size) in enumerate(cases):
        n = len(segments.starts)
        median, low, high = spread(n * repeats[str(row)] / times[str(row)])
        found.append(Point(against, len(world), n, hits[row], median, low, high, build, size))
    return found


def _cast(world: HitWorld, segments: Segments) -> Callable[[], Int32Array]:
    return lambda: world.cast_segments(*segments, threads=1).limb


def _repeated(work: Work, times: int) -> Work:
    def repeated() -> None:
        for _ in range(times):
            work()

    return repeated
