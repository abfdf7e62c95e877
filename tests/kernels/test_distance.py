"""Bounds of signed distances, and nearest places in double-double, compared with 90 digits."""

from decimal import Decimal

import numpy as np
import pytest
from support.cases.near_points import any_limb, near_points
from support.oracle.nearest import signed_distance
from support.oracle.shapes.table import MAKERS

import cylcollide as cc
from cylcollide.constants import ROUNDING_BOUND
from cylcollide.exact.nearest import nearest
from cylcollide.kernels.distance import distance_bounds
from cylcollide.kernels.limb_table import limb_at, plain_limb
from cylcollide.kernels.nearest_place import nearest_place
from cylcollide.kernels.places_of_eight import places_on_cylinders
from cylcollide.query.exact_fallback import exact_limb
from cylcollide.query.loops.packets import one_limb
from cylcollide.runtime.simd import LANES

pytestmark = [pytest.mark.plain_python, pytest.mark.coverage]

FAR = (0.0, 1.0, 1e3)


def ulp_of(*vectors):
    """One ulp of the largest coordinate."""
    return float(np.spacing(np.abs(np.concatenate([np.ravel(v) for v in vectors])).max()))


def eight_of(point, limbs):
    """`places_on_cylinders` with the same point and cylinder in all 8 lanes."""
    lanes = tuple(np.full(LANES, float(x)) for x in point)
    return places_on_cylinders(lanes, one_limb(limbs._table.rows, cc.Shape.CYLINDER, 0))


def limb_of(limbs):
    """The only limb, as kernels take it."""
    return plain_limb(limbs._table, 0)


@np.errstate(all="ignore")
@pytest.mark.parametrize("power", [-3, 1, 3])
def test_bounds_of_needles_and_sheets_hold(power):
    """Near an ellipsoid with very different half axes the search for the nearest place ends early."""
    rng, n, open_, outside = np.random.default_rng([5, power + 3]), 30, 0, 0
    for _ in range(n):
        axis, centre = rng.normal(size=(2, 3))
        limbs = cc.Limbs.ellipsoids(centre - axis, centre + axis, np.linalg.norm(axis) * 10.0**-power)
        # a place of the surface, and a point above it
        w, side = axis / np.linalg.norm(axis), np.cross(axis, rng.normal(size=3))
        h, r, (c, s) = np.linalg.norm(axis), limbs.radius[0], np.array([0.0, 1.0]) + rng.uniform(0, 1, 2) * [1.0, -0.5]
        size, side = np.hypot(c, s), side / np.linalg.norm(side)
        normal = r * c * w + h * s * side
        height = min(h, r) * 10.0 ** rng.uniform(-12, 0) / np.linalg.norm(normal)
        point = centre + (h * c * w + r * s * side) / size + rng.choice([1.0, 1.0, -0.1]) * height * normal
        lower, upper = distance_bounds(tuple(point.tolist()), limb_of(limbs))
        true = signed_distance(limbs, 0, point)
        assert lower <= true <= upper, (limbs, point, float(true))
        open_, outside = open_ + (lower <= 0.0 <= upper), outside + (true > 0)
    assert outside > n // 3
    assert open_ < n


@np.errstate(all="ignore")
@pytest.mark.parametrize("count", [2, pytest.param(300, marks=pytest.mark.long)])
@pytest.mark.parametrize("shape", MAKERS)
def test_bounds_are_close_and_certain_places_nearest_to_a_few_ulp(shape, count, record_property):
    rng, used, wide, worst, certain, tried = np.random.default_rng(20261125), 0.0, 0, 0.0, 0, 0
    for far in FAR:
        limbs = any_limb(shape, rng, far)
        limb = limb_of(limbs)
        for point in near_points(limbs, rng, count):
            true, tried = signed_distance(limbs, 0, point), tried + 1
            lower, upper = distance_bounds(tuple(point.tolist()), limb)
            delta = ROUNDING_BOUND * (np.abs(point).max() + limb.extent)
            assert lower <= true <= upper, (limbs, point, float(true))
            middle = (Decimal(float(lower)) + Decimal(float(upper))) / 2
            used, wide = max(used, abs(float(true - middle)) / delta), wide + (upper - lower > 3 * delta)
            place = nearest_place(tuple(point.tolist()), limb)
            if place.certain:
                ulp = ulp_of(point, limbs.p1, limbs.p2, place.position)
                assert place.distance * float(true) > 0.0
                off = [float(Decimal(float(place.distance)) - true), float(signed_distance(limbs, 0, place.position))]
                way = point.astype(np.longdouble) - np.array(place.position)
                off.append(float(np.sqrt(way @ way)) - abs(float(true)))
                worst = max(worst, *np.abs(off) / max(ulp, np.spacing(abs(float(true)))))
                assert np.linalg.norm(place.normal) == pytest.approx(1.0, abs=4e-16)
                if abs(place.distance) > 1e-6:
                    assert np.array(way, float) == pytest.approx(place.distance * np.array(place.normal), abs=8 * ulp)
                certain += 1
    record_property("share of the rounding bound used", float(used))
    record_property("worst error in ulp", float(worst))
    assert wide <= tried // 10
    assert worst <= 4.0
    assert certain >= 0.5 * tried == 3.5 * count * len(FAR)


