"""Capsules and boxes that overlap limbs, and thick rays: against proofs in 90 digits, also next to the surface."""

from fractions import Fraction

import numpy as np
import pytest
from support.cases.thick_rays import BOUNDED, KINDS
from support.check_cylinders import IS_COMPILED
from support.soak import near as soak

import cylcollide as cc
from cylcollide.query.farthest import cross


def test_touching_counts_alone_and_in_a_world():
    one = cc.Limbs.spheres([0, 0, 1], 0.75, character=3, mask=2)
    p1, p2 = [-1, 0, 0], [1, 0, 0]
    assert one.overlap_capsules([p1] * 2, [p2] * 2, [0.25, np.nextafter(0.25, 0)]).tolist() == [True, False]
    world = cc.HitWorld(cc.Limbs.concat([one, cc.Limbs.boxes([0, 0, 0], [0, 0, 0, 1], [1, 1, 1])]))
    assert world.overlap_capsules(p1, p2, 0.25).limb.tolist() == [0, 1]
    assert world.overlap_capsules(p1, p2, 0.25, ignore_character=3).limb.tolist() == [1]
    assert world.overlap_capsules([p1] * 2, p2, 0.25, mask=[1, 2], threads=1).limb.tolist() == [1, 0, 1]
    assert world.overlap_capsules(p1, p1, 0).limb.tolist() == [1]  # a point


# Boxes ----------------------------------------------------------------------------------------------------------------


def test_a_face_level_with_a_cap_is_apart():
    """The direction's component along the cap is rounding alone and must not move the farthest point off the cap."""
    rng, n = np.random.default_rng(13), 20 if IS_COMPILED else 5
    for _ in range(n):
        w, centre, side = rng.normal(size=(3, 3))
        w = w / np.linalg.norm(w)
        x = np.cross(w, side) / np.linalg.norm(np.cross(w, side))
        turn = cc.quaternions.from_matrix(np.column_stack([x, np.cross(w, x), w])[None])[0]
        for limbs in (
            cc.Limbs.cylinders(centre - w, centre, 1.5), cc.Limbs.tapered_cylinders(centre - w, centre, 0.5, 1.5)
        ):  # fmt: skip
            for gap in (1e-3, 1e-9, -1e-9):
                box = centre + (gap + 0.25) * w, turn, [2.0, 0.5, 0.25]
                found = cc.HitWorld(limbs).overlap_boxes(*box)
                assert (len(found), found.undecided.any()) == (gap < 0.0, False)
                assert limbs.overlap_boxes(*box).tolist() == [gap < 0.0]


def test_boxes_that_touch_boxes_balls_and_capsules_are_exact():
    still = [0, 0, 0, 1]
    rounds = cc.Limbs.spheres([0, 0, 0], 1.0), cc.Limbs.capsules([0, -1, 0], [0, 1, 0], 1.0)
    world = cc.HitWorld(cc.Limbs.concat([cc.Limbs.boxes([0, 0, 0], still, [1, 1, 1]), *rounds]))
    found = world.overlap_boxes([[1.5, 0, 0], [np.nextafter(1.5, 2), 0, 0]], still, [0.5, 1, 1])
    assert found.offsets.tolist() == [0, 3, 3]
    assert not found.undecided.any()
    assert world.overlap_boxes([0, 0, 0], still, [9, 9, 9], ignore_character=-1).limb.tolist() == [0, 1, 2]
    sheets = world.overlap_boxes([[1 - 2.0**-50, 0, 0], [1 + 2.0**-50, 0, 0]], still, [1e-16, 3, 3])
    assert sheets.offsets.tolist() == [0, 3, 3]
    touching = cc.HitWorld(cc.Limbs.cylinders([0, 0, -1], [0, 0, 1], 1.0)).overlap_boxes([2, 0, 0], still, [1, 1, 1])
    assert (len(touching), touching.undecided.tolist()) == (1, [True])


def test_level_boxes_are_exact():
    """Tiles in their places, and moved by one ulp, also turned by 120° or 180°: sums of rational numbers decide."""
    rng, n = np.random.default_rng(3), 150 if IS_COMPILED else 60
    turns = np.array([[0, 0, 0, 1], [1, 0, 0, 0], [0.5, 0.5, 0.5, 0.5]])
    permutations = [[0, 1, 2], [0, 1, 2], [2, 0, 1]]  # the axis of the box that lies along x, y and z
    for away in (0.0, 0.1, 1e6):
        centre, half = rng.integers(-1, 2, (2, n, 3)) + away, rng.integers(1, 4, (2, n, 3)) / 4.0
        centre[1] = np.nextafter(centre[1], centre[1] + rng.integers(-1, 2, (n, 3)))
        turn = rng.integers(0, 3, (2, n))
        limbs = cc.Limbs.boxes(centre[0], turns[turn[0]], half[0])
        found = [cc.HitWorld(limbs[i]).overlap_boxes(centre[1, i], turns[turn[1, i]], half[1, i]) for i in range(n)]
        assert not any(one.undecided.any() for one in found)
        (own, other), sides = centre.tolist(), [half[k, i, permutations[turn[k, i]]] for k in (0, 1) for i in range(n)]
        touching = [
            all(
                abs(Fraction(own[i][k]) - Fraction(other[i][k])) <= Fraction(sides[i][k]) + Fraction(sides[n + i][k])
                for k in range(3)
            )
            for i in range(n)
        ]
        assert [len(one) == 1 for one in found] == touching
        assert n / 12 < sum(touching) < n / 2


