"""Closest points, limbs within a radius and overlapping balls, against distances to each limb in 90 digits."""

from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
import pytest
from support.cases.near_points import any_limb, near_points
from support.cases.one_of_each_shape import LIMBS
from support.check_cylinders import IS_COMPILED, same_bits
from support.mixed_queries import grid_limbs, mixed_limbs
from support.oracle.nearest import signed_distance
from support.oracle.shapes.table import MAKERS

import cylcollide as cc
from cylcollide.constants import BLOCK_RAYS, SMALLEST_BATCH
from cylcollide.exact import nearest as exact

FIELDS = ("hit", "limb", "distance", "position", "normal", "face", "character", "limb_name")
differing = partial(same_bits, fields=FIELDS)
CLOSE = Decimal(10) ** -60  # equal, in 90 digits
ORIGIN, UP = [[0.0, 0.0, 0.0]], [[0.0, 0.0, 4.0]]


def truth(limbs: cc.Limbs, points: np.ndarray) -> list[list[Decimal]]:
    """The signed distance of every point from every limb."""
    return [[signed_distance(limbs, k, point) for k in range(len(limbs))] for point in points]


def scene(name: str) -> tuple[cc.Limbs, np.ndarray]:
    """Limbs of all shapes and points among them; on the grid many limbs are equally near, and touch."""
    rng = np.random.default_rng(29)
    if name == "grid":
        return grid_limbs(), np.floor(np.array([8.0, 8.0, 24.0]) * rng.random((20, 3))) / 2 - 0.5
    limbs = mixed_limbs(24, rng, 2.0)
    return cc.Limbs.concat([limbs, limbs[3:11]]), 3.0 * rng.random((25, 3)) - 0.5


@pytest.mark.parametrize("name", ["mixed", "grid"])
def test_a_world_answers_as_single_limbs(name: str):
    limbs, points = scene(name)
    world, every = cc.HitWorld(limbs), truth(limbs, points)
    radii = np.random.default_rng(3).choice([0.0, 0.25, 0.5, 1.0], len(points))
    closest = world.closest_points(points)
    near = world.points_within(points, radii)
    balls = world.overlap_spheres(points, radii)
    limited, within = world.closest_points(points, max_distance=radii), 0
    for i, distances in enumerate(every):
        best = min(distances)
        row = next(k for k, d in enumerate(distances) if d - best < CLOSE)
        ulp = np.spacing(max(np.abs(points[i]).max(), np.abs(closest.position[i]).max(), 1.0))
        assert closest.limb[i] == row
        assert abs(Decimal(closest.distance.item(i)) - best) <= 4 * Decimal(ulp)
        assert abs(signed_distance(limbs, row, closest.position[i])) <= 4 * Decimal(ulp)
        assert limited.limb[i] == (row if best - Decimal(radii.item(i)) < CLOSE else -1)
        expected = [k for k, d in enumerate(distances) if d - Decimal(radii.item(i)) < CLOSE]
        assert balls[i].limb.tolist() == expected
        assert near[i].limb.tolist() == sorted(
            expected, key=lambda k, i=i: (limbs[k].closest_points(points[i]).distance[0], k)
        )
        within += len(expected)
    assert within == len(balls) == len(near) > 3
    assert 0 < limited.hit.sum() < len(points)


@pytest.mark.parametrize("count", [5, 60, 150])
def test_many_points_answer_as_few(count: int):
    """A few start at the root of the tree; many are tested eight at a time against the boxes of its top."""
    rng, few = np.random.default_rng(count), SMALLEST_BATCH - 1
    limbs = mixed_limbs(count, rng, 0.1 * count)
    world, points = cc.HitWorld(limbs), 0.1 * count * rng.random((2 * few, 3))
    radii, halves = rng.choice([0.0, 0.5, 0.02 * count], len(points)), (slice(0, few), slice(few, None))
    balls, parts = world.overlap_spheres(points, radii), [world.overlap_spheres(points[h], radii[h]) for h in halves]
    assert balls.limb.tolist() == [limb for part in parts for limb in part.limb.tolist()]
    assert np.diff(balls.offsets).tolist() == [n for part in parts for n in np.diff(part.offsets).tolist()]
    assert len(balls) > few
    assert world.closest_points(points).limb.tolist() == [
        limb for h in halves for limb in world.closest_points(points[h]).limb.tolist()
    ]


