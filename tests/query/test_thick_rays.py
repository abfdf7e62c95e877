"""Thick rays in worlds: the first contact, the nearest place, chords and shots, in every loop and in the past."""

from functools import partial

import numpy as np
import pytest
from support.cases.thick_rays import BOUNDED, KINDS, limb_of, mixed_limbs
from support.check_cylinders import same_bits
from support.oracle.shapes.table import SHAPE_ROWS
from support.oracle.thick import contacts, distance

import cylcollide as cc

pytestmark = [pytest.mark.plain_python, pytest.mark.coverage]

FIELDS = (
    "limb", "fraction", "face", "started_inside", "undecided", "position", "normal",
    "exit_fraction", "exit_face", "exit_position", "exit_normal", "thickness",
)  # fmt: skip
same = partial(same_bits, fields=FIELDS)
EXACT = {kind for kind, row in SHAPE_ROWS.items() if not row.is_bounded}


def scene(seed, n, limbs=16):
    rng = np.random.default_rng(seed)
    made = mixed_limbs(limbs, rng, 2.0)
    return made, rng.uniform(-3.0, 3.0, (n, 3)), rng.uniform(-3.0, 3.0, (n, 3)), rng


def test_a_thin_ray_along_a_wall_is_not_early():
    """It hits the rim at an angle and goes on along the wall: bounds must be narrow for the rim, not the wall."""
    ends = (
        [[-0.5442547965099784, -0.871468730561797, -0.7604044155150489]],
        [[-0.12765590355245426, -0.5015685444733962, -0.1907855332257169]],
    )
    limb = cc.Limbs.tapered_cylinders(*ends, 0.4258485880474246, 0.3101557678694462)
    start = np.array([0.4701152723551486, -1.5194570913524335, 0.03302563919482721])
    end = np.array([-1.0006910929418216, 1.2373932449022875, -0.6815278307060366])
    hits = limb.cast_segments([start], [end], radius=1e-6)
    centre = start + np.longdouble(hits.fraction[0]) * (end.astype(np.longdouble) - start)
    assert hits.hit[0]
    assert not hits.undecided[0]
    assert -1e-15 < distance(limb, centre[None])[0] - 1e-6 < 1e-12


@pytest.mark.parametrize("radii", [(3.0, 4.0), (4.0, 3.0), (3.0, 0.0), (0.5, 3.0)])
def test_caps_of_wide_and_short_tapered_limbs_are_decided(radii):
    """Over the middle of a cap, the line of the steep wall made both caps possible."""
    limb = cc.Limbs.tapered_cylinders([0, 0, 0], [0, 0, 1], *radii)
    wide = int(radii[1] > radii[0])
    towards = 1.0 if wide else -1.0
    starts = np.array([[x, 0.25 * x, wide + 4.0 * towards] for x in np.linspace(-0.9, 0.9, 7) * max(radii)])
    hits = limb.cast_segments(starts, starts - [0.0, 0.0, 3.95 * towards], radius=0.125)
    assert not hits.undecided.any()
    assert (hits.face == (cc.Face.CAP2 if wide else cc.Face.CAP1)).all()
    np.testing.assert_allclose(hits.fraction, 3.875 / 3.95, rtol=1e-9)


@pytest.mark.parametrize("inside", ["hit", "exit", "ignore"])
def test_a_rim_that_two_limbs_share_is_undecided_under_every_policy(inside):
    """Only the policy "hit" marked it."""
    tapered = cc.Limbs.tapered_cylinders([2, 1, 3], [2, 2, 3], 1.0, 0.5)
    tube = cc.Limbs.tubes([2, 1, 3], [2, 2, 3], 1.0, 0.5)
    start, end = [1.45272757, 0.89637264, 1.70174122], [0.726363785, 0.44818632, 0.85087061]
    if inside != "exit":
        start, end = end, start
    for limbs in ([tapered, tube], [tube, tapered]):
        hits = cc.HitWorld(cc.Limbs.concat(limbs)).cast_segments(start, end, radius=0.5, inside=inside)
        assert hits.hit[0]
        assert hits.undecided[0]