def test_products_out_of_range_are_left_to_exact_arithmetic():
    limbs = cc.Limbs.cylinders([[0, 0, 0]], [[0, 0, 1e-20]], 1e-18)
    assert distance_bounds((1.0, 0.0, 0.0), limb_of(limbs)) == (-np.inf, np.inf)
    assert not nearest_place((1.0, 0.0, 0.0), limb_of(limbs)).certain
    assert not eight_of((1, 0, 1), limbs)[0].any()
    assert not eight_of((1e21, 0, 2), cc.Limbs.cylinders(*UP, 1.0))[0].any()
    assert not nearest_place((1e30, 0.0, 0.0), plain_limb(cc.Limbs.spheres([[0, 0, 0]], 1.0)._table, 0)).certain


@np.errstate(all="ignore")
def test_places_of_points_beside_the_axis_are_on_the_surface():
    """Outside a tube's mouth the nearest place is on the rim of its bore; a direction along the axis would leave it."""
    rng, found, worst = np.random.default_rng(17), 0, Decimal(0)
    for way in np.round(8.0 * rng.normal(size=(150, 3))) / 8.0 + 0.125:  # axes through the origin
        size = float(np.abs(way).max())
        limbs = cc.Limbs.tubes(-way, -4.0 * way, 2.5 * size, 2.0 * size)
        point = tuple((size * rng.normal(size=3) * 10.0 ** rng.uniform(-17, -15)).tolist())
        place = nearest_place(point, limb_of(limbs))
        if place.certain:
            off = signed_distance(limbs, 0, place.position) / Decimal(ulp_of(point, place.position))
            found, worst = found + 1, max(worst, abs(off))
    assert found > 75
    assert worst <= 4