@pytest.mark.skipif(not IS_COMPILED, reason="takes a minute")
def test_a_block_of_points_near_all_limbs():
    limbs = mixed_limbs(72, np.random.default_rng(0), 2.0)  # at the second level of the tree
    balls = cc.HitWorld(limbs).overlap_spheres(np.zeros((BLOCK_RAYS + 1, 3)), 100.0)
    assert balls.limb.reshape(-1, len(limbs)).tolist() == [list(range(len(limbs)))] * (BLOCK_RAYS + 1)


@pytest.mark.parametrize("shape", [*cc.Shape], ids=lambda shape: shape.name)
def test_limbs_answer_row_by_row(shape: cc.Shape):
    limbs = LIMBS[shape]
    points = near_points(limbs, np.random.default_rng(7), 3)
    found, radii = limbs.closest_points(points), np.resize([0.0, 0.5], len(points))
    world = cc.HitWorld(limbs)
    assert not differing(found, world.closest_points(points))
    assert limbs.overlap_spheres(points, radii).tolist() == [
        len(ball) > 0 for ball in world.overlap_spheres(points, radii)
    ]
    pairs = cc.Limbs.concat([limbs] * len(points))
    assert not differing(found, pairs.closest_points(points), fields=("distance", "position", "normal", "face"))
    assert not differing(limbs.closest_points(points[:1]), found[:1])
    near = pairs.closest_points(points, max_distance=radii)
    assert not differing(near, limbs.closest_points(points, max_distance=radii), fields=("hit", "distance"))
    with pytest.raises(ValueError, match=r"centers: expected 2 rows"):
        cc.Limbs.concat([limbs] * 2).overlap_spheres(points[:5], 1.0)


# Ties of places -----------------------------------------------------------------------------------------------------

