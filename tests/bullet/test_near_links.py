"""Links that are not read: bounds on their places by joints to links that are, and which of them rays may hit."""

from contextlib import nullcontext

import numpy as np
import pybullet as p
import pytest
import support.pybullet_chains as chains
import support.pybullet_scenes as scenes

from cylcollide.bullet import Mirror, near, patched
from cylcollide.bullet.client import BASE, Client
from cylcollide.bullet.near_bodies import LENGTHS, closest_hold, holds_of, joints_of, read_first
from cylcollide.bullet.near_loops import NO_RAY
from cylcollide.bullet.poses import link_frames
from cylcollide.shapes import rotation_matrices


def bent(c, body, rng):
    """Put a body in a random pose; return the frames of its base and links, (1 + links, 7)."""
    p.resetBasePositionAndOrientation(body, rng.normal(size=3).tolist(), scenes.quaternion(rng), c)
    chains.bend(c, body, rng)
    return link_frames(Client(c), {body: [BASE, *range(p.getNumJoints(body, c))]})


@pytest.mark.parametrize("bare", [False, True])
@pytest.mark.parametrize("name", ["humanoid/humanoid.urdf", "r2d2.urdf", None])
def test_a_link_is_where_its_joints_hold_it(c, name, bare):
    rng = np.random.default_rng(2)
    body = chains.chain(c, rng) if name is None else p.loadURDF(name, physicsClientId=c)
    joints = joints_of(Client(c), body)
    every = range(len(joints))
    first = read_first(joints, every, bare)
    rest = sorted({*every} - {*first})
    assert len(first) < len(joints), "some links are held"
    assert not bare or all(joints[link][1] != BASE for link in rest)
    for _ in range(20):
        frames = bent(c, body, rng)
        turns = rotation_matrices(frames[:, 3:])
        for link in rest:
            a, b, (share, *arms, apart, slack, room) = closest_hold(holds_of(joints, link, first), 1.0)
            assert {a, b} <= {*first, BASE}
            one, other = (frames[1 + k, :3] + turns[1 + k] @ arm for k, arm in ((a, arms[:3]), (b, arms[3:])))
            assert abs(np.linalg.norm(one - other) - apart) <= slack + 1e-12
            away = np.linalg.norm(frames[1 + link, :3] - (1 - share) * one - share * other)
            assert away <= room + 1e-15
            assert away >= 0.9 * room - 2 * slack, "no room that a link does not use"


def test_few_links_of_people_are_read_late(c, near_calls):
    rng = np.random.default_rng(7)
    p.loadURDF("plane_implicit.urdf", physicsClientId=c)
    people = [scenes.person(c, [x, 0, 1]) for x in (0, 1.5, 3)]
    mirror, whole, hits = Mirror(c, follow=False), Mirror(c, follow=False), set()
    watched = mirror.watch()
    for k in range(24):
        bent(c, people[k % 3], rng)
        watched.stepSimulation()
        whole.sync()
        target = np.array(p.getLinkState(people[k % 3], k % 15, computeForwardKinematics=True, physicsClientId=c)[0])
        way = rng.normal(size=(9, 3))
        answers = mirror.rayTestBatch(target - way, target + way)
        assert answers == whole.rayTestBatch(target - way, target + way), k
        hits |= {answer[1] for answer in answers if answer[0] == people[k % 3]}
    assert len(hits) > 10, "all kinds of links were hit"
    late, unread = np.array([(one.late, one.unread) for one in near_calls if one.answers is not None]).T
    assert len(late) > 18
    assert (late > 0).mean() > 0.5
    assert ((late > 0) & (unread > 0)).mean() > 0.5, "some links were read late, others not at all"


