"""Changes that no mirror records: a mirror that follows its client notices each one that may affect a ray."""

import pybullet as p
import pytest
import support.pybullet_scenes as scenes

from cylcollide.bullet import Mirror


def near_and_fresh(c, near_calls, ray, **keywords):
    """Two functions: query a mirror, which must answer like a new one; and whether it read only near bodies."""
    mirror = Mirror(c)

    def ask():
        answers = mirror.rayTest(*ray, **keywords)
        assert answers == Mirror(c, follow=False).rayTest(*ray, **keywords)
        return answers[0][0]

    return ask, lambda: near_calls[-1].answers is not None


@pytest.mark.parametrize("kind", [1, 2])
def test_a_base_that_grows_unseen_where_no_ray_was_near(c, kind, near_calls):
    body = scenes.body(c, kind, [0, 0, 0], mass=1.0)
    ask, was_near = near_and_fresh(c, near_calls, ([0.8, -6, 0.1], [0.8, 6, 0.1]))
    assert (ask(), was_near()) == (-1, True)
    for size, hit in ((9, body), (1, -1), (9, body)):
        p.unsupportedChangeScaling(body, [size] * 3, physicsClientId=c)
        assert ask() == hit


@pytest.mark.parametrize("kind", [0, 3])
def test_a_link_that_grows_unseen_with_the_base_of_another_body(c, kind, near_calls):
    shape = scenes.shape(c, kind)
    linked = scenes.linked(c, 1.0, scenes.shape(c, 0), [shape], basePosition=[0, 19, 0])
    body = p.createMultiBody(1.0, shape, baseOrientation=[0.6, 0, 0, 0.8], physicsClientId=c)
    ask, was_near = near_and_fresh(c, near_calls, ([0.8, -6, 0.1], [0.8, 6, 0.1]))
    query_beside, was_near_beside = near_and_fresh(c, near_calls, ([1.8, 13, 0.1], [1.8, 25, 0.1]))
    assert (ask(), was_near(), query_beside(), was_near_beside()) == (-1, True, -1, True)
    for size, hits in ((9, (body, linked)), (1, (-1, -1)), (9, (body, linked))):
        p.unsupportedChangeScaling(body, [size] * 3, physicsClientId=c)
        assert (ask(), query_beside()) == hits


def test_a_body_that_takes_a_number_unseen(c, near_calls):
    ball = scenes.shape(c, 0)
    body = p.createMultiBody(1.0, ball, physicsClientId=c)
    ask, was_near = near_and_fresh(c, near_calls, ([3.0, -2, 0.1], [3.0, 2, 0.1]))
    assert ask() == -1
    assert was_near()
    p.removeBody(body, physicsClientId=c)
    assert scenes.linked(c, 1.0, ball, [ball], linkPositions=[[3, 0, 0]]) == body
    assert ask() == body


@pytest.mark.parametrize("is_own", [True, False])
def test_a_body_that_takes_a_number_after_all_bodies_were_listed(c, is_own):
    """`syncBodyInfo` drops the list of a body's user data, so that they would outlive the body."""
    ball = scenes.shape(c, 0)
    body = p.createMultiBody(1.0, ball, physicsClientId=c)
    p.setCollisionFilterGroupMask(body, -1, 4, -1, c)
    mirror, ray = Mirror(c), ([0.02, 0, -9], [0.02, 0, 9])
    if is_own:
        p.syncBodyInfo(c)
    else:
        p.createMultiBody(0, ball, batchPositions=[[9, k, 0] for k in range(3)], physicsClientId=c)
        mirror.sync()
    p.removeBody(body, physicsClientId=c)
    assert p.createMultiBody(1.0, ball, physicsClientId=c) == body
    for mask, hit in ((1, body), (4, -1)):
        assert mirror.rayTest(*ray, collisionFilterMask=mask)[0][0] == hit
        assert Mirror(c).rayTest(*ray, collisionFilterMask=mask)[0][0] == hit


def test_a_link_of_only_a_mesh_is_where_its_joint_is(c):
    """PyBullet's boxes of links lag a step behind until forward kinematics is requested; Bullet's own boxes do not."""
    duck = p.createCollisionShape(p.GEOM_MESH, fileName="duck.obj", meshScale=[0.1] * 3, physicsClientId=c)
    body = scenes.linked(c, 1.0, scenes.shape(c, 0), [duck], linkPositions=[[1, 0, 0]])
    mirror = Mirror(c, mesh="wrap")
    watched = mirror.watch()
    watched.resetBaseVelocity(body, [0, 6, 0])
    watched.setTimeStep(1 / 30)
    for _ in range(3):
        watched.stepSimulation()
    watched.performCollisionDetection()
    y = p.getBasePositionAndOrientation(body, c)[0][1] + 0.087
    ray = [0.987, y, 9], [0.987, y, -9]
    near_calls = p.rayTest(*ray, physicsClientId=c)[0][:2]
    assert near_calls == (body, 0)
    assert watched.rayTest(*ray)[0][:2] == near_calls
    assert watched.rayTestBatch([ray[0]] * 1500, [ray[1]] * 1500)[7][:2] == near_calls
    assert Mirror(c, mesh="wrap").rayTest(*ray)[0][:2] == near_calls


def test_a_base_that_is_fixed_and_freed_unseen(c, near_calls):
    body = p.createMultiBody(1.0, scenes.shape(c, 0), physicsClientId=c)
    ray = [0, -2, 0.1], [0, 2, 0.1]
    by_all, was_near = near_and_fresh(c, near_calls, ray)
    by_static, by_four = (near_and_fresh(c, near_calls, ray, collisionFilterMask=mask)[0] for mask in (2, 4))
    assert [by_all(), by_static(), by_four()] == [body, -1, -1]
    p.changeDynamics(body, -1, mass=0.0, physicsClientId=c)
    assert by_all() == body
    assert was_near(), "a ray that hits all groups"
    assert [by_static(), by_four()] == [body, -1]
    p.changeDynamics(body, -1, mass=1.0, physicsClientId=c)
    assert by_static() == -1
    p.setCollisionFilterGroupMask(body, -1, 4, -1, c)
    assert [by_all(), by_static(), by_four()] == [body, -1, body]
    mirror = Mirror(c)
    mirror.rayTest(*ray)
    for mass in (0.0, 1.0):  # both are read, and Bullet gives another group than 4
        p.changeDynamics(body, -1, mass=mass, physicsClientId=c)
        assert mirror.rayTest(*ray)[0][0] == body
    assert [mirror.rayTest(*ray, collisionFilterMask=mask)[0][0] for mask in (4, 1)] == [-1, body]


@pytest.mark.parametrize("make", [Mirror, lambda c: Mirror(c, follow=False)])
def test_a_base_that_is_fixed_and_freed_between_two_rays(c, make):
    """Both calls come before the next ray; Bullet's group for a free base replaces the body's own."""
    body = p.createMultiBody(1.0, scenes.shape(c, 0), physicsClientId=c)
    p.setCollisionFilterGroupMask(body, -1, 4, -1, c)
    mirror, ray = make(c), ([[0, -2, 0.1]], [[0, 2, 0.1]])
    first = [mirror.rayTestBatch(*ray, collisionFilterMask=mask)[0][0] for mask in (4, 1)]
    p.changeDynamics(body, -1, 0.0, physicsClientId=c)
    p.changeDynamics(body, -1, mass=1.0, physicsClientId=c)
    mirror.sync()
    found = [mirror.rayTestBatch(*ray, collisionFilterMask=mask)[0][0] for mask in (4, 1)]
    assert (first, found) == ([body, -1], [-1, body])