TURNED = [[0.0, 0.0, 0.0]], [[1.0, 1.0, 0.0]]
X_AXIS = [[0.0, 0.0, 0.0]], [[4.0, 0.0, 0.0]]
HALF = 0.5**0.5
TIES = {  # limb, point, distance, normal, face
    "cylinder, axis": (cc.Limbs.cylinders(ORIGIN, UP, 1.0), (0, 0, 2), -1.0, (1, 0, 0), "SIDE"),
    "cylinder along x": (cc.Limbs.cylinders(*X_AXIS, 1.0), (2, 0, 0), -1.0, (0, 1, 0), "SIDE"),
    "cylinder, turned": (cc.Limbs.cylinders(*TURNED, 0.25), (0.5, 0.5, 0), -0.25, (HALF, -HALF, 0), "SIDE"),
    "cylinder, wall and cap": (cc.Limbs.cylinders(ORIGIN, UP, 1.0), (0.5, 0, 3.5), -0.5, (1, 0, 0), "SIDE"),
    "cylinder, both caps": (cc.Limbs.cylinders(ORIGIN, UP, 3.0), (0.5, 0, 2), -2.0, (0, 0, -1), "CAP1"),
    "cylinder, on the wall": (cc.Limbs.cylinders(ORIGIN, UP, 1.0), (0, -1, 2), 0.0, (0, -1, 0), "SIDE"),
    "cylinder, on a rim": (cc.Limbs.cylinders(ORIGIN, UP, 1.0), (0, -1, 4), 0.0, (0, 0, 1), "CAP2"),
    "cylinder, on a cap": (cc.Limbs.cylinders(ORIGIN, UP, 1.0), (0.5, 0.5, 0), 0.0, (0, 0, -1), "CAP1"),
    "tube, axis": (cc.Limbs.tubes(ORIGIN, UP, 2.0, 1.0), (0, 0, 2), 1.0, (-1, 0, 0), "BORE"),
    "tube, before the bore": (cc.Limbs.tubes(ORIGIN, UP, 5.0, 3.0), (0, 0, 8), 5.0, (-0.6, 0, 0.8), "CAP2"),
    "tube, wall and bore": (cc.Limbs.tubes(ORIGIN, UP, 2.0, 1.0), (0, 1.5, 2), -0.5, (0, 1, 0), "SIDE"),
    "tube, on the bore": (cc.Limbs.tubes(ORIGIN, UP, 2.0, 1.0), (0, 1, 2), 0.0, (0, -1, 0), "BORE"),
    "cone, axis": (cc.Limbs.cones(ORIGIN, UP, 3.0), (0, 0, 2.5), -0.9, (0.8, 0, 0.6), "SIDE"),
    "cone, apex": (cc.Limbs.cones(ORIGIN, UP, 3.0), (0, 0, 4), 0.0, (0, 0, 1), "CAP2"),
    "cone, wall or apex": (cc.Limbs.cones(ORIGIN, UP, 3.0), (4, 0, 7), 5.0, (0.8, 0, 0.6), "CAP2"),
    "capsule, axis": (cc.Limbs.capsules(ORIGIN, UP, 1.0), (0, 0, 1), -1.0, (1, 0, 0), "SIDE"),
    "capsule, end": (cc.Limbs.capsules(ORIGIN, UP, 1.0), (0, 0, 4), -1.0, (1, 0, 0), "CAP2"),
    "capsule, on a ball": (cc.Limbs.capsules(ORIGIN, UP, 1.0), (0, 0, 5), 0.0, (0, 0, 1), "CAP2"),
    "sphere, centre": (cc.Limbs.spheres(ORIGIN, 1.0), (0, 0, 0), -1.0, (1, 0, 0), "SIDE"),
    "sphere, surface": (cc.Limbs.spheres(ORIGIN, 1.0), (0, 1, 0), 0.0, (0, 1, 0), "SIDE"),
    "ellipsoid, long, centre": (cc.Limbs.ellipsoids(ORIGIN, UP, 1.0), (0, 0, 2), -1.0, (1, 0, 0), "SIDE"),
    "ellipsoid, flat, centre": (cc.Limbs.ellipsoids(ORIGIN, UP, 3.0), (0, 0, 2), -2.0, (0, 0, -1), "SIDE"),
    "ellipsoid, round, centre": (cc.Limbs.ellipsoids(ORIGIN, UP, 2.0), (0, 0, 2), -2.0, (0, 0, -1), "SIDE"),
    "ellipsoid, pole": (cc.Limbs.ellipsoids(ORIGIN, UP, 1.0), (0, 0, 4), 0.0, (0, 0, 1), "SIDE"),
    "ellipsoid, equator": (cc.Limbs.ellipsoids(ORIGIN, UP, 1.0), (0, 1, 2), 0.0, (0, 1, 0), "SIDE"),
    "cube, centre": (cc.Limbs.boxes(ORIGIN, [0, 0, 0, 1], [1, 1, 1]), (0, 0, 0), -1.0, (-1, 0, 0), "NEG_X"),
    "cube, turned, centre": (
        cc.Limbs.boxes(ORIGIN, [0, 0, 1, 1], [1, 1, 2]), (0, 0, 0), -1.0, (0, -1, 0), "NEG_X"),
    "cube, edge": (cc.Limbs.boxes(ORIGIN, [0, 0, 0, 1], [1, 1, 1]), (0, 1, 1), 0.0, (0, 1, 0), "POS_Y"),
}  # fmt: skip


