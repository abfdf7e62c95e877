"""Pickles and copies of worlds and snapshots: the state at the time of copying, and answers bit for bit."""

import pickle

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed, shots_at
from support.cases.everyday_worlds import leap, make_crowd
from support.character_life import answers, check_equal, crowd_of
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


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_a_copy_of_characters_and_statics_is_independent(copied):
    world, rig, ids, life = crowd_of(5, field=3.0)
    unposed, wall = world.spawn(rig), cc.Limbs.boxes([1, 0, 0], [0, 0, 0, 1], [0.1, 4, 4])
    handle = world.add_static(wall)
    world.set_layers(ids[1], 4)
    pose, rays, (other, snapshot) = life.pose(rig, 1), life.rays(60), (copied(world), copied(world.snapshot()))
    before = answers(world, rays, {})
    check_equal(answers(other, rays, {}), before)
    assert snapshot.limbs == world.limbs
    assert np.array_equal(snapshot._labels.bone_positions, world.snapshot()._labels.bone_positions)

    def change(one: cc.HitWorld) -> None:
        one.set_poses(unposed, *pose)
        one.despawn(ids[0])
        one.move_static(handle, [0, 0, 0.5], [0, 0, 0.6, 0.8])

    change(other)
    check_equal(answers(world, rays, {}), before)
    change(world)
    assert check_equal(answers(other, rays, {}), answers(world, rays, {})) > 10
    assert other.spawn(rig) == world.spawn(rig) == [6]
    assert other.add_static(wall) == world.add_static(wall) == 1
    assert other.statics.tolist() == [0, 1]


def test_a_copy_during_a_rebuild_has_no_thread():
    world = cc.HitWorld(make_crowd(3000))
    leap(world, 3)
    other = pickle.loads(pickle.dumps(world))
    assert other.limbs == world.limbs
    leap(other, 4)
    for each in (world, other):
        each.finish_rebuild()