@pytest.mark.parametrize("radius", [0.02, 0.3])
def test_first_contact_and_nearest_place(radius):
    limbs, starts, ends, _ = scene(1, 14)
    world = cc.HitWorld(limbs)
    hits, chords = world.cast_segments(starts, ends, radius=radius), world.chords_segments(starts, ends, radius=radius)
    assert not hits.undecided.any()
    for i in range(len(starts)):
        start, step = starts[i].astype(np.longdouble), ends[i].astype(np.longdouble) - starts[i]
        found = [contacts(limbs[k], start, step, radius) for k in range(len(limbs))]
        assert np.diff(chords.offsets)[i] == sum(len(entries) for entries, _ in found)
        first = [(entries[0], k) for k, (entries, _) in enumerate(found) if len(entries)]
        assert hits.hit[i] == bool(first)
        assert hits.started_inside[i] == any(entry == 0 for entry, _ in first)
        if first:
            entry, limb = min(first)
            assert hits.limb[i] == limb
            late = float(hits.fraction[i] - entry)
            exact = limbs.kind[limb] in EXACT
            assert -1e-11 < late < 2e-16
            assert not exact or late > -1e-15
            centre, place = start + entry * step, hits.position[i].astype(np.longdouble)
            gap = np.sqrt(((centre - place) ** 2).sum())
            assert abs(gap - distance(limbs[limb], centre[None])[0]) < (4e-15 if exact else 1e-10)
            assert distance(limbs[limb], place[None])[0] < 4e-15
            if hits.face[i] != cc.Face.INSIDE:
                assert np.abs((centre - place) / gap - hits.normal[i]).max() < (1e-14 if exact else 1e-10) / radius
            else:
                assert not hits.normal[i].any()
    assert 2 < hits.hit.sum() < len(starts)


@pytest.mark.machine_code
def test_all_loops_agree():
    limbs, starts, ends, rng = scene(2, 600, 40)
    world = cc.HitWorld(limbs)
    radius = rng.choice([0.0, 0.01, 0.1, 0.5], 600)
    many = world.cast_segments(starts, ends, radius=radius)
    assert same(world.cast_segments(starts, ends, radius=radius, threads=2), many) == []
    for i in range(0, 600, 40):
        few = world.cast_segments(starts[i : i + 40], ends[i : i + 40], radius=radius[i : i + 40])
        assert same(few, many[i : i + 40]) == []
    lines, thick = radius == 0.0, radius == 0.1
    assert same(world.cast_segments(starts[lines], ends[lines]), many[lines]) == []
    assert same(world.cast_segments(starts[thick], ends[thick], radius=0.1), many[thick]) == []
    assert np.array_equal(world.occluded_segments(starts, ends, radius=radius), many.hit)
    hit = np.flatnonzero(many.hit)
    alone = limbs[many.limb[hit]].cast_segments(starts[hit], ends[hit], radius=radius[hit])
    assert same(alone, many[hit], fields=[name for name in FIELDS if name not in ("limb", "started_inside")]) == []
    assert len({*many.face.tolist()}) > 6


@pytest.mark.machine_code
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in BOUNDED])
def test_exact_arithmetic_is_for_grazes(kind):
    rng, rechecked = np.random.default_rng(8), 0
    for radius in (0.01, 0.15, 0.2, 0.21, 0.4):
        limb = cc.Limbs.tubes([[0, 0, 0]], [[0.1, 0, 1]], 0.4, 0.2) if kind == "tube" else limb_of(kind, rng)
        target = 0.5 * (limb.p1 + limb.p2) + 0.3 * rng.normal(size=(1000, 3))
        step = rng.normal(size=(1000, 3)) * (0.5, 0.5, 1.0)
        inside = rng.choice(["hit", "exit"])
        hits = cc.HitWorld(limb).cast_segments(target - step, target + step, inside=inside, radius=radius)
        assert 100 < hits.hit.sum() < 1000
        rechecked += hits.rechecked
    assert rechecked <= 5  # of 5000; tangency to a bore's rim takes the most steps


