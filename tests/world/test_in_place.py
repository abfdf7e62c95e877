"""Characters that are moved in the columns of the present state, and all that must keep it from being written."""

import copy

import numpy as np
import pytest
from support.character_life import all_shapes_rig, answers, check_equal
from support.moves_in_place import EVERYWHERE, HOLDERS, MANY, Crowd, address, numbers_of, results

import cylcollide as cc
from cylcollide.constants import LIMBS_PER_THREAD
from cylcollide.runtime.levels import MACHINE_CODE
from cylcollide.world.in_place import MOVED, OUTSIDE, READ_ELSEWHERE

pytestmark = pytest.mark.skipif(MACHINE_CODE is None, reason="plain Python is never written in place")


@pytest.mark.parametrize("rig", [cc.Rig.humanoid(), all_shapes_rig()], ids=["humanoid", "all shapes"])
def test_moves_are_in_place_and_have_the_bits_of_others(rig: cc.Rig):
    crowd = Crowd(rig)
    where = address(crowd.world)
    with results() as seen:
        for k in range(1, 60):
            crowd.move(*(crowd.rng.permutation(MANY - 2)[: 1 + k % 5] + 2).tolist())
            _ = crowd.world.cast_segments(*EVERYWHERE).limb_name
    assert seen == [MOVED] * 59
    assert address(crowd.world) == where
    fresh, rays = cc.HitWorld(crowd.limbs()), (crowd.rng.uniform(-4, 4, (500, 3)), crowd.rng.uniform(-4, 4, (500, 3)))
    assert check_equal(answers(crowd.world, rays, {}), answers(fresh, rays, {})) > 50
    assert crowd.world.limbs == fresh.limbs
    positions, orientations = crowd.world.snapshot()._columns[4:6]
    assert positions.tobytes() == crowd.at.tobytes()
    assert orientations.tobytes() == crowd.turn.tobytes()


@pytest.mark.parametrize("holder", HOLDERS)
def test_what_is_held_keeps_its_numbers(holder: str):
    """What is computed of an answer when it is asked for, too."""
    crowd = Crowd(all_shapes_rig())
    before = numbers_of(HOLDERS[holder](crowd.world))
    held = HOLDERS[holder](crowd.world)
    assert before
    for k in range(2, MANY):
        crowd.move(k)
    assert numbers_of(held) == before
    del held
    crowd.move()
    with results() as seen:
        crowd.move()
    assert seen == [MOVED]
    assert crowd.world.limbs == crowd.limbs()


def test_a_spare_that_was_left_behind_catches_up():
    """Moves in place, and moves into other columns, which must learn of those before."""
    crowd = Crowd(cc.Rig.humanoid())
    kinds = set()
    for step in range(80):
        with results() as seen:
            held = crowd.world.snapshot()._table if crowd.rng.random() < 0.4 else None
            crowd.move(*(crowd.rng.permutation(MANY - 2)[: 1 + step % 3] + 2).tolist())
        kinds |= set(seen)
        del held
        if step % 7 == 0:
            assert np.array_equal(crowd.world.snapshot()._table.p1, crowd.limbs().p1)
    assert kinds == {MOVED, READ_ELSEWHERE}
    assert crowd.world.limbs == crowd.limbs()


def test_what_leaves_the_box_around_all_limbs_is_found_there():
    crowd = Crowd(cc.Rig.humanoid())
    with results() as seen:
        crowd.at[5] += 30.0
        crowd.world.set_poses(crowd.ids[5], crowd.at[5], crowd.turn[5])
        crowd.move(6)
    assert seen == [OUTSIDE, MOVED]
    start = crowd.limbs().p1[17 * 5] + [0.0, 0.0, 5.0]
    assert crowd.world.cast_rays([start], [[0, 0, -1]]).character[0] == crowd.ids[5]


@pytest.mark.parametrize("height", [0.95, 300.7])
def test_a_crowd_on_level_ground_is_moved_in_place(height: float):
    """All have the lowest and the highest limb: corners of the box around all, as rounded as the boxes in it."""
    rig, world = cc.Rig.humanoid(), cc.HitWorld()
    ids, x = world.spawn(rig, 60), np.linspace(0.0, 7.0, 60)
    at, turn = rig.forward(np.stack([x, x[::-1], np.full(60, height)], 1), [0, 0, 0, 1], rig.rest_orientations)
    world.set_poses(ids, at, turn)
    for k in (0, 59):
        held = world.snapshot()
        world.set_poses(ids[k], at[k], turn[k])
        del held
    with results() as seen:
        for k in range(60):
            world.set_poses(ids[k], at[k], turn[k])
    assert seen == [MOVED] * 60


@pytest.mark.parametrize("row", [0, 2])
def test_a_bad_pose_changes_nothing(row: int):
    crowd = Crowd(cc.Rig.humanoid())
    crowd.move(3)
    before = numbers_of(copy.deepcopy(crowd.world).snapshot()._columns[:6])
    at, turn = crowd.pose([9, 8, 7])
    turn[row, 4] = np.nan
    with pytest.raises(ValueError, match=rf"for bone 4 \('head'\) in row {row} \(character {crowd.ids[9 - row]}\);"):
        crowd.world.set_poses(crowd.ids[[9, 8, 7]], at, turn)
    assert numbers_of(crowd.world.snapshot()._columns[:6]) == before
    assert crowd.world.limbs == crowd.limbs()


def test_many_limbs_several_rigs_and_teleports_are_not_moved_in_place():
    crowd = Crowd(cc.Rig.humanoid(), LIMBS_PER_THREAD // 17 + 3)
    other = cc.Rig.humanoid(1.2)
    more = crowd.world.spawn(other)
    for _ in range(3):
        crowd.world.set_poses(more, crowd.at[3], crowd.turn[3])
    with results() as seen:
        crowd.move(*range(2, len(crowd.ids)))
        crowd.world.set_poses([crowd.ids[2], more[0]], crowd.at[2:4], crowd.turn[2:4])
        crowd.world.set_poses(crowd.ids[4], crowd.at[4], crowd.turn[4], teleport=True)
    assert seen == []
    both = cc.Limbs.concat([crowd.limbs(), other.place(crowd.at[3], crowd.turn[3], character=more)])
    assert crowd.world.limbs == both
