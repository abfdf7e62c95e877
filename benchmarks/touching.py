"""Queries at touching things, as games make them, beside the same query moved slightly aside: medians, in turn.

    python benchmarks/touching.py --out benchmarks/touching.csv

Tiles are boxes of 1 m on whole numbers. A row: rows of the query, the median time of one in microseconds, that of the
query moved aside, where nothing touches, and the ratio of both times. One thread.
"""

import time
from collections.abc import Callable

import numpy as np

import cylcollide as cc
from cylcollide._types import Float64Array
from cylcollide.bench.results import save, script_options
from cylcollide.bench.timing import interleaved
from cylcollide.bench.workloads import WORKLOADS

ROUNDS, FEW, MANY, SIDE = 7, 100, 1000, 64
LEVEL_BOX = [0.0, 0.0, 0.0, 1.0]
Pair = tuple[int, Callable[[], object], Callable[[], object]]
"""Rows of a query, the query where things touch, and the one aside."""


def tiles() -> dict[str, Pair]:
    """Queries at a floor of two layers, and 1 cm above or slightly beside."""
    at = np.stack(np.meshgrid(range(SIDE), range(SIDE), range(2), indexing="ij"), axis=-1).reshape(-1, 3).astype(float)
    world, rng = cc.HitWorld(cc.Limbs.boxes(at, LEVEL_BOX, [0.5, 0.5, 0.5])), np.random.default_rng(0)
    cells = rng.integers(1, SIDE - 1, (FEW, 3)) * np.array([1.0, 1.0, 0.0])
    corner, moved = cells + np.array([0.5, 0.5, 1.5]), cells + np.array([0.27, 0.19, 1.51])
    start, along = cells * np.array([0.0, 1.0, 0.0]) + np.array([-1.0, 0.25, 1.5]), np.array([SIDE, 0.0, 0.0])
    up, down, half = np.array([0.0, 0.0, 0.5]), np.array([0.0, 0.0, 2.0]), np.array([0.5, 0.5, 0.5])

    def pair(query: Callable[[Float64Array], object], touching: Float64Array, aside: Float64Array) -> Pair:
        return len(touching), lambda: query(touching), lambda: query(aside)

    above = start + 0.02 * up
    return {
        "rays along tops": pair(lambda s: world.cast_segments(s, s + along), start, above),
        "thick rays along tops": pair(
            lambda s: world.cast_segments(s + up, s + up + along, radius=0.5), start, above
        ),
        "rays down seams": pair(lambda s: world.cast_segments(s + up, s - down), corner, moved),
        "closest points of corners": pair(world.closest_points, corner, moved),
        "balls at corners": pair(lambda s: world.overlap_spheres(s + up, 0.5), corner, moved),
        "boxes in their places": pair(lambda s: world.overlap_boxes(s - half, LEVEL_BOX, half), corner, moved),
    }  # fmt: skip


def chords() -> dict[str, Pair]:
    """Chords along diagonals of touching cylinders, 46 each, and above them; in 64 limbs at one place, and apart."""
    at = np.stack(np.meshgrid(range(16), range(16), [0], indexing="ij"), axis=-1).reshape(-1, 3).astype(float)
    high = np.array([0.0, 0.0, 1.0])
    floor = cc.HitWorld(cc.Limbs.cylinders(at, at + high, 0.5))
    start, along, up = np.full((FEW, 3), [-1.0, -1.0, 0.0]), np.array([18.0, 18.0, 0.0]), np.array([0.0, 0.0, 1.3])
    one = np.zeros((SIDE, 3))
    pile, row = (cc.HitWorld(cc.Limbs.capsules(p, p + high, 0.1)) for p in (one, one + np.arange(SIDE)[:, None]))
    ends = np.random.default_rng(1).uniform([-2.0, -0.1, 0.1], [-1.0, 0.1, 0.9], (FEW, 3))
    mirrored = ends * [-1.0, 1.0, 1.0]
    return {
        "thick chords of touching cylinders": (
            FEW, lambda: floor.chords_segments(start, start + along, radius=0.25),
            lambda: floor.chords_segments(start + up, start + up + along, radius=0.25),
        ),
        "chords of limbs at one place": (
            FEW, lambda: pile.chords_segments(ends, mirrored), lambda: row.chords_segments(ends, mirrored)
        ),
    }  # fmt: skip


