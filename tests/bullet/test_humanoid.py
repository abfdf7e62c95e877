"""PyBullet's humanoid as limb cylinders: they contain the shapes and follow the motions."""

import numpy as np
import pybullet
import pytest

import cylcollide as cc
from cylcollide._pybullet import data_folder
from cylcollide.bullet.humanoid import MOTION_PREFIX, SCALE, Humanoid, containing_cylinder, load_motions, pose_at
from cylcollide.characters.deepmimic import Recording


@pytest.fixture(scope="module")
def humanoid():
    with Humanoid() as character:
        yield character


@pytest.fixture(scope="module")
def rig(tmp_path_factory):
    """The humanoid as this package reads its file, which ends with a zero byte."""
    path = tmp_path_factory.mktemp("humanoid") / "humanoid.urdf"
    path.write_bytes((data_folder() / "humanoid" / "humanoid.urdf").read_bytes().rstrip(b"\0"))
    return cc.Rig.from_urdf(path).scaled(SCALE)


@pytest.mark.parametrize("motion", load_motions())
def test_poses_are_those_of_the_rig_and_the_clip_of_the_files(humanoid, rig, motion):
    """`getQuaternionSlerp` is good to 1e-7, and the capsules' rpy of 1.570796 turns them by 3e-7."""
    times = humanoid.motions[motion].times[[0, 7, -2]]
    clip = cc.Clip.load_deepmimic(data_folder() / "data" / "motions" / f"{MOTION_PREFIX}{motion}.txt")
    posed = rig.forward(*clip.at(times, rig))
    limbs = cc.Limbs.concat([humanoid.limbs(*humanoid.pose(motion, time)) for time in times.tolist()])
    order = [15 * k + rig.limb_names.index(name) for k in range(3) for name in humanoid.names]
    shapes = rig.place(*posed)[order]
    assert len(limbs) == len(shapes) == 3 * 15
    way, axis = (limbs.p2 - limbs.p1) / 2, (shapes.p2 - shapes.p1) / 2
    box, half = shapes.kind == cc.Shape.BOX, shapes.half_extents
    assert (half.argmax(axis=1)[box] == 0).all()
    axis[box] = half[box, :1] * shapes.box_axes[box, 0]
    longer = np.linalg.norm(axis, axis=1) + np.where(box, 0.0, shapes.radius)
    np.testing.assert_allclose(limbs.p1 + limbs.p2, shapes.p1 + shapes.p2, rtol=0, atol=4e-6)
    np.testing.assert_allclose(np.linalg.norm(way, axis=1), longer, rtol=0, atol=2e-6)
    np.testing.assert_allclose(np.linalg.norm(np.cross(way, axis), axis=1), 0.0, atol=2e-6)  # either way along the axis
    np.testing.assert_allclose(limbs.radius, np.where(box, np.hypot(half[:, 1], half[:, 2]), shapes.radius), atol=1e-12)


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
