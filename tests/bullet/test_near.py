"""A few rays after a change of poses: the mirror reads only the bodies near them, and answers like a new mirror."""

import numpy as np
import pybullet as p
import pytest
import support.pybullet_chains as chains
import support.pybullet_scenes as scenes

from cylcollide.bullet import Mirror, patched
from cylcollide.bullet.client import Client
from cylcollide.bullet.near import FEW_RAYS, MOST_RAYS
from cylcollide.bullet.near_bodies import arms_of, joints_of
from cylcollide.bullet.tuples import MISS

IMPLICIT = p.URDF_USE_IMPLICIT_CYLINDER


def crowd(c, rng):
    """Bodies with and without joints and meshes, around a plane."""
    p.loadURDF("plane_implicit.urdf", physicsClientId=c)
    bodies = [chains.chain(c, rng, mass, bare) for mass, bare in ((1.0, False), (0.0, True), (1.0, True))]
    bodies += [
        p.loadURDF(name, rng.uniform(-3, 3, 3).tolist(), flags=IMPLICIT, useFixedBase=fixed, physicsClientId=c)
        for name, fixed in (("r2d2.urdf", False), ("duck_vhacd.urdf", False), ("husky/husky.urdf", True))
    ]
    for i in range(12):
        position = rng.uniform(-4, 4, 3).tolist()
        bodies.append(scenes.body(c, i % 4, position, rng, mass=float(i % 2), inertial=True))
    return bodies


WAYS = ["follow", "watch", "patched"]
POLICIES = [("ignore", 0.0), ("hit", 0.0), ("exit", 0.0), ("bullet", 0.0), ("ignore", 1e-2)]
USUAL = [("follow", *POLICIES[0]), ("watch", *POLICIES[2]), ("patched", *POLICIES[3]), ("watch", *POLICIES[4])]
"""Each way and each policy but "hit", which differs from "exit" only for starts inside."""


@pytest.mark.parametrize(
    ("way", "inside", "tolerance"),
    [
        pytest.param(way, *policy, marks=() if (way, *policy) in USUAL else pytest.mark.long)
        for way in WAYS
        for policy in POLICIES
    ],
)
def test_answers_equal_those_of_the_whole_scene(c, way, inside, tolerance, near_calls):
    """A mirror that reads all bodies, at every tenth step a new one."""
    rng = np.random.default_rng(1)
    bodies = crowd(c, rng)
    options = {"mesh": "wrap", "inside": inside, "tolerance": tolerance}
    mirror, hits, agreed = Mirror(c, **options, follow=way == "follow"), 0, 0
    api = mirror.watch() if way == "watch" else p
    saved = p.saveState(physicsClientId=c)
    with patched(**options):
        for k in range(30):
            chains.change(c, bodies, rng, api)
            if k % 15 == 14:
                api.restoreState(saved, **({} if way == "watch" else {"physicsClientId": c}))
            starts, ends = chains.rays(rng, int(rng.choice([1, 2, 31, 4 * FEW_RAYS])))
            mask, before = int(rng.choice([-1, -1, 1, 2])), len(near_calls)
            if way == "patched":
                answers = p.rayTestBatch(starts, ends, collisionFilterMask=mask, physicsClientId=c)
            else:
                answers = mirror.rayTestBatch(starts, ends, collisionFilterMask=mask)
            agreed += len(near_calls) > before and near_calls[-1].answers is not None
            if k % 10 == 0:
                whole = Mirror(c, **options, follow=False)
            whole.sync()
            assert answers == whole.rayTestBatch(starts, ends, collisionFilterMask=mask), k
            hits += sum(answer[0] >= 0 for answer in answers)
            if way != "patched" and k % 10 == 0:
                assert np.array_equal(mirror.limbs.p1, whole.limbs.p1), "limbs are complete"
    assert hits > 150
    assert agreed > (7 if inside == "bullet" else 20)
    found = [one for one in near_calls if one.answers is not None]
    skipped = np.mean([1 - one.near / one.bodies for one in found])
    assert skipped > (0.1 if way == "follow" else 0.2), "most single rays leave most bodies alone"
    assert np.mean([one.read < one.links for one in found]) > 0.1, "and links that are nearer to the base than the ray"


def test_a_link_far_out_on_a_sliding_joint(c, near_calls):
    body = chains.chain(c, np.random.default_rng(5))
    mirror = Mirror(c)
    for out in (50.0, -80.0):
        p.resetJointState(body, 1, out, physicsClientId=c)
        up = np.array([0.0, 0.0, 3.0])
        there = np.array(p.getLinkState(body, 1, computeForwardKinematics=True, physicsClientId=c)[0])
        assert mirror.rayTest(there - up, there + up)[0][:2] == (body, 1)
        assert mirror.rayTest(there - 3 * up, there - 2 * up)[0][0] == -1
        p.resetJointState(body, 1, 0.0, physicsClientId=c)
        assert mirror.rayTest(there - up, there + up)[0][0] == -1
        assert near_calls[-1].near == 0, "no ray comes near"


