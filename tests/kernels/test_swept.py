"""Boxes that hold limbs wherever they are between two ticks."""

import numpy as np
import pytest
from support.cases.recorded_world import recorded_world
from support.machine_code import interpreted

import cylcollide as cc
from cylcollide.kernels.aabb import limb_boxes
from cylcollide.kernels.swept import fill_reach_boxes, sweep_boxes

pytestmark = [pytest.mark.plain_python, pytest.mark.coverage]


def swept(monkeypatch: pytest.MonkeyPatch, loops: tuple, interpolate: str) -> tuple:
    """The history of a recorded world, and the boxes that these loops have written for its first tick."""
    written = {}

    def sweep(recorded, *columns):
        loops[1](recorded, *columns)
        written[0] = columns[-2].copy(), columns[-1].copy()

    monkeypatch.setattr("cylcollide.history.ticks.fill_reach_boxes", loops[0])
    monkeypatch.setattr("cylcollide.history.ticks.sweep_boxes", sweep)
    history = recorded_world(interpolate).history
    return history, *written[0]


LOOPS = (fill_reach_boxes, sweep_boxes), tuple(map(interpreted, (fill_reach_boxes, sweep_boxes)))


@pytest.mark.parametrize("loops", LOOPS, ids=["loop", "plain"])
@pytest.mark.parametrize("interpolate", ["bones", "ends"])
def test_limbs_are_in_their_boxes(monkeypatch: pytest.MonkeyPatch, loops: tuple, interpolate: str):
    """At many moments; and no box is larger than what it holds and two radii, but for the arc of a turn."""
    history, low, high = swept(monkeypatch, loops, interpolate)
    least, most = np.full_like(low, np.inf), np.full_like(low, -np.inf)
    for alpha in np.linspace(0, 1, 18)[:-1]:
        a, b = limb_boxes(history.limbs_at(alpha).table)
        assert (low <= a).all()
        assert (b <= high).all()
        least, most = np.minimum(least, a), np.maximum(most, b)
    assert (high - low < (most - least) + 1.5).all()


def turning(angle: float) -> cc.PoseHistory:
    """One sphere at 2 m from its bone, which turns by an angle, in degrees, while it goes 1 m along x."""
    rig = cc.Rig(["bone"], [-1], [[0, 0, 0]], [[0, 0, 0, 1]], cc.Limbs.spheres([2, 0, 0], 1e-6), [0])
    world = cc.HitWorld()
    ids, history = world.spawn(rig), cc.PoseHistory(world)
    for tick in range(2):
        half = np.radians(angle) * tick / 2
        world.set_poses(ids, [[[float(tick), 0, 0]]], [[[0, 0, np.sin(half), np.cos(half)]]])
        history.record(float(tick))
    return history


@pytest.mark.parametrize("angle", [1.0, 20.0, 90.0, 179.0])
def test_the_bound_on_arcs_is_sharp(angle: float):
    """Half way, a point is ρ (1 - cos ½θ) from the straight way between its ends: no moment exceeds it, and the box
    around a turn is no larger."""
    history = turning(angle)
    bound = 2.0 * (1.0 - np.cos(np.radians(angle) / 2))
    first, last = history.limbs_at(0.0).p1[0], history.limbs_at(1.0).p1[0]
    away = [
        np.linalg.norm(history.limbs_at(alpha).p1[0] - ((1 - alpha) * first + alpha * last))
        for alpha in np.linspace(0, 1, 21)
    ]
    assert max(away) <= bound * (1 + 1e-9) + 1e-15
    assert away[10] >= bound * (1 - 1e-9)
    tree = history._ring.ticks[0].tree
    box = tree.bounds[0].reshape(2, 3, -1)[:, :, 0] / tree.space.scale + np.array(tree.space.centre)
    assert (box[1] - box[0] <= np.abs(last - first) + 2 * bound + 1e-4).all()
