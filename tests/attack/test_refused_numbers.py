"""A number that no argument accepts, in one row of each array argument of each public call: the message names both."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.awkward_calls import ROWS, Call, calls, world
from support.number_range import BELOW, BEYOND
from support.one_limb import AT_REST, one_bone_rig, one_limb_history

import cylcollide as cc

pytestmark = pytest.mark.attack

ROW = 3
TAKES_ALL = {("RewindLimits.admit", "claimed"), ("RewindLimits.admit", "bound")}
"""Clients may claim anything."""
SIZES = {"radius", "radii", "inner_radius", "half_extents"}
NEVER_NEGATIVE = SIZES | {
    *("radius1", "radius2", "by", "max_distance", "energy", "alpha", "time_radius"),
    *("duration", "drag", "step", "round_trip", "buffer"),
}


def check_refused(call: Call, name: str, value: float, column: Any = slice(None)) -> None:
    """Assert that a call refuses a value in row 3, or in the last of fewer rows, of an argument and changes nothing."""
    given, before = np.array(call.arguments[name], float), world().snapshot()
    row = ROW if given.ndim and len(given) == ROWS else -1
    given.reshape(len(given) if given.ndim else 1, -1)[row, column] = value
    with pytest.raises(ValueError, match=rf"^{name}: expected ") as refused:
        call.call(**{**call.arguments, name: given})
    assert "[np." not in str(refused.value)  # numpy's repr of its scalars
    flat = {("Clip", "orientations"): [k + ROW * ROWS for k in range(ROWS)]}.get((call.function, name), [ROW])
    if row == ROW:
        assert re.search(rf"\b(row|bone) ({'|'.join(map(str, flat))})\b", str(refused.value)), (
            call.function,
            name,
            value,
        )
    assert world().snapshot() is before


@pytest.mark.parametrize("value", [np.nan, -np.inf, BEYOND])
def test_nan_is_refused(value: float):
    count = 0
    for call in calls().values():
        for name, array in call.arguments.items():
            if array.dtype.kind == "f" and (call.function, name) not in TAKES_ALL:
                check_refused(call, name, value, column=-1)
                count += 1
    assert count > 250


@pytest.mark.parametrize("value", [0.5, True, np.float64(1), "1", b"1", None, 1j, [1], 2**40, -(2**40), 2**70])
def test_non_32_bit_integers_are_refused(value: Any):
    """Shot ids may have 64 bits."""
    count = 0
    for call in calls().values():
        for name, array in call.arguments.items():
            if array.dtype.kind == "i" and (name, value) != ("shot", 2**40) and (name, value) != ("shot", -(2**40)):
                with pytest.raises(ValueError, match=rf"^{name}: expected "):
                    call.call(**{**call.arguments, name: [*array.tolist()[:ROW], value, *array.tolist()[ROW + 1 :]]})
                count += 1
    assert count > 100


@pytest.mark.parametrize(
    ("value", "names"), [(BELOW, SIZES | {"directions", "by"}), (-1.0, NEVER_NEGATIVE), (-1e-300, SIZES)]
)
def test_invalid_sizes_are_refused(value: float, names: set[str]):
    seen = set()
    for call in calls().values():
        for name in names & set(call.arguments):
            check_refused(call, name, value)
            seen.add(name)
    assert seen == names


@pytest.mark.parametrize("value", [0.0, -0.0])
def test_limbs_need_a_size(value: float):
    makers = [call for call in calls().values() if call.function in {f"Limbs.{name}" for name in MAKERS}]
    for call in makers:
        for name in SIZES & set(call.arguments):
            check_refused(call, name, value)
    assert len(makers) == len(MAKERS)


MAKERS = ("cylinders", "tubes", "cones", "ellipsoids", "capsules", "spheres", "boxes")


@pytest.mark.parametrize("value", [2**53 + 1, 2**63 - 1, 2**64 - 1])
def test_integers_are_not_rounded(value: int):
    """Numpy makes floats of integers beside floats, and of unsigned ones beside signed ones."""
    count = 0
    for call in calls().values():
        for name, array in call.arguments.items():
            if array.dtype.kind == "f" and array.ndim and (call.function, name) not in TAKES_ALL:
                given = array.astype(object)
                given[-1] = [*array[-1].tolist()[:-1], value] if array.ndim == 2 else value
                with pytest.raises(ValueError, match=rf"^{name}: expected "):
                    call.call(**{**call.arguments, name: given.tolist()})
                count += 1
    assert count > 100
    for beside in (0, -1, 0.5):
        for form in ([value, beside, 0], (value, beside, 0), np.array([[value, 0, 0]], np.uint64)):
            with pytest.raises(ValueError, match=r"^ends: expected numbers that float64 holds exactly"):
                world().cast_segments([0, 0, 0], form)
    held = [2**53 + 2, -(2**63), 2**63, 0.5]
    assert world().closest_points([0, 0, 0], max_distance=2**63).hit.all()
    assert cc.Limbs.spheres([[one, 0.5, 0] for one in held], 1.0).p1[:, 0].tolist() == held


# Integers that are too long to print ---------------------------------------------------------------------------------

LONG = 10**5000
STROKE = [[0.0, 1, -1]], [[0.0, 2, -1]], [[0.0, 1, 1]], [[0.0, 2, 1]]
UPWARDS = [[0.0, 0, -1]], [[0.0, 0, 1]]


def limb() -> cc.Limbs:
    return cc.Limbs.spheres([[0, 0, 0]], 1.0)


def history() -> cc.PoseHistory:
    return one_limb_history(AT_REST, AT_REST)[2]


def posed(teleport: Any) -> None:
    world, ids, _ = one_limb_history(AT_REST)
    world.set_poses(ids, [[[0, 0, 0]]], [[[0, 0, 0, 1]]], teleport=teleport)


def judged() -> cc.Judged:
    return cc.HitWorld(limb()).judge_segments(*UPWARDS, cc.Policy.first_surface())


CALLS: dict[str, tuple[str, Callable[[], Any]]] = {
    "cast_moving": ("resolution", lambda: history().cast_moving(*UPWARDS, 0.0, 1.0, resolution=LONG)),
    "sweep_capsules": ("resolution", lambda: cc.HitWorld(limb()).sweep_capsules(*STROKE, 0.1, resolution=LONG)),
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
        ("policy", lambda given: cc.HitWorld(limb()).judge_segments(*UPWARDS, given)),
        ("bone_names", lambda given: cc.Rig(given, [-1], [[0, 0, 0]], [[0, 0, 0, 1]], limb(), 0)),
    ):
        with pytest.raises(ValueError, match=f"^{name}: expected "):
            call(nothing)
