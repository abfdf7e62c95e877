"""The humanoid: seventeen limbs, symmetric sides, the same body with y or z up, and human proportions."""

import numpy as np
import pytest

import cylcollide as cc
from cylcollide.limbs.outlines import outlines

STILL = [0.0, 0.0, 0.0, 1.0]
PAIRED = ("upper_arm", "forearm", "hand", "thigh", "shank", "foot")


@pytest.fixture(scope="module")
def rig() -> cc.Rig:
    return cc.Rig.humanoid()


def standing(rig: cc.Rig) -> cc.Limbs:
    """Return the limbs at rest, the soles at the origin."""
    return rig.place(*rig.forward(rig.rest_positions[0], STILL, rig.rest_orientations))


def test_seventeen_named_limbs_and_four_groups(rig):
    assert len(rig.limbs) == len(rig.bone_names) == 17
    assert rig.limb_names == rig.bone_names
    sides = {f"{side}_{part}" for side in ("left", "right") for part in PAIRED}
    assert set(rig.limb_names) == {"pelvis", "abdomen", "chest", "neck", "head"} | sides
    assert dict(rig.groups) == {"head": 1, "torso": 2, "arm": 3, "leg": 4}
    group = dict(zip(rig.limb_names, rig.limbs.hit_group.tolist(), strict=True))
    assert [name for name, number in group.items() if number == 1] == ["head"]
    assert {name for name, number in group.items() if number == 2} == {"pelvis", "abdomen", "chest", "neck"}
    assert group["left_hand"] == 3
    assert group["right_foot"] == 4


def test_it_stands_on_the_ground_with_the_given_height():
    for height in (1.75, 1.2):
        drawn = outlines(standing(cc.Rig.humanoid(height)))[..., 2]  # corners of outlines lie on the limbs
        assert [drawn.min(), drawn.max()] == pytest.approx([0.0, height], abs=1e-3)


def test_it_faces_forward_with_its_left_to_the_left(rig):
    limbs = standing(rig)
    where = {name: 0.5 * (limbs.p1[i] + limbs.p2[i]) for i, name in enumerate(limbs.names)}
    assert where["left_hand"][1] > 0.15
    assert where["left_foot"][0] > 0.05
    assert where["head"][2] > where["chest"][2] > where["pelvis"][2] > where["left_foot"][2]
    drawn = outlines(limbs)[..., 0]
    assert drawn.min() + drawn.max() > 0.0


def test_up_permutes_the_axes(rig):
    """With y up, x is to the left and z forward: the same body with permuted columns."""
    one, other = standing(rig), standing(cc.Rig.humanoid(up="y"))
    assert np.array_equal(one.p1[:, [1, 2, 0]], other.p1)
    assert np.array_equal(one.p2[:, [1, 2, 0]], other.p2)
    assert np.array_equal(one.radius, other.radius)
    assert cc.Rig.humanoid(up="y").rest_positions[0].tolist() == [0.0, rig.rest_positions[0, 2], 0.0]


def test_lengths_equal_the_source(rig):
    """Drillis and Contini's fractions of the stature, from joint to joint."""
    joints = dict(zip(rig.bone_names, rig.forward([0, 0, 0], STILL, rig.rest_orientations)[0][0], strict=True))
    lengths = {("upper_arm", "forearm"): 0.186, ("forearm", "hand"): 0.146, ("thigh", "shank"): 0.245}
    for (first, second), length in {**lengths, ("shank", "foot"): 0.246}.items():
        way = joints[f"left_{first}"] - joints[f"left_{second}"]
        assert np.linalg.norm(way) == pytest.approx(1.75 * length, rel=1e-12)
    foot = outlines(standing(rig)[rig.limb_names.index("left_foot")])
    assert np.ptp(foot[..., 0]) == pytest.approx(1.75 * 0.152, abs=1e-3)


def test_no_gap_from_head_to_foot(rig):
    """A shot through the middle of any height between the soles and the crown hits something."""
    world, z = cc.HitWorld(standing(rig)), np.linspace(0.001, 1.749, 1500)
    for side in (0.0, 1.75 * 0.050):
        height = z[z > 0.93] if side == 0.0 else z[z < 0.93]
        starts = np.column_stack([np.full_like(height, -1.0), np.full_like(height, side), height])
        assert world.cast_segments(starts, starts * [-1, 1, 1]).hit.all()


@pytest.mark.parametrize("height", [0, -1.75, np.nan, np.inf, 2.0**401, 2.0**-401, "tall", None, True, [1.75, 1.8]])
def test_invalid_heights(height):
    with pytest.raises(ValueError, match=r"^height: expected"):
        cc.Rig.humanoid(height)


@pytest.mark.parametrize("up", ["x", "Z", "", None, 2, ["z"]])
def test_invalid_ups(up):
    with pytest.raises(ValueError, match="up: expected 'y' or 'z'"):
        cc.Rig.humanoid(up=up)


def test_any_size_is_a_rig():
    for height in (2.0**-400, 3, np.float32(1.5), 2.0**400):
        rig = cc.Rig.humanoid(height)
        assert len(standing(rig)) == 17
        assert rig.rest_positions[0, 2] == pytest.approx(0.53 * float(height), rel=1e-15)
