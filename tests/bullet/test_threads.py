"""Threads with patched ray tests: answers are those of each client's state, whatever other threads change meanwhile."""

from contextlib import nullcontext
from functools import partial

import pybullet as p
import pytest
from support.beside import repeated
from support.pybullet_scenes import GRAZE, THROUGH, ball

from cylcollide._pybullet import OWN
from cylcollide.bullet import Mirror, patched
from cylcollide.bullet.client import BodyLink, Client
from cylcollide.bullet.near_bodies import _mesh_radius
from cylcollide.bullet.tuples import MISS


def before_each(patch, act, *names: str) -> None:
    """Call `act` before PyBullet's own functions of these names, as if by another thread."""

    def acting(own, *given: object, **named: object) -> object:
        act()
        return own(*given, **named)

    for name in names:
        patch.setattr(OWN, name, partial(acting, getattr(OWN, name)))


def test_ray_tests_while_other_threads_step(clients):
    """Both clients are queried and stepped; bodies are added to and removed from one of them."""

    def ask() -> None:
        first, second = (client.rayTest(*ray) for client, ray in zip(clients, (GRAZE, THROUGH), strict=True))
        assert first == (MISS,)
        assert second[0][0] == 0

    with patched(), repeated(ask, ask, ask):
        for k in range(100):
            clients[k % 2].stepSimulation()
            clients[1].removeBody(ball(clients[1], 9.0))


def test_a_body_removed_while_it_is_read(clients, monkeypatch: pytest.MonkeyPatch):
    """The client is read again, without the body."""
    gone = [ball(clients[1], 9.0)]
    before_each(monkeypatch, lambda: gone and clients[1].removeBody(gone.pop()), "getBasePositionAndOrientation")
    with patched():
        assert clients[1].rayTest(*THROUGH)[0][0] == 0
    assert not gone


@pytest.mark.parametrize("read", ["getNumJoints", "getAABB"])
def test_a_body_removed_while_few_rays_are_prepared(clients, monkeypatch: pytest.MonkeyPatch, read):
    """After the scene was read and before a few rays read the places of its bodies."""
    with patched():
        gone = [ball(clients[1], 9.0)]
        p.rayTestBatch([THROUGH[0]] * 2000, [THROUGH[1]] * 2000, physicsClientId=clients[1]._client)
        before_each(monkeypatch, lambda: gone and clients[1].removeBody(gone.pop()), read)
        assert clients[1].rayTest(*THROUGH)[0][0] == 0
        assert not gone


@pytest.mark.parametrize("when", ["at first", "later"])
@pytest.mark.parametrize("n", [1, 2000])
@pytest.mark.parametrize("way", ["patched", "follow"])
def test_a_body_that_another_thread_replaces_while_it_is_read(clients, monkeypatch: pytest.MonkeyPatch, way, n, when):
    """A small ball at the origin gets the number of a large one elsewhere."""
    client, armed = clients[1], [when == "at first"]
    client.resetBasePositionAndOrientation(0, [0, 0, 9], [0, 0, 0, 1])
    body = ball(client, 9.0)
    small = client.createCollisionShape(p.GEOM_SPHERE, radius=0.1)
    beside = [[-3.0, 0.3, 0.0]] * n, [[3.0, 0.3, 0.0]] * n

    def replace() -> None:
        if armed.pop():
            client.removeBody(body)
            assert client.createMultiBody(0, small) == body
        armed.append(False)

    before_each(monkeypatch, replace, "getAABB", "getBasePositionAndOrientation")
    with patched() if way == "patched" else nullcontext():
        test = client.rayTestBatch if way == "patched" else Mirror(client).rayTestBatch
        for k in range(8):
            if k == 6 and when == "later":
                armed[:] = [True]
            assert test(*beside)[0] == MISS, k
        assert test([[-3.0, 0.0, 0.0]], [[3.0, 0.0, 0.0]])[0][:3] == (body, -1, pytest.approx(2.9 / 6.0))


@pytest.mark.parametrize("away", [range(12), range(100), range(1, 3), range(1, 20), range(2, 5)])
def test_a_body_that_another_thread_moves_while_its_filter_is_measured(clients, monkeypatch: pytest.MonkeyPatch, away):
    """The body is elsewhere during some of the measuring calls, and back after them: all bits of its group are seen."""
    calls, there, here = [], [0.0, 0.0, -9.0], [0.0, 0.0, 0.0]
    body = ball(clients[1], 0.0)
    clients[1].setCollisionFilterGroupMask(body, -1, 3, -1)
    clients[1].resetBasePositionAndOrientation(0, [0.0, 0.0, 9.0], [0, 0, 0, 1])  # where its rays do not measure body

    def move() -> None:
        clients[1].resetBasePositionAndOrientation(body, there if len(calls) in away else here, [0, 0, 0, 1])
        calls.append(body)

    with patched():
        before_each(monkeypatch, move, "rayTestBatch")
        clients[1].rayTest(*THROUGH)
        monkeypatch.undo()
        assert calls
        clients[1].resetBasePositionAndOrientation(body, here, [0, 0, 0, 1])
        for bit in (1, 2):
            assert clients[1].rayTestBatch(*([end] for end in THROUGH), collisionFilterMask=bit)[0][0] == body


def test_a_mesh_that_another_thread_moves_while_its_extent_is_read(clients, monkeypatch: pytest.MonkeyPatch):
    """At each of the first readings of its box or place; its origin is a corner."""
    corners = [[x, y, z] for x in (0, 2) for y in (0, 2) for z in (0, 2)]
    faces = [0, 1, 3, 0, 3, 2, 4, 6, 7, 4, 7, 5, 0, 4, 5, 0, 5, 1, 2, 3, 7, 2, 7, 6, 0, 2, 6, 0, 6, 4, 1, 5, 7, 1, 7, 3]
    shape = clients[1].createCollisionShape(p.GEOM_MESH, vertices=corners, indices=faces)
    body = clients[1].createMultiBody(1, shape)
    radii, moves = [], []

    def move() -> None:
        if moves:
            clients[1].resetBasePositionAndOrientation(body, [moves.pop()] * 3, [0, 0, 0, 1])
            clients[1].performCollisionDetection()

    for places in ([0.0], [-1.0, 0.0], [-1.0, -1.5, -1.0, 0.0]):
        moves[:] = places
        move()
        with monkeypatch.context() as patch_of_one:
            before_each(patch_of_one, move, "getAABB", "getBasePositionAndOrientation")
            radii.append(_mesh_radius(Client(clients[1]), BodyLink(body, -1)))
    assert radii == pytest.approx([radii[0]] * 3)
    assert radii[0] > 3.4
