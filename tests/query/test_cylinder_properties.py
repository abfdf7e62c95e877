"""Laws that hold for every limb and every segment."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.check_cylinders import FIELDS, same_bits
from support.hypothesis.cylinders import Case, SurfacePoint, axes, cases, exact_cases, points, side_points

import cylcollide as cc

F = cc.Face
SWAPPED = {F.CAP1: F.CAP2, F.CAP2: F.CAP1}
LENGTHS = {"distance", "position", "exit_distance", "exit_position", "thickness"}


def limb_of(case: Case) -> cc.Limbs:
    return cc.Limbs.cylinders([case.p1], [case.p2], [case.radius])


def cast(case: Case, inside: str = "hit") -> cc.RayHits:
    return limb_of(case).cast_segments([case.start], [case.end], inside=inside)


def ulp(*cases: Case) -> float:
    """Return one ulp of the largest coordinate; hit points lie between start and end."""
    return math.ulp(max(np.abs([c.p1, c.p2, c.start, c.end]).max() for c in cases))


@given(side_points())
def test_a_point_of_the_side_nudged_in_and_out(s: SurfacePoint):
    limb = cc.Limbs.cylinders([s.p1], [s.p2], [s.radius])
    outward = math.copysign(math.inf, s.offset)
    nudged = []
    for towards in (-outward, None, outward):
        point = s.point.copy()
        if towards is not None:
            point[s.across] = np.nextafter(point[s.across], towards)
        nudged.append(point)
    assert limb.classify_points(nudged).tolist() == [cc.Side.INSIDE, cc.Side.SURFACE, cc.Side.OUTSIDE]
    far = np.array(nudged)
    far[:, s.across] += 4 * s.offset
    hits = limb.cast_segments(far, nudged)
    assert hits.hit.tolist() == [True, True, False]
    assert hits.fraction[1] == 1.0
    assert hits.face[:2].tolist() == [F.SIDE, F.SIDE]


@given(cases)
def test_reversal_swaps_entry_and_exit(case: Case):
    forth = cast(case)
    back_case = case._replace(start=case.end, end=case.start)
    back = cast(back_case)
    assert forth.hit[0] == back.hit[0]
    if not forth.hit[0]:
        return
    bound = 8 * ulp(case)
    assert np.abs(forth.position - back.exit_position).max() <= bound
    assert np.abs(forth.exit_position - back.position).max() <= bound
    assert forth.thickness[0] == pytest.approx(back.thickness[0], abs=64 * ulp(case))
    outside = limb_of(case).classify_points([case.start, case.end]) == cc.Side.OUTSIDE
    assert forth.started_inside[0] == (not outside[0])
    if outside.all():
        assert forth.face[0] == back.exit_face[0]
        assert forth.exit_face[0] == back.face[0]
    # An end strictly inside has no surface to name; one on the surface names it only where the line leaves there.
    inside = limb_of(case).classify_points([case.start, case.end]) == cc.Side.INSIDE
    assert not inside[1] or forth.exit_face[0] == F.INSIDE
    assert not inside[0] or back.exit_face[0] == F.INSIDE


@given(cases, st.integers(-60, 60), st.sampled_from(["hit", "exit", "ignore"]))
def test_a_power_of_two_leaves_everything_but_lengths(case: Case, power: int, inside: str):
    factor = 2.0**power
    one, two = cast(case, inside), cast(case.scaled(factor), inside)
    for name in FIELDS:
        x, y = getattr(one, name), getattr(two, name)
        assert np.array_equal(x * factor if name in LENGTHS else x, y, equal_nan=x.dtype.kind == "f"), name


@given(exact_cases, points, st.integers(0, 30), st.sampled_from(["hit", "exit", "ignore"]))
def test_moving_by_whole_steps_changes_no_verdict(case: Case, by: np.ndarray, power: int, inside: str):
    # Whole numbers below 2^53 are moved without rounding, so the solid and the segment stay the same.
    moved = case.moved(by * 2.0**power)
    one, two = cast(case, inside), cast(moved, inside)
    for name in ("hit", "limb", "face", "exit_face", "started_inside"):
        assert getattr(one, name)[0] == getattr(two, name)[0], name
    if one.hit[0]:
        bound = 8 * ulp(case, moved)
        assert np.abs(one.position + by * 2.0**power - two.position).max() <= bound
        assert np.abs(one.exit_position + by * 2.0**power - two.exit_position).max() <= bound
        assert np.abs(one.fraction - two.fraction).max() * np.abs(case.end - case.start).max() <= bound


@given(exact_cases, st.permutations([0, 1, 2]), st.tuples(*[st.sampled_from([-1.0, 1.0])] * 3))
def test_turning_by_right_angles_and_mirroring_changes_no_verdict(case: Case, order: list, signs: tuple):
    turned = Case(*(x if np.ndim(x) == 0 else x[order] * signs for x in case))
    one, two = cast(case), cast(turned)
    for name in ("hit", "face", "exit_face", "started_inside"):
        assert getattr(one, name)[0] == getattr(two, name)[0], name
    if one.hit[0]:
        assert np.abs(one.position[:, order] * signs - two.position).max() <= 8 * ulp(case)


@given(cases)
def test_turning_the_limb_round_swaps_its_caps(case: Case):
    one, two = cast(case), cast(case._replace(p1=case.p2, p2=case.p1))
    assert one.hit[0] == two.hit[0]
    for name in ("face", "exit_face"):
        assert SWAPPED.get(getattr(one, name)[0], getattr(one, name)[0]) == getattr(two, name)[0]
    if one.hit[0]:
        assert np.abs(one.position - two.position).max() <= 8 * ulp(case)


@given(cases, st.one_of(st.just(0.0), st.floats(0, 3)))
def test_a_grown_limb_is_hit_by_all_that_hit_it(case: Case, more: float):
    grown = case._replace(radius=np.nextafter(case.radius * (1 + more), math.inf))
    one, two = cast(case), cast(grown)
    assert two.hit[0] or not one.hit[0]
    if one.hit[0]:
        slack = 8 * ulp(case) / max(np.linalg.norm(case.end - case.start), 1e-300)
        assert two.fraction[0] <= one.fraction[0] + slack
        assert two.exit_fraction[0] >= one.exit_fraction[0] - slack
        assert two.started_inside[0] or not one.started_inside[0]


@given(cases)
def test_the_policies_are_three_views_of_one_chord(case: Case):
    hit, leave, ignore = (cast(case, inside) for inside in ("hit", "exit", "ignore"))
    assert hit.started_inside[0] == leave.started_inside[0] == ignore.started_inside[0]
    if not hit.started_inside[0]:
        assert not same_bits(hit, leave)
        assert not same_bits(hit, ignore)
        return
    assert hit.hit[0]
    assert hit.fraction[0] == 0.0
    assert hit.face[0] == F.INSIDE
    assert not hit.normal.any()
    assert np.array_equal(hit.position[0], case.start)
    assert not ignore.hit[0]
    assert leave.hit[0] == (hit.exit_face[0] != F.INSIDE)
    if leave.hit[0]:
        for name in ("fraction", "distance", "position", "normal", "face"):
            assert np.array_equal(getattr(leave, name), getattr(hit, f"exit_{name}")), name


@given(cases, st.lists(points, min_size=1, max_size=5))
def test_every_point_question_gets_one_answer(case: Case, more: list):
    limb = limb_of(case)
    asked = np.array([case.start, case.end, case.p1, case.p2, (case.p1 + case.p2) / 2, *more])
    side = limb.classify_points(asked)
    inside = side != cc.Side.OUTSIDE
    d2 = limb.axis_distance_squared(asked)
    assert np.array_equal(d2 >= 0, inside)
    assert (d2[~inside] == -1.0).all()
    assert (d2[inside] <= case.radius**2 * (1 + 1e-9) + 64 * ulp(case) ** 2).all()
    held = cc.HitWorld(limb).contains_points(asked)
    assert np.array_equal(held.limb, np.where(inside, 0, -1))
    assert np.array_equal(held.count, inside.astype(int))
    assert np.array_equal(held.axis_distance_squared, d2)
    assert np.array_equal(limb.cast_segments(asked, asked).hit, inside)
    assert np.array_equal(limb.cast_segments(asked, asked).started_inside, inside)
    assert not limb.cast_segments(asked, asked, inside="exit").hit.any()
    assert not limb.cast_segments(asked, asked, inside="ignore").hit.any()


@given(exact_cases)
def test_a_ray_is_a_segment_without_end(case: Case):
    # Differences of whole numbers are exact, so the ray's direction is the segment's.
    step = case.end - case.start
    if not step.any():
        return
    limb, bounded = limb_of(case), cast(case)
    free = limb.cast_rays([case.start], [step])
    assert free.started_inside[0] == bounded.started_inside[0]
    assert bounded.hit[0] == (free.hit[0] and free.fraction[0] <= 1.0)
    if bounded.hit[0]:
        assert free.face[0] == bounded.face[0]
        assert np.abs(free.position - bounded.position).max() <= 8 * ulp(case)
        if bounded.exit_face[0] != F.INSIDE:
            assert np.abs(free.exit_position - bounded.exit_position).max() <= 8 * ulp(case)
            assert free.exit_face[0] == bounded.exit_face[0]
        else:
            assert bounded.exit_fraction[0] == 1.0 <= free.exit_fraction[0]


@given(exact_cases, st.integers(1, 3))
def test_cutting_a_segment_in_two_loses_nothing(case: Case, quarters: int):
    middle = case.start + (case.end - case.start) * (quarters / 4)
    one, two = (cast(case._replace(start=a, end=b)) for a, b in ((case.start, middle), (middle, case.end)))
    whole = cast(case)
    assert whole.hit[0] == (one.hit[0] or two.hit[0])
    if whole.hit[0]:
        first = one if one.hit[0] else two
        assert np.abs(first.position - whole.position).max() <= 8 * ulp(case)


@given(st.lists(st.tuples(st.integers(0, 4), points), min_size=1, max_size=6), axes)
def test_limbs_met_at_one_point_go_to_the_lowest_index(rows: list, axis: int):
    """Equal copies of one limb among others: the first copy is credited, whatever stands between them."""
    p1 = np.array([[0, 0, 0]] + [p if kind else np.zeros(3) for kind, p in rows], dtype=float)
    p2 = p1 + np.eye(3)[axis] * 4
    order = np.roll(np.arange(len(p1)), 1)
    world = cc.HitWorld(cc.Limbs.cylinders(p1[order], p2[order], 2.0))
    starts = [np.roll(s, axis) for s in product([-30.0, -1.0, 30.0], [0.0, 1.0], [1.0, 2.0])]
    hits = world.cast_segments(starts, np.zeros_like(starts) + np.eye(3)[axis])
    same = [(world.limbs.p1[k] == world.limbs.p1).all(axis=1).argmax() if k >= 0 else -1 for k in hits.limb]
    assert hits.hit.all()
    assert hits.limb.tolist() == same
