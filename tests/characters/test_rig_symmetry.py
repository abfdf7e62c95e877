"""Whether the sides of a rig are symmetric, and their differences."""

import numpy as np
import pytest

import cylcollide as cc

HUMANOID = cc.Rig.humanoid()
NAMES = list(HUMANOID.limb_names)


def with_limb(rig: cc.Rig, name: str, change) -> cc.Rig:
    """The rig with one limb replaced."""
    row = list(rig.limb_names).index(name)
    limbs = cc.Limbs.concat([rig.limbs[:row], change(rig.limbs[row : row + 1]), rig.limbs[row + 1 :]])
    skeleton = (rig.bone_names, rig.parents, rig.rest_positions, rig.rest_orientations)
    return cc.Rig(*skeleton, limbs, rig.limb_bone, rig.groups)


def shifted(limb: cc.Limbs, by) -> cc.Limbs:
    return limb.moved(limb.p1 + np.array(by), limb.p2 + np.array(by))


@pytest.mark.parametrize("up", ["z", "y"])
def test_the_humanoid_is_symmetric(up: str):
    rig = cc.Rig.humanoid(up=up)
    side = {"z": 1, "y": 0}[up]
    for plane in ("auto", "xyz"[side]):
        found = rig.symmetry(plane)
        assert np.abs(found.normal) == pytest.approx(np.eye(3)[side], abs=1e-14)
        assert found.offset == pytest.approx(0.0, abs=1e-14)
        assert found.difference.max() < 1e-14
        assert len(found.alone) == 0
        names = [tuple(NAMES[row] for row in pair) for pair in found.pairs]
        assert ("left_upper_arm", "right_upper_arm") in names
        assert ("head", "head") in names
        assert len(names) == 11


def test_differences_of_a_pair():
    found = with_limb(HUMANOID, "left_hand", lambda limb: limb.inflated(0.25)).symmetry()
    worst = found.difference.argmax()
    assert [NAMES[row] for row in found.pairs[worst]] == ["left_hand", "right_hand"]
    assert found.difference[worst] == pytest.approx(0.25, abs=1e-3)
    moved = with_limb(HUMANOID, "left_foot", lambda limb: shifted(limb, [0.5, 0, 0]))
    found = moved.symmetry("y")
    assert found.difference.max() == pytest.approx(0.5, abs=1e-14)
    assert sorted(found.difference)[-2] < 1e-14
    assert "left_foot and right_foot: 0.5" in str(found)


def test_a_limb_on_the_plane_is_its_own_mirror_image():
    found = with_limb(HUMANOID, "head", lambda limb: shifted(limb, [0, 0.125, 0])).symmetry("y")
    assert found.difference.max() == pytest.approx(0.25, abs=1e-14)
    assert "head: 0.25" in str(found)


@pytest.mark.parametrize(
    ("make", "ends"),
    [
        (lambda a, b: cc.Limbs.capsules(a, b, 0.1), True),
        (lambda a, b: cc.Limbs.tapered_cylinders(a, b, 0.1, 0.3), False),
        (lambda a, b: cc.Limbs.tubes(a, b, 0.3, 0.1), True),
        (lambda a, b: cc.Limbs.spheres(a, 0.25), True),
        (lambda a, b: cc.Limbs.boxes(a, [0.1, 0.2, 0.3, 0.9], [0.1, 0.2, 0.3]), True),
    ],
)
def test_ends_in_either_order(make, ends: bool):
    """A capsule is the same with its ends swapped; a tapered cylinder is not."""
    a, b = np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.5, 3.0])
    image = make(a, b)
    flip = np.array([-1.0, 1.0, 1.0])
    other = make(b * flip, a * flip) if image.kind[0] not in (cc.Shape.BOX, cc.Shape.SPHERE) else make(a * flip, b)
    if image.kind[0] == cc.Shape.BOX:  # the mirror image of a box is one about the mirrored axis, turned back
        other = cc.Limbs.boxes(a * flip, [0.1, -0.2, -0.3, 0.9], [0.1, 0.2, 0.3])
    rig = cc.Rig(
        ["arm.L", "arm.R"], [-1, -1], np.zeros((2, 3)), np.tile([0, 0, 0, 1], (2, 1)),
        cc.Limbs.concat([image, other]), [0, 1],
    )  # fmt: skip
    (difference,) = rig.symmetry("x").difference
    assert (difference < 1e-14) == ends
    assert difference == pytest.approx(0.0 if ends else 0.2, abs=1e-14)
    assert rig.symmetry().normal == pytest.approx([1.0, 0.0, 0.0]) or not ends


def test_names_of_bones_serve_unnamed_limbs():
    names = ["hips", "LThumb", "RThumb", "leftEye"]
    at = [[0, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0.1, 1]]
    limbs = cc.Limbs.spheres(np.zeros((5, 3)), [0.1, 0.2, 0.2, 0.3, 0.25])
    rig = cc.Rig(names, [-1, 0, 0, 0], at, np.tile([0, 0, 0, 1], (4, 1)), limbs, [0, 1, 2, 3, 2])
    found = rig.symmetry("y")
    assert found.pairs.tolist() == [[0, 0], [1, 2]]
    assert found.difference.tolist() == [0.0, 0.0]
    assert [found.names[row] for row in found.alone] == ["leftEye", "RThumb #2"]
    assert "leftEye: no counterpart" in str(found)


def test_another_shape_is_infinitely_different():
    rig = with_limb(HUMANOID, "left_hand", lambda limb: cc.Limbs.spheres(limb.p1, 0.1, name="left_hand"))
    assert np.isinf(rig.symmetry("y").difference).sum() == 1


def test_a_rotated_rig():
    """The plane is found although it is not aligned with the character's frame."""
    rng = np.random.default_rng(1)
    turn, move = cc.quaternions.from_axis_angle(rng.normal(size=3), 1.0), rng.normal(size=3)
    places, turns = HUMANOID.rest_positions.copy(), HUMANOID.rest_orientations.copy()
    places[0], turns[0] = move, turn
    found = cc.Rig(HUMANOID.bone_names, HUMANOID.parents, places, turns, HUMANOID.limbs, HUMANOID.limb_bone).symmetry()
    assert found.difference.max() < 1e-13
    assert np.abs(found.normal).max() < 0.99


@pytest.mark.parametrize(
    ("rig", "plane", "message"),
    [
        (HUMANOID, "w", "plane: expected 'auto', 'x', 'y' or 'z', got 'w'"),
        (cc.Rig(["a"], [-1], [[0, 0, 0]], [[0, 0, 0, 1]], cc.Limbs.spheres([0, 0, 0], 1), 0), "auto",
         "plane: expected limbs whose names differ by their side"),
    ],
)  # fmt: skip
def test_bad_arguments(rig: cc.Rig, plane, message: str):
    with pytest.raises(ValueError, match=message):
        rig.symmetry(plane)