@pytest.mark.parametrize("inside", ["hit", "exit", "ignore"])
def test_inside_policies(inside):
    limbs, starts, ends, _ = scene(3, 20)
    world = cc.HitWorld(limbs)
    hits = world.cast_segments(starts, ends, inside=inside, radius=0.3)
    chords = world.chords_segments(starts, ends, inside=inside, radius=0.3)
    for i in range(len(starts)):
        rows = slice(*chords.offsets[i : i + 2])
        begins = np.where(
            (chords.entry_face[rows] == cc.Face.INSIDE) & (inside == "exit"),
            chords.exit_fraction[rows],
            chords.entry_fraction[rows],
        )
        assert hits.hit[i] == (len(begins) > 0)
        if len(begins):
            assert hits.fraction[i] == begins.min()
            assert hits.limb[i] in chords.limb[rows][begins == begins.min()]
    assert hits.started_inside.any()


def test_rays_and_filters():
    limbs = cc.Limbs.cylinders([[0, 0, 0], [2, 0, 0]], [[0, 0, 1], [2, 0, 1]], 0.5, character=[0, 1], mask=[1, 2])
    world = cc.HitWorld(limbs)
    ray = [-3.0, 0.7, 0.5], [2.0, 0.0, 0.0]
    assert not world.cast_rays(*ray).hit[0]
    hit = world.cast_rays(*ray, radius=0.25)[0]
    # (0.75)² - 0.7² = 0.0725
    assert hit.distance == pytest.approx(3.0 - 0.0725**0.5, abs=1e-15)
    assert hit.position == pytest.approx(np.array([-(0.0725**0.5), 0.7, 0.375]) * [2 / 3, 2 / 3, 4 / 3], abs=1e-15)
    assert world.cast_rays(*ray, max_distance=2.7, radius=0.25).hit[0] == 0
    assert world.cast_rays(*ray, radius=0.25, mask=2).limb.tolist() == [1]
    assert world.cast_rays(*ray, radius=0.25, ignore_character=0).limb.tolist() == [1]
    assert world.occluded_rays(*ray, radius=[0.25]).tolist() == [True]
    assert world.chords_rays(*ray, radius=0.25).limb.tolist() == [0, 1]
    assert limbs.cast_rays(*ray, radius=0.25).hit.tolist() == [True, True]


def test_shots_are_charged_the_grown_thickness():
    world = cc.HitWorld(cc.Limbs.spheres([[0, 0, 0], [5, 0, 0]], 1.0))
    policy = cc.Policy.penetration(loss=0.1)
    shots = world.judge_segments([-9, 0, 0], [9, 0, 0], policy, radius=0.5)
    assert shots.impacts.thickness.tolist() == pytest.approx([3.0, 3.0])
    assert shots.energy_left[0] == pytest.approx(1.0 - 0.1 * 6.0)
    shots = world.judge_rays([-9, 0, 0], [1, 0, 0], policy, radius=0.5)
    assert shots.energy_left[0] == pytest.approx(1.0 - 0.1 * 6.0)


def test_spheres_equal_larger_ones():
    limbs, starts, ends, _ = scene(4, 40)
    balls = limbs[np.isin(limbs.kind, (cc.Shape.CAPSULE, cc.Shape.SPHERE))]
    thick = cc.HitWorld(balls).cast_segments(starts, ends, radius=0.25)
    larger = cc.HitWorld(balls.inflated(0.25)).cast_segments(starts, ends)
    assert np.array_equal(thick.limb, larger.limb)
    assert np.array_equal(thick.face, larger.face)
    assert np.allclose(thick.fraction[thick.hit], larger.fraction[thick.hit], rtol=1e-14, atol=1e-15)


