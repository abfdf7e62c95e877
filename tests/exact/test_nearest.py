"""Nearest places in exact arithmetic, compared with an oracle of 90 digits; the order of squared distances."""

import math
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from support.cases.near_points import any_limb, near_points
from support.oracle.nearest import signed_distance
from support.oracle.shapes.table import MAKERS

import cylcollide as cc
from cylcollide.exact.algebraic import Algebraic, as_algebraic
from cylcollide.exact.ellipse import Ellipse
from cylcollide.exact.nearest import is_within, nearest, nearest_foot, nearest_solid
from cylcollide.exact.numbers import QuadraticNumber
from cylcollide.exact.shapes import Box, Capsule, Cylinder, Ellipsoid, Sphere, Tube
from cylcollide.query.exact_fallback import exact_limb

pytestmark = [pytest.mark.plain_python, pytest.mark.coverage]

LAST = Decimal(10) ** -75  # resolution of the oracle's squares


@pytest.mark.parametrize("count", [1, pytest.param(100, marks=pytest.mark.long)])
@pytest.mark.parametrize("shape", MAKERS)
def test_places_and_squares(shape: str, count: int):
    rng = np.random.default_rng(17)
    for far in (0.0, 100.0):
        limbs = any_limb(shape, rng, far)
        solid = exact_limb(limbs._table, 0)
        for point in near_points(limbs, rng, count):
            place, true = tuple(point.tolist()), signed_distance(limbs, 0, point)
            (distance, position, normal, _), square = nearest(solid, place), nearest_foot(solid, place).square()
            ulp = float(np.spacing(np.abs([point, limbs.p1[0], limbs.p2[0], position]).max()))
            assert abs(distance - float(true)) <= ulp
            assert np.sign(distance) == np.sign(float(true)) or abs(true) < LAST
            assert abs(signed_distance(limbs, 0, position)) <= 2 * ulp
            assert np.linalg.norm(normal) == pytest.approx(1.0, abs=4e-16)
            number = as_algebraic(square) if isinstance(square, QuadraticNumber) else square
            while not number.is_rational and number.bounds[1] - number.bounds[0] > Fraction(1, 10**70):
                number.refine()
            low = number.bounds[0]
            assert abs(Decimal(low.numerator) / low.denominator - true * true) <= true * true * LAST + LAST


