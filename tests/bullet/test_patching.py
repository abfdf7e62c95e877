"""PyBullet's module with exact ray tests: answers of each client, restoration at the end, PyBullet's own errors."""

import inspect
import signal
from contextlib import suppress

import numpy as np
import pybullet as p
import pytest
from support.package import run_python
from support.pybullet_scenes import GRAZE, THROUGH, ball

from cylcollide._pybullet import OWN
from cylcollide.bullet import Mirror, patch, patched, unpatch
from cylcollide.bullet.patching import _patches
from cylcollide.bullet.tuples import MISS
from cylcollide.bullet.watch import EFFECTS, Effect


def replaced() -> list[str]:
    return [name for name, value in vars(OWN).items() if getattr(p, name) is not value]


def test_every_client_has_its_own_exact_answers(clients):
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


def test_each_patch_ends_alone_in_any_order(clients):
    """Blocks of two threads, or a patch that outlives the block around it."""
    inside, client = ([0.0, 0.0, 0.0], [3.0, 0.0, 0.0]), clients[0]
    first, second = patched(inside="exit"), patched()
    for block in (first, second):
        block.__enter__()
    first.__exit__(None, None, None)
    assert client.rayTest(*inside) == (MISS,)
    second.__exit__(None, None, None)
    assert replaced() == []
    with patched():
        patch(inside="exit")
    assert client.rayTest(*inside)[0][2] == pytest.approx(1 / 6)
    with patched():
        unpatch()
        assert client.rayTest(*inside) == (MISS,)
    assert replaced() == []


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="about signals of POSIX")
def test_an_interrupt_leaves_no_patch():
    """At 400 moments while a block begins and ends."""

    def interrupt(*_: object) -> None:
        raise InterruptedError

    begun, before = 0, signal.signal(signal.SIGALRM, interrupt)
    try:
        for k in range(400):
            with suppress(InterruptedError):
                signal.setitimer(signal.ITIMER_REAL, 1e-6 * (1 + k % 80))
                with patched(tolerance=1e-3):
                    begun += 1
                signal.setitimer(signal.ITIMER_REAL, 0.0)
            with suppress(InterruptedError):
                signal.setitimer(signal.ITIMER_REAL, 0.0)
            assert not _patches
    finally:
        signal.signal(signal.SIGALRM, before)
    assert 0 < begun < 400
    with patched():
        pass
    assert replaced() == []


def test_a_client_may_be_a_numpy_integer(clients):
    number = np.int64(clients[0]._client)
    with patched():
        assert p.rayTest(*GRAZE, physicsClientId=number) == (MISS,)
        assert p.rayTestBatch([GRAZE[0]], [GRAZE[1]], physicsClientId=number) == (MISS,)
    assert Mirror(number).rayTest(*GRAZE, physicsClientId=number) == (MISS,)


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


def test_a_mirror_ends_with_its_client_and_a_reused_number_has_a_new_one(clients):
    with patched():
        number = clients[1]._client
        assert clients[1].rayTest(*THROUGH)[0][0] == 0
        clients[1].disconnect()
        with pytest.raises(p.error):
            p.rayTest(*THROUGH, physicsClientId=number)
        again = p.connect(p.DIRECT)
        assert p.rayTest(*THROUGH, physicsClientId=again) == (MISS,)
        p.disconnect(again)


BAD = [
    ((1, 2), {}), (([0, 0, 0],), {}), (([0, 0, 0], [1, 0, 0]), {"physicsClientId": 77}),
    (([0, 0, 0], [1, 0, 0]), {"collisionFilterMask": "x"}), (([0, 0, 0], [1, 0, 0]), {"unknown": 1}),
    (([np.nan, 0, 0], [1, 0, 0]), {"collisionFilterMask": "x"}),
    (([0, 0], [1, 0]), {}), (([np.nan, 0, 0], [1, 0, 0]), {}), (([0, 0, 0], [np.inf, 0, 0]), {}), (("a", "b"), {}),
    (([0, 0, 0], [1, 0, 0]), {"reportHitNumber": 2**40}), (([0, 0, 0], [1, 0, 0]), {"physicsClientId": None}),
    (([0, 0, 0], [1, 0, 0]), {"physicsClientId": "0"}), ((None, None), {}), (({}, {}), {}), ((1.0, 2.0), {}),
    (([0, 0, 0], [1, 0, 0]), {"collisionFilterMask": np.uint32(2**31)}),
    (([0, 0, 0], [1, 0, 0, 0]), {}), (([0, 0, 1j], [1, 0, 0]), {}), (([2.0**501, 0, 0], [1, 0, 0]), {}),
    ((), {}), ((), {"rayToPosition": [1, 0, 0]}), (([0, 0, 0], [1, 0, 0], -1, -1, 0, 7, 8, 9, 10, 11), {}),
]  # fmt: skip
"""Positional and keyword arguments of `rayTest`."""