def test_radius_beyond_the_world():
    limbs, starts, ends, _ = scene(5, 8)
    hits = cc.HitWorld(limbs).cast_segments(starts, ends, radius=1e9)
    assert hits.started_inside.all()
    assert (hits.fraction == 0.0).all()
    assert (hits.face == cc.Face.INSIDE).all()


def test_touches_are_hits():
    # a rim 5 away from the line through (6, 0, 6) along (4, 0, -3); see test_thick of exact
    drum = cc.Limbs.cylinders([[0, 0, 0]], [[0, 0, 2]], 3.0)
    for limbs in (drum, cc.Limbs.concat([drum, drum])):
        world = cc.HitWorld(limbs)
        hits = world.cast_segments([2.0, 0.0, 9.0], [10.0, 0.0, 3.0], radius=5.0)
        assert (hits.limb[0], hits.fraction[0], hits.face[0], hits.thickness[0]) == (0, 0.5, cc.Face.CAP2, 0.0)
        assert hits.rechecked == 1
        assert hits.position[0].tolist() == [3.0, 0.0, 2.0]
        assert hits.normal[0] == pytest.approx([0.6, 0.0, 0.8], abs=2e-16)
        assert not world.cast_segments([2.0, 0.0, 9.0], [10.0, 0.0, 3.0], radius=np.nextafter(5.0, 0.0)).hit[0]


def test_bounded_shapes_mark_undecided_hits():
    # a ray that touches the grown cone's wall, up to rounding
    cone = cc.Limbs.cones([[0, 0, 0]], [[0, 0, 4]], 3.0)
    world = cc.HitWorld(cc.Limbs.concat([cone, cc.Limbs.spheres([[50.0, 0.0, 0.0]], 1.0)]))
    start, end = [1.5 + 4.0, -9.0, 2.0 + 3.0], [1.5 + 4.0, 9.0, 2.0 + 3.0]  # 5 away from the wall's middle
    hits = world.cast_segments(start, end, radius=5.0)
    assert hits.undecided.tolist() == [True]
    assert hits.limb.tolist() == [0]
    assert hits.fraction[0] <= 0.5
    assert world.chords_segments(start, end, radius=5.0).undecided.tolist() == [True]
    assert world.cast_segments(start, end, radius=5.0 - 1e-12).hit.tolist() == [False]
    sure = world.cast_segments(start, end, radius=5.0 + 1e-12)
    assert (sure.hit[0], sure.undecided[0]) == (True, False)
    twins = cc.HitWorld(cc.Limbs.concat([cone, cone.inflated(1e-16)]))
    assert twins.cast_segments([9.0, 0.3, 1.0], [-9.0, 0.3, 1.5], radius=0.1).limb.tolist() == [0]