def surfaces() -> dict[str, Pair]:
    """Rays and points at a crowd: on surfaces, and slightly off; rays at every limb twice, and once."""
    work = WORKLOADS["W3"]
    limbs = work.limbs()
    world, twice = cc.HitWorld(limbs), cc.HitWorld(cc.Limbs.concat([limbs, limbs]))
    starts, ends = work.segments(world, 20 * MANY)
    hits = world.cast_segments(starts, ends)
    rows = np.flatnonzero(hits.hit)[:MANY]
    place, leave, normal = hits.position[rows], hits.exit_position[rows], hits.normal[rows]
    way = ends[rows] - starts[rows]
    back = way - 2.0 * (way * normal).sum(axis=1)[:, None] * normal
    off, n, first = 0.001 * normal, len(rows), rows[0]
    return {
        "rays at limbs that are there twice": (
            len(starts), lambda: twice.cast_segments(starts, ends), lambda: world.cast_segments(starts, ends)
        ),
        "ricochets": (
            n, lambda: world.cast_rays(place, back), lambda: world.cast_rays(place + off, back)
        ),
        "shots cast again to their hits": (
            n, lambda: world.cast_segments(starts[rows], place), lambda: world.cast_segments(starts[rows], place + off)
        ),
        "rays on from hits": (
            n, lambda: world.cast_rays(place, way), lambda: world.cast_rays(place + off, way)
        ),
        "chords on from hits": (
            n, lambda: world.chords_rays(place, way), lambda: world.chords_rays(place + off, way)
        ),
        "rays on from exits": (
            n, lambda: world.cast_rays(leave, way), lambda: world.cast_rays(leave + 0.001 * way, way)
        ),
        "points on surfaces": (
            n, lambda: world.contains_points(place), lambda: world.contains_points(place + off)
        ),
        "one shot cast again to its hit": (
            1, lambda: world.cast_segments(starts[first], place[0]),
            lambda: world.cast_segments(starts[first], place[0] + off[0]),
        ),
        "one ray on from a hit": (
            1, lambda: world.cast_rays(place[0], way[0]), lambda: world.cast_rays(place[0] + off[0], way[0])
        ),
        "one point on a surface": (
            1, lambda: world.contains_points(place[0]), lambda: world.contains_points(place[0] + off[0])
        ),
    }  # fmt: skip


def skeletons() -> dict[str, Pair]:
    """Queries near joints of skeletons, whose bones share balls, and of the same with bones 1 µm apart there."""
    rng, count = np.random.default_rng(3), 4 * MANY
    joints = np.cumsum(rng.normal(0.0, 0.15, (200, 13, 3)), axis=1) + rng.uniform(-20.0, 20.0, (200, 1, 3))
    begin, end = joints[:, :-1].reshape(-1, 3), joints[:, 1:].reshape(-1, 3)
    goal = joints.reshape(-1, 3)[rng.integers(0, joints[..., 0].size, count)] + rng.normal(0.0, 0.05, (count, 3))
    start = goal + rng.normal(0.0, 3.0, (count, 3))
    stop = 2.0 * goal - start
    joined, apart = (cc.HitWorld(cc.Limbs.capsules(begin, end + off, 0.07)) for off in (0.0, 1e-6))
    past = {world: cc.PoseHistory(world) for world in (joined, apart)}
    for history in past.values():
        for time_of_tick in (0.0, 1.0):
            history.record(time_of_tick)

    def pair(query: Callable[[cc.HitWorld], object]) -> Pair:
        return count, lambda: query(joined), lambda: query(apart)

    return {
        "rays at joints": pair(lambda world: world.cast_segments(start, stop)),
        "thick rays at joints": pair(lambda world: world.cast_segments(start, stop, radius=0.02)),
        "chords at joints": pair(lambda world: world.chords_segments(start, stop)),
        "rays of the past at joints": pair(lambda world: past[world].cast_segments(start, stop, 0.5)),
        "flying bullets at joints": pair(lambda world: past[world].cast_moving(start, stop, 0.3, 0.6)),
        "closest points beside joints": pair(lambda world: world.closest_points(start)),
    }


def walls() -> dict[str, Pair]:
    """Flying bullets aimed at walls that stand still, with their exits, beside capsules in the same places."""
    rng = np.random.default_rng(1)
    centre, half = rng.uniform(0.0, 40.0, (60, 3)), rng.uniform(0.5, 2.0, (60, 3))
    up, start, end = half * [0, 0, 1], rng.uniform(-40.0, 80.0, (MANY, 3)), centre[rng.integers(0, 60, MANY)]
    end = end + (end - start)

    def flown(limbs: cc.Limbs) -> Callable[[], object]:
        world = cc.HitWorld()
        world.add_static(limbs)
        history = cc.PoseHistory(world)
        for time_of_tick in (0.0, 1.0):
            history.record(time_of_tick)
        return lambda: history.cast_moving(start, end, 0.0, 1.0).exit_time

    boxes, capsules = cc.Limbs.boxes(centre, LEVEL_BOX, half), cc.Limbs.capsules(centre - up, centre + up, half[:, 0])
    return {"bullets at walls": (MANY, flown(boxes), flown(capsules))}


