"""Every query on every shape, against its row in the table of shapes: a new shape gets all tests."""

import numpy as np
import pytest
from numpy.typing import NDArray
from support.cases.frames import Array, matrices
from support.cases.known_places import CHECKED, CLOSE, KnownPlaces, N, can_grow, dot, known_places, norm
from support.check_cylinders import same_bits
from support.oracle.any_shape import classify
from support.oracle.cylinder import POINT_INSIDE, POINT_OUTSIDE

import cylcollide as cc
from cylcollide._types import Shape
from cylcollide.kernels.aabb import limb_boxes
from cylcollide.kernels.clearance import ball_radius, corner_speed
from cylcollide.kernels.dispatch import distance_to, growth_to_reach, outside_by
from cylcollide.kernels.limb_table import plain_limb
from cylcollide.kernels.support import support, way_from
from cylcollide.limbs.distance import nearest_limb
from cylcollide.query.clearance import corner_speeds
from cylcollide.query.farthest import farthest

LESS, MORE = 1.0 - 1e-6, 1.0 + 1e-6
EVERY = np.arange(N)


@pytest.fixture(params=Shape, ids=lambda kind: kind.name.lower())
def s(request: pytest.FixtureRequest) -> KnownPlaces:
    """Return limbs of each shape with known places."""
    return known_places(int(request.param))


def own(found: cc.NearLimbs | cc.Overlaps, column: str = "") -> Array:
    """Return whether query i has limb i, and assert that it has no other; or a column, by query."""
    assert np.array_equal(found.limb, found.query)
    by_query = np.zeros(N)
    by_query[found.query] = getattr(found, column) if column else 1
    return by_query


def same_but_open(verdict: Array, is_open: Array, expected: bool, rows: NDArray[np.int64]) -> None:
    """Assert that verdicts are as expected; a few may be undecided."""
    assert ((verdict == expected) | (is_open > 0))[rows].all()
    assert is_open[rows].mean() < 0.2


def halfway(s: KnownPlaces, fraction: Array, position: Array, face: Array, place: Array) -> None:
    """Assert that paths touch these places half-way; contacts of thick rays are only bounded."""
    assert np.abs(fraction - 0.5).max() < 10.0 * CLOSE
    assert norm(position - place).max() < CLOSE
    assert np.array_equal(face, s.face)


# Points and planes --------------------------------------------------------------------------------------------------


def test_boxes_and_planes_hold_all_samples(s: KnownPlaces):
    table, points, rng = s.limbs._table, np.concatenate([s.samples, s.inner], axis=1), np.random.default_rng(1)
    low, high = limb_boxes(table)
    assert (low[:, None] <= points).all()
    assert (points <= high[:, None]).all()
    table = table if len(table.boxes) else table._replace(boxes=np.zeros((N, 12)))
    ways = rng.normal(size=(N, 3))
    for n in (s.normal, ways / norm(ways)[:, None]):
        most = dot(farthest(n, table), n)
        assert (dot(points, n[:, None]).max(axis=1) < most + CLOSE).all()
        assert n is not s.normal or np.abs(most - dot(s.place, n))[s.flat].max() < CLOSE
        for i in range(N):
            limb = plain_limb(table, i)
            assert abs(dot(n[i], np.array(limb.centre)) + support(tuple(n[i]), limb) - most[i]) < CLOSE


def test_kernel_numbers_of_points(s: KnownPlaces):
    other = s.outer + s.size[:, None] * np.random.default_rng(2).normal(size=(N, 3))
    distance, growth = s.limbs.closest_points(other).distance, np.empty(N)
    t = s.limbs._table
    speeds = corner_speeds(t.kind, t.p1, t.p2, t.radius, t.radius2)
    for i in range(N):
        limb, outer = plain_limb(s.limbs._table, i), tuple(s.outer[i])
        points = np.array([s.place[i], *s.samples[i, :2], *s.inner[i, :2], s.outer[i], other[i]])
        beyond = np.array([outside_by(tuple(x), limb) for x in points])
        assert (np.abs(beyond[:, None] - beyond) <= norm(points[:, None] - points) + CLOSE).all()
        assert np.abs(beyond[:3]).max() < CLOSE
        assert beyond[3:5].max() < CLOSE < beyond[5]
        assert norm(s.samples[i] - np.array(limb.centre)).max() < ball_radius(limb) + CLOSE
        low, high = distance_to(outer, limb)
        assert low - CLOSE < s.gap[i] < high + CLOSE
        assert not s.flat[i] or norm(np.array(way_from(outer, limb)) - (s.outer - s.place)[i]) < CLOSE
        growth[i], more = growth_to_reach(outer, limb), growth_to_reach(tuple(other[i]), limb)
        assert distance[i] <= max(more, 0.0) * min(corner_speed(limb), speeds[i]) + CLOSE
        rates = growth[i] / s.gap[i], (more - growth[i]) / norm(other[i] - s.outer[i])
        assert max(rates) < 1.0 + CLOSE or limb.kind == Shape.ELLIPSOID  # whose growth is computed differently
    rows = can_grow(s.limbs, growth)
    for by, side in ((LESS, cc.Side.OUTSIDE), (MORE, cc.Side.INSIDE)):
        assert (s.limbs[rows].inflated((growth * by)[rows]).classify_points(s.outer[rows]) == side).all()


