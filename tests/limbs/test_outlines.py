"""Outlines of every shape, as drawn in figures."""

import numpy as np
import pytest
from support.cases.rigs import every_shape

import cylcollide as cc
from cylcollide._types import Shape
from cylcollide.kernels.aabb import limb_boxes
from cylcollide.limbs.outlines import hull, surface_points, up_axis


@pytest.mark.parametrize("i", range(2 * len(Shape)))
def test_outlines_lie_on_the_surface(i):
    limbs = every_shape()
    limb, points = limbs[i], surface_points(limbs, i)
    centre = 0.5 * (limb.p1 + limb.p2)
    inner, outer = centre + (1 - 1e-9) * (points - centre), centre + (1 + 1e-9) * (points - centre)
    bored = limb.kind[0] == Shape.TUBE  # rings at the ends are outlines too; the bore is not drawn
    assert bored or (limb.classify_points(inner) == cc.Side.INSIDE).all()
    assert (limb.classify_points(outer) == cc.Side.OUTSIDE).all()
    (low,), (high,) = limb_boxes(limb._table)
    assert (np.ptp(points, axis=0) > 0.98 * (high - low)).all()  # and span the limb's box


@pytest.mark.parametrize("up", ["y", "z"])
def test_up_is_the_axis_of_characters(up: str):
    world, rig = cc.HitWorld(), cc.Rig.humanoid(up=up)
    world.set_poses(world.spawn(rig, 2), *rig.forward([[0, 0, 0], [9, 9, 9]], [0, 0, 0, 1], rig.rest_orientations))
    level = cc.Limbs.cylinders([0, -50, -20], [0, 50, 20], 1.0)
    limbs = cc.Limbs.concat([world.limbs, level])
    assert up_axis(limbs, limbs.character >= 0) == "xyz".index(up)
    assert up_axis(limbs, limbs.character < -1) == 2


def test_a_hull_has_the_outer_points():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    inside = np.random.default_rng(1).uniform(0.01, 0.99, (50, 2))
    assert {tuple(p) for p in hull(np.vstack([inside, square, square]))} == {tuple(p) for p in square}
    assert hull(np.zeros((5, 2))).tolist() == [[0.0, 0.0]]
