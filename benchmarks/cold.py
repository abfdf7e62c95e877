"""The first minute: programs in fresh processes with empty and with warm caches, beside ``import numpy, numba``.

    python benchmarks/cold.py PYTHON [PYTHON ...] --rounds 3 --out FILE

Each PYTHON is that of an environment with one version installed. In every round every program runs once with each of
them. A row holds medians of wall clock, of the processor time of the process and of all that it started, and of its
largest memory; "import" is the wall clock of `import numpy, numba` in the same round, by which a busy machine can be
told from a slow library.
"""

import argparse
import csv
import os
import platform
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

EXAMPLE = """
import cylcollide as cc

limbs = cc.Limbs.cylinders(
    p1=[[0, 0, 0.9], [0, 0, 0.45]], p2=[[0, 0, 0.45], [0, 0.1, 0.05]], radius=[0.08, 0.055], character=3,
)
world = cc.HitWorld(limbs)
hits = world.cast_segments(
    starts=[[-5, 0, 0.7], [-5, 0.05, 0.2], [-5, 0.3, 0.7]], ends=[[5, 0, 0.7], [5, 0.05, 0.2], [5, 0.3, 0.7]]
)
hits.position, hits.normal, hits.thickness
world.set_endpoints(limbs.p1 + [1, 0, 0], limbs.p2 + [1, 0, 0])
assert world.occluded_segments([[-5, 0, 0.7]], [[5, 0, 0.7]])[0]
assert world.chords_rays([[1, 0, 2.0]], [[0, 0.02, -1.0]]).limb.tolist() == [0, 1]
assert world.contains_points([[1, 0, 0.7]]).limb[0] == 0
"""

MANY = """
import numpy as np
import cylcollide as cc

rng = np.random.default_rng(0)
p1 = rng.uniform(0, 10, (500, 3))
world = cc.HitWorld(cc.Limbs.cylinders(p1, p1 + rng.normal(0, 0.5, (500, 3)), 0.1))
hits = world.cast_segments(*rng.uniform(0, 10, (2, 20_000, 3)))
assert hits.hit.sum() > 1000 and np.isfinite(hits.position[hits.hit]).all() and len(hits.normal) == 20_000
"""

SEVENTEEN = """
import numpy as np
import cylcollide as cc

p1 = np.random.default_rng(0).uniform(0, 2, (17, 3))
world = cc.HitWorld(cc.Limbs.cylinders(p1, p1 + 0.4, 0.1))
for k in range(10):
    world.cast_segments([-1.0, 0.1 * k, 1.0], [3.0, 0.1 * k, 1.0]).limb
"""

EVERYTHING = """
import numpy as np
import cylcollide as cc

def queries():
    rng = np.random.default_rng(1)
    for count in (1, 40):
        p1 = rng.normal(size=(count, 3))
        limbs = cc.Limbs.cylinders(p1, p1 + [0, 0, 1], 0.3)
        world = cc.HitWorld(limbs)
        for n in (1, 300):
            starts, ends = rng.normal(size=(2, n, 3))
            starts[0], ends[0] = p1[0] + [0.3, -1, 0.5], p1[0] + [0.3, 1, 0.5]
            hits = world.cast_segments(starts, ends)
            hits.position, hits.exit_position
            world.chords_segments(starts, ends)
            world.contains_points(0.5 * (starts + ends)).axis_distance_squared
        world.set_endpoints(limbs.p1, limbs.p2)
        limbs[:1].cast_segments(starts[0], ends[0]), limbs[:1].classify_points(starts[0])
    limbs[:1].explain_segment(starts[0], ends[0])

getattr(cc, "warm_up", queries)()
"""
WARM = "import cylcollide as cc\ngetattr(cc, 'warm_up', lambda: None)()\n"
"""Before a program that is measured warm; a version without it is warm after a first run."""

PROGRAMS = {  # what runs, and whether machine code is there
    "README's example": (EXAMPLE, False),
    "500 limbs, 20,000 rays, places, normals": (MANY, False),
    "everything compiled": (EVERYTHING, False),
    "warm: import, 17 limbs, 10 rays": (SEVENTEEN, True),
}
REFERENCE = "import numpy, numba"
COLUMNS = ("date", "machine", "version", "program", "rounds", "wall_s", "processor_s", "memory_mb", "import_s")

MEASURE = """
import os, resource, subprocess, sys, time
begun = time.perf_counter()
subprocess.run([sys.executable, "-c", sys.argv[1]], check=True, stdout=subprocess.DEVNULL)
wall, used = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
print(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


def measured(python: str, program: str, cache: str) -> tuple[float, float, float]:
    """Wall clock and processor time in seconds, and the largest process in MB, of a program in a fresh process."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    arguments = [python, "-c", MEASURE, program]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=True, cwd="/")
    wall, processor, memory = map(float, done.stdout.split())
    return wall, processor, memory


def version_of(python: str) -> str:
    script = "import cylcollide; print(cylcollide.__version__, cylcollide.__path__[0])"
    return subprocess.run([python, "-c", script], capture_output=True, text=True, check=True, cwd="/").stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pythons", nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="programs whose name holds this")
    parser.add_argument("--label", action="append", default=[], help="name of a version, one a PYTHON")
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    labels = dict(zip(options.pythons, options.label, strict=False))
    rows = []
    for name, (program, warm) in PROGRAMS.items():
        if options.only not in name:
            continue
        times: dict[str, list[tuple[float, float, float]]] = {python: [] for python in options.pythons}
        imports = []
        for _ in range(options.rounds):
            begun = time.perf_counter()
            subprocess.run([options.pythons[0], "-c", REFERENCE], check=True, cwd="/")
            imports.append(time.perf_counter() - begun)
            for python in options.pythons:
                with tempfile.TemporaryDirectory() as cache:
                    if warm:
                        measured(
                            python,
                            program.replace("import cylcollide as cc", "import cylcollide as cc\n" + WARM),
                            cache,
                        )
                    times[python].append(measured(python, program, cache))
        for python, found in times.items():
            wall, processor, memory = (median(column) for column in zip(*found, strict=True))
            label = labels.get(python) or version_of(python)
            print(f"{name:42} {label:10} wall {wall:6.2f} s  processor {processor:6.1f} s  {memory:5.0f} MB  "
                  f"import {median(imports):.2f} s", flush=True)  # fmt: skip
            numbers = [f"{number:.3g}" for number in (wall, processor, memory, median(imports))]
            rows.append([label, name, options.rounds, *numbers])
    if options.out:
        new = not options.out.exists()
        with options.out.open("a", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if new:
                writer.writerow(COLUMNS)
            stamp = f"{datetime.now(UTC):%Y-%m-%d %H:%M}"
            writer.writerows([stamp, platform.machine(), *row] for row in rows)


if __name__ == "__main__":
    sys.exit(main())
