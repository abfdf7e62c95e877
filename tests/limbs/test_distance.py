"""The distance of a segment from limbs, compared with an independent method in extended precision."""

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed
from support.explained import THIN, needles_and_sheets
from support.oracle import distance as oracle
from support.oracle.shapes.table import NAMES

import cylcollide as cc
from cylcollide.limbs.distance import DISTANCE_BOUND, NearestLimb, nearest_limb
from cylcollide.limbs.tables import joined_tables

ROUNDED_TWICE = 2.0**-52
"""Error of a place in the world, relative to its largest coordinate."""

PIPE = cc.Limbs.tubes([0, 0, -1], [0, 0, 1], 1.2, 1.0)


def of_one(limb: cc.Limbs, start, end) -> NearestLimb:
    found = nearest_limb(limb._table, np.arange(1), np.asarray(start, float), np.asarray(end, float))
    assert found is not None
    return found


def check(limb: cc.Limbs, start, end) -> float:
    """Assert that distance and places are right; returns the distance."""
    found, start, end = of_one(limb, start, end), np.asarray(start, float), np.asarray(end, float)
    want, _ = oracle.segment_distance(limb, start, end)
    size = oracle.size(limb) + want
    assert abs(found.gap - want) <= DISTANCE_BOUND * size
    slack = DISTANCE_BOUND * size + ROUNDED_TWICE * max(np.abs(found.point).max(), np.abs(found.segment_point).max())
    assert abs(np.linalg.norm(found.point - found.segment_point) - want) <= 2 * slack
    assert float(oracle.distance(limb, found.point[None].astype(oracle.Long))[0]) <= 2 * slack
    on_segment = start.astype(oracle.Long) + oracle.Long(found.fraction) * (end.astype(oracle.Long) - start)
    far = np.abs([start, end]).max() * ROUNDED_TWICE  # what one unit of fraction is worth
    assert np.abs(on_segment - found.segment_point).max() <= 2 * slack + far
    return found.gap


@pytest.mark.parametrize("spread", [0.6, 30.0])
def test_every_shape(spread: float):
    """Segments near and far: passing, parallel to the axis, and of length 0."""
    world, rng = mixed(28, seed=int(spread)), np.random.default_rng(3)
    limbs, seen = world.limbs(), []
    start = 0.5 * (limbs.p1 + limbs.p2) + rng.normal(size=limbs.p1.shape) * spread
    end = start + rng.normal(size=start.shape) * rng.choice([1e-3, 1.0, 50.0], (len(limbs), 1))
    end[::9] = start[::9] + (limbs.p2 - limbs.p1)[::9]  # parallel to the axis
    end[::10] = start[::10]  # a point
    for i in np.flatnonzero(~limbs.cast_segments(start, end).hit):
        gap = check(limbs[i], start[i], end[i])
        seen.append((NAMES[limbs.kind[i]], gap > 1.0))
    assert {name for name, _ in seen} == set(NAMES)
    assert len(seen) > len(limbs) // 3


def test_grazes_keep_precision():
    """Segments just off the surface: the error of the gap is within the bound for the limb's size."""
    limbs = mixed(21, seed=4).limbs()
    rng = np.random.default_rng(5)
    gaps = []
    for i in range(len(limbs)):
        away = rng.normal(size=3)
        outside = 0.5 * (limbs.p1[i] + limbs.p2[i]) + 6.0 * away / np.linalg.norm(away)
        found = of_one(limbs[i], outside, outside)
        normal = (outside - found.point) / found.gap
        along = np.cross(normal, rng.normal(size=3))
        near = found.point + 10.0 ** rng.uniform(-9, -2) * normal
        if not limbs[i].cast_segments(near - along, near + along).hit[0]:
            gaps.append(check(limbs[i], near - along, near + along))
    assert len(gaps) > 15
    assert min(gaps) < 1e-7


# Tubes --------------------------------------------------------------------------------------------------------------


