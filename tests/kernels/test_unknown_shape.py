"""A shape code without a branch: kernels leave it undecided, so that exact arithmetic decides; all else raises."""

from math import inf, nan

import numpy as np
import pytest
from support.cases.one_of_each_shape import LIMBS

from cylcollide._types import Face, Shape
from cylcollide.exact.line import segment_numbers
from cylcollide.exact.moving import axial_bounds
from cylcollide.exact.shapes import Ellipsoid
from cylcollide.exact.thick import grown_by
from cylcollide.kernels import thick_surface
from cylcollide.kernels.axis import SurfacePoint
from cylcollide.kernels.clearance import ball_radius
from cylcollide.kernels.dispatch import (
    distance_to,
    face_curve,
    face_normal,
    graze_step,
    limb_aabb,
    outside_by,
    ray_limb,
)
from cylcollide.kernels.double_double import as_double_double, vector_difference
from cylcollide.kernels.interval import EVERYTHING, NOTHING, UNDECIDED_FACE, Span
from cylcollide.kernels.limb_table import plain_limb
from cylcollide.kernels.nearest_place import UNCERTAIN, nearest_place
from cylcollide.kernels.ray import make_ray
from cylcollide.kernels.support import support, way_from
from cylcollide.kernels.thick import thick_span
from cylcollide.kernels.thick_surface import nearest_place as place_of_thick
from cylcollide.kernels.thick_surface import thick_curve
from cylcollide.kernels.traits import TRAITS
from cylcollide.limbs.meshes import profile
from cylcollide.limbs.outlines import outlines
from cylcollide.moving.bounds import RelativeMotion, near_squared
from cylcollide.moving.contact import face_value
from cylcollide.moving.solids import Errors, is_outside, window_crossing
from cylcollide.query.boxes import touching
from cylcollide.query.clearance import clearance_of
from cylcollide.query.farthest import farthest
from cylcollide.view.instances import unit_mesh

pytestmark = [pytest.mark.plain_python, pytest.mark.coverage]

UNKNOWN = max(Shape) + 1
LIMB = plain_limb(LIMBS[Shape.CYLINDER]._table, 0)._replace(kind=UNKNOWN)
POINT = 3.0, 1.0, 2.0


def test_spans_hold_everything():
    span = Span(EVERYTHING, NOTHING, UNDECIDED_FACE, UNDECIDED_FACE)
    assert ray_limb(make_ray(POINT, (1.0, 2.0, 0.0), True, inf, 0.0), LIMB, 0) == span


@pytest.mark.parametrize("whole", [False, True], ids=["entry", "whole"])
def test_spans_of_thick_rays_contain_those_of_a_cylinder(whole):
    ray = make_ray(tuple(np.array(LIMB.centre) - (2.0, 1.99, 2.0)), (1.0, 1.0, 1.0), False, inf, 0.1)
    known, span = thick_span(ray, LIMB._replace(kind=int(Shape.CYLINDER)), 0, whole), thick_span(ray, LIMB, 0, whole)
    assert known.inner[0] <= known.inner[1]
    assert span.outer[0] <= known.outer[0]
    assert known.outer[1] <= span.outer[1]
    assert span[1:] == (NOTHING, UNDECIDED_FACE, UNDECIDED_FACE)


@pytest.mark.parametrize("face", [Face.SIDE, Face.CAP1, Face.BORE])
def test_crossings_and_contacts_are_nan(face):
    ray, fraction = (POINT, vector_difference(POINT, (1.0, 2.0, 0.0)), 0.5), as_double_double(POINT)
    curves = face_curve(*ray, LIMB, face), thick_curve(*ray, LIMB, face, 0.1)
    assert np.isnan([*curves, [*graze_step(*ray, LIMB, face, True)] * 2]).all()
    assert np.isnan(place_of_thick(fraction, LIMB)).all()


def test_bounded_contacts_are_nan(monkeypatch):
    monkeypatch.setattr(thick_surface, "BOUNDED", (UNKNOWN,))
    assert np.isnan(place_of_thick(as_double_double(POINT), LIMB)).any(axis=1).all()


