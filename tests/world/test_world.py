"""Answers of a world equal those without tree, threads and batches, after any moves."""

import time
import weakref

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed, shots_at
from support.cases.everyday_worlds import make_crowd
from support.check_cylinders import FIELDS, same_bits, sized

import cylcollide as cc

POLICIES = ("hit", "exit", "ignore")
LIMB_COUNTS = (0, 1, 2, 16, 17, 33, 500)


FLAT = {
    "cylinder": cc.Limbs.cylinders,
    "tube": lambda p1, p2, r: cc.Limbs.tubes(p1, p2, r, 0.5 * r),
    "tapered": lambda p1, p2, r: cc.Limbs.tapered_cylinders(p1, p2, r, 0.5 * r),
    "ellipsoid": cc.Limbs.ellipsoids,
}


@pytest.mark.parametrize("shape", FLAT)
def test_the_box_of_a_disc_reaches_its_rim(shape: str):
    """Discs 10⁻³⁰ thick, whose squared axes are too small for the kernels' products: within 10⁻⁶ of the rim."""
    rng, n = np.random.default_rng(11), 40
    place = np.arange(n)[:, None] * [3.0, 0.0, 0.0]
    axis = rng.normal(size=(n, 3)) * [0, 1, 1]
    world = cc.HitWorld(FLAT[shape](place, place + 1e-30 * axis, np.ones(n)))
    across = np.cross(axis / np.linalg.norm(axis, axis=1, keepdims=True), [1.0, 0.0, 0.0])
    turn = rng.uniform(0, 2 * np.pi, (n, 1))
    turn[:4] = [[0], [0.5 * np.pi], [np.pi], [1.5 * np.pi]]
    rim = np.cos(turn) * [1.0, 0.0, 0.0] + np.sin(turn) * across
    for share, found in ((1 - 1e-6, np.arange(n)), (1 + 1e-6, np.full(n, -1))):
        target = place + share * rim
        hits = world.cast_segments(target - axis, target + axis)
        assert np.array_equal(hits.limb, found), shape


