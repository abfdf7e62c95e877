"""Grown solids in rational arithmetic: touches solved by hand, and contacts compared with bisection."""

from dataclasses import replace
from fractions import Fraction
from math import inf, nextafter

import numpy as np
import pytest
from support.cases.thick_rays import BOUNDED, KINDS, limb_of, segment_at
from support.oracle.thick import contacts

import cylcollide as cc
from cylcollide._types import RayNumbers
from cylcollide.exact.algebraic import as_algebraic
from cylcollide.exact.nearest import nearest
from cylcollide.exact.numbers import QuadraticNumber
from cylcollide.exact.order import Chord, limb_chords
from cylcollide.exact.shapes import Box, Capsule, Cylinder, Sphere, Tube
from cylcollide.exact.thick import GrownCylinder, grown_by
from cylcollide.query.exact_fallback import exact_limb

pytestmark = pytest.mark.plain_python

Face = cc.Face
UNIT = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
DRUM = Cylinder((0.0, 0.0, 0.0), (0.0, 0.0, 2.0), 3.0)
RING = Tube((0.0, 0.0, 0.0), (0.0, 0.0, 2.0), 12.0, 9.0)
PILL = Capsule((0.0, 0.0, 0.0), (0.0, 0.0, 2.0), 5.0)
BOX = Box((0.0, 0.0, 0.0), UNIT, (1.0, 2.0, 3.0))


def chords(solid, radius, start, end, limit=1.0, is_segment=True) -> list[Chord]:
    found = limb_chords(RayNumbers(tuple(start), tuple(end), is_segment, limit), grown_by(solid, radius))
    return [replace(one, entry=as_algebraic(one.entry), exit=as_algebraic(one.exit)) for one in found]


# Lines along (4, 0, -3), normal to (3, 0, 4), at a distance of exactly 5 from a rim, an edge or a corner.
TOUCHES = {
    "rim": (DRUM, (6.0, 0.0, 6.0), (4.0, 0.0, -3.0), Face.CAP2),
    "wall": (DRUM, (8.0, 0.0, 1.0), (0.0, 1.0, 0.0), Face.SIDE),
    "seam of wall and rim": (DRUM, (8.0, 0.0, 2.0), (0.0, 1.0, 0.0), Face.CAP2),
    "capsule's ball": (PILL, (6.0, 0.0, 10.0), (4.0, 0.0, -3.0), Face.CAP2),
    "capsule's wall": (PILL, (10.0, 0.0, 1.0), (0.0, 1.0, 0.0), Face.SIDE),
    "sphere": (Sphere((0.0, 0.0, 0.0), 5.0), (6.0, 0.0, 8.0), (4.0, 0.0, -3.0), Face.SIDE),
    "box's edge": (BOX, (4.0, 0.0, 7.0), (4.0, 0.0, -3.0), Face.POS_X),
    "box's corner": (BOX, (1.0 + 3.0, 2.0, 3.0 + 4.0), (4.0, 0.0, -3.0), Face.POS_X),
}


@pytest.mark.coverage
@pytest.mark.parametrize("name", TOUCHES)
def test_touch(name):
    solid, point, direction, face = TOUCHES[name]
    start, end = np.subtract(point, direction), np.add(point, direction)
    found = chords(solid, 5.0, start, end)
    (chord,) = found
    assert chord.entry == chord.exit
    assert chord.entry == Fraction(1, 2)
    assert (chord.entry_face, chord.exit_face) == (face, face)
    assert chords(solid, nextafter(5.0, 0.0), start, end) == []
    (more,) = chords(solid, nextafter(5.0, inf), start, end)
    assert more.entry < more.exit


