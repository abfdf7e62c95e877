"""Rig: its fields, refused arguments, and figures from two sides."""

import numpy as np
import pytest
from support.cases.rigs import BONES, GROUPS, PARENTS, every_shape, mixed_rig, random_poses
from support.copies import COPIES
from support.oracle.shapes.table import NAMES

import cylcollide as cc


@pytest.fixture(scope="module")
def rig() -> cc.Rig:
    return mixed_rig()


def test_a_rig_keeps_its_arguments(rig):
    assert rig.bone_names == BONES
    assert rig.parents.tolist() == PARENTS
    assert rig.parents.dtype == rig.limb_bone.dtype == np.int32
    assert rig.rest_positions.shape == (4, 3)
    assert rig.rest_orientations.tolist()[2] == [0, 0, 2, 2]
    assert rig.limbs == every_shape()
    assert rig.limb_names == rig.limbs.names
    assert dict(rig.groups) == GROUPS
    assert repr(rig) == (
        f"Rig(4 bones from hip, sword; {2 * len(NAMES)} limbs: {', '.join(f'2 {name}' for name in NAMES)}; "
        "groups: leg 4, weapon -7)"
    )
    assert repr(mixed_rig(limbs=every_shape()[[]], limb_bone=[], groups={})).endswith("0 limbs: none; groups: none)")
    assert not any(column.flags.writeable for column in rig._rows)
    with pytest.raises(TypeError):
        rig.groups["head"] = 1


CHANGES = {
    "bone_names": ("hip", "knee", "ankle", "gun"),
    "parents": [-1, 0, 0, -1],
    "rest_positions": np.zeros((4, 3)),
    "rest_orientations": np.ones((4, 4)),
    "limbs": every_shape().inflated(0.01),
    "limb_bone": np.zeros(2 * len(NAMES), int),
    "groups": {"leg": 4},
}


@pytest.mark.parametrize("what", CHANGES)
def test_equal_rigs_have_all_equal(rig, what):
    assert rig == mixed_rig()
    assert rig != mixed_rig(**{what: CHANGES[what]})
    assert rig != "rig"


def test_copies_and_pickles(rig):
    for copied in COPIES.values():
        other = copied(rig)
        assert other == rig
        assert not other.limb_bone.flags.writeable
        assert other.place(*random_poses(rig, 3)) == rig.place(*random_poses(rig, 3))


REFUSED = {
    "no bones": ({"bone_names": []}, r"bone_names: expected a list of one or more strings.*got none"),
    "one name": ({"bone_names": "hip"}, r"bone_names: expected a list.*got str"),
    "a number for a name": ({"bone_names": ["hip", 2, "a", "b"]}, r"bone_names: .*got 2"),
    "an empty name": ({"bone_names": ["hip", "", "a", "b"]}, r"bone_names: .*not empty, got ''"),
    "a name twice": ({"bone_names": ["hip", "knee", "hip", "b"]}, r"bone_names: .*'hip' for bones 0 and 2; rename"),
    "a cycle": ({"parents": [-1, 2, 1, -1]}, r"parents: .*before bone 1 \('knee'\), got 2; list parents before"),
    "its own parent": ({"parents": [-1, 1, 1, -1]}, r"parents: .*before bone 1 \('knee'\), got 1"),
    "no root": ({"parents": [0, 0, 1, -1]}, r"parents: .*before bone 0 \('hip'\), got 0"),
    "a parent below -1": ({"parents": [-1, -2, 1, -1]}, r"parents: .*bone 1 \('knee'\), got -2"),
    "turned by nothing": (
        {"rest_orientations": [[0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1]]},
        r"rest_orientations: expected a quaternion other than zero.*for bone 1 \('knee'\)",
    ),
    "no limbs": ({"limbs": [1, 2]}, r"limbs: expected Limbs, got list; make them with"),
    "a bone that is not there": (
        {"limb_bone": [0] * 5 + [4] + [0] * 8},
        r"limb_bone: expected 0 to 3, .*got 4 for limb 5 \('tapered 1'\); fasten",
    ),
    "groups in a list": ({"groups": ["leg"]}, r"groups: expected a mapping of names to numbers, got \['leg'\]"),
    "a group without a name": ({"groups": {"": 4}}, r"groups: expected a name and an integer"),
    "a number of two groups": (
        {"groups": {"leg": 4, "arm": 4}},
        r"groups: expected one name per number, got 'leg', 'arm' for 4",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_arguments(case):
    changes, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        mixed_rig(**changes)


def test_arguments_may_have_any_form(rig):
    """Integers of any kind, lists, and object arrays with the same numbers."""
    same = mixed_rig(
        bone_names=list(BONES),
        parents=np.array(PARENTS, np.int8),
        limb_bone=np.array([3, 0, 1, 1, 2, 0, 0] * 2, np.uint8),
        rest_orientations=np.array(rig.rest_orientations, dtype=object),
        groups={"weapon": np.int64(-7), "leg": np.int8(4)},
    )
    assert same == rig
    assert mixed_rig(limb_bone=2).limb_bone.tolist() == [2] * 2 * len(NAMES)


@pytest.mark.parametrize(("rig", "axes"), [(cc.Rig.humanoid(), "yzxz"), (cc.Rig.humanoid(up="y"), "xyzy")])
def test_a_person_is_drawn_from_the_front_and_the_side(rig, axes):
    figure = rig.plot()
    front, side = figure.axes
    labels = (front.get_xlabel(), front.get_ylabel(), side.get_xlabel(), side.get_ylabel())
    assert labels == tuple(f"{axis} [m]" for axis in axes)
    assert "17 bones from pelvis" in figure.get_suptitle().replace("\n", " ")
    for axes_ in (front, side):
        (outlines,) = axes_.collections
        drawn = [path.vertices for path in outlines.get_paths()]
        assert len(drawn) == 17
        heights = np.concatenate(drawn)[:, 1]
        assert heights.min() == pytest.approx(0.0, abs=1e-3)
        assert heights.max() == pytest.approx(1.75, abs=1e-3)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "head (1)",
        "torso (2)",
        "arm (3)",
        "leg (4)",
    ]


@pytest.mark.parametrize("changes", [{}, {"groups": {}, "limbs": every_shape()[[]], "limb_bone": []}])
def test_any_rig_can_be_drawn(changes, tmp_path):
    mixed_rig(**changes).plot(tmp_path / "rig.svg")
    assert "<svg" in (tmp_path / "rig.svg").read_text()