@pytest.mark.parametrize("away", [0.0, 0.1, 7e4])
def test_turned_crates_on_level_ground_are_exact(away: float):
    """On a box, a cylinder's cap, or a tube's; lifted by one ulp, or beside it, they are apart."""
    low, high, half = [away, away, away - 1], [away, away, away], [0.3, 0.2, 0.7]
    still, turned = [0, 0, 0, 1], [0, 0, 0.28, 0.96]
    boxes = cc.Limbs.boxes(low, still, [4, 4, 1])
    ground = boxes, cc.Limbs.cylinders(low, high, 4.0), cc.Limbs.tubes(high, low, 4.0, 0.5)
    for limbs in ground:
        top = Fraction(away - 1) + 1 if limbs is boxes else Fraction(away)
        z = next(z for z in (away + 0.7, np.nextafter(away + 0.7, 9e9)) if Fraction(z) - Fraction(0.7) >= top)
        centres = [
            [away + 2, away, np.nextafter(z, -9)],
            [away + 2, away, np.nextafter(z, 9e9)],
            [away + 9, away, away],
        ]
        world = cc.HitWorld(limbs)
        found = world.overlap_boxes([*centres, [away + 2, away, z]], turned, half)
        on = Fraction(z) - Fraction(0.7) == top
        assert found.query.tolist() == [0] + [3] * on
        assert not found.undecided.any()
        leaning = world.overlap_boxes([away + 2, away, away + 0.6], [0.6, 0, 0, 0.8], [0.5, 0.5, 0.5])
        assert len(leaning) == 1


@pytest.mark.parametrize("unit", [1e-140, 1e-8, 1e80])
def test_level_boxes_in_any_unit_touch(unit: float):
    """Where products of sizes leave the range of numbers, rational arithmetic decides."""
    still, half = [0, 0, 0, 1], np.full(3, unit)
    world = cc.HitWorld(cc.Limbs.boxes([0, 0, 0], still, half))
    found = world.overlap_boxes([[2 * unit, 0, 0], [np.nextafter(2 * unit, 1e99), 0, 0]], still, half)
    assert found.offsets.tolist() == [0, 1, 1]
    assert not found.undecided.any()


def test_in_bores_and_walls_of_tubes():
    world, still = cc.HitWorld(cc.Limbs.tubes([0, 0, -1], [0, 0, 1], 1.0, 0.75)), [0, 0, 0, 1]
    in_bore, through, around, in_wall = [0.1, 0.1, 0.2], [0.1, 0.1, 9.0], [9.0, 9.0, 9.0], [0.05, 0.05, 0.1]
    found = world.overlap_boxes([[0, 0, 0]] * 3 + [[0.875, 0, 0]], still, [in_bore, through, around, in_wall])
    assert found.query.tolist() == [2, 3]
    slab = world.overlap_boxes(
        [[0, 0, 0], [0.875, 0, 0], [0, 0, 1.5]], still, [[9, 9, 0.1], [0.01, 9, 9], [9, 9, 0.25]]
    )
    assert slab.query.tolist() == [0, 1]


@pytest.mark.parametrize("shape", KINDS)
@pytest.mark.parametrize("ask", [soak.capsules, soak.boxes, soak.thick])
def test_answers_at_the_surface_are_true_and_undecided_ones_nearly_touch(ask, shape):
    """Within 2⁻⁴⁰ of the size; thick rays within 4 ulp. Of bounded shapes, more than half are closer to touching."""
    chunks = [ask(soak.group(shape, np.random.default_rng([chunk, 3, 1]))) for chunk in range(2)]
    cases = [case for chunk in chunks for case in chunk]
    assert not any(case.wrong for case in cases)
    assert max(case.worst for case in cases) <= (4.0 if ask is soak.thick else 1.0)
    assert len(cases) > 20 * len(chunks)
    assert ask is soak.boxes or shape not in BOUNDED or 0.3 < np.mean([case.undecided for case in cases]) < 0.8


@pytest.mark.parametrize("chunk", [370, 411])
def test_grazes_of_needles_are_decided_row_by_row_and_in_the_past(chunk: int):
    """Thick rays leave these undecided farther than 2⁻⁴⁰ from touching, on both sides."""
    seed = [chunk, 4, 2]
    cases = list(soak.capsules(soak.group("ellipsoid", np.random.default_rng(seed))))
    assert any(case.undecided for case in cases)
    assert not any(case.wrong for case in cases)
    assert max(case.worst for case in cases) < 0.25
    g = soak.group("ellipsoid", np.random.default_rng(seed))
    given = soak.graze(g)
    capsules = given.start, given.end, given.radius
    found, history = g.world.overlap_capsules(*capsules, mask=g.mask), cc.PoseHistory(g.world)
    history.record(0.0)
    past = history.overlap_capsules(*capsules, 0.0, mask=g.mask)
    assert g.limbs.overlap_capsules(*capsules).tolist() == [len(limbs) > 0 for limbs in found]
    for name in ("offsets", "limb", "undecided"):
        assert np.array_equal(getattr(past, name), getattr(found, name))


def test_cross_products_have_the_bits_of_numpys():
    a, b = np.random.default_rng(5).normal(size=(2, 1000, 3)) * np.geomspace(1e-150, 1e150, 1000)[:, None]
    a[::9, 1] = b[::7, 2] = -0.0
    assert cross(a, b).tobytes() == np.cross(a, b).tobytes()