@pytest.mark.parametrize(("way", "count"), [("follow", 1), ("watch", 2), ("follow", 3)])
def test_links_are_where_a_step_has_left_them(c, near_calls, count, way):
    """PyBullet keeps the old frames of links until forward kinematics is requested."""
    rng, hits = np.random.default_rng(count), 0
    shapes = [scenes.shape(c, k % 4) for k in range(1 + count)]
    joints = {"linkJointTypes": [p.JOINT_REVOLUTE] * count, "linkJointAxis": [[1, 0, 0]] * count}
    body = scenes.linked(c, 1.0, shapes[0], shapes[1:], **joints)
    mirror, whole = Mirror(c, follow=way == "follow"), Mirror(c, follow=False)
    api, given = (p, {"physicsClientId": c}) if way == "follow" else (mirror.watch(), {})
    for k in range(40):
        for joint in range(count if k % 5 == 0 else 0):
            api.resetJointState(body, joint, float(rng.normal()), targetVelocity=20.0, **given)
        if k % 11 == 10:
            api.resetBasePositionAndOrientation(body, rng.normal(size=3).tolist(), scenes.quaternion(rng), **given)
        api.stepSimulation(**given)
        target = np.array(p.getLinkState(body, k % count, computeForwardKinematics=True, physicsClientId=c)[0])
        way_out = rng.normal(size=(5, 3))
        api.stepSimulation(**given)
        answers = mirror.rayTestBatch((target - way_out).tolist(), (target + way_out).tolist())
        whole.sync()
        assert answers == whole.rayTestBatch(target - way_out, target + way_out), k
        hits += sum(answer[1] >= 0 for answer in answers)
    assert hits > 20
    assert sum(one.answers is not None for one in near_calls) > 30


def test_a_base_without_shapes_is_not_hit(c, near_calls):
    ball = p.createCollisionShape(p.GEOM_SPHERE, radius=1.0, physicsClientId=c)
    scenes.linked(c, 0.0, -1, [ball], basePosition=[0.1, 0, 0], linkPositions=[[0.5, 0, 0]])
    mirror = Mirror(c)
    for y, first in ((0.9, NO_RAY), (0.5, 0)):
        mirror.rayTest([-3, y, y], [3, y, y])
        assert near_calls[-1].answers is not None
        assert mirror._follower._near._kept[-1][0].near.all()
        assert mirror._follower._near._kept[-1][0].ray_links[0, 0] == first, "a corner of the box, or the ball"


OWN_RESET = p.resetBasePositionAndOrientation
"""PyBullet's own function, whose calls no mirror records: imported before any mirror exists."""


@pytest.mark.parametrize(
    ("way", "length"),
    [
        pytest.param(way, length, marks=() if length == 2.0 else pytest.mark.long)
        for way in ("follow", "watch", "patched")
        for length in (0.4, 0.98, 1.02, 2.0)
    ],
)
def test_bodies_stretched_by_quaternions_of_other_lengths(c, near_calls, way, length):
    """Rays at a single link hit it, at once and after the state is restored, in stretched and in shrunk bodies."""
    rng, hits = np.random.default_rng(8), 0
    people = [scenes.person(c, [3 * x, 0, 1]) for x in range(2)]
    mirror, whole = Mirror(c, follow=way == "follow"), Mirror(c, follow=False)
    watched = mirror.watch() if way == "watch" else p
    given = {} if way == "watch" else {"physicsClientId": c}
    with patched() if way == "patched" else nullcontext():
        for k in range(15):
            person = people[k % 2]
            bent(c, person, rng)
            quaternion = (length * np.array(scenes.quaternion(rng))).tolist()
            watched.resetBasePositionAndOrientation(person, [3 * (k % 2), 0, 1], quaternion, **given)
            if k % 3 == 2:
                state = p.saveState(physicsClientId=c)
                watched.stepSimulation(**given)
                watched.restoreState(state, **given)
            frames = link_frames(Client(c), {person: [BASE, *range(15)]})
            target = frames[1 + k, :3] + 0.05 * rng.normal(size=3)
            side = np.cross(target - frames[0, :3], rng.normal(size=3))
            side *= 3.0 / np.linalg.norm(side)
            test = {"follow": mirror, "watch": watched, "patched": p}[way].rayTestBatch
            answers = test([target - side], [target + side], **(given if way == "patched" else {}))
            whole.sync()
            assert answers == whole.rayTestBatch([target - side], [target + side]), k
            hits += answers[0][0] == person
    assert hits > 5
    assert len(near_calls) > 12


