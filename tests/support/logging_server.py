"""A server that logs its shots until it is killed, or kills itself in the middle of a transaction.

Arguments: the path of the log, the path of the file of expected results, a seed, and the number of the transaction in
which the server kills itself, or -1.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import cylcollide as cc

PEOPLE = 3
POLICY = cc.Policy.most_important(order=["head", "torso"], damage={"head": 4.0})


class Match:
    """Characters with a new pose in each tick, and shots at them."""

    def __init__(self, seed: int) -> None:
        self.rng, self.rig, self.world = np.random.default_rng(seed), cc.Rig.humanoid(), cc.HitWorld()
        self.ids = self.world.spawn(self.rig, PEOPLE)
        self.history = cc.PoseHistory(self.world, 4)

    def tick(self, number: int) -> None:
        """Pose all characters and record the tick."""
        root, turn = self.rng.uniform(-2, 2, (PEOPLE, 3)), self.rng.normal(size=(PEOPLE, 4))
        self.world.set_poses(self.ids, *self.rig.forward(root, turn, self.rig.rest_orientations))
        self.history.record(number / 60)

    def shoot(self, shots: int = 2) -> list[int]:
        """Judge shots within the last two ticks; return the limbs that count."""
        times = self.history.times
        start = self.rng.uniform(-4, 4, (shots, 3))
        aim = self.world.limbs.p1[self.rng.integers(len(self.world), size=shots)]
        time = self.rng.uniform(times[max(len(times) - 2, 0)], times[-1], shots)
        return self.history.judge_segments(start, start + 2 * (aim - start), POLICY, time=time).limb.tolist()


def logged(path: Path, ticks: int, shots: int = 4, after: Callable[[Match], object] = lambda _: None) -> Match:
    """A match of `ticks` ticks with shots by ann in each, whose log is closed; `after` is called after each tick."""
    match = Match(5)
    with cc.ShotLog(path, match.world, match.history) as log:
        for number in range(ticks):
            match.tick(number)
            log.note({"player": "ann"})
            match.shoot(shots)
            after(match)
    return match


class Fatal:
    """A connection that kills the process before it commits the given transaction."""

    def __init__(self, file, transaction: int) -> None:
        self.file, self.left = file, transaction

    def execute(self, command: str, *arguments):
        if command == "COMMIT":
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            self.left -= 1
        return self.file.execute(command, *arguments)

    def __getattr__(self, name: str):
        return getattr(self.file, name)


def serve(path: Path, expected: Path, seed: int, fatal: int) -> None:
    """Run a logged match; each line of `expected` has the last acknowledged tick and the limbs of a tick's shots."""
    match = Match(seed)
    log = cc.ShotLog(path, match.world, match.history, when_full="wait")
    if fatal >= 0:
        log._writer._file = Fatal(log._writer._file, fatal)
    with expected.open("a", buffering=1) as said:
        for number in range(100_000):
            match.tick(number)
            limbs = match.shoot()
            said.write(json.dumps([log.acknowledged, limbs]) + "\n")


if __name__ == "__main__":
    serve(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
