"""Copies and pickles of histories: the same ticks, answers bit for bit, and independence."""

import gc
import os
import signal

import numpy as np
import pytest
from support.cases.everyday_worlds import make_crowd
from support.character_life import Life
from support.check_cylinders import same_bits
from support.copies import COPIES
from support.one_limb import AT_REST, about_z, one_limb_history, one_limb_world

import cylcollide as cc


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("interpolate", ["bones", "ends"])
def test_a_copy_answers_as_the_history_did(how: str, interpolate: str):
    life = Life(np.random.default_rng(1), make_crowd(6))
    history = cc.PoseHistory(life.world, 10, interpolate, teleport_distance=3.0)
    for k in range(15):
        for _ in range(3):
            life.step()
        history.record(k)
    start, end = life.rays(200)
    times = life.rng.uniform(*history.times[[0, -1]], 200)
    want = history.cast_segments(start, end, times)
    other = COPIES[how](history)
    assert want.hit.any()
    assert (repr(other), type(other)) == (repr(history), cc.PoseHistory)
    assert not same_bits(want, other.cast_segments(start, end, times))
    assert other.limbs_at(7.3) == history.limbs_at(7.3)
    life.step()
    history.record(50.0)
    assert other.ticks.tolist() == list(range(5, 15))
    del history, life  # a copy does not read their arrays
    gc.collect()
    assert not same_bits(want, other.cast_segments(start, end, times, on_old="clamp"))


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_is_independent(how: str):
    """A deep copy or a pickle has its own world, a shallow copy records the same one; teleports are kept."""
    world, ids, history = one_limb_history(AT_REST)
    other = COPIES[how](history)
    assert (other.world is world) == (how == "copy")
    other.world.set_poses(ids, [[4, 0, 0]], [about_z(0.0)], teleport=True)
    other.record(1)
    other.world.set_poses(ids, [[6, 0, 0]], [about_z(0.0)])
    assert other.record(2) == 2
    assert [other.limbs_at(t).p1[0, 0] for t in (0.5, 1.0, 1.5)] == [0.0, 4.0, 5.0]
    assert len(history) == 1
    assert world.limbs.p1[0, 0] == (6.0 if how == "copy" else 0.0)


@pytest.mark.parametrize("how", [name for name in COPIES if name != "copy"])
def test_a_world_and_its_history_stay_together(how: str):
    world, _, _ = one_limb_world()
    one, other = COPIES[how]((world, cc.PoseHistory(world)))
    assert other.world is one


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_can_record():
    """In the child no thread exists to release a lock held while forking."""
    _, _, history = one_limb_history(AT_REST)
    with history._recording():
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # rather than hang
            try:
                os._exit(0 if history.record(1) == 1 else 2)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
    assert history.record(1) == 1


def test_copies_do_not_write_recorded_numbers():
    _, _, history = one_limb_history(AT_REST)
    for how in COPIES:
        limbs = COPIES[how](history).limbs_at(0)
        with pytest.raises(ValueError, match="read-only"):
            limbs.p1[0] = 5.0