@pytest.mark.parametrize("limbs_count", [n for n in LIMB_COUNTS if n])
def test_a_moved_world_equals_a_fresh_one(limbs_count: int):
    limbs, rng = mixed(max(7, limbs_count)).limbs()[:limbs_count], np.random.default_rng(1)
    starts, ends = shots_at(limbs, sized(300))
    has_axis = (limbs.p1 != limbs.p2).any(axis=1, keepdims=True)
    world = cc.HitWorld(limbs)
    before = world.cast_segments(starts, ends)
    p1, p2, changed = limbs.p1.copy(), limbs.p2.copy(), 0
    for round_ in range(6):
        some = None if round_ % 2 else rng.permutation(limbs_count)[: max(1, limbs_count // 3)]
        rows = slice(None) if some is None else some
        by = rng.normal(size=p1[rows].shape) * 4.0**round_ / 16
        p1[rows] += by
        p2[rows] += by + rng.normal(size=by.shape) / 8 * has_axis[rows]
        if some is None:
            world.set_endpoints(p1, p2)
        else:
            world.set_endpoints(p1[some], p2[some], limbs=some)
        fresh = cc.HitWorld(limbs.moved(p1, p2))
        starts, ends = shots_at(fresh.limbs, sized(300), seed=round_)
        for inside in POLICIES:
            assert not same_bits(*(w.cast_segments(starts, ends, inside=inside) for w in (fresh, world)))
        assert world.occluded_segments(starts, ends).tolist() == fresh.occluded_segments(starts, ends).tolist()
        one, two = (w.chords_segments(starts, ends) for w in (world, fresh))
        assert np.array_equal(one.limb, two.limb)
        assert np.array_equal(one.entry_fraction, two.entry_fraction)
        assert np.array_equal(world.contains_points(p1).limb, fresh.contains_points(p1).limb)
        changed += int((world.cast_segments(starts, ends).hit != before.hit).sum())
    assert changed > 0


def test_a_snapshot_and_past_hits_stay(crowd: cc.Limbs):
    world = cc.HitWorld(crowd)
    starts, ends = shots_at(crowd, sized(200))
    want = world.cast_segments(starts, ends)
    want_bits = {name: getattr(want, name).copy() for name in FIELDS}
    late = world.cast_segments(starts, ends)  # its heavy fields are read only after the world has moved
    kept = world.snapshot()
    world.set_endpoints(crowd.p1 + 100.0, crowd.p2 + 100.0)
    assert not world.cast_segments(starts, ends).hit.any()
    assert not same_bits(kept.cast_segments(starts, ends), late)
    assert all(np.array_equal(want_bits[name], getattr(late, name), equal_nan=True) for name in FIELDS)
    assert want.hit.sum() > len(starts) // 10


def test_input_arrays_may_be_reused(crowd: cc.Limbs):
    p1, p2, radius = crowd.p1.copy(), crowd.p2.copy(), crowd.radius.copy()
    world = cc.HitWorld(cc.Limbs.cylinders(p1, p2, radius))
    starts, ends = shots_at(crowd, 50)
    want = world.cast_segments(starts, ends)
    position = want.position.copy()
    late, s, e = (x := starts.copy()), starts.copy(), ends.copy()
    hits = world.cast_segments(s, e)
    for array in (p1, p2, radius, s, e, x):
        array[:] = 99.0
    assert late is x
    assert np.array_equal(hits.position, position, equal_nan=True)
    assert not same_bits(want, world.cast_segments(starts, ends))


def test_a_limit_is_one_number_or_one_a_ray(crowd: cc.Limbs):
    world = cc.HitWorld(crowd)
    starts, ends = shots_at(crowd, sized(100))
    for limit in (0, 0.5, 3, np.inf):
        one = world.cast_rays(starts, ends - starts, max_distance=limit)
        each = world.cast_rays(starts, ends - starts, max_distance=np.full(len(starts), limit))
        assert not same_bits(one, each)
    assert one.hit.sum() > world.cast_rays(starts, ends - starts, max_distance=0.5).hit.sum() > 0
    scaled = world.cast_rays(starts, (ends - starts) * 8, max_distance=3)
    assert np.array_equal(scaled.fraction * 8, world.cast_rays(starts, ends - starts, max_distance=3).fraction)


def test_an_empty_world_and_an_empty_query(crowd: cc.Limbs):
    empty = cc.HitWorld(make_crowd(0))
    starts, ends = shots_at(crowd, 5)
    hits = empty.cast_segments(starts, ends)
    assert not hits.hit.any()
    assert (hits.limb == -1).all()
    assert (hits.character == -1).all()
    assert np.isinf(hits.fraction).all()
    assert np.isnan(hits.position).all()
    assert (hits.face == cc.Face.NONE).all()
    assert not empty.occluded_segments(starts, ends).any()
    assert empty.chords_segments(starts, ends).offsets.tolist() == [0] * 6
    assert empty.contains_points(starts).limb.tolist() == [-1] * 5
    for nothing in ([], np.zeros((0, 3))):
        for world in (empty, cc.HitWorld(crowd)):
            assert len(world.cast_segments(nothing, nothing)) == 0
            assert len(world.cast_rays(nothing, nothing, max_distance=3.0)) == 0
            assert world.cast_segments(nothing, nothing).position.shape == (0, 3)
            assert world.occluded_segments(nothing, nothing).shape == (0,)
            assert world.chords_segments(nothing, nothing).offsets.tolist() == [0]
            assert len(world.contains_points(nothing).limb) == 0


def test_arrays_held_by_a_caller_are_not_rewritten():
    """The memory of large arrays is pooled and reused; a slice protects it as well as the array."""
    rng = np.random.default_rng(8)
    ends = rng.normal(size=(2, 30_000, 3))
    limbs = cc.Limbs.cylinders(ends[0], ends[1], 0.1)
    kept = limbs.p1[::2]
    del limbs
    world = cc.HitWorld(cc.Limbs.cylinders([0, 0, 0], [0, 0, 1], 0.1))
    for _ in range(6):
        hits = world.cast_segments(rng.normal(size=(30_000, 3)), rng.normal(size=(30_000, 3)))
        assert len(hits) == 30_000
    assert np.array_equal(kept, ends[0][::2])


@pytest.mark.parametrize("n", [3, 30_000])
def test_hits_keep_no_input_array_alive(crowd: cc.Limbs, n: int):
    """Ray by ray and in streams: later fields are computed from a copy, and the caller's memory is free."""
    rng, world = np.random.default_rng(9), cc.HitWorld(crowd)
    start, end = rng.normal(size=(2, n, 3))
    start, end = start.copy(), end.copy()
    want = world.cast_segments(start.copy(), end.copy()).distance
    hits, alive = world.cast_segments(start, end), [weakref.ref(start), weakref.ref(end)]
    del start, end
    for _ in range(200):  # a pool thread releases its share a little later
        if all(one() is None for one in alive):
            break
        time.sleep(0.01)
    assert all(one() is None for one in alive)
    assert np.array_equal(hits.distance, want)