def test_closest_points(s: KnownPlaces):
    found = s.world.closest_points(s.outer)
    assert np.array_equal(found.limb, EVERY)
    assert np.abs(found.distance - s.gap).max() < CLOSE
    assert norm(found.position - s.place).max() < CLOSE
    assert norm(found.normal - s.normal).max() < 1e-6
    assert np.array_equal(found.face, s.face)
    for below in (0.02, 0.2):
        points = s.place - below * s.size[:, None] * s.normal
        found = s.limbs.closest_points(points)
        least = norm(s.samples - points[:, None]).min(axis=1)
        assert (np.abs(found.distance) < np.minimum(least, below * s.size) + CLOSE).all()
        assert np.abs(norm(points - found.position) - np.abs(found.distance)).max() < CLOSE
        for i in range(CHECKED):
            place, normal, solid = found.position[i], found.normal[i], s.solids[i]
            ways = np.vstack([-normal, s.inner[i, :16] - place])
            assert (classify(solid, points[i]) == POINT_INSIDE) == (found.distance[i] < 0.0)
            assert classify(solid, place + CLOSE * normal) == POINT_OUTSIDE
            assert any(classify(solid, x) != POINT_OUTSIDE for x in place + CLOSE * ways / norm(ways)[:, None])


def test_overlaps(s: KnownPlaces):
    flat, (x, y, z) = np.flatnonzero(s.flat), (s.normal * np.where(s.normal[:, 2:] < 0.0, -1.0, 1.0)).T
    half = np.stack([0.2 * s.size, 0.3 * s.size, 0.1 * s.size], axis=1)
    turns = np.stack([-y, x, 0.0 * z, 1.0 + z], axis=1)  # the third axis is along the normal
    for share in (LESS, MORE):
        near, balls = s.world.points_within(s.outer, s.gap * share), s.world.overlap_spheres(s.outer, s.gap * share)
        assert (own(near) == (share > 1.0)).all()
        assert (own(balls) == (share > 1.0)).all()
        assert share < 1.0 or np.abs(own(near, "distance") - s.gap).max() < CLOSE
        points = s.world.overlap_capsules(s.outer, s.outer, s.gap * share)
        capsules = s.world.overlap_capsules(*s.beside(s.gap), s.gap * share)
        boxes = s.world.overlap_boxes(s.place + half[:, 2:] * (2.0 - share) * s.normal, turns, half)
        for found, rows in ((points, EVERY), (capsules, flat), (boxes, flat)):
            same_but_open(own(found), own(found, "undecided"), share > 1.0, rows)
    apart = s.world.overlap_boxes(s.outer, turns, np.repeat(0.5 * s.gap[:, None], 3, axis=1))
    same_but_open(own(apart), own(apart, "undecided"), False, EVERY)
    assert own(s.world.overlap_boxes(s.inner[:, 0], turns, half)).all()
    assert own(s.world.overlap_capsules(s.inner[:, 0], s.outer, 0.0)).all()


# Ways ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("thick", [0.0, 0.3])
def test_rays_thin_and_thick(s: KnownPlaces, thick: float):
    radius = thick * s.gap
    start, end = s.flight(radius)
    hits = s.world.cast_segments(start, end, radius=radius)
    assert np.array_equal(hits.limb, EVERY)
    halfway(s, hits.fraction, hits.position, hits.face, s.place)
    assert norm(hits.normal - s.normal).max() < 1e-6
    for side, ends in (("entry", (start, end)), ("exit", (end, start))):
        chords = s.world.chords_segments(*ends, radius=radius)
        rows = chords.offsets[:-1] if side == "entry" else chords.offsets[1:] - 1
        assert np.array_equal(chords.limb[rows], EVERY)
        columns = (getattr(chords, f"{side}_{name}")[rows] for name in ("fraction", "position", "face"))
        halfway(s, *columns, s.place)
    for share in (LESS, MORE):
        ways = s.flight(radius, share - 1.0)
        assert (s.world.occluded_segments(*ways, radius=radius) == (share > 1.0)).all()
        assert (s.limbs.cast_segments(*ways, radius=radius).hit == (share > 1.0)).all()


