"""PyBullet's rayTestBatch beside a Mirror's, call by call in turn: tuples and arrays, three ways to follow.

    python benchmarks/bullet/speed.py --out benchmarks/bullet_speed.csv

A row: scene, number of rays, the call and how the client is followed, its median processor time, that of its reference,
and the ratio: the reference's time over the Mirror's. For tuples the reference is PyBullet with the same rays (in calls
of 16,000, lists as arguments, tuples as results), for arrays a HitWorld of the limbs alone; all use one thread. Rows
without rays are about `sync`; the reference is its calls of PyBullet, with the results dropped.
"""

import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from statistics import median

import numpy as np
import pybullet as p
from scenes import COINCIDENT, SCENES, connect, from_above, getters_of_sync, rays

from cylcollide.bench.results import save, script_options
from cylcollide.bench.timing import interleaved, seconds
from cylcollide.bullet import Mirror

COUNTS = (1, 10, 100, 1_000, 16_000, 100_000)
BATCH = 16_000


def bullet(c: int, starts: list, ends: list) -> Callable[[], object]:
    if len(starts) == 1:
        return lambda: p.rayTest(starts[0], ends[0], physicsClientId=c)

    def call() -> None:
        for first in range(0, len(starts), BATCH):
            p.rayTestBatch(starts[first : first + BATCH], ends[first : first + BATCH], physicsClientId=c)

    return call


def tuples(mirror: Mirror, starts: list, ends: list) -> Callable[[], object]:
    if len(starts) == 1:
        return lambda: mirror.rayTest(starts[0], ends[0])
    return lambda: mirror.rayTestBatch(starts, ends)


def tasks(c: int, starts: np.ndarray, ends: np.ndarray) -> dict[str, tuple[Callable[[], object], str]]:
    """The timed calls by name, each with the name of its reference."""
    first, last = starts.tolist(), ends.tolist()
    follow, still, watching = (Mirror(c, mesh="wrap", follow=follow) for follow in (True, False, False))
    watching.watch()
    world = still._state.world

    def cast() -> None:
        hits = world.cast_segments(starts, ends, inside="ignore", threads=1)
        hits.limb, hits.fraction, hits.position, hits.normal  # noqa: B018

    def arrays() -> None:
        hits = still.cast_segments(starts, ends, threads=1)
        hits.body, hits.fraction, hits.position, hits.normal  # noqa: B018

    return {
        "PyBullet": (bullet(c, first, last), "PyBullet"),
        "tuples, follow=False": (tuples(still, first, last), "PyBullet"),
        "tuples, watch": (tuples(watching, first, last), "PyBullet"),
        "tuples, follow=True": (tuples(follow, first, last), "PyBullet"),
        "arrays given, tuples, follow=False": (lambda: still.rayTestBatch(starts, ends), "PyBullet"),
        "world": (cast, "world"),  # next to the following call: each starts with the caches of the other
        "arrays, follow=False": (arrays, "world"),
    }


def measure(calls: dict[str, tuple[Callable[[], object], str]], rounds: int, repeat: int) -> dict[str, float]:
    """Median microseconds of processor time of each call; in every round each is made `repeat` times in a row."""

    def repeated(call: Callable[[], object]) -> Callable[[], object]:
        return lambda: [call() for _ in range(repeat)]

    works = {name: repeated(call) for name, (call, _) in calls.items()}
    times = interleaved(works, rounds + 1, time.process_time)
    return {name: 1e6 / repeat * float(np.median(taken[1:])) for name, taken in times.items()}


def row_of(scene: str, n: int, task: str, took: float, beside: str, beside_took: float) -> dict[str, object]:
    """A row: microseconds of a task, and of its reference."""
    times = {"median_us": f"{took:.1f}", "beside": beside, "beside_us": f"{beside_took:.1f}"}
    return {"scene": scene, "rays": n, "task": task, **times, "ratio": f"{beside_took / took:.2f}"}


def main() -> None:
    parser = script_options(__doc__, "benchmarks/bullet_speed.csv")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--counts", nargs="+", type=int, choices=COUNTS, default=COUNTS)
    parser.add_argument("--beside", choices=("PyBullet", "world"), help="only what stands beside this one")
    parser.add_argument("--scenes", nargs="+", choices=[*SCENES, *COINCIDENT], default=list(SCENES))
    parser.add_argument(
        "--coincident", dest="scenes", action="store_const", const=list(COINCIDENT), help="surfaces on each other"
    )
    options = parser.parse_args()
    save(options.out, (row for scene in options.scenes for row in measured(scene, options)))


def measured(scene: str, options: Namespace) -> Iterator[dict[str, object]]:
    """The rows of a scene."""
    c = connect()
    (SCENES | COINCIDENT)[scene](c)
    p.performCollisionDetection(physicsClientId=c)
    for n in options.counts:
        drawn = (from_above if scene in COINCIDENT else rays)(c, n)
        calls = {k: task for k, task in tasks(c, *drawn).items() if options.beside in (None, task[1])}
        found = measure(calls, options.rounds, max(1, 300 // n))
        for name, (_, beside) in calls.items():
            yield row_of(scene, n, name, found[name], beside, found[beside])
    if options.beside != "world":
        yield from moved(c, scene)
    p.disconnect(physicsClientId=c)


def moved(c: int, scene: str) -> Iterator[dict[str, object]]:
    """Rows of `sync` after a step and without one, each beside its calls of PyBullet."""
    mirror, getters = Mirror(c, mesh="wrap", follow=False), getters_of_sync(c)
    calls = {"PyBullet's part of a sync": lambda: [call() for call in getters], "sync": mirror.sync}
    times: dict[str, list[float]] = {f"{name}, {what}": [] for what in ("all moved", "nothing moved") for name in calls}
    for _ in range(200):
        for name, call in calls.items():
            p.stepSimulation(physicsClientId=c)
            for what in ("all moved", "nothing moved"):
                times[f"{name}, {what}"].append(1e6 * seconds(call, time.process_time))
    for what in ("all moved", "nothing moved"):
        part, whole = (median(times[f"{name}, {what}"]) for name in calls)
        yield row_of(scene, 0, f"sync, {what}", whole, "PyBullet's part of it", part)


if __name__ == "__main__":
    np.seterr(all="raise")
    main()
