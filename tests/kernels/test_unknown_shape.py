"""A shape that kernels do not know: they say nothing of it, so that exact arithmetic decides, or raise."""

from math import inf, nan

import numpy as np
import pytest
from support.cases.one_of_each_shape import LIMBS

from cylcollide._types import Shape
from cylcollide.exact.moving import axial_bounds
from cylcollide.exact.shapes import Ellipsoid
from cylcollide.exact.thick import grown_by
from cylcollide.kernels.axis import SurfacePoint
from cylcollide.kernels.dispatch import distance_to, face_normal, limb_aabb, outside_by, ray_limb
from cylcollide.kernels.interval import EVERYTHING, NOTHING, UNDECIDED_FACE, Span
from cylcollide.kernels.limb_table import plain_limb
from cylcollide.kernels.nearest_place import UNCERTAIN, nearest_place
from cylcollide.kernels.ray import make_ray
from cylcollide.kernels.support import support, way_from
from cylcollide.kernels.thick import thick_span
from cylcollide.kernels.traits import TRAITS
from cylcollide.moving.bounds import near_squared
from cylcollide.moving.solids import Errors, is_outside, window_crossing

pytestmark = [pytest.mark.plain_python, pytest.mark.coverage]

UNKNOWN = max(Shape) + 1
LIMB = plain_limb(LIMBS[Shape.CYLINDER]._table, 0)._replace(kind=UNKNOWN)
POINT = 3.0, 1.0, 2.0


def test_spans_hold_everything():
    span = Span(EVERYTHING, NOTHING, UNDECIDED_FACE, UNDECIDED_FACE)
    for radius in (0.0, 0.1):
        ray = make_ray(POINT, (1.0, 2.0, 0.0), True, inf, radius)
        assert (thick_span(ray, LIMB, 0, True) if radius else ray_limb(ray, LIMB, 0)) == span


def test_numbers_of_points_and_planes_are_not_known():
    nothing = 0.0, 0.0, 0.0
    normal = face_normal(SurfacePoint(POINT, POINT, POINT, 1.0, 0.0, 1.0, 1.0, 0.0), LIMB, 0.0)
    assert np.isnan([outside_by(POINT, LIMB), *normal]).all()
    assert distance_to(POINT, LIMB) == (-inf, inf)
    assert repr(nearest_place(POINT, LIMB)) == repr(UNCERTAIN)
    assert (support((0.0, 0.0, 1.0), LIMB), way_from(POINT, LIMB)) == (inf, nothing)
    assert np.abs(limb_aabb(LIMB)).min() == LIMB.extent


def test_bullets_are_neither_certainly_outside_nor_inside():
    window, errors = ((POINT, POINT), ((0.0, 0.0, 1.0), (0.0, 0.0, 1.0))), Errors(0.0, 0.0, 0.0, 0.0)
    passage, face = window_crossing(window, UNKNOWN, 0.1, 0.0, errors)
    assert (passage[:2], any(passage[2:5]), face) == ((0.0, 1.0), False, UNDECIDED_FACE)
    assert is_outside(window, Shape.CYLINDER, 0.1, 0.0, errors)
    assert not is_outside(window, UNKNOWN, 0.1, 0.0, errors)
    assert near_squared(UNKNOWN, 1.0, 1.0, 0.0) >= 4.0


def test_exact_solids_raise():
    with pytest.raises(KeyError):
        axial_bounds(UNKNOWN, nan)
    with pytest.raises(
        TypeError, match=r"Ellipsoid has no exact growth: kernels/traits\.py must call its shape bounded"
    ):
        grown_by(Ellipsoid(POINT, (0.0, 0.0, 0.0), 1.0), 0.1)


def test_traits_are_in_the_order_of_codes():
    assert [*TRAITS] == [*Shape]
