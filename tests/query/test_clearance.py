"""The clearance of hits and misses: that of `explain_segment`, limb by limb."""

import numpy as np
import pytest
from support.cases.thick_rays import mixed_limbs

import cylcollide as cc

pytestmark = pytest.mark.plain_python


def scene(seed, n, limbs=10):
    """Limbs, and segments of which many hit one."""
    rng = np.random.default_rng(seed)
    made, starts = mixed_limbs(limbs, rng, 2.0), rng.uniform(-3.0, 3.0, (n, 3))
    near = 0.5 * (made.p1 + made.p2)[rng.integers(0, limbs, n)] + 0.4 * rng.normal(size=(n, 3))
    return made, starts, starts + 1.5 * (near - starts)


def by_limb(limbs, start, end):
    """Clearances of all limbs from one segment."""
    return np.array([limbs.explain_segment(start, end, limb=k).clearance for k in range(len(limbs))])


def check(hits, limbs, starts, ends, rows=None):
    """Compare with explanations of each limb; `rows` are the limbs that count."""
    counted = np.arange(len(limbs)) if rows is None else np.asarray(rows)
    for i in range(len(starts)):
        alone = by_limb(limbs, starts[i], ends[i])
        if hits.hit[i]:
            assert (hits.clearance_limb[i], hits.clearance[i]) == (hits.limb[i], alone[hits.limb[i]])
            assert hits.clearance[i] <= 0.0
        else:
            assert hits.clearance[i] == alone[counted].min() > 0.0
            assert hits.clearance_limb[i] == counted[np.argmin(alone[counted])]


def test_it_is_that_of_explanations():
    limbs, starts, ends = scene(1, 24)
    world = cc.HitWorld(limbs)
    hits = world.cast_segments(starts, ends)
    assert 6 < hits.hit.sum() < 20
    check(hits, limbs, starts, ends)
    check(world.snapshot().cast_segments(starts, ends), limbs, starts, ends)
    some = hits[~hits.hit][1:]
    chosen = np.flatnonzero(~hits.hit)[1:]
    assert np.array_equal(some.clearance, hits.clearance[chosen])
    assert np.array_equal(some.clearance_limb, hits.clearance_limb[chosen])
    grown = cc.HitWorld(limbs.inflated(hits.clearance[chosen[0]] * (1.0 + 1e-9)))
    assert grown.cast_segments(starts[chosen[0]], ends[chosen[0]]).hit.tolist() == [True]
    with pytest.raises(ValueError, match="read-only"):
        hits.clearance[0] = 0.0


def test_filters_and_rays():
    boxes = cc.Limbs.boxes(
        [[0, 0, 0], [0, 4, 0], [0, 9, 0]], [0, 0, 0, 1], [1.0, 1.0, 1.0], character=[0, 1, 2], mask=[1, 2, 4]
    )
    world = cc.HitWorld(boxes)
    start, end = [-5.0, 1.5, 0.0], [5.0, 1.5, 0.0]
    first, second = (0.5, 0), (1.5, 1)
    for options, want in (
        ({}, first), ({"mask": 6}, second), ({"ignore_character": 0}, second), ({"mask": 8}, (np.inf, -1)),
    ):  # fmt: skip
        hits = world.cast_segments(start, end, **options)
        assert (hits.clearance[0], hits.clearance_limb[0]) == pytest.approx(want)
    rays = world.cast_rays(
        [start, start, start], [[2.0, 0, 0], [0, 1e-3, 0], [-1.0, 0, 0]], max_distance=[np.inf, 1.25, np.inf]
    )
    assert rays.clearance.tolist() == pytest.approx([0.5, 4.0, 4.0])
    assert rays.clearance_limb.tolist() == [0, 0, 0]
    assert world.cast_rays(start, [0.0, 1.0, 0.0], max_distance=1.25).clearance.tolist() == pytest.approx([4.0])
    nothing = cc.HitWorld().cast_segments(start, end)
    assert (nothing.clearance[0], nothing.clearance_limb[0]) == (np.inf, -1)