def outcome(function, *arguments, **named):
    """The answers, or the type of the error and its text."""
    try:
        return function(*arguments, **named)
    except (TypeError, OverflowError, SystemError, p.error) as error:
        return type(error), str(error)


@pytest.mark.usefixtures("clients")
def test_bad_input_has_pybullets_outcome():
    """PyBullet's error with its text about arguments, or misses; PyBullet itself may hit in uninitialised memory."""
    with patched():
        for given, named in BAD:
            for name, arguments in (("rayTest", given), ("rayTestBatch", tuple([one] for one in given))):
                theirs = outcome(getattr(OWN, name), *arguments, **named)
                expected = theirs if isinstance(theirs[0], type) else (MISS,) * len(theirs)
                assert outcome(getattr(p, name), *arguments, **named) == expected, (name, given, named)


@pytest.mark.usefixtures("clients")
def test_bad_lists_of_vectors_have_pybullets_outcome():
    """Also after a ray test near few bodies, whose fast path the next ray test tries first."""
    kinds = {
        "list": list,
        "tuple": tuple,
        "objects": lambda row: np.array([row], object),
        "memory": lambda row: memoryview(np.array([row])),
        "iterator": lambda row: iter([row]),
        "dict": lambda row: {0: row},
        "six numbers": lambda row: row + row,
    }
    with patched():
        for _ in range(2):
            for kind, made in kinds.items():
                p.stepSimulation()
                assert p.rayTest(*THROUGH)[0][0] == 0
                ours, theirs = (outcome(test, *map(made, THROUGH)) for test in (p.rayTestBatch, OWN.rayTestBatch))
                if not isinstance(theirs[0], type):  # a PyBullet without numpy takes an array
                    ours, theirs = ([found[:2] for found in answers] for answers in (ours, theirs))
                assert ours == theirs, kind


def test_rays_with_nan_leave_the_others_exact(clients):
    starts, ends = [GRAZE[0], [np.nan, 0, 0], THROUGH[0]], [GRAZE[1], [1, 0, 0], THROUGH[1]]
    with patched():
        first, second, third = clients[0].rayTestBatch(starts, ends)
        assert (first, second, third) == (MISS, MISS, clients[0].rayTest(*THROUGH)[0])


def test_scenes_that_cannot_be_mirrored_use_pybullet(clients):
    client = clients[0]
    client.resetBasePositionAndOrientation(0, [np.nan, 0, 0], [0, 0, 0, 1])
    with patched(), pytest.warns(UserWarning, match=r"body 0 .*; PyBullet's own answer is returned") as warned:
        assert p.rayTest(*THROUGH, physicsClientId=client._client) == (MISS,)
    assert warned[0].filename == __file__


def test_all_calls_that_may_change_a_scene_are_noted():
    with patched():
        assert {name for name, effect in EFFECTS.items() if effect == Effect.SCENE} <= set(replaced())


REPLACED_BEFORE_MIRROR = """
from cylcollide.bullet import Mirror
import pybullet
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


def test_a_function_that_was_replaced_after_the_import_is_not_called():
    """Even if no mirror was made before: PyBullet's own functions are bound when `cylcollide.bullet` is imported."""
    done = run_python("-c", REPLACED_BEFORE_MIRROR, timeout=100)
    assert done.stdout == "0\n", done.stderr[-300:]
