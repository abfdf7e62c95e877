"""Normals are unit vectors for every limb that a constructor accepts, however large, small, long or flat."""

from dataclasses import replace

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed
from support.cases.frames import _unit
from support.check_cylinders import sized
from support.oracle.shapes.rows import shots
from support.oracle.shapes.table import SHAPE_ROWS

import cylcollide as cc

pytestmark = pytest.mark.plain_python


@pytest.mark.coverage("0", "1", "2", "4")
@pytest.mark.parametrize("kind", SHAPE_ROWS)
def test_normals_of_limbs_of_any_proportion(kind: int):
    """Needles and sheets of lengths 1e-148 to 1e148, and places as far away, where rounding may leave no digit."""
    rng, n = np.random.default_rng([3, kind]), sized(1000)
    limbs = mixed(n, kinds=[kind])
    spread = 10.0 ** rng.uniform(-148, 148, (4, n))
    axis, apart = limbs.p2 - limbs.p1, spread[3][:, None]
    p1 = limbs.p1 * np.where(rng.random(n) < 0.3, spread[0], 0.0)[:, None]
    limbs = replace(
        limbs,
        p1=p1,
        p2=np.where((axis == 0.0).all(axis=1, keepdims=True), p1, p1 + axis * apart),
        radius=limbs.radius * spread[1],
        radius2=limbs.radius2 * np.where(rng.random(n) < 0.5, spread[1], spread[2]),
        half=limbs.half * rng.permuted(spread[1:].T, axis=1),
    )
    if kind == cc.Shape.TUBE:
        limbs = replace(limbs, radius2=np.minimum(limbs.radius2, 0.5 * limbs.radius))
    limbs = limbs.take((limbs.p1 != limbs.p2).any(axis=1) | (limbs.half > 0).any(axis=1) | (kind == cc.Shape.SPHERE))
    n = len(limbs)
    assert n > sized(1000) / 2
    size = np.abs(limbs.p2 - limbs.p1).max(axis=1) + limbs.radius + limbs.half.max(axis=1)
    aim = rng.choice([0.0, 0.5, 1.0], n)[:, None]
    middle = (1 - aim) * limbs.p1 + aim * limbs.p2
    step = _unit(rng.normal(size=(n, 3))) * (size * 10.0 ** rng.choice([-2, 1], n))[:, None]
    hits = shots(limbs, middle - 4 * step, middle + 4 * step).cast()
    assert hits.hit.sum() > n / 9
    for normal, face in ((hits.normal, hits.face), (hits.exit_normal, hits.exit_face)):
        unit = face < cc.Face.INSIDE
        assert unit.sum() > n / 20
        np.testing.assert_allclose(np.linalg.norm(normal[unit], axis=1), 1.0, rtol=1e-14)
        assert (normal[face == cc.Face.INSIDE] == 0.0).all()


@pytest.mark.parametrize("kind", SHAPE_ROWS)
def test_normals_do_not_depend_on_the_unit(kind: int):
    """Other formulas apply in very small and very large units; powers of two change no digit of a limb."""
    rng, n = np.random.default_rng([4, kind]), 20
    limbs = mixed(n, kinds=[kind])
    middle = 0.5 * (limbs.p1 + limbs.p2)
    step = _unit(rng.normal(size=(n, 3))) * (np.linalg.norm(limbs.p2 - limbs.p1, axis=1) + limbs.radius + 1.0)[:, None]
    starts, ends = middle - step, middle + step
    hits = shots(limbs, starts, ends).cast()
    assert hits.hit.sum() > n / 3
    for unit in (2.0**-400, 2.0**400):
        sizes = {name: unit * getattr(limbs, name) for name in ("p1", "p2", "radius", "radius2", "half")}
        scaled = shots(replace(limbs, **sizes), unit * starts, unit * ends).cast()
        assert (scaled.face == hits.face).all()
        np.testing.assert_allclose(scaled.normal, hits.normal, rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(scaled.exit_normal, hits.exit_normal, rtol=0.0, atol=1e-12)


@pytest.mark.coverage
def test_a_ball_smaller_than_an_ulp_of_its_place_has_a_normal():
    """1/3 is not finite in binary: even in double-double the hit rounds to the centre, and any unit normal is right."""
    hits = cc.Limbs.spheres([1, 1, 1], 1e-40).cast_segments([0, 0, 0], [3, 3, 3])
    assert hits.hit[0]
    assert np.linalg.norm(hits.normal[0]) == np.linalg.norm(hits.exit_normal[0]) == 1.0


def test_a_normal_at_the_end_of_a_capsule_in_any_unit():
    """Beside -1 kernels give 6e-33 and exact arithmetic 0; the test of powers of two found this case."""
    for factor in (1.0, 2.0**-60):
        limb = cc.Limbs.capsules([np.array([-5.0, 5, -2]) * factor], [np.array([-1.0, 5, -2]) * factor], 17 * factor)
        hits = limb.cast_segments([np.array([14.0, -4, -5]) * factor], [np.array([-70.0, 17, 2]) * factor])
        assert np.abs(hits.exit_normal[0] - [-1, 0, 0]).max() <= 2.0**-100