def test_bore_is_closed_or_open():
    # along the axis of a tube whose bore has radius 9
    start, end = (0.0, 0.0, -20.0), (0.0, 0.0, 22.0)
    assert chords(RING, nextafter(9.0, 0.0), start, end) == []
    (chord,) = chords(RING, 9.0, start, end)
    assert (chord.entry, chord.exit) == (Fraction(20, 42), Fraction(22, 42))
    assert (chord.entry_face, chord.exit_face) == (Face.CAP1, Face.CAP2)
    (chord,) = chords(RING, 15.0, start, end)  # dimples 12 deep: 15² - 9² = 12²
    assert (chord.entry, chord.exit) == (Fraction(8, 42), Fraction(34, 42))


@pytest.mark.parametrize("solid", [DRUM, PILL, BOX, Sphere((0.0, 0.0, 0.0), 3.0)])
def test_a_segment_of_length_0_ends_inside(solid):
    """A start inside the grown solid, and a start on its surface."""
    for start in ((0.25, 0.5, 1.0), (8.0, 0.0, 1.0)):
        for chord in chords(solid, 5.0, start, start):
            assert (chord.entry_face, chord.exit_face, chord.exit == 1) == (Face.INSIDE, Face.INSIDE, True)
    assert chords(solid, 5.0, (0.25, 0.5, 1.0), (0.25, 0.5, 1.0))


LINES_AT_DRUM = {
    "through the wall": ((-20.0, 0.0, 1.0), (20.0, 1.0, 1.5), [Face.SIDE] * 2, [True] * 2),
    "through both caps": ((0.5, 0.0, -20.0), (1.0, 0.0, 20.0), [Face.CAP1, Face.CAP2], [True] * 2),
    "in a cap's plane": ((-20.0, 1.0, 2.0), (20.0, 0.0, 2.0), [Face.CAP2] * 2, [True] * 2),
    "along the wall into a cap's rim": ((3.0, 0.0, -20.0), (3.0, 0.0, 1.0), [Face.CAP1, Face.INSIDE], [True]),
    "from the wall's end": ((-10.0, 0.0, -5.0), (20.0, 0.0, 10.0), [Face.CAP1, Face.CAP2], [False] * 2),
    "from inside out of a cap": ((0.0, 0.0, 1.0), (1.0, 0.0, 20.0), [Face.INSIDE, Face.CAP2], [True]),
    "into a cap and no farther": ((0.0, 0.0, -20.0), (1.0, 0.0, 1.0), [Face.CAP1, Face.INSIDE], [True]),
}


@pytest.mark.coverage
@pytest.mark.parametrize("name", LINES_AT_DRUM)
def test_times_of_walls_and_caps_are_roots_of_quadratics(name):
    """Times of rims are roots of quartics, which take 10 times as long."""
    start, end, faces, are_quadratic = LINES_AT_DRUM[name]
    (chord,) = limb_chords(RayNumbers(start, end, True, 1.0), grown_by(DRUM, 5.0))
    assert [chord.entry_face, chord.exit_face] == faces
    ends = zip([chord.entry, chord.exit], faces, strict=True)
    assert [isinstance(time, QuadraticNumber) for time, face in ends if face != Face.INSIDE] == are_quadratic


def test_two_pieces_through_a_bore():
    first, second = chords(RING, 5.0, (-30.0, 0.0, 1.0), (30.0, 0.0, 1.0))
    assert [first.entry, first.exit, second.entry, second.exit] == [Fraction(k, 60) for k in (13, 26, 34, 47)]
    assert [first.exit_face, second.entry_face] == [Face.BORE, Face.BORE]


def test_start_in_the_lens_outside_the_ring():
    # a radius larger than the drum: W <= 0 there
    (chord,) = chords(DRUM, 20.0, (0.5, 0.0, 2.5), (0.5, 0.0, 3.0))
    assert (chord.entry_face, chord.exit_face) == (Face.INSIDE, Face.INSIDE)