@pytest.mark.parametrize(("unit", "width"), [(7e18, 1.0), (1.0, 1e-40)])
@pytest.mark.parametrize("make", [cc.Limbs.cones, cc.Limbs.ellipsoids])
def test_untrusted_limbs_do_not_depend_on_thicker_rays(make, unit, width):
    # Untrusted limbs were once hit by all rays that hit their boxes, which grow by the largest radius.
    rng, n = np.random.default_rng(3), 60
    p1, step = rng.normal(size=(2, 4, 3)) * unit
    world = cc.HitWorld(make(p1, p1 + step, rng.uniform(0.1, 1.0, 4) * unit * width))
    starts = rng.normal(size=(n, 3)) * 2.0 * unit
    ends, radius = starts.copy(), rng.uniform(0.01, 1.0, n) * unit
    ends[::4] += rng.normal(size=(n // 4, 3)) * unit
    radius[::7] = 3.0 * unit
    many = world.cast_segments(starts, ends, radius=radius)
    chords = world.chords_segments(starts, ends, radius=radius)
    for i in range(n):
        alone, thick = (starts[i : i + 1], ends[i : i + 1]), radius[i : i + 1]
        assert same(world.cast_segments(*alone, radius=thick), many[i : i + 1]) == []
        assert world.chords_segments(*alone, radius=thick) == chords[[i]]
    assert many.hit[::7][world.closest_points(starts[::7]).distance <= 3.0 * unit].all()
    assert 10 < many.hit.sum() < n


@pytest.mark.parametrize(
    ("radius", "message"),
    [
        (-0.1, "radius: expected 0, or at least 2"),
        ([0.1, np.nan], "radius: expected"),
        ([0.1, 0.2, 0.3], r"radius: expected one number or shape \(2,\)"),
        (1e200, "radius: expected"),
        (1e-200, "in row 0"),
        ("thick", "radius"),
    ],
)
def test_awkward_radii(radius, message):
    world = cc.HitWorld(cc.Limbs.spheres([[0, 0, 0]], 1.0))
    with pytest.raises(ValueError, match=message):
        world.cast_segments(np.zeros((2, 3)), np.ones((2, 3)), radius=radius)
    with pytest.raises(TypeError):
        world.cast_segments(np.zeros((2, 3)), np.ones((2, 3)), "hit", 1, None, None, 0.1)


def test_a_possibly_earlier_limb_leaves_a_bounded_contact_undecided():
    # the ray certainly touches the ellipsoid, at 0.4999998991 to 0.4999999710, and the first ball at 0.4999999350; it
    # misses the second ball, though float64 bounds allow an earlier touch
    height, contact = 0.75 - 2.710821878778779e-13, 0.49999993503776675
    ellipsoid = cc.Limbs.ellipsoids([[0.0, 0.0, -1.0]], [[0.0, 0.0, 1.0]], 0.5)
    ahead = cc.Limbs.spheres([[8.0 * contact - 4.0 + 0.75, height, 0.0]], 0.5)
    beside = cc.Limbs.spheres([[8.0 * (contact + 3.1e-8) - 4.0, np.nextafter(height + 0.75, 9.0), 0.0]], 0.5)
    for limbs, is_open in (([ellipsoid, ahead, beside], True), ([ellipsoid, beside], False)):
        hits = cc.HitWorld(cc.Limbs.concat(limbs)).cast_segments([-4.0, height, 0.0], [4.0, height, 0.0], radius=0.25)
        assert (hits.limb[0], hits.undecided[0], hits.rechecked) == (0, is_open, 1)


@pytest.mark.machine_code  # minutes in plain Python
@pytest.mark.parametrize("radius", [1e-5, 1e-7, 1e-9])
def test_a_thin_ball_beside_the_wall_of_a_bore(radius):
    # each segment starts where the ball touches the wall, up to rounding, and leads straight to the axis
    rng = np.random.default_rng(3)
    p1, axes, inner = rng.uniform(-2.0, 2.0, (12, 3)), rng.uniform(-2.0, 2.0, (12, 3)), rng.uniform(1.0, 7.0, 12)
    across = np.cross(axes, rng.normal(size=(12, 3)))
    across /= np.linalg.norm(across, axis=1)[:, None]
    tubes = cc.Limbs.tubes(p1, p1 + axes, 2.0 * inner, inner)
    starts = p1 + 0.5 * axes + across * (inner - radius)[:, None]
    touches = tubes.overlap_spheres(starts, radius)
    for ends in (starts - 0.3 * across, starts - 0.9 * across):
        hits = tubes.cast_segments(starts, ends, radius=radius)
        assert (hits.hit == touches).all()
        assert (hits.started_inside == touches).all()
        assert (tubes.cast_segments(ends, starts, radius=radius).hit == touches).all()
        for i in range(12):
            chords = cc.HitWorld(tubes[[i]]).chords_segments(starts[i], ends[i], radius=radius)
            assert (len(chords) > 0) == touches[i]
