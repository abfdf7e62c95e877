"""Jolt's and reactphysics3d's own ray and point tests, against this library (see `other_engines/README.md`)."""

from collections.abc import Callable

import numpy as np
import pytest
from support.cases.other_engines import Case, cases

import cylcollide as cc

pytestmark = pytest.mark.plain_python

MAKERS: dict[str, Callable[[dict], cc.Limbs]] = {
    "cylinder": lambda limb: cc.Limbs.cylinders([limb["p1"]], [limb["p2"]], limb["radius"]),
    "tapered_cylinder": lambda limb: cc.Limbs.tapered_cylinders(
        [limb["p1"]], [limb["p2"]], limb["radius1"], limb["radius2"]
    ),
    "cone": lambda limb: cc.Limbs.cones([limb["p1"]], [limb["p2"]], limb["radius1"]),
    "capsule": lambda limb: cc.Limbs.capsules([limb["p1"]], [limb["p2"]], limb["radius"]),
    "sphere": lambda limb: cc.Limbs.spheres([limb["center"]], limb["radius"]),
    "box": lambda limb: cc.Limbs.boxes([limb["center"]], limb["orientation_xyzw"], [limb["half_extents"]]),
}
CASES = list(cases())
EXPECTED = {
    "jolt": {"box": 110, "capsule": 101, "cylinder": 101, "sphere": 97, "tapered_cylinder": 205},
    "reactphysics3d": {"box": 54, "capsule": 77, "cone": 65, "cylinder": 98, "sphere": 69},
}
"""How many cases of each kind there are: none may be lost on the way."""


@pytest.mark.parametrize(("source", "kind"), [(source, kind) for source in EXPECTED for kind in EXPECTED[source]])
def test_cases(source: str, kind: str):
    asked = [(name, case) for name, case in CASES if name.startswith(source) and case["limb"]["kind"] == kind]
    for name, case in asked:
        try:
            check(case)
        except AssertionError as error:
            raise AssertionError(name) from error
    assert len(asked) == EXPECTED[source][kind]


def check(case: Case) -> None:
    limb = MAKERS[case["limb"]["kind"]](case["limb"])
    if "point" in case:
        check_point(limb, case["point"], case["inside"])
    else:
        for ask in (limb, cc.HitWorld(limb)):
            check_hit(ask.cast_segments([case["start"]], [case["end"]], inside=case["inside"]), case)


def check_point(limb: cc.Limbs, point: np.ndarray, inside: bool) -> None:
    assert (limb.classify_points([point])[0] != cc.Side.OUTSIDE) == inside
    assert cc.HitWorld(limb).contains_points([point]).count[0] == inside
    assert (limb.axis_distance_squared([point])[0] >= 0) == inside


def check_hit(hits: cc.RayHits, case: Case) -> None:
    """Compare a segment's hit with what the source expects, within the source's tolerance."""
    for name, true in case["expect"].items():
        near = pytest.approx(np.asarray(true), abs=case["tolerance"], rel=case["tolerance"])
        assert getattr(hits, name)[0] == near, name
