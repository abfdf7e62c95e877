"""Random PyBullet programs: whatever changes in a client, a mirror that followed it answers like a new one.

`docs/bullet.md` lists every function of PyBullet and how its effect is detected.
"""

import warnings

import numpy as np
import pybullet as p
import pybullet_data
import pytest
import support.pybullet_scenes as scenes
from pybullet_utils.bullet_client import BulletClient
from support.bullet_life import STEPS, Life

from cylcollide.bullet import Mirror, patched

pytestmark = pytest.mark.attack
SEEDS = pytest.mark.parametrize(
    "seed", [1, *(pytest.param(k, marks=[pytest.mark.long, pytest.mark.timeout(3600)]) for k in range(2, 6))]
)


@pytest.fixture
def c():
    with scenes.client() as number:
        yield number


def seen(mirror, x=0.0, **keywords):
    """The body that a ray straight down at x hits."""
    return mirror.rayTest([x + 0.001, 0.002, 5.0], [x, 0.0, -5.0], **keywords)[0][0]


def both(c, x=0.0, **keywords):
    """PyBullet's own answer at x."""
    return p.rayTest([x + 0.001, 0.002, 5.0], [x, 0.0, -5.0], physicsClientId=c, **keywords)[0][0]


def test_the_next_body_with_an_id_has_its_own_filter(c):
    shape = scenes.shape(c, 0)
    body = p.createMultiBody(1.0, shape, physicsClientId=c)
    p.setCollisionFilterGroupMask(body, -1, 4, -1, physicsClientId=c)
    mirror = Mirror(c)
    assert seen(mirror, collisionFilterMask=1) == -1
    p.removeBody(body, physicsClientId=c)
    assert p.createMultiBody(1.0, shape, physicsClientId=c) == body
    assert seen(mirror, collisionFilterMask=1) == both(c, collisionFilterMask=1) == body
    assert seen(mirror, collisionFilterMask=4) == both(c, collisionFilterMask=4) == -1


def test_the_next_body_after_a_reset_and_a_step(c):
    body = scenes.body(c, 0, [0, 0, 0], mass=1.0)
    p.setCollisionFilterGroupMask(body, -1, 0, 0, physicsClientId=c)
    mirror = Mirror(c, follow=False)
    assert seen(mirror) == -1
    p.resetSimulation(physicsClientId=c)
    assert scenes.body(c, 0, [0, 0, 0], mass=1.0) == body
    p.stepSimulation(physicsClientId=c)
    mirror.sync()
    assert seen(mirror) == both(c) == body


def test_batch_bodies_that_the_client_does_not_list(c):
    shape = scenes.shape(c, 0)
    mirror = Mirror(c)
    make = p.createMultiBody.__wrapped__  # PyBullet's own function; the module's lists all bodies once a mirror exists
    made = make(0, shape, batchPositions=[[0, 0, 0], [2, 0, 0], [4, 0, 0]], physicsClientId=c)
    assert p.getNumBodies(c) == 1, "if this fails, PyBullet was mended"
    assert [both(c, x) for x in (0, 2, 4)] == list(made)
    assert [seen(mirror, x) for x in (0, 2, 4)] == list(made)


@pytest.mark.parametrize("link", [-1, 0])
def test_a_pose_of_nan_names_its_body(c, link):
    scenes.body(c, 0, [5, 5, 5])
    if link < 0:
        body = p.loadURDF("cube_small.urdf", physicsClientId=c)
    else:
        body = p.loadURDF("humanoid/humanoid.urdf", flags=p.URDF_USE_IMPLICIT_CYLINDER, physicsClientId=c)
    mirror = Mirror(c)
    before, name = mirror.limbs.p1.copy(), p.getBodyInfo(body, c)[1].decode()
    p.resetBasePositionAndOrientation(body, [np.nan, 0, 0], [0, 0, 0, 1], physicsClientId=c)
    with pytest.raises(ValueError, match=rf"body {body} \('{name}'\), link {link}: expected a finite pose"):
        mirror.rayTest([0, 0, 1], [0, 0, 0])
    assert np.array_equal(mirror.limbs.p1, before), "a sync that fails leaves the mirror as it was"
    p.resetBasePositionAndOrientation(body, [0, 0, 1], [0, 0, 0, 0], physicsClientId=c)
    with pytest.raises(ValueError, match=rf"body {body} \('{name}'\), link {link}: expected a finite pose"):
        Mirror(c)
    p.resetBasePositionAndOrientation(body, [0, 0, 0], [0, 0, 0, 1], physicsClientId=c)
    mirror.sync()


def test_a_nan_pose_of_a_mesh_names_its_body(c):
    body = p.loadURDF("duck_vhacd.urdf", physicsClientId=c)
    mirror = Mirror(c, mesh="wrap")
    p.resetBasePositionAndOrientation(body, [np.nan, 0, 0], [0, 0, 0, 1], physicsClientId=c)
    with pytest.raises(ValueError, match=rf"body {body} \('.*'\), link -1: expected a finite pose"):
        mirror.sync()