@pytest.mark.parametrize("name", TIES)
def test_ties_of_places_follow_the_rule(name: str):
    limbs, point, distance, normal, face = TIES[name]
    found = limbs.closest_points(point)
    assert cc.Face(found.face[0]).name == face
    assert found.distance[0] == pytest.approx(distance, abs=1e-15)
    assert found.normal[0] == pytest.approx(normal, abs=1e-15)
    assert found.position[0] == pytest.approx(np.array(point) - distance * np.array(normal), abs=1e-15)
    assert limbs.overlap_spheres(point, 0.0)[0] == (distance <= 0.0)
    assert limbs.overlap_spheres(point, max(distance, 0.0))[0]


def test_normals_have_no_negative_zeros():
    """Exact places, of ties and of points on a surface, have the zeros of the others: +0.0."""
    grid = np.stack(np.meshgrid(*[[-1.0, -0.5, 0.0, 0.5, 1.0]] * 3), axis=-1).reshape(-1, 3)
    for axis in np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]]):
        for limb in [
            cc.Limbs.cylinders(-axis, axis, 1.0),
            cc.Limbs.tubes(-axis, axis, 1.0, 0.5),
            cc.Limbs.tapered_cylinders(-axis, axis, 1.0, 0.5),
            cc.Limbs.ellipsoids(-axis, axis, 1.0),
            cc.Limbs.capsules(-axis, axis, 0.5),
            cc.Limbs.boxes(ORIGIN, [0.0, 0.0, 0.0, 1.0], [1.0, 1.0, 0.5]),
        ]:
            normal = limb.closest_points(grid).normal
            assert not np.signbit(normal[normal == 0.0]).any()


def test_of_equally_near_limbs_the_lowest_row_wins():
    """Mirror images, and different solids: 3 from an ellipsoid's pole, a ball, a cap, a rim and a face."""
    limbs = cc.Limbs.concat([
        cc.Limbs.spheres([[0, 0, 4]], 1.0), cc.Limbs.ellipsoids([[0, 0, -3]], [[0, 0, -7]], 1.0),
        cc.Limbs.ellipsoids([[0, 0, 3]], [[0, 0, 7]], 1.0), cc.Limbs.cylinders([[3, 0, 0]], [[5, 0, 0]], 1.0),
        cc.Limbs.boxes([[0, 4, 0]], [0, 0, 0, 1], [1, 1, 1]), cc.Limbs.ellipsoids([[0, -3, 0]], [[0, -7, 0]], 1.0),
    ])  # fmt: skip
    order = np.arange(len(limbs))
    for shift in order:
        turned = np.roll(order, shift)
        assert cc.HitWorld(limbs[turned]).closest_points([0, 0, 0]).limb.tolist() == [0]
        balls = cc.HitWorld(limbs[turned]).overlap_spheres([[0, 0, 0]] * 2, [3.0, np.nextafter(3.0, 0.0)])
        assert np.diff(balls.offsets).tolist() == [len(limbs), 0]
    skew = np.array([0.3, 0.2, 0.9])
    one, other = cc.Limbs.ellipsoids([skew + 1], [skew + 2], 0.3), cc.Limbs.ellipsoids([-skew - 2], [-skew - 1], 0.3)
    nearer = cc.Limbs.ellipsoids([skew + np.nextafter(1.0, 0.0)], [skew + 2], 0.3)
    assert cc.HitWorld(cc.Limbs.concat([one, other])).closest_points([0, 0, 0]).limb.tolist() == [0]
    assert cc.HitWorld(cc.Limbs.concat([other, one])).closest_points([0, 0, 0]).limb.tolist() == [0]
    assert cc.HitWorld(cc.Limbs.concat([other, nearer])).closest_points([0, 0, 0]).limb.tolist() == [1]


