"""Two installed versions of the library, timed in turn, task by task.

    python benchmarks/versions.py BEFORE_PYTHON AFTER_PYTHON --rounds 41

Each argument is the Python of an environment with one version installed. Four processes run: before, after, and each of
them once more. In every round each of them does each task once, in an order that rotates from round to round, all on
one processor, by processor time. A row of the CSV holds the median over the rounds of after / before, and of the two
equal pairs, which show the noise of a ratio of 1 on this machine at this hour.
"""

import argparse
import csv
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

WORKER = """
import os, sys, time
import numpy as np
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {int(sys.argv[1])})
import cylcollide as cc
from cylcollide.bench.workloads import WORKLOADS, points_near

RAYS = 100_000
tasks = {}

def repeated(times, call):
    def task():
        for _ in range(times):
            call()
    return task

for name, workload in WORKLOADS.items():
    world = cc.HitWorld(workload.limbs())
    starts, ends = workload.segments(world, RAYS)
    tasks[f"{name} closest"] = lambda w=world, s=starts, e=ends: w.cast_segments(s, e, threads=1)
    if name == "W3":
        crowd, frames = world, [workload.limbs(k) for k in range(2)]
        count = [0]

        def move():
            limbs = frames[count[0] % 2]
            count[0] += 1
            crowd.set_endpoints(limbs.p1, limbs.p2)

        points = points_near(world.limbs, RAYS)
        tasks["W3 any"] = lambda w=world, s=starts, e=ends: w.occluded_segments(s, e, threads=1)
        tasks["W3 chords"] = lambda w=world, s=starts[:20_000], e=ends[:20_000]: w.chords_segments(s, e, threads=1)
        tasks["W3 points"] = lambda w=world: w.contains_points(points, threads=1)
        tasks["W3 fields"] = lambda w=world, s=starts[:20_000], e=ends[:20_000]: (
            (hits := w.cast_segments(s, e, threads=1)).position, hits.normal)
        tasks["W3 build"] = lambda limbs=frames[0]: cc.HitWorld(limbs)
        tasks["W3 refit"] = move
        limbs, axis = world.limbs, world.limbs.p2 - world.limbs.p1
        height = np.linalg.norm(axis, axis=1)
        x, y, z = axis.T / height
        from_z = np.column_stack([-y, x, 0.0 * z, 1.0 + 1e-9 + z])
        kinds = {"capsules": cc.Limbs.capsules(limbs.p1, limbs.p2, limbs.radius), "boxes": cc.Limbs.boxes(
            0.5 * (limbs.p1 + limbs.p2), from_z, np.column_stack([limbs.radius, limbs.radius, 0.5 * height]))}
        kinds["mixed"] = cc.Limbs.concat([limbs[::3], kinds["capsules"][1::3], kinds["boxes"][2::3]])
        for kind, solids in kinds.items():
            other = cc.HitWorld(solids)
            tasks[f"W3 {kind}"] = lambda w=other, s=starts, e=ends: w.cast_segments(s, e, threads=1)
            tasks[f"W3 {kind}, points"] = lambda w=other: w.contains_points(points, threads=1)
    if name == "W2":
        one, start, end = world, starts[:1].copy(), ends[:1].copy()

        def fields():
            hits = one.cast_segments(start, end)
            hits.position, hits.exit_fraction

        tasks["one call"] = repeated(2000, lambda: one.cast_segments(start, end).limb)
        tasks["one call, fields"] = repeated(300, fields)
        tasks["one call, chords"] = repeated(500, lambda: one.chords_segments(start, end))
        tasks["one call, any hit"] = repeated(2000, lambda: one.occluded_segments(start, end))
        tasks["one point"] = repeated(2000, lambda: one.contains_points(start).limb)
from cylcollide.bench.past import RecordedCrowd

walkers = RecordedCrowd(WORKLOADS["W3"], 64)
starts, ends = WORKLOADS["W3"].segments(walkers.world, RAYS)
eye, (low, high) = np.array([-5.0, -5.0, 6.0]), (starts.min(0), ends.max(0))
grid = np.stack(np.meshgrid(np.linspace(low[0], high[0], 400), np.linspace(low[1], high[1], 250)), -1).reshape(-1, 2)
targets = np.column_stack([grid, np.full(len(grid), 0.5)])
first, last = walkers.history.times[[-2, -1]].tolist()
times, poses = np.random.default_rng(3).uniform(*walkers.history.times[[0, -1]], RAYS), walkers.poses()
tasks["coherent"] = lambda: walkers.world.cast_segments(eye, targets, threads=1)
tasks["past, 64 ticks"] = lambda: walkers.history.cast_segments(starts, ends, times, threads=1)
limbs = walkers.world.limbs
near = (0.5 * (limbs.p1 + limbs.p2))[np.arange(RAYS) % len(limbs)] + np.random.default_rng(5).normal(0, 0.1, (RAYS, 3))
tasks["past, points"] = lambda: walkers.history.contains_points(near, times, threads=1)
tasks["balls"] = lambda: walkers.world.overlap_spheres(near, 0.1, threads=1)
tasks["nearest"] = lambda: walkers.world.closest_points(near[:20_000], threads=1).distance
tasks["moving"] = lambda: walkers.history.cast_moving(
    starts[:20_000], ends[:20_000], first, np.nextafter(last, 0.0), threads=1).hit
part = starts[:20_000], ends[:20_000]
damage = {"head": 4.0, "torso": 1.0, "default": 0.5}
policies = {"first surface": cc.Policy.first_surface(damage), "longest chord": cc.Policy.longest_chord(damage),
            "most important": cc.Policy.most_important(["head", "torso"], damage),
            "penetration": cc.Policy.penetration({"head": 3000.0, "torso": 2000.0, "default": 1000.0}, damage)}
tasks["chords of shots"] = lambda: walkers.world.chords_segments(*part, threads=1)
for name, policy in policies.items():
    tasks[f"judged, {name}"] = lambda p=policy: walkers.world.judge_segments(
        *part, p, energy=1000.0, threads=1).damage
tasks["set_poses"] = lambda: walkers.world.set_poses(walkers.ids, *poses)
mover, pose = walkers.ids[:1], (poses[0][:1], poses[1][:1])
tasks["set_poses, one"] = repeated(50, lambda: walkers.world.set_poses(mover, *pose))
try:
    from cylcollide._pybullet import pybullet
    from cylcollide.bullet import Mirror
except ImportError:
    pass
else:
    client = pybullet.connect(pybullet.DIRECT)
    for k in range(16):
        body = pybullet.createMultiBody(1.0, pybullet.createCollisionShape(pybullet.GEOM_CAPSULE, 0.2, height=1.0),
                                        basePosition=[k % 4, k // 4, 1.0])
    mirror = Mirror(client)
    begins = np.random.default_rng(4).uniform([-1, -1, 0], [5, 5, 3], (2000, 3))
    finishes = begins[::-1].copy()
    listed = begins[:20].tolist(), finishes[:20].tolist()

    def sync():
        pybullet.resetBasePositionAndOrientation(0, [0, 0, 1], [0, 0, 0, 1], client)
        mirror.sync()

    tasks["mirror"], tasks["sync"] = repeated(20, lambda: mirror.rayTestBatch(*listed)), repeated(20, sync)
for task in tasks.values():
    task(), task()
print(cc.__file__, *tasks, sep="|", flush=True)
for line in sys.stdin:
    task = tasks[line.strip()]
    begun = time.process_time()
    task()
    print(time.process_time() - begun, flush=True)
"""


