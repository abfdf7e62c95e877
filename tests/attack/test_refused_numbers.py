"""A number that no argument accepts, in one row of each array argument of each public call: the message names both."""

import re
from typing import Any

import numpy as np
import pytest
from support.awkward_calls import ROWS, Call, calls, world
from support.number_range import BELOW, BEYOND

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
    ("value", "names"), [(BELOW, SIZES | {"directions"}), (-1.0, NEVER_NEGATIVE), (-1e-300, SIZES)]
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
