"""A clip on a rig of other proportions, axes, names and rest pose: limbs point as in the clip."""

from pathlib import Path

import numpy as np
import pytest
from support import skins
from support.cases.rigs import own_rig

import cylcollide as cc
from cylcollide.characters import standard_names

DATA = Path(__file__).parents[2] / "demos" / "data"
IDENTITY = [0.0, 0.0, 0.0, 1.0]
LIMBS = (
    ("left_upper_arm", "left_forearm", "LeftArm", "LeftForeArm"),
    ("left_forearm", "left_hand", "LeftForeArm", "LeftHand"),
    ("right_thigh", "right_shank", "RightUpLeg", "RightLeg"), ("right_shank", "right_foot", "RightLeg", "RightFoot"),
)  # fmt: skip


@pytest.fixture(scope="module")
def jump():
    return cc.Clip.load_bvh(DATA / "jump.bvh", scale=0.0254 / 0.45)


def directions(rig, positions, one, other):
    step = positions[:, rig.bone_names.index(other)] - positions[:, rig.bone_names.index(one)]
    return step / np.linalg.norm(step, axis=1, keepdims=True)


@pytest.mark.parametrize("up", ["y", "z"])
def test_limbs_point_as_in_the_clip(jump, up):
    """The humanoid's arms hang at rest and the clip's are stretched; the humanoid's up axis may differ."""
    rig, own, times = cc.Rig.humanoid(1.0, up=up), own_rig(jump), jump.times[::17]
    moved = jump.retargeted(rig)
    got, _ = rig.forward(*moved.at(times, rig))
    expected, _ = own.forward(*jump.at(times, own))
    if up == "z":  # x forward and y to the left, where the clip has z and x
        expected = expected[..., [2, 0, 1]]
    for ours, our_end, theirs, their_end in LIMBS:
        one, other = directions(rig, got, ours, our_end), directions(own, expected, theirs, their_end)
        np.testing.assert_allclose(one, other, atol=1e-7)
    hips = expected[:, own.bone_names.index("Hips")]
    ratio = np.ptp(got[:, 0], axis=0) / np.ptp(hips, axis=0)
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)
    legs = [np.linalg.norm(r.rest_positions[[r.bone_names.index(n) for n in names]], axis=1).sum()
            for r, names in ((rig, ("left_shank", "left_foot")), (own, ("LeftLeg", "LeftFoot")))]  # fmt: skip
    assert ratio[0] == pytest.approx(legs[0] / legs[1], rel=0.01)


def test_its_own_skeleton_moves_as_before(jump):
    own, times = own_rig(jump), np.linspace(0, jump.duration, 10)
    before = own.forward(*jump.at(times, own))
    after = own.forward(*jump.retargeted(own).at(times, own))
    np.testing.assert_allclose(after[0], before[0], atol=1e-12)
    np.testing.assert_allclose(np.abs((after[1] * before[1]).sum(axis=2)), 1.0, atol=1e-12)


def test_turned_rest_frames_and_a_root_above_the_hips_change_nothing(jump):
    """Bones with other frames at rest, twice as large, below another bone and beside another tree."""
    rng, count = np.random.default_rng(3), len(jump.bone_names)
    world = [skins.matrix([0, 0, 0], q) for q in rng.normal(size=(count, 4))]
    plain, places, turns = own_rig(jump), [], []
    for bone, parent in enumerate(jump.parents.tolist()):
        above = world[parent][:3, :3] if parent >= 0 else np.eye(3)
        places.append(above.T @ (2 * jump.offsets[bone]))
        turns.append(above.T @ world[bone][:3, :3])
    turns = cc.quaternions.from_matrix(np.array(turns))
    rig = cc.Rig(
        ["armature", *jump.bone_names, "prop"], [-1, *(jump.parents + 1), -1],
        [[0, 0, 0], [0, 1, 0], *places[1:], [9, 9, 9]], [IDENTITY, *turns, IDENTITY],
        cc.Limbs.spheres([[0, 0, 0]], 1), 0,
    )  # fmt: skip
    times = np.linspace(0, jump.duration, 5)
    moved = jump.retargeted(rig)
    assert moved.bone_names == rig.bone_names[:-1]
    got, _ = rig.forward(*moved.at(times, rig))
    expected, _ = plain.forward(*jump.at(times, plain))
    np.testing.assert_allclose(got[:, 1:-1], 2 * expected, atol=1e-9)


