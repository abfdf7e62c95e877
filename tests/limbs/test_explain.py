"""Explanations: intervals agree with the exact layer, the clearance is a growth, and the text fits."""

import math
from itertools import product

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed
from support.cases.shape_rays import sample
from support.check_cylinders import sized
from support.explained import BY_HAND, THIN, needles_and_sheets, shots_at_own
from support.oracle.shapes import cylinder, tube
from support.oracle.shapes.table import NAMES

import cylcollide as cc
from cylcollide.kernels.clearance import growths_to_reach
from cylcollide.kernels.limb_table import limb_at

pytestmark = pytest.mark.plain_python

F = cc.Face
ROD, PIPE = cylinder.ROD.limbs(), tube.PIPE.limbs()
NEVER = (math.inf, -math.inf)


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name):
    limb, start, end, reason, face, clearance = BY_HAND[name]
    why = limb.limbs().explain_segment(start, end)
    assert (why.reason, why.face, why.hit) == (reason, face, face != F.NONE)
    assert why.clearance == pytest.approx(clearance, abs=1e-14)
    text = str(why)
    assert text.startswith(f"limb 0, {why.shape.name.lower()}: {'hit' if why.hit else 'miss'}, {reason}")
    assert ("depth" if why.hit else "clearance") in text
    assert "gap" not in text, "that is Euclid's distance"


@pytest.mark.coverage
def test_the_record_of_a_tube_hit_twice():
    why = PIPE.explain_segment([-4, 0, 1], [4, 0, 1])
    assert why.bounds == (("slab", -math.inf, math.inf), ("wall", 0.25, 0.75), ("bore", 0.375, 0.625))
    assert why.passed == ((0.25, 0.375, F.SIDE, F.BORE), (0.625, 0.75, F.BORE, F.SIDE))
    assert (why.shape, why.limb, why.exit_face, why.rechecked) == (cc.Shape.TUBE, 0, F.BORE, False)
    said = [line.split()[0] for line in str(why).splitlines()[1:7]]
    assert said == ["inside", "inside", "slab", "wall", "bore", "depth"]


def within(bounds):
    """Return the parts of [0, 1] inside a limb, computed from the floats of its bounds."""
    by_name = {}
    for name, begins, ends in bounds:
        by_name.setdefault(name, []).append((begins, ends))
    balls = [by_name.pop(name)[0] for name in ("ball at p1", "ball at p2") if name in by_name]
    bores = by_name.pop("bore", [NEVER])
    parts = [(max(b for b, _ in choice), min(e for _, e in choice)) for choice in product(*by_name.values())]
    parts = [p for p in [*parts, *balls] if p[0] <= p[1]]
    if balls and parts:
        parts = [(min(b for b, _ in parts), max(e for _, e in parts))]
    if bores[0][0] < bores[0][1]:
        parts = [p for b, e in parts for p in ((b, min(e, bores[0][0])), (max(b, bores[0][1]), e))]
    return [(max(b, 0.0), min(e, 1.0)) for b, e in parts if b <= e and b <= 1.0 and e >= 0.0]


@pytest.mark.machine_code
def test_bounds_of_all_shapes_intersect_to_chords():
    """The intersection of the printed intervals is the chord; verdict and faces equal those of `cast_segments`."""
    world = mixed(sized(280))
    limbs, (start, end) = world.limbs(), shots_at_own(world)
    hits, seen = limbs.cast_segments(start, end), set()
    for i in range(len(world)):
        why = limbs.explain_segment(start[i], end[i], limb=i)
        assert (why.hit, why.face, why.limb) == (hits.hit[i], hits.face[i], i)
        left = within(why.bounds)
        assert len(left) == len(why.passed)
        np.testing.assert_allclose(left, [p[:2] for p in why.passed], rtol=0, atol=1e-13)
        if why.hit:
            assert (why.passed[0].entry, why.passed[0].exit) == (hits.fraction[i], hits.exit_fraction[i])
        seen.add((int(world.kind[i]), why.hit))
    assert len(seen) == 2 * len(NAMES)


@pytest.mark.machine_code
def test_clearance_is_the_growth_that_flips_the_verdict():
    """A miss hits the limb inflated by more than the gap, not by less; growth reduces any clearance by as much."""
    world = mixed(sized(140), seed=6)
    limbs, (start, end) = world.limbs(), shots_at_own(world)
    seen = {True: 0, False: 0}
    for i in range(len(world)):
        limb = limbs[i]
        gap = limb.explain_segment(start[i], end[i]).clearance
        seen[gap < 0] += 1
        bore = world.radius2[i] if NAMES[world.kind[i]] == "tube" else math.inf
        if 1e-9 < gap < bore:
            assert limb.inflated(gap + 1e-12).cast_segments(start[i], end[i]).hit[0]
            assert not limb.inflated(gap - 1e-12).cast_segments(start[i], end[i]).hit[0]
        more = min(0.3, 0.5 * bore)
        grown = limb.inflated(more).explain_segment(start[i], end[i])
        assert grown.clearance == pytest.approx(gap - more, abs=1e-13)
        assert grown.hit == (gap <= more)
    assert min(seen.values()) > len(world) // 10


