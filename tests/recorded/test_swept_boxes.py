"""Boxes that hold limbs wherever they are between two ticks."""

import numpy as np
import pytest
from support.cases.recorded_world import recorded_world
from support.one_limb import one_bone_rig

import cylcollide as cc
from cylcollide.bvh import refit
from cylcollide.bvh.layout import HIGH, Tree
from cylcollide.kernels.aabb import limb_boxes
from cylcollide.kernels.limb_table import make_table

pytestmark = pytest.mark.plain_python


def boxes_of(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the boxes of all items in the world, (items, 3) each."""
    slots, centre = refit.slots(tree).items, np.array(tree.frame.centre)
    boxes = tree.bounds[slots // 8, :, slots % 8].astype(np.float64)
    return boxes[:, :HIGH] / tree.frame.scale + centre, boxes[:, HIGH:] / tree.frame.scale + centre


@pytest.mark.parametrize("interpolate", ["bones", "ends"])
def test_limbs_are_in_their_boxes(interpolate: str):
    """At many times, with ends from bones and with straight ends; no box is larger than needed by 1 m."""
    for seed in range(1, 4):
        history = recorded_world(interpolate, seed)
        low, high = boxes_of(history._ring.ticks[0].tree)
        least, most = np.full_like(low, np.inf), np.full_like(low, -np.inf)
        here, there = history.limbs_at(tick=0), history.limbs_at(tick=0, alpha=1.0)
        round_limb = here._table.box < 0
        for alpha in np.linspace(0, 1, 18):
            boxes = [limb_boxes(history.limbs_at(tick=0, alpha=alpha)._table)]
            p1, p2 = ((1 - alpha) * p + alpha * q for p, q in ((here.p1, there.p1), (here.p2, there.p2)))
            straight = here._table._replace(p1=p1, p2=p2)
            boxes.append(limb_boxes(make_table(*straight[:9])))
            for (a, b), rows in zip(boxes, (slice(None), round_limb), strict=True):
                assert (low[rows] <= a[rows]).all()
                assert (b[rows] <= high[rows]).all()
                least[rows], most[rows] = np.minimum(least[rows], a[rows]), np.maximum(most[rows], b[rows])
        assert (high - low < (most - least) + 1.0).all()


def test_a_world_that_stands_still_has_the_boxes_of_its_limbs():
    """For walls and people, boxes between two ticks exceed the world's own by rounding only."""
    rig, walls = cc.Rig.humanoid(), cc.Limbs.cylinders([[0, 0, 0]] * 3, [[3, 0, 1], [0, 3, 1], [0, 1, 3]], 0.5)
    for interpolate in ("bones", "ends"):
        world = cc.HitWorld(walls)
        ids, history = world.spawn(rig, 5), cc.PoseHistory(world, interpolate=interpolate)
        place = np.array([[k, 2.0, 1.0] for k in range(5)])
        world.set_poses(ids, *rig.forward(place, [0, 0, 0.6, 0.8], rig.rest_orientations))
        for tick in range(2):
            history.record(tick)
        (low, high), (a, b) = boxes_of(history._ring.ticks[0].tree), limb_boxes(world.snapshot()._table)
        assert (low <= a).all()
        assert (b <= high).all()
        assert max((a - low).max(), (high - b).max()) < 2e-5


@pytest.mark.machine_code
def test_limbs_are_in_boxes_of_trees_that_are_rebuilt():
    """Characters despawn and spawn, and the tree is rebuilt: rows, slots and frames differ between ticks."""
    rig, rng, world = cc.Rig.humanoid(), np.random.default_rng(4), cc.HitWorld()
    ids, history = world.spawn(rig, 12), cc.PoseHistory(world, 16)
    for tick in range(12):
        for character in ids:
            place, turn = rng.uniform(0, 4, 3) + 0.1 * tick, rng.normal(size=4)
            world.set_poses(character, *(x[0] for x in rig.forward(place, turn, rig.rest_orientations)))
        history.record(tick)
        if tick % 3 == 1:
            world.despawn(ids[:1])
            ids = np.append(ids[1:], world.spawn(rig))
    for tick in range(11):
        low, high = boxes_of(history._ring.ticks[tick].tree)
        for alpha in (0.0, 0.3, 0.6, 1.0):
            a, b = limb_boxes(history.limbs_at(tick=tick, alpha=alpha)._table)
            assert (low <= a).all()
            assert (b <= high).all()


FLAT = cc.Limbs.concat(
    [
        cc.Limbs.cylinders([-0.1, 0, 0], [0.1, 0, 0], 1.0),
        cc.Limbs.tapered_cylinders([-0.1, 0, 0], [0.1, 0, 0], 1.0, 0.2),
        cc.Limbs.ellipsoids([-0.1, 0, 0], [0.1, 0, 0], 1.0),
        cc.Limbs.boxes([0, 0, 0], [0, 0, 0, 1], [0.1, 1.0, 0.5]),
        cc.Limbs.capsules([-1, 0, 0], [1, 0, 0], 0.1),
    ]
)


@pytest.mark.coverage
@pytest.mark.parametrize("interpolate", ["bones", "ends"])
@pytest.mark.parametrize("angle", [5.0, 60.0, 90.0, 150.0])
def test_flat_limbs_that_turn_about_their_middle(angle: float, interpolate: str):
    """Halfway their rims reach beyond the boxes of both ticks, by up to their radius."""
    rig = one_bone_rig(FLAT)
    world = cc.HitWorld()
    ids, history = world.spawn(rig), cc.PoseHistory(world, interpolate=interpolate)
    for half in np.radians([-angle / 4, angle / 4]):
        world.set_poses(ids, [[[0, 0, 0]]], [[[0, 0, np.sin(half), np.cos(half)]]])
        history.record(len(history))
    low, high = boxes_of(history._ring.ticks[0].tree)
    for alpha in np.linspace(0, 1, 9):
        a, b = limb_boxes(history.limbs_at(tick=0, alpha=alpha)._table)
        assert (low <= a).all()
        assert (b <= high).all()
    ends = [limb_boxes(history.limbs_at(tick=0, alpha=alpha)._table) for alpha in (0.0, 1.0)]
    middle = limb_boxes(history.limbs_at(tick=0, alpha=0.5)._table)[1]
    assert (middle > np.maximum(ends[0][1], ends[1][1]) + 1e-4).any()


def turning(angle: float) -> cc.PoseHistory:
    """One sphere at 2 m from its bone, which turns by an angle, in degrees, while it goes 1 m along x."""
    rig = one_bone_rig(cc.Limbs.spheres([2, 0, 0], 1e-6))
    world = cc.HitWorld()
    ids, history = world.spawn(rig), cc.PoseHistory(world)
    for tick in range(2):
        half = np.radians(angle) * tick / 2
        world.set_poses(ids, [[[float(tick), 0, 0]]], [[[0, 0, np.sin(half), np.cos(half)]]])
        history.record(float(tick))
    return history


@pytest.mark.parametrize("angle", [1.0, 20.0, 90.0, 179.0])
def test_the_bound_on_arcs_is_sharp(angle: float):
    """Halfway, a point is ρ (1 - cos ½θ) off the straight line between its ends, which is the maximum; the box around
    a turn is no larger."""
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
    box = tree.bounds[0].reshape(2, 3, -1)[:, :, 0] / tree.frame.scale + np.array(tree.frame.centre)
    assert (box[1] - box[0] <= np.abs(last - first) + 2 * bound + 1e-4).all()
