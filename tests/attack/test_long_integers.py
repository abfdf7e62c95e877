"""An integer that is too long for Python to print, wherever a message shows the given value: a phrase replaces it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.one_limb import AT_REST, one_bone_rig, one_limb_history

import cylcollide as cc

pytestmark = pytest.mark.attack

LONG = 10**5000
STROKE = [[0.0, 1, -1]], [[0.0, 2, -1]], [[0.0, 1, 1]], [[0.0, 2, 1]]
UPWARDS = [[0.0, 0, -1]], [[0.0, 0, 1]]


def limb() -> cc.Limbs:
    return cc.Limbs.spheres([[0, 0, 0]], 1.0)


def history() -> cc.PoseHistory:
    return one_limb_history(AT_REST, AT_REST)[2]


def world() -> cc.HitWorld:
    return cc.HitWorld(limb())


def posed(teleport: Any) -> None:
    world, ids, _ = one_limb_history(AT_REST)
    world.set_poses(ids, [[[0, 0, 0]]], [[[0, 0, 0, 1]]], teleport=teleport)


def judged() -> cc.Judged:
    return world().judge_segments(*UPWARDS, cc.Policy.first_surface())


CALLS: dict[str, tuple[str, Callable[[], Any]]] = {
    "cast_moving": ("resolution", lambda: history().cast_moving(*UPWARDS, 0.0, 1.0, resolution=LONG)),
    "sweep_capsules": ("resolution", lambda: world().sweep_capsules(*STROKE, 0.1, resolution=LONG)),
    "sweep_capsules of a history": (
        "resolution",
        lambda: history().sweep_capsules(*STROKE, 0.1, 0.0, resolution=LONG),
    ),
    "set_poses": ("teleport", lambda: posed(LONG)),
    "set_poses of a list": ("teleport", lambda: posed([LONG])),
    "Rig.scaled": ("by", lambda: one_bone_rig(limb()).scaled(LONG)),
    "Rig.with_groups": ("patterns", lambda: one_bone_rig(limb()).with_groups(LONG)),
    "Rig.plot": ("skin", lambda: one_bone_rig(limb()).plot(skin=LONG)),
    "Rig": ("bone_names", lambda: cc.Rig([LONG], [-1], [[0, 0, 0]], [[0, 0, 0, 1]], limb(), 0)),
    "buffer": ("buffer", lambda: cc.ViewClock(LONG, 0.1)),
    "step": ("step", lambda: cc.ViewClock(0.1, -LONG)),
    "window": ("window", lambda: cc.ViewClock(0.1, 0.1, -LONG)),
    "arrived": ("arrived", lambda: cc.ViewClock(0.1, 0.1).estimate(LONG)),
    "RewindLimits": ("most_back", lambda: cc.RewindLimits(-LONG)),
    "Policy": ("kind", lambda: cc.Policy(LONG)),
    "order": ("order", lambda: cc.Policy.most_important([LONG])),
    "explain": ("ray", lambda: judged().explain(LONG)),
    "plot": ("ray", lambda: judged().plot(LONG)),
}


@pytest.mark.parametrize("which", CALLS)
def test_a_message_replaces_an_unprintable_integer(which: str):
    name, call = CALLS[which]
    with pytest.raises((ValueError, IndexError), match=rf"^{name}: expected .*got \[?a number too long to print"):
        call()


@pytest.mark.parametrize("nothing", [np.array(None), np.array(1.0)])
def test_an_array_without_rows_is_no_list(nothing: np.ndarray):
    for name, call in (
        ("concat", cc.Limbs.concat),
        ("order", cc.Policy.most_important),
        ("policy", lambda given: world().judge_segments(*UPWARDS, given)),
        ("bone_names", lambda given: cc.Rig(given, [-1], [[0, 0, 0]], [[0, 0, 0, 1]], limb(), 0)),
    ):
        with pytest.raises(ValueError, match=f"^{name}: expected "):
            call(nothing)
