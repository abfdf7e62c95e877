"""Distance and overlap queries, each beside a reference: closest points beside native Embree 3's point queries.

    apt-get install libembree-dev g++
    python benchmarks/nearest.py > benchmarks/nearest.csv

One thread, all works of a question in turn; medians of processor time. `rate` is that of the work over that of the
question's first one. Points are half near limbs, half in the box around all of them. Embree finds distance
and cylinder in float32 (`embree.cpp`); `limb` is the limb alone, `place` its distance and nearest place, too.
Open3D (triangles, 32 around a cylinder, no sign) and Coal (its tree of boxes, a call a point) take turns with `place`
at the first points, if they are installed.
"""

import ctypes
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module

import numpy as np
from embree import ISA, address, harness

import cylcollide as cc
from cylcollide.bench.timing import interleaved
from cylcollide.bench.workloads import LIMBS, WORKLOADS, cast_limbs, crowd_of, points_near
from cylcollide.engines._adapter import PROBE, poses
from cylcollide.limbs.meshes import tessellate
from cylcollide.runtime import levels

POINTS, ROUNDS, BALL, THICK, STROKES, FEW = 100_000, 9, 0.1, 0.05, 200, 2_000


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


def peers() -> None:
    """Measure closest points, beside Open3D and Coal."""
    limbs = WORKLOADS["W3"].limbs()
    world, points = cc.HitWorld(limbs), points_near(limbs, POINTS)[:FEW]
    works = {"place": lambda: world.closest_points(points, threads=1).distance}
    with suppress(ImportError):
        o3d = import_module("open3d")
        scene, (vertices, triangles, _) = o3d.t.geometry.RaycastingScene(), tessellate(limbs._table, 32)
        scene.add_triangles(o3d.core.Tensor(vertices), o3d.core.Tensor(triangles.astype(np.uint32)))
        single = o3d.core.Tensor(points.astype(np.float32))
        works["open3d"] = lambda: scene.compute_distance(single, nthreads=1)
    with suppress(ImportError):
        coal = import_module("coal")
        tree, ball, solids = coal.DynamicAABBTreeCollisionManager(), coal.CollisionObject(coal.Sphere(PROBE)), []
        own = poses(limbs)
        columns = (own.center, own.turn, own.half_length, own.radius)
        for center, (x, y, z, w), half, radius in zip(*(column.tolist() for column in columns), strict=True):
            frame = coal.Transform3s(coal.Quaternion(w, x, y, z), np.array(center))
            solids.append(coal.CollisionObject(coal.Cylinder(radius, 2.0 * half), frame))
            tree.registerObject(solids[-1])
        tree.setup()

        def nearest() -> None:
            for k, point in enumerate(points):
                ball.setTranslation(point)
                ball.computeAABB()
                found = coal.DistanceCallBackDefault()
                tree.distance(ball, found)
                distance[k] = found.data.result.min_distance + PROBE

        distance = np.empty(FEW)
        works["coal"] = nearest
    measure(f"closest of {FEW} points", FEW, works)
    if "coal" in works:
        off = np.abs(distance - world.closest_points(points).distance)
        print(f"Coal is off by more than 0.1 mm at {np.count_nonzero(off > 1e-4)} points", file=sys.stderr)


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
    peers()
    thick_rays()
    strokes()