UP = [[0, 0, 0]], [[0, 0, 4]]  # an axis from p1 to p2
CUBE = cc.Limbs.boxes([[0, 0, 0]], [0, 0, 0, 1], [1.0, 1.0, 1.0])
BRICK = cc.Limbs.boxes([[0, 0, 0]], [0, 0, 0, 1], [1.0, 2.0, 3.0])
CASES = [  # limb, point, distance, position, normal, face
    (cc.Limbs.cylinders(*UP, 1.0), (3, 0, 1), 2, (1, 0, 1), (1, 0, 0), "SIDE"),
    (cc.Limbs.cylinders(*UP, 1.0), (4, 0, 8), 5, (1, 0, 4), (0.6, 0, 0.8), "CAP2"),
    (cc.Limbs.cylinders(*UP, 1.0), (3, 0, 0), 2, (1, 0, 0), (1, 0, 0), "CAP1"),  # the rim belongs to the cap
    (cc.Limbs.cylinders(*UP, 1.0), (0.5, 0, 2), -0.5, (1, 0, 2), (1, 0, 0), "SIDE"),
    (cc.Limbs.cylinders(*UP, 1.0), (0, 0, 0.5), -0.5, (0, 0, 0), (0, 0, -1), "CAP1"),
    (cc.Limbs.tubes(*UP, 2.0, 1.0), (0.5, 0, 2), 0.5, (1, 0, 2), (-1, 0, 0), "BORE"),
    (cc.Limbs.tubes(*UP, 2.0, 1.0), (1.25, 0, 2), -0.25, (1, 0, 2), (-1, 0, 0), "BORE"),
    (cc.Limbs.tubes(*UP, 2.0, 1.0), (1.75, 0, 2), -0.25, (2, 0, 2), (1, 0, 0), "SIDE"),
    (cc.Limbs.tubes(*UP, 5.0, 4.0), (1, 0, 8), 5, (4, 0, 4), (-0.6, 0, 0.8), "CAP2"),
    (cc.Limbs.tapered_cylinders(*UP, 5.0, 2.0), (0, 9, -3), 5, (0, 5, 0), (0, 0.8, -0.6), "CAP1"),
    (cc.Limbs.tapered_cylinders(*UP, 5.0, 2.0), (0, 2, 5), 1, (0, 2, 4), (0, 0, 1), "CAP2"),
    (cc.Limbs.tapered_cylinders(*UP, 5.0, 2.0), (0, 7.5, 4), 4.4, (0, 3.98, 1.36), (0, 0.8, 0.6), "SIDE"),
    (cc.Limbs.cones(*UP, 3.0), (0, 0, 6), 2, (0, 0, 4), (0, 0, 1), "CAP2"),
    (cc.Limbs.cones(*UP, 3.0), (0, 3, 8), 5, (0, 0, 4), (0, 0.6, 0.8), "CAP2"),
    (cc.Limbs.capsules(*UP, 1.0), (0, 3, 0), 2, (0, 1, 0), (0, 1, 0), "CAP1"),
    (cc.Limbs.capsules(*UP, 1.0), (0, 0.5, 2), -0.5, (0, 1, 2), (0, 1, 0), "SIDE"),
    (cc.Limbs.capsules(*UP, 1.0), (0, 3, 8), 4, (0, 0.6, 4.8), (0, 0.6, 0.8), "CAP2"),
    (cc.Limbs.spheres([[1, 0, 0]], 1.0), (1, 0, 0.5), -0.5, (1, 0, 1), (0, 0, 1), "SIDE"),
    (cc.Limbs.ellipsoids(*UP, 1.0), (0, 0, 7), 3, (0, 0, 4), (0, 0, 1), "SIDE"),
    (cc.Limbs.ellipsoids(*UP, 1.0), (3, 0, 2), 2, (1, 0, 2), (1, 0, 0), "SIDE"),
    (cc.Limbs.ellipsoids(*UP, 4.0), (5, 0, 2), 1, (4, 0, 2), (1, 0, 0), "SIDE"),
    (BRICK, (1, 3, 0), 1, (1, 2, 0), (0, 1, 0), "POS_X"),  # an edge belongs to the lowest face
    (BRICK, (-4, 6, 0), 5, (-1, 2, 0), (-0.6, 0.8, 0), "NEG_X"),
    (BRICK, (0.25, -1.5, 0), -0.5, (0.25, -2, 0), (0, -1, 0), "NEG_Y"),
    (CUBE, (0, 0, 0), -1, (-1, 0, 0), (-1, 0, 0), "NEG_X"),
    (CUBE, (0.5, 0.5, -0.5), -0.5, (1, 0.5, -0.5), (1, 0, 0), "POS_X"),
]


@np.errstate(all="ignore")
def test_cylinders_in_lanes_have_the_bits_of_one():
    rng, faces, tried = np.random.default_rng(20261126), [], 0
    for far in FAR:
        limbs = any_limb("cylinder", rng, far)
        points = near_points(limbs, rng, 2 * LANES)
        inside = limbs.p1 + rng.random((2 * LANES, 1)) * (limbs.p2 - limbs.p1) + 1e-3 * rng.normal(size=(2 * LANES, 3))
        for eight in np.concatenate([points, inside]).reshape(-1, LANES, 3):
            limb = one_limb(limbs._table.rows, cc.Shape.CYLINDER, 0)
            certain, distance, position, normal, face = places_on_cylinders(tuple(eight.T), limb)
            for k in np.flatnonzero(certain).tolist():
                place = nearest_place(tuple(eight[k].tolist()), limb_of(limbs))
                one = distance[k], tuple(x[k] for x in position), tuple(x[k] for x in normal), face[k]
                assert place == (True, *one)
                faces.append((cc.Face(int(face[k])), bool(place.distance < 0.0)))
            tried += LANES
    assert len(set(faces)) == 6  # 3 faces, each from outside and from within
    assert tried // 2 < len(faces) < tried


