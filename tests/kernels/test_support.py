"""Supporting planes and vectors from nearest places, compared with double-double places of near and far points."""

import numpy as np
import pytest
from support.cases.one_of_each_shape import LIMBS

import cylcollide as cc
from cylcollide.kernels.limb_table import plain_limb
from cylcollide.kernels.support import support, way_from

pytestmark = [pytest.mark.plain_python, pytest.mark.coverage]

FAR = 1e7


@pytest.mark.parametrize("shape", [*cc.Shape], ids=lambda shape: shape.name)
def test_a_limb_reaches_its_plane_and_not_beyond(shape: cc.Shape):
    limbs, rng = LIMBS[shape], np.random.default_rng(4)
    limb = plain_limb(limbs._table, 0)
    for n in rng.normal(size=(20, 3)):
        n = n / np.linalg.norm(n)
        place = limbs.closest_points(limb.centre + FAR * n).position[0]
        assert abs(support(tuple(n.tolist()), limb) - n @ (place - limb.centre)) < 1.0 / FAR


@pytest.mark.parametrize("shape", [*cc.Shape], ids=lambda shape: shape.name)
def test_the_way_starts_at_the_nearest_place(shape: cc.Shape):
    limb, rng, outside = plain_limb(LIMBS[shape]._table, 0), np.random.default_rng(5), 0
    for point in limb.centre + rng.normal(size=(40, 3)):
        found = LIMBS[cc.Shape.CYLINDER if shape == cc.Shape.TUBE else shape].closest_points(point)
        way = way_from(tuple(point.tolist()), limb)
        outside += found.distance[0] > 0.0
        expected = point - found.position[0] if found.distance[0] > 0.0 else np.zeros(3)
        assert np.allclose(way, expected, atol=1e-9)
    assert outside > 5
