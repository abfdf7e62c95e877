"""Points and the limbs near them, beside native Embree 3's point queries on the same cylinders (`embree.cpp`).

    apt-get install libembree-dev g++
    python benchmarks/nearest.py

One thread, 100,000 points about the 17,000 cylinders of workload W3, all works in turn; what counts is processor time.
Embree finds distance and cylinder in float32. `limb` finds the limb alone, `place` its distance and nearest place, too.
"""

import ctypes
import tempfile
import time
from collections.abc import Callable

import numpy as np
from embree import ISA, address, harness

import cylcollide as cc
from cylcollide.bench.timing import interleaved
from cylcollide.bench.workloads import WORKLOADS, points_near
from cylcollide.runtime import levels

POINTS, ROUNDS, RADIUS = 100_000, 9, 0.1


def printed(name: str, works: dict[str, Callable[[], object]]) -> None:
    """Measure works, and print nanoseconds a point and the first one's time over that of each."""
    for work in works.values():
        work()
    times = interleaved(works, ROUNDS, time.process_time)
    base = times[next(iter(works))]
    for work, taken in times.items():
        print(f"{name}: {work}: {1e9 * np.median(taken) / POINTS:.0f} ns, {np.median(base / taken):.2f}")


def main() -> None:
    limbs, level = WORKLOADS["W3"].limbs(), levels.CHOICE.level
    world, single = cc.HitWorld(limbs), points_near(limbs, POINTS).astype(np.float32)
    points = single.astype(np.float64)
    rows = np.column_stack([limbs.p1, limbs.radius, limbs.p2, limbs.radius]).astype(np.float32)
    distance, found = np.empty(POINTS, np.float32), np.empty(POINTS, np.int32)
    with tempfile.TemporaryDirectory() as folder:
        library = harness(level, folder)
    scene = ctypes.c_void_p(library.make_scene(ISA[level].encode(), 0, ctypes.c_long(len(rows)), address(rows)))
    for reach in (np.inf, 0.5):
        given = ctypes.c_long(POINTS), address(single), ctypes.c_float(reach), address(distance), address(found)

        def limb(reach: float = reach) -> object:
            return world.closest_points(points, max_distance=reach, threads=1).limb

        def place(reach: float = reach) -> object:
            return world.closest_points(points, max_distance=reach, threads=1).distance

        printed(
            f"within {reach} m",
            {"embree": lambda given=given: library.nearest(scene, *given), "limb": limb, "place": place},
        )
        print(f"within {reach} m: {np.count_nonzero(limb() != found)} points have another limb than in float32")
    library.free_scene(scene)
    inside, balls = world.contains_points, world.overlap_spheres
    printed(
        "balls",
        {
            "contains_points": lambda: inside(points, threads=1).limb,
            "spheres": lambda: balls(points, RADIUS, threads=1).limb,
        },
    )


if __name__ == "__main__":
    main()
