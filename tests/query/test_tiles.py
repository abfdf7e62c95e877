"""Boxes side by side on integers, and rays, balls and boxes on the same grid: everything touches."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from support.check_cylinders import IS_COMPILED, sized
from support.exact_answers import check_chords, check_hits, solids_of

import cylcollide as cc
from cylcollide.exact import order
from cylcollide.exact.line import segment_numbers
from cylcollide.exact.thick import grown_by
from cylcollide.query.exact_fallback import exact_limb

pytestmark = pytest.mark.plain_python

HALVES = 0.5 * np.eye(3)
UP = HALVES[2]
TILES = np.stack(np.meshgrid(range(3), range(3), range(2), indexing="ij"), axis=-1).reshape(-1, 3).astype(float)
FLOOR = cc.Limbs.boxes(TILES, [0.0, 0.0, 0.0, 1.0], [0.5, 0.5, 0.5])
KINDS = {
    "boxes": FLOOR,
    "spheres": cc.Limbs.spheres(TILES, 0.5),
    "cylinders": cc.Limbs.cylinders(TILES - UP, TILES + UP, 0.5),
    "tubes": cc.Limbs.tubes(TILES - UP, TILES + UP, 0.5, 0.25),
    "capsules": cc.Limbs.capsules(TILES, TILES + UP, 0.5),
}


def rays(n, seed=0):
    """Segments along the axes, or between points, all multiples of a half."""
    rng = np.random.default_rng(seed)
    start, end = rng.integers(-1, [6, 6, 4], (2, n, 3)) / 2.0
    way = np.arange(n) % 4
    for k in range(3):
        rows = way == k
        end[rows] = start[rows]
        start[rows, k], end[rows, k] = -2.0, 8.0
    return start, end


@pytest.mark.coverage("hit-0.0-boxes", "exit-0.0-tubes", "hit-0.5-boxes")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("inside", "radius"), [("hit", 0.0), ("exit", 0.0), ("ignore", 0.0), ("hit", 0.5)])
def test_closest_hits_equal_those_of_exact_arithmetic(kind, inside, radius, undecided: list[Any]):
    limbs, (starts, ends) = KINDS[kind], rays(sized(40, 20) // (1 + 4 * (radius > 0.0)))
    hits = cc.HitWorld(limbs).cast_segments(starts, ends, inside=inside, radius=radius)
    assert len(undecided) > len(starts) / 6
    check_hits(hits, solids_of(limbs, radius), starts, ends, inside)


WIDE = 2 * TILES
APART = {
    "boxes": (cc.Limbs.boxes(WIDE, [0.0, 0.0, 0.0, 1.0], [0.5, 0.5, 0.5]), (0, 1, 2)),
    "turned boxes": (cc.Limbs.boxes(WIDE, [0.5, 0.5, 0.5, 0.5], [0.5, 0.25, 0.5]), (0, 1, 2)),
    **{f"cylinders {k}": (cc.Limbs.cylinders(WIDE - e, WIDE + e, 0.5), (k,)) for k, e in enumerate(HALVES)},
    **{f"tubes {k}": (cc.Limbs.tubes(WIDE + e, WIDE - e, 0.5, 0.375), (k,)) for k, e in enumerate(HALVES)},
}
"""Limbs, and the axes perpendicular to their level faces."""


def under(inside: str, kinds: Any, others: dict[str, tuple[str, ...]]) -> list[Any]:
    """Every kind under one policy, and some under others: what a policy counts does not depend on the axis."""
    cases: list[Any] = [(inside, kind) for kind in kinds]
    for other, some in others.items():
        cases += [pytest.param(other, kind, marks=pytest.mark.machine_code) for kind in some]
    return cases


SOME = ("boxes", "cylinders 0", "tubes 1"), ("turned boxes", "cylinders 1", "tubes 2")


@pytest.mark.coverage("0.0-hit-boxes", "0.25-hit-turned boxes", "0.25-hit-cylinders 2", "0.0-hit-tubes 0")
@pytest.mark.parametrize(("inside", "kind"), under("hit", APART, {"exit": SOME[0], "ignore": SOME[1]}))
@pytest.mark.parametrize("radius", [0.0, 0.25])
def test_rays_along_level_faces_need_no_exact_arithmetic(kind, radius, inside, exactly: list[Any]):
    """A lidar at the height of crates, a ball that rolls on them, and the adjacent numbers above and below."""
    (limbs, axes), rng, n = APART[kind], np.random.default_rng(9), sized(28, 12)
    starts, ends = rng.uniform(-1.0, 5.0, (2, n, 3))
    axis, height = np.resize(axes, n), rng.choice([-0.5, 0.5, 1.5], n) + radius * rng.choice([-1.0, 0.0, 1.0], n)
    height = np.where(np.arange(n) % 4 == 3, np.nextafter(height, rng.choice([-9, 9], n)), height)
    starts[np.arange(n), axis] = ends[np.arange(n), axis] = height
    world, options = cc.HitWorld(limbs), {"inside": inside, "radius": radius}
    level = np.arange(n) % 4 != 3 if radius else np.arange(n) >= 0  # a ball one ulp beside a face nearly touches it
    world.cast_segments(starts[level], ends[level], **options)
    world.chords_segments(starts[level], ends[level], radius=radius)
    assert not exactly or (radius and kind.startswith("tubes"))  # exact arithmetic decides a ball in a bore
    hits, chords = world.cast_segments(starts, ends, **options), world.chords_segments(starts, ends, radius=radius)
    few = [world.cast_segments(starts[i], ends[i], **options) for i in range(6)]
    assert [one.fraction.tobytes() for one in few] == [hits.fraction[i : i + 1].tobytes() for i in range(6)]
    solids = solids_of(limbs, radius)
    check_hits(hits, solids, starts, ends, inside)
    check_chords(chords, solids, starts, ends, 1e-300)
    assert hits.hit.sum() > n / 8


YAWED = cc.Limbs.boxes(WIDE, [0.0, 0.0, 0.28, 0.96], [0.5, 0.5, 0.5])
STOOD_ON = {**APART, "yawed boxes": (YAWED, (2,))}


@pytest.mark.coverage("0.0-exit-yawed boxes", "0.0-exit-boxes", "0.25-exit-cylinders 1")
@pytest.mark.parametrize(("inside", "kind"), under("exit", STOOD_ON, {"hit": SOME[0], "ignore": SOME[1]}))
@pytest.mark.parametrize("radius", [0.0, 0.25])
def test_rays_from_and_to_level_faces_need_no_exact_arithmetic(
    kind, inside, radius, exactly: list[Any], undecided: list[Any]
):
    """A ray from the eyes to the feet, a ball that falls or leaves, and the adjacent numbers above and below."""
    (limbs, axes), rng, n = STOOD_ON[kind], np.random.default_rng(4), sized(48 if radius else 120, 24)
    starts, on, i, limbs = rng.uniform(-1.0, 5.0, (n, 3)), rng.integers(0, 2, n), np.arange(n), limbs[[0, 16]]
    axis, side = np.resize(axes, n), rng.choice([-1.0, 1.0], n)
    ends = limbs.p1[on] + np.where(i % 7 == 6, 0.7, 0.5)[:, None] * rng.uniform(-1.0, 1.0, (n, 3))  # some next to edges
    half = 0.25 if kind == "turned boxes" else 0.5
    ends[i, axis] = limbs.p1[on, axis] + 0.5 * (limbs.p2 - limbs.p1)[on, axis] + side * np.where(axis == 2, half, 0.5)
    ends[i, axis] += side * radius
    ends[i, axis] = np.where(i % 3 == 2, np.nextafter(ends[i, axis], rng.choice([-9, 9], n)), ends[i, axis])
    starts[i % 2 == 1], ends[i % 2 == 1] = ends[i % 2 == 1], starts[i % 2 == 1].copy()
    world, options, solids = cc.HitWorld(limbs), {"inside": inside, "radius": radius}, solids_of(limbs, radius)
    hits = world.cast_segments(starts, ends, **options)
    assert len(undecided) > n / 20
    chords = world.chords_segments(starts, ends, radius=radius)
    rays = world.cast_rays(starts, ends - starts, max_distance=9.0, **options)
    few = [world.cast_segments(starts[k], ends[k], **options) for k in range(12)]
    blocked = world.occluded_segments(starts, ends, **options)
    if not (kind.startswith("tubes") or (radius and inside == "exit")):
        assert len(exactly) <= (n / 4 if radius else 0)
    check_hits(hits, solids, starts, ends, inside)
    check_chords(chords, solids, starts, ends, 1e-300)
    touched = world.overlap_capsules(starts, ends, radius)
    assert np.array_equal(np.diff(touched.offsets), np.diff(chords.offsets)) or kind.startswith("tubes")
    assert np.array_equal(blocked, hits.hit)
    assert [one.fraction.tobytes() for one in few] == [hits.fraction[k : k + 1].tobytes() for k in range(12)]
    assert (rays.limb[hits.hit] >= 0).all()
    assert hits.hit.sum() > n / 3


@pytest.mark.parametrize(("low", "high"), [(0.25, 1.5), (1.5, 0.25)])
def test_capsules_that_stand_on_level_ground_need_no_exact_arithmetic(low, high, exactly: list[Any]):
    """From the ground up, and down to it: the chord touches the ground at one end, and its thickness is exactly 0."""
    ground = cc.HitWorld(cc.Limbs.boxes([0, 0, -0.5], [0.0, 0.0, 0.28, 0.96], [9.0, 9.0, 0.5]))
    feet = np.random.default_rng(7).uniform(-3.0, 3.0, (12, 3)) * [1.0, 1.0, 0.0]
    first, last = feet + low * 2 * UP, feet + high * 2 * UP
    chords = ground.chords_segments(first, last, radius=0.25)
    assert ground.overlap_capsules(first, last, 0.25).query.tolist() == list(range(12))
    assert not len(ground.overlap_capsules(first + 2.0**-50 * UP, last, np.nextafter(0.25, 0)))
    assert not exactly
    at, faces = (0.0, (cc.Face.INSIDE, cc.Face.POS_Z)) if low < high else (1.0, (cc.Face.POS_Z, cc.Face.INSIDE))
    assert (chords.entry_fraction == at).all()
    assert (chords.exit_fraction == at).all()
    assert set(zip(chords.entry_face.tolist(), chords.exit_face.tolist(), strict=True)) == {faces}
    assert (chords.thickness == 0.0).all()


@pytest.mark.coverage
@pytest.mark.parametrize("kind", ["boxes", "turned boxes"])
def test_balls_that_roll_along_an_edge(kind: str):
    """Along one axis, at heights over both others: on a face, in its plane, a radius away, between and beyond."""
    limbs = APART[kind][0][:1]
    solid, halves = grown_by(exact_limb(limbs._table, 0), 0.25), (0.5, 0.5, 0.5 if kind == "boxes" else 0.25)
    sides = [[-s - 0.25, -s, 0.0, s - 0.125, s, np.nextafter(s, 9), s + 0.125, s + 0.25, s + 0.375] for s in halves]
    starts = np.array(list(product(*sides)))[:: 7 if IS_COMPILED else 19].repeat(3, axis=0)
    ends, way = starts.copy(), np.arange(len(starts)) % 3
    starts[np.arange(len(starts)), way], ends[np.arange(len(starts)), way] = -2.0, 2.0
    world = cc.HitWorld(limbs)
    hits, chords = (cast(starts, ends, radius=0.25) for cast in (world.cast_segments, world.chords_segments))
    counts = np.diff(chords.offsets)
    for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
        true = order.limb_chords(segment_numbers(start, end), solid)
        assert hits.hit[i] == bool(true) == counts[i], (start, end)
        if true:
            faces = hits.face[i], chords.entry_face[chords.offsets[i]], chords.exit_face[chords.offsets[i]]
            assert faces == (true[0].entry_face, true[0].entry_face, true[0].exit_face), (start, end)
            assert hits.fraction[i] == pytest.approx(true[0].entry.double_double()[0], rel=1e-15)
    assert 0.2 < hits.hit.mean() < 0.8


@pytest.mark.parametrize("radius", [0.0, 0.5])
def test_limbs_behind_the_first_are_not_tested(radius, monkeypatch):
    row = cc.Limbs.spheres([[x, 0.0, 0.0] for x in range(8)], 0.5)  # tangents of them, on which float64 decides nothing
    world, height, tests = cc.HitWorld(row), 0.5 + radius, []
    test = order.limb_hit
    monkeypatch.setattr(order, "limb_hit", lambda *args: tests.append(args) or test(*args))
    hits = world.cast_segments([-3.0, 0.0, height], [60.0, 0.0, height], radius=radius)
    assert (hits.limb[0], hits.rechecked) == (0, 1)
    assert 1 <= len(tests) <= 2
    del tests[:]
    assert world.occluded_segments(np.tile([-3.0, 0.0, height], (12, 1)), [60.0, 0.0, height], radius=radius).all()
    assert 12 <= len(tests) <= 24
