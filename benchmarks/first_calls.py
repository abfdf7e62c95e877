"""The second call of every question in a fresh process, over the tenth: nothing has to be warmed up.

    python benchmarks/first_calls.py

For each number of limbs and of rays a process of its own asks each question ten times. A row of first_calls.csv holds
the processor times of the first and the second call, the median of the last five, which stands for the tenth, and the
ratio of second and tenth: medians over the processes. `numpy.histogram` is a call of Python and C to compare with.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from statistics import median

from cylcollide.bench.results import save, script_options

LIMBS, RAYS = (2, 17, 100, 500, 1700, 20_000), (1, 20, 200, 2000, 20_000)

WORKER = """
import json, sys, time
import numpy as np
import cylcollide as cc

n, m = map(int, sys.argv[1:])
rng, found = np.random.default_rng(0), {}
side = max(2.0, n ** (1 / 3))
p1, start, end = side * rng.random((n, 3)), side * rng.random((m, 3)), side * rng.random((m, 3))
p2 = p1 + rng.normal(size=(n, 3))
world = cc.HitWorld(cc.Limbs.cylinders(p1, p2, 0.1))
past, at = cc.PoseHistory(world, 2), rng.random(m)
past.record(0.0), past.record(1.0)
questions = {
    "closest": lambda: world.cast_segments(start, end).limb,
    "closest, fields": lambda: world.cast_segments(start, end).position,
    "any hit": lambda: world.occluded_segments(start, end),
    "points": lambda: world.contains_points(start).axis_distance_squared,
    "chords": lambda: world.chords_segments(start, end).limb,
    "past": lambda: past.cast_segments(start, end, at).limb,
    "past, points": lambda: past.contains_points(start, at).limb,
    "moved": lambda: world.set_endpoints(p1, p2),
    "numpy.histogram": lambda: np.histogram(start, 10),
}
try:
    from cylcollide._pybullet import pybullet
    from cylcollide.bullet import Mirror
except ImportError:
    pass
else:
    if n <= 100:
        client = pybullet.connect(pybullet.DIRECT)
        shape = pybullet.createCollisionShape(pybullet.GEOM_CAPSULE, 0.1, height=1.0)
        for place in p1.tolist():
            pybullet.createMultiBody(1.0, shape, basePosition=place)
        mirror, shots = Mirror(client), (start[:2000].tolist(), end[:2000].tolist())
        questions["Mirror"] = lambda: mirror.rayTestBatch(*shots)
for name, ask in questions.items():
    found[name] = []
    for _ in range(10):
        begun = time.process_time()
        ask()
        found[name].append(time.process_time() - begun)
print(json.dumps(found))
"""


def asked(limbs: int, rays: int) -> dict[str, list[float]]:
    """The seconds of ten calls of each question in a fresh process."""
    command = [sys.executable, "-c", WORKER, str(limbs), str(rays)]
    found: dict[str, list[float]] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return found


def measured(processes: int) -> Iterator[dict[str, object]]:
    """The rows: medians over so many processes."""
    for limbs, rays in product(LIMBS, RAYS):
        runs = [asked(limbs, rays) for _ in range(processes)]
        for question in runs[0]:
            times = [(run[question][0], run[question][1], median(run[question][5:])) for run in runs]
            calls = zip(("first_ms", "second_ms", "tenth_ms"), map(median, zip(*times, strict=True)), strict=True)
            row = {"limbs": limbs, "rays": rays, "question": question}
            row |= {name: f"{1e3 * taken:.3g}" for name, taken in calls}
            yield row | {"second/tenth": f"{median(two / ten for _, two, ten in times):.3g}"}


def main() -> None:
    parser = script_options(__doc__, "benchmarks/first_calls.csv")
    parser.add_argument("--processes", type=int, default=5, help="for each row; the median counts")
    options = parser.parse_args()
    save(options.out, measured(options.processes))


if __name__ == "__main__":
    main()
