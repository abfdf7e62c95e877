"""A lidar after every step: PyBullet's rayTest and rayTestBatch beside a Mirror's, in turn.

    python benchmarks/bullet/stepping.py --out benchmarks/bullet_stepping.csv

The client steps before every call, and each round has other rays. Every ten rounds bodies return to their settled
positions, since people fall: figures do not depend on the number of rounds. A row: scene, rays a call, how the mirror
follows the client, median times of PyBullet, of the mirror, and of the PyBullet getters that the mirror calls, made
alone after a step; PyBullet's time over the mirror's, and over the getters', an upper limit for any mirror.
Lists as arguments, tuples as results, one thread both.
"""

from collections.abc import Callable
from contextlib import ExitStack
from itertools import product
from statistics import median

import pybullet as p
from scenes import STEPPED, connect, fan, getters_of

from cylcollide.bench.results import save, script_options
from cylcollide.bench.timing import seconds
from cylcollide.bullet import Mirror, patched

COUNTS = (1, 31, 100, 1_024)
FIGURES = ("pybullet_us", "mirror_us", "getters_us", "ratio", "limit")
SETTLING = 20  # steps before the first round
FALLING = 10  # rounds until bodies return
OWN_TEST, OWN_BATCH = p.rayTest, p.rayTestBatch


def time_of_call(test: Callable[..., object], batch: Callable[..., object], starts: list, ends: list) -> float:
    """Microseconds of one call."""
    return 1e6 * seconds(lambda: test(starts[0], ends[0]) if len(starts) == 1 else batch(starts, ends))


def time_of_calls(calls: list[Callable[[], object]]) -> float:
    """Microseconds of these calls."""
    return 1e6 * seconds(lambda: [call() for call in calls])


def measure(scene: str, n: int, way: str, rounds: int) -> tuple[float, float, float]:
    """Median microseconds of PyBullet's call, of the mirror's, and of the getters in it, in a scene of its own."""
    c = connect()
    assert c == 0, "calls without a client's number go to client 0"
    p.setGravity(0, 0, -9.8)
    STEPPED[scene](c)
    for _ in range(SETTLING):
        p.stepSimulation()
    mirror = Mirror(c, mesh="wrap", follow=way == "follow=True")
    beside = Mirror(c, mesh="wrap", follow=way == "follow=True")  # caches only noting getters
    noting = beside if way == "follow=True" else beside.watch()
    theirs, ours, getters, start = [], [], [], p.saveState()
    with ExitStack() as stack:
        test, batch, step, restore = mirror.rayTest, mirror.rayTestBatch, p.stepSimulation, p.restoreState
        if way == "watch":
            watched = mirror.watch()
            test, batch, step, restore = (
                getattr(watched, name) for name in ("rayTest", "rayTestBatch", "stepSimulation", "restoreState")
            )
        elif way == "patched":
            stack.enter_context(patched(mesh="wrap"))
            test, batch, step = p.rayTest, p.rayTestBatch, p.stepSimulation
        for k in range(rounds + 2):
            if k % FALLING == 0:
                restore(start)
            starts, ends = (column.tolist() for column in fan(n, k))
            step()
            theirs.append(time_of_call(OWN_TEST, OWN_BATCH, starts, ends))
            step()
            ours.append(time_of_call(test, batch, starts, ends))
            (step if way == "follow=True" else noting.stepSimulation)()
            calls = getters_of(lambda: time_of_call(noting.rayTest, noting.rayTestBatch, starts, ends))  # noqa: B023
            step()
            getters.append(time_of_calls(calls))
    p.disconnect()
    return median(theirs[2:]), median(ours[2:]), median(getters[2:])


def row_of(scene: str, n: int, way: str, rounds: int) -> dict[str, object]:
    """A row; half as many rounds for 1,000 rays or more."""
    theirs, *own = measure(scene, n, way, rounds if n < 1000 else rounds // 2)
    figures = [f"{time:.1f}" for time in (theirs, *own)] + [f"{theirs / time:.2f}" for time in own]
    return {"scene": scene, "rays": n, "way": way, **dict(zip(FIGURES, figures, strict=True))}


def main() -> None:
    parser = script_options(__doc__, "benchmarks/bullet_stepping.csv")
    parser.add_argument("--rounds", type=int, default=201)
    parser.add_argument("--counts", nargs="+", type=int, choices=COUNTS, default=COUNTS)
    parser.add_argument("--scenes", nargs="+", choices=STEPPED, default=list(STEPPED))
    options = parser.parse_args()
    cases = product(options.scenes, options.counts, ("follow=True", "watch", "patched"))
    save(options.out, (row_of(*case, options.rounds) for case in cases))


if __name__ == "__main__":
    main()