def test_distances_and_planes_are_unbounded():
    nothing = 0.0, 0.0, 0.0
    normal = face_normal(SurfacePoint(POINT, POINT, POINT, 1.0, 0.0, 1.0, 1.0, 0.0), LIMB, 0.0)
    assert np.isnan([outside_by(POINT, LIMB), *normal]).all()
    assert distance_to(POINT, LIMB) == (-inf, inf)
    assert repr(nearest_place(POINT, LIMB)) == repr(UNCERTAIN)
    assert (support((0.0, 0.0, 1.0), LIMB), way_from(POINT, LIMB)) == (inf, nothing)
    assert np.abs(limb_aabb(LIMB)).min() == LIMB.extent
    table = LIMBS[Shape.CYLINDER]._table
    table = table._replace(kind=np.array([UNKNOWN], np.int8), boxes=np.zeros((1, 12)))
    assert np.isnan(farthest(np.array([[0.0, 0.0, 1.0]]), table)).all()


@pytest.mark.parametrize("numbers", [(1.0, 2.0, 0.5), (4.0, 0.5, 1.0)])
def test_the_ball_holds_any_shape(numbers):
    half_length, radius, radius2 = numbers
    limb = LIMB._replace(half_length=half_length, radius=radius, radius2=radius2)
    assert ball_radius(limb) >= np.hypot(half_length, max(radius, radius2))


def test_bullets_are_not_certainly_outside_or_inside():
    window, errors = ((POINT, POINT), ((0.0, 0.0, 1.0), (0.0, 0.0, 1.0))), Errors(0.0, 0.0, 0.0, 0.0)
    passage, face = window_crossing(window, UNKNOWN, 0.1, 0.0, errors)
    assert (passage[:2], any(passage[2:5]), face) == ((0.0, 1.0), False, UNDECIDED_FACE)
    assert is_outside(window, Shape.CYLINDER, 0.1, 0.0, errors)
    assert not is_outside(window, UNKNOWN, 0.1, 0.0, errors)
    assert near_squared(UNKNOWN, 1.0, 1.0, 0.0) >= 4.0
    still = RelativeMotion(*[as_double_double(POINT)] * 4)
    assert np.isnan(face_value(still, 0.5, UNKNOWN, 0.1, 0.0, Face.SIDE)).all()


def test_exact_solids_clearances_and_pictures_raise():
    limbs, ray = LIMBS[Shape.CYLINDER], segment_numbers(np.zeros(3), np.array(POINT))
    table, one = limbs._table, np.ones(1)
    kind = np.array([UNKNOWN], np.int8)
    other = table._replace(kind=kind, kernel_shape=kind)
    for question in (
        lambda: axial_bounds(UNKNOWN, nan),
        lambda: clearance_of(ray, other, 0),
        lambda: profile(UNKNOWN, one, one, one, 12),
        lambda: unit_mesh("unknown", 12),
        lambda: outlines(type(limbs)(other, limbs.hit_group, limbs.names)),
    ):
        with pytest.raises((KeyError, ValueError), match=rf"^{UNKNOWN}|unknown"):
            question()
    with pytest.raises(TypeError, match=r"Ellipsoid has no exact growth: kernels/traits\.py must call"):
        grown_by(Ellipsoid(POINT, (0.0, 0.0, 0.0), 1.0), 0.1)


def test_boxes_name_a_shape_without_farthest_point(monkeypatch):
    """One that has a kernel and an exact solid already."""
    monkeypatch.setattr("cylcollide.query.farthest.BETWEEN_RIMS", ())
    box = np.hstack([np.eye(3).reshape(1, 9), np.ones((1, 3))])
    with pytest.raises(KeyError, match=r"CYLINDER: no farthest point; `query\.farthest` must have one"):
        touching(np.zeros((1, 3)), box, LIMBS[Shape.CYLINDER]._table)


def test_traits_are_in_the_order_of_codes_and_match_tables():
    assert [*TRAITS] == [*Shape]
    for shape, limbs in LIMBS.items():
        assert TRAITS[shape].has_axes == (len(limbs._table.boxes) > 0), shape
