"""Where the time of a `sync` goes after a step, stage by stage, beside the calls of PyBullet that each stage makes.

    python benchmarks/bullet/sync_profile.py --out benchmarks/bullet_sync.csv

Sixteen humanoids on a plane. In each round the client makes a step, then all stages run once, in order; then a step,
then their calls alone, results dropped. Medians of processor time; a stage without calls has 0 of them.
"""

import argparse
import csv
import platform
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import numpy as np
import pybullet as p
from scenes import SCENES, connect

from cylcollide.bullet import Mirror
from cylcollide.bullet.client import BASE
from cylcollide.bullet.merge_hits import largest_coordinate
from cylcollide.bullet.poses import link_frames, pose

COLUMNS = ("date", "machine", "stage", "median_us", "calls", "calls_us")


class Stages:
    """What `SceneReader.read` does, in stages, each with the calls that it makes."""

    def __init__(self, c: int) -> None:
        self.c, self.mirror = c, Mirror(c, mesh="wrap", follow=False)
        self.scene, self.client, self.reader = self.mirror._scene, self.mirror._client, self.mirror._follower._reader
        self.bodies, self.links = self.scene.reading.bodies, self.scene.fixed.links

    def stages(self) -> dict[str, Callable[[], object]]:
        """The stages in order."""
        return {
            "bodies are counted, known, and of the same base": self._read_bodies,
            "poses are read": self._read_poses,
            "shapes are placed": self._place,
            "limbs, their boxes and tree, a snapshot": self._make_world,
            "the rest": self._make_state,
        }

    def calls(self) -> dict[str, list[Callable[[], object]]]:
        """The calls of the stages that make any."""
        c, api = self.c, p
        of_bodies: list[Callable[[], object]] = [lambda: api.getNumBodies(c)]
        for n, body in self.bodies.items():
            of_bodies += [lambda i=body.item: api.getUserData(i, c), lambda n=n: api.getDynamicsInfo(n, BASE, c)]
            of_bodies += [lambda n=n, link=link: api.getCollisionShapeData(n, link, c) for link in body.variable]
        poses: list[Callable[[], object]] = []
        for n, links in self.links.items():
            others = [link for link in links if link != BASE]
            poses += [lambda n=n: api.getBasePositionAndOrientation(n, c)] * (links[0] == BASE)
            poses += [lambda n=n, others=others: api.getLinkStates(n, others, 0, 1, c)] * bool(others)
        return dict(zip(self.stages(), (of_bodies, poses), strict=False))

    def _read_bodies(self) -> None:
        self.reader._reader.read(self.scene.reading)

    def _read_poses(self) -> None:
        self.frames = link_frames(self.client, self.links)

    def _place(self) -> None:
        self.draft, self.made = self.reader._memory(self.scene)
        pose(self.client, self.scene.shapes, self.scene.fixed, self.frames, self.made)

    def _make_world(self) -> None:
        self.world = self.scene.state.world._moved(self.draft)

    def _make_state(self) -> None:
        state = self.scene.state._replace(world=self.world, largest=largest_coordinate(self.world._tree.frame))
        self.reader._kept.append((self.draft, self.made))
        self.scene = self.scene._replace(frames=self.frames, state=state)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=Path("benchmarks/bullet_sync.csv"))
    parser.add_argument("--rounds", type=int, default=300)
    options = parser.parse_args()
    c = connect()
    SCENES["people"](c)
    p.performCollisionDetection(physicsClientId=c)
    profile = Stages(c)
    stages, calls = profile.stages(), profile.calls()
    times: dict[str, list[float]] = {name: [] for name in stages}
    alone: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(options.rounds):
        p.stepSimulation(physicsClientId=c)
        for name, stage in stages.items():
            begun = time.thread_time()
            stage()
            times[name].append((time.thread_time() - begun) * 1e6)
        p.stepSimulation(physicsClientId=c)
        for name, of_stage in calls.items():
            begun = time.thread_time()
            for call in of_stage:
                call()
            alone[name].append((time.thread_time() - begun) * 1e6)
    facts = datetime.now(UTC).date().isoformat(), f"{platform.machine()}, Python {platform.python_version()}"
    with options.out.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for name, values in times.items():
            row = (name, f"{median(values):.1f}", len(calls.get(name, ())), f"{median(alone.get(name, [0.0])):.1f}")
            writer.writerow((*facts, *row))
            print(*row, sep="\t")
        whole, calls_us = (median(np.sum(list(table.values()), axis=0)) for table in (times, alone))
        print(f"together {whole:.1f}, calls {calls_us:.1f}")


if __name__ == "__main__":
    main()
