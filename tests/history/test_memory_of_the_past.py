"""Bytes that a history keeps per limb and tick: 17,000 limbs over 64 ticks fit into 150 MB, whatever changes."""

import gc
import weakref

import numpy as np
import pytest

import cylcollide as cc
from cylcollide.bench.timing import nbytes
from cylcollide.history import PoseHistory

MOST = 150e6 / (17_000 * 64)
PEOPLE, TICKS = 60, 24


class Crowd:
    """A world of characters that all move at every tick."""

    def __init__(self, people: int = PEOPLE) -> None:
        self.rig, self.rng, self.world = cc.Rig.humanoid(), np.random.default_rng(1), cc.HitWorld()
        self.ids = self.world.spawn(self.rig, people)

    def move(self) -> None:
        joints = np.repeat(self.rig.rest_orientations[None], len(self.ids), axis=0)
        root, turn = self.rng.uniform(0, 50, (len(self.ids), 3)), self.rng.normal(size=(len(self.ids), 4))
        self.world.set_poses(self.ids, *self.rig.forward(root, turn, joints))

    def stay(self) -> None:
        """No character comes or goes."""

    def replace_one(self) -> None:
        self.world.despawn(self.ids[0])
        self.ids = np.append(self.ids[1:], self.world.spawn(self.rig))

    def change_layers(self) -> None:
        self.world.set_layers(self.rng.choice(self.ids, 1), int(self.rng.integers(1, 8)))


CHANGES = [Crowd.stay, Crowd.change_layers, Crowd.replace_one]


@pytest.mark.parametrize("change", CHANGES)
def test_bytes_a_limb_and_tick(change):
    """Also after queries about each tick."""
    crowd = Crowd()
    history = PoseHistory(crowd.world, TICKS)
    for tick in range(TICKS + 3):
        change(crowd)
        crowd.move()
        history.record(tick)
    crowd.world.finish_rebuild()
    for asked in (history.ticks[:0], history.ticks):
        for tick in asked.tolist():
            hits = history.cast_segments([0, 0, 0], [50, 50, 50], tick=tick)
            assert len(hits.limb_name) == len(hits.bone) == len(hits.local_position) == 1
            assert len(history.limbs_at(tick=tick)) == 17 * PEOPLE
            del hits
        gc.collect()
        a_limb_and_tick = (nbytes(history) - nbytes(crowd.world)) / (17 * PEOPLE * TICKS)
        assert a_limb_and_tick > 7 * 8  # a bone per limb: position and orientation
        assert a_limb_and_tick <= MOST


def test_dropped_ticks_are_freed():
    """As many bytes after 100 ticks as after 30; an unused rig is freed with its last tick."""
    crowd = Crowd(20)
    history, child = PoseHistory(crowd.world, 16), cc.Rig.humanoid(1.2)
    gone = weakref.ref(child)
    who = crowd.world.spawn(child)
    crowd.world.set_poses(who, *child.forward([[0, 0, 0]], [[0, 0, 0, 1]], child.rest_orientations[None]))
    sizes = []
    for tick in range(100):
        crowd.replace_one()
        crowd.move()
        history.record(tick)
        if tick == 3:
            crowd.world.despawn(who)
            del child
        if tick in (18, 19):
            gc.collect()
            assert (gone() is None) == (tick == 19)
        if tick in (31, 99):
            sizes.append(nbytes(history))
    assert sizes[1] == pytest.approx(sizes[0], rel=0.02)
