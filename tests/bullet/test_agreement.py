"""The mirror compared with the live client: equal body, link and point for every clear ray, for all kinds of bodies."""

import numpy as np
import pybullet as p
import support.pybullet_scenes as scenes

import cylcollide as cc
from cylcollide.bullet import Mirror

RAYS = 1500


def assert_agreement(mirror, number, seed, span=1.5, centre=(0.0, 0.0, 0.0), least=150, **keywords):
    """Compare body, link and place of the hits of clear rays, to the tolerances of `support.pybullet_scenes`."""
    starts, ends = scenes.rays(np.random.default_rng(seed), RAYS, span, centre)
    found = scenes.compare(mirror, number, starts, ends, **keywords)
    assert found.clear.mean() > 0.9
    hits = np.array([i for i in np.flatnonzero(found.clear) if found.ours[i][0] >= 0])
    assert len(hits) >= least
    assert len(hits) < found.clear.sum(), "some rays have to miss"
    wrong = [i for i in np.flatnonzero(found.clear) if found.ours[i][:2] != found.theirs[i][:2]]
    assert [(found.ours[i], found.theirs[i]) for i in wrong] == []
    fraction = np.array([[answers[i][2] for i in hits] for answers in (found.ours, found.theirs)])
    between = (found.earliest[hits] <= fraction) & (fraction <= found.latest[hits])
    assert between.all(), [(found.ours[i], found.theirs[i]) for i in hits[~between.all(axis=0)]]
    along = fraction[0, :, None] * (ends[hits] - starts[hits])
    np.testing.assert_allclose([found.ours[i][3] for i in hits], starts[hits] + along, atol=1e-12)
    flat = [np.dot(found.ours[i][4], found.theirs[i][4]) for i in hits]
    assert np.median(flat) > 0.999, "normals are outward"
    return {found.ours[i][:2] for i in hits}


def assert_agreement_of_a_scene(c, make, seed, least, limbs=None):
    """Make a scene, check the number of its limbs, and compare its clear rays."""
    make(c, np.random.default_rng(seed))
    mirror = Mirror(c)
    p.performCollisionDetection(physicsClientId=c)
    assert limbs in (None, len(mirror.limbs))
    return assert_agreement(mirror, c, seed + 1, least=least)


def test_every_shape_static_and_dynamic_with_and_without_frames(c):
    seen = assert_agreement_of_a_scene(c, scenes.geometry, 1, least=750, limbs=40)
    assert {body for body, _ in seen} > set(range(35))


def test_compound_bodies_and_chains_of_links(c):
    seen = assert_agreement_of_a_scene(c, scenes.compounds, 3, least=375, limbs=6 * 4 + 6 * 4)
    assert {link for _, link in seen} == {-1, 0, 1, 2}


def test_urdf_with_several_shapes_a_link_scaled_fixed_and_posed(c, tmp_path):
    seen = assert_agreement_of_a_scene(c, lambda *given: scenes.urdf(*given, tmp_path), 5, least=190)
    assert {(0, -1), (0, 0), (1, -1), (1, 0)} < seen
    assert len({link for body, link in seen if body == 2}) > 8


def test_bodies_and_links_that_fall(c):
    rng = np.random.default_rng(12)
    p.setGravity(0, 0, -9.8, physicsClientId=c)
    scenes.compounds(c, rng)
    for k in range(12):
        scenes.body(c, k % 4, rng.uniform(-1.5, 1.5, 3), rng, mass=1.0, inertial=True)
    mirror = Mirror(c)
    for body in range(p.getNumBodies(physicsClientId=c)):
        for joint in range(min(2, p.getNumJoints(body, physicsClientId=c))):
            p.setJointMotorControl2(body, joint, p.VELOCITY_CONTROL, targetVelocity=3.0, force=50, physicsClientId=c)
    for _ in range(2):
        for _ in range(30):
            p.stepSimulation(physicsClientId=c)
        assert_agreement(mirror, c, 13, least=300, centre=(0, 0, -0.3))


def test_mjcf_with_implicit_capsules(c):
    p.loadMJCF("mjcf/humanoid.xml", flags=p.URDF_USE_IMPLICIT_CYLINDER, physicsClientId=c)
    mirror = Mirror(c)
    assert len(mirror.limbs) == 19
    p.performCollisionDetection(physicsClientId=c)
    # the margin of its spheres and capsules is their radius: nothing is rounded off
    assert_agreement(mirror, c, 9, span=0.8, centre=(0, 0, 1.2), least=190)


def test_mjcf_cylinder_whose_margin_is_a_tenth_of_its_size(c, tmp_path):
    path = tmp_path / "cylinder.xml"
    geom = '<geom type="cylinder" fromto="0 0 0 .1 .2 .5" size=".07"/>'
    path.write_text(f'<mujoco><worldbody><body pos="0 0 0">{geom}</body></worldbody></mujoco>')
    p.loadMJCF(str(path), physicsClientId=c)
    mirror = Mirror(c)
    assert mirror.limbs.kind.tolist() == [cc.Shape.CYLINDER]
    p.performCollisionDetection(physicsClientId=c)
    # a margin of 7 mm, of which (1 - 1 / sqrt 2) is taken off the rim
    assert_agreement(mirror, c, 10, span=0.4, centre=(0.05, 0.1, 0.25), least=75, rounded=2.2e-3)


def test_batches_beyond_bullets_limit(c):
    scenes.body(c, 3, [0, 0, 0])
    mirror = Mirror(c)
    count = 20_000
    x = np.linspace(-0.3, 0.3, count)
    starts, ends = (np.stack([x, np.full(count, y), np.zeros(count)], axis=1) for y in (-1.0, 1.0))
    answers = mirror.rayTestBatch(starts, ends)
    assert len(answers) == count
    assert [answer[0] for answer in answers] == np.where(np.abs(x) <= 0.15, 0, -1).tolist()
    assert answers[-5:] == mirror.rayTestBatch(starts[-5:], ends[-5:])
    assert mirror.rayTestBatch(starts, ends, numThreads=0) == answers
