"""Derived rigs: scaled, with other hit groups, without bones that carry nothing."""

import numpy as np
import pytest
from support.cases.rigs import mixed_rig, random_poses

import cylcollide as cc

HUMANOID = cc.Rig.humanoid()


def at_rest(rig, k: int = 1):
    return rig.forward(np.tile(rig.rest_positions[0], (k, 1)), [0, 0, 0, 1], rig.rest_orientations)


# Scaled -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", [0.5, 1.0, 2.0, 2.0**60])
def test_a_scaled_rig_has_scaled_limbs(by: float):
    """Powers of two scale every number exactly."""
    rig = mixed_rig()
    larger = rig.scaled(by)
    positions, orientations = random_poses(rig, 5)
    limbs, scaled = rig.place(positions, orientations), larger.place(by * positions, orientations)
    for name in ("p1", "p2", "radius", "radius2", "half_extents"):
        assert (getattr(scaled, name) == by * getattr(limbs, name)).all(), name
    assert np.array_equal(scaled.box_axes, limbs.box_axes)
    assert (scaled.names, scaled.hit_group.tolist()) == (limbs.names, limbs.hit_group.tolist())
    assert (larger.rest_positions == by * rig.rest_positions).all()
    assert larger.rest_orientations.tobytes() == rig.rest_orientations.tobytes()
    assert (larger == rig) == (by == 1.0)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.longdouble, int])
def test_a_scale_of_any_kind(kind: type):
    assert HUMANOID.scaled(kind(2)) == HUMANOID.scaled(2.0)


@pytest.mark.parametrize("by", [0.0, -1.0, np.nan, np.inf, True, "2", None, 1e200])
def test_invalid_scales(by):
    with pytest.raises(ValueError, match="by: expected a number > 0"):
        HUMANOID.scaled(by)


@pytest.mark.parametrize("by", [1e150, 1e-150])
def test_a_scale_that_leaves_the_range(by: float):
    with pytest.raises(ValueError, match=r"by: expected a factor .* got 1e.?150 for limb 0 \('cylinder 0'\)"):
        mixed_rig().scaled(by).scaled(by)


# Hit groups ---------------------------------------------------------------------------------------------------------


def test_the_last_pattern_wins_and_others_stay():
    rig = HUMANOID.with_groups({"*": "torso", "left_*": "arm", "left_foot": 9, "h??d": "head"})
    group = dict(zip(rig.limb_names, rig.limbs.hit_group.tolist(), strict=True))
    assert (group["left_thigh"], group["left_foot"], group["head"], group["right_hand"]) == (3, 9, 1, 2)
    kept = HUMANOID.with_groups({"left_foot": 9})
    differ = np.flatnonzero(kept.limbs.hit_group != HUMANOID.limbs.hit_group)
    assert [kept.limb_names[row] for row in differ] == ["left_foot"]
    assert kept.limbs._table is HUMANOID.limbs._table
    assert kept.groups == HUMANOID.groups


def test_new_groups_have_numbers():
    rig = HUMANOID.with_groups({"*hand": "hand"}, groups={"hand": 12})
    assert rig.groups == {**HUMANOID.groups, "hand": 12}
    world = cc.HitWorld()
    ids = world.spawn(rig)
    world.set_poses(ids, *at_rest(rig))
    hand = rig.limb_names.index("left_hand")
    centre = 0.5 * (world.limbs.p1 + world.limbs.p2)[hand]
    judged = world.judge_segments(centre + np.eye(3)[1], centre, cc.Policy.first_surface({"hand": 3.0}))
    assert judged.damage.tolist() == [3.0]


@pytest.mark.parametrize("groups", [{"skull": 2**31}, {"skull": 10**5000}, {"skull": "one"}, {3: 4}, ["skull"]])
@pytest.mark.parametrize("patterns", [None, {"head": "skull"}])
def test_invalid_group_numbers(patterns: dict[str, str] | None, groups):
    with pytest.raises(ValueError, match=r"^groups: expected a "):
        HUMANOID.with_groups(patterns, groups)


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        ({"tail*": 3}, r"patterns: expected patterns of limb names \(pelvis, .*\), got 'tail\*', which matches none"),
        ({"HEAD": 3}, "got 'HEAD', which matches none"),
        ({"head": "skull"}, "patterns: expected a hit group of the rig, .*'head'.*, got 'skull'; give its number"),
        ({"head": 1.5}, "patterns: expected a hit group by name"),
        ({"head": True}, "patterns: expected a hit group by name"),
        ({3: 3}, "patterns: expected a mapping of patterns to groups"),
        ("head", "patterns: expected a mapping of patterns to groups, got 'head'"),
    ],
)
def test_invalid_groups(patterns, message: str):
    with pytest.raises(ValueError, match=message):
        HUMANOID.with_groups(patterns)


