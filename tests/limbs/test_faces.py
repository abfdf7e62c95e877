"""Faces, normals and thicknesses: cases solved by hand."""

import pytest
from support.oracle.shapes import tube
from support.oracle.shapes.table import SHAPE_ROWS

import cylcollide as cc

pytestmark = pytest.mark.plain_python

PIPE = tube.PIPE.limbs()
BY_HAND = {name: case for row in SHAPE_ROWS.values() for name, case in row.hits.items()}


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name: str):
    limb, start, end, face, normal, distance, exit_face, exit_normal, exit_distance = BY_HAND[name]
    for ask in (limb.limbs(), cc.HitWorld(limb.limbs())):
        hit = ask.cast_segments(start, end)[0]
        assert (hit.face, hit.exit_face) == (face, exit_face)
        assert hit.normal == pytest.approx(normal, abs=1e-15)
        assert hit.exit_normal == pytest.approx(exit_normal, abs=1e-15)
        assert (hit.distance, hit.exit_distance) == pytest.approx((distance, exit_distance), abs=1e-15 * 8)
        assert hit.thickness == pytest.approx(exit_distance - distance, abs=1e-14)


PIPE_POLICIES = {
    # start in the wall, then through the bore into the other wall: distances of the hit and of the chords
    ("hit", -1.5): (0.0, 0.5, [(0.0, 0.5), (2.5, 3.5)]),
    ("exit", -1.5): (0.5, 0.5, [(0.0, 0.5), (2.5, 3.5)]),
    ("ignore", -1.5): (None, None, []),
    # start in the bore, which is not inside
    ("hit", 0.0): (1.0, 2.0, [(1.0, 2.0)]),
    ("exit", 0.0): (1.0, 2.0, [(1.0, 2.0)]),
    ("ignore", 0.0): (1.0, 2.0, [(1.0, 2.0)]),
    # start on the bore's wall, leaving the solid at once
    ("hit", -1.0): (0.0, 0.0, [(0.0, 0.0), (2.0, 3.0)]),
    ("exit", -1.0): (0.0, 0.0, [(0.0, 0.0), (2.0, 3.0)]),
    ("ignore", -1.0): (None, None, []),
    # start on the bore's wall, going into the solid
    ("hit", 1.0): (0.0, 1.0, [(0.0, 1.0)]),
    ("exit", 1.0): (1.0, 1.0, [(0.0, 1.0)]),
    ("ignore", 1.0): (None, None, []),
}


@pytest.mark.coverage
@pytest.mark.parametrize(("inside", "x"), PIPE_POLICIES)
def test_a_pipe_under_each_policy(inside: str, x: float):
    entry, leave, chords = PIPE_POLICIES[inside, x]
    row = [[x, 0, 1]], [[x + 4, 0, 1]]
    world = cc.HitWorld(PIPE)
    for hits in (PIPE.cast_segments(*row, inside=inside), world.cast_segments(*row, inside=inside)):
        assert hits.started_inside[0] == (x != 0.0)
        assert hits.hit[0] == (entry is not None)
        if entry is not None:
            assert (hits.distance[0], hits.exit_distance[0]) == (entry, leave)
    found = world.chords_segments(*row, inside=inside)
    assert [(4 * a, 4 * b) for a, b in zip(found.entry_fraction, found.exit_fraction, strict=True)] == chords
    assert world.occluded_segments(*row, inside=inside)[0] == (entry is not None)
