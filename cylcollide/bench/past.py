"""Recorded walking characters, and the same queries made in the past and in the present."""

from functools import partial
from itertools import count

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.bench.runner import BASE
from cylcollide.bench.timing import Work
from cylcollide.bench.workloads import (
    FRAME,
    SEED,
    SPEED,
    STEPS,
    WORKLOADS,
    Segments,
    Workload,
    cast_limbs,
    crowd_of,
    points_near,
)
from cylcollide.characters import quaternions
from cylcollide.characters.rig import Rig
from cylcollide.history import PoseHistory
from cylcollide.world import HitWorld

TICKS = 64
SHOTS, POINTS, PLAYERS = 200, 2000, 64
PAST = f"{BASE}, {TICKS} ticks"

SWING = {"upper_arm": 0.5, "forearm": 0.25, "thigh": -0.5, "shank": -0.3}
"""Amplitudes of these bones' swing about their rest, in radians; left and right bones swing in opposite phase."""

STROLL = 5.0
"""Metres that each character walks away before it returns, so that all stay on their field in any recording."""


class RecordedCrowd:
    """Characters of 17 limbs that stroll over a workload's field, and their history."""

    def __init__(self, workload: Workload, ticks: int) -> None:
        rng = np.random.default_rng(SEED)
        count = workload.characters
        self._rig, self._root = Rig.humanoid(), rng.uniform(0.0, workload.field, (count, 2))
        self._yaw, self._phase = rng.uniform(0.0, 2 * np.pi, (2, count))
        names = self._rig.bone_names
        swing = [SWING.get(name.split("_", 1)[-1], 0.0) for name in names]
        self._swing = np.where([name.startswith("right") for name in names], -1.0, 1.0) * swing
        self._frame = 0
        self.world = HitWorld()
        self.ids = self.world.spawn(self._rig, count)
        self.history = PoseHistory(self.world, ticks)
        for _ in range(ticks):
            self.move()
            self.record()
        self.world.finish_rebuild()

    def poses(self) -> tuple[Float64Array, Float64Array]:
        """Bones of all characters in the next frame: positions (k, 17, 3), orientations (k, 17, 4)."""
        self._frame += 1
        time = self._frame * FRAME
        way = STROLL * np.sin(SPEED / STROLL * time)
        heading = np.column_stack([np.cos(self._yaw), np.sin(self._yaw)])
        place = np.column_stack([self._root + way * heading, np.zeros(len(heading))])
        swung = self._swing * np.sin(2 * np.pi * STEPS * time + self._phase)[:, None]
        joints = quaternions.about_axis(1, swung)
        return self._rig.forward(place, quaternions.about_axis(2, self._yaw), joints)

    def move(self) -> None:
        """Move all characters to the next frame."""
        self.world.set_poses(self.ids, *self.poses())

    def record(self) -> None:
        """Record the present frame."""
        self.history.record(self._frame * FRAME)

    def times(self, n: int) -> Float64Array:
        """Draw n times between the first and the last tick."""
        times = self.history.times
        return np.random.default_rng(n).uniform(times[0], times[-1], n)

    def cast_past(self, segments: Segments) -> Work:
        """Work that casts each segment at its own time, for the closest limb."""
        times = self.times(len(segments.starts))
        return lambda: self.history.cast_segments(*segments, times, threads=1).limb

    def cast_present(self, segments: Segments) -> Work:
        """Work that casts the same segments in the present world."""
        return partial(cast_limbs, self.world, segments)


def past_works(rays: int) -> dict[str, dict[str, Work]]:
    """Works in the past and in the present, by the name of the task."""
    crowd, workload = RecordedCrowd(WORKLOADS["W3"], TICKS), WORKLOADS["W3"]
    segments = workload.segments(crowd.world, rays)
    arena_of = crowd_of(17 * PLAYERS)
    arena = RecordedCrowd(arena_of, TICKS)
    shots = arena_of.segments(arena.world, SHOTS)
    points, when = points_near(arena.world.limbs, POINTS), arena.times(POINTS)
    poses, times = crowd.poses(), count(float(crowd.history.times[-1]) + FRAME, FRAME)
    return {
        f"past: {rays:,} rays, {len(crowd.world):,} limbs": {
            BASE: crowd.cast_present(segments),
            PAST: crowd.cast_past(segments),
        },
        f"past: {SHOTS} shots, {PLAYERS} characters": {BASE: arena.cast_present(shots), PAST: arena.cast_past(shots)},
        f"past: {POINTS:,} points, {PLAYERS} characters": {
            BASE: lambda: arena.world.contains_points(points, threads=1),
            PAST: lambda: arena.history.contains_points(points, when, threads=1),
        },
        f"record, {len(crowd.world):,} limbs": {
            BASE: lambda: crowd.world.set_poses(crowd.ids, *poses),
            PAST: lambda: crowd.history.record(next(times)),
        },
    }
