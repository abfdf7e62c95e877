"""A crowd whose characters are moved in place, and objects that hold a reference to its earlier state."""

import copy
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import cylcollide as cc
from cylcollide.world.in_place import Present
from cylcollide.world.pose_columns import PoseColumns

MANY = 40
EVERYWHERE = ([[-9.0, -9.0, -9.0]], [[9.0, 9.0, 9.0]])


class Crowd:
    """Characters whose common box is fixed: two that never move are at its corners."""

    def __init__(self, rig: cc.Rig, count: int = MANY) -> None:
        self.rig, self.rng, self.world = rig, np.random.default_rng(count), cc.HitWorld()
        self.ids = self.world.spawn(rig, count)
        self.home = self.rng.uniform(-3, 3, (count, 3))  # characters stay near, so the tree needs no rebuild
        self.at, self.turn = self.pose(np.arange(count))
        self.at[0], self.at[1] = self.at[0] - 9.0, self.at[1] + 9.0
        for _ in range(2):  # the second call writes into writable columns
            self.world.set_poses(self.ids, self.at, self.turn)

    def pose(self, rows: Any) -> tuple[np.ndarray, np.ndarray]:
        turn = self.rig.rest_orientations + 0.2 * self.rng.normal(size=(len(rows), len(self.rig.bone_names), 4))
        return self.rig.forward(self.home[rows] + self.rng.uniform(-0.1, 0.1, (len(rows), 3)), [0, 0, 0, 1], turn)

    def move(self, *rows: int) -> None:
        """Set new poses of the given characters, or of a random one that is not at a corner."""
        chosen = list(rows) or [int(self.rng.integers(2, len(self.ids)))]
        self.at[chosen], self.turn[chosen] = self.pose(chosen)
        self.world.set_poses(self.ids[chosen], self.at[chosen], self.turn[chosen])

    def limbs(self) -> cc.Limbs:
        """The expected limbs of the world."""
        return self.rig.place(self.at, self.turn, character=self.ids)


@contextmanager
def results() -> Iterator[list[int]]:
    """The list of what `Present.move` returns within the context."""
    seen: list[int] = []
    whole = Present.move

    def spy(*arguments: Any) -> int:
        seen.append(whole(*arguments))
        return seen[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Present, "move", spy)
        yield seen


def address(world: cc.HitWorld) -> int:
    """The memory address of the limbs' ends."""
    return world.snapshot()._table.p1.ctypes.data


def numbers_of(held: Any) -> list[bytes]:
    """The bytes of all numbers that an object holds of a state."""
    if isinstance(held, tuple | list):
        return [number for part in held for number in numbers_of(part)]
    if isinstance(held, cc.Snapshot):
        return numbers_of([held._table, held._columns, held._tree])
    if isinstance(held, cc.HitWorld):
        return numbers_of(held.snapshot())
    if isinstance(held, cc.PoseHistory):
        return numbers_of(held.limbs_at(0.0)._table)
    if hasattr(held, "fraction"):
        return numbers_of([held.fraction, held.position, held.local_position])
    if hasattr(held, "entry_position"):
        return numbers_of([held.entry_position, held.local_position])
    if hasattr(held, "axis_distance_squared"):
        return numbers_of([held.axis_distance_squared])
    return [np.asarray(held).tobytes()] if held is not None else []


def recorded(world: cc.HitWorld) -> cc.PoseHistory:
    history = cc.PoseHistory(world)
    history.record(0.0)
    return history


HOLDERS: dict[str, Callable[[cc.HitWorld], Any]] = {
    "snapshot": lambda w: w.snapshot(),
    "hits": lambda w: w.cast_segments(*np.repeat(EVERYWHERE, 300, axis=1)),
    "few hits": lambda w: w.cast_segments(*EVERYWHERE),
    "part of hits": lambda w: w.cast_segments(*np.repeat(EVERYWHERE, 300, axis=1))[5:9],
    "chords": lambda w: w.chords_segments(*EVERYWHERE),
    "points": lambda w: w.contains_points(np.zeros((3, 3))),
    "limbs": lambda w: w.limbs._table,
    "one limb": lambda w: w.limbs[40:]._table,
    "table": lambda w: w.snapshot()._table,
    "columns": lambda w: w.snapshot()._columns,
    "tree": lambda w: w.snapshot()._tree,
    "kernel rows": lambda w: w.snapshot()._kernel_rows,
    "labels": lambda w: w.snapshot()._labels[-2:],
    "slice of a column": lambda w: w.snapshot()._table.p1[30:50, 1],
    "slice of bounds": lambda w: w.snapshot()._tree.bounds[:, 3],
    "slice of a slice": lambda w: w.limbs.p1[20:][5:9].T[1],
    "memory": lambda w: memoryview(w.snapshot()._table.p2),
    "memory of a slice": lambda w: memoryview(w.limbs.p1[7:]),
    "array of a memory": lambda w: np.asarray(memoryview(w.limbs.p2))[3:],
    "pickle": lambda w: pickle.loads(pickle.dumps(w.limbs.p1)),
    "pickle without a copy": lambda w: pickle.PickleBuffer(w.limbs.p1),
    "copy of the world": copy.copy,
    "history": recorded,
    **{name: lambda w, name=name: getattr(w.snapshot()._columns, name) for name in PoseColumns._fields},
}