@np.errstate(all="ignore")
@pytest.mark.parametrize("case", CASES)
def test_places_solved_by_hand(case):
    limbs, point, distance, position, normal, face = case
    place = nearest_place(tuple(map(float, point)), limb_of(limbs))
    assert (place.certain, cc.Face(int(place.face)).name) == (True, face)
    assert (place.distance, *place.position, *place.normal) == pytest.approx((distance, *position, *normal), abs=1e-15)


TURN = [0.1, 0.2, 0.3, 0.9]
TILTED = [[0, 0, 0]], [[1, 1, 1]]
TURNED = cc.Limbs.boxes([[0, 0, 0]], TURN, [1.0, 1.0, 1.0])
ALONG_X = [[0, 0, 0]], [[4, 0, 0]]
SKEWED = [[0.1, 0.2, 0.3]], [[0.7, 0.5, 1.2]]
HALFWAY = np.sum(SKEWED, axis=(0, 1)) / 2  # beside the axis, by rounding
SPECIAL = [  # points with equally near places, on a surface, or so near an axis that rounding matters
    (cc.Limbs.cylinders(*UP, 1.0), (0.5, 0, 0)),
    (cc.Limbs.cylinders(*UP, 1.0), (0.5, 0.25, 4)),
    (cc.Limbs.cylinders(*UP, 1.0), (0, 0, 2)),
    (cc.Limbs.cylinders(*ALONG_X, 1.0), (2, 0, 0)),
    (cc.Limbs.cylinders(*TILTED, 0.25), (0.5, 0.5, 0.5)),
    (cc.Limbs.cylinders(*TILTED, 0.25), (1, 1, 1)),
    (cc.Limbs.cylinders(*SKEWED, 0.25), SKEWED[0][0]),
    (cc.Limbs.cylinders(*SKEWED, 0.25), HALFWAY),
    (cc.Limbs.tubes(*UP, 2.0, 1.0), (0, 0, 2)),
    (cc.Limbs.tubes(*UP, 2.0, 1.0), (0, 1.5, 0)),
    (cc.Limbs.tubes(*UP, 2.0, 1.0), (0, 0, 0)),
    (cc.Limbs.tubes(*SKEWED, 0.25, 0.125), HALFWAY),
    (cc.Limbs.tapered_cylinders(*UP, 5.0, 2.0), (0, 3, 0)),
    (cc.Limbs.tapered_cylinders(*UP, 1.0, 0.5), (0, 0, 2)),
    (cc.Limbs.tapered_cylinders(*SKEWED, 0.25, 0.125), HALFWAY),
    (cc.Limbs.cones(*UP, 3.0), (0, 0, 4)),
    (cc.Limbs.cones(*UP, 3.0), (0, 0, 0)),
    (cc.Limbs.capsules(*UP, 1.0), (0, 0, 0)),
    (cc.Limbs.capsules(*UP, 1.0), (0, 0, 4)),
    (cc.Limbs.capsules(*TILTED, 1.0), (1, 1, 1)),
    (cc.Limbs.capsules(*SKEWED, 1.0), HALFWAY),
    (cc.Limbs.spheres([[1, 0, 0]], 1.0), (1, 0, 0)),
    (cc.Limbs.ellipsoids(*UP, 1.0), (0, 0, 2)),
    (cc.Limbs.ellipsoids(*UP, 1.0), (0, 0, 0)),
    (cc.Limbs.ellipsoids(*UP, 1.0), (0, 0, 4)),
    (cc.Limbs.ellipsoids(*UP, 1.0), (0, 0, 3.75)),
    (cc.Limbs.ellipsoids(*UP, 3.0), (0, 0, 1.5)),
    (cc.Limbs.ellipsoids(*TILTED, 0.25), (1, 1, 1)),
    (CUBE, (1, 0.5, 0)),
    (CUBE, (0, 1, -1)),
    (BRICK, (0.5, 0.5, -3)),
    (cc.Limbs.boxes([[0, 0, 0]], TURN, [1.0, 2.0, 3.0]), (0, 0, 0)),
]