def mirrors_of(number):
    """Three mirrors that follow a client in different ways, and the watched client."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about meshes
        followed, called, watching = (Mirror(number, mesh="wrap", follow=follow) for follow in (True, False, False))
    return followed, called, watching, watching.watch()


def walk(seed, steps):
    """A random program on two clients; returns the counts of steps and of answers."""
    rng = np.random.default_rng(seed)
    taken, hits = dict.fromkeys(STEPS, 0), {"limb": 0, "wrapped": 0, "miss": 0, "agree": 0, "differ": 0}
    with scenes.client() as one, scenes.client() as other:
        pairs = []
        for number in (one, other):
            followed, called, watching, watched = mirrors_of(number)
            pairs.append((Life(number, rng, watched), (followed, called, watching)))
        for k in range(steps):
            life, mirrors = pairs[rng.integers(2)]
            life.step()
            taken[life.last] += 1
            compare(life, mirrors, hits, f"seed {seed}, step {k}, {life.last}")
    return taken, hits


def compare(life, mirrors, hits, where):
    """Compare every answer with that of a new mirror, and count where PyBullet's own agree."""
    followed, called, _ = mirrors
    starts, ends = life.rays(12)
    keywords = life.keywords()
    try:
        fresh = Mirror(life.number, mesh="wrap", follow=False)
    except ValueError:  # PyBullet made a pose of NaN: every mirror must report it
        for mirror in mirrors:
            with pytest.raises(ValueError, match="finite pose"):
                mirror.sync()
        life.reset()
        return
    if life.filters_changed:
        followed.sync(filters=True)
    called.sync(filters=life.filters_changed)
    life.filters_changed = False
    expected = fresh.rayTestBatch(starts, ends, **keywords)
    for way, mirror in zip(("follow", "sync", "watch"), mirrors, strict=True):
        answers = mirror.rayTestBatch(starts, ends, **keywords)
        assert answers == expected, f"{where}, {way}"
        assert mirror.rayTest(starts[0], ends[0], **keywords) == expected[:1], f"{where}, {way}, one ray"
        assert np.array_equal(mirror.limbs.mask, fresh.limbs.mask), f"{where}, {way}"
    limbs = set(fresh.limb_places)
    for answer in expected:
        hits["miss" if answer[0] < 0 else "limb" if answer[:2] in limbs else "wrapped"] += 1
    if keywords["reportHitNumber"] < 0:
        p.performCollisionDetection(physicsClientId=life.number)
        mask = keywords["collisionFilterMask"]
        theirs = p.rayTestBatch(starts, ends, collisionFilterMask=mask, physicsClientId=life.number)
        same = sum(a[:2] == b[:2] for a, b in zip(expected, theirs, strict=True))
        hits["agree"] += same
        hits["differ"] += len(expected) - same


@SEEDS
def test_a_random_life(seed, request):
    long = request.node.get_closest_marker("long") is not None
    taken, hits = walk(seed, 2500 if long else 30)
    assert min(taken.values()) > 0 or not long
    assert sum(count > 0 for count in taken.values()) > len(taken) / 2
    assert min(hits["limb"], hits["miss"]) > (3000 if long else 20)
    assert hits["wrapped"] > (500 if long else 4), "scaled meshes and height fields are really hit"
    assert hits["differ"] < 0.02 * hits["agree"], "PyBullet's own verdicts, but for rays that graze"


def walk_patched(seed, steps):
    """A random program on two clients with unedited calls; returns the numbers of hits and misses."""
    rng, hits = np.random.default_rng(seed), {"hit": 0, "miss": 0}
    clients = [BulletClient(p.DIRECT) for _ in range(2)]
    try:
        lives = [Life(client._client, rng, client) for client in clients]
        for client in clients:
            client.setAdditionalSearchPath(pybullet_data.getDataPath())
        for k in range(steps):
            life = lives[rng.integers(2)]
            life.step()
            starts, ends = life.rays(12)
            keywords = life.keywords()
            try:
                expected = Mirror(life.number, mesh="wrap", follow=False).rayTestBatch(starts, ends, **keywords)
            except ValueError:  # a NaN pose: PyBullet answers
                with pytest.warns(UserWarning, match="PyBullet's own answer is returned"):
                    assert len(life.p.rayTestBatch(starts, ends, **keywords)) == 12
                life.reset()
                continue
            where = f"seed {seed}, step {k}, {life.last}"
            assert life.p.rayTestBatch(starts.tolist(), ends.tolist(), **keywords) == expected, where
            assert p.rayTest(starts[0], ends[0], physicsClientId=life.number, **keywords) == expected[:1], where
            for answer in expected:
                hits["hit" if answer[0] >= 0 else "miss"] += 1
    finally:
        for client in clients:
            client.disconnect()
    return hits


@SEEDS
def test_a_random_life_through_patched(seed, request):
    long = request.node.get_closest_marker("long") is not None
    with patched(mesh="wrap"):
        hits = walk_patched(seed, 2500 if long else 25)
    assert min(hits.values()) > (3000 if long else 20)
