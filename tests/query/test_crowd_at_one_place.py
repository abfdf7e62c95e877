"""Identical limbs, as of characters at one spawn point: each is found, one is computed exactly."""

from typing import Any

import numpy as np
import pytest
from support.cases.one_of_each_shape import LIMBS

import cylcollide as cc

ONE, COPIES, RAYS = cc.Limbs.concat(LIMBS.values()), 20, 14
QUERIES = {
    "chords": lambda world, a, b: world.chords_segments(a, b),
    "thick chords": lambda world, a, b: world.chords_segments(a, b, radius=0.25),
    "capsules": lambda world, a, b: world.overlap_capsules(a, b, 0.25),
    "doubt": lambda world, a, b: world.doubt_segments(a, b, 0.25),
}


@pytest.mark.parametrize("query", QUERIES)
def test_copies_are_found_with_their_original(query: str, exactly: list[Any]):
    rng = np.random.default_rng(8)
    through = (0.5 * (ONE.p1 + ONE.p2))[np.arange(RAYS) % len(ONE)] + 0.1 * rng.normal(size=(RAYS, 3))
    step = rng.normal(size=(RAYS, 3))
    starts, ends = through - 2.0 * step, through + 2.0 * step
    crowd, alone = (
        QUERIES[query](cc.HitWorld(limbs), starts, ends) for limbs in (cc.Limbs.concat([ONE] * COPIES), ONE)
    )
    assert len(exactly) <= 2 * RAYS * len(ONE)
    assert len(alone) >= RAYS // 2
    for i in range(RAYS):
        found, given = crowd[i], alone[i]
        limbs, lists = np.array(found.limb), np.array(given.limb)
        assert len(limbs) == COPIES * len(lists)
        assert (np.sort(limbs % len(ONE)) == np.repeat(np.sort(lists), COPIES)).all()
        if "chords" in query:
            entries = np.array(found.entry_fraction)
            assert (entries == np.sort(np.repeat(given.entry_fraction, COPIES))).all()
            assert (np.diff(limbs)[(np.diff(limbs % len(ONE)) == 0) & (np.diff(entries) == 0.0)] > 0).all()


@pytest.mark.parametrize("radius", [0.0, 0.25])
def test_of_equal_limbs_the_lowest_row_is_hit(radius: float, exactly: list[Any]):
    """Rays at the rims of a cylinder's caps: all need exact arithmetic."""
    turn = np.linspace(0.0, 6.0, RAYS)
    rim = np.column_stack([np.cos(turn), np.sin(turn), np.zeros(RAYS)])
    limbs = cc.Limbs.cylinders([[0, 0, 0]] * COPIES, [[0, 0, 1]] * COPIES, 1.0)
    hits = cc.HitWorld(limbs).cast_segments(rim - [0, 0, radius + 1], rim - [0, 0, radius], radius=radius)
    assert set(hits.limb.tolist()) <= {0, -1}
    assert 0 < len(exactly) <= 2 * RAYS