@np.errstate(all="ignore")
@pytest.mark.parametrize("case", SPECIAL)
def test_special_points_have_exact_places_without_exact_arithmetic(case):
    limbs, given = case
    point = tuple(float(x) for x in given)
    place, (distance, position, normal, face) = (
        nearest_place(point, limb_of(limbs)),
        nearest(exact_limb(limbs._table, 0), point),
    )
    assert place.certain
    assert (place.distance, cc.Face(int(place.face))) == (pytest.approx(distance, abs=1e-16), face)
    assert place.position == pytest.approx(position, abs=1e-9 if given is HALFWAY else 3e-16)
    assert place.normal == pytest.approx(normal, abs=1e-9 if given is HALFWAY else 3e-16)
    ulp = Decimal(ulp_of(point, place.position))
    assert abs(signed_distance(limbs, 0, place.position)) <= 4 * ulp
    assert abs(np.linalg.norm(np.subtract(place.position, point)) - abs(place.distance)) <= 4 * ulp


OPEN = [  # cases that rounding could reverse
    (cc.Limbs.cylinders(*UP, 1.0), (1, 0, 2)),  # on the surface
    (cc.Limbs.cylinders(*UP, 1.0), (0, 0, 1)),  # wall and cap equally near
    (cc.Limbs.cylinders(*UP, 1.0), (0.5, 0, 3.5)),
    (cc.Limbs.cylinders(*TILTED, 0.1), (1, 1, -2)),  # perhaps in a cap's plane
    (cc.Limbs.cylinders(*TILTED, 0.1), (2, 2, -1)),
    (cc.Limbs.cylinders([[0, 0, 0]], [[75, 100, 0]], 5.0), (59, 87, 0)),  # perhaps on the wall
    (cc.Limbs.tapered_cylinders(*UP, 5.0, 2.0), (0, 9, 3)),  # perhaps the rim
    (cc.Limbs.tubes(*UP, 2.0, 1.0), (0, 1.5, 2)),
    (cc.Limbs.cylinders([[0, 0, 0]], [[1, 1e-70, 0]], 0.25), (0.5, 5e-71, 0)),  # no float64 direction across
    (cc.Limbs.cylinders(*UP, 1.0), (1e-25, 0, 2)),  # next to the axis
    (cc.Limbs.cylinders(*UP, 1.0), (0.5, 0, -1e-28)),  # next to a cap
    (cc.Limbs.capsules(*TILTED, 0.1), (1, 1, -2)),
    (cc.Limbs.spheres([[1, 0, 0]], 1.0), (1, 1, 0)),
    (cc.Limbs.ellipsoids(*UP, 1.0), (0, 0, 1)),
    (cc.Limbs.ellipsoids(*UP, 3.0), (0, 0, 2)),
    (cc.Limbs.ellipsoids(*UP, 1.0), (0, 1, 2)),
    (cc.Limbs.ellipsoids(*UP, 4.0), (1, 0, 2)),
    (TURNED, (0, 0, 0)),
    (cc.Limbs.boxes([[0, 0, -1]], [0, 0, 0, 1], [2, 2, 1]), (0.5, 0.25, 1e-99)),  # its square is no float64
    (TURNED, TURNED.box_axes[0, 0] + 3.0 * TURNED.box_axes[0, 1]),  # in the plane of a face
]


@np.errstate(all="ignore")
@pytest.mark.parametrize("case", OPEN)
def test_cases_near_ties_are_uncertain(case):
    limbs, point = case
    assert not nearest_place(tuple(map(float, point)), limb_of(limbs)).certain
    if limbs.kind[0] == cc.Shape.CYLINDER:
        assert not eight_of(point, limbs)[0].any()
    true, (lower, upper) = signed_distance(limbs, 0, point), distance_bounds(point, limb_of(limbs))
    assert lower <= true <= upper


def test_numbers_of_numpy_give_the_same_place():
    """Loops in plain Python read them from the table: the sum of two of numpy's truths is a truth, not 2."""
    table, point = cc.Limbs.boxes([0, 0, 0], [0, 0, 0, 1], [1, 1, 1])._table, (0.5, 0.5, 0.0)
    place = nearest_place(point, limb_at(table.rows, table.kernel_shape, 0))
    assert place.certain
    assert place == nearest_place(point, plain_limb(table, 0))