def test_ways_beside_limbs(s: KnownPlaces):
    flat, ways, world = np.flatnonzero(s.flat), s.beside(s.gap), s.world
    for share in (LESS, MORE):
        radius = s.gap * share
        chords, doubts = world.chords_segments(*ways, radius=radius), world.doubt_segments(*ways, radius)
        deep = world.doubt_segments(*s.beside(-s.gap), radius)
        for touch in (
            world.cast_segments(*ways, radius=radius).hit, world.occluded_segments(*ways, radius=radius),
            np.diff(chords.offsets) > 0, doubts.verdict != cc.Doubt.EXCLUDED,
        ):  # fmt: skip
            assert (touch[flat] == (share > 1.0)).all()
        assert not (deep.verdict == cc.Doubt.CERTAIN)[flat].any() or share < 1.0
    for i in flat[:CHECKED]:
        near = nearest_limb(s.limbs._table, EVERY[i : i + 1], ways[0][i], ways[1][i])
        assert near is not None
        assert abs(near.gap - s.gap[i]) < CLOSE


def test_inflation_by_clearance_just_touches(s: KnownPlaces):
    off = s.size[:, None] * np.random.default_rng(3).normal(size=(N, 3))
    for start, end in (s.beside(s.gap), (s.outer, s.outer + off)):
        hits = s.world.cast_segments(start, end)
        assert np.array_equal(hits.clearance_limb, EVERY)
        rows = ~hits.hit & can_grow(s.limbs, hits.clearance)
        assert rows.mean() > 0.1
        for share in (LESS, MORE):
            grown = s.limbs[rows].inflated((hits.clearance * share)[rows])
            assert (grown.cast_segments(start[rows], end[rows]).hit == (share > 1.0)).all()


def test_blades(s: KnownPlaces):
    half = np.where(s.flat, 0.1 * s.size, 0.0)[:, None] * np.cross(s.normal, s.across)
    for radius in (0.0 * s.gap, 0.3 * s.gap):
        start, end = s.flight(radius)
        hits = s.world.sweep_capsules(start - half, start + half, end - half, end + half, radius)
        late = hits.fraction - 0.5
        assert np.array_equal(hits.limb, EVERY)
        assert ((late > -CLOSE) & (late < 2.0**-10 + CLOSE)).all()
    start, end = s.beside(s.gap)
    for share in (0.5, 1.5):
        hits = s.world.sweep_capsules(start - half, start + half, end - half, end + half, s.gap * share)
        same_but_open(hits.hit, hits.undecided, share > 1.0, np.flatnonzero(s.flat))


def test_exact_arithmetic(s: KnownPlaces):
    tiny = s.tiny()
    start, end = tiny.flight(0.0 * tiny.gap)
    history = cc.PoseHistory(tiny.world)
    history.record(0.0)
    for hits in (tiny.world.cast_segments(start, end), history.cast_moving(start, end, 0.0, 0.0)):
        assert np.abs(hits.fraction - 0.5).max() < 10.0 * CLOSE
        assert np.array_equal(hits.face, tiny.face)
    found = tiny.world.closest_points(tiny.outer)
    assert np.abs(found.distance / tiny.gap - 1.0).max() < CLOSE
    assert np.array_equal(found.face, tiny.face)


# The past -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", [[0.0, 0.0, 0.0], [1.0, -2.0, 0.5]], ids=["stands", "flies along"])
def test_bullets_at_limbs(s: KnownPlaces, by: list[float]):
    world = cc.HitWorld(s.limbs)
    history = cc.PoseHistory(world)
    history.record(0.0)
    world.set_endpoints(s.limbs.p1 + by, s.limbs.p2 + by)
    history.record(1.0)
    start, end = s.flight(0.0 * s.gap)
    hits = history.cast_moving(start, end + by, 0.0, 1.0)
    assert np.array_equal(hits.limb, EVERY)
    halfway(s, hits.fraction, hits.position, hits.face, s.place + 0.5 * np.array(by))


def test_past_hits_are_those_of_that_time(s: KnownPlaces):
    turn, by = np.array([0.1, 0.3, -0.2, 0.9]), np.array([3.0, -2.0, 1.0])
    world = cc.HitWorld()
    ids = world.spawn(cc.Rig(["bone"], [-1], [[0, 0, 0]], [[0, 0, 0, 1]], s.limbs, 0))
    history = cc.PoseHistory(world)
    for time, pose in enumerate(([0.0, 0.0, 0.0, 1.0], turn)):
        world.set_poses(ids, [[time * by]], [[pose]])
        history.record(float(time))
    start, end, place = (points @ matrices(turn).T + by for points in (*s.flight(0.0 * s.gap), s.place))
    hits = history.cast_segments(start, end, 1.0)
    halfway(s, hits.fraction, hits.position, s.face, place)
    then = cc.HitWorld(history.limbs_at(0.5))
    start = 0.5 * (then.limbs.p1 + then.limbs.p2) + s.size[:, None] * s.normal
    hits, near = history.cast_segments(start, start - 2.0 * s.size[:, None] * s.normal, 0.5), then.closest_points(start)
    assert hits.hit.mean() > 0.5
    assert not same_bits(hits, then.cast_segments(start, start - 2.0 * s.size[:, None] * s.normal))
    assert np.array_equal(history.closest_points(start, 0.5).position, near.position)