@pytest.mark.coverage
@pytest.mark.parametrize(
    ("solid", "start", "end"),
    [
        (DRUM, (0.0, 1.0, -5.0), (1.0, 2.0, -5.0)),
        (BOX, (0.0, 0.0, -8.0), (0.5, 1.0, -8.0)),
        (RING, (4.0, 0.0, 0.0), (4.0, 0.0, 2.0)),
    ],
)
def test_in_the_surface(solid, start, end):
    (chord,) = chords(solid, 5.0, start, end)
    assert chord.started_inside
    assert chord.exit == Fraction(1)
    assert chords(solid, nextafter(5.0, 0.0), start, end) == []


def test_no_limit_and_no_length():
    (chord,) = chords(DRUM, 5.0, (-10.0, 0.0, 1.0), (1.0, 0.0, 0.0), inf, False)
    assert (chord.entry, chord.exit) == (Fraction(2), Fraction(18))
    (chord,) = chords(DRUM, 5.0, (8.0, 0.0, 1.0), (8.0, 0.0, 1.0))
    assert chord.started_inside
    assert chords(BOX, 5.0, (-9.0, 0.0, 0.0), (-9.0, 0.0, 0.0)) == []


@pytest.mark.coverage
def test_sides_refer_to_the_limb():
    assert grown_by(DRUM, 5.0).side((3.0, 0.0, 1.0)) == cc.Side.SURFACE
    assert grown_by(BOX, 5.0).side((1.0, 0.0, 1.0)) == cc.Side.SURFACE


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in BOUNDED])
def test_equals_bisection(kind):
    rng, hits = np.random.default_rng(KINDS.index(kind)), 0
    for _ in range(12):
        limb = limb_of(kind, rng)
        start, end, radius = segment_at(limb, rng)
        found = chords(exact_limb(limb._table, 0), radius, start.tolist(), end.tolist())
        entries, exits = contacts(limb, start.astype(np.longdouble), end.astype(np.longdouble) - start, radius)
        assert len(found) == len(entries)
        hits += len(found) > 0
        for chord, entry, leave in zip(found, entries, exits, strict=True):
            assert abs(chord.entry.double_double()[0] - float(entry)) < 1e-14
            assert abs(chord.exit.double_double()[0] - float(leave)) < 1e-14
            for time, face in ((entry, chord.entry_face), (leave, chord.exit_face)):
                place = (start + float(time) * (end - start)).tolist()
                assert face in (Face.INSIDE, nearest(exact_limb(limb._table, 0), tuple(place))[3])
    assert 1 < hits < 12


@pytest.mark.coverage
def test_between_the_caps_chords_need_no_rim_polynomials(monkeypatch):
    """Tubes at multiples of 1/2, and rays along the axes or through points: the chords equal those with rims."""
    rng, across = np.random.default_rng(4), 0
    for k in range(120):
        p1 = rng.integers(-2, 3, 3) / 2.0
        tube = Tube(tuple(p1.tolist()), tuple((p1 + np.roll([0.0, 0.0, 2.0], k)).tolist()), 1.0, 0.5)
        start = rng.integers(-6, 7, 3) / 2.0
        end = 2.0 * p1 + rng.integers(0, 3, 3) - start if k % 2 else start + np.roll([8.0, 0.0, 0.0], k // 2)
        ray, grown = RayNumbers(tuple(start.tolist()), tuple(end.tolist()), True, 1.0), grown_by(tube, k % 3 / 4 + 0.25)
        between = grown._between_faces(ray)
        with monkeypatch.context() as patch:
            patch.setattr(GrownCylinder, "_between_faces", lambda *_: None)
            slow = [(numbers_of(one), one.entry_face, one.exit_face) for one in limb_chords(ray, grown)]
        assert [(numbers_of(one), one.entry_face, one.exit_face) for one in limb_chords(ray, grown)] == slow
        across += between is not None and len(slow) > 0
    assert across > 20


def numbers_of(chord: Chord) -> tuple[object, object]:
    """Entry and exit, to 106 bits."""
    return chord.entry.double_double(), chord.exit.double_double()
