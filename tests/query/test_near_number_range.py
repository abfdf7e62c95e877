"""Distances, overlaps, blades and doubts of all accepted numbers."""

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed, shots_at
from support.check_cylinders import sized
from support.number_range import POWERS

import cylcollide as cc


@pytest.mark.parametrize("power", POWERS)
def test_distances_at_any_power_of_two(power: int):
    """Scaled distances agree at each power; overlaps and sweeps do, too, except where bounds do not decide."""
    shapes, rng = mixed(sized(14, 14), seed=9), np.random.default_rng(9)
    worlds = cc.HitWorld(shapes.limbs()), cc.HitWorld(shapes.scaled(2.0**power).limbs())
    p, q = shots_at(shapes, 14, seed=9)
    radius, still = rng.choice([0.0, 0.01, 0.5], len(p)), [0, 0, 0, 1]

    def both(query: str, *given: np.ndarray, **more: object) -> list:
        return [
            getattr(w, query)(*(np.ldexp(x, k) for x in given), **more) for w, k in zip(worlds, (0, power), strict=True)
        ]

    here, there = both("closest_points", p)
    size = np.maximum(np.abs(p).max(axis=1), np.abs(here.position).max(axis=1))
    assert np.array_equal(here.limb, there.limb)
    assert np.array_equal(here.face, there.face)
    assert np.abs(there.normal - here.normal).max() < 1e-9
    for name in ("distance", "position"):
        off = np.abs(np.ldexp(getattr(there, name), -power) - getattr(here, name)).reshape(len(p), -1).max(axis=1)
        assert (off <= 8.0 * np.spacing(size)).all()
    for query in ("points_within", "overlap_spheres"):
        here, there = both(query, p, radius)
        assert here.offsets.tolist() == there.offsets.tolist()
        assert here.limb.tolist() == there.limb.tolist()
        assert len(here) > 3
    half = rng.uniform(0.3, 1.0, (len(p), 3))
    boxes = [w.overlap_boxes(np.ldexp(p, k), still, np.ldexp(half, k)) for w, k in zip(worlds, (0, power), strict=True)]
    for here, there in (both("overlap_capsules", p, q, radius), boxes):
        sure = [
            {*zip(x.query[~x.undecided].tolist(), x.limb[~x.undecided].tolist(), strict=True)} for x in (here, there)
        ]
        every = [{*zip(x.query.tolist(), x.limb.tolist(), strict=True)} for x in (here, there)]
        assert sure[0] <= every[1]
        assert sure[1] <= every[0]
        assert len(sure[0]) > 3
    here, there = both("doubt_segments", p, q, radius)
    opposed = np.sort([here.verdict, there.verdict], axis=0)
    assert not ((opposed[0] == cc.Doubt.EXCLUDED) & (opposed[1] == cc.Doubt.CERTAIN)).any()
    here, there = both("sweep_capsules", p, q, p + half, q + half, radius)
    decided = ~here.undecided & ~there.undecided
    assert np.array_equal(here.hit[decided], there.hit[decided])
    met = decided & here.hit
    assert (np.abs(here.fraction[met] - there.fraction[met]) <= 2.0**-10).all()


@pytest.mark.parametrize("limbs", [
    cc.Limbs.cylinders([1, 0, 0], [4, 0, 1], 1.0), cc.Limbs.tubes([1, 0, 0], [4, 0, 1], 1.0, 0.5),
    cc.Limbs.ellipsoids([1, 0, 0], [4, 0, 1], 1.0), cc.Limbs.boxes([2, 0, 0], [0, 0, 0.6, 0.8], [1, 1, 2.0**500]),
])  # fmt: skip
def test_boxes_of_the_largest_size(limbs: cc.Limbs):
    """Their corners exceed the range of coordinates."""
    world, level, most = cc.HitWorld(limbs), [0, 0, 0, 1], 2.0**500
    found = world.overlap_boxes([[2, 0.8, 0], [most, 0, 0], [-most, 0, 0]], level, [[1, 1, most], [most] * 3, [1] * 3])
    assert found.query.tolist() == [0, 1]
    assert limbs.overlap_boxes([2, 0.8, 0], level, [1, 1, most]).shape == (1,)
