"""Number range in the past: limbs that leave the accepted range half-way are hidden."""

import numpy as np
import pytest
from support.one_limb import about_z, one_bone_rig

import cylcollide as cc
from cylcollide.history import PoseHistory

pytestmark = pytest.mark.plain_python

BIG = 2.0**500


def swinging(others: int, interpolate: str = "bones") -> tuple[PoseHistory, list[float]]:
    """Two ticks of characters whose arm turns from 60 to -60 degrees; some arms leave the accepted range half-way.

    The bone is at 0.8 BIG and the arm 0.3 BIG long: its end is at 0.95 BIG at both ticks, and at 1.1 BIG between them.
    """
    limb = cc.Limbs.capsules([0, 0, 0], [0.3 * BIG, 0, 0], 0.01 * BIG)
    rig = one_bone_rig(limb)
    world = cc.HitWorld()
    history, ids = PoseHistory(world, interpolate=interpolate), world.spawn(rig, others)
    places = [0.8 * BIG if i % 3 == 1 else 0.2 * BIG for i in range(others)]
    at = [[[x, 0.02 * i * BIG, 0]] for i, x in enumerate(places)]
    for tick, angle in enumerate((60.0, -60.0)):
        world.set_poses(ids, at, [[about_z(np.radians(angle))]] * others)
        history.record(tick)
    return history, places


@pytest.mark.coverage("1", "2")
@pytest.mark.parametrize("others", [1, 2, 7])
def test_an_arm_that_leaves_the_accepted_range_is_hidden(others: int):
    """Other limbs stay; the arm keeps its place at its tick, in no layer, and answers equal those of a fresh world."""
    history, places = swinging(others)
    hidden = [x > 0.5 * BIG for x in places]
    for alpha in (0.0, 0.5, 1.0):
        limbs = history.limbs_at(alpha)
        gone = np.array(hidden) & (alpha == 0.5)
        assert (limbs.mask == 0).tolist() == gone.tolist()
        assert np.abs([limbs.p1, limbs.p2]).max() <= BIG
        assert np.array_equal(limbs.p2[gone], history.limbs_at(0.0).p2[gone])
        fresh = cc.HitWorld(limbs)
        aim = np.array([[x + 0.2 * BIG, 0.02 * i * BIG, 0] for i, x in enumerate(places)])
        shots = aim - np.array([0, 0, BIG / 2]), aim + np.array([0, 0, BIG / 2])
        hits, want = history.cast_segments(*shots, alpha), fresh.cast_segments(*shots)
        assert hits.limb.tolist() == want.limb.tolist()
        assert hits.fraction.tolist() == want.fraction.tolist()
        held = history.contains_points(limbs.p2, alpha)
        assert held.count.tolist() == fresh.contains_points(limbs.p2).count.tolist()
        assert not np.isin(held.limb, np.flatnonzero(gone)).any()
        assert (held.limb >= 0).any()
        if alpha == 0.5:
            assert hits.hit[~gone].all()
            assert not np.isin(hits.limb, np.flatnonzero(gone)).any()


def test_ends_stay_in_the_accepted_range():
    history, _ = swinging(3, "ends")
    limbs = history.limbs_at(0.5)
    assert limbs.mask.all()
    assert np.abs(limbs.p2).max() <= 0.951 * BIG
