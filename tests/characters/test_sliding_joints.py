"""Joints that slide, or turn about a point beside a bone's origin: PyBullet's and MuJoCo's places, and refusals."""

import numpy as np
import pytest

import cylcollide as cc
from cylcollide.characters import quaternions

GANTRY = """<?xml version="1.0"?>
<robot name="gantry">
  <link name="rail"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="2 0.2 0.2"/></geometry></collision></link>
  <link name="sled"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><cylinder length="0.6" radius="0.05"/></geometry></collision></link>
  <link name="hand"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="0.15"/></geometry></collision></link>
  <joint name="slide" type="prismatic"><origin xyz="0.1 0.2 0.3" rpy="0.4 -0.5 0.6"/><parent link="rail"/>
    <child link="sled"/><axis xyz="0.6 0 0.8"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
  <joint name="turn" type="revolute"><origin xyz="0 0.5 0.1" rpy="-0.3 0.2 0.1"/><parent link="sled"/>
    <child link="hand"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
</robot>
"""

CRANE = """
<mujoco><worldbody><body name="rail" pos="1 2 3" quat="0.8 0.6 0 0">
  <freejoint/><geom type="box" size="1 0.1 0.1"/>
  <body name="sled" pos="0.1 0.2 0.3" quat="0.5 0.5 0.5 -0.5">
    <joint type="slide" axis="0.6 0 0.8"/><geom type="capsule" size="0.05 0.3"/>
    <body name="hand" pos="0 0.5 0.1" quat="0.6 0 0.8 0">
      <joint type="hinge" axis="0 1 0" pos="0.2 -0.1 0.3"/><geom type="sphere" size="0.15"/>
    </body>
  </body>
</body></worldbody></mujoco>
"""
SLIDE, TURN = np.array([0.7, -1.1, 0.0, 1.9]), np.array([0.5, -1.2, 2.0, 0.0])
ALONG = np.array([0.6, 0.0, 0.8])


def joints_of(rig: cc.Rig, anchor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Joint orientations and positions of the four moments; the hand turns about `anchor`, in its own frame."""
    turns, places = np.tile(rig.rest_orientations, (4, 1, 1)), np.tile(rig.rest_positions, (4, 1, 1))
    places[:, 1] += quaternions.rotated(rig.rest_orientations[1], SLIDE[:, None] * ALONG)
    own = quaternions.about_axis(1, TURN)
    turns[:, 2] = quaternions.product(rig.rest_orientations[2], own)
    places[:, 2] += quaternions.rotated(rig.rest_orientations[2], anchor - quaternions.rotated(own, anchor))
    return turns, places


def check(got: tuple[np.ndarray, np.ndarray], want: tuple[np.ndarray, np.ndarray], error: float) -> None:
    """Assert equal places, and equal turns up to the sign of the quaternion."""
    assert np.abs(got[0] - want[0]).max() < error
    assert np.abs(1.0 - np.abs(quaternions.dot(got[1], want[1]))).max() < error


def test_a_sled_on_a_rail_matches_pybullet(tmp_path):
    p = pytest.importorskip("pybullet")
    from cylcollide import bullet  # needs pybullet

    (tmp_path / "gantry.urdf").write_text(GANTRY)
    rig, client = cc.Rig.from_urdf(tmp_path / "gantry.urdf"), p.connect(p.DIRECT)
    try:
        body = p.loadURDF(
            str(tmp_path / "gantry.urdf"), [3, -1, 2], [0.1, 0.2, 0.3, 0.9], useFixedBase=True, physicsClientId=client
        )
        turns, places = joints_of(rig, np.zeros(3))
        for k in range(4):
            p.resetJointState(body, 0, SLIDE[k], physicsClientId=client)
            p.resetJointState(body, 1, TURN[k], physicsClientId=client)
            want = bullet.poses_of(client, body)
            check(rig.forward(want[0][0, 0], want[1][0, 0], turns[k], joint_positions=places[k]), want, 1e-6)
            if SLIDE[k]:
                at_zero = rig.forward(want[0][0, 0], want[1][0, 0], turns[k])[0]
                assert np.linalg.norm(at_zero[0, 1:] - want[0][0, 1:], axis=1) == pytest.approx(abs(SLIDE[k]), abs=1e-6)
    finally:
        p.disconnect(client)


def test_a_crane_matches_mujoco(tmp_path):
    """A joint that slides, and a hinge beside the origin of its body, for four moments at once."""
    mujoco = pytest.importorskip("mujoco")
    (tmp_path / "crane.xml").write_text(CRANE)
    rig, model = cc.Rig.from_mjcf(tmp_path / "crane.xml"), mujoco.MjModel.from_xml_string(CRANE)
    data, want = mujoco.MjData(model), []
    for slide, turn in zip(SLIDE, TURN, strict=True):
        data.qpos[7:] = slide, turn
        mujoco.mj_kinematics(model, data)
        want.append((data.xpos[1:].copy(), data.xquat[1:, [1, 2, 3, 0]].copy()))
    at, turns_of_bodies = (np.array(column) for column in zip(*want, strict=True))
    turns, places = joints_of(rig, np.array([0.2, -0.1, 0.3]))
    turns[:, 0] = quaternions.IDENTITY
    got = rig.forward(at[:, 0], turns_of_bodies[:, 0], turns, joint_positions=places)
    check(got, (at, turns_of_bodies), 1e-12)
    assert np.abs(rig.forward(at[:, 0], turns_of_bodies[:, 0], turns)[0] - at).max() > 0.1


def test_rest_positions_change_nothing():
    """For several roots, many characters and one, one place for all and one each: the bits of `forward` without."""
    limbs = cc.Limbs.spheres([[0, 0, 0]], 0.1)
    rest = [[1.0, 2, 3], [0, 0, 0.4], [0.3, 5, 0.4], [0, 0, 0.8]]
    rig = cc.Rig(["a", "b", "other root", "c"], [-1, 0, -1, 2], rest, [[0, 0, 0, 1]] * 4, limbs, [0])
    rng = np.random.default_rng(0)
    for k in (1, 3, 20):
        given = rng.normal(size=(k, 3)), rng.normal(size=(k, 4)), rng.normal(size=(k, 4, 4))
        plain = rig.forward(*given)
        for places in (rest, [rest] * k, np.asfortranarray(np.tile(rest, (k, 1, 1)))):
            moved = rig.forward(*given, joint_positions=places)
            assert all(np.array_equal(a, b) for a, b in zip(moved, plain, strict=True))
    one = rig.forward([0, 0, 0], [0, 0, 0, 1], [[0, 0, 0, 1]] * 4, joint_positions=np.array([rest, np.add(rest, 5.0)]))
    assert one[0].shape == (2, 4, 3)
    assert one[0][1, :, 0].tolist() == pytest.approx([0.0, 5.0, -0.7, 4.3])  # roots beside the first one, which stays
