"""Successive scenes reuse the same arrays, unless something still reads them."""

import threading
from concurrent.futures import ThreadPoolExecutor
from copy import copy

import numpy as np
import pybullet as p
import pytest
import support.pybullet_scenes as scenes

from cylcollide.bullet import Mirror

STARTS, ENDS = [[-9.0, 0.1, 0.2], [0.1, -9.0, 0.2]], [[9.0, 0.1, 0.2], [0.1, 9.0, 0.2]]


@pytest.fixture
def c():
    with scenes.client() as client:
        rng = np.random.default_rng(5)
        p.loadURDF("plane_implicit.urdf", physicsClientId=client)
        for k in range(40):
            scenes.body(client, k % 4, rng.uniform(-3, 3, 3), rng, mass=1.0)
        yield client


def move(c, k):
    """Move all bodies but the plane to poses that depend on k, near enough to keep the tree."""
    for body in range(1, p.getNumBodies(c)):
        home, rng = np.random.default_rng(body).uniform(-3, 3, 3), np.random.default_rng([body, k])
        place, turn = home + rng.uniform(-0.1, 0.1, 3), rng.normal(size=4)
        p.resetBasePositionAndOrientation(body, place, turn, physicsClientId=c)


def state_of(mirror):
    """The mirror's limbs and answers, as bytes."""
    hits = mirror.cast_segments(STARTS, ENDS)
    return [column.tobytes() for column in (*mirror.limbs._table, hits.fraction, hits.position)]


HELD = {
    "nothing": (lambda mirror: mirror.limbs.p1.copy(), np.ndarray.tobytes),
    "column": (lambda mirror: mirror.limbs.p1, np.ndarray.tobytes),
    "limbs": (lambda mirror: mirror.limbs, lambda limbs: [column.tobytes() for column in limbs._table]),
    "hits": (lambda mirror: mirror.cast_segments(STARTS, ENDS), lambda hits: hits.position.tobytes()),
}
"""What is held of a scene, and how it is read: the points of hits are computed only then."""


@pytest.mark.parametrize("held", HELD)
def test_old_results_stay_and_new_ones_equal_those_of_a_new_mirror(c, held):
    mirror, kept, (hold, read) = Mirror(c, follow=False), [], HELD[held]
    for k in range(5):
        move(c, k)
        mirror.sync()
        assert state_of(mirror) == state_of(Mirror(c, follow=False))
        kept.append((hold(mirror), read(hold(mirror))))
    for thing, numbers in kept:
        assert read(thing) == numbers


def test_a_sync_that_fails_leaves_the_mirror_as_it_was(c):
    mirror = Mirror(c, follow=False)
    for k in range(6):
        move(c, k)
        mirror.sync()
        before = state_of(mirror)
        p.resetBasePositionAndOrientation(7, [np.nan, 0, 0], [0, 0, 0, 1], physicsClientId=c)
        for _ in range(2):
            with pytest.raises(ValueError, match="body 7"):
                mirror.sync()
            assert state_of(mirror) == before


def test_a_copy_of_a_watched_client_is_one(c):
    watched = Mirror(c).watch()
    assert copy(watched).rayTest(STARTS[0], ENDS[0]) == watched.rayTest(STARTS[0], ENDS[0])


def test_threads_sync_one_mirror(c):
    mirror = Mirror(c, follow=False)
    move(c, 0)
    mirror.sync()
    want, follower = state_of(mirror), mirror._follower
    elsewhere = np.zeros_like(follower.scene.frames)  # so that every sync finds all moved

    def sync(times):
        for _ in range(times):
            scene = follower._reader.read(follower.scene._replace(frames=elsewhere), False)
            follower._known = follower._known._replace(scene=scene)
            assert state_of(mirror) == want

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(sync, [30] * 4)) == [None] * 4


def test_an_older_reading_that_is_stored_late_is_not_used(c, monkeypatch: pytest.MonkeyPatch):
    """One thread stores its reading of the client only after another one has moved a body and read it."""
    sphere = p.createCollisionShape(p.GEOM_SPHERE, radius=0.5, physicsClientId=c)
    body, mirror = p.createMultiBody(1, sphere, physicsClientId=c), Mirror(c)
    watched, read, cast = mirror.watch(), mirror._follower._reader.read, mirror._rays
    has_read, may_store = threading.Event(), threading.Event()
    away, back = [50, 50, 50], [0, 0, 50]
    rays = [[0, 0, 60]] * 2000, [[0, 0, 40]] * 2000

    def read_and_pause(*given: object, **named: object) -> object:
        scene = read(*given, **named)
        if threading.current_thread() is slow:
            has_read.set()
            may_store.wait(10.0)
        return scene

    def cast_after_the_other(*given: object) -> object:
        may_store.set()
        if threading.current_thread() is not slow:
            slow.join()
        return cast(*given)

    watched.resetBasePositionAndOrientation(body, away, [0, 0, 0, 1])
    watched.rayTestBatch(*rays)
    watched.performCollisionDetection()
    monkeypatch.setattr(mirror._follower._reader, "read", read_and_pause)
    monkeypatch.setattr(mirror, "_rays", cast_after_the_other)
    slow = threading.Thread(target=watched.rayTestBatch, args=rays)
    slow.start()
    assert has_read.wait(10.0)
    watched.resetBasePositionAndOrientation(body, back, [0, 0, 0, 1])
    assert watched.rayTestBatch(*rays)[0][0] == body
    assert watched.rayTestBatch(*rays)[0][0] == body


@pytest.mark.machine_code  # plain Python cannot read PyBullet's tuples with holes
@pytest.mark.parametrize("n", [1, 300, 2000])
def test_a_body_with_fewer_links_that_the_watch_has_not_recorded(n: int):
    """For links that do not exist PyBullet's tuple of states has holes: the client is read again."""
    with scenes.client() as client:
        sphere = p.createCollisionShape(p.GEOM_SPHERE, radius=0.5, physicsClientId=client)
        p.createMultiBody(0, sphere, physicsClientId=client)
        robot = scenes.linked(client, 1, sphere, [sphere], basePosition=[3, 0, 0], linkPositions=[[0, 1, 0]])
        watched = Mirror(client).watch()
        assert watched.rayTest([-3, 0, 0], [3, 0, 0])[0][0] == 0
        p.removeBody(robot, physicsClientId=client)
        assert p.createMultiBody(0, sphere, basePosition=[0, 3, 0], physicsClientId=client) == robot
        watched.stepSimulation()
        assert watched.rayTestBatch([[0, 6, 0]] * n, [[0, 2, 0]] * n)[-1][:2] == (robot, -1)