def test_joints_whose_distance_differs_from_that_in_the_link(c, near_calls):
    person = scenes.person(c, [0, 0, 1])
    mirror = Mirror(c)
    OWN_RESET(person, [0, 0, 1], [0, 0, 0, 2], c)
    for link in (9, 3):
        there = np.array(p.getLinkState(person, link, computeForwardKinematics=True, physicsClientId=c)[0])
        up = np.array([0, 0, 0.5])
        rays = [there - up, [0, -1, 1]], [there + up, [0, 1, 1]]
        answers = mirror.rayTestBatch(*rays)
        assert answers == Mirror(c, follow=False).rayTestBatch(*rays)
        assert answers[0][:2] == (person, link)
        assert near_calls[-1].answers is None


def test_bad_quaternions_raise_pybullets_error(c):
    Mirror(c)
    body = scenes.body(c, 0, [0, 0, 0])
    before = LENGTHS[0]
    for quaternion in ("0001", [0, 0, "a", 1], [[0, 0, 0, 1]], [0, 0, 1], {0: 1}):  # with others PyBullet crashes
        with pytest.raises((SystemError, p.error)) as ours:
            p.resetBasePositionAndOrientation(body, [0, 0, 0], quaternion, c)
        with pytest.raises((SystemError, p.error)) as theirs:
            OWN_RESET(body, [0, 0, 0], quaternion, c)
        assert (type(ours.value), str(ours.value)) == (type(theirs.value), str(theirs.value))
    p.resetBasePositionAndOrientation(body, posObj=[0, 0, 0], ornObj=np.array([0, 0, 0.6, 0.8]), physicsClientId=c)
    assert LENGTHS[0] == before
    p.resetBasePositionAndOrientation(body, posObj=[0, 0, 0], ornObj=(0, 0, 3, 4), physicsClientId=c)
    assert LENGTHS[0] == (before[0], 25)


@pytest.mark.parametrize("kind", [p.JOINT_FIXED, p.JOINT_PRISMATIC])
@pytest.mark.parametrize(("length", "bare"), [(0.97, True), (1.03, True), (1.03, False)])
def test_a_body_slightly_stretched_by_a_quaternion(c, near_calls, kind, length, bare):
    """The body is found from its base alone: its link is where the joint cannot move it without the stretch."""
    ball = p.createCollisionShape(p.GEOM_SPHERE, radius=0.1, physicsClientId=c)
    given = {"linkPositions": [[2, 0, 0]], "linkJointTypes": [kind], "linkJointAxis": [[1, 0, 0]]}
    body = scenes.linked(c, 0.0, -1 if bare else ball, [ball], basePosition=[0.3, 0, 0], **given)
    if kind == p.JOINT_PRISMATIC:
        p.resetJointState(body, 0, 1.0, physicsClientId=c)
    mirror = Mirror(c)
    p.resetBasePositionAndOrientation(body, [0.3, 0, 0], [0, 0, 0, length], c)
    there = p.getLinkState(body, 0, computeForwardKinematics=True, physicsClientId=c)[0]
    for share in (0.999, 1.001):
        x = there[0] + 0.1 * share
        answers = mirror.rayTest([x, -1, 0], [x, 1, 0])
        assert near_calls[-1].answers is not None
        assert answers == Mirror(c, follow=False).rayTest([x, -1, 0], [x, 1, 0])
        assert (answers[0][0] == body) == (share < 1.0)


def test_more_links_than_fit_into_memory(c, near_calls, monkeypatch):
    monkeypatch.setattr(near, "LINKS_PER_RAY", 1)
    ball = p.createCollisionShape(p.GEOM_SPHERE, radius=1.0, physicsClientId=c)
    for k in range(5):
        p.createMultiBody(1.0, ball, basePosition=[k, 0, 0], physicsClientId=c)
    mirror = Mirror(c)
    for n, fits in ((200, True), (300, False)):
        starts, ends = np.full((n, 3), [-3.0, 0.1, 0.2]), np.full((n, 3), [9.0, -0.1, 0.1])
        assert n <= near.few_rays(5)
        assert mirror.rayTestBatch(starts, ends) == Mirror(c, follow=False).rayTestBatch(starts, ends)
        assert (near_calls[-1].answers is not None) == fits
