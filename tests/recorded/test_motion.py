"""Bounds of the motion of limbs between two ticks."""

import numpy as np
import pytest
from support.cases.recorded_world import recorded_world
from support.one_limb import one_bone_rig

import cylcollide as cc
from cylcollide.history.doubts import Motion, motion
from cylcollide.kernels.aabb import limb_boxes
from cylcollide.recorded.motion import MARGIN

pytestmark = pytest.mark.plain_python
SHARES = np.linspace(0, 1, 9)
FAR, NEAR = [3.0, 0.0, 0.0], [0.0, 0.0, 0.0]
LIMBS = {
    "ball far from its bone": cc.Limbs.spheres(FAR, 0.01),
    "capsule": cc.Limbs.capsules(NEAR, FAR, 0.01),
    "disc": cc.Limbs.cylinders(NEAR, [0.0, 0.0, 0.01], 2.0),
    "ring": cc.Limbs.tubes(NEAR, [0.0, 0.0, 0.01], 2.0, 1.0),
    "cone": cc.Limbs.cones(NEAR, [0.0, 0.0, 0.01], 2.0),
    "flat ellipsoid": cc.Limbs.ellipsoids(NEAR, [0.0, 0.0, 0.01], 2.0),
    "plate": cc.Limbs.boxes(NEAR, [0, 0, 0, 1], [2.0, 1.0, 0.01]),
}


def corners(history: cc.PoseHistory, tick: int, alpha: float) -> np.ndarray:
    """Both corners of the boxes of all limbs, (limbs, 6)."""
    return np.hstack(limb_boxes(history.limbs_at(tick=tick, alpha=alpha)._table))


def bound_of(found: Motion, share: float) -> np.ndarray:
    """Bound of the motion of each limb in a share of a tick."""
    return (found.straight * share + np.minimum(found.turning * share, found.most_turning)) * MARGIN


@pytest.mark.coverage("plate-ends", "disc-ends", "capsule-ends", "plate-bones")
@pytest.mark.parametrize("interpolate", ["bones", "ends"])
@pytest.mark.parametrize("limb", LIMBS)
def test_no_limb_exceeds_its_bound(interpolate: str, limb: str):
    """Boxes of 40 limbs that move and turn, at any two moments; the bounds are at most twice as large as needed."""
    rng, world, rig = np.random.default_rng(5), cc.HitWorld(), one_bone_rig(LIMBS[limb])
    history, ids = cc.PoseHistory(world, interpolate=interpolate), world.spawn(rig, 40)
    place, turn = rng.normal(size=(40, 3)), rng.normal(size=(40, 4))
    for tick in range(2):
        world.set_poses(ids, (place + 0.3 * tick * rng.normal(size=(40, 3)))[:, None], turn[:, None])
        history.record(tick)
        turn = rng.choice([-1, 1], (40, 1)) * (turn + rng.uniform(0, 2, (40, 1)) * rng.normal(size=(40, 4)))
    found, used = motion(history._ring, 0), np.zeros(40)
    states = [corners(history, 0, alpha) for alpha in SHARES]
    for i, here in enumerate(states):
        for j, there in enumerate(states[:i]):
            bound, seen = bound_of(found, SHARES[i] - SHARES[j]), np.abs(there - here).max(axis=1)
            assert (seen <= bound + 1e-12).all()
            used = np.maximum(used, seen / bound)
    assert (2 * found.extent >= np.abs(states[0]).max(axis=1)).all()
    jump = np.abs(corners(history, 1, 0.0) - states[-1]).max(axis=1)
    assert (jump <= found.jump + 1e-12).all()
    assert used.max() > 0.5
    assert (jump > 0.3 * found.jump).any() == (limb == "plate" and interpolate == "ends")


@pytest.mark.coverage
@pytest.mark.parametrize("interpolate", ["bones", "ends"])
def test_limbs_that_jump_do_not_move(interpolate: str):
    """Characters that jump or leave, and everything at the last tick."""
    history = recorded_world(interpolate, 1)
    first, last = motion(history._ring, 0), motion(history._ring, len(history.ticks) - 1)
    assert 0 < (first.straight == 0.0).sum() < (first.straight > 0.0).sum()
    for found in (first, last):
        assert (found.turning[found.straight == 0.0] == 0.0).all()
        assert (found.extent > 0.0).all()
    assert not last.straight.any()
