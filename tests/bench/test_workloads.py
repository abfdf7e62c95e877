"""Limbs and rays of the workloads: exact in float32, and no ray starts inside."""

import numpy as np
import pytest
from support.bench_engines import SMALL

import cylcollide as cc
from cylcollide.bench.workloads import LIMBS, SEED, SKELETON, WORKLOADS, Crowd, Workload, crowd_of, points_near

pytestmark = pytest.mark.long  # half a minute of whole runs


def test_the_skeleton_is_connected_and_walks():
    crowd = Crowd(50, 30.0)
    assert LIMBS == 17
    (p1, p2), (q1, q2) = crowd.ends(0.0), crowd.ends(0.25)
    p1, p2 = p1.reshape(50, 17, 3), p2.reshape(50, 17, 3)
    rows = {bone.name: k for k, bone in enumerate(SKELETON)}
    for k, bone in enumerate(SKELETON):
        if bone.parent and not any(bone.offset):
            np.testing.assert_allclose(p1[:, k], p2[:, rows[bone.parent]], atol=1e-5)
    tall = np.maximum(p1, p2)[..., 2].max(axis=1)
    assert ((tall > 1.5) & (tall < 2.2)).all()
    assert np.ptp(tall) > 0.1
    length = np.linalg.norm(p2 - p1, axis=2).reshape(-1)
    np.testing.assert_allclose(np.linalg.norm(q2 - q1, axis=1), length, atol=2e-5)
    moved = np.linalg.norm(q1 - p1.reshape(-1, 3), axis=1)
    assert 0.2 < np.median(moved) < 0.6  # 1.4 m/s for a quarter of a second is 0.35 m
    left, right = rows["left foot"], rows["right foot"]
    swing = (q2.reshape(50, 17, 3) - p2)[:, [left, right]]
    assert np.linalg.norm(swing[:, 0] - swing[:, 1], axis=1).max() > 0.2


@pytest.mark.parametrize("name", WORKLOADS)
def test_rays_are_exact_in_float32(name):
    workload = WORKLOADS[name]
    limbs = workload.limbs()
    assert len(limbs) == {"W1": 1, "W2": 17, "W4": 100_000}.get(name, 17_000)
    world = cc.HitWorld(limbs)
    starts, ends = workload.segments(world, 2000)
    for values in (limbs.p1, limbs.p2, limbs.radius, starts, ends, ends - starts):
        np.testing.assert_array_equal(values, values.astype(np.float32))
    hits = world.cast_segments(starts, ends)
    assert not hits.started_inside.any()
    assert 0.2 < hits.hit.mean() < 0.8
    again = workload.segments(world, 2000)
    np.testing.assert_array_equal(starts, again.starts)


def test_starts_inside_are_drawn_again():
    dense = Workload("dense", 200, 6.0)  # as many as would stand shoulder to shoulder
    world = cc.HitWorld(dense.limbs())
    rng = np.random.default_rng([SEED, 500])
    first = dense._across(world.limbs, rng, 500)
    assert (world.contains_points(first.starts).limb >= 0).sum() > 50
    assert (world.contains_points(dense.segments(world, 500).starts).limb < 0).all()


def test_crowds_of_any_size_and_points():
    for n in (1, 17, 18, 1000):
        assert len(crowd_of(n).limbs()) == n
    limbs = SMALL.limbs()
    inside = cc.HitWorld(limbs).contains_points(points_near(limbs, 4000)).limb >= 0
    assert 0.1 < inside.mean() < 0.5
