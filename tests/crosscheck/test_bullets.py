"""Bullets are as intended, and the first limb is right, by an oracle that shares no code with the library."""

import numpy as np
import pytest
from support.oracle.any_shape import all_chords, chords, credited, graze_depth
from support.oracle.cylinder import segment
from support.oracle.lines import CYLINDER, Solid

import cylcollide as cc
from cylcollide.bullet.humanoid import Humanoid
from cylcollide.crosscheck.compare.truth import exact_first_limbs
from cylcollide.crosscheck.generate.bullets import AIMED, BULLET_FAMILIES, GRAZE, MISS, RIM, draw_bullets
from cylcollide.engines.rounded_cylinder import Rounded


@pytest.fixture(scope="module")
def shot():
    """Bullets at one pose, with its limbs."""
    with Humanoid() as humanoid:
        limbs = humanoid.limbs(*humanoid.pose("kick", 0.8))
    return draw_bullets(np.random.default_rng(11), 1500, limbs.p1, limbs.p2, limbs.radius), limbs


def oracle_limb(limbs, row):
    return Solid(CYLINDER, tuple(limbs.p1[row].tolist()), tuple(limbs.p2[row].tolist()), float(limbs.radius[row]))


# Bullets --------------------------------------------------------------------------------------------------------------


def test_shares_of_the_families(shot):
    bullets, _ = shot
    shares = np.bincount(bullets.family, minlength=4) / len(bullets.family)
    # Four standard deviations of a share of 1500 draws are at most 0.051.
    np.testing.assert_allclose(shares, [0.6, 0.2, 0.1, 0.1], atol=0.051)
    assert set(np.flatnonzero(bullets.target < 0)) == set(np.flatnonzero(bullets.family == MISS))
    assert len(np.unique(bullets.target)) == 16


def test_bullets_hit_and_miss_as_intended(shot):
    bullets, limbs = shot
    counts = dict.fromkeys(BULLET_FAMILIES, 0)
    aimed, others = np.flatnonzero(bullets.family == AIMED), np.flatnonzero(bullets.family != AIMED)
    for row in [*others.tolist(), *aimed[:100].tolist()]:
        query = segment(bullets.start[row].tolist(), bullets.end[row].tolist())
        target, family = int(bullets.target[row]), int(bullets.family[row])
        if family == MISS:
            assert not any(chords(oracle_limb(limbs, limb), query) for limb in range(len(limbs)))
        else:
            meets = bool(chords(oracle_limb(limbs, target), query))
            assert meets == (family == AIMED or bullets.depth[row] > 0), (BULLET_FAMILIES[family], bullets.depth[row])
        counts[BULLET_FAMILIES[family]] += 1
    assert min(counts.values()) >= 100


def test_graze_depth_is_exact(shot):
    bullets, limbs = shot
    rows = np.flatnonzero(bullets.family == GRAZE)
    for row in rows.tolist():
        limb = oracle_limb(limbs, int(bullets.target[row]))
        depth = graze_depth(limb, segment(bullets.start[row].tolist(), bullets.end[row].tolist()))
        # Start and end round to half an ulp of 64 m, 7e-15 m a coordinate; the point is off by a few ulps of 1 m.
        assert abs(depth - bullets.depth[row]) * limb.radius < 3e-14
    decades = np.floor(np.log10(np.abs(bullets.depth[rows])))
    assert set(decades) == set(range(-7, -1))
    assert 0.4 < np.mean(bullets.depth[rows] > 0) < 0.6
    assert np.isnan(bullets.depth[(bullets.family == AIMED) | (bullets.family == MISS)]).all()


def test_rim_points_lie_in_the_cap_plane(shot):
    bullets, limbs = shot
    both_ends = 0
    for row in np.flatnonzero(bullets.family == RIM).tolist():
        target = bullets.target[row]
        start, heading = bullets.start[row], bullets.end[row] - bullets.start[row]
        axis = limbs.p2[target] - limbs.p1[target]
        offsets = []
        for end in (limbs.p1[target], limbs.p2[target]):
            crossing = start + heading * ((end - start) @ axis) / (heading @ axis)
            offsets.append(1 - np.linalg.norm(crossing - end) / limbs.radius[target] - bullets.depth[row])
        assert min(np.abs(offsets)) < 1e-11
        both_ends += int(np.argmin(np.abs(offsets)))
    assert 0.4 < both_ends / np.sum(bullets.family == RIM) < 0.6


def test_bullets_start_far_outside_every_limb_and_run_past(shot):
    bullets, limbs = shot
    for limb in range(len(limbs)):
        assert (limbs[limb].classify_points(bullets.start) == cc.Side.OUTSIDE).all()
        assert (limbs[limb].classify_points(bullets.end) == cc.Side.OUTSIDE).all()
        axis_ends = np.stack([limbs.p1[limb], limbs.p2[limb]])
        away = np.linalg.norm(bullets.start[:, None] - axis_ends, axis=2) - limbs.radius[limb]
        assert away.min() >= 2
    lengths = np.linalg.norm(bullets.end - bullets.start, axis=1)
    assert lengths.min() > 3
    assert lengths.max() < 56


# Truth ----------------------------------------------------------------------------------------------------------------


def test_exact_first_limb_equals_the_oracle(shot):
    bullets, limbs = shot
    rows = slice(0, 150)
    found = exact_first_limbs(bullets.start[rows], bullets.end[rows], limbs)
    numbered = [(limb, oracle_limb(limbs, limb)) for limb in range(len(limbs))]
    for row, limb in enumerate(found.tolist()):
        query = segment(bullets.start[row].tolist(), bullets.end[row].tolist())
        hit = credited(all_chords(numbered, query), "hit")
        assert limb == (-1 if hit is None else hit.limb)
    assert 10 < np.sum(found < 0) < 75


def test_clearance_of_grazing_bullets_is_their_depth(shot):
    bullets, limbs = shot
    rows = np.flatnonzero(bullets.family == GRAZE)
    target = limbs[bullets.target[rows]]
    solids = Rounded.cylinders(target.p1, target.p2, target.radius)
    signed = solids.least_distance(bullets.start[rows], bullets.end[rows]).distance
    # A graze near a cap may cut less deep below the cap than below the side.
    depth = -bullets.depth[rows] * target.radius
    shallow = np.abs(bullets.depth[rows]) < 0.01
    np.testing.assert_allclose(signed[shallow], depth[shallow], rtol=0, atol=1e-13)
