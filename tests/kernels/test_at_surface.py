"""Bounds of hits of segments with ends on surfaces and given sides, compared with exact arithmetic."""

from collections import Counter
from fractions import Fraction
from itertools import islice
from math import inf

import numpy as np
import pytest
from support.cases.near_points import any_limb, near_points
from support.cases.thick_rays import BOUNDED
from support.oracle.shapes.table import MAKERS
from support.oracle.thick import distance

import cylcollide as cc
from cylcollide._types import POLICY_CODES, RayNumbers
from cylcollide.exact.line import segment_numbers
from cylcollide.exact.order import hit_time, limb_chords
from cylcollide.exact.thick import grown_by
from cylcollide.kernels.at_surface import INSIDE, LEAVING, OUTSIDE, UNKNOWN, WITHIN, level_side, settled_bounds
from cylcollide.kernels.box import box_axes
from cylcollide.kernels.double_double import vector_difference
from cylcollide.kernels.level import beyond
from cylcollide.kernels.limb_table import plain_limb
from cylcollide.kernels.nearest_place import nearest_place
from cylcollide.kernels.ray import make_ray
from cylcollide.kernels.thick_surface import beyond_reach
from cylcollide.query.exact_fallback import exact_limb

pytestmark = [pytest.mark.plain_python, pytest.mark.coverage]


def triple(vector):
    return tuple(float(x) for x in vector)


def side_of(point, towards, solid):
    """The exact side of a point: LEAVING if the ray from there towards another point misses the solid."""
    if limb_chords(segment_numbers(point, point), solid):
        return INSIDE
    ahead = limb_chords(RayNumbers(triple(point), triple(towards), True, inf), solid)
    return OUTSIDE if ahead else LEAVING


def segments(limbs, rng, radius, count):
    """Segments between two rounded points of the grown surface, or between such a point and any other point."""
    points = []
    for point in near_points(limbs, rng, count):
        place = nearest_place(triple(point), plain_limb(limbs._table, 0))
        if place.certain:
            points.append(np.array(place.position) + radius * np.array(place.normal))
    others = rng.permutation(points)
    for k, (one, other) in enumerate(zip(points, others, strict=True)):
        far = other if k % 3 == 0 else one + rng.normal(size=3)
        yield (far, one) if k % 3 == 1 else (one, far)


@np.errstate(all="ignore")
@pytest.mark.parametrize("radius", [0.0, 0.3])
@pytest.mark.parametrize("shape", MAKERS)
def test_bounds_hold_for_any_sides(shape, radius):
    rng, seen = np.random.default_rng(6), Counter()
    limbs = any_limb(shape, rng, 1.0)
    solid, limb = exact_limb(limbs._table, 0), plain_limb(limbs._table, 0)
    is_bounded = radius > 0.0 and shape in BOUNDED
    grown = solid if radius == 0.0 or is_bounded else grown_by(solid, radius)
    for start, end in islice(segments(limbs, rng, radius, 4), 4 if radius else None):
        ray = make_ray(triple(start), triple(end - start), True, inf, radius)
        displacement = vector_difference(triple(end), triple(start))
        first, *_ = [*limb_chords(segment_numbers(start, end), grown), None]
        sides = side_of(start, end, grown), side_of(end, start, grown)
        less = tuple(OUTSIDE if side == LEAVING else side for side in sides)
        for inside, policy in POLICY_CODES.items():
            before = settled_bounds(ray, displacement, limb, policy, (UNKNOWN, UNKNOWN))
            if is_bounded:  # without an exact solid: sides by distance
                gaps = distance(limbs, np.array([start, end], np.longdouble)) - radius
                sides = tuple(UNKNOWN if abs(gap) < 1e-15 else WITHIN if gap < 0 else OUTSIDE for gap in gaps)
                bounds = settled_bounds(ray, displacement, limb, policy, sides)
                assert not bounds.inside or gaps[0] < 0
                assert bounds.possible or inside != "hit" or (gaps > 0).all()
                assert bounds.certain or not before.certain
                continue
            time, started = (None, False) if first is None else (hit_time(first, inside), first.started_inside)
            for known in (sides, less, (sides[0], UNKNOWN), (UNKNOWN, sides[1])):
                bounds = settled_bounds(ray, displacement, limb, policy, known)
                assert started or not bounds.inside
                if bounds.certain:
                    metres = time.double_double()[0] * ray.length
                    assert bounds.lower * (1.0 - 1e-15) <= metres <= bounds.upper * (1.0 + 1e-15)
                elif not bounds.possible:
                    assert (time, started) == (None, bounds.inside)
                seen["decided" if bounds.certain or not bounds.possible else "open"] += known == sides
            seen["decided before"] += before.certain or not before.possible
    assert is_bounded or seen["decided"] > seen["open"]
    assert is_bounded or seen["decided"] > 1.5 * seen["decided before"]


