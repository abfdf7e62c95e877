"""Arguments from a grammar of awkward arrays: the answer of the plain array, or a sentence; never anything else."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.awkward_forms import SAME, WRONG, Plain
from support.cases.everyday_shape_worlds import mixed
from support.check_cylinders import sized

import cylcollide as cc

pytestmark = pytest.mark.attack

ROWS = 6


@cache
def world() -> cc.HitWorld:
    """Six limbs that do not change."""
    return cc.HitWorld(mixed(ROWS).limbs())


def answer_of(result: Any) -> list[Any]:
    """All arrays of an answer."""
    fields = {
        cc.RayHits: ("limb", "fraction", "face", "position", "normal", "exit_position", "thickness", "character"),
        cc.Chords: ("offsets", "limb", "entry_fraction", "exit_fraction", "thickness", "entry_position", "exit_normal"),
        cc.Judged: ("limb", "position", "distance", "damage", "energy_left", "shot"),
        cc.FlightPath: ("starts", "ends", "t0", "t1", "bullet", "error"),
        cc.PointHits: ("limb", "count", "axis_distance_squared"),
        cc.Limbs: ("kind", "p1", "p2", "radius", "radius2", "box_axes", "half_extents", "character", "mask"),
    }
    names = fields.get(type(result))
    return [np.array(result)] if names is None else [np.array(getattr(result, name)) for name in names]


def moved(p1: Any, p2: Any, limbs: Any = None) -> cc.Limbs:
    """Where limbs are after an update of a world."""
    own = cc.HitWorld(cc.Limbs.capsules(np.zeros((ROWS, 3)), np.ones((ROWS, 3)), 1.0))
    before = own.limbs
    try:
        own.set_endpoints(p1, p2, limbs)
    except Exception:
        assert own.limbs is before
        raise
    return own.limbs


HERE, STILL = np.ones((6, 6, 3)), np.ones((6, 6, 4))


def rig(places: Any = HERE[0], turns: Any = STILL[0], limb_bone: Any = 0) -> cc.Rig:
    """Six bones in a row, with the limbs of the world."""
    return cc.Rig(list("abcdef"), range(-1, ROWS - 1), places, turns, world().limbs, limb_bone)


L = cc.Limbs
POLICY = cc.Policy.penetration(0.25, {0: 2.0})
CALLS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "cylinders": (L.cylinders, ("place", "end", "size")),
    "tubes": (lambda a, b, r: L.tubes(a, b, r, 0.0625), ("place", "end", "size")),
    "tapered cylinders": (L.tapered_cylinders, ("place", "end", "size", "size")),
    "cones": (L.cones, ("place", "end", "size")),
    "ellipsoids": (L.ellipsoids, ("place", "end", "size")),
    "capsules": (L.capsules, ("place", "end", "size")),
    "spheres": (L.spheres, ("place", "size")),
    "boxes": (L.boxes, ("place", "turn", "end")),
    "labels": (lambda c, m, h: L.spheres(np.ones((ROWS, 3)), 1.0, character=c, mask=m, hit_group=h), ("index",) * 3),
    "inflated": (world().limbs.inflated, ("eighth",)),
    "set_endpoints": (moved, ("place", "end")),
    "set_endpoints of some": (moved, ("place", "end", "index")),
    "moved": (lambda a, b: L.capsules(np.zeros((ROWS, 3)), np.ones((ROWS, 3)), 1.0).moved(a, b), ("place", "end")),
    "classify_points": (world().limbs.classify_points, ("place",)),
    "axis_distance_squared": (world().limbs.axis_distance_squared, ("place",)),
    "limbs.cast_segments": (world().limbs.cast_segments, ("place", "end")),
    "limbs.cast_rays": (world().limbs.cast_rays, ("place", "end", "size")),
    "contains_points": (world().contains_points, ("place",)),
    "flight": (
        cc.flight,
        ("place", "end", "size", "end", "eighth", "eighth", "size"),
    ),
    "Rig": (lambda p, q, b: rig(p, q, b).place(HERE, STILL), ("place", "turn", "index")),
    "rig.place": (lambda p, q: rig().place(p, q), ("place", "turn")),
    "rig.place, numbered": (lambda c: rig().place(HERE, STILL, c), ("index",)),
    "rig.forward": (lambda p, q: np.dstack(rig().forward(p, q, STILL)), ("place", "turn")),
    **{
        f"{what}_segments": (
            lambda a, b, m, i, what=what: getattr(world(), f"{what}_segments")(a, b, mask=m, ignore_character=i),
            ("place", "end", "index", "index"),
        )
        for what in ("cast", "occluded", "chords")
    },
    **{
        f"{what}_rays": (lambda a, b, d, what=what: getattr(world(), f"{what}_rays")(a, b, d), ("place", "end", "size"))
        for what in ("cast", "occluded", "chords")
    },
    "judge_segments": (
        lambda a, b, e, s: world().judge_segments(a, b, POLICY, e, s),
        ("place", "end", "size", "index"),
    ),
    "judge_rays": (
        lambda a, b, d, e: world().judge_rays(a, b, POLICY, d, e),
        ("place", "end", "size", "size"),
    ),
}
"""Every public function that takes arrays, and what each argument is."""

row = np.arange(ROWS, dtype=float)
GOOD: dict[str, Plain] = {
    "place": np.column_stack([row - 3, 0.5 * row, 0.25 - row]),
    "end": np.column_stack([row + 1, 3 + 0.5 * row, 2 + row]),
    "size": 0.5 + 0.125 * row,
    "eighth": 0.0 * row + 0.015625,
    "turn": np.column_stack([row - 3, 0.5 * row, 0 * row + 1, row]),
    "index": row,
}


OF_INTEGERS = {
    *("as it is", "Fortran", "reversed", "subclass", "masked nowhere", "list", "tuple", "list of arrays", "objects"),
    *("frame", "array interface", "memoryview", "integers", "small integers"),
}
"""Forms that keep integers."""


def form_of(name: str, kind: str, array: Plain) -> Any:
    """One argument in a form; an index is an integer in every form that keeps the numbers."""
    if kind == "index" and name in SAME:
        whole: Any = array.astype(np.int64)
        return SAME[name](whole) if name in OF_INTEGERS else whole
    return (WRONG | SAME)[name](array)


forms = st.sampled_from(sorted(SAME)) | st.sampled_from(sorted(WRONG))
calls = st.sampled_from(sorted(CALLS)).flatmap(
    lambda call: st.tuples(st.just(call), st.tuples(*[forms] * len(CALLS[call][1])))
)


def check(call: str, names: tuple[str, ...]) -> None:
    """The answer equals that of plain arrays if all forms keep the numbers; else it may be an error with a sentence."""
    function, kinds = CALLS[call]
    arguments = [form_of(name, kind, GOOD[kind]) for name, kind in zip(names, kinds, strict=True)]
    plain = [GOOD[kind].astype(np.int64) if kind == "index" else GOOD[kind] for kind in kinds]
    before = answer_of(world().limbs)
    try:
        answer = function(*arguments)
    except (ValueError, TypeError) as error:
        refused: Exception | None = error
    else:
        refused = None
    if refused is not None:
        assert set(names) & set(WRONG), (call, names, refused)
        assert type(refused) is ValueError, (call, names, refused)
        assert ": expected " in str(refused), (call, names, refused)
    elif not set(names) & set(WRONG):
        for got, want in zip(answer_of(answer), answer_of(function(*plain)), strict=True):
            assert got.dtype == want.dtype
            assert np.array_equal(got, want, equal_nan=got.dtype.kind == "f"), (call, names)
    for got, want in zip(answer_of(world().limbs), before, strict=True):
        assert np.array_equal(got, want)


@pytest.mark.parametrize("name", [*SAME, *WRONG])
def test_every_form_in_every_place(name: str):
    for call, (_, kinds) in CALLS.items():
        for place in range(len(kinds)):
            check(call, tuple(name if k == place else "as it is" for k in range(len(kinds))))


@settings(max_examples=sized(300))
@given(calls)
def test_forms_together(asked: tuple[str, tuple[str, ...]]):
    check(*asked)


@pytest.mark.long
@pytest.mark.timeout(3600)
@settings(max_examples=50_000)
@given(calls)
def test_forms_together_for_long(asked: tuple[str, tuple[str, ...]]):
    check(*asked)
