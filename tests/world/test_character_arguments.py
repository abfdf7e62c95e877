"""Characters: bad arguments raise a message that names the fault, and the world stays as it was."""

import numpy as np
import pytest
from support.character_life import Life, all_shapes_rig, answers, check_equal, crowd_of

import cylcollide as cc


@pytest.fixture
def pair() -> tuple[cc.HitWorld, cc.Rig, np.ndarray, Life]:
    """Two posed characters, 4 and 5, beside a bare limb with the label 3."""
    return crowd_of(2, cc.Limbs.spheres([9, 9, 9], 1.0, character=3))


def test_ids_begin_above_labels(pair):
    assert pair[2].tolist() == [4, 5]
    assert pair[0].characters.tolist() == [4, 5]


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (6, r"ids: expected characters of this world \(2 characters live, 4 to 5\), got 6 in row 0: unknown"),
        ([4, 3], r"got 3 in row 1: unknown"),
        ([5, 4, 5], r"ids: expected each character once, got 5 again in row 2"),
        (-1, r"ids: expected 0 to"),
    ],
)
def test_ids_of_no_character(pair, ids, message: str):
    world, rig, _, life = pair
    k = np.size(ids)
    before = world.snapshot()
    for call in (
        lambda: world.despawn(ids),
        lambda: world.set_layers(ids, 1),
        lambda: world.set_poses(ids, *life.pose(rig, k)),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    assert world.snapshot() is before


def test_despawned_id_is_named(pair):
    world, rig, _, life = pair
    world.despawn(4)
    with pytest.raises(ValueError, match="got 4 in row 0: despawned"):
        world.set_poses(4, *life.pose(rig, 1))


def test_bad_numbers_name_character_bone_and_row(pair):
    world, rig, ids, life = pair
    limbs, rays = world.limbs, life.rays(50)
    before = answers(world, rays, {})
    for row, bone, column, value, name in (
        (0, 3, 1, np.nan, "positions"), (1, 16, 3, np.inf, "orientations"), (1, 0, 0, 1e200, "positions")
    ):  # fmt: skip
        at, turn = life.pose(rig, 2)
        (at if name == "positions" else turn)[row, bone, column] = value
        for order in ([0, 1], [1, 0]):
            with pytest.raises(ValueError, match=f"{name}: .*{rig.bone_names[bone]}.*character {ids[row]}"):
                world.set_poses(ids[order], at[order], turn[order])
    at, turn = life.pose(rig, 2)
    turn[1, 2] = 0.0
    with pytest.raises(ValueError, match=rf"quaternion.*{rig.bone_names[2]}.*in row 0 \(character 5\)"):
        world.set_poses([5, 4], at[::-1], turn[::-1])
    at, turn = life.pose(rig, 2)
    with pytest.raises(ValueError, match="limb ends within") as refused:
        world.set_poses(ids, at + 2.0**500, turn)
    assert "np." not in str(refused.value)  # numpy's repr of its scalars
    assert world.limbs == limbs
    check_equal(answers(world, rays, {}), before)


def test_wrong_shapes(pair):
    world, rig, ids, life = pair
    at, turn = life.pose(rig, 2)
    for poses in ((at[:1], turn[:1]), (at[:, :4], turn[:, :4]), (at[0, 0], turn[0, 0]), (at, turn[:1]), (turn, at)):
        with pytest.raises(ValueError, match=r"(positions|orientations): expected"):
            world.set_poses(ids, *poses)
    other = world.spawn(all_shapes_rig())
    with pytest.raises(ValueError, match="equally many bones, got 17 in row 0 and 4 in row 2"):
        world.set_poses([*ids, *other], at, turn)


def test_rigs_must_agree_about_groups(pair):
    world, rig, *_ = pair
    strange = cc.Rig(["a"], [-1], [[0, 0, 0]], [[0, 0, 0, 1]], cc.Limbs.spheres([0, 0, 0], 1.0), [0], {"head": 7})
    with pytest.raises(ValueError, match="'head' is 7 in this rig and 1 in another one"):
        world.spawn(strange)
    for count in (-1, 1.5, "2", 2**31, 10**9):  # the last one has more limbs than row numbers
        with pytest.raises(ValueError, match="count: expected"):
            world.spawn(rig, count)


def test_all_ids_are_used_up():
    world = cc.HitWorld(cc.Limbs.spheres([0, 0, 0], 1.0, character=2**31 - 3))
    rig = cc.Rig.humanoid()
    with pytest.raises(ValueError, match="count: expected 0 to 2, got 3"):
        world.spawn(rig, 3)
    assert world.spawn(rig, 2).tolist() == [2**31 - 2, 2**31 - 1]
    assert world.spawn(rig, 0).tolist() == []
    with pytest.raises(ValueError, match="count: expected 0 to 0, got 1"):
        world.spawn(rig)