def test_a_segment_may_begin_or_end_on_the_second_nappe():
    """The wall's equation also holds there: (4, 1) and (4, -1) are on the second nappe; the apex is at 2."""
    limbs = cc.Limbs.tapered_cylinders([[0, 0, 0]], [[-4, 0, 0]], 1, 3)
    for here, there, words in (
        ((4, 1, 0), (5, 1, 0), "it starts after its line has left the slab"),
        ((5, 1, 0), (4, 1, 0), "it ends before it reaches the slab"),
        ((4, 1, 0), (4, -1, 0), "its line stays outside the slab"),
    ):
        why = limbs.explain_segment(here, there)
        assert not why.hit
        assert why.clearance > 0.0
        assert words in str(why), str(why)


@pytest.mark.coverage
def test_the_growth_of_a_point_puts_it_on_the_surface():
    """It is in the limb inflated by a little more, and outside of one inflated by a little less."""
    world, rng = mixed(sized(420), seed=7), np.random.default_rng(7)
    limbs, growth, seen = world.limbs(), np.empty(1), set()
    points = (world.p1 + world.p2) / 2 + rng.normal(size=world.p1.shape) * 0.6
    for i, point in enumerate(points):
        growths_to_reach(point[None], limb_at(limbs._table.rows, limbs._table.kernel_shape, i), growth)
        gap, bore = growth[0], world.radius2[i] if NAMES[world.kind[i]] == "tube" else math.inf
        assert (gap <= 0.0) == (limbs[i].classify_points(point)[0] != cc.Side.OUTSIDE)
        if 1e-9 < gap < bore:
            assert limbs[i].inflated(gap + 1e-12).classify_points(point)[0] != cc.Side.OUTSIDE
            assert limbs[i].inflated(gap - 1e-12).classify_points(point)[0] == cc.Side.OUTSIDE
        seen.add((int(world.kind[i]), bool(gap < 0.0)))
    assert len(seen) == 2 * len(NAMES)


@pytest.mark.machine_code
def test_clearance_of_adversarial_shots_has_the_sign_of_the_exact_verdict():
    questions = sample(sized(250), seed=2)
    limbs, hits, zeros, rechecked = questions.shapes.limbs(), questions.cast(), 0, 0
    for i in range(len(questions)):
        why = limbs.explain_segment(questions.start[i], questions.end[i], limb=i)
        assert why.hit == hits.hit[i]
        assert why.clearance <= 0.0 if why.hit else why.clearance >= 0.0
        assert 0.0 <= why.nearest <= 1.0
        zeros += why.clearance == 0.0
        rechecked += why.rechecked
    assert zeros > len(questions) // 100
    assert rechecked == hits.rechecked > len(questions) // 10


def test_clearance_at_any_size():
    """A power of two changes only the unit, also at sizes where kernels leave the decision to exact arithmetic."""
    world = mixed(sized(42, 42), seed=9)
    limbs, (start, end) = world.limbs(), shots_at_own(world)
    plain = [limbs.explain_segment(start[i], end[i], limb=i) for i in range(len(world))]
    assert {one.hit for one in plain} == {True, False}
    for power in (-490, 490):
        far = world.scaled(2.0**power).limbs()
        for i, one in enumerate(plain):
            why = far.explain_segment(np.ldexp(start[i], power), np.ldexp(end[i], power), limb=i)
            assert (why.hit, why.face, why.reason, why.bounds) == (one.hit, one.face, one.reason, one.bounds), power
            assert math.ldexp(why.clearance, -power) == pytest.approx(one.clearance, abs=1e-14), power


@pytest.mark.parametrize("small", [2.0**-490, 1e-16, 1.0])
def test_clearance_of_limbs_small_beside_their_segment(small):
    """A start 2**499 away costs no precision, although its square overflows."""
    limbs = {
        "cylinder": cc.Limbs.cylinders([[0, 0, 0]], [[0, 0, 4 * small]], small),
        "ellipsoid": cc.Limbs.ellipsoids([[0, 0, 0]], [[0, 0, 4 * small]], small),
        "box": cc.Limbs.boxes([[0, 0, 2 * small]], [0, 0, 0, 1], [[small, small, 2 * small]]),
        "sphere": cc.Limbs.spheres([[0, 0, 2 * small]], small),
    }
    for name, limb in limbs.items():
        for x in (2.0**499, 4 * small):
            why = limb.explain_segment([-x, 1.25 * small, 2 * small], [x, 1.25 * small, 2 * small])
            assert not why.hit
            assert why.clearance == pytest.approx(0.25 * small, rel=1e-12), name
            assert why.nearest == pytest.approx(0.5, abs=0.3)


@pytest.mark.parametrize("thin", THIN)
def test_clearance_of_needles_and_sheets_is_a_number(thin):
    for limb in needles_and_sheets(thin):
        for start, end in (([-9, 0, 1], [9, 0, 2]), ([-1e140, 3, 1], [1e140, 3, 1]), ([1, 1, 1], [1, 1, 1])):
            why = limb.explain_segment(start, end)
            assert np.isfinite([why.clearance, why.nearest]).all()
            assert why.clearance <= 0.0 if why.hit else why.clearance >= 0.0
            assert why.hit == limb.cast_segments(start, end).hit[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 0, 0], [1, 1, 1], None), "limb: expected the index of one of 2 limbs, got None"),
        (([0, 0, 0], [1, 1, 1], 2), "limb: expected 0 to 1, got 2"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        cc.Limbs.concat([ROD, PIPE]).explain_segment(*arguments[:2], limb=arguments[2])


def test_explanations_are_compared_by_value():
    one, same = (ROD.explain_segment([-3, 0, 1], [3, 0, 2]) for _ in range(2))
    assert one == same != ROD.explain_segment([-3, 0, 1], [3, 0, 3])
    with pytest.raises(AttributeError):
        one.reason = "none"
