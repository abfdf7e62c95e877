"""Numbers up to both ends of the accepted range (docs/design.md, section 3) give right answers; others are refused."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed, segments_of, shots_at
from support.cases.frames import Array
from support.check_cylinders import FIELDS, sized
from support.check_shapes import compare_chords, compare_hits, row_truths, world_truths
from support.number_range import BELOW, GOOD, LARGEST, POWERS, SMALLEST, UP
from support.oracle import any_shape
from support.oracle.cylinder import ray
from support.oracle.lines import BOX
from support.oracle.shapes.rows import Shots, shots
from support.oracle.shapes.table import SHAPE_ROWS

import cylcollide as cc
from cylcollide.exact.line import segment_numbers
from cylcollide.exact.order import limb_chords
from cylcollide.exact.thick import grown_by
from cylcollide.query.exact_fallback import exact_limb


def with_row(array: Array, row: int, value: object) -> Array:
    """Return a copy with one row replaced."""
    changed = array.copy()
    changed[row] = value
    return changed


# Refused ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [BELOW, 1e-200, 5e-324])
def test_axes_and_tapers_that_are_too_small(value: float):
    many, message = with_row(np.ones(5), 3, value), r"2\*\*-500.*row 3\b"
    short, at = with_row(UP, 3, value), with_row(GOOD, 3, 0.0)
    for make in (
        lambda: cc.Limbs.tapered_cylinders(GOOD, UP, 1.0, many),
        lambda: cc.Limbs.boxes(GOOD, with_row(np.ones((5, 4)), 3, value), [1, 1, 1]),
        lambda: cc.Limbs.cylinders(at, short, 1.0),
        lambda: cc.Limbs.capsules(at, short, 1.0),
        lambda: cc.Limbs.capsules(at, UP, 1.0).moved(at, short),
        lambda: cc.Limbs.spheres(GOOD, 1.0).inflated(many - (many == 1.0)),
    ):
        with pytest.raises(ValueError, match=message):
            make()


# Accepted -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("power", POWERS)
def test_every_field_at_any_power_of_two(power: int):
    """Segments and rays, limb by limb and through a world, and chords: compared with rational arithmetic."""
    limbs = mixed(sized(49, 60), seed=8)
    start, end = shots_at(limbs, len(limbs), seed=8)
    here, start, end = limbs.scaled(2.0**power), np.ldexp(start, power), np.ldexp(end, power)
    lengths = np.ldexp(1.0, np.random.default_rng(1).integers(-490 - min(power, 0), 490 - max(power, 0), len(limbs)))
    rays = shots(here, start, (end - start) * lengths[:, None], np.full(len(limbs), LARGEST))
    few = here.take(np.arange(14))
    world, truths = cc.HitWorld(few.limbs()), world_truths(few.solids(), segments_of(start, end))
    alone = [(asked, row_truths(asked)) for asked in (shots(here, start, end), rays)]
    for inside, (asked, true) in zip(("hit", "exit"), alone, strict=True):
        tally = compare_hits(asked.cast(inside), true, inside)
        assert not tally.problems, tally.report()
        assert tally.hits > len(limbs) // 9
        tally = compare_hits(world.cast_segments(start, end, inside=inside), truths, inside)
        assert not tally.problems, tally.report()
        count, problems = compare_chords(world.chords_segments(start, end, inside=inside), truths, inside)
        assert not problems, problems[0]
        assert min(count, tally.hits) > 3


@pytest.mark.parametrize("power", POWERS)
def test_thick_rays_at_any_power_of_two(power: int):
    """Compared with rational arithmetic at scale 1, and with that answer at each power; some shapes are bounded."""
    shapes, rng = mixed(sized(70, 21), seed=9), np.random.default_rng(9)
    start, end = shots_at(shapes, len(shapes.radius), seed=9)
    radius = rng.choice([0.0, 0.01, 0.5], len(start))
    limbs, near = shapes.limbs(), shapes.scaled(2.0**power).limbs()
    hits = limbs.cast_segments(start, end, radius=radius)
    there = near.cast_segments(np.ldexp(start, power), np.ldexp(end, power), radius=np.ldexp(radius, power))
    bounded = np.array([SHAPE_ROWS[kind].is_bounded for kind in limbs.kind.tolist()])
    decided = ~hits.undecided & ~there.undecided
    assert decided[~bounded].all()
    assert decided.sum() >= (~bounded).sum()
    assert np.array_equal(hits.hit[decided], there.hit[decided])
    for i in np.flatnonzero(hits.hit & there.hit & ~bounded).tolist():
        assert there.face[i] == hits.face[i]
        assert abs(there.fraction[i] - hits.fraction[i]) <= 4.0 * np.spacing(1.0)
        size = max(np.abs([start[i], end[i], hits.position[i]]).max(), 1.0)
        assert np.abs(np.ldexp(there.position[i], -power) - hits.position[i]).max() <= 8.0 * np.spacing(size)
    for i in np.flatnonzero(~bounded).tolist():
        grown = grown_by(exact_limb(limbs._table, i), radius.item(i))
        segment = segment_numbers(start[i], end[i])
        assert hits.hit[i] == (len(limb_chords(segment, grown)) > 0)
    assert len(start) // 9 < hits.hit.sum() < len(start)


@pytest.mark.parametrize(("power", "is_decided"), [(-46, True), (60, True), (-60, False), (70, False)])
def test_bounded_answers_leave_the_smallest_and_largest_worlds_open(power: int, is_decided: bool):
    """Rays and a blade that touch the boxes around limbs, but no limb, and a bullet that meets a box."""
    sides = np.ldexp([0.25, 0.25, 0.25], power)
    start, end, base, apex = np.ldexp([[-3.0, 0.4, 0.9], [3.0, 0.4, 0.9], [0.0, 0, 0], [0.0, 0, 1]], power)
    cone = cc.Limbs.cones(base, apex, sides[0])
    world = cc.HitWorld(cone)
    for undecided in (
        cone.cast_segments(start, end, radius=sides[0]).undecided,
        world.cast_segments(start, end, radius=sides[0]).undecided,
        cc.HitWorld(cc.Limbs.spheres(apex / 2, sides[0])).sweep_capsules(start, start, end, end, sides[0]).undecided,
        world.doubt_segments(start, end, sides[0]).verdict == cc.Doubt.DEPENDS,
    ):
        assert undecided.tolist() == [not is_decided]
    near = np.ldexp([[-3.0, 0, 0], [3.0, 0, 0]], power)
    history = cc.PoseHistory(cc.HitWorld(cc.Limbs.boxes(base, [0, 0, 0, 1], sides)), interpolate="ends")
    for tick in range(2):
        history.world.set_endpoints(base + tick * sides, base + tick * sides)
        history.record(tick)
    assert history.cast_moving(*near, 0, 1).undecided.tolist() == [not is_decided]


def spread_shots(kind: int, n: int) -> Shots:
    """Return limbs of any proportion, needles and sheets, near and far, each with a segment through its middle."""
    rng = np.random.default_rng([7, kind])
    limbs = mixed(n, kinds=[kind])
    spread = 2.0 ** rng.integers(-490, 490, (5, n))
    axis = limbs.p2 - limbs.p1
    p1 = limbs.p1 * np.where(rng.random(n) < 0.3, spread[0], 0.0)[:, None]
    p2 = p1 + axis * spread[3][:, None]
    limbs = replace(
        limbs,
        p1=p1,
        p2=np.where((axis == 0.0).all(axis=1, keepdims=True), p1, p2),
        radius=limbs.radius * spread[1],
        radius2=limbs.radius2 * spread[1],
        half=limbs.half * rng.permuted(spread[1:4].T, axis=1),
    )
    limbs = limbs.take((limbs.p1 != limbs.p2).any(axis=1) | (kind == cc.Shape.SPHERE) | (kind == BOX))
    n = len(limbs)
    size = np.maximum(np.abs(limbs.p2 - limbs.p1).max(axis=1), limbs.radius + limbs.half.max(axis=1))
    step = rng.normal(size=(n, 3)) * np.where(rng.random(n) < 0.5, size, spread[4, :n])[:, None]
    middle = 0.5 * (limbs.p1 + limbs.p2)
    start, end = middle - step, middle + step
    fits = (np.abs(start) < LARGEST).all(axis=1) & (np.abs(end) < LARGEST).all(axis=1)
    return shots(limbs, start, end).take(fits)


@pytest.mark.parametrize("kind", SHAPE_ROWS)
def test_all_sizes_at_once(kind: int):
    """Sizes from 2**-490 to 2**490 in one limb: every field of every hit is finite, and right."""
    asked = spread_shots(kind, sized(40, 60))
    hits = asked.cast()
    assert hits.hit.sum() > len(asked) / 9  # the middle of a tube or of a far needle may lie outside it
    for name in FIELDS:
        assert np.isfinite(getattr(hits, name)[hits.hit]).all(), name
    truths = row_truths(asked)
    assert hits.hit.tolist() == [bool(truth.found) for truth in truths]
    assert hits.face[hits.hit].tolist() == [t.found[0][1].entry_face for t in truths if t.found]
    assert hits.exit_face[hits.hit].tolist() == [t.found[0][1].exit_face for t in truths if t.found]
    length = np.linalg.norm(hits.normal[hits.hit & (hits.face != cc.Face.INSIDE)], axis=1)
    np.testing.assert_allclose(length, 1.0, rtol=0, atol=1e-14)
    middle = 0.5 * (asked.start + asked.end)
    world = cc.HitWorld(asked.shapes.limbs())
    assert world.contains_points(middle).limb.dtype == np.int32
    assert np.array_equal(world.occluded_segments(asked.start, asked.end)[hits.hit], hits.hit[hits.hit])


@pytest.mark.coverage("3")
@pytest.mark.plain_python
@pytest.mark.parametrize("kind", SHAPE_ROWS)
def test_squared_distances_from_the_axis(kind: int):
    """Products of four lengths overflow from 2**256 on; the squared distance does not."""
    asked = spread_shots(kind, sized(80, 240))
    limbs, solids = asked.shapes.limbs(), asked.shapes.solids()
    seen, rng = 0, np.random.default_rng(kind)
    middle = 0.5 * (asked.shapes.p1 + asked.shapes.p2)
    size = np.maximum(asked.shapes.radius, asked.shapes.half.min(axis=1))
    points = middle + rng.uniform(-0.5, 0.5, middle.shape) * size[:, None]
    squared = limbs.axis_distance_squared(points)
    found = cc.HitWorld(limbs).contains_points(points)
    assert np.array_equal(found.limb == -1, found.axis_distance_squared == -1.0)
    for got, solid, point in zip(squared.tolist(), solids, points.tolist(), strict=True):
        if any_shape.classify(solid, point) == 0:
            assert got == -1.0
        else:
            true = any_shape.axis_distance_squared(solid, point)
            assert abs(Fraction(got) - true) <= true * Fraction(1, 2**50) + Fraction(1, 2**1070)
            seen += 1
    assert seen > (1 if kind == cc.Shape.TUBE else len(solids) / 6)


def test_the_slowest_direction_reaches_the_farthest_limb():
    """The fraction is near 2**1001, the largest possible one."""
    limbs = cc.Limbs.spheres([[LARGEST, 0.0, 0.0]], LARGEST / 4)
    for asked in (limbs, cc.HitWorld(limbs)):
        for limit in (np.inf, LARGEST):
            hits = asked.cast_rays([[-LARGEST / 4, 0.0, 0.0]], [[SMALLEST, 0.0, 0.0]], max_distance=limit)
            assert (hits.hit[0], hits.fraction[0], hits.distance[0]) == (True, 2.0**1000, LARGEST)
            assert hits.position[0].tolist() == [0.75 * LARGEST, 0.0, 0.0]
            assert hits.exit_fraction[0] == (1.5 * 2.0**1000 if limit == np.inf else 2.0**1000)
    near = cc.Limbs.spheres([[0.0, 0.0, 0.0]], SMALLEST)
    hits = near.cast_rays([[-4 * SMALLEST, 0.0, 0.0]], [[LARGEST, LARGEST * 2.0**-60, 0.0]])
    assert hits.position[0] == pytest.approx([-SMALLEST, 0.0, 0.0], abs=SMALLEST * 2.0**-50)
    assert ray((0, 0, 0), (SMALLEST, 0, 0), LARGEST).limit == Fraction(2) ** 1000


def test_the_ends_of_the_range_are_accepted():
    corner = np.full((1, 3), LARGEST)
    for limbs in (
        cc.Limbs.cylinders(-corner, corner, LARGEST),
        cc.Limbs.tubes(-corner, corner, LARGEST, SMALLEST),
        cc.Limbs.cones(-corner, corner, LARGEST),
        cc.Limbs.ellipsoids(-corner, corner, LARGEST),
        cc.Limbs.capsules(-corner, corner, LARGEST),
        cc.Limbs.spheres(corner, LARGEST),
        cc.Limbs.boxes(corner, [LARGEST, LARGEST, SMALLEST, 0.0], [LARGEST, SMALLEST, LARGEST]),
        cc.Limbs.cylinders([[0.0, 0.0, 0.0]], [[SMALLEST, 0.0, 0.0]], SMALLEST),
    ):
        world = cc.HitWorld(limbs)
        start, end = [[-LARGEST, LARGEST, LARGEST]], [[LARGEST, LARGEST, 0.9 * LARGEST]]
        hits, alone = world.cast_segments(start, end), limbs.cast_segments(start, end)
        for name in FIELDS:
            assert np.array_equal(getattr(hits, name), getattr(alone, name), equal_nan=True), name
            assert np.isfinite(getattr(hits, name)[hits.hit]).all(), name
        assert len(world.chords_segments(start, end)) == hits.hit.sum()
        assert world.contains_points(limbs.p1).limb[0] == (-1 if limbs.kind[0] == cc.Shape.TUBE else 0)
        world.set_endpoints(limbs.p1, limbs.p2)
