"""The mirror compared with the live client: equal body, link and point for every clear ray, for all kinds of bodies.

Bullet stops within 1 mm of a surface, and rounds the edges of a shape with its collision margin (`docs/bullet.md`). So
a ray is clear if it hits the same limb with the shapes grown by that millimetre and with the shapes shrunk by that
rounding; then Bullet's point lies between the two surfaces.
"""

import numpy as np
import pybullet as p
import support.pybullet_chains as chains
import support.pybullet_scenes as scenes

import cylcollide as cc
from cylcollide.bullet import Mirror
from cylcollide.bullet.differences import SHELL, _shrunk

RAYS = 1500
ROUNDED = 0.5e-3  # a margin of 1 mm removes at most (1 - 1/sqrt 3) of it, at a box's corner


def planes_crossed(mirror, starts, ends):
    """Fraction of the first plane that each segment crosses, inf for none."""
    first = np.full(len(starts), np.inf)
    for sheet in mirror._state.sheets:
        above, below = (np.array(sheet.normal) @ (x - np.array(sheet.point)).T for x in (starts, ends))
        meets = (above > 0) != (below > 0)
        first = np.where(meets, np.minimum(first, above / np.where(meets, above - below, 1.0)), first)
    return first


def assert_agreement(mirror, number, seed, span=1.5, centre=(0.0, 0.0, 0.0), least=150, rounded=ROUNDED):
    """Compare body, link and place of the hits of clear rays."""
    starts, ends = scenes.rays(np.random.default_rng(seed), RAYS, span, centre)
    mirror.sync()
    limbs, planes = mirror.limbs, planes_crossed(mirror, starts, ends)
    grown, exact, small = (
        cc.HitWorld(one).cast_segments(starts, ends) for one in (limbs.inflated(SHELL), limbs, _shrunk(limbs, rounded))
    )
    clear = (grown.limb == small.limb) & (exact.limb == small.limb) & ~grown.started_inside
    clear &= (planes < grown.fraction) == (planes < small.fraction)
    assert clear.mean() > 0.9
    all_ours, all_theirs = mirror.rayTestBatch(starts, ends), p.rayTestBatch(starts, ends, physicsClientId=number)
    assert [all_ours[i][:2] for i in np.flatnonzero(clear)] == [all_theirs[i][:2] for i in np.flatnonzero(clear)]
    hits = np.array([i for i in np.flatnonzero(clear) if all_ours[i][0] >= 0])
    assert least <= len(hits) < clear.sum(), "some rays have to miss"
    ours, theirs = ([answers[i] for i in hits] for answers in (all_ours, all_theirs))
    fraction = np.array([[answer[2] for answer in answers] for answers in (ours, theirs)])
    is_plane = (planes < exact.fraction)[hits]
    earliest, latest = (
        np.where(is_plane, planes[hits] + slack, of_limbs.fraction[hits])
        for slack, of_limbs in ((-1e-12, grown), (1e-12, small))
    )
    between = ((earliest <= fraction) & (fraction <= latest)).all(axis=0)
    assert between.all(), [(ours[i], theirs[i]) for i in np.flatnonzero(~between)]
    along = fraction[0, :, None] * (ends[hits] - starts[hits])
    np.testing.assert_allclose([a[3] for a in ours], starts[hits] + along, atol=1e-12)
    assert np.median([np.dot(a[4], b[4]) for a, b in zip(ours, theirs, strict=True)]) > 0.999, "normals are outward"
    return {a[:2] for a in ours}


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
    path = tmp_path / "turned.urdf"
    path.write_text(scenes.TURNED)

    def make(c, rng):
        given = {"flags": p.URDF_USE_IMPLICIT_CYLINDER, "physicsClientId": c}
        for scale, fixed in ((0.35, True), (0.3, False)):
            place = rng.uniform(-1, 1, 3).tolist(), scenes.quaternion(rng)
            chains.bend(c, p.loadURDF(str(path), *place, useFixedBase=fixed, globalScaling=scale, **given), rng)
        chains.bend(c, scenes.person(c, [0.5, 0, 0], 0.3), rng)

    seen = assert_agreement_of_a_scene(c, make, 11, least=190)
    assert {(body, link) for body in (0, 1) for link in (-1, 0, 1)} < seen
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
