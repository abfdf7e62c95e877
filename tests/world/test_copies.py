"""Pickles and copies of worlds and snapshots: the state at the time of copying, and answers bit for bit."""

import pickle

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed, shots_at
from support.cases.everyday_worlds import leap, make_crowd
from support.check_cylinders import same_bits
from support.copies import COPIES

import cylcollide as cc


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("limbs", [0, 1, 28, 1500])
def test_a_copy_has_the_present_state(how: str, limbs: int):
    world = cc.HitWorld(make_crowd(limbs) if limbs > 28 else mixed(28).limbs()[:limbs])
    if limbs:
        leap(world, 2)
    start, end = shots_at(mixed(28), 900)
    want = world.cast_segments(start, end)
    others = [COPIES[how](world), COPIES[how](world.snapshot())]
    assert [type(other) for other in others] == [cc.HitWorld, type(world.snapshot())]
    here = world.limbs
    world.finish_rebuild()
    world.set_endpoints(here.p1 + 1000.0, here.p2 + 1000.0)  # the copies stay
    for other in others:
        assert other.limbs == here
        assert not same_bits(want, other.cast_segments(start, end))
    moved = others[0]
    moved.set_endpoints(here.p1 + 0.5, here.p2 + 0.5)
    assert np.array_equal(moved.limbs.p1, here.p1 + 0.5)
    assert others[1].limbs == here
    world.finish_rebuild()
    moved.finish_rebuild()


def test_a_copy_during_a_rebuild_has_no_thread():
    world = cc.HitWorld(make_crowd(3000))
    leap(world, 3)
    other = pickle.loads(pickle.dumps(world))
    assert other.limbs == world.limbs
    leap(other, 4)
    for each in (world, other):
        each.finish_rebuild()
