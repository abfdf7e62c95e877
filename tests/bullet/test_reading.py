"""What a sync reads of known bodies: all that can change, and no more."""

from functools import partial

import numpy as np
import pybullet as p
import pytest
import support.pybullet_scenes as scenes

from cylcollide._pybullet import OWN
from cylcollide.bullet import Mirror
from cylcollide.bullet.client import TOKEN
from cylcollide.bullet.scene import SceneReader


def assert_equals_new_mirror(mirror, c):
    """All numbers of the limbs are those of a new mirror, bit by bit."""
    mirror.sync()
    for ours, theirs in zip(mirror.limbs._table, Mirror(c).limbs._table, strict=True):
        assert np.array_equal(ours, theirs)


def test_links_of_files_are_read_once_if_nothing_can_change_them(c, monkeypatch):
    people = [scenes.person(c) for _ in range(3)]
    made = scenes.linked(c, 1.0, -1, [scenes.shape(c, 0)] * 2)
    robot = p.loadURDF("cube_small.urdf", physicsClientId=c)
    mirror, read = Mirror(c, follow=False), []
    shapes_of = p.getCollisionShapeData

    def noted(body, link, physicsClientId):  # PyBullet's name
        read.append((body, link))
        return shapes_of(body, link, physicsClientId)

    monkeypatch.setattr(OWN, "getCollisionShapeData", noted)
    p.stepSimulation(physicsClientId=c)
    mirror.sync()
    assert read == [(made, 0), (made, 1), (robot, -1)]
    p.removeBody(made, physicsClientId=c)
    mirror.sync()
    assert {(person, link) for person in people for link in range(15)} <= set(read), "all, since something has changed"


def cloth(c, _):
    """A soft body: PyBullet's report on its mass is noise."""
    p.resetSimulation(p.RESET_USE_DEFORMABLE_WORLD, physicsClientId=c)
    p.loadSoftBody("cloth_z_up.obj", mass=1, useBendingSprings=1, useMassSpring=1, physicsClientId=c)


@pytest.mark.parametrize("make", [scenes.compounds, cloth])
def test_noise_in_reports_is_no_change(c, make, monkeypatch):
    """PyBullet's rows on a link's later shapes name no body and link, but hold noise that changes between calls."""
    make(c, np.random.default_rng(5))
    readings, own = [], SceneReader._read
    monkeypatch.setattr(SceneReader, "_read", lambda *given: readings.append(own(*given)) or readings[-1])
    mirror = Mirror(c, mesh="wrap", follow=False)
    for _ in range(3):
        mirror.rayTestBatch(*scenes.rays(np.random.default_rng(6), 200, 1.5))
        p.stepSimulation(physicsClientId=c)
        mirror.sync()
    assert len(readings) == 4
    assert len({id(scene.shapes) for scene in readings}) == 1


def test_a_scaled_base_of_several_shapes(c):
    scenes.compounds(c, np.random.default_rng(5))
    mirror = Mirror(c, follow=False)
    before = mirror.limbs
    p.unsupportedChangeScaling(0, [2, 2, 2], physicsClientId=c)
    assert_equals_new_mirror(mirror, c)
    assert mirror.limbs != before


def test_a_batch_whose_last_body_is_removed_before_it_is_read(c):
    """PyBullet's client lists only the last body of a batch."""
    ball = scenes.shape(c, 0)
    p.createMultiBody(1.0, ball, basePosition=[9, 9, 9], physicsClientId=c)
    follows, watches = Mirror(c), Mirror(c, follow=False)
    watched = watches.watch()
    made = watched.createMultiBody(1.0, ball, batchPositions=[[k, 0, 0] for k in range(3)])
    watched.removeBody(made[-1])
    for mirror in (follows, watches):
        assert mirror.rayTest([0, -1, 0.01], [0, 1, 0])[0][0] == made[0]


def test_a_body_that_reuses_number_and_user_data_of_another(c):
    """PyBullet reuses the numbers of a body and of its user data; the number of bodies does not change."""
    scenes.person(c)
    person = scenes.person(c)
    mirror = Mirror(c, follow=False)
    token = p.getUserDataId(person, TOKEN, physicsClientId=c)
    p.removeBody(person, physicsClientId=c)
    assert scenes.person(c, scale=0.3) == person
    assert p.addUserData(person, "note", "of the program", physicsClientId=c) == token
    assert_equals_new_mirror(mirror, c)


@pytest.mark.parametrize(
    ("code", "sizes"),
    [(p.GEOM_BOX, {"halfExtents": [0.137, 0.31, 0.231]}), (p.GEOM_CYLINDER, {"radius": 0.31, "height": 0.77})],
    ids=["box", "cylinder"],
)
def test_margins_and_scales_act_on_the_base_alone(c, code, sizes):
    """A margin changes the last bits of the base's size, a scale all of it; no link changes, even if it is named."""
    base, *links = (p.createCollisionShape(code, **sizes, physicsClientId=c) for _ in range(3))
    body = scenes.linked(c, 1.0, base, links)
    mirror, seen = Mirror(c, follow=False), [set(), set(), set()]
    margins = np.random.default_rng(1).uniform(0, 0.1, 12).tolist()
    calls = [partial(p.changeDynamics, body, k % 3 - 1, collisionMargin=margin) for k, margin in enumerate(margins)]
    calls += [partial(p.unsupportedChangeScaling, body, [1 + 0.1 * k] * 3) for k in range(3)]
    for call in calls:
        call(physicsClientId=c)
        assert_equals_new_mirror(mirror, c)
        for link, of_link in enumerate(seen, start=-1):
            of_link.add(p.getCollisionShapeData(body, link, physicsClientId=c)[0][3])
    assert len(seen[0]) > 3
    assert [len(of_link) for of_link in seen[1:]] == [1, 1], "if this fails, PyBullet was mended: links must be read"


@pytest.mark.parametrize("kind", [1, 2])
def test_shapes_scaled_by_a_body_between_two_syncs(c, kind):
    shape = scenes.shape(c, kind)
    scenes.linked(c, 1.0, scenes.shape(c, 0), [shape, scenes.shape(c, kind), shape])
    scenes.person(c)
    mirror = Mirror(c, follow=False)
    before = mirror.limbs
    passing = p.createMultiBody(1.0, shape, physicsClientId=c)
    p.unsupportedChangeScaling(passing, [2, 2, 2], physicsClientId=c)
    p.removeBody(passing, physicsClientId=c)
    assert_equals_new_mirror(mirror, c)
    larger = mirror.limbs.radius + mirror.limbs.half_extents.sum(1) > before.radius + before.half_extents.sum(1)
    assert np.flatnonzero(larger).tolist() == [1, 3]


def test_a_scaled_base_of_a_file(c):
    ball, box = (p.loadURDF(f"{name}_small.urdf", physicsClientId=c) for name in ("sphere", "cube"))
    person, mirror = scenes.person(c), Mirror(c, follow=False)
    for body in (ball, box, person):
        p.unsupportedChangeScaling(body, [2, 2, 2], physicsClientId=c)
        assert_equals_new_mirror(mirror, c)
    assert mirror.limbs.radius[0] == pytest.approx(0.06)
