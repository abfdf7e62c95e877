"""Characters placed by the poses of their bones, and bones posed by their joints."""

import re

import numpy as np
import pytest
from support.cases.rigs import every_shape, mixed_rig, random_poses
from support.oracle import pose

import cylcollide as cc

pytestmark = [pytest.mark.plain_python, pytest.mark.coverage]

STILL, EACH = [0.0, 0.0, 0.0, 1.0], len(every_shape())


@pytest.fixture(scope="module")
def rig() -> cc.Rig:
    return mixed_rig()


# Placed -------------------------------------------------------------------------------------------------------------


def test_placed_limbs_follow_their_bones(rig):
    positions, orientations = random_poses(rig, 11)
    placed = rig.place(positions, orientations)
    assert len(placed) == 11 * EACH
    for row in range(0, len(placed), 5):
        c, i = divmod(row, EACH)
        bone = rig.limb_bone[i]
        for got, local in ((placed.p1[row], rig.limbs.p1[i]), (placed.p2[row], rig.limbs.p2[i])):
            want = pose.carried(orientations[c, bone], positions[c, bone], local)
            assert pose.ulps(got, want, positions[c, bone]) <= 0.51
        for got, local in zip(placed.box_axes[row], rig.limbs.box_axes[i], strict=True):
            want = pose.carried(orientations[c, bone], [0, 0, 0], local)
            assert [float(w) for w in want] == pytest.approx(got, abs=2.0**-53)


def test_placed_limbs_keep_all_else(rig):
    placed = rig.place(*random_poses(rig, 5))
    for c in range(5):
        part = placed[EACH * c : EACH * c + EACH]
        assert part.names == rig.limb_names
        for column in ("kind", "radius", "radius2", "half_extents", "mask", "hit_group", "character"):
            assert np.array_equal(getattr(part, column), getattr(rig.limbs, column)), column
    assert placed.character.tolist() == [-1] * 5 * EACH


@pytest.mark.parametrize(
    ("given", "want"), [(None, [-1, -1]), (7, [7, 7]), ([3, -1], [3, -1]), (np.int8([5, 6]), [5, 6])]
)
def test_characters_are_numbered(rig, given, want):
    placed = rig.place(*random_poses(rig, 2), character=given)
    assert placed.character.tolist() == [number for number in want for _ in range(EACH)]


def test_rig_labels_stay_without_a_number():
    limbs = cc.Limbs.spheres(np.zeros((2, 3)), 1.0, character=[5, 6])
    rig = cc.Rig(["bone"], [-1], [[0, 0, 0]], [STILL], limbs, 0)
    assert rig.place(np.zeros((2, 1, 3)), [[STILL], [STILL]]).character.tolist() == [5, 6, 5, 6]


def test_bits_do_not_depend_on_the_batch(rig):
    """One by one, some and all; arrays in any form."""
    positions, orientations = random_poses(rig, 21)
    placed = rig.place(positions, orientations, character=np.arange(21))
    one_by_one = [rig.place(positions[c], orientations[c], character=c) for c in range(21)]
    assert cc.Limbs.concat(one_by_one) == placed
    assert rig.place(positions[4:15], orientations[4:15], character=np.arange(4, 15)) == placed[4 * EACH : 15 * EACH]
    assert rig.place(np.asfortranarray(positions), orientations.tolist(), character=np.arange(21)) == placed


def test_points_stay_points_and_the_shortest_axes_may_not_shrink():
    """A sphere far away keeps p1 = p2; a limb whose axis would become shorter than 2**-500 is refused."""
    eighth = [[[0.0, 0.0, np.sin(np.pi / 8), np.cos(np.pi / 8)]]]
    ball, short = cc.Limbs.spheres([1, 1, 1], 1.0), cc.Limbs.capsules([0, 0, 0], [2.0**-500, 0, 0], 1.0)
    of_ball, of_short = (cc.Rig(["b"], [-1], [[0, 0, 0]], [STILL], limbs, 0) for limbs in (ball, short))
    placed = of_ball.place(np.full((1, 1, 3), 1e30), eighth)
    assert np.array_equal(placed.p1, placed.p2)
    assert len(of_short.place(np.zeros((1, 1, 3)), [[STILL]])) == 1
    with pytest.raises(ValueError, match="limb ends"):
        of_short.place(np.zeros((1, 1, 3)), eighth)


def test_no_characters_and_no_limbs(rig):
    assert len(rig.place(np.zeros((0, 4, 3)), np.zeros((0, 4, 4)))) == 0
    bare = mixed_rig(limbs=every_shape()[[]], limb_bone=[])
    assert len(bare.place(*random_poses(bare, 3))) == 0


POSES = {
    "characters of one only": (
        lambda p, q: (p, q[:8]),
        r"orientations: expected 9 characters, as many as positions, got 8",
    ),
    "no turn": (
        lambda p, q: (p, put(q, (0, 3), 0.0)),
        r"orientations: .*other than zero.*bone 3 \('sword'\) in row 0;",
    ),
    "out of sight": (
        lambda p, q: (put(p, (6, 2), 1e120), q),
        r"positions: expected limb ends.*limb 4 \('tapered 0'\) of bone 2 \('ankle'\) at \[1e\+120.*row 6",
    ),
}


