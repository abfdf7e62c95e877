"""Work per row where float64 is not trusted or limbs touch or coincide, in counts rather than times."""

import sys
from typing import Any

import numpy as np
import pytest
from support.cases.one_of_each_shape import LIMBS
from support.check_cylinders import IS_COMPILED

import cylcollide as cc
from cylcollide.exact import ellipse
from cylcollide.history.moving.request import moving_request
from cylcollide.query import closest

RNG = np.random.default_rng(3)
PLACES = np.stack(np.meshgrid(*[np.arange(6.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
WORLD = cc.HitWorld(cc.Limbs.capsules(PLACES, PLACES + np.array([0.0, 0.0, 0.3]), 0.2))
BETWEEN = PLACES[:20] + 0.5
WAYS = [1e-16, 1e-30, 1e-140, 1e21, 1e30, 1e140]
QUERIES = {
    "closest": WORLD.cast_segments,
    "any": WORLD.occluded_segments,
    "chords": WORLD.chords_segments,
    "thick": lambda start, end: WORLD.cast_segments(start, end, radius=0.05),
    "capsules": lambda start, end: WORLD.overlap_capsules(start, end, 0.05),
    "rays": lambda start, end: WORLD.cast_rays(start, np.where(end > start, end - start, 1e-16), max_distance=0.1),
}


@pytest.mark.parametrize("n", [1, 20])
@pytest.mark.parametrize("query", QUERIES)
def test_a_way_of_one_ulp_hits_few_boxes(query: str, n: int, exactly: list[Any]):
    """As of a bullet at rest, up to rounding: once each limb was tested exactly, half a second a row of 20,000."""
    start = BETWEEN[:n]
    QUERIES[query](start, np.nextafter(start, 9.0))
    assert not exactly
    start = PLACES[:n] + 0.1
    QUERIES[query](start, np.nextafter(start, 9.0))
    assert 0 < len(exactly) <= 3 * n


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("n", [1, 20])
def test_directions_of_any_size_hit_the_boxes_on_their_way(way: float, n: int, exactly: list[Any]):
    origins, ahead = np.tile([-1.0, 0.0, 0.1], (n, 1)), np.array([way, 0.0, 0.0])
    hits = WORLD.cast_rays(origins, ahead)
    plain = WORLD.cast_rays(origins, [1.0, 0.0, 0.0])
    assert (hits.limb == plain.limb).all()
    assert hits.position == pytest.approx(plain.position, rel=1e-15)
    assert len(exactly) <= 12 * n
    assert not WORLD.cast_rays(origins + np.array([0.0, 0.5, 0.0]), ahead).hit.any()
    assert len(exactly) <= 12 * n


@pytest.mark.parametrize("far", [0.0, 1e4, 1e6, 1e8])
@pytest.mark.parametrize("shape", ["cylinders", "capsules", "boxes"])
def test_thick_rays_far_from_the_origin_are_decided_by_float64(shape: str, far: float, exactly: list[Any]):
    """A single step from the middle of wide bounds did not suffice: exact arithmetic decided, 20 µs a ray."""
    rng, n = np.random.default_rng(8), 60
    place, way, half = rng.uniform(0, 9, (n, 3)) + far, rng.normal(size=(n, 3)), np.full((n, 3), 0.3)
    given = {"cylinders": (place, place + way, 0.2), "capsules": (place, place + way, 0.2)}
    world = cc.HitWorld(getattr(cc.Limbs, shape)(*given.get(shape, (place, rng.normal(size=(n, 4)), half))))
    start, end = rng.uniform(-3, 12, (2, 400, 3)) + far
    hits = world.cast_segments(start, end, radius=0.05)
    assert len(exactly) <= 0.01 * hits.hit.sum() + 2
    chords = world.chords_segments(start, end, radius=0.05)
    assert len(exactly) <= 0.02 * len(chords.limb) + 2
    assert hits.hit.sum() > 60
    alone = [world.cast_segments(start[i], end[i], radius=0.05) for i in range(40)]
    assert [one.fraction.tobytes() for one in alone] == [hits[i : i + 1].fraction.tobytes() for i in range(40)]


@pytest.mark.machine_code
@pytest.mark.parametrize("seed", range(3))
def test_undecided_contacts_do_not_depend_on_other_rays(seed: int, monkeypatch: pytest.MonkeyPatch):
    """Ellipsoids a few hundred ulp large; rays one by one and in a stream."""
    rng, size, n = np.random.default_rng(seed), 1e-4, 64
    place, half = rng.uniform(-size, size, (n, 3)) + 1e8, rng.normal(size=(n, 3)) * size / 9
    world = cc.HitWorld(cc.Limbs.ellipsoids(place - half, place + half, rng.uniform(0.01, 0.2, n) * size))
    start, end = rng.uniform(-1.5 * size, 1.5 * size, (2, n, 3)) + 1e8
    radius = rng.uniform(0.0, 0.3, n) * size
    few = world.chords_segments(start, end, radius=radius)
    monkeypatch.setattr(closest, "SMALLEST_STREAM", n + 1)
    assert few.undecided.any()
    assert few == world.chords_segments(start, end, radius=radius)
    for i in range(0, n, 8):
        alone = world.chords_segments(start[i], end[i], radius=radius[i])
        assert alone.limb.tolist() == few.limb[few.offsets[i] : few.offsets[i + 1]].tolist()


@pytest.mark.parametrize("step", [1 / 60, 1 / 30, 1 / 64])
def test_pieces_that_end_at_ticks_have_few_candidates(step: float):
    """The rest of such a piece in the next tick is as short as rounding: each limb was a candidate there."""
    world, rig = cc.HitWorld(), cc.Rig.humanoid()
    ids, history = world.spawn(rig, 8), cc.PoseHistory(world, 40)
    for tick in range(40):
        roots = np.column_stack([np.arange(8.0), np.full(8, 0.02 * tick), np.ones(8)])
        world.set_poses(ids, *rig.forward(roots, [0, 0, 0, 1], rig.rest_orientations))
        history.record(tick / 60)
    start = RNG.uniform([0.0, -9.0, 1.0], [8.0, -8.0, 1.5], (200, 3))
    path = cc.flight(start, [0.3, 30.0, 0.1], 0.6, gravity=[0, 0, -9.8], step=step)
    request = moving_request(path)(history._kept())
    assert history.cast_moving(path).hit.sum() > 20
    assert len(request.query.limb) < 2 * len(request.intervals.tick)


@pytest.mark.skipif(not IS_COMPILED, reason="about machine code")
@pytest.mark.parametrize("shape", ["ELLIPSOID", "TAPERED"])
def test_exact_arithmetic_uses_compiled_bounds_of_thick_rays(shape: str):
    """For two limbs touched at once, bounds took a millisecond a limb."""
    limb = LIMBS[cc.Shape[shape]]
    world, called = cc.HitWorld(cc.Limbs.concat([limb, limb.inflated(1e-13)])), set()
    middle = 0.5 * (limb.p1 + limb.p2)
    sys.setprofile(lambda frame, event, _: called.add((frame.f_code.co_filename, frame.f_code.co_name)))
    hits = world.cast_segments(middle - 9.0, middle + 9.0, radius=0.1)
    sys.setprofile(None)
    assert hits.rechecked == len(hits)
    assert any("exact" in file for file, _ in called)
    assert not any("first_contact" in file for file, _ in called)


def test_places_on_an_ellipsoid_need_no_distance(monkeypatch: pytest.MonkeyPatch):
    """Only points of a limb are within 0 of it, and a single limb needs no comparison."""
    world = cc.HitWorld(cc.Limbs.ellipsoids([[0, 0, 0], [9, 0, 0]], [[0, 1, 2], [9, 1, 2]], 0.4))
    places = world.cast_rays([0, 0.5, 1], RNG.normal(size=(40, 3)), inside="exit").position
    monkeypatch.setattr(ellipse.Ellipse, "squared_distance", None)
    closest = world.closest_points(places, max_distance=0.0)
    assert 0 < closest.hit.sum() < 40
    assert (np.diff(world.points_within(places, 0.0).offsets) == closest.hit).all()


# Identical limbs, as of characters at one spawn point --------------------------------------------------------------

ONE, COPIES, RAYS = cc.Limbs.concat(LIMBS.values()), 20, 14
OF_A_CROWD = {
    "chords": lambda world, a, b: world.chords_segments(a, b),
    "thick chords": lambda world, a, b: world.chords_segments(a, b, radius=0.25),
    "capsules": lambda world, a, b: world.overlap_capsules(a, b, 0.25),
    "doubt": lambda world, a, b: world.doubt_segments(a, b, 0.25),
}


@pytest.mark.parametrize("query", OF_A_CROWD)
def test_copies_are_found_with_their_original(query: str, exactly: list[Any]):
    rng = np.random.default_rng(8)
    through = (0.5 * (ONE.p1 + ONE.p2))[np.arange(RAYS) % len(ONE)] + 0.1 * rng.normal(size=(RAYS, 3))
    step = rng.normal(size=(RAYS, 3))
    starts, ends = through - 2.0 * step, through + 2.0 * step
    crowd, alone = (
        OF_A_CROWD[query](cc.HitWorld(limbs), starts, ends) for limbs in (cc.Limbs.concat([ONE] * COPIES), ONE)
    )
    assert len(exactly) <= 2 * RAYS * len(ONE)
    assert len(alone) >= RAYS // 2
    for i in range(RAYS):
        found, given = crowd[i], alone[i]
        limbs, lists = np.array(found.limb), np.array(given.limb)
        assert len(limbs) == COPIES * len(lists)
        assert (np.sort(limbs % len(ONE)) == np.repeat(np.sort(lists), COPIES)).all()
        if "chords" in query:
            entries = np.array(found.entry_fraction)
            assert (entries == np.sort(np.repeat(given.entry_fraction, COPIES))).all()
            assert (np.diff(limbs)[(np.diff(limbs % len(ONE)) == 0) & (np.diff(entries) == 0.0)] > 0).all()


@pytest.mark.parametrize("radius", [0.0, 0.25])
def test_of_equal_limbs_the_lowest_row_is_hit(radius: float, exactly: list[Any]):
    """Rays at the rims of a cylinder's caps: all need exact arithmetic."""
    turn = np.linspace(0.0, 6.0, RAYS)
    rim = np.column_stack([np.cos(turn), np.sin(turn), np.zeros(RAYS)])
    limbs = cc.Limbs.cylinders([[0, 0, 0]] * COPIES, [[0, 0, 1]] * COPIES, 1.0)
    hits = cc.HitWorld(limbs).cast_segments(rim - [0, 0, radius + 1], rim - [0, 0, radius], radius=radius)
    assert set(hits.limb.tolist()) <= {0, -1}
    assert 0 < len(exactly) <= 2 * RAYS