NAMES = {
    "mixamo": "Hips:torso Spine:torso Spine2:torso Neck:torso Head:head HeadTop_End:head LeftShoulder:torso "
    "LeftArm:arm LeftForeArm:arm RightHand:arm RightHandThumb3:arm LeftUpLeg:leg RightLeg:leg LeftToeBase:leg",
    "vrm": "hips:torso upperChest:torso neck:torso head:head leftEye:head jaw:head leftShoulder:torso leftUpperArm:arm "
    "rightLowerArm:arm leftHand:arm leftThumbProximal:arm leftUpperLeg:leg rightLowerLeg:leg rightToes:leg",
    "vroid": "J_Bip_C_Hips:torso J_Bip_C_UpperChest:torso J_Bip_C_Head:head J_Bip_L_Shoulder:torso "
    "J_Bip_L_UpperArm:arm J_Bip_R_LowerArm:arm J_Bip_R_Little1:arm J_Bip_R_LowerLeg:leg J_Bip_R_ToeBase:leg",
    "unreal": "pelvis:torso spine_05:torso neck_01:torso head:head clavicle_l:torso upperarm_l:arm lowerarm_r:arm "
    "upperarm_twist_01_l:arm hand_r:arm index_metacarpal_l:arm pinky_03_r:arm thigh_l:leg calf_l:leg ball_r:leg",
    "smpl": "Pelvis:torso Spine3:torso L_Collar:torso L_Shoulder:arm R_Elbow:arm R_Wrist:arm L_Hand:arm Head:head "
    "L_Hip:leg R_Knee:leg L_Ankle:leg R_Foot:leg",
    "capture": "Hips:torso LowerBack:torso LHipJoint:leg LeftUpLeg:leg LeftToeBase:leg Neck1:torso Head:head "
    "LeftArm:arm LThumb:arm LeftFingerBase:arm RFingers:arm",
}


@pytest.mark.parametrize("prefix", ["", "mixamorig:", "Armature:"])
@pytest.mark.parametrize("names", NAMES)
def test_standard_names(names: str, prefix: str):
    """Every bone carries a ball; a hat is below the head, an anklet below the last bone; the root's name is unknown."""
    bones, groups = zip(*(word.split(":") for word in NAMES[names].split()), strict=True)
    n, head = len(bones), groups.index("head") + 1
    given = ["Armature", *(prefix + bone for bone in bones), "hat", "anklet"]
    rig = cc.Rig(
        given, [-1, *[0] * n, head, n], np.zeros((n + 3, 3)), np.tile([0, 0, 0, 1], (n + 3, 1)),
        cc.Limbs.spheres(np.zeros((n + 3, 3)), 0.1, hit_group=77), range(n + 3),
    )  # fmt: skip
    grouped = rig.with_groups()
    numbers = {number: name for name, number in grouped.groups.items()}
    assert [numbers.get(group) for group in grouped.limbs.hit_group.tolist()] == [None, *groups, "head", groups[-1]]
    assert grouped.limbs.hit_group[0] == 77
    assert grouped.groups == HUMANOID.groups


def test_the_humanoid_has_standard_names():
    assert HUMANOID.with_groups({"*": 0}).with_groups() == HUMANOID


def test_a_rig_with_other_names():
    with pytest.raises(ValueError, match=r"patterns: expected bones with standard names, .* got sword"):
        cc.Rig(["sword"], [-1], [[0, 0, 0]], [[0, 0, 0, 1]], cc.Limbs.spheres([0, 0, 0], 1), 0).with_groups()


# Pruned -------------------------------------------------------------------------------------------------------------


def bare_tree(carriers, seed: int = 1):
    """A tree of ten bones, some of which carry balls, in any order: 0 (1 (2 3 (4 5)) 6 (7)) and 8 (9)."""
    rng = np.random.default_rng(seed)
    limbs = cc.Limbs.capsules(*rng.normal(size=(2, len(carriers), 3)), 0.1)
    parents = [-1, 0, 1, 1, 3, 3, 0, 6, -1, 8]
    return cc.Rig(list("abcdefghij"), parents, rng.normal(size=(10, 3)), rng.normal(size=(10, 4)), limbs, carriers)


TREES = {
    (2, 5): [1, 2, 5],
    (5, 4, 5): [3, 4, 5],
    (7,): [7],
    (2, 7): [0, 2, 7],
    (1, 5): [1, 5],
    (0, 9): [0, 9],
    (5, 9, 8, 2): [1, 2, 5, 8, 9],
    tuple(range(10)): list(range(10)),
}


@pytest.mark.parametrize("carriers", TREES)
def test_pruned_places_the_same_limbs(carriers):
    rig = bare_tree(carriers)
    pruned, kept = rig.pruned()
    assert kept.tolist() == TREES[carriers]
    assert pruned.bone_names == tuple(rig.bone_names[bone] for bone in kept)
    positions, orientations = random_poses(rig, 6)
    assert pruned.place(positions[:, kept], orientations[:, kept]) == rig.place(positions, orientations)


@pytest.mark.parametrize("carriers", TREES)
def test_pruned_keeps_dropped_joints_at_rest(carriers):
    """Kept joints turn arbitrarily, in the frame of the nearest kept bone above."""
    rig = bare_tree(carriers)
    pruned, kept = rig.pruned()
    joints, own = rig.rest_orientations.copy(), np.random.default_rng(2).normal(size=(len(kept), 4))
    own[pruned.parents < 0] = [0, 0, 0, 1]
    turns = cc.quaternions.multiply(pruned.rest_orientations, own)
    joints[kept] = cc.quaternions.multiply(rig.rest_orientations[kept], own)
    at, turn = rig.forward([0, 0, 0], [0, 0, 0, 1], joints)
    place, own_turn = pruned.forward(at[0, kept[0]], [0, 0, 0, 1], turns)
    assert np.abs(place - at[:, kept]).max() < 1e-13
    sign = np.sign((own_turn * turn[:, kept]).sum(axis=2, keepdims=True))
    assert np.abs(own_turn - sign * turn[:, kept]).max() < 1e-13


def test_nothing_to_prune():
    pruned, kept = HUMANOID.pruned()
    assert pruned == HUMANOID
    assert kept.tolist() == list(range(17))
    none, first = bare_tree(()).pruned()
    assert (none.bone_names, first.tolist()) == (("a",), [0])
