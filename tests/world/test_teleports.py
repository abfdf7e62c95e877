"""Teleports: one for all or one per character, in the order of the ids; and values that are not bools."""

import numpy as np
import pytest

import cylcollide as cc

RIG = cc.Rig.humanoid()


def crowd(n: int = 4):
    world = cc.HitWorld()
    ids = world.spawn(RIG, n)
    history = cc.PoseHistory(world)
    world.set_poses(ids, *poses(n, 0.0))
    history.record(0.0)
    return world, ids, history


def poses(n: int, x: float):
    places = np.column_stack([np.full(n, x), np.arange(n) * 2.0, np.ones(n)])
    return RIG.forward(places, [0, 0, 0, 1], RIG.rest_orientations)


@pytest.mark.parametrize("form", [list, tuple, np.array])
def test_some_characters_jump(form):
    """Characters that jump stay until the next tick; the others are half-way."""
    world, ids, history = crowd()
    world.set_poses(ids[::-1], *(rows[::-1] for rows in poses(4, 1.0)), teleport=form([True, False, False, True]))
    history.record(1.0)
    moved = history.limbs_at(0.5).p1 - history.limbs_at(0.0).p1
    assert moved[:, 0].reshape(4, -1)[:, 0].tolist() == pytest.approx([0.0, 0.5, 0.5, 0.0])


@pytest.mark.parametrize("jumps", [True, np.True_, [True] * 4])
def test_all_jump(jumps):
    world, ids, history = crowd()
    world.set_poses(ids, *poses(4, 1.0), teleport=jumps)
    history.record(1.0)
    assert history.limbs_at(0.5) == history.limbs_at(0.0)


@pytest.mark.parametrize("teleport", [[True, False], "no", 1.0, None, [1, 0, 0, 0], np.ones((4, 1), bool)])
def test_invalid_teleports(teleport):
    world, ids, _ = crowd()
    before = world.snapshot()
    with pytest.raises(ValueError, match=r"teleport: expected True or False, one or \(4,\), got "):
        world.set_poses(ids, *poses(4, 1.0), teleport=teleport)
    assert world.snapshot() is before
