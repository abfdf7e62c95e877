"""Shots judged by a policy, beside the query for their chords alone, call by call in turn: medians.

    python benchmarks/policy_speed.py --out benchmarks/policy_speed.csv

A row: characters of 17 limbs in the world, shots in one call, the policy, what is read of the answer, the median time
in microseconds, that of `chords_segments` for the same shots, how much longer it takes, and the ratio of both speeds:
chords' time over that of judging. One thread. Each shot is aimed at a limb.
"""

import argparse
import csv
import platform
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import TypeAlias

import numpy as np

import cylcollide as cc

COLUMNS = ("date", "machine", "characters", "shots", "policy", "read", "median_us", "chords_us", "more_us", "ratio")
CROWDS = {64: 30.0, 1000: 100.0}
"""Characters, and the edge of their field in metres."""
SHOTS = {200: 400, 100_000: 15}
"""Shots in a call, and rounds."""
Task: TypeAlias = tuple[str, str]
"""A policy, and what is read of the answer."""
NAMES = {"head": 4.0, "torso": 1.0, "default": 0.5}
POLICIES = {
    "first surface": cc.Policy.first_surface(NAMES),
    "most important": cc.Policy.most_important(["head", "torso"], NAMES),
    "longest chord": cc.Policy.longest_chord(NAMES),
    "penetration": cc.Policy.penetration({"head": 3000.0, "torso": 2000.0, "default": 1000.0}, NAMES),
}
FIELDS = ("hit", "character", "limb_name", "hit_group", "position", "distance", "damage", "energy_left")


def crowd(characters: int) -> cc.HitWorld:
    """Standing humanoids, each turned its own way."""
    rig, rng, world = cc.Rig.humanoid(), np.random.default_rng(1), cc.HitWorld()
    turn = rng.uniform(0.0, np.pi, characters)
    root = np.column_stack([rng.uniform(0.0, CROWDS[characters], (characters, 2)), np.full(characters, 1.0)])
    orientation = np.column_stack([0.0 * turn, 0.0 * turn, np.sin(turn), np.cos(turn)])
    joints = np.repeat(rig.rest_orientations[None], characters, axis=0)
    world.set_poses(world.spawn(rig, characters), *rig.forward(root, orientation, joints))
    return world


def tasks(world: cc.HitWorld, shots: int) -> dict[Task, Callable[[], object]]:
    """What is timed, by the policy and what is read."""
    limbs, rng = world.limbs, np.random.default_rng(2)
    at = (0.5 * (limbs.p1 + limbs.p2))[rng.integers(0, len(limbs), shots)]
    starts = at + 10.0 * rng.normal(size=(shots, 3))
    ends = 2.0 * at - starts

    def judged(policy: cc.Policy, fields: tuple[str, ...]) -> Callable[[], object]:
        def call() -> None:
            answer = world.judge_segments(starts, ends, policy, energy=1000.0, threads=1)
            for name in fields:
                getattr(answer, name)

        return call

    found = {("chords", "nothing"): lambda: world.chords_segments(starts, ends, threads=1)}
    for name, policy in POLICIES.items():
        found |= {(name, "damage"): judged(policy, ("damage",)), (name, "all columns"): judged(policy, FIELDS)}
    return found


def measure(calls: dict[Task, Callable[[], object]], rounds: int) -> dict[Task, float]:
    """Median microseconds of each call; in every round each is made once, one after the other."""
    times: dict[Task, list[float]] = {name: [] for name in calls}
    for _ in range(rounds + 1):
        for name, call in calls.items():
            begun = time.perf_counter()
            call()
            times[name].append((time.perf_counter() - begun) * 1e6)
    return {name: median(values[1:]) for name, values in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=Path("benchmarks/policy_speed.csv"))
    options = parser.parse_args()
    facts = datetime.now(UTC).date().isoformat(), f"{platform.machine()}, Python {platform.python_version()}"
    with options.out.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for characters in CROWDS:
            world = crowd(characters)
            for shots, rounds in SHOTS.items():
                found = measure(tasks(world, shots), rounds)
                chords = found.pop(("chords", "nothing"))
                for (policy, read), took in found.items():
                    numbers = (f"{took:.0f}", f"{chords:.0f}", f"{took - chords:.0f}", f"{chords / took:.2f}")
                    writer.writerow((*facts, characters, shots, policy, read, *numbers))
                    print(characters, shots, policy, read, *numbers, sep="\t", flush=True)


if __name__ == "__main__":
    main()
