"""Jolt's and reactphysics3d's own ray and point tests, against this library (see `other_engines/README.md`)."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.oracle import cylinder as oracle

import cylcollide as cc

pytestmark = pytest.mark.plain_python

HERE = Path(__file__).parent / "other_engines"

MAKERS: dict[str, Callable[[dict], cc.Limbs]] = {
    "cylinder": lambda limb: cc.Limbs.cylinders([limb["p1"]], [limb["p2"]], limb["radius"]),
    "tapered_cylinder": lambda limb: cc.Limbs.tapered_cylinders(
        [limb["p1"]], [limb["p2"]], limb["radius1"], limb["radius2"]
    ),
    "cone": lambda limb: cc.Limbs.cones([limb["p1"]], [limb["p2"]], limb["radius1"]),
    "capsule": lambda limb: cc.Limbs.capsules([limb["p1"]], [limb["p2"]], limb["radius"]),
    "sphere": lambda limb: cc.Limbs.spheres([limb["center"]], limb["radius"]),
    "box": lambda limb: cc.Limbs.boxes(
        [limb["center"]], limb.get("orientation_xyzw", (0, 0, 0, 1)), [limb["half_extents"]]
    ),
}
"""Kind of limb to its constructor: a kind that is added here is run from then on."""

EXPECTED = {
    ("jolt", "box", "point"): 26,
    ("jolt", "box", "segment"): 84,
    ("jolt", "capsule", "point"): 17,
    ("jolt", "capsule", "segment"): 84,
    ("jolt", "cylinder", "point"): 17,
    ("jolt", "cylinder", "segment"): 84,
    ("jolt", "sphere", "point"): 13,
    ("jolt", "sphere", "segment"): 84,
    ("jolt", "tapered_cylinder", "point"): 9,
    ("jolt", "tapered_cylinder", "segment"): 196,
    ("reactphysics3d", "box", "point"): 23,
    ("reactphysics3d", "box", "segment"): 31,
    ("reactphysics3d", "capsule", "point"): 44,
    ("reactphysics3d", "capsule", "segment"): 33,
    ("reactphysics3d", "cone", "point"): 33,
    ("reactphysics3d", "cone", "segment"): 32,
    ("reactphysics3d", "cylinder", "point"): 53,
    ("reactphysics3d", "cylinder", "segment"): 45,
    ("reactphysics3d", "sphere", "point"): 27,
    ("reactphysics3d", "sphere", "segment"): 42,
}
"""How many cases of each kind there are: none may be lost on the way."""


def load() -> list[tuple[str, dict]]:
    """Return every case whose kind the library has, with the file it came from."""
    files = [(name, json.loads((HERE / f"{name}.json").read_text())) for name in ("jolt", "reactphysics3d")]
    return [(name, case) for name, file in files for case in file["cases"] if case["limb"]["kind"] in MAKERS]


CASES = load()


def test_no_case_is_lost():
    assert Counter((name, case["limb"]["kind"], case["query"]) for name, case in CASES) == EXPECTED


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{source}: {case['name']}") for source, case in CASES])
def test_case(case: dict):
    limb, expect = MAKERS[case["limb"]["kind"]](case["limb"]), case["expect"]
    if case["query"] == "point":
        check_point(limb, case["point"], expect, case.get("knife_edge", False))
        return
    inside = expect.get("start_inside_policy", "hit")
    if case["query"] == "segment":
        arguments = [case["start"]], [case["end"]]
        row, closest = (ask.cast_segments(*arguments, inside=inside) for ask in (limb, cc.HitWorld(limb)))
    else:
        arguments = [case["origin"]], [case["direction"]], case.get("max_distance", np.inf)
        row, closest = (ask.cast_rays(*arguments, inside=inside) for ask in (limb, cc.HitWorld(limb)))
    for hits in (row, closest):
        check_hit(hits, expect, case["tolerance"] + case["oracle_error"], case.get("knife_edge", False))


def check_point(limb: cc.Limbs, point: list, expect: dict, knife_edge: bool) -> None:
    """Compare one point query with what the source expects, unless rounding the pose decided it."""
    inside = limb.classify_points([point])[0] != cc.Side.OUTSIDE
    assert cc.HitWorld(limb).contains_points([point]).count[0] == inside
    assert (limb.axis_distance_squared([point])[0] >= 0) == inside
    if not knife_edge:
        assert inside == expect["inside"]


def check_hit(hits: cc.RayHits, expect: dict, tolerance: float, knife_edge: bool) -> None:
    """Compare one ray query with what the source expects, within the source's tolerance."""
    if knife_edge:
        return
    assert hits.hit[0] == expect["hit"]
    numbers = {"fraction", "distance", "position", "normal", "exit_position", "exit_fraction"} & set(expect)
    assert expect["hit"] or not numbers
    for name in numbers:
        assert getattr(hits, name)[0] == pytest.approx(np.asarray(expect[name]), abs=tolerance, rel=tolerance), name


def test_the_sources_agree_with_the_oracle():
    """The cylinder cases judge the oracle too."""
    checked = 0
    for _, case in CASES:
        if case["limb"]["kind"] != "cylinder" or case.get("knife_edge"):
            continue
        limb = oracle.Limb(tuple(case["limb"]["p1"]), tuple(case["limb"]["p2"]), case["limb"]["radius"])
        if case["query"] == "point":
            assert (oracle.classify(limb, case["point"]) != oracle.POINT_OUTSIDE) == case["expect"]["inside"]
        else:
            found = oracle.chord(limb, oracle.segment(case["start"], case["end"]))
            inside = case["expect"].get("start_inside_policy", "hit")
            hit = oracle.credited([] if found is None else [(0, found)], inside)
            assert (hit is not None) == case["expect"]["hit"]
            if hit is not None and "fraction" in case["expect"]:
                assert float(oracle.value(hit.at)) == pytest.approx(case["expect"]["fraction"], abs=case["tolerance"])
        checked += 1
    assert checked > 190
