"""Memory of a history: 1,000 people of 17 limbs, 64 ticks, by what happens from tick to tick.

    python benchmarks/history_memory.py --out benchmarks/history_memory.csv

A row: what happens at every tick, what is interpolated, limbs, ticks, megabytes of the history's arrays beside the
world's after recording, and after queries about every tick have read all columns of their results, whose labels are
kept; how much the process has grown (resident), and the same a limb and tick in bytes. Each row is a process of its
own. The status is 1 if a history of 17,000 limbs and 64 ticks takes more than 150 MB.
"""

import gc
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import cylcollide as cc
from cylcollide.bench.results import save, script_options
from cylcollide.bench.timing import nbytes
from cylcollide.history import PoseHistory

SIZES = ("recorded_mb", "queried_mb", "resident_mb")
PEOPLE, TICKS, FIELD, MOST = 1000, 64, 100.0, 150.0
FIELDS = ("position", "limb_name", "hit_group", "character", "bone", "rig_limb", "local_position", "thickness")


class Crowd:
    """A world of people, and what happens to them from tick to tick."""

    def __init__(self) -> None:
        self.rig, self.rng, self.world = cc.Rig.humanoid(), np.random.default_rng(1), cc.HitWorld()
        self.ids = self.world.spawn(self.rig, PEOPLE)
        self.move(self.ids)

    def move(self, ids: np.ndarray) -> None:
        """Put these people somewhere."""
        k = len(ids)
        root = np.column_stack([self.rng.uniform(0.0, FIELD, (k, 2)), np.full(k, 1.0)])
        joints = np.repeat(self.rig.rest_orientations[None], k, axis=0)
        self.world.set_poses(ids, *self.rig.forward(root, self.rng.normal(size=(k, 4)), joints))

    def move_all(self) -> None:
        """Everybody moves."""
        self.move(self.ids)

    def move_one(self) -> None:
        """One of them moves."""
        self.move(self.rng.choice(self.ids, 1))

    def replace_one(self) -> None:
        """Everybody moves, one goes, and another one comes."""
        gone = int(self.rng.integers(PEOPLE))
        self.world.despawn(self.ids[gone])
        self.ids = np.append(np.delete(self.ids, gone), self.world.spawn(self.rig))
        self.move(self.ids)

    def change_layers(self) -> None:
        """Everybody moves, and one is put into other layers."""
        self.world.set_layers(self.rng.choice(self.ids, 1), int(self.rng.integers(1, 8)))
        self.move(self.ids)


CHANGES: dict[str, Callable[[Crowd], None]] = {
    "all move": Crowd.move_all,
    "one moves": Crowd.move_one,
    "all move, one goes and one comes": Crowd.replace_one,
    "all move, layers of one change": Crowd.change_layers,
}


def resident() -> float:
    """Megabytes of this process in memory; 0 where that is not known."""
    gc.collect()
    pages = Path("/proc/self/statm")
    return int(pages.read_text().split()[1]) * 4096 / 1e6 if pages.exists() else 0.0


def measure(change: str, interpolate: str, ticks: int) -> tuple[int, float, float, float]:
    """Limbs, megabytes after recording and after queries, and what the process has grown by, until then."""
    crowd = Crowd()
    for _ in range(3):
        CHANGES[change](crowd)
    crowd.world.finish_rebuild()
    before = resident()
    history = PoseHistory(crowd.world, ticks, interpolate)
    for tick in range(ticks + 6):
        CHANGES[change](crowd)
        history.record(tick)
    crowd.world.finish_rebuild()
    recorded = (nbytes(history) - nbytes(crowd.world)) / 1e6
    start, end = crowd.rng.uniform(0.0, FIELD, (2, 200, 3))
    for tick in history.ticks.tolist():
        hits = history.cast_segments(start, end, tick=tick)
        for name in FIELDS:
            getattr(hits, name)
        len(history.limbs_at(tick=tick))
    del hits
    grown = resident() - before
    return len(crowd.world), recorded, (nbytes(history) - nbytes(crowd.world)) / 1e6, grown


def row_of(change: str, interpolate: str) -> dict[str, object]:
    """A row, measured in a process of its own."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        limbs, *sizes = pool.submit(measure, change, interpolate, TICKS).result()
    row = {"change": change, "interpolate": interpolate, "limbs": limbs, "ticks": TICKS}
    row |= {name: round(size, 1) for name, size in zip(SIZES, sizes, strict=True)}
    return row | {"bytes_a_limb_and_tick": round(1e6 * sizes[1] / (limbs * TICKS), 1)}


def main() -> None:
    options = script_options(__doc__, "benchmarks/history_memory.csv").parse_args()
    rows = [row_of(*case) for case in product(CHANGES, ("bones", "ends"))]
    save(options.out, rows)
    largest = max(row[name] for row in rows for name in SIZES[:2])
    if largest > MOST:
        sys.exit(f"{largest:.1f} MB, more than {MOST} MB")


if __name__ == "__main__":
    main()