def test_limbs_that_a_policy_skips_do_not_count():
    balls = cc.HitWorld(cc.Limbs.spheres([[0, 0, 0], [5, 0, 0]], 1.0))
    for inside in ("ignore", "exit"):
        hits = balls.cast_segments([0.0, 0, 0], [0.5, 0, 0], inside=inside)
        assert (hits.hit[0], hits.clearance[0], hits.clearance_limb[0]) == (False, 3.5, 1)
    hits = balls.cast_segments([0.0, 0, 0], [0.5, 0, 0])
    assert (hits.clearance[0], hits.clearance_limb[0]) == (-1.0, 0)


def test_of_rows_of_limbs():
    limbs, starts, ends = scene(2, 10)
    hits = limbs.cast_segments(starts, ends)
    want = [limbs.explain_segment(starts[k], ends[k], limb=k).clearance for k in range(10)]
    assert hits.clearance.tolist() == want
    assert hits.clearance_limb.tolist() == list(range(10))
    one = limbs[3:4].cast_segments(starts, ends).clearance.tolist()
    assert one == [limbs.explain_segment(start, end, limb=3).clearance for start, end in zip(starts, ends, strict=True)]


def test_of_thick_rays_it_is_that_of_the_line():
    world = cc.HitWorld(cc.Limbs.spheres([[0, 0, 0]], 1.0))
    for y, hit in ((0.5, True), (1.2, True), (1.7, False)):
        hits = world.cast_segments([-3.0, y, 0], [3.0, y, 0], radius=0.5)
        assert (hits.hit[0], hits.clearance[0]) == (hit, pytest.approx(y - 1.0, abs=1e-15))


def test_in_the_past_as_at_that_time():
    limbs, starts, ends = scene(3, 18)
    world = cc.HitWorld(limbs)
    history = cc.PoseHistory(world, interpolate="ends")
    for time in range(3):
        world.set_endpoints(limbs.p1 + 0.3 * time, limbs.p2 + 0.3 * time)
        history.record(float(time))
    times = np.resize([0.25, 1.0, 1.75, 7.0], 18)
    hits = history.cast_segments(starts, ends, times, on_old="miss")
    assert 2 < hits.hit.sum() < 14
    for i in range(18):
        if times[i] > 2.0:
            assert (hits.clearance[i], hits.clearance_limb[i]) == (np.inf, -1)
        else:
            then = cc.HitWorld(history.limbs_at(times[i])).cast_segments(starts[i], ends[i])
            assert (hits.clearance[i], hits.clearance_limb[i]) == (then.clearance[0], then.clearance_limb[0])


def test_who_is_protected_does_not_count():
    rig, world = cc.Rig.humanoid(), cc.HitWorld()
    ids = world.spawn(rig, 2)
    history = cc.PoseHistory(world)
    world.set_poses(ids, *rig.forward([[0, 0, 1], [4, 0, 1]], [0, 0, 0, 1], rig.rest_orientations))
    history.record(0.0)
    shot = [-3.0, 1.5, 1.0], [8.0, 1.5, 1.0]
    both = history.cast_segments(*shot, 0.0)
    one = history.cast_segments(*shot, 0.0, protected_since={int(ids[0]): 0.0}, ignore_character=None)
    other = history.cast_segments(*shot, 0.0, ignore_character=int(ids[0]))
    assert both.clearance_limb[0] < len(rig.limbs) <= one.clearance_limb[0]
    assert (one.clearance[0], one.clearance_limb[0]) == (other.clearance[0], other.clearance_limb[0])


def test_it_is_not_in_files(tmp_path):
    hits = cc.HitWorld(cc.Limbs.spheres([[0, 0, 0]], 1.0)).cast_segments([-3.0, 0, 0], [3.0, 0, 0])
    hits.save(tmp_path / "hits")
    with pytest.raises(AttributeError):
        _ = cc.RayHits.load(tmp_path / "hits.npz").clearance
