"""Scaling: rays per second against limbs and batch size, with build time and memory; in the past also against ticks."""

from dataclasses import dataclass
from functools import partial

from cylcollide.bench.past import PLAYERS, TICKS, RecordedCrowd
from cylcollide.bench.runner import Progress
from cylcollide.bench.timing import nbytes, paced, seconds, spread
from cylcollide.bench.workloads import LIMBS, Segments, cast_limbs, crowd_of
from cylcollide.world import HitWorld

CROWD = 17_000  # limbs of the world in which batches are measured: W3's


@dataclass(frozen=True)
class Point:
    """One measurement; rates are comparable only within one run."""

    against: str  # the varied quantity, "limbs" or "batch"
    limbs: int
    batch: int  # rays per call
    hit_share: float  # share of rays that hit; on a small field most leave it without a hit
    rate: float  # rays per second, one thread, median of the rounds
    rate_low: float
    rate_high: float
    build_seconds: float
    megabytes: float  # of the world's arrays


@dataclass(frozen=True)
class PastPoint:
    """One measurement of a history beside its world; only ratios are comparable between runs."""

    against: str  # the varied quantity, "ticks" or "limbs"
    limbs: int
    ticks: int
    rays: int  # per call, spread over all ticks
    rate: float  # rays per second, one thread, median of the rounds
    present_rate: float  # of the same rays in the present world
    ratio: float  # median of the rounds: rate over the present's
    ratio_low: float
    ratio_high: float
    record_ms: float  # of one tick
    megabytes: float  # of the history's arrays beside the world's


def run_past_scaling(rays: int, rounds: int, progress: Progress, steps: int = 5) -> list[PastPoint]:
    """Measure 4 to 4^steps ticks of 64 characters, and 64 ticks of 4 to 4^steps characters of 17 limbs."""
    sizes = [4**k for k in range(1, steps + 1)]
    cases = [("ticks", PLAYERS, ticks) for ticks in sizes] + [("limbs", characters, TICKS) for characters in sizes]
    found = []
    for against, characters, ticks in cases:
        progress(f"scaling: {LIMBS * characters:,} limbs, {ticks:,} ticks")
        found.append(_past_point(against, characters, ticks, rays, rounds))
    return found


def _past_point(against: str, characters: int, ticks: int, rays: int, rounds: int) -> PastPoint:
    workload = crowd_of(LIMBS * characters)
    crowd = RecordedCrowd(workload, ticks)
    segments = workload.segments(crowd.world, rays)
    times = paced({"past": crowd.cast_past(segments), "present": crowd.cast_present(segments)}, rounds)
    past, present = (spread(rays / times[name])[0] for name in ("past", "present"))
    size = (nbytes(crowd.history) - nbytes(crowd.world)) / 1e6
    record = []
    for _ in range(rounds):
        crowd.move()
        record.append(1e3 * seconds(crowd.record))
    ratios = spread(times["present"] / times["past"])
    return PastPoint(against, len(crowd.world), ticks, rays, past, present, *ratios, spread(record)[0], size)


def run_scaling(rays: int, rounds: int, progress: Progress, decades: int = 6) -> list[Point]:
    """Measure worlds of 10² to 10^decades limbs with `rays` rays per call, and batches of 1 to 10^decades rays."""
    worlds = []
    for limbs in (10**k for k in range(2, decades + 1)):
        progress(f"scaling: {limbs:,} limbs")
        worlds.append(_world(limbs, rays))
    batches = [10**k for k in range(decades + 1)]
    progress("scaling: rounds")
    crowd, segments, build, size = _world(CROWD, max(rays, batches[-1]))
    return _measured("limbs", worlds, rounds) + _measured(
        "batch", [(crowd, segments.first(n), build, size) for n in batches], rounds
    )


def _world(limbs: int, rays: int) -> tuple[HitWorld, Segments, float, float]:
    workload = crowd_of(limbs)
    solids = workload.limbs()
    HitWorld(solids[:64])  # warms up
    world = HitWorld(solids)
    build = seconds(lambda: HitWorld(solids))
    return world, workload.segments(world, rays), build, nbytes(world) / 1e6


def _measured(against: str, cases: list[tuple[HitWorld, Segments, float, float]], rounds: int) -> list[Point]:
    works = {str(row): partial(cast_limbs, *case[:2]) for row, case in enumerate(cases)}
    found = []
    for (world, segments, build, size), taken in zip(cases, paced(works, rounds).values(), strict=True):
        n, hits = len(segments.starts), float((cast_limbs(world, segments) >= 0).mean())
        found.append(Point(against, len(world), n, hits, *spread(n / taken), build, size))
    return found
