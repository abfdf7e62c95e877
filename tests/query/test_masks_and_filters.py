"""What a query may leave out or must list: masks, ignored characters, chords, and which limb holds a point."""

import numpy as np
import pytest
from support.cases.everyday_worlds import make_crowd, oracle_limbs, shots
from support.check_cylinders import same_bits, sized
from support.oracle import cylinder as oracle

import cylcollide as cc

pytestmark = pytest.mark.plain_python

POLICIES = ("hit", "exit", "ignore")


@pytest.mark.parametrize("inside", POLICIES)
def test_masks_and_ignored_characters_are_a_smaller_world(crowd: cc.Limbs, inside: str):
    """A limb that is masked or ignored is as good as absent."""
    world = cc.HitWorld(crowd)
    starts, ends = shots(crowd, sized(300))
    blocked: set[int] = set()
    for mask, ignore in [(1, None), (6, None), (0xFFFFFFFF, 2), (5, 0), (0xFFFFFFFF, -1), (0, None)]:
        keep = (crowd.mask & np.uint32(mask)) != 0
        if ignore is not None and ignore >= 0:
            keep &= crowd.character != ignore
        rows = np.flatnonzero(keep)
        smaller = cc.HitWorld(crowd[rows]) if len(rows) else cc.HitWorld(make_crowd(0))
        got = world.cast_segments(starts, ends, inside=inside, mask=mask, ignore_character=ignore)
        want = smaller.cast_segments(starts, ends, inside=inside)
        assert np.array_equal(got.limb, np.append(rows, -1)[want.limb])
        assert set(same_bits(got, want)) <= {"limb"}
        options = {"mask": mask, "ignore_character": ignore, "inside": inside}
        assert np.array_equal(world.occluded_segments(starts, ends, **options), want.hit)
        chords = world.chords_segments(starts, ends, **options)
        fewer = smaller.chords_segments(starts, ends, inside=inside)
        assert np.array_equal(chords.limb, rows[fewer.limb] if len(rows) else fewer.limb)
        blocked.add(int(got.hit.sum()))
    assert len(blocked) >= 5


def test_one_ignored_character_and_mask_a_ray(crowd: cc.Limbs):
    world = cc.HitWorld(crowd)
    starts, ends = shots(crowd, sized(200))
    who = np.arange(len(starts)) % 7 - 1
    hits = world.cast_segments(starts, ends, ignore_character=who)
    occluded = world.occluded_rays(starts, ends - starts, ignore_character=who)
    free = world.cast_rays(starts, ends - starts, ignore_character=who)
    assert np.array_equal(occluded, free.hit)
    for i in range(len(starts)):
        one = world.cast_segments(starts[i], ends[i], ignore_character=int(who[i]))
        assert not same_bits(hits, one, slice(i, i + 1))
    assert (hits.character[hits.hit] != who[hits.hit]).all()
    assert (hits.limb != world.cast_segments(starts, ends).limb).any()
    masks = np.array([1, 2, 4, 7])[np.arange(len(starts)) % 4]
    hits = world.cast_segments(starts, ends, mask=masks)
    assert ((crowd.mask[hits.limb] & masks.astype(np.uint32)) != 0)[hits.hit].all()
    for i in range(0, len(starts), 7):
        assert not same_bits(hits, world.cast_segments(starts[i], ends[i], mask=int(masks[i])), slice(i, i + 1))


def test_limbs_of_nobody_are_never_ignored():
    world = cc.HitWorld(cc.Limbs.cylinders([[0, 0, 0]], [[0, 0, 2]], 1))
    assert world.limbs.character.tolist() == [-1]
    assert world.cast_segments([[-5, 0, 1]], [[5, 0, 1]], ignore_character=-1).hit[0]
    assert world.cast_segments([[-5, 0, 1]], [[5, 0, 1]], ignore_character=None).character[0] == -1


@pytest.mark.parametrize("inside", POLICIES)
def test_chords_are_the_rows_of_every_limb(crowd: cc.Limbs, inside: str):
    world = cc.HitWorld(crowd)
    starts, ends = shots(crowd, sized(150))
    chords = world.chords_segments(starts, ends, inside=inside)
    closest = world.cast_segments(starts, ends, inside=inside)
    assert chords.offsets.shape == (len(starts) + 1,)
    assert chords.offsets[-1] == len(chords.limb) > len(starts) // 2
    assert (np.diff(chords.offsets) > 1).any()
    for i in range(len(starts)):
        rows = slice(*chords.offsets[i : i + 2])
        each = crowd.cast_segments(starts[i], ends[i], inside=inside)
        assert sorted(chords.limb[rows]) == np.flatnonzero(each.hit).tolist()
        assert (np.diff(chords.entry_fraction[rows]) >= 0).all()
        assert (chords.ray[rows] == i).all()
        hits = crowd.cast_segments(starts[i], ends[i])
        for mine, theirs in (("entry_fraction", "fraction"), ("entry_face", "face")):
            assert np.array_equal(getattr(chords, mine)[rows], getattr(hits, theirs)[chords.limb[rows]])
        for name in ("exit_fraction", "exit_face", "thickness", "character"):
            want = crowd.character if name == "character" else getattr(hits, name)
            assert np.array_equal(getattr(chords, name)[rows], want[chords.limb[rows]])
        if inside == "hit":
            assert closest.limb[i] == (chords.limb[rows][0] if each.hit.any() else -1)


def test_points_are_held_by_the_lowest_limb(crowd: cc.Limbs):
    rng = np.random.default_rng(6)
    k, at = rng.integers(0, len(crowd), 400), rng.random((400, 1))
    points = crowd.p1[k] + at * (crowd.p2 - crowd.p1)[k] + rng.normal(size=(len(k), 3)) * crowd.radius[k, None] / 2
    held = cc.HitWorld(crowd).contains_points(points)
    exact = oracle_limbs(crowd)
    for i, point in enumerate(points):
        holders = [j for j, limb in enumerate(exact) if oracle.classify(limb, point) != oracle.POINT_OUTSIDE]
        assert held.limb[i] == (holders[0] if holders else -1)
        assert held.count[i] == len(holders)
        true = float(oracle.axis_distance_squared(exact[holders[0]], point)) if holders else -1.0
        assert held.axis_distance_squared[i] == pytest.approx(true, rel=1e-12, abs=1e-28)
    assert (held.count > 1).any()
    assert (held.count == 0).any()