def two_minima(rng: np.random.Generator, n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return segments that begin outside a bore's mouth and lead away from it, nearly parallel to the rim's plane."""
    across = rng.uniform(0.02, 0.5, n)
    start = np.column_stack([np.zeros(n), across, 1.0 + rng.uniform(0.05, 1.5, n)])
    step = np.column_stack([rng.uniform(0.8, 2.0, n), np.zeros(n), rng.uniform(0.0, 0.6, n)])
    return list(zip(start, start + step, strict=True))


def test_tubes_from_within_their_bore():
    """Distances fall and rise twice: some segments come nearer to the rim later, others are nearest at the start."""
    rng, later, at_once = np.random.default_rng(1), 0, 0
    for start, end in two_minima(rng, 20):
        gap = check(PIPE, start, end)
        first = of_one(PIPE, start, start).gap
        later, at_once = later + (gap < first - 1e-9), at_once + (gap >= first - 1e-9)
    assert min(later, at_once) > 1


def test_segments_through_a_bore():
    """The distance has a minimum at each of the two rims and is larger between them: the smaller minimum is found."""
    rng, sides = np.random.default_rng(2), []
    for _ in range(20):
        ends = rng.uniform(-0.65, 0.65, (2, 2)) * rng.uniform(0.9, 1.4)
        start, end = np.append(ends[0], -rng.uniform(1.0, 3.0)), np.append(ends[1], rng.uniform(1.0, 3.0))
        if not PIPE.cast_segments(start, end).hit[0]:
            check(PIPE, start, end)
            sides.append(of_one(PIPE, start, end).point[2] > 0.0)
    assert min(sides.count(True), sides.count(False)) > 2


@pytest.mark.parametrize("z", [0.7, 3.0])
def test_a_segment_along_the_axis_of_a_bore(z: float):
    """All directions from the axis are equally near; the places are one nearest pair."""
    found = of_one(PIPE, [0, 0, z], [0, 0, z + 0.2])
    assert found.gap == pytest.approx(np.hypot(1.0, max(z - 1.0, 0.0)), rel=1e-15)
    assert np.hypot(*found.point[:2]) == pytest.approx(1.0, rel=1e-15)
    assert np.linalg.norm(found.point - found.segment_point) == pytest.approx(found.gap, rel=1e-15)


# Units and places ---------------------------------------------------------------------------------------------------


def test_any_unit():
    """A power of two changes only the unit."""
    world, rng, powers = mixed(28, seed=9), np.random.default_rng(9), (-490, 490)
    limbs, others = world.limbs(), [world.scaled(2.0**power).limbs() for power in powers]
    start, end = limbs.p1 + rng.normal(size=(2, *limbs.p1.shape)) * 3.0
    missed = np.flatnonzero(~limbs.cast_segments(start, end).hit)
    assert set(limbs.kind[missed].tolist()) == set(range(len(NAMES)))
    for i in missed:
        plain = of_one(limbs[i], start[i], end[i])
        for power, other in zip(powers, others, strict=True):
            far = of_one(other[i], *np.ldexp([start[i], end[i]], power))
            assert np.ldexp(far.gap, -power) == pytest.approx(plain.gap, rel=1e-14)
            assert np.ldexp(far.point, -power) == pytest.approx(plain.point, abs=1e-6)


@pytest.mark.parametrize("far", [2.0**-479, 2.0**499])
@pytest.mark.parametrize(("long", "radius1", "radius2"), [(1.0, 1.0, 0.0), (1.0, 1.0, 0.5), (0.75, 0.25, 1.0)])
def test_far_beyond_the_size_of_a_tapered_limb(far: float, long: float, radius1: float, radius2: float):
    tiny = 2.0**-480
    limb = cc.Limbs.tapered_cylinders([0, 0, 0], [0, 0, long * tiny], radius1 * tiny, radius2 * tiny)
    found = of_one(limb, [far, 0, 0], [far, 0, far])
    assert found.gap == pytest.approx(far - radius1 * tiny, rel=1e-14)
    assert np.abs(found.point).max() <= tiny + 1e-14 * far


def test_a_tapered_limb_that_is_a_thin_disc():
    disc = cc.Limbs.tapered_cylinders([0, 0, 0], [0, 0, 2.0**-490], 2.0**400, 2.0**400)
    assert of_one(disc, [2.0**401, 0, 0], [2.0**401, 0, 1.0]).gap == 2.0**400
    assert of_one(disc, [0, 0, 3.0], [1, 0, 4.0]).gap == 3.0


@pytest.mark.parametrize("thin", THIN)
def test_needles_and_sheets(thin: float):
    for limb in needles_and_sheets(thin):
        far = 20.0 * (oracle.size(limb) + 1.0)
        for start, end in (([-9, 3, 1], [9, 3, 2]), ([-far, 3, -1], [far, 3, -1]), ([1, 1, -1], [1, 1, -1])):
            if limb.cast_segments(start, end).hit[0]:
                continue
            found = of_one(limb, start, end)
            assert np.isfinite([found.gap, *found.point, *found.segment_point]).all()
            if 1e-30 < thin < 1e30 and end[0] < 10:
                want, _ = oracle.segment_distance(limb, start, end)
                assert abs(found.gap - want) <= DISTANCE_BOUND * (oracle.size(limb) + want)
            if end[0] == far < 1e100:
                farther = of_one(limb, [-1e140, 3, -1], [1e140, 3, -1])
                assert farther.gap == pytest.approx(found.gap, rel=1e-13)


def test_a_far_start_keeps_precision():
    rod = cc.Limbs.cylinders([0, 0, 0], [0, 0, 4], 1.0)
    found = of_one(rod, [-1e12, 1.25, 2], [1e12, 1.25, 2])
    assert found.gap == pytest.approx(0.25, abs=1e-15)
    assert found.segment_point == pytest.approx([0, 1.25, 2], abs=1e-7)


# Many limbs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("far", [0.0, 1e7])
def test_the_nearest_of_many_is_the_least_of_all(far: float):
    limbs, rng = mixed(21, seed=2).limbs(), np.random.default_rng(4)
    limbs = limbs.moved(limbs.p1 + far, limbs.p2 + far)
    asked = 0
    for _ in range(6):
        start = rng.uniform(-8, 8, 3) + far
        end = start + rng.normal(size=3)
        if limbs.cast_segments(start, end).hit.any():
            continue
        rows = np.flatnonzero(rng.random(len(limbs)) < 0.7)
        found = nearest_limb(limbs._table, rows, start, end)
        gaps = [of_one(limbs[i], start, end).gap for i in rows]
        assert found.gap == min(gaps)
        assert found.limb == rows[int(np.argmin(gaps))]
        asked += 1
    assert asked > 2


def test_of_equal_limbs_the_first_is_nearest():
    one = cc.Limbs.spheres([3, 0, 0], 1.0)
    table = joined_tables([one._table] * 3)
    assert nearest_limb(table, np.array([2, 1]), np.zeros(3), np.zeros(3)).limb == 1
    assert nearest_limb(table, np.empty(0, np.int64), np.zeros(3), np.zeros(3)) is None
