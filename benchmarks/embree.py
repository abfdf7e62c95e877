"""Rays of this library beside the same rays in native Embree 3, in eight ways, level by level.

    apt-get install libembree-dev g++
    python benchmarks/embree.py --levels all --out benchmarks/embree.csv

Capped cylinders are user geometry or Embree's own cones; rays go one by one, in packets of 8 and 16, and in streams
of 1,024. Each level of this library runs in a process of its own, beside Embree restricted to that level (`isa`),
all works in turn on one thread, by processor time. Origins and unit directions are float32 numbers, so that neither
library rounds them. Embree gives distance and cylinder, this library limb and fraction.

A row of the CSV is one workload on one level: `single` is our rate over that of user geometry one by one, `best` over
that of Embree's fastest way, `best_way`; both are medians of ratios within a round. Then rates of Embree's other ways
over user geometry one by one. `differ`: rays with another verdict in Embree, most of which graze a limb: Embree
computes in float32.
"""

import ctypes
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from argparse import SUPPRESS, Namespace
from collections.abc import Callable
from pathlib import Path

import numpy as np

import cylcollide as cc
from cylcollide.bench.results import save, script_options
from cylcollide.bench.tables import machine
from cylcollide.bench.timing import interleaved
from cylcollide.bench.workloads import WORKLOADS, Workload
from cylcollide.runtime import levels

ISA = {"x86-64-v4": "avx512", "x86-64-v3": "avx2", "x86-64": "sse2"}
WIDTHS = {"1": 1, "8": 8, "16": 16, "streams": 0}
SINGLE, OURS = "user 1", "cylcollide"
FLAGS = ["-std=c++17", "-O3", "-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd", "-shared", "-fPIC", "-Wall"]


def harness(level: str, folder: str) -> ctypes.CDLL:
    """The library of `embree.cpp`, compiled for a level."""
    source, library = Path(__file__).with_suffix(".cpp"), Path(folder) / "embree.so"
    compiler = os.environ.get("CXX", "g++")
    subprocess.run([compiler, *FLAGS, f"-march={level}", source, "-o", library, "-lembree3"], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.make_scene.restype = ctypes.c_void_p
    return loaded


def address(array: np.ndarray) -> ctypes.c_void_p:
    """Pointer to the first number."""
    assert array.flags.c_contiguous
    return ctypes.c_void_p(array.ctypes.data)


def measure(workload: Workload, level: str, library: ctypes.CDLL, rays: int, rounds: int) -> dict[str, object]:
    """The row of a workload."""
    limbs = workload.limbs()
    world = cc.HitWorld(limbs)
    starts, ends = workload.segments(world, rays)
    way = ends - starts
    length = np.linalg.norm(way, axis=1)
    reach = float(np.float32(length.max()))
    single_starts, single_way = starts.astype(np.float32), (way / length[:, None]).astype(np.float32)
    origins, directions = single_starts.astype(np.float64), single_way.astype(np.float64)
    rows = np.column_stack([limbs.p1, limbs.radius, limbs.p2, limbs.radius]).astype(np.float32)
    distance, found = np.empty(rays, np.float32), np.empty(rays, np.int32)
    scenes, works = [], {}

    def casting(scene: ctypes.c_void_p, width: int) -> Callable[[], object]:
        of_rays = ctypes.c_long(rays), address(single_starts), address(single_way), ctypes.c_float(reach)
        return lambda: library.cast(scene, width, workload.camera, *of_rays, address(distance), address(found))

    for cones, kind in enumerate(("user", "cones")):
        scene = ctypes.c_void_p(library.make_scene(ISA[level].encode(), cones, ctypes.c_long(len(rows)), address(rows)))
        scenes.append(scene)
        works |= {f"{kind} {name}": casting(scene, width) for name, width in WIDTHS.items()}

    def ours() -> object:
        hits = world.cast_rays(origins, directions, max_distance=reach, threads=1)
        return hits.limb, hits.fraction

    for work in works.values():
        work()
    works[SINGLE]()
    hits = world.cast_rays(origins, directions, max_distance=reach, threads=1).hit
    times = interleaved({OURS: ours, **works}, rounds, time.process_time)
    for scene in scenes:
        library.free_scene(scene)
    best = min(works, key=lambda name: float(np.median(times[name])))
    row = {
        "workload": workload.name,
        "level": level,
        "isa": ISA[level],
        "limbs": len(limbs),
        "rays": rays,
        "hits": int(hits.sum()),
        "differ": int((hits != (found >= 0)).sum()),
        "single": float(np.median(times[SINGLE] / times[OURS])),
        "best": float(np.median(times[best] / times[OURS])),
        "best_way": best,
        "ns_a_ray": 1e9 * float(np.median(times[OURS])) / rays,
    }
    return row | {name: float(np.median(times[SINGLE] / times[name])) for name in works if name != SINGLE}


def measured_level(level: str, options: Namespace) -> list[dict[str, object]]:
    """The rows of a level, which a process of its own measures."""
    given = ["--worker", "--rays", str(options.rays), "--rounds", str(options.rounds), "--workloads", options.workloads]
    done = subprocess.run(
        [sys.executable, __file__, *given],
        env={**os.environ, "CYLCOLLIDE_LEVEL": level},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    rows: list[dict[str, object]] = json.loads(done.stdout)
    return rows


def main() -> None:
    parser = script_options(__doc__, "benchmarks/embree.csv")
    parser.add_argument("--levels", default=levels.CHOICE.level, help="names with commas, or all that this machine has")
    parser.add_argument("--workloads", default=",".join(WORKLOADS))
    parser.add_argument("--rays", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--worker", action="store_true", help=SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        level = levels.CHOICE.level
        with tempfile.TemporaryDirectory() as folder:
            library = harness(level, folder)
            rows = [
                measure(WORKLOADS[name], level, library, options.rays, options.rounds)
                for name in options.workloads.split(",")
            ]
        print(json.dumps(rows))
        return
    chosen = levels.usable() if options.levels == "all" else options.levels.split(",")
    rows = (row for level in chosen for row in measured_level(level, options))
    front = {"machine": machine(), "python": platform.python_version()}
    shown = ({k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()} for row in rows)
    save(options.out, (front | row for row in shown))


if __name__ == "__main__":
    main()
