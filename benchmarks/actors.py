"""A frame of Panda3D actors: time of `Actors.update`, which reads joints and poses limbs, beside Panda3D's own.

    pip install '.[panda3d]'
    python benchmarks/actors.py

102 pandas of 42 joints are as many joints as 64 characters of 67. A row of actors.csv holds medians of frames in turn,
milliseconds of the clock: Panda3D's animation; its calls that read all joints, each into one matrix; `Actors.update`.
"""

import numpy as np
from direct.actor.Actor import Actor
from direct.showbase.ShowBase import ShowBase
from panda3d.core import ClockObject, LMatrix4f, loadPrcFileData

import cylcollide as cc
from cylcollide.bench.results import save, script_options
from cylcollide.bench.timing import interleaved
from cylcollide.panda3d import Actors, rig_of

ACTORS, FRAMES = 102, 200


def main() -> None:
    options = script_options(__doc__, "benchmarks/actors.csv").parse_args()
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

    works = {"clock": clock.tick, "animation_ms": animate, "joints_read_ms": read, "update_ms": actors.update}
    times = interleaved(works, FRAMES)
    found = {task: f"{1e3 * np.median(times[task]):.3g}" for task in works if task != "clock"}
    save(options.out, [{"actors": ACTORS, "joints": len(joints), **found}])


if __name__ == "__main__":
    main()
