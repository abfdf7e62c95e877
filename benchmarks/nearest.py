"""Questions about what is near, beside what they are measured by: distances beside native Embree 3's point queries.

    apt-get install libembree-dev g++
    python benchmarks/nearest.py > benchmarks/nearest.csv

One thread, all works of a question in turn; what counts is processor time, medians. `rate` is that of the work over
that of the question's first one. Points are half near limbs, half in the box around all of them. Embree finds distance
and cylinder in float32 (`embree.cpp`); `limb` is the limb alone, `place` its distance and nearest place, too.
"""

import ctypes
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np
from embree import ISA, address, harness

import cylcollide as cc
from cylcollide.bench.timing import interleaved
from cylcollide.bench.workloads import LIMBS, WORKLOADS, cast_limbs, crowd_of, points_near
from cylcollide.runtime import levels

POINTS, ROUNDS, BALL, THICK, STROKES = 100_000, 9, 0.1, 0.05, 200


def measure(question: str, count: int, works: dict[str, Callable[[], object]]) -> None:
    """Measure works, and print a row for each."""
    for work in works.values():
        work()
    times = interleaved(works, ROUNDS, time.process_time)
    base = times[next(iter(works))]
    for work, taken in times.items():
        print(f"{question},{work},{1e9 * np.median(taken) / count:.0f},{np.median(base / taken):.2f}", flush=True)


def distances() -> None:
    """Measure closest points within a reach, beside Embree, and balls, beside points in limbs."""
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

        def closest(reach: float = reach) -> cc.ClosestPoints:
            return world.closest_points(points, max_distance=reach, threads=1)

        works = {
            "embree": lambda given=given: library.nearest(scene, *given),
            "limb": lambda closest=closest: closest().limb,
            "place": lambda closest=closest: closest().distance,
        }
        measure(f"closest point within {reach} m", POINTS, works)
        others = np.count_nonzero(closest().limb != found)
        print(f"within {reach} m: {others} points have another limb than in float32", file=sys.stderr)
    library.free_scene(scene)
    inside, balls = world.contains_points, world.overlap_spheres
    works = {
        "contains_points": lambda: inside(points, threads=1).limb,
        "overlap_spheres": lambda: balls(points, BALL, threads=1).limb,
    }
    measure(f"balls of {BALL} m", POINTS, works)


def thick_rays() -> None:
    """Measure thick rays, beside the same rays as lines."""
    for name in ("W2", "W3", "C3"):
        world = cc.HitWorld(WORKLOADS[name].limbs())
        segments = WORKLOADS[name].segments(world, POINTS)

        def thick(world: cc.HitWorld = world, segments: tuple[np.ndarray, np.ndarray] = segments) -> object:
            return world.cast_segments(*segments, radius=THICK, threads=1).limb

        lines = {"rays": lambda world=world, segments=segments: cast_limbs(world, segments), "thick rays": thick}
        measure(f"{name}, rays of {THICK} m", POINTS, lines)


def strokes() -> None:
    """Measure strokes of blades of 1 m that go 1 m, among 64 characters."""
    limbs, rng = crowd_of(64 * LIMBS).limbs(), np.random.default_rng(1)
    world, hilt = cc.HitWorld(limbs), points_near(limbs, STROKES)
    blade, way = rng.normal(size=(2, STROKES, 3))
    blade, way = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (blade, way))
    swept = hilt, hilt + blade, hilt + way, hilt + blade + way
    works = {"sweep_capsules": lambda: world.sweep_capsules(*swept, 0.01, threads=1).limb}
    measure("strokes among 64 characters", STROKES, works)


if __name__ == "__main__":
    print("question,work,ns,rate")
    distances()
    thick_rays()
    strokes()