def test_of_identical_limbs_one_is_compared(monkeypatch: pytest.MonkeyPatch):
    """For a crowd at one place, exact comparisons of all with all took milliseconds per point."""
    compared: list[int] = []

    def spy(point: tuple[float, float, float], solids: list[tuple[int, Any]]) -> int:
        compared.append(len(solids))
        return exact.nearest_solid(point, solids)

    monkeypatch.setattr("cylcollide.query.nearest.nearest_solid", spy)
    one = cc.Limbs.concat(LIMBS.values())
    crowd, points = cc.HitWorld(cc.Limbs.concat([one] * 20)), np.random.default_rng(4).normal(size=(20, 3))
    found = crowd.closest_points(points)
    assert found.limb.tolist() == cc.HitWorld(one).closest_points(points).limb.tolist()
    assert max(compared, default=0) < 4


@pytest.mark.parametrize("shift", [0, 1, 2])
def test_limbs_that_share_balls_or_edges_are_not_compared_exactly(shift: int, monkeypatch: pytest.MonkeyPatch):
    """Bones at a joint, and tiles at a seam: each point took half a millisecond."""
    rng = np.random.default_rng(shift)
    joints = 2.0 * rng.random((6, 3))
    bones = np.roll(np.arange(5), shift)
    skeleton = cc.Limbs.concat([cc.Limbs.capsules(joints[:-1], joints[1:], 0.2), cc.Limbs.spheres(joints, 0.2)])[bones]
    near = joints[rng.integers(6, size=30)] + 0.4 * rng.normal(size=(30, 3))
    cells = np.argwhere(np.ones((3, 3, 2))).astype(float)
    tiles = cc.Limbs.boxes(cells, [0, 0, 0, 1], [0.5, 0.5, 0.5])[np.roll(np.arange(18), 5 * shift)]
    over = np.floor(8.0 * rng.random((30, 3))) / 2.0 + [-0.5, -0.5, 1.5]
    scenes = (skeleton, near), (tiles, over)
    expected = [
        [next(k for k, d in enumerate(row) if d - min(row) < CLOSE) for row in truth(limbs, at)] for limbs, at in scenes
    ]
    monkeypatch.setattr("cylcollide.query.nearest.nearest_solid", lambda *_: pytest.fail("compared exactly"))
    for (limbs, at), best in zip(scenes, expected, strict=True):
        assert cc.HitWorld(limbs).closest_points(at).limb.tolist() == best
        history = cc.PoseHistory(cc.HitWorld(limbs), 2)
        history.record(0.0)
        assert history.closest_points(at, 0.0).limb.tolist() == best


def test_inside_several_limbs_the_deepest_wins():
    limbs = cc.Limbs.spheres([[0, 0, 0], [1, 0, 0], [1, 0, 0]], [2.0, 2.5, 2.5])
    found = cc.HitWorld(limbs).closest_points([[0.5, 0, 0], [-1, 0, 0], [0.25, 0, 0]])
    assert found.limb.tolist() == [1, 0, 0]  # at the last point all are equally deep
    assert found.distance.tolist() == [-2.0, -1.0, -1.75]


# Filters, batches, rows ---------------------------------------------------------------------------------------------


