"""Live bodies as rigs: placed limbs are the Mirror's, bones are PyBullet's link frames, rest is that of the URDF."""

import numpy as np
import pybullet
import pytest
import support.pybullet_chains as chains
import support.pybullet_scenes as scenes

import cylcollide as cc
from cylcollide._pybullet import data_folder
from cylcollide.bullet import Mirror, poses_of, rig_of

BUILD = {"flags": pybullet.URDF_USE_IMPLICIT_CYLINDER}

ROBOTS = "humanoid/humanoid.urdf", "r2d2.urdf", "turned"


@pytest.fixture
def robot(request, c, tmp_path):
    """Return the number of a body, loaded at a rotated pose, and its file."""
    path = data_folder() / request.param
    if request.param == "turned":
        path = tmp_path / "turned.urdf"
        path.write_text(scenes.TURNED)
    turn = np.array([0.1, -0.7, 0.3, 0.6])
    turn /= np.linalg.norm(turn)
    return pybullet.loadURDF(str(path), [1.0, -2.0, 3.0], turn.tolist(), physicsClientId=c, **BUILD), path


@pytest.mark.parametrize("robot", ROBOTS, indirect=True)
def test_placed_limbs_are_those_of_the_mirror(c, robot):
    body, rng = robot[0], np.random.default_rng(1)
    rig, mirror = rig_of(c, body, mesh="skip"), Mirror(c, mesh="skip")
    assert [place.link + 1 for place in mirror.limb_places] == rig.limb_bone.tolist()
    for _ in range(3):
        chains.bend(c, body, rng)
        mirror.sync()
        placed, want = rig.place(*poses_of(c, body)), mirror.limbs
        for column in ("p1", "p2", "box_axes", "half_extents", "radius"):
            assert getattr(placed, column) == pytest.approx(getattr(want, column), abs=1e-14), column
        assert placed.kind.tolist() == want.kind.tolist()


@pytest.mark.parametrize("robot", ROBOTS, indirect=True)
def test_bones_are_link_frames(c, robot):
    """PyBullet reports link frames in float32; bones are in float64."""
    body, _ = robot
    chains.bend(c, body, np.random.default_rng(2))
    positions, orientations = poses_of(c, body)
    links = range(pybullet.getNumJoints(body, physicsClientId=c))
    states = pybullet.getLinkStates(body, links, computeForwardKinematics=True, physicsClientId=c)
    assert len(states) == positions.shape[1] - 1 > 0
    for bone, state in enumerate(states, start=1):
        assert positions[0, bone] == pytest.approx(state[4], abs=1e-6)
        assert abs(np.dot(orientations[0, bone], state[5])) == pytest.approx(1.0, abs=1e-6)
    assert np.linalg.norm(orientations, axis=-1) == pytest.approx(np.ones(orientations.shape[:2]), abs=1e-15)


@pytest.mark.parametrize("robot", ROBOTS, indirect=True)
def test_the_rig_is_that_of_its_file(c, robot):
    """Two ways to the same robot: through PyBullet's importer, and through the parser of `Rig.from_urdf`."""
    body, path = robot
    live, read = rig_of(c, body, mesh="skip"), cc.Rig.from_urdf(path, mesh="skip")
    order = [read.bone_names.index(name) for name in live.bone_names]
    assert sorted(order) == list(range(len(order)))
    assert live.rest_positions[1:] == pytest.approx(read.rest_positions[order][1:], abs=1e-14)
    dots = (live.rest_orientations * read.rest_orientations[order]).sum(axis=1)
    assert np.abs(dots) == pytest.approx(np.ones(len(order)), abs=1e-14)
    limbs = {name: i for i, name in enumerate(read.limb_names)}
    for i, name in enumerate(live.limb_names):
        one, other = live.limbs, limbs[name]
        for column in ("p1", "p2", "radius", "box_axes", "half_extents"):
            assert getattr(one, column)[i] == pytest.approx(getattr(read.limbs, column)[other], abs=1e-14), column


def test_a_body_of_mjcf(c):
    """Without the flag its capsules are hulls, which PyBullet does not describe."""
    path = str(data_folder() / "mjcf" / "humanoid_symmetric_no_ground.xml")
    (hulls,) = pybullet.loadMJCF(path, physicsClientId=c)
    with pytest.raises(ValueError, match=r"link -1 \('torso'\): expected .*MJCF capsules with flags=URDF_USE_IMPLICIT"):
        rig_of(c, hulls)
    pybullet.removeBody(hulls, physicsClientId=c)
    (body,) = pybullet.loadMJCF(path, physicsClientId=c, **BUILD)
    rig, mirror = rig_of(c, body), Mirror(c)
    assert len(rig.limbs) == len(mirror.limbs) == 17
    assert rig.place(*poses_of(c, body)).p1 == pytest.approx(mirror.limbs.p1, abs=1e-14)


def test_links_without_names_get_some(c):
    """A body that is made of shapes."""
    ball = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=0.5, physicsClientId=c)
    body = pybullet.createMultiBody(1.0, ball, basePosition=[0, 0, 2], physicsClientId=c)
    rig = rig_of(c, body)
    assert len(rig.limbs) == len(rig.bone_names) == 1
    assert rig.place(*poses_of(c, body)).p1.tolist() == [[0, 0, 2]]


def test_shapes_that_are_no_limbs(c):
    plane = pybullet.createCollisionShape(pybullet.GEOM_PLANE, physicsClientId=c)
    floor = pybullet.createMultiBody(0.0, plane, physicsClientId=c)
    arm = pybullet.loadURDF(str(data_folder() / "kuka_iiwa/model.urdf"), physicsClientId=c, **BUILD)
    for body in (floor, arm):
        with pytest.raises(ValueError, match=rf"body {body} \(.*\), link -1 \(.*\): expected spheres.*mesh='skip'"):
            rig_of(c, body)
        assert len(rig_of(c, body, mesh="skip").limbs) == 0
    with pytest.raises(ValueError, match="mesh: expected 'raise' or 'skip', got 'wrap'"):
        rig_of(c, arm, mesh="wrap")


@pytest.mark.parametrize("body", [-1, 7, "r2d2", None])
def test_unknown_bodies(c, body):
    for question in (rig_of, poses_of):
        with pytest.raises(ValueError, match=r"body: expected the number of a body of the client, \[\], got"):
            question(c, body)


def test_unknown_clients():
    for question in (rig_of, poses_of):
        with pytest.raises(ValueError, match="client: expected a connected PyBullet client"):
            question(77, 0)