@np.errstate(all="ignore")
def test_slabs_parallel_to_a_ray_are_exact():
    """Rays in or one ulp beside the planes of faces of axis-aligned boxes: decided, and equal to exact arithmetic."""
    rng, seen = np.random.default_rng(7), Counter()
    for _ in range(150):
        centre, half, is_tilted = rng.normal(size=3), 10.0 ** rng.uniform(-3, 1, 3), rng.random() < 0.2
        if rng.random() < 0.5:  # exact sums
            centre, half = np.round(8.0 * centre) / 8.0, np.ceil(8.0 * half) / 8.0
        turn = np.zeros(4)
        turn[rng.permutation(4)[: rng.choice([1, 2, 4])]] = 1.0
        limbs = cc.Limbs.boxes(centre, turn * rng.choice([-1, 1], 4) + 1e-20 * is_tilted, half)
        limb = plain_limb(limbs._table, 0)
        reach = np.abs(np.array(box_axes(limb)[0])).round().T @ half
        start, end = centre - 3.0 * reach * rng.choice([-1, 1], 3), centre + 3.0 * reach * rng.uniform(-1, 1, 3)
        for k in rng.permutation(3)[: rng.integers(1, 3)]:
            start[k] = end[k] = centre[k] + rng.choice([-1, 1]) * reach[k] * rng.choice([1.0, 1.0, 0.5])
            start[k] = end[k] = np.nextafter(start[k], rng.choice([-inf, start[k], inf]))
        ray = make_ray(triple(start), triple(end - start), True, inf, 0.0)
        displacement = vector_difference(triple(end), triple(start))
        bounds = settled_bounds(ray, displacement, limb, POLICY_CODES["hit"], (UNKNOWN, UNKNOWN))
        is_hit = bool(limb_chords(segment_numbers(start, end), exact_limb(limbs._table, 0)))
        assert is_hit if bounds.certain else bounds.possible or not is_hit
        seen["open" if bounds.possible and not bounds.certain else is_hit] += not is_tilted
    assert seen[True] > 20 < seen[False]
    assert seen["open"] < 30


@pytest.mark.parametrize("radius", [0.0, 0.2])
def test_sides_next_to_level_faces_are_those_of_distances(radius: float):
    """Balls around a box, a yawed box and a cylinder, also next to edges and corners, where nothing is claimed."""
    rng, seen = np.random.default_rng(6), set[int]()
    for limbs in (
        cc.Limbs.boxes([0, 0, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5]),
        cc.Limbs.boxes([0, 0, 0], [0, 0, 0.28, 0.96], [0.5, 0.5, 0.5]),
        cc.Limbs.cylinders([0, -0.5, 0], [0, 0.5, 0], 0.5),
    ):
        points, ways = rng.uniform(-0.8, 0.8, (300, 3)), rng.normal(size=(300, 3))
        distance = limbs[np.zeros(300, int)].closest_points(points).distance
        for point, way, off in zip(points.tolist(), ways.tolist(), distance.tolist(), strict=True):
            side, _ = level_side(tuple(point), tuple(way), radius, plain_limb(limbs._table, 0))
            seen.add(side)
            assert side == UNKNOWN or (side >= INSIDE) == (off <= radius), (point, off)
    assert seen == {OUTSIDE, LEAVING, WITHIN} | ({UNKNOWN} if radius else set())


def test_side_of_a_face_equals_rational_arithmetic():
    """Sums that cancel almost or completely, at any scale."""
    rng, signs = np.random.default_rng(4), set[int]()
    for _ in range(1000):
        size = 10.0 ** rng.uniform(-20, 20)
        face = size * rng.normal(), size * rng.normal() * 2.0 ** -rng.integers(0, 80)
        radius = abs(size * rng.normal()) * 2.0 ** -rng.integers(0, 80)
        height = float(Fraction(radius) - Fraction(face[0]) - Fraction(face[1])) + rng.integers(-1, 2) * 5e-324
        exact = Fraction(height) + Fraction(face[0]) + Fraction(face[1]) - Fraction(radius)
        found = float(beyond(height, face, radius))
        assert (found > 0) - (found < 0) == (exact > 0) - (exact < 0), (height, face, radius)
        signs.add((exact > 0) - (exact < 0))
    for whole in range(-9, 10):
        assert beyond(whole + 0.25, (-float(whole), -1.0), -0.75) == 0.0
    assert signs >= {-1, 1}


@pytest.mark.parametrize("shape", ["box", "capsule", "cylinder", "sphere"])
def test_beyond_reach_has_the_sign_of_the_distance_less_the_radius(shape: str):
    """Balls that touch up to rounding, where the distance in float64 has no sign: compared with exact arithmetic."""
    rng, seen, radius = np.random.default_rng(8), Counter(), 0.3
    limbs = any_limb(shape, rng, 1.0)
    grown, limb = grown_by(exact_limb(limbs._table, 0), radius), plain_limb(limbs._table, 0)
    for point in near_points(limbs, rng, 4):
        place = nearest_place(triple(point), limb)
        if place.certain:
            centre = triple(np.array(place.position) + radius * np.array(place.normal))
            excess = beyond_reach(centre, limb, radius)
            if abs(excess) > 1e-20:
                seen[excess > 0.0] += 1
                assert (excess <= 0.0) == bool(limb_chords(segment_numbers(centre, centre), grown))
    assert min(seen[True], seen[False]) > 5
