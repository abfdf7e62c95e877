"""Capsules that overlap limbs: against exact thick segments one by one, and against distances of points of the axis."""

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed
from support.check_cylinders import IS_COMPILED

import cylcollide as cc

N = 60 if IS_COMPILED else 8


def capsules(limbs: cc.Limbs, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Both ends, and radii; most of them next to some limb."""
    k = rng.integers(0, len(limbs), n)
    p1 = 0.5 * (limbs.p1[k] + limbs.p2[k]) + 0.4 * rng.normal(size=(n, 3))
    return p1, p1 + 0.3 * rng.normal(size=(n, 3)), rng.choice([0.0, 0.05, 0.2], n)


@pytest.mark.machine_code
def test_a_capsule_touches_what_is_within_its_radius_of_its_axis():
    rng, limbs = np.random.default_rng(8), mixed(28, seed=6).limbs()
    p1, p2, radii = capsules(limbs, rng, N)
    found, seen = cc.HitWorld(limbs).overlap_capsules(p1, p2, radii), 0
    for i in range(N):
        points = p1[i] + np.linspace(0.0, 1.0, 400)[:, None] * (p2 - p1)[i]
        step = np.linalg.norm(p2[i] - p1[i]) / 798 + 1e-9  # from any point of the axis to the next of these
        own = set(found[i].limb.tolist())
        assert not found[i].undecided.any()
        for k in range(len(limbs)):
            least = limbs[k : k + 1].closest_points(points).distance.min()
            if abs(least - radii[i]) > step:
                assert (k in own) == (least < radii[i]), (i, k)
                seen += k in own
    assert seen > N / 2
    assert np.array_equal(found.query, np.repeat(np.arange(N), np.diff(found.offsets)))


def test_touching_counts_row_by_row_and_among_others():
    one = cc.Limbs.spheres([0, 0, 1], 0.75, character=3, mask=2)
    p1, p2 = [-1, 0, 0], [1, 0, 0]
    assert one.overlap_capsules([p1] * 2, [p2] * 2, [0.25, np.nextafter(0.25, 0)]).tolist() == [True, False]
    world = cc.HitWorld(cc.Limbs.concat([one, cc.Limbs.boxes([0, 0, 0], [0, 0, 0, 1], [1, 1, 1])]))
    assert world.overlap_capsules(p1, p2, 0.25).limb.tolist() == [0, 1]
    assert world.overlap_capsules(p1, p2, 0.25, ignore_character=3).limb.tolist() == [1]
    assert world.overlap_capsules([p1] * 2, p2, 0.25, mask=[1, 2], threads=1).limb.tolist() == [1, 0, 1]
    assert world.overlap_capsules(p1, p1, 0).limb.tolist() == [1]  # a point
    with pytest.raises(ValueError, match="radii: expected 0"):
        world.overlap_capsules(p1, p2, -1.0)
    with pytest.raises(ValueError, match=r"p2.*row 0"):
        world.overlap_capsules(p1, [np.nan, 0, 0], 0.0)


def test_in_the_past_it_is_the_world_of_that_time():
    rng, limbs = np.random.default_rng(9), mixed(14, seed=6).limbs()
    world = cc.HitWorld(limbs)
    history = cc.PoseHistory(world)
    history.record(0.0)
    world.set_endpoints(limbs.p1 + 0.1, limbs.p2 + 0.1)
    history.record(1.0)
    p1, p2, radii = capsules(limbs, rng, 12)
    found = history.overlap_capsules(p1, p2, radii, 0.25)
    assert len(found)
    assert np.array_equal(found.limb, cc.HitWorld(history.limbs_at(0.25)).overlap_capsules(p1, p2, radii).limb)
    assert (found.tick == 0).all()
    assert len(history.overlap_capsules(p1[0], p2[0], 9.0, [0.0, 0.5, 1.0]).offsets) == 4
