"""Limbs that equal an earlier one in all are left out of the search for the closest: no answer is another one."""

import numpy as np
import pytest
from support.check_cylinders import same_bits

import cylcollide as cc
from cylcollide.bench.workloads import crowd_of
from cylcollide.limbs.tables import without_duplicates

LAYERS = np.array([1, 3, 5], np.uint32)


def limbs_thrice(count=60):
    """Limbs in layers, then equal ones, of which some are in other layers or moved by one bit, then those again."""
    rng, bare = np.random.default_rng(4), crowd_of(count).limbs()
    mask, nudged = rng.choice(LAYERS, count), bare.p1.copy()
    others = np.where(rng.random(count) < 0.3, rng.choice(LAYERS, count), mask)
    nudged[::30, 0] = np.nextafter(nudged[::30, 0], np.inf)
    parts = (bare.p1, mask), (nudged, others), (bare.p1, others), (bare.p1, mask)
    return cc.Limbs.concat([cc.Limbs.cylinders(p1, bare.p2, bare.radius, mask=layers) for p1, layers in parts])


def test_only_later_rows_that_equal_an_earlier_one_are_in_no_layer():
    limbs = limbs_thrice()
    rows = limbs._kernel_rows
    keys = [(row.tobytes(), *rest) for row, *rest in zip(rows.rows, rows.kernel_shape, rows.mask, strict=True)]
    is_first = np.array([keys.index(key) == k for k, key in enumerate(keys)])
    found = without_duplicates(rows)
    assert np.array_equal(found.mask, np.where(is_first, rows.mask, 0))
    assert 0.3 < is_first.mean() < 0.7
    assert found.shared_mask == 0
    alone = limbs[np.unique(limbs.p1, axis=0, return_index=True)[1]]._kernel_rows
    assert without_duplicates(alone) is alone
    characters = rows._replace(character=np.arange(len(limbs), dtype=np.int32))
    assert np.array_equal(without_duplicates(characters).mask, rows.mask)
    assert len(without_duplicates(rows._replace(**{n: getattr(rows, n)[:0] for n in rows._fields[:4]})).mask) == 0


@pytest.mark.parametrize("inside", ["ignore", "hit", "exit"])
def test_answers_have_the_bits_of_a_world_that_compares_them(inside):
    limbs = limbs_thrice()
    rng = np.random.default_rng(2)
    starts, ends = limbs.p1[rng.integers(0, len(limbs), (2, 400))] + rng.normal(scale=0.1, size=(2, 400, 3))
    masks = rng.choice([1, 2, 3, 2**32 - 1], len(starts)).astype(np.uint32)
    world, compares = cc.HitWorld(limbs), cc.HitWorld(limbs)
    vars(compares.snapshot())["_is_as_built"] = False
    assert compares.snapshot()._packed_firsts is compares.snapshot()._packed
    for mask in (2, 2**32 - 1, masks):
        hits = world.cast_segments(starts, ends, inside=inside, mask=mask)
        assert not same_bits(hits, compares.cast_segments(starts, ends, inside=inside, mask=mask))
        assert 0.1 < hits.hit.mean() < 1.0
        assert np.array_equal(world.occluded_segments(starts, ends, inside=inside, mask=mask), hits.hit)
        chords = [one.chords_segments(starts, ends, inside=inside, mask=mask).limb for one in (world, compares)]
        assert np.array_equal(*chords), "all limbs, also equal ones"
    assert world.snapshot()._packed_firsts is not world.snapshot()._packed