def test_filters_and_batches():
    rng = np.random.default_rng(31)
    limbs = mixed_limbs(60 if IS_COMPILED else 20, rng, 2.0)
    points = 3.0 * rng.random((1500 if IS_COMPILED else 70, 3)) - 0.5
    world, n = cc.HitWorld(limbs), len(points)
    mask = rng.integers(0, 8, n)
    ignored = rng.integers(-1, 8, n)
    reach = np.where(rng.random(n) < 0.2, np.inf, rng.random(n))
    filters = {"mask": mask, "ignore_character": ignored}
    all_of_them = (
        world.closest_points(points, max_distance=reach, **filters),
        world.points_within(points, 0.4, **filters),
    )
    again = world.snapshot().closest_points(points, max_distance=reach, threads=1, **filters)
    assert not differing(again, all_of_them[0])
    for i in range(0, n, n // 12):
        seen = np.flatnonzero((limbs.mask & mask[i] != 0) & ((limbs.character != ignored[i]) | (ignored[i] < 0)))
        some = cc.HitWorld(limbs[seen])
        one, few = some.closest_points(points[i], max_distance=reach[i]), some.points_within(points[i], 0.4)
        assert not differing(one, all_of_them[0][i : i + 1], fields=("hit", *FIELDS[2:6], "limb_name"))
        assert seen[few.limb].tolist() == all_of_them[1][i].limb.tolist()
        assert few.distance.tolist() == all_of_them[1][i].distance.tolist()


def test_rows_and_fields_of_results():
    world = cc.HitWorld(cc.Limbs.spheres([[0, 0, 0], [3, 0, 0]], 1.0, name="ball", character=[4, 5], hit_group=2))
    found = world.closest_points([[-2, 0, 0], [9, 9, 9], [0, 5, 0]], max_distance=4.0)
    row = found[1]
    assert (row.hit, row.limb, row.distance, row.face, row.limb_name) == (False, -1, np.inf, cc.Face.NONE, None)
    assert np.isnan([row.position, row.normal, row.local_position]).all()
    assert (found[0].limb, found[0].distance, found[0].character, found[0].hit_group) == (0, 1.0, 4, 2)
    assert found[found.hit].distance.tolist() == [1.0, 4.0]
    assert repr(found).splitlines()[0] == "ClosestPoints(3 points, 2 near a limb)"
    near = world.points_within([[1.75, 0, 0], [9, 9, 9], [0, 0, 0]], [1.0, 1.0, 0.0])
    assert repr(near).splitlines()[0] == "NearLimbs(3 limbs of 3 queries)"
    assert (near.offsets.tolist(), near.query.tolist(), near.limb.tolist()) == ([0, 2, 2, 3], [0, 0, 2], [1, 0, 0])
    assert (near.distance.tolist(), near.character.tolist()) == ([0.25, 0.75, -1.0], [5, 4, 4])
    assert [part.limb.tolist() for part in near] == [[1, 0], [], [0]]
    assert near[[2, 0]].normal.tolist() == [[1, 0, 0], [-1, 0, 0], [1, 0, 0]]
    assert np.isnan(near.local_position).all()
    for column in (found.distance, found.limb, near.offsets, near.query, near.position):
        assert not column.flags.writeable
    assert len(cc.HitWorld().closest_points(np.zeros((5, 3))).limb) == 5
    assert not cc.HitWorld().closest_points([0, 0, 0]).hit[0]
    assert len(cc.HitWorld().overlap_spheres(np.zeros((0, 3)), 1.0)) == len(world.closest_points(np.zeros((0, 3)))) == 0


# The whole range ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", MAKERS)
def test_signs_are_exact(shape: str):
    """Computed surface points are off by an ulp: the sign of their distance agrees with `classify_points`."""
    rng, seen = np.random.default_rng(23), set()
    for _ in range(4):
        limbs = any_limb(shape, rng, 1.0)
        on = limbs.closest_points(near_points(limbs, rng, 4 if IS_COMPILED else 1)).position
        found, side = limbs.closest_points(on).distance, limbs.classify_points(on)
        assert np.sign(found).tolist() == [1 - of_each for of_each in side.tolist()]
        assert limbs.overlap_spheres(on, 0.0).tolist() == (side != cc.Side.OUTSIDE).tolist()
        seen |= set(side.tolist())
    assert {cc.Side.INSIDE, cc.Side.OUTSIDE} <= seen


def test_the_nearest_of_many_balls_is_found():
    """The points of a block traverse the tree together; the search radius shrinks with each nearer limb."""
    rng, (n, m) = np.random.default_rng(31), (5000, 500) if IS_COMPILED else (600, 200)
    centers, radii, points = rng.random((n, 3)), 0.02 * rng.random(n), 1.4 * rng.random((m, 3)) - 0.2
    found = cc.HitWorld(cc.Limbs.spheres(centers, radii)).closest_points(points)
    for i, point in enumerate(points):
        distances = np.linalg.norm(centers - point, axis=1) - radii
        assert distances[found.limb[i]] <= distances.min() + 1e-12
