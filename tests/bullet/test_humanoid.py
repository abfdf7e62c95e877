"""PyBullet's humanoid as limb cylinders: they contain the shapes and follow the motions."""

from xml.etree import ElementTree

import numpy as np
import pybullet
import pytest

from cylcollide._pybullet import data_folder
from cylcollide.bullet.humanoid import SCALE, Humanoid, containing_cylinder, load_motions, pose_at
from cylcollide.characters.deepmimic import Recording
from cylcollide.shapes import rotation_matrices

JOINTS = {  # columns of a motion file, as DeepMimic's interpolator reads them
    "chest": (8, 12), "neck": (12, 16), "right_hip": (16, 20), "right_knee": (20, 21), "right_ankle": (21, 25),
    "right_shoulder": (25, 29), "right_elbow": (29, 30), "left_hip": (30, 34), "left_knee": (34, 35),
    "left_ankle": (35, 39), "left_shoulder": (39, 43), "left_elbow": (43, 44),
}  # fmt: skip


@pytest.fixture(scope="module")
def humanoid():
    with Humanoid() as character:
        yield character


def vector(element):
    return SCALE * np.array(element.get("xyz").split(), dtype=float)


def rotation_of(joint, frame):
    """The joint's rotation matrix, from the columns of the file: an angle about z, or a quaternion w, x, y, z."""
    values = frame[slice(*JOINTS[joint])]
    if len(values) == 1:
        values = [np.cos(values[0] / 2), 0.0, 0.0, np.sin(values[0] / 2)]
    return rotation_matrices(np.roll(values, -1)[None])[0]


def urdf_limbs(frame):
    """Forward kinematics straight from the file: name -> (p1, p2, radius), every number read anew."""
    urdf = ElementTree.fromstring((data_folder() / "humanoid" / "humanoid.urdf").read_bytes().rstrip(b"\0"))
    root_rotation = rotation_of("chest", np.concatenate([np.zeros(8), frame[4:8]]))
    place = {"base": (frame[1:4], root_rotation)}
    for joint in urdf.iter("joint"):
        origin, turn = place[joint.find("parent").get("link")]
        child = joint.find("child").get("link")
        own = rotation_of(child, frame) if child in JOINTS else np.eye(3)
        place[child] = (origin + turn @ vector(joint.find("origin")), turn @ own)
    limbs = {}
    for link in urdf.iter("link"):
        if (collision := link.find("collision")) is None:
            continue
        origin, turn = place[link.get("name")]
        shape = collision.find("geometry")[0]
        if shape.tag == "box":
            sides = SCALE * np.array(shape.get("size").split(), dtype=float)
            assert np.argmax(sides) == 0
            half, radius = np.array([sides[0] / 2, 0, 0]), np.hypot(sides[1], sides[2]) / 2
        else:  # a capsule is turned by -90° about x, which takes its z to the link's y
            radius = SCALE * float(shape.get("radius"))
            half = np.array([0, SCALE * float(shape.get("length", 0)) / 2 + radius, 0])
        centre = vector(collision.find("origin"))
        limbs[link.get("name")] = (origin + turn @ (centre - half), origin + turn @ (centre + half), radius)
    return limbs


@pytest.mark.parametrize("motion", load_motions())
def test_pose_equals_forward_kinematics_of_the_files(humanoid, motion):
    data = humanoid.motions[motion]
    for row in (0, 7, len(data.frames) - 1):
        if row == len(data.frames) - 1 and data.wraps:
            continue  # the end of a cycle is shown as the start of the next one
        p1, p2 = humanoid.pose(motion, float(data.times[row]))
        expected, limbs = urdf_limbs(data.frames[row]), humanoid.limbs(p1, p2)
        assert len(limbs) == len(expected) == 15
        for name, a, b, radius in zip(limbs.names, limbs.p1, limbs.p2, limbs.radius, strict=True):
            # getQuaternionSlerp is good to 1e-7 and the capsules' rpy of 1.570796 turns them by 3e-7.
            # A capsule may run either way along its axis.
            ends = sorted([a.tolist(), b.tolist()])
            np.testing.assert_allclose(ends, sorted(np.array(expected[name][:2]).tolist()), rtol=0, atol=2e-6)
            assert radius == pytest.approx(expected[name][2], abs=1e-12)


def test_a_box_lies_along_its_longest_side():
    half_axis, radius = containing_cylinder(pybullet.GEOM_BOX, (0.3, 2.0, 0.4))
    assert half_axis.tolist() == [0, 1, 0]
    assert radius == 0.25


def test_an_unknown_shape_is_refused():
    with pytest.raises(ValueError, match=f"sphere, capsule or box, got PyBullet geometry type {pybullet.GEOM_MESH}"):
        containing_cylinder(pybullet.GEOM_MESH, (1, 1, 1))


def test_a_wrapping_motion_repeats(humanoid):
    data = humanoid.motions["walk"]
    first, again = humanoid.pose("walk", 0.4)[0], humanoid.pose("walk", 0.4 + 2 * data.duration)[0]
    way = data.frames[-1, 1:4] - data.frames[0, 1:4]
    assert np.linalg.norm(way) > 1
    np.testing.assert_allclose(again - first, np.tile(2 * way, (15, 1)), rtol=0, atol=1e-6)
    back = humanoid.pose("walk", 0.4 - data.duration)[0]
    np.testing.assert_allclose(first - back, np.tile(way, (15, 1)), rtol=0, atol=1e-6)


def test_a_motion_holds_its_ends(humanoid):
    end = humanoid.motions["kick"].duration
    np.testing.assert_array_equal(humanoid.pose("kick", end + 5)[0], humanoid.pose("kick", end)[0])
    np.testing.assert_array_equal(humanoid.pose("kick", -5)[0], humanoid.pose("kick", 0)[0])


def test_each_frame_has_its_own_duration():
    durations = [0.25, 0.5, 0.0]
    frames = np.array([[d, 0, 0, x, 1, 0, 0, 0] for d, x in zip(durations, (0.0, 1.0, 3.0), strict=True)])
    motion = Recording("made up", False, frames)
    assert motion.duration == 0.75
    assert [pose_at(motion, t, ())[0][2] for t in (0.125, 0.25, 0.5, 0.75)] == [0.5, 1, 2, 3]


def test_a_motion_of_another_body_is_refused():
    with pytest.raises(ValueError, match=r"frames of 8 numbers, expected 12"):
        pose_at(Recording("made up", False, np.zeros((2, 8))), 0, (4,))


def test_unknown_motions_list_known_ones(humanoid):
    with pytest.raises(ValueError, match=r"walk, got 'moonwalk'"):
        humanoid.pose("moonwalk", 0)
