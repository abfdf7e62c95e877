"""Calls of one row, as simple programs make them, and a log shot by shot: medians of rounds of 20 calls, in turn.

    python benchmarks/one_call.py --out benchmarks/one_call.csv   (half a minute)

A row of the CSV: level, query, limbs, the median time of a call in microseconds. One thread. Limbs are those of
walking humanoids; in the past there are 64 ticks.
"""

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

import cylcollide as cc
from cylcollide.bench.past import TICKS, RecordedCrowd
from cylcollide.bench.results import save, script_options
from cylcollide.bench.timing import interleaved
from cylcollide.bench.workloads import WORKLOADS
from cylcollide.runtime.levels import CHOICE

ROUNDS, CALLS = 7, 20
FAR, LOGGED = 1e5, 300


def queries(crowd: RecordedCrowd) -> dict[str, Callable[[], object]]:
    """Each query of one row, by name."""
    world, history, up, across = crowd.world, crowd.history, np.array([0.0, 0, 1]), np.array([0.0, 5, 0])
    crate, far = (cc.HitWorld(cc.Limbs.boxes([x, x, 0.5], [0, 0, 0, 1], [0.5, 0.5, 0.5])) for x in (0.0, FAR))
    start, end = (side[0] for side in WORKLOADS["W3"].segments(world, 1))
    on = start + 0.01 * (end - start)
    time, radii = history.times[30], np.where(np.arange(1000) == 7, 20.0, 0.05)
    rows, times = np.linspace(start, start + 2 * across, 1000), np.linspace(*history.times[[0, -1]], 1000)
    return {
        "segment": lambda: world.cast_segments(start, end),
        "thick segment": lambda: world.cast_segments(start, end, radius=0.05),
        "1,000 thick segments, one of 20 m": lambda: world.cast_segments(rows, rows + across, radius=radii),
        "thick segment 100 km away": lambda: far.cast_segments(
            [FAR - 2, FAR, FAR + 0.3], [FAR + 2, FAR + 0.1, FAR + 0.4], radius=0.05
        ),
        "segment along the top of a crate": lambda: crate.cast_segments([-2, 0.1, 1.0], [2, 0.2, 1.0]).limb,
        "its chord": lambda: crate.chords_segments([-2, 0.1, 1.0], [2, 0.2, 1.0]).limb,
        "clearance of a miss": lambda: world.cast_segments(start, on).clearance,
        "doubt": lambda: world.doubt_segments(start, end, 0.05),
        "segment in the past": lambda: history.cast_segments(start, end, time),
        "thick segment in the past": lambda: history.cast_segments(start, end, time, radius=0.05),
        "1,000 thick ones, each at its own time": lambda: history.cast_segments(
            rows, rows + across, times, radius=0.05
        ),
        "these, one of 20 m": lambda: history.cast_segments(rows, rows + across, times, radius=radii),
        "blade in the past": lambda: history.sweep_capsules(start, start + up, on, on + up, 0.03, time, time + 0.02),
        "doubt in the past, time_radius": lambda: history.doubt_segments(start, end, 0.05, time, time_radius=0.02),
    }


def called(query: Callable[[], object]) -> None:
    """Call a query `CALLS` times."""
    for _ in range(CALLS):
        query()


def judged_one_by_one(path: Path) -> Callable[[], object]:
    """A loop over the shots of a log."""
    rig, world, rng = cc.Rig.humanoid(), cc.HitWorld(), np.random.default_rng(3)
    ids = world.spawn(rig, 3)
    history = cc.PoseHistory(world, 8)
    with cc.ShotLog(path, world, history, when_full="wait"):
        for tick in range(LOGGED):
            world.set_poses(ids, *rig.forward(rng.uniform(-2, 2, (3, 3)), [0, 0, 0, 1], rig.rest_orientations))
            history.record(tick / 60)
            history.judge_segments([0, -9, 0], [0, 9, 0], cc.Policy.first_surface(), time=tick / 60)
    log = cc.ShotLog.open(path)
    return lambda: [log.judged(number) for number in range(LOGGED)]


def measured() -> Iterator[tuple[str, int, float]]:
    """Each query, the limbs, and the median microseconds."""
    for name in ("W2", "W3"):
        crowd = RecordedCrowd(WORKLOADS[name], TICKS)
        works = {query: partial(called, work) for query, work in queries(crowd).items()}
        for query, times in interleaved(works, ROUNDS).items():
            yield query, len(crowd.world), 1e6 / CALLS * float(np.median(times))
    with tempfile.TemporaryDirectory() as folder:
        times = interleaved({"log": partial(judged_one_by_one(Path(folder) / "log"))}, 3)["log"]
        yield f"{LOGGED} shots of a log, one by one", 51, 1e6 * float(np.median(times))


def main() -> None:
    out = script_options(__doc__, "benchmarks/one_call.csv").parse_args().out
    rows = ({"level": CHOICE.level, "query": q, "limbs": n, "median_us": f"{us:.3g}"} for q, n, us in measured())
    save(out, rows)


if __name__ == "__main__":
    main()
