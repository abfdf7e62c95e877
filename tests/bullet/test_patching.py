"""PyBullet's own module with exact ray tests: every client as itself, restored at the end, errors as PyBullet's own."""

import inspect
import sys
import threading

import numpy as np
import pybullet as p
import pytest
from pybullet_utils.bullet_client import BulletClient
from support.package import run_python

from cylcollide._pybullet import OWN
from cylcollide.bullet import Mirror, patch, patched, unpatch
from cylcollide.bullet.client import BodyLink, Client
from cylcollide.bullet.near import _mesh_radius
from cylcollide.bullet.watch import EFFECTS, Effect

GRAZE = [-3.0, 0.0, 0.5004], [3.0, 0.0, 0.4999]
"""Misses a ball of radius 0.5 at 0 by 0.15 mm; PyBullet hits it, once it has computed the box of the ball."""
THROUGH = [-3.0, 0.0, 0.0], [3.0, 0.0, 0.0]
MISS = (-1, -1, 1.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


def ball(client, x: float = 0.0) -> int:
    return client.createMultiBody(0, client.createCollisionShape(p.GEOM_SPHERE, radius=0.5), basePosition=[x, 0, 0])


@pytest.fixture
def clients():
    both = BulletClient(p.DIRECT), BulletClient(p.DIRECT)
    for x, client in enumerate(both):
        ball(client, x)
        client.performCollisionDetection()
    yield both
    while p.rayTest is not OWN.rayTest:
        unpatch()
    for client in both:
        if client._client >= 0:
            client.disconnect()


def replaced() -> list[str]:
    return [name for name, value in vars(OWN).items() if getattr(p, name) is not value]


def test_every_client_is_answered_as_itself_and_exactly(clients):
    assert clients[0].rayTest(*GRAZE)[0][0] == 0
    with patched():
        for x, client in enumerate(clients):
            assert client.rayTest(*THROUGH)[0][2] == pytest.approx((2.5 + x) / 6)
            assert client.rayTestBatch([THROUGH[0]] * 2, [THROUGH[1]] * 2) == client.rayTest(*THROUGH) * 2
            assert client.rayTest(*THROUGH) == p.rayTest(*THROUGH, -1, -1, client._client)
        assert clients[0].rayTest(*GRAZE) == (MISS,)
        assert inspect.isbuiltin(p.rayTest)
        assert p.rayTest.__name__ == "rayTest"
    assert clients[0].rayTest(*GRAZE)[0][0] == 0


def test_nested_patches_hold_the_innermost_options_and_the_outermost_exit_restores(clients):
    client, inside = clients[0], ([0.0, 0.0, 0.0], [3.0, 0.0, 0.0])
    with pytest.raises(KeyError), patched():  # noqa: PT012  # what is restored by an exception
        assert client.rayTest(*inside) == (MISS,)
        with patched(inside="exit"):
            assert client.rayTest(*inside)[0][2] == pytest.approx(1 / 6)
        assert client.rayTest(*inside) == (MISS,)
        assert set(replaced()) > {"rayTest", "rayTestBatch", "disconnect"}
        raise KeyError
    assert replaced() == []
    patch()
    patch()
    unpatch()
    assert replaced()
    unpatch()
    unpatch()
    assert replaced() == []


def test_steps_bodies_and_filters_are_followed(clients):
    client = clients[0]
    with patched():
        assert client.rayTest(*THROUGH)[0][0] == 0
        client.resetBasePositionAndOrientation(0, [0, 0, 9], [0, 0, 0, 1])
        assert client.rayTest(*THROUGH) == (MISS,)
        assert ball(client) == 1
        assert client.rayTest(*THROUGH)[0][0] == 1
        client.setCollisionFilterGroupMask(1, -1, 2, 2)
        assert client.rayTest(*THROUGH, collisionFilterMask=1) == (MISS,)
        client.resetSimulation()
        assert client.rayTest(*THROUGH) == (MISS,)


def test_a_mirror_goes_with_its_client_and_the_next_of_its_number_has_its_own(clients):
    with patched():
        number = clients[1]._client
        assert clients[1].rayTest(*THROUGH)[0][0] == 0
        clients[1].disconnect()
        with pytest.raises(p.error):
            p.rayTest(*THROUGH, physicsClientId=number)
        again = p.connect(p.DIRECT)
        assert p.rayTest(*THROUGH, physicsClientId=again) == (MISS,)
        p.disconnect(again)


@pytest.mark.usefixtures("clients")
@pytest.mark.parametrize(
    ("given", "named"),
    [
        ((1, 2), {}), (([0, 0, 0],), {}), (([0, 0, 0], [1, 0, 0]), {"physicsClientId": 77}),
        (([0, 0, 0], [1, 0, 0]), {"collisionFilterMask": "x"}), (([0, 0, 0], [1, 0, 0]), {"unknown": 1}),
        (([np.nan, 0, 0], [1, 0, 0]), {"collisionFilterMask": "x"}),
        (([0, 0], [1, 0]), {}), (([np.nan, 0, 0], [1, 0, 0]), {}), (([0, 0, 0], [np.inf, 0, 0]), {}), (("a", "b"), {}),
        (([0, 0, 0], [1, 0, 0]), {"reportHitNumber": 2**40}), (([0, 0, 0], [1, 0, 0]), {"physicsClientId": None}),
        (([0, 0, 0], [1, 0, 0]), {"physicsClientId": "0"}), ((None, None), {}), (({}, {}), {}), ((1.0, 2.0), {}),
        (([0, 0, 0], [1, 0, 0]), {"collisionFilterMask": np.uint32(2**31)}),
        (([0, 0, 0], [1, 0, 0, 0]), {}), (([0, 0, 1j], [1, 0, 0]), {}), (([2.0**501, 0, 0], [1, 0, 0]), {}),
    ],
    ids=str,
)  # fmt: skip
def test_bad_input_is_what_it_is_for_pybullet(given, named):
    """Its error, or misses; PyBullet itself reads what nothing was written to, and may hit there."""

    def outcome(function, arguments):
        try:
            return function(*arguments, **named)
        except (TypeError, OverflowError, SystemError, p.error) as error:
            return type(error)

    with patched():
        for name, arguments in (("rayTest", given), ("rayTestBatch", tuple([one] for one in given))):
            theirs = outcome(getattr(OWN, name), arguments)
            expected = theirs if isinstance(theirs, type) else (MISS,) * len(theirs)
            assert outcome(getattr(p, name), arguments) == expected, name


@pytest.mark.usefixtures("clients")
@pytest.mark.parametrize(
    "made",
    [
        list,
        tuple,
        lambda row: np.array([row], object),
        lambda row: memoryview(np.array([row])),
        lambda row: iter([row]),
        lambda row: {0: row},
        lambda row: row + row,
    ],
)
def test_what_is_no_list_of_vectors_is_pybullets_error(made):
    """Also after a ray test near few bodies, by which the next one is tried first."""
    with patched():
        for _ in range(2):
            p.stepSimulation()
            assert p.rayTest(*THROUGH)[0][0] == 0
            with pytest.raises((p.error, SystemError)) as ours:
                p.rayTestBatch(*map(made, THROUGH))
            with pytest.raises((p.error, SystemError)) as theirs:
                OWN.rayTestBatch(*map(made, THROUGH))
            assert (type(ours.value), str(ours.value)) == (type(theirs.value), str(theirs.value))


@pytest.mark.usefixtures("clients")
@pytest.mark.parametrize(("given", "named"), [((), {}), (([0, 0, 0],), {}), ((), {"rayToPosition": [1, 0, 0]}),
    (([0, 0, 0], [1, 0, 0], -1, -1, 0, 7, 8, 9, 10, 11), {}), (([0, 0, 0],), {"what": 1})])  # fmt: skip
def test_an_error_about_arguments_has_pybullets_words(given, named):
    with patched():
        for name in ("rayTest", "rayTestBatch"):
            with pytest.raises(TypeError) as theirs:
                getattr(OWN, name)(*given, **named)
            with pytest.raises(TypeError) as ours:
                getattr(p, name)(*given, **named)
            assert str(ours.value) == str(theirs.value)


def test_rays_without_numbers_leave_the_others_exact(clients):
    starts, ends = [GRAZE[0], [np.nan, 0, 0], THROUGH[0]], [GRAZE[1], [1, 0, 0], THROUGH[1]]
    with patched():
        first, second, third = clients[0].rayTestBatch(starts, ends)
        assert (first, second, third) == (MISS, MISS, clients[0].rayTest(*THROUGH)[0])


def test_a_scene_that_cannot_be_mirrored_is_pybullets(clients):
    client = clients[0]
    client.resetBasePositionAndOrientation(0, [np.nan, 0, 0], [0, 0, 0, 1])
    with patched(), pytest.warns(UserWarning, match=r"body 0 .*; PyBullet answers meanwhile"):
        assert client.rayTest(*THROUGH) == (MISS,)


def test_threads_that_ask_while_others_step(clients):
    """Both clients are asked and stepped; bodies come and go in one of them."""
    wrong = []

    def ask() -> None:
        for _ in range(100):
            first, second = (client.rayTest(*ray) for client, ray in zip(clients, (GRAZE, THROUGH), strict=True))
            if first != (MISS,) or second[0][0] != 0:
                wrong.append((first, second))

    with patched():
        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        for k in range(100):
            clients[k % 2].stepSimulation()
            clients[1].removeBody(ball(clients[1], 9.0))
        for thread in threads:
            thread.join()
    assert wrong == []


def test_a_body_that_goes_while_it_is_read(clients, monkeypatch: pytest.MonkeyPatch):
    """As by another thread: the client is read again, without it."""
    own, gone = OWN.getBasePositionAndOrientation, [ball(clients[1], 9.0)]

    def removing(*given: object) -> object:
        while gone:
            clients[1].removeBody(gone.pop())
        return own(*given)

    monkeypatch.setattr(OWN, "getBasePositionAndOrientation", removing)
    with patched():
        assert clients[1].rayTest(*THROUGH)[0][0] == 0
    assert not gone


@pytest.mark.parametrize("read", ["getNumJoints", "getAABB"])
def test_a_body_that_goes_while_few_rays_are_prepared(clients, monkeypatch: pytest.MonkeyPatch, read):
    """As by another thread, after the scene was read and before a few rays read the places of its bodies."""
    with patched():
        gone = [ball(clients[1], 9.0)]
        p.rayTestBatch([THROUGH[0]] * 2000, [THROUGH[1]] * 2000, physicsClientId=clients[1]._client)
        own = getattr(OWN, read)

        def removing(*given: object, **named: object) -> object:
            if gone:
                clients[1].removeBody(gone.pop())
            return own(*given, **named)

        monkeypatch.setattr(OWN, read, removing)
        assert clients[1].rayTest(*THROUGH)[0][0] == 0
        assert not gone


@pytest.mark.parametrize("away", [range(12), range(100), range(1, 3), range(1, 20)])
def test_a_body_that_another_thread_moves_while_its_filter_is_measured(clients, monkeypatch: pytest.MonkeyPatch, away):
    """As by another thread: it is elsewhere during some of the calls that measure, and back after them."""
    own, calls, there, here = OWN.rayTestBatch, [], [0.0, 0.0, 9.0], [0.0, 0.0, 0.0]
    body = ball(clients[1], 0.0)
    clients[1].resetBasePositionAndOrientation(0, there, [0, 0, 0, 1])

    def moving(*given: object, **named: object) -> object:
        clients[1].resetBasePositionAndOrientation(body, there if len(calls) in away else here, [0, 0, 0, 1])
        calls.append(given)
        return own(*given, **named)

    with patched():
        monkeypatch.setattr(OWN, "rayTestBatch", moving)
        clients[1].rayTest(*THROUGH)
        monkeypatch.undo()
        assert calls
        clients[1].resetBasePositionAndOrientation(body, here, [0, 0, 0, 1])
        assert clients[1].rayTest(*THROUGH)[0][0] == body


def test_a_mesh_that_another_thread_moves_while_its_extent_is_read(clients, monkeypatch: pytest.MonkeyPatch):
    """As by another thread, each of the first times that its box or place is read; its origin is a corner."""
    corners = [[x, y, z] for x in (0, 2) for y in (0, 2) for z in (0, 2)]
    faces = [0, 1, 3, 0, 3, 2, 4, 6, 7, 4, 7, 5, 0, 4, 5, 0, 5, 1, 2, 3, 7, 2, 7, 6, 0, 2, 6, 0, 6, 4, 1, 5, 7, 1, 7, 3]
    shape = clients[1].createCollisionShape(p.GEOM_MESH, vertices=corners, indices=faces)
    body = clients[1].createMultiBody(1, shape)
    radii = []
    for moves in ([], [[-1.0] * 3], [[-1.0] * 3, [-1.5] * 3, [-1.0] * 3]):
        clients[1].resetBasePositionAndOrientation(body, [0, 0, 0], [0, 0, 0, 1])
        clients[1].performCollisionDetection()
        with monkeypatch.context() as patch_of_one:
            for own in (OWN.getAABB, OWN.getBasePositionAndOrientation):

                def moving(*given: object, own=own, moves=moves, **named: object) -> object:
                    if moves:
                        clients[1].resetBasePositionAndOrientation(body, moves.pop(), [0, 0, 0, 1])
                        clients[1].performCollisionDetection()
                    return own(*given, **named)

                patch_of_one.setattr(OWN, own.__name__, moving)
            radii.append(_mesh_radius(Client(clients[1]), BodyLink(body, -1)))
    assert radii == pytest.approx([radii[0]] * 3)
    assert radii[0] > 3.4


@pytest.mark.parametrize(("n", "interval"), [(300, 1e-5), (2000, 1e-4)])
def test_threads_that_move_and_ask_see_their_own_moves(clients, n: int, interval: float):
    """A thread that has read the client before does not hide what another one has changed and read since."""
    bodies, wrong = [ball(clients[0], 4.0 * k) for k in range(1, 4)], []
    for k in range(200):
        ball(clients[0], 50.0 + k)

    def move_and_ask(body: int, x: float) -> None:
        rays = [[x, -3.0, 0.0]] * n, [[x, 3.0, 0.0]] * n
        for k in range(100):
            for z, seen in ((9.0, -1), (0.0, body)):
                clients[0].resetBasePositionAndOrientation(body, [x, 0.0, z], [0, 0, 0, 1])
                if clients[0].rayTestBatch(*rays)[0][0] != seen:
                    wrong.append((k, body, z))

    usual = sys.getswitchinterval()
    sys.setswitchinterval(interval)
    try:
        with patched():
            threads = [threading.Thread(target=move_and_ask, args=(b, 4.0 * k)) for k, b in enumerate(bodies, 1)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(usual)
    assert wrong == []


def test_ray_tests_of_a_mirror_in_the_module(clients, monkeypatch: pytest.MonkeyPatch):
    """What everybody writes; the mirror itself asks PyBullet's own."""
    mirror = Mirror(clients[0])
    monkeypatch.setattr(p, "rayTest", mirror.rayTest)
    monkeypatch.setattr(p, "rayTestBatch", mirror.rayTestBatch)
    assert p.rayTest(*GRAZE) == (MISS,)
    assert clients[0].rayTest(*THROUGH)[0][0] == 0
    mirror.sync(filters=True)


def test_all_calls_that_may_change_filters_are_noted():
    with patched():
        assert {name for name, effect in EFFECTS.items() if effect == Effect.FILTERS} <= set(replaced())


REPLACED_BEFORE_A_MIRROR_IS_MADE = """
{imports}
pybullet.connect(pybullet.DIRECT)
pybullet.createMultiBody(0, pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=0.5))
pybullet.stepSimulation()
own = pybullet.rayTestBatch

def checked(starts, ends):
    mirror = Mirror(pybullet)
    assert all(mirror.explain(start, end).differs for start, end in zip(starts, ends))
    return own(starts, ends)

pybullet.rayTestBatch = checked
print(pybullet.rayTestBatch([[-3.0, 0.0, 0.5004]], [[3.0, 0.0, 0.4999]])[0][0])
"""


@pytest.mark.parametrize("first", ["import pybullet", "from cylcollide.bullet import Mirror"])
def test_a_function_that_was_replaced_after_the_import_is_not_called(first):
    """Even if no mirror was made before: PyBullet's own functions are bound when `cylcollide.bullet` is imported."""
    program = REPLACED_BEFORE_A_MIRROR_IS_MADE.format(
        imports=f"{first}\nimport pybullet\nfrom cylcollide.bullet import Mirror"
    )
    done = run_python("-c", program, timeout=100)
    assert done.stdout == "0\n", done.stderr[-300:]
