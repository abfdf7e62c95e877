"""A server's frame, here and in every installed engine: characters posed and fitted, 200 shots judged by a policy.

    python benchmarks/frame.py --characters 64 1000 --out benchmarks/frame_engines.csv

Our frame is complete: bones to a fitted tree, shots, policy. An engine's frame has the supported parts: all limbs
moved, the same shots cast for the closest hit; it gets the ends of the limbs, without the posing. Engines take
turns frame by frame in one process, all on one thread; a row holds medians, in microseconds, and our frame over the
engine's.
Limbs are cylinders, so that every engine can hold them.

    python benchmarks/frame.py --moves benchmarks/frame_moves.csv

New poses of all characters, of one right after that, and of one after another, while nothing else holds the state of
the world, and while the result of a previous shot holds it; median microseconds of processor time (all threads) and
of the clock.
"""

import time
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from statistics import median

import numpy as np

import cylcollide as cc
from cylcollide.bench.results import save, script_options
from cylcollide.engines import registry

SHOTS, FRAMES, FIELD = 200, 4, 25.0  # shots a frame, poses that take turns, metres for 64 characters


def cylinders(rig: cc.Rig) -> cc.Rig:
    """The rig with a cylinder in place of each limb."""
    limbs, radius = rig.limbs, np.maximum(rig.limbs.radius, rig.limbs.radius2)
    plain = cc.Limbs.cylinders(limbs.p1, limbs.p2, radius, hit_group=limbs.hit_group, name=list(limbs.names))
    return cc.Rig(rig.bone_names, rig.parents, rig.rest_positions, rig.rest_orientations, plain, rig.limb_bone,
                  rig.groups)  # fmt: skip


def frames_of(rig: cc.Rig, count: int, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Poses of so many people who stand on a field, a few centimetres apart from frame to frame."""
    field, yaw = FIELD * (count / 64) ** 0.5, rng.uniform(0, 2 * np.pi, count)
    root = np.column_stack([rng.uniform(0, field, (count, 2)), np.full(count, 0.95)])
    turn = np.column_stack([0 * yaw, 0 * yaw, np.sin(yaw / 2), np.cos(yaw / 2)])
    poses = []
    for _ in range(FRAMES):
        root = root + rng.normal(size=root.shape) * [0.02, 0.02, 0.0]
        joints = rig.rest_orientations + 0.1 * rng.normal(size=(count, len(rig.bone_names), 4))
        poses.append(rig.forward(root, turn, joints))
    return poses


def measure(count: int, rounds: int) -> list[dict[str, object]]:
    """A row per engine, for frames of so many characters."""
    rng, rig = np.random.default_rng(count), cylinders(cc.Rig.humanoid(1.8))
    policy = cc.Policy.most_important(["head", "torso", "arm", "leg"], damage={"head": 4.0}, default=1.0)
    world, poses = cc.HitWorld(), frames_of(rig, count, rng)
    ids = world.spawn(rig, count)
    world.set_poses(ids, *poses[0])
    placed = [rig.place(*pose) for pose in poses]
    place = poses[0][0][:, 0]
    start = place[rng.integers(count, size=SHOTS)] + [0.0, 0.0, 0.6]
    end = place[rng.integers(count, size=SHOTS)] + 0.2 * rng.normal(size=(SHOTS, 3))
    end = start + 1.3 * (end - start)
    names = [name for name, why_not in registry.available().items() if why_not is None and name != "cylcollide"]
    took: dict[str, list[tuple[float, float]]] = {name: [] for name in ("cylcollide", *names)}
    with ExitStack() as stack:
        engines = {name: stack.enter_context(registry.create(name)) for name in names}
        engines = {n: e for n, e in engines.items() if len(placed[0]) <= (e.capabilities.practical_limbs or 1e9)}
        engines = {n: e for n, e in engines.items() if e.capabilities.rays}
        for engine in engines.values():
            engine.build(placed[0])
        for k in range(rounds):
            ends, pose = placed[k % FRAMES], poses[k % FRAMES]
            begun = time.perf_counter()
            world.set_poses(ids, *pose)
            moved = time.perf_counter()
            judged = world.judge_segments(start, end, policy, energy=30.0, threads=1)
            _ = judged.hit, judged.damage
            took["cylcollide"].append((moved - begun, time.perf_counter() - moved))
            for name, engine in engines.items():
                begun = time.perf_counter()
                engine.set_endpoints(ends.p1, ends.p2)
                moved = time.perf_counter()
                engine.cast_segments(start, end)
                took[name].append((moved - begun, time.perf_counter() - moved))
    middle = {name: [1e6 * median(column) for column in zip(*rows, strict=True)] for name, rows in took.items() if rows}
    ours = sum(middle["cylcollide"])
    return [
        {
            "characters": count, "engine": name, "move_us": round(move), "shots_us": round(shots),
            "frame_us": round(move + shots), "ours_over_this": round(ours / (move + shots), 3),
        }
        for name, (move, shots) in middle.items()
    ]  # fmt: skip


def moves(count: int, rounds: int, held: bool) -> dict[str, object]:
    """A row for moves of so many characters."""
    rng, rig, world = np.random.default_rng(count), cc.Rig.humanoid(1.8), cc.HitWorld()
    ids, poses = world.spawn(rig, count), frames_of(rig, count, rng)
    world.set_poses(ids, *poses[0])
    world.finish_rebuild()
    took: dict[str, list[tuple[float, float]]] = {"all": [], "one_after_all": [], "one_after_one": []}
    for k in range(rounds):
        chosen = [(ids[c], *(column[c] for column in poses[k % FRAMES])) for c in rng.integers(count, size=20)]
        for name, calls in zip(took, ([(ids, *poses[k % FRAMES])], chosen[:1], chosen[1:]), strict=True):
            for call in calls:
                answer = world.cast_segments([0, 0, 0], [1, 1, 1]) if held else None
                begun = time.process_time(), time.perf_counter()
                world.set_poses(*call)
                took[name].append((time.process_time() - begun[0], time.perf_counter() - begun[1]))
                del answer
    row: dict[str, object] = {"characters": count, "state": "held" if held else "free"}
    for k, clock in enumerate(("processor", "clock")):
        middle = {name: 1e6 * median(times[k] for times in rows) for name, rows in took.items()}
        row |= {f"{name}_{clock}_us": round(middle[name], 1) for name in took}
        row |= {f"{name}_share_{clock}": round(middle[name] / middle["all"], 4) for name in list(took)[1:]}
    return row


def main() -> None:
    """Measure, print and write."""
    parser = script_options(__doc__, "benchmarks/frame_engines.csv")
    parser.add_argument("--characters", type=int, nargs="+", default=[64, 1000])
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--moves", type=Path, help="a CSV file about moves alone, that is written instead")
    chosen = parser.parse_args()
    if chosen.moves:
        cases = product(chosen.characters, (False, True))
        save(chosen.moves, (moves(count, 4 * chosen.rounds, held) for count, held in cases))
    else:
        save(chosen.out, (row for count in chosen.characters for row in measure(count, chosen.rounds)))


if __name__ == "__main__":
    main()
