"""Growth compared with rational arithmetic at any size: the result is right, or the growth is refused."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed
from support.check_cylinders import sized
from support.oracle.shapes.table import SHAPE_ROWS
from support.oracle.spots import square_root

import cylcollide as cc

S = cc.Shape
LARGEST, SMALLEST = 2.0**500, 2.0**-500
CLOSE = Fraction(1, 2**50)


def true_growth(limbs: cc.Limbs, i: int, by: float) -> tuple[list[Fraction], list[Fraction], Fraction, Fraction]:
    """Return ends and radii of limb i grown by `by`."""
    p1, p2 = ([Fraction(x) for x in row[i].tolist()] for row in (limbs.p1, limbs.p2))
    axis = [b - a for a, b in zip(p1, p2, strict=True)]
    length = square_root(Fraction(sum(x * x for x in axis)))
    numbers = (Fraction(x) for x in (limbs.radius[i].item(), limbs.radius2[i].item(), by))
    out, r, r2 = SHAPE_ROWS[int(limbs.kind[i])].grown(length, *numbers)
    step = [out * x / length for x in axis] if length else axis
    return [a - s for a, s in zip(p1, step, strict=True)], [b + s for b, s in zip(p2, step, strict=True)], r, r2


@pytest.mark.parametrize(("power", "steep"), [(-450, 0), (-400, -40), (0, 40), (400, -40), (450, 0)])
def test_growth_equals_rational_arithmetic(power: int, steep: int):
    """`steep`: axes 2**-40 or 2**40 of the radii, where the growth of a cone's tip is a small difference."""
    world = mixed(sized(105), seed=9)
    p2 = np.where(world.p1 == world.p2, world.p1, np.ldexp(world.p2 - world.p1, steep))
    p1 = np.where(world.p1 == world.p2, world.p1, 0.0)
    limbs = replace(world, p1=p1, p2=p2).scaled(2.0**power).limbs()
    by = np.ldexp(0.015 * (1 + np.arange(len(limbs)) % 3), power)
    grown = limbs.inflated(by)
    for i in range(len(limbs)):
        first, last, r, r2 = true_growth(limbs, i, by[i].item())
        scale = max(map(abs, (*first, *last)))
        for got, true in ((grown.p1[i], first), (grown.p2[i], last)):
            assert max(abs(Fraction(a) - b) for a, b in zip(got.tolist(), true, strict=True)) <= CLOSE * scale
        for got, true in ((grown.radius[i].item(), r), (grown.radius2[i].item(), r2)):
            assert abs(Fraction(got) - true) <= CLOSE * (true + Fraction(by[i].item())), (S(int(limbs.kind[i])), got)
    boxes = limbs.kind == S.BOX
    assert np.array_equal(grown.half_extents[boxes], limbs.half_extents[boxes] + by[boxes, None])


def test_a_small_growth_of_a_long_limb_moves_its_caps():
    """The step along the axis stays exact if growth / length is below the smallest float64."""
    limbs = cc.Limbs.cylinders([[0.0, 0.0, 0.0]], [[LARGEST, 0.0, 0.0]], 1.0).inflated(2.0**-490)
    assert limbs.p1.tolist() == [[-(2.0**-490), 0.0, 0.0]]


@pytest.mark.parametrize(
    ("limbs", "by"),
    [
        (lambda: cc.Limbs.spheres([[0.0, 0, 0]] * 4, LARGEST), 2.0**480),
        (lambda: cc.Limbs.cylinders([[LARGEST, 0, 0]] * 4, [[-LARGEST, 0, 0]] * 4, 1.0), LARGEST / 8),
        (lambda: cc.Limbs.cones([[0.0, 0, 0]] * 4, [[SMALLEST, 0, 0]] * 4, LARGEST), 1.0),
        (lambda: cc.Limbs.cones([[SMALLEST, 0, 0]] * 4, [[0.0, 0, 0]] * 4, LARGEST), SMALLEST),
        (lambda: cc.Limbs.boxes([[0.0, 0, 0]] * 4, [0, 0, 0, 1], [1.0, 1.0, LARGEST]), LARGEST / 2),
    ],
)
def test_growth_beyond_the_range_is_refused(limbs, by: float):
    """The message names the row and the allowed range; no infinite radius, NaN or warning."""
    with pytest.raises(ValueError, match=r"by: .*2\*\*.*row 2\b"):
        limbs().inflated([0.0, 0.0, by, by])
    assert limbs().inflated(0.0) == limbs()


def test_the_smallest_bore_cannot_grow():
    tube = cc.Limbs.tubes([[0.0, 0, 0]], [[1.0, 0, 0]], 1.0, SMALLEST)
    assert tube.inflated(0.0) == tube
    for bore, by in ((SMALLEST, SMALLEST), (1.5 * SMALLEST, SMALLEST)):
        with pytest.raises(ValueError, match=r"by: .*row 0\b"):
            cc.Limbs.tubes([[0.0, 0, 0]], [[1.0, 0, 0]], 1.0, bore).inflated(by)
