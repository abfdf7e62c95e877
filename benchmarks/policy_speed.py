"""Shots judged by a policy, beside the query for their chords alone, call by call in turn: medians.

    python benchmarks/policy_speed.py --out benchmarks/policy_speed.csv

A row: characters of 17 limbs in the world, shots in one call, the policy, what is read of the answer, the median time
in microseconds, that of `chords_segments` for the same shots, how much longer it takes, and the ratio of both speeds:
chords' time over that of judging. One thread. Each shot is aimed at a limb.
"""

from collections.abc import Callable, Iterator

import numpy as np

import cylcollide as cc
from cylcollide.bench.results import save, script_options
from cylcollide.bench.timing import interleaved

CROWDS = {64: 30.0, 1000: 100.0}
"""Characters, and the edge of their field in metres."""
SHOTS = {200: 400, 100_000: 15}
"""Shots in a call, and rounds."""
CHORDS = "chords"
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


def tasks(world: cc.HitWorld, shots: int) -> dict[str, Callable[[], object]]:
    """What is timed: chords, and each policy with what is read of the answer, separated by a semicolon."""
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

    found = {CHORDS: lambda: world.chords_segments(starts, ends, threads=1)}
    for name, policy in POLICIES.items():
        found |= {f"{name}; damage": judged(policy, ("damage",)), f"{name}; all columns": judged(policy, FIELDS)}
    return found


def measured(characters: int) -> Iterator[dict[str, object]]:
    """The rows of a crowd."""
    world = crowd(characters)
    for shots, rounds in SHOTS.items():
        times = interleaved(tasks(world, shots), rounds + 1)
        medians = {name: 1e6 * float(np.median(taken[1:])) for name, taken in times.items()}
        chords = medians.pop(CHORDS)
        for name, took in medians.items():
            policy, read = name.split("; ")
            numbers = {"median_us": f"{took:.0f}", "chords_us": f"{chords:.0f}", "more_us": f"{took - chords:.0f}"}
            row = {"characters": characters, "shots": shots, "policy": policy, "read": read}
            yield row | numbers | {"ratio": f"{chords / took:.2f}"}


def main() -> None:
    out = script_options(__doc__, "benchmarks/policy_speed.csv").parse_args().out
    save(out, (row for characters in CROWDS for row in measured(characters)))


if __name__ == "__main__":
    main()
