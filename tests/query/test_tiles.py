"""Boxes side by side on whole numbers, and rays, balls and boxes on the same numbers: everything touches."""

import numpy as np
import pytest
from support.check_cylinders import sized

import cylcollide as cc
from cylcollide.exact import order
from cylcollide.exact.line import segment_numbers
from cylcollide.exact.thick import grown_by
from cylcollide.query.exact_fallback import exact_limb

pytestmark = pytest.mark.plain_python

UP = np.array([0.0, 0.0, 0.5])
TILES = np.stack(np.meshgrid(range(3), range(3), range(2), indexing="ij"), axis=-1).reshape(-1, 3).astype(float)
FLOOR = cc.Limbs.boxes(TILES, [0.0, 0.0, 0.0, 1.0], [0.5, 0.5, 0.5])
KINDS = {
    "boxes": FLOOR,
    "spheres": cc.Limbs.spheres(TILES, 0.5),
    "cylinders": cc.Limbs.cylinders(TILES - UP, TILES + UP, 0.5),
    "tubes": cc.Limbs.tubes(TILES - UP, TILES + UP, 0.5, 0.25),
    "capsules": cc.Limbs.capsules(TILES, TILES + UP, 0.5),
}


def rays(n, seed=0):
    """Segments along the axes, or between points, all of them multiples of a half."""
    rng = np.random.default_rng(seed)
    start, end = rng.integers(-1, [6, 6, 4], (2, n, 3)) / 2.0
    way = np.arange(n) % 4
    for k in range(3):
        rows = way == k
        end[rows] = start[rows]
        start[rows, k], end[rows, k] = -2.0, 8.0
    return start, end


@pytest.mark.coverage("hit-0.0-boxes", "exit-0.0-tubes", "hit-0.5-boxes")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("inside", "radius"), [("hit", 0.0), ("exit", 0.0), ("ignore", 0.0), ("hit", 0.5)])
def test_closest_is_that_of_all_limbs_in_exact_arithmetic(kind, inside, radius):
    limbs, (starts, ends) = KINDS[kind], rays(sized(60, 20) // (1 + 4 * (radius > 0.0)))
    hits = cc.HitWorld(limbs).cast_segments(starts, ends, inside=inside, radius=radius)
    solids = [(k, exact_limb(limbs._table, k)) for k in range(len(limbs))]
    if radius:
        solids = [(k, grown_by(solid, radius)) for k, solid in solids]
    assert hits.rechecked > len(starts) / 6
    for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
        first, started_inside = order.closest(segment_numbers(start, end), solids, inside)
        assert (hits.limb[i], hits.started_inside[i]) == (-1 if first is None else first[0], started_inside)


@pytest.mark.parametrize("radius", [0.0, 0.5])
def test_limbs_behind_the_first_are_not_tested(radius, monkeypatch):
    row = cc.Limbs.boxes([[x, 0.0, 0.0] for x in range(8)], [0.0, 0.0, 0.0, 1.0], [0.5, 0.5, 0.5])
    world, height, tests = cc.HitWorld(row), 0.5 + radius, []
    test = order.limb_hit
    monkeypatch.setattr(order, "limb_hit", lambda *args: tests.append(args) or test(*args))
    hits = world.cast_segments([-3.0, 0.25, height], [60.0, 0.25, height], radius=radius)
    assert (hits.limb[0], hits.rechecked) == (0, 1)
    assert len(tests) <= 2
    del tests[:]
    assert world.occluded_segments(np.tile([-3.0, 0.25, height], (12, 1)), [60.0, 0.25, height], radius=radius).all()
    assert len(tests) <= 24
