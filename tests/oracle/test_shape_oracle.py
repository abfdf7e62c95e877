"""The shapes' oracle and the families of its cases, against cases by hand and the definitions of solids."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import segments_of
from support.cases.shape_rays import EXACT, FLOAT, SHAPES, sample, sample_rays
from support.cases.shape_scenes import PLANS, scene
from support.check_shapes import world_truths
from support.oracle import any_shape
from support.oracle import cylinder as oracle
from support.oracle.algebraic import Param, Root, compare, enclosure
from support.oracle.any_shape import chords, classify
from support.oracle.cylinder import segment
from support.oracle.lines import TUBE, Solid
from support.oracle.shapes import tube
from support.oracle.shapes.rows import Shots
from support.oracle.shapes.table import NAMES, SHAPE_ROWS
from support.oracle.spots import Spot

import cylcollide as cc
from cylcollide.exact.line import segment_numbers
from cylcollide.exact.numbers import QuadraticNumber
from cylcollide.exact.order import limb_chords
from cylcollide.query.exact_fallback import exact_limb

PIPE = tube.PIPE.solids()[0]
EIGHTH = Fraction(1, 8)

BY_HAND = {name: case for row in SHAPE_ROWS.values() for name, case in row.chords.items()}


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name: str):
    limb, start, end, eighths = BY_HAND[name]
    want = [(entry * EIGHTH, face, last * EIGHTH, last_face) for entry, face, last, last_face in eighths]
    found = [(c.entry, c.entry_face, c.exit, c.exit_face) for c in chords(limb.solids()[0], segment(start, end))]
    assert found == want
    # and the library, both ways
    c = cc.HitWorld(limb.limbs()).chords_segments([start], [end])
    columns = (c.entry_fraction, c.entry_face, c.exit_fraction, c.exit_face)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == want
    ray = segment_numbers(start, end)
    exact = limb_chords(ray, exact_limb(limb.limbs()._table, 0))
    assert [(_rational(x.entry), x.entry_face, _rational(x.exit), x.exit_face) for x in exact] == want


def _rational(number: QuadraticNumber | None) -> Fraction:
    """Return a parameter that is rational in this case."""
    assert number is not None
    return Fraction(*number.approximate())


# Against a second opinion -------------------------------------------------------------------------------------------


def holds(solid: Solid, x: list[Fraction]) -> bool:
    """Return whether the solid holds a point, from the definitions: distances from the axis, its ends, the planes."""
    return SHAPE_ROWS[solid.kind].holds(Spot(solid, x))


def near(t: Param) -> tuple[Fraction, Fraction]:
    """Return rationals less than 2^-200 before and after t."""
    lo, hi = enclosure(t, 260)
    return lo - Fraction(1, 2**220), hi + Fraction(1, 2**220)


@pytest.mark.parametrize("kind", SHAPES)
def test_chords_agree_with_points(kind: int, drawn: Shots):
    """Points of a chord are in the solid, points just before and after are not; 9 points of the segment agree, too."""
    s = drawn.take(drawn.shapes.kind == kind)
    crossings = two = 0
    for i, solid in enumerate(s.shapes.solids()):
        query = s.query(i)
        start, step = [Fraction(x) for x in query.origin], query.direction

        def inside(t: Fraction, solid=solid, start=start, step=step) -> bool:
            return holds(solid, [o + t * d for o, d in zip(start, step, strict=True)])

        found = chords(solid, query)
        for k in range(0, 65, 8):
            t = Fraction(k, 64)
            within = any(compare(c.entry, t) <= 0 <= compare(c.exit, t) for c in found if c.exit is not None)
            assert inside(t) == within, (solid, query, t)
        for c in found:
            assert c.exit is not None
            (before, past), (short, after) = near(c.entry), near(c.exit)
            if not c.started_inside:
                assert not inside(before), (solid, query)
            if c.leaves:
                assert not inside(after), (solid, query)
            if compare(c.entry, c.exit) < 0 and past < short:
                assert inside(past), (solid, query)
                assert inside(short), (solid, query)
                assert inside((past + short) / 2), (solid, query)
            elif isinstance(c.entry, Fraction):
                assert inside(c.entry), (solid, query)
            crossings += 1
        two += len(found) == 2
    assert crossings > len(s) / 2
    assert two > len(s) / 12 or kind != TUBE


def test_points_agree(drawn: Shots):
    """`classify` agrees with `holds`, and neighbours of an inner point, 2^-300 away, are inside."""
    seen: Counter[int] = Counter()
    for i, solid in enumerate(drawn.shapes.solids()):
        x = [Fraction(c) for c in drawn.start[i].tolist()]
        where = classify(solid, drawn.start[i].tolist())
        assert holds(solid, x) == (where != oracle.POINT_OUTSIDE)
        if where == oracle.POINT_INSIDE:
            steps = [[(j == k) * s * Fraction(1, 2**300) for j in range(3)] for k in range(3) for s in (-1, 1)]
            assert all(holds(solid, [c + d for c, d in zip(x, step, strict=True)]) for step in steps)
        seen[where] += 1
    assert min(seen[k] for k in range(3)) > len(drawn) / 20


# The families -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drawn() -> Shots:
    return sample(600, seed=22)


def test_every_family_covers_its_purpose(drawn: Shots):
    seen: Counter[tuple[str, str]] = Counter()
    for i, solid in enumerate(drawn.shapes.solids()):
        shape, family = str(drawn.family[i]).split(": ")
        found = chords(solid, drawn.query(i))
        seen[shape, "hit" if found else "miss"] += 1
        seen[family, "hit" if found else "miss"] += 1
        seen[family, "touch"] += any(c.entry == c.exit for c in found)
        seen[family, "inside"] += any(c.started_inside for c in found)
        seen[family, "rows"] += 1
    assert {family for family, _ in seen} >= {*FLOAT, *EXACT, "nudged"}
    for kind in SHAPES:
        assert seen[NAMES[kind], "hit"] > 0.5 * len(drawn) / len(SHAPES)
        assert seen[NAMES[kind], "miss"] > 0.05 * len(drawn) / len(SHAPES)
    assert seen["exact touch", "touch"] > 0.6 * seen["exact touch", "rows"]
    assert seen["exact zero length", "hit"] < seen["exact zero length", "rows"]
    assert all(seen[family, "hit"] > 0.4 * seen[family, "rows"] for family in (*FLOAT, *EXACT))
    missing = ("passing", "graze", "feature line", "nudged")
    assert all(seen[family, "miss"] > 0.1 * seen[family, "rows"] for family in missing)


def test_limits_lie_exactly_at_surfaces():
    r = sample_rays(600, seed=23)
    r = r.take(np.char.find(r.family, "at the limit") >= 0)
    seen: Counter[tuple[int, str]] = Counter()
    for i, solid in enumerate(r.shapes.solids()):
        query = r.query(i)
        found = chords(solid, query)
        seen[solid.kind, "entry"] += any(c.entry == query.limit for c in found)
        seen[solid.kind, "exit"] += any(c.leaves and c.exit == query.limit for c in found)
        seen[solid.kind, "miss"] += not found
    assert min(seen[kind, what] for kind in SHAPES for what in ("entry", "exit", "miss")) > len(r) / len(SHAPES) / 20


@pytest.mark.parametrize("name", [n for n in PLANS if n != "crowd"])
def test_scenes_have_ties(name: str):
    ties = irrational = 0
    for seed in (0, 4):
        s = scene(name, 40, seed)
        for asked in world_truths(s.limbs.solids(), segments_of(s.start, s.end)):
            first = any_shape.credited(asked.found, "ignore")
            if first is not None and len({k for k, c in asked.found if compare(c.entry, first.at) == 0}) > 1:
                ties += 1
                irrational += isinstance(first.at, Root)
    assert ties > 5
    assert irrational > 2 or name in ("chain", "nested")