def test_boxes_whose_axes_are_far_from_orthogonal():
    """The nearest place need not lie on the planes that the point is beyond: the test tries every set of planes."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        axes, half, point = rng.normal(size=(3, 3)), rng.uniform(0.1, 1.0, 3), 3.0 * rng.normal(size=3)
        box = Box((0.0, 0.0, 0.0), tuple(map(tuple, axes.tolist())), tuple(half.tolist()))
        if np.all(np.abs(axes @ point) <= half):
            continue
        least = np.inf
        for signs in product((0, -1, 1), repeat=3):
            active = np.flatnonzero(signs)
            planes, over = axes[active], axes[active] @ point - np.array(signs)[active] * half[active]
            place = point - np.linalg.pinv(planes) @ over if len(active) else point
            if np.all(np.abs(axes @ place) <= half + 1e-9):
                least = min(least, np.linalg.norm(place - point))
        assert nearest(box, tuple(point.tolist()))[0] == pytest.approx(least, rel=1e-9)


def test_order_of_roots_and_rationals():
    two, root = QuadraticNumber(2, 1), QuadraticNumber(0, 1, 1, 2)
    assert root.compare(two) < 0 < two.compare(root)
    assert as_algebraic(QuadraticNumber(1, 2, -1, 9)) == Fraction(-1)
    assert as_algebraic(root) == as_algebraic(QuadraticNumber(0, 2, 1, 8))
    assert as_algebraic(root).compare(root) == 0 == root.compare(as_algebraic(root))
    assert Algebraic.rational(Fraction(3, 2)).compare(root) > 0 > root.compare(Algebraic.rational(Fraction(3, 2)))


def test_points_on_the_axes_of_ellipses():
    """If two places are equally near, the squared distance is rational; beyond a centre of curvature one is nearest."""
    for a, b in ((25, 9), (9, 25)):
        for x in range(8):
            along = Ellipse(a, b, x * x, 0) if a > b else Ellipse(a, b, 0, x * x)
            assert (along.medial is not None) == (5 * x <= 16)
            number = along.squared_distance(4)
            assert number == (along.medial / 4 if along.medial is not None else Fraction((5 - x) ** 2, 4))
    assert Ellipse(4, 4, 0, 0).squared_distance(1) == 4
    assert Ellipse(4, 4, 9, 16).squared_distance(1) == 9
    almost_round = Ellipse(10**80 + 10**41, 10**80, 1, 1)  # the four feet have the same distance to 40 digits
    assert 10**80 - 22 * 10**39 < almost_round.squared_distance(1) < 10**80 - 20 * 10**39
    for radius, end, normal in ((1.0, (1.0, 0.0, 2.0), (1, 0, 0)), (3.0, (0.0, 0.0, 0.0), (0, 0, -1))):
        found = nearest(Ellipsoid((0.0, 0.0, 0.0), (0.0, 0.0, 4.0), radius), (0.0, 0.0, 2.0))
        assert found[1:3] == (end, normal)
    flat = nearest(Ellipsoid((0.0, 0.0, 0.0), (0.0, 0.0, 4.0), 4.0), (1.5, 0.0, 2.0))
    assert flat[1] == (2.0, 0.0, pytest.approx(2.0 - 3.0**0.5))
    assert nearest(Sphere((0.0, 0.0, 0.0), 1.0), (0.0, -1.0, 0.0)) == (0.0, (0, -1, 0), (0, -1, 0), cc.Face.SIDE)


@pytest.mark.parametrize("turn", [1, -1])
def test_points_at_the_edge_of_the_medial_disc(turn: int):
    """There the argument of a square root is 0 and may round below 0."""
    limbs = cc.Limbs.ellipsoids([2, 0, 2], [2, -2, 4], 2.0)
    found = limbs.closest_points([2 + turn, -1, 3])
    assert np.isfinite(found.distance).all()
    assert abs(limbs.closest_points(found.position).distance[0]) < 1e-15


def test_nearest_solid_and_is_within():
    balls = [Sphere((float(x), 0.0, 0.0), 1.0) for x in (4, -3, 3, 0)]
    assert nearest_solid((0.0, 0.0, 0.0), enumerate(balls[:3])) == 1
    assert nearest_solid((0.0, 0.0, 0.0), enumerate(balls)) == 3
    assert nearest_solid((1.0, 0.0, 0.0), [(5, balls[3]), (2, balls[2])]) == 5
    assert nearest_solid((0.0, 0.0, 0.0), []) == -1
    deep = [Sphere((0.0, 0.0, 0.0), 2.0), Sphere((0.0, 0.0, 0.5), 2.0), Sphere((0.0, 0.0, 0.0), 2.5)]
    assert [nearest_solid((0.0, 0.0, 1.0), enumerate(deep[:k])) for k in (1, 2, 3)] == [0, 1, 1]
    egg = Ellipsoid((0.0, 0.0, 2.0), (0.0, 0.0, 6.0), 1.0)
    for solid in (balls[2], egg):
        assert is_within(solid, (0.0, 0.0, 0.0), 2.0)
        assert not is_within(solid, (0.0, 0.0, 0.0), np.nextafter(2.0, 0.0))
        assert is_within(solid, (0.0, 0.0, 0.0), np.inf)
    assert is_within(egg, (0.0, 0.0, 2.0), 0.0)
    assert not is_within(egg, (0.0, 0.0, np.nextafter(2.0, 0.0)), 0.0)


def test_boxes_with_slightly_skewed_axes():
    """With more skew than rounding ever causes, the place is still the nearest of the solid that the axes define."""
    limbs = cc.Limbs.boxes([[0.5, 0, 0]], [1, 2, 3, 4], [1.0, 2.0, 3.0])
    skewed = limbs._table.boxes.copy()
    skewed[0, :9] += np.random.default_rng(2).normal(size=9) * 1e-3
    limbs = cc.Limbs(limbs._table._replace(boxes=skewed), limbs.hit_group, limbs.names)
    solid = exact_limb(limbs._table, 0)
    for point in np.random.default_rng(3).normal(size=(12, 3)) * 4.0:
        found = nearest(solid, tuple(point.tolist()))
        assert found[0] == pytest.approx(float(signed_distance(limbs, 0, point)), abs=1e-13)


@pytest.mark.parametrize("off", [2.0**-663, 5e-324])
@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("shape", ["sphere", "capsule", "cylinder", "rim", "ellipsoid", "bore"])
def test_normals_next_to_walls_along_a_tangent_line(shape: str, inside: bool, off: float):
    """Along a tangent line the distance to the wall is quadratic in the offset: about 1e-400 and less."""
    solid = {
        "sphere": Sphere((0.0, 0.0, 0.0), 4.0),
        "capsule": Capsule((0.0, 0.0, -3.0), (0.0, 0.0, 9.0), 4.0),
        "cylinder": Cylinder((0.0, 0.0, -3.0), (0.0, 0.0, 9.0), 4.0),
        "rim": Cylinder((0.0, 0.0, 0.0), (0.0, 0.0, 9.0), 4.0),
        "ellipsoid": Ellipsoid((0.0, 0.0, -4.0), (0.0, 0.0, 4.0), 4.0),
        "bore": Tube((0.0, 0.0, -3.0), (0.0, 0.0, 9.0), 8.0, 4.0),
    }[shape]
    if inside and shape == "rim":
        return  # no float64 is that near to a rim from within
    point = (math.nextafter(4.0, 0.0), 0.0, 0.0) if inside else (4.0, off, 0.0)
    distance, place, normal, _ = nearest(solid, point)
    outward = -1.0 if shape == "bore" else 1.0
    assert np.abs(np.array(place) - [4, 0, 0]).max() < 1e-15
    assert np.abs(np.array(normal) - [outward, 0, 0]).max() < 1e-15
    assert math.copysign(1.0, distance) == (-1.0 if inside != (shape == "bore") else 1.0)
