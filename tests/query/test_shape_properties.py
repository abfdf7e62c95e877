"""Laws that hold for every shape and every segment, and between the shapes."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from support.check_cylinders import FIELDS, same_bits
from support.hypothesis.shapes import (
    ShapeCase,
    any_case,
    cases,
    exact_case,
    exact_cases,
    points,
    round_cases,
    with_axis,
)
from support.oracle.lines import BOX, CAPSULE, CYLINDER, ELLIPSOID, SPHERE, TAPERED, TUBE
from support.oracle.shapes.table import SHAPE_ROWS

import cylcollide as cc

F = cc.Face
SWAPPED = {F.CAP1: F.CAP2, F.CAP2: F.CAP1}
LENGTHS = {"distance", "position", "exit_distance", "exit_position", "thickness"}
EXACT_FIELDS = ("hit", "limb", "face", "exit_face", "started_inside")
POLICIES = st.sampled_from(["hit", "exit", "ignore"])


def same(one: cc.RayHits, two: cc.RayHits, names: tuple[str, ...] = EXACT_FIELDS) -> None:
    """Assert that the exact fields are equal."""
    for name in names:
        assert getattr(one, name)[0] == getattr(two, name)[0], name


def close(one: cc.RayHits, two: cc.RayHits, bound: float) -> None:
    """Assert that the hits are at the same places."""
    if one.hit[0]:
        assert np.abs(one.position - two.position).max() <= bound
        assert np.abs(one.exit_position - two.exit_position).max() <= bound


def is_part(small: ShapeCase, large: ShapeCase) -> None:
    """Assert that whatever hits a part of a solid hits the solid, no later, and leaves it no sooner."""
    one, two = small.cast(), large.cast()
    assert two.hit[0] or not one.hit[0]
    if one.hit[0]:
        assert two.started_inside[0] or not one.started_inside[0]
        slack = 16 * small.ulp() / max(float(np.linalg.norm(small.end - small.start)), 1e-300)  # two places, 4√3 each
        assert two.fraction[0] <= one.fraction[0] + slack
        assert small.chords().exit_fraction[-1] <= large.chords().exit_fraction[-1] + slack


# Every shape --------------------------------------------------------------------------------------------------------


@given(cases)
def test_reversal_reverses_the_chords(case: ShapeCase):
    forth, back = case.chords(), case.reversed().chords()
    assert len(forth) == len(back)
    step = case.end - case.start
    for k in range(len(forth)):
        j = len(forth) - 1 - k
        for there, again in (("entry_fraction", "exit_fraction"), ("exit_fraction", "entry_fraction")):
            off = getattr(forth, there)[k] - (1 - getattr(back, again)[j])
            assert np.abs(off * step).max() <= 8 * case.ulp()
    side = case.limb.limbs().classify_points([case.start, case.end])
    started = case.cast().started_inside[0], case.reversed().cast().started_inside[0]
    assert started == (side[0] != cc.Side.OUTSIDE, side[1] != cc.Side.OUTSIDE)
    if not any(started):
        assert forth.entry_face.tolist() == back.exit_face[::-1].tolist()
        assert forth.exit_face.tolist() == back.entry_face[::-1].tolist()


@given(cases, st.integers(-60, 60), POLICIES)
def test_powers_of_two_scale_lengths_only(case: ShapeCase, power: int, inside: str):
    """Bit for bit; below `SMALLEST_SAFE`, where limbs go to exact arithmetic, normals may round differently."""
    factor = 2.0**power
    one, two = case.cast(inside), case.scaled(factor).cast(inside)
    for name in FIELDS:
        x, y = getattr(one, name), getattr(two, name)
        if "normal" in name and one.rechecked != two.rechecked:
            assert np.allclose(x, y, rtol=0.0, atol=2.0**-52, equal_nan=True), name
        else:
            assert np.array_equal(x * factor if name in LENGTHS else x, y, equal_nan=x.dtype.kind == "f"), name


@given(exact_cases, points, st.integers(0, 30), POLICIES)
def test_moving_by_whole_steps_changes_no_verdict(case: ShapeCase, by: np.ndarray, power: int, inside: str):
    moved = case.moved(by * 2.0**power)
    one, two = case.cast(inside), moved.cast(inside)
    same(one, two)
    if one.hit[0]:
        bound = 8 * max(case.ulp(), moved.ulp())
        assert np.abs(one.position + by * 2.0**power - two.position).max() <= bound
        assert np.abs(one.exit_position + by * 2.0**power - two.exit_position).max() <= bound


@given(round_cases, st.permutations([0, 1, 2]), st.tuples(*[st.sampled_from([-1.0, 1.0])] * 3))
def test_turning_by_right_angles_and_mirroring_changes_no_verdict(case: ShapeCase, order: list, signs: tuple):
    limb = {name: getattr(case.limb, name)[:, order] * signs for name in ("p1", "p2")}
    turned = case.to(**limb)._replace(start=case.start[order] * signs, end=case.end[order] * signs)
    one, two = case.cast(), turned.cast()
    same(one, two)
    if one.hit[0]:
        assert np.abs(one.position[:, order] * signs - two.position).max() <= 8 * case.ulp()


@given(with_axis)
def test_turning_the_limb_round_swaps_its_caps(case: ShapeCase):
    radii = (case.limb.radius2, case.limb.radius) if case.kind == TAPERED else (case.limb.radius, case.limb.radius2)
    turned = case.to(p1=case.limb.p2, p2=case.limb.p1, radius=radii[0], radius2=radii[1])
    one, two = case.cast(), turned.cast()
    same(one, two, ("hit", "started_inside"))
    sphere = case.kind == CAPSULE and (case.limb.p1 == case.limb.p2).all()
    for name in ("face", "exit_face"):
        face = getattr(one, name)[0]
        assert (face if sphere else SWAPPED.get(face, face)) == getattr(two, name)[0]
    close(one, two, 8 * case.ulp())


@given(cases, st.one_of(st.just(0.0), st.floats(0, 3)))
def test_rays_that_hit_a_limb_hit_it_grown(case: ShapeCase, more: float):
    names = SHAPE_ROWS[case.kind].grows
    grown = {name: np.nextafter(getattr(case.limb, name) * (1 + more), math.inf) for name in names}
    is_part(case, case.to(**{name: np.maximum(size, 2.0**-500) for name, size in grown.items()}))


@given(cases)
def test_policies_are_views_of_the_chords(case: ShapeCase):
    hit, leave, ignore = (case.cast(inside) for inside in ("hit", "exit", "ignore"))
    every, after, others = (case.chords(inside) for inside in ("hit", "exit", "ignore"))
    assert hit.started_inside[0] == leave.started_inside[0] == ignore.started_inside[0]
    assert len(every) == len({*every.entry_fraction.tolist()}) <= (2 if case.kind == TUBE else 1)
    assert hit.hit[0] == (len(every) > 0)
    if not hit.started_inside[0]:
        assert not same_bits(hit, leave)
        assert not same_bits(hit, ignore)
        assert len(every) == len(after) == len(others)
        return
    assert (hit.fraction[0], hit.face[0]) == (0.0, F.INSIDE)
    assert np.array_equal(hit.position[0], case.start)
    assert (not ignore.hit[0], len(others)) == (True, 0)
    assert leave.hit[0] == (hit.exit_face[0] != F.INSIDE) == (len(after) > 0)
    if leave.hit[0]:
        for name in ("fraction", "distance", "position", "normal", "face"):
            assert np.array_equal(getattr(leave, name), getattr(hit, f"exit_{name}")), name


@given(cases, st.lists(points, min_size=1, max_size=4))
def test_every_point_query_agrees(case: ShapeCase, more: list):
    limb = case.limb.limbs()
    p1, p2 = case.limb.p1[0], case.limb.p2[0]
    asked = np.array([case.start, case.end, p1, p2, (p1 + p2) / 2, *more])
    inside = limb.classify_points(asked) != cc.Side.OUTSIDE
    d2 = limb.axis_distance_squared(asked)
    assert np.array_equal(d2 >= 0, inside)
    assert (d2[~inside] == -1.0).all()
    held = cc.HitWorld(limb).contains_points(asked)
    assert np.array_equal(held.limb, np.where(inside, 0, -1))
    assert np.array_equal(held.count, inside.astype(int))
    assert np.array_equal(held.axis_distance_squared, d2)
    spots = {policy: limb.cast_segments(asked, asked, inside=policy) for policy in ("hit", "exit", "ignore")}
    assert np.array_equal(spots["hit"].hit, inside)
    assert np.array_equal(spots["hit"].started_inside, inside)
    assert not spots["exit"].hit.any()
    assert not spots["ignore"].hit.any()


@given(exact_cases)
def test_a_ray_is_a_segment_without_end(case: ShapeCase):
    step = case.end - case.start
    if not step.any():
        return
    free, bounded = case.limb.limbs().cast_rays([case.start], [step]), case.cast()
    assert free.started_inside[0] == bounded.started_inside[0]
    assert bounded.hit[0] == (free.hit[0] and free.fraction[0] <= 1.0)
    if bounded.hit[0]:
        same(free, bounded, ("fraction", "face"))
        if bounded.exit_face[0] != F.INSIDE:
            same(free, bounded, ("exit_fraction", "exit_face"))
        else:
            assert bounded.exit_fraction[0] == 1.0 <= free.exit_fraction[0]


@given(exact_cases, st.integers(1, 3))
def test_cutting_a_segment_in_two_loses_nothing(case: ShapeCase, quarters: int):
    middle = case.start + (case.end - case.start) * (quarters / 4)
    one, two, whole = case._replace(end=middle).cast(), case._replace(start=middle).cast(), case.cast()
    assert whole.hit[0] == (one.hit[0] or two.hit[0])
    if whole.hit[0]:
        assert np.abs((one if one.hit[0] else two).position - whole.position).max() <= 8 * case.ulp()


@given(cases, POLICIES)
def test_a_world_of_one_limb_is_the_limb(case: ShapeCase, inside: str):
    world = cc.HitWorld(case.limb.limbs())
    assert not same_bits(case.cast(inside), world.cast_segments([case.start], [case.end], inside=inside))
    assert world.occluded_segments([case.start], [case.end], inside=inside)[0] == case.cast(inside).hit[0]


# Between shapes -----------------------------------------------------------------------------------------------------


def other(case: ShapeCase, kind: int, **columns: np.ndarray) -> ShapeCase:
    """Return the same numbers as another shape."""
    return case.to(kind=np.array([kind]), **columns)


@given(any_case(CYLINDER), POLICIES)
def test_a_cylinder_is_a_taper_of_equal_radii(case: ShapeCase, inside: str):
    one, two = case.cast(inside), other(case, TAPERED, radius2=case.limb.radius).cast(inside)
    same(one, two)
    close(one, two, 8 * case.ulp())


@given(any_case(CYLINDER), st.sampled_from([1e-12, 2.0**-40, 1e-18]), POLICIES)
def test_a_tube_is_a_cylinder_for_rays_outside_its_bore(case: ShapeCase, share: float, inside: str):
    bore, tube = case.to(radius=case.limb.radius * share), other(case, TUBE, radius2=case.limb.radius * share)
    if bore.cast().hit[0]:
        assert len(tube.chords()) <= 2
    else:
        one, two = case.cast(inside), tube.cast(inside)
        same(one, two)
        close(one, two, 8 * case.ulp())


@given(any_case(SPHERE), POLICIES)
def test_a_sphere_is_a_capsule_without_length(case: ShapeCase, inside: str):
    one, two = case.cast(inside), other(case, CAPSULE).cast(inside)
    same(one, two)
    close(one, two, 8 * case.ulp())


@given(exact_case(SPHERE), st.integers(0, 2), POLICIES)
def test_a_sphere_is_an_ellipsoid_as_long_as_wide(case: ShapeCase, axis: int, inside: str):
    offset = np.eye(3)[axis] * case.limb.radius
    egg = other(case, ELLIPSOID, p1=case.limb.p1 - offset, p2=case.limb.p1 + offset)
    one, two = case.cast(inside), egg.cast(inside)
    same(one, two)
    close(one, two, 8 * max(case.ulp(), egg.ulp()))


@given(exact_case(BOX))
def test_a_box_contains_its_inner_sphere_and_fits_its_outer_one(case: ShapeCase):
    is_part(other(case, SPHERE, radius=case.limb.half.min(axis=1)), case)
    is_part(case, other(case, SPHERE, radius=np.ceil(np.linalg.norm(case.limb.half, axis=1))))
