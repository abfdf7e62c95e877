"""A frame of Panda3D actors: their joints read and posed in a world by `Actors.update`, beside what Panda3D takes.

    pip install '.[panda3d]'
    python benchmarks/actors.py

102 pandas of 42 joints are as many joints as 64 characters of 67. A row of actors.csv holds medians of frames in turn,
milliseconds of the clock: Panda3D's animation; its calls that read all joints, each into one matrix; `Actors.update`.
"""

import csv
import platform
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import perf_counter

from direct.actor.Actor import Actor
from direct.showbase.ShowBase import ShowBase
from panda3d.core import ClockObject, LMatrix4f, loadPrcFileData

import cylcollide as cc
from cylcollide.panda3d import Actors, rig_of

ACTORS, FRAMES = 102, 200
TASKS = ("animation_ms", "joints_read_ms", "update_ms")


def main() -> None:
    loadPrcFileData("", "window-type none\naudio-library-name null\nnotify-level error")
    base, clock, world = ShowBase(windowType="none"), ClockObject.getGlobalClock(), cc.HitWorld()
    clock.setMode(ClockObject.MNonRealTime)
    clock.setDt(1 / 60)
    actors, crowd, rig = Actors(world), [], None
    for k in range(ACTORS):
        actor = Actor("models/panda-model", {"walk": "models/panda-walk4"})
        actor.setScale(0.005)
        actor.setPos(3 * (k % 10), 3 * (k // 10), 0)
        actor.reparentTo(base.render)
        actor.loop("walk")
        rig = rig or rig_of(actor, coverage=0.9)
        actors.add(actor, rig)
        crowd.append(actor)
    joints, matrix = [joint for actor in crowd for joint in actor.getJoints()], LMatrix4f()

    def read() -> None:
        for joint in joints:
            joint.getNetTransform(matrix)

    def animate() -> None:
        for actor in crowd:
            actor.update()

    times: dict[str, list[float]] = {task: [] for task in TASKS}
    for _ in range(FRAMES):
        clock.tick()
        for task, function in zip(TASKS, (animate, read, actors.update), strict=True):
            begun = perf_counter()
            function()
            times[task].append(1e3 * (perf_counter() - begun))
    found = {task: f"{median(taken):.3g}" for task, taken in times.items()}
    stamp = f"{datetime.now(UTC):%Y-%m-%d %H:%M}"
    row = {"date": stamp, "machine": platform.machine(), "actors": ACTORS, "joints": len(joints), **found}
    with Path(__file__).with_suffix(".csv").open("w", newline="") as file:
        table = csv.DictWriter(file, list(row), lineterminator="\n")
        table.writeheader()
        table.writerow(row)
    print(row)


if __name__ == "__main__":
    main()