@pytest.mark.parametrize("name", ["prop", "Hips"])
def test_another_root_before_the_person_has_no_effect(jump, name):
    """Even if it is named like a bone of the clip: the tree with most pairs moves."""
    person, times = cc.Rig.humanoid(up="y"), jump.times[:200:20]
    bones = {"pelvis": "Hips", "left_thigh": "LeftUpLeg", "left_shank": "LeftLeg", "right_thigh": "RightUpLeg"}
    rig = cc.Rig(
        (name, *person.bone_names), [-1, *np.where(person.parents < 0, -1, person.parents + 1)],
        [[3, 0, 0], *person.rest_positions], [IDENTITY, *person.rest_orientations], person.limbs, person.limb_bone + 1,
    )  # fmt: skip
    expected, _ = person.forward(*jump.retargeted(person, bones).at(times, person))
    more = {name: name} if name == "Hips" else {}
    got, _ = rig.forward(*jump.retargeted(rig, more | bones).at(times, rig))
    np.testing.assert_allclose(got[:, 1:], expected, atol=1e-12)


def test_bones_may_be_named(jump):
    rig = cc.Rig.humanoid(up="y")
    moved = jump.retargeted(rig, {"pelvis": "Hips", "left_upper_arm": "LeftArm"})
    assert len(np.unique(moved.orientations[:, rig.bone_names.index("left_upper_arm")], axis=0)) > 100
    np.testing.assert_allclose(moved.orientations[:, rig.bone_names.index("right_shank")], [IDENTITY] * 688, atol=1e-12)


@pytest.mark.parametrize(
    ("rig", "bones", "message"),
    [
        (cc.Rig.humanoid(), {"tail": "Hips"}, r"bones: expected bones of the rig \(pelvis.*got 'tail': 'Hips'"),
        (cc.Rig.humanoid(), {"pelvis": "Tail"}, "got 'pelvis': 'Tail'"),
        (cc.Rig.humanoid(), ["pelvis"], "bones: expected a mapping"), ("rig", None, "rig: expected a Rig, got str"),
        (cc.Rig(["x"], [-1], [[0, 0, 0]], [IDENTITY], cc.Limbs.spheres([[0, 0, 0]], 1), 0), None, "give a mapping"),
    ],
)  # fmt: skip
def test_bad_arguments(jump, rig, bones, message):
    with pytest.raises(ValueError, match=message):
        jump.retargeted(rig, bones)


MIXAMO = ("Hips", "Spine", "Spine1", "Spine2", "Neck", "Head", "LeftShoulder", "LeftArm", "LeftForeArm", "LeftHand",
          "LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase")  # fmt: skip
UNREAL = ("pelvis", "spine_01", "spine_02", "spine_03", "neck_01", "head", "clavicle_l", "upperarm_l", "lowerarm_l",
          "hand_l", "thigh_l", "calf_l", "foot_l", "ball_l")  # fmt: skip
VRM = ("hips", "spine", "chest", "upperChest", "neck", "head", "leftShoulder", "leftUpperArm", "leftLowerArm",
       "leftHand", "leftUpperLeg", "leftLowerLeg", "leftFoot", "leftToes")  # fmt: skip
SMPL = ("Pelvis", "Spine1", "Spine2", "Spine3", "Neck", "Head", "L_Collar", "L_Shoulder", "L_Elbow", "L_Wrist", "L_Hip",
        "L_Knee", "L_Ankle", "L_Foot")  # fmt: skip
ROLES = ("hips", "spine", "spine1", "chest", "neck", "head", "left shoulder", "left upperarm", "left lowerarm",
         "left hand", "left upperleg", "left lowerleg", "left foot", "left toes")  # fmt: skip


@pytest.mark.parametrize("names", [MIXAMO, tuple(f"mixamorig:{name}" for name in MIXAMO), UNREAL, VRM, SMPL])
def test_standard_names_are_parts_of_a_person(names):
    assert standard_names.roles(names) == {role: row for row, role in enumerate(ROLES)}


def test_a_rig_with_unknown_directions_is_kept_unchanged(jump):
    """The head is beside the hips, on the line from left to right."""
    names, beside = ["Hips", "Head", "LeftUpLeg", "RightUpLeg"], [[0, 0, 0], [1, 0, 0], [1, 0, 0], [-1, 0, 0]]
    rig = cc.Rig(names, [-1, 0, 0, 0], beside, [IDENTITY] * 4, cc.Limbs.spheres([[0, 0, 0]], 0.1), 0)
    assert np.isfinite(jump.retargeted(rig).orientations).all()
