"""Surfaces that lie on each other: PyBullet's rayTestBatch beside a Mirror's, in turn.

    python benchmarks/bullet/coincident.py --out benchmarks/bullet_coincident.csv

A row: scene, PyBullet's median processor time for 1,000 rays from above, the mirror's, PyBullet's over the mirror's,
and how many rays went to exact arithmetic. Lists as arguments, tuples as results. The last row has the rate of a
`HitWorld` of the 16 humanoids' limbs, each of them twice, over that of each once.
"""

import time
from collections.abc import Callable, Iterator

import numpy as np
import pybullet as p
from scenes import SCENES, connect, rays

import cylcollide as cc
from cylcollide.bench.results import save, script_options
from cylcollide.bench.timing import interleaved
from cylcollide.bullet import Mirror

RAYS = 1_000


def planes(*names: str) -> Callable[[], None]:
    """Grounds by their files."""

    def load() -> None:
        for name in names:
            p.loadURDF(name)

    return load


def walls() -> None:
    """Forty walls of equal height that cross."""
    shape = p.createCollisionShape(p.GEOM_BOX, halfExtents=[2.0, 0.1, 0.5])
    for i in range(40):
        turn = p.getQuaternionFromEuler([0.0, 0.0, np.pi * i / 40])
        p.createMultiBody(0, shape, basePosition=[i % 8 * 0.5 - 2.0, i // 8 * 0.5 - 1.0, 0.5], baseOrientation=turn)


def tables() -> None:
    """Table tops that overlap."""
    for i in range(5):
        p.loadURDF("table/table.urdf", [i * 1.2 - 2.4, 0.0, 0.0], useFixedBase=True)


def cylinders() -> None:
    """One cylinder spawned twice."""
    shape = p.createCollisionShape(p.GEOM_CYLINDER, radius=1.0, height=2.0)
    for _ in range(2):
        p.createMultiBody(0, shape, basePosition=[0.0, 0.0, 1.0])


COINCIDENT: dict[str, Callable[[], None]] = {
    "plane.urdf twice": planes("plane.urdf", "plane.urdf"),
    "plane_implicit.urdf twice": planes("plane_implicit.urdf", "plane_implicit.urdf"),
    "one of each": planes("plane.urdf", "plane_implicit.urdf"),
    "40 crossing walls": walls,
    "tables 1.2 m apart": tables,
    "one cylinder twice": cylinders,
}


def from_above() -> tuple[np.ndarray, np.ndarray]:
    """Rays (n, 3) down to the ground."""
    rng = np.random.default_rng(1)
    starts = rng.uniform([-2.5, -1.0, 2.0], [2.5, 1.0, 3.0], (RAYS, 3))
    return starts, starts + rng.uniform([-1.0, -1.0, -5.0], [1.0, 1.0, -4.0], (RAYS, 3))


def medians(first: Callable[[], object], second: Callable[[], object], rounds: int) -> list[float]:
    """Median microseconds of processor time of both, called in turn."""
    times = interleaved({"first": first, "second": second}, rounds + 1, time.process_time)
    return [1e6 * float(np.median(taken[1:])) for taken in times.values()]


def of_scene(load: Callable[[], None], rounds: int) -> tuple[float, float, int]:
    """Times of PyBullet and the mirror, and how many rays were rechecked."""
    c = connect()
    load()
    p.performCollisionDetection()
    mirror, (starts, ends) = Mirror(c, mesh="wrap", follow=False), from_above()
    first, last = starts.tolist(), ends.tolist()
    theirs, ours = medians(lambda: p.rayTestBatch(first, last), lambda: mirror.rayTestBatch(first, last), rounds)
    rechecked = mirror.cast_segments(starts, ends).rechecked
    p.disconnect()
    return theirs, ours, rechecked


def of_world(rounds: int) -> tuple[float, float, int]:
    """Times of a world with each limb once and twice, and how many rays were rechecked."""
    c = connect()
    SCENES["people"](c)
    limbs, (starts, ends) = Mirror(c, mesh="wrap").limbs, rays(c, 20_000)
    p.disconnect()
    worlds = cc.HitWorld(limbs), cc.HitWorld(cc.Limbs.concat([limbs, limbs]))

    def cast(world: cc.HitWorld) -> cc.RayHits:
        hits = world.cast_segments(starts, ends, threads=1)
        hits.position  # noqa: B018
        return hits

    once, twice = medians(lambda: cast(worlds[0]), lambda: cast(worlds[1]), rounds)
    return once, twice, cast(worlds[1]).rechecked


def measured(rounds: int) -> Iterator[dict[str, object]]:
    """A row for each scene."""
    for scene in (*COINCIDENT, "HitWorld, every limb twice"):
        load = COINCIDENT.get(scene)
        beside, own, rechecked = of_world(rounds) if load is None else of_scene(load, rounds)
        times = {"beside_us": f"{beside:.0f}", "us": f"{own:.0f}", "ratio": f"{beside / own:.2f}"}
        yield {"scene": scene, **times, "rechecked": rechecked}


def main() -> None:
    parser = script_options(__doc__, "benchmarks/bullet_coincident.csv")
    parser.add_argument("--rounds", type=int, default=31)
    options = parser.parse_args()
    save(options.out, measured(options.rounds))


if __name__ == "__main__":
    main()