def put(array, where, value):
    changed = array.copy()
    changed[where] = value
    return changed


@pytest.mark.parametrize("case", POSES)
def test_invalid_poses(rig, case):
    change, message = POSES[case]
    with pytest.raises(ValueError, match=message):
        rig.place(*change(*random_poses(rig, 9)))


@pytest.mark.parametrize("character", [[1, 2, 3], -2, 2**31, 1.5, "me", [True, False]])
def test_invalid_characters(rig, character):
    with pytest.raises(ValueError, match=r"^character: expected"):
        rig.place(*random_poses(rig, 2), character=character)


# Posed by joints ----------------------------------------------------------------------------------------------------


def test_bones_at_rest(rig):
    """Positions are relative to parents; the second root stands beside the first."""
    positions, orientations = rig.forward([1.0, 2.0, 3.0], STILL, rig.rest_orientations)
    assert positions.shape == (1, 4, 3)
    assert orientations.shape == (1, 4, 4)
    assert positions[0, 0].tolist() == [1.0, 2.0, 3.0]
    assert positions[0, 3] == pytest.approx([1.4, 1.8, 3.1])
    assert positions[0, 1] == pytest.approx([1.0, 2.1, 2.6])
    knee = pose.turned(pose.rational(rig.rest_orientations[1]), pose.rational([0.0, 0.0, -0.4]))
    assert positions[0, 2] == pytest.approx([1.0 + float(knee[0]), 2.1 + float(knee[1]), 2.6 + float(knee[2])])
    assert np.linalg.norm(orientations, axis=-1) == pytest.approx(np.ones((1, 4)))


def test_a_character_turns_as_a_whole(rig):
    """The root orientation is applied last: further roots turn with it."""
    quarter = [0.0, 0.0, 1.0, 1.0]
    before, _ = rig.forward([0, 0, 0], STILL, rig.rest_orientations)
    after, _ = rig.forward([0, 0, 0], quarter, rig.rest_orientations)
    assert after[0] == pytest.approx(before[0][:, [1, 0, 2]] * [-1, 1, 1], abs=1e-15)


def test_a_joint_carries_its_descendants(rig):
    joints = np.array(rig.rest_orientations)
    joints[1] = [1.0, 0.0, 0.0, 0.0]  # the knee, half a turn about x
    positions, orientations = rig.forward([0, 0, 0], STILL, joints)
    assert positions[0, 2] == pytest.approx([0.0, 0.1, 0.0], abs=1e-15)
    assert positions[0, 3] == pytest.approx([0.4, -0.2, 0.1])
    want = pose.hamilton(pose.rational([1, 0, 0, 0]), pose.rational([0, 0, 2, 2]))
    assert orientations[0, 2] == pytest.approx([float(c) / 8**0.5 for c in want])


def test_one_row_is_broadcast(rig):
    roots = np.random.default_rng(1).normal(size=(12, 3))
    joints = np.random.default_rng(2).normal(size=(12, 4, 4))
    turns = np.tile([0.1, 0.2, 0.3, 0.4], (12, 1))
    positions, orientations = rig.forward(roots, turns[0], joints)
    assert np.array_equal(rig.forward(roots, turns, joints)[0], positions)
    for c in range(12):
        at, turn = rig.forward(roots[c], turns[0], joints[c])
        assert np.array_equal(at[0], positions[c])
        assert np.array_equal(turn[0], orientations[c])
    assert rig.forward(roots[:0], turns[0], joints[0])[0].shape == (0, 4, 3)


JOINTS = {
    "roots of two": (
        (np.zeros((2, 3)), np.ones((3, 4)), np.ones((4, 4))),
        r"root_orientations: expected 2 characters, .*got 3",
    ),
    "not turned": (([0, 0, 0], [0, 0, 0, 0], np.ones((4, 4))), r"root_orientations: .*other than zero.*row 0"),
    "no joint": (
        (np.zeros((9, 3)), STILL, put(np.ones((9, 4, 4)), (5, 2), 0.0)),
        r"joint_orientations: .*bone 2 \('ankle'\) in row 5",
    ),
}


@pytest.mark.parametrize("case", JOINTS)
def test_invalid_joints(rig, case):
    arguments, message = JOINTS[case]
    with pytest.raises(ValueError, match=message):
        rig.forward(*arguments)


def test_bones_beyond_the_range_are_named():
    far = np.array([[0, 0, 0], [2.0**499, 0, 0], [2.0**499, 0, 0], [0, 0, 0]])
    rig = mixed_rig(rest_positions=far, rest_orientations=[STILL] * 4)
    assert rig.forward([0, 0, 0], STILL, rig.rest_orientations)[0].max() == 2.0**500
    with pytest.raises(ValueError, match=re.escape("bones within 2**500, got [") + r".*bone 2 \('ankle'\) in row 1"):
        rig.forward([[0, 0, 0], [1e140, 0, 0]], STILL, rig.rest_orientations)