def ground() -> dict[str, Pair]:
    """Rays, balls, capsules and crates that end or stand on level ground, turned about the vertical, and 1 mm above."""
    rng, up, turn = np.random.default_rng(3), np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 0.28, 0.96])
    world = cc.HitWorld(cc.Limbs.boxes(-0.5 * up, turn, [50.0, 50.0, 0.5]))
    feet, off = rng.uniform(-9.0, 9.0, (MANY, 3)) * [1.0, 1.0, 0.0], 0.001 * up
    eyes, one = feet + rng.normal(size=(MANY, 3)) * [1.0, 1.0, 0.0] + 1.7 * up, slice(1)

    def pair(n: int, query: Callable[[Float64Array], object]) -> Pair:
        return n, lambda: query(feet[:n]), lambda: query(feet[:n] + off)

    return {
        "rays that end on the ground": pair(MANY, lambda p: world.cast_segments(eyes, p)),
        "one ray that ends on the ground": pair(1, lambda p: world.cast_segments(eyes[one], p)),
        "rays from the ground": pair(MANY, lambda p: world.cast_segments(p, eyes)),
        "chords that end on the ground": pair(MANY, lambda p: world.chords_segments(eyes, p)),
        "balls that fall on the ground": pair(
            MANY, lambda p: world.cast_segments(eyes + 0.5 * up, p + 0.5 * up, radius=0.5)
        ),
        "balls on the ground": pair(MANY, lambda p: world.overlap_spheres(p + 0.5 * up, 0.5)),
        "capsules on the ground": pair(MANY, lambda p: world.overlap_capsules(p + 0.5 * up, p + 1.5 * up, 0.5)),
        "crates on the ground": pair(MANY, lambda p: world.overlap_boxes(p + 0.5 * up, turn[[0, 1, 3, 2]], [0.5] * 3)),
    }


def one_plane() -> dict[str, Pair]:
    """Rays at overlapping walls of one turn, whose faces lie in one plane up to rounding, and at walls 1 cm apart."""
    turn, rng = [0.0, 0.0, 0.3, 0.9], np.random.default_rng(2)
    axes = cc.Limbs.boxes(np.zeros(3), turn, np.ones(3)).box_axes[0]
    place = np.array([[-1.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 0.0, 1.0]])
    start, end = rng.uniform(-1.0, 1.0, (2, MANY, 3)) + np.array([0.0, 0.0, 1.0])
    start[:, 1], end[:, 1] = -3.0, 3.0
    start, end = start @ axes, end @ axes
    joined, apart = (
        cc.HitWorld(cc.Limbs.boxes((place + step * np.arange(3.0)[:, None]) @ axes, turn, [1.0, 0.05, 1.0]))
        for step in (np.zeros(3), np.array([0.0, 0.01, 0.0]))
    )
    return {
        "rays at walls in one plane": (
            MANY, lambda: joined.cast_segments(start, end), lambda: apart.cast_segments(start, end)
        ),
        "thick rays at walls in one plane": (
            MANY, lambda: joined.cast_segments(start, end, radius=0.05),
            lambda: apart.cast_segments(start, end, radius=0.05),
        ),
    }  # fmt: skip


def parked() -> dict[str, Pair]:
    """Rays at a crowd, one limb of which is a thousand kilometres away."""
    work = WORKLOADS["W3"]
    limbs = work.limbs()
    starts, ends = work.segments(cc.HitWorld(limbs), MANY)
    far = np.where(np.arange(len(limbs))[:, None] == 0, 1e6, 0.0)
    near, away = cc.HitWorld(limbs), cc.HitWorld(limbs.moved(limbs.p1 + far, limbs.p2 + far))
    return {
        "one limb parked 1e6 m away": (
            MANY,
            lambda: away.cast_segments(starts, ends, threads=1),
            lambda: near.cast_segments(starts, ends, threads=1),
        )
    }


def row_of(name: str, rows: int, touching: Callable[[], object], aside: Callable[[], object]) -> dict[str, object]:
    """The times of a pair."""
    times = interleaved({"touching": touching, "aside": aside}, ROUNDS, time.process_time)
    medians = {f"{work}_us": f"{1e6 * float(np.median(taken)) / rows:.2f}" for work, taken in times.items()}
    return {"query": name, "rows": rows, **medians, "ratio": f"{np.median(times['touching'] / times['aside']):.1f}"}


def main() -> None:
    """Time all, and write a table."""
    out = script_options(__doc__, "benchmarks/touching.csv").parse_args().out
    pairs = {**tiles(), **chords(), **surfaces(), **skeletons(), **walls(), **ground(), **one_plane(), **parked()}
    save(out, (row_of(name, *pair) for name, pair in pairs.items()))


if __name__ == "__main__":
    main()