def test_a_sliding_joint_with_a_long_axis(c):
    """PyBullet moves the link by the position times the axis, whose length need not be 1."""
    ball = scenes.shape(c, 0)
    slide = {"linkJointTypes": [p.JOINT_PRISMATIC], "linkJointAxis": [[10, 0, 0]]}
    body = scenes.linked(c, 0.0, ball, [ball], **slide)
    mirror = Mirror(c)
    p.resetJointState(body, 0, 3.0, physicsClientId=c)
    assert mirror.rayTest([31, 0, -5], [31, 0, 5])[0][:2] == (body, 0)


def test_joints_of_other_kinds_reach_anywhere(c, monkeypatch):
    body = p.loadURDF("kuka_iiwa/model.urdf", physicsClientId=c)
    client = Client(c)
    own = p.getJointInfo

    def planar(*given, **named):
        joint = own(*given, **named)
        return (*joint[:2], p.JOINT_PLANAR, *joint[3:])

    monkeypatch.setattr(client.api, "getJointInfo", planar)
    assert min(arms_of(joints_of(client, body), 1.0)[0][link] for link in range(7)) == np.inf


def test_a_body_that_was_removed_or_replaced(c, near_calls):
    shape = scenes.shape(c, 0)
    body = p.createMultiBody(1.0, shape, physicsClientId=c)
    mirror = Mirror(c, follow=False)
    watched, ray = mirror.watch(), ([-1, 0, 0], [1, 0, 0])
    mirror.rayTest(*ray)
    watched.stepSimulation()
    assert mirror.rayTest(*ray)[0][0] == body
    p.removeBody(body, physicsClientId=c)  # not by the watched client
    watched.stepSimulation()
    assert mirror.rayTest(*ray)[0][0] == -1
    watched.createMultiBody(1.0, scenes.shape(c, 1))
    watched.stepSimulation()
    assert mirror.rayTest(*ray) == Mirror(c).rayTest(*ray)
    assert mirror.rayTest(*ray)[0][0] >= 0
    assert len(near_calls) >= 2


def test_a_mesh_that_grows(c, near_calls):
    body = p.loadURDF("duck_vhacd.urdf", [0, 0, 0], useFixedBase=True, physicsClientId=c)
    mirror = Mirror(c, mesh="wrap", follow=False)
    watched, ray = mirror.watch(), ([-3, 1.0, 1.0], [3, 1.0, 1.0])
    mirror.rayTest(*ray)
    watched.stepSimulation()
    assert mirror.rayTest(*ray)[0][0] == -1
    assert (near_calls[-1].answers, near_calls[-1].near) == ([MISS], 0), "no ray comes near"
    watched.unsupportedChangeScaling(body, [40, 40, 40])
    mirror.rayTestBatch(np.zeros((MOST_RAYS + 1, 3)), np.ones((MOST_RAYS + 1, 3)))
    watched.performCollisionDetection()
    for x, z in ((-1.0, 0.5), (0.5, 0.4), (-0.5, -0.4), (0.8, -0.2)):
        ray = ([x, 5, z], [x, -5, z])
        assert mirror.rayTest(*ray) == Mirror(c, mesh="wrap").rayTest(*ray)
        assert mirror.rayTest(*ray)[0][0] == body, "far from where it was read"


def test_many_tests_after_one_step_read_the_whole_scene(c, near_calls):
    crowd(c, np.random.default_rng(4))
    mirror = Mirror(c, mesh="wrap", follow=False)
    watched = mirror.watch()
    mirror.rayTest([0, 0, 1], [0, 0, -1])
    watched.stepSimulation()
    answers = {mirror.rayTest([0, 0, 1], [0, 0, -1]) for _ in range(20)}
    assert len(near_calls) == 8
    assert len(answers) == 1


def test_undecided_rays_are_cast_at_the_whole_scene(c, near_calls):
    p.loadURDF("plane_implicit.urdf", physicsClientId=c)
    scenes.body(c, 0, [0, 0, 3])
    mirror = Mirror(c)
    edge = ([[-1.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]])  # in the plane
    assert mirror.rayTestBatch(*edge) == Mirror(c, follow=False).rayTestBatch(*edge)
    assert near_calls[-1].answers is None
    p.resetBasePositionAndOrientation(0, [0, 0, 1], [0, 0, 0, 1], c)
    assert mirror.rayTest([0.5, 0, 2], [0.5, 0, -2])[0][3] == (0.5, 0.0, 1.0)
    assert near_calls[-1].answers is None, "a plane that moved"
    with pytest.raises(ValueError, match="rayFromPosition: expected"):
        mirror.rayTest([np.nan, 0, 0], [0, 0, 1])