COLUMNS = ("date", "label", "machine", "task", "after/before", "before2/before1", "after2/after1", "after_s")


class Worker:
    """A process with one version, which does a task when its name is written."""

    def __init__(self, python: str, processor: int) -> None:
        self.process = subprocess.Popen(
            [python, "-c", WORKER, str(processor)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/"
        )
        _, *self.tasks = self._read().split("|")

    def _read(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.process.args[0]}: the worker has ended")
        return line.strip()

    def seconds(self, task: str) -> float:
        """Do the task once."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{task}\n")
        self.process.stdin.flush()
        return float(self._read())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--only", nargs="+", default=[], help="tasks, as the CSV names them; all if none is given")
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--label", default="")
    options = parser.parse_args()
    processor = max(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
    pythons = {"before": options.before, "after": options.after}
    workers = {f"{name}{copy}": Worker(python, processor) for copy in (1, 2) for name, python in pythons.items()}
    names, rows = list(workers), []
    shared = [task for task in workers["after1"].tasks if task in workers["before1"].tasks]  # the older may lack some
    for task in options.only or shared:
        times: dict[str, list[float]] = {name: [] for name in names}
        for k in range(options.rounds):
            for name in names[k % 4 :] + names[: k % 4]:
                times[name].append(workers[name].seconds(task))

        def ratio(one: str, two: str, times: dict[str, list[float]] = times) -> float:
            return median(a / b for a, b in zip(times[one], times[two], strict=True))

        both = median(
            (a + b) / (c + d)
            for a, b, c, d in zip(times["after1"], times["after2"], times["before1"], times["before2"], strict=True)
        )
        row = [task, both, ratio("before2", "before1"), ratio("after2", "after1"), median(times["after1"])]
        rows.append(row)
        print(f"{task:18} after/before {row[1]:.3f}  equal pairs {row[2]:.3f} {row[3]:.3f}  {row[4]:.3g} s", flush=True)
    if options.out:
        new = not options.out.exists()
        with options.out.open("a", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if new:
                writer.writerow(COLUMNS)
            stamp = f"{datetime.now(UTC):%Y-%m-%d %H:%M}"
            for task, *numbers in rows:
                shown = [f"{number:.4g}" for number in numbers]
                writer.writerow([stamp, options.label, platform.machine(), task, *shown])


if __name__ == "__main__":
    main()
