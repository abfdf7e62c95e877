"""Families: segments have the intended depths, by exact arithmetic, and a chunk depends on its key alone."""

from dataclasses import fields

import numpy as np
import pytest

import cylcollide as cc
from cylcollide.crosscheck.generate.families import CALLS, FAMILIES, MARGINS, ChunkKey, draw_chunk, fitting
from cylcollide.crosscheck.generate.one_limb import BEND, aimed
from cylcollide.crosscheck.generate.shots import SIZES, Target
from cylcollide.crosscheck.run.plan import FamiliesPlan
from cylcollide.engines.bullet import CONSTRUCTIONS

SINGLE = [family for family in FAMILIES if family not in ("humanoid", "elbow", "batch-limits")]
STARTING = ("generic", "side-graze", "rim", "corner-cut", "axis-parallel", "construction", "near-start", "inside-start")


def chunk(family, n=360, seed=5, number=0):
    return draw_chunk(ChunkKey(family, seed, number), n)


def rows(family, per_scene=8, n=360):
    """Some segments of every scene: scene, its limb, start, end, depth."""
    for scene in chunk(family, n):
        shot = scene.shots
        limbs = cc.Limbs.cylinders(scene.p1, scene.p2, scene.radius)
        step = max(1, len(shot.start) // per_scene) | 1  # odd: rows of both halves of a mixed scene
        for row in range(0, len(shot.start), step):
            yield scene, limbs[int(shot.target[row])], shot.start[row], shot.end[row], shot.depth[row]


def rounding(scene, start, end):
    """64 ulps of the largest coordinate."""
    return 64 * np.spacing(max(np.abs(points).max() for points in (scene.p1, scene.p2, start, end)))


def hits(scene):
    """Whether the segments of a scene hit their targets."""
    shot, limbs = scene.shots, cc.Limbs.cylinders(scene.p1, scene.p2, scene.radius)
    return limbs[shot.target].cast_segments(shot.start, shot.end).hit


@pytest.mark.parametrize(
    "family", [family for family in FAMILIES if family not in ("generic", "elbow", "batch-limits")]
)
def test_segments_with_a_depth_hit_and_others_with_a_gap_miss(family):
    count = 0
    for scene in chunk(family, 1200):
        depth = scene.shots.depth
        intended = np.isfinite(depth)
        np.testing.assert_array_equal(hits(scene)[intended], depth[intended] >= 0)
        count += intended.sum()
    assert count > 50


@pytest.mark.parametrize("family", ["near-start", "extremes"])
def test_inward_long_and_far_segments_hit(family):
    for scene in chunk(family):
        if scene.radius[0] > 1e4 * np.spacing(np.abs(scene.p1).max()):
            assert hits(scene)[np.isnan(scene.shots.depth)].all()


@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize(("radius", "half"), SIZES)
def test_segments_aimed_inside_hit(radius, half, aligned):
    rng = np.random.default_rng(5)
    body = Target.draw(rng, radius, half, aligned)
    assert hits(body.scene(aimed(rng, body, 200, widest=0.999, longest=0.999))).all()


@pytest.mark.parametrize("family", ["side-graze", "axis-parallel", "near-start", "same-line", "margin-sweep"])
def test_depth_is_the_exact_clearance(family):
    signs = []
    for scene, limb, start, end, depth in rows(family, per_scene=4, n=1200):
        if np.isfinite(depth):
            clearance = limb.explain_segment(start, end).clearance
            assert clearance == pytest.approx(-depth, rel=1e-9, abs=rounding(scene, start, end))
            signs.append(depth > 0)
    assert len(signs) > 20
    assert 0 <= np.mean(signs) < 1
    assert any(signs) == (family != "near-start")


def test_a_corner_is_cut_to_the_depth():
    for scene, limb, start, end, depth in rows("corner-cut"):
        why = limb.explain_segment(start, end)
        # Both faces move by x, the corner by √2 x.
        assert np.sqrt(2) * why.clearance == pytest.approx(-depth, rel=1e-6, abs=2 * rounding(scene, start, end))


def test_a_rim_is_crossed_within_the_depth():
    for scene, limb, start, end, depth in rows("rim"):
        why = limb.explain_segment(start, end)
        assert 0 < abs(why.clearance) <= abs(depth) + rounding(scene, start, end)
        if depth > 0:
            # In through the cap and out through the side, or the other way.
            assert {why.face, why.exit_face} <= {cc.Face.SIDE, cc.Face.CAP1, cc.Face.CAP2}
            assert cc.Face.SIDE in (why.face, why.exit_face)
            assert why.face != why.exit_face


def test_segments_end_at_the_depth():
    touching, depths = 0, set()
    for scene, limb, start, end, depth in rows("segment-ends", per_scene=15):
        side = limb.classify_points(end[None])[0]
        if depth == 0.0:
            assert side == cc.Side.SURFACE
            assert limb.cast_segments(start[None], end[None]).fraction[0] == pytest.approx(1.0, abs=1e-15)
            touching += 1
        else:
            assert side == (cc.Side.INSIDE if depth > 0 else cc.Side.OUTSIDE)
            depths.add(round(np.log10(abs(depth))))
        assert limb.explain_segment(end, end).clearance == pytest.approx(-depth, abs=rounding(scene, start, end))
        assert limb.classify_points(start[None])[0] == cc.Side.OUTSIDE
    assert touching > 3
    assert depths >= set(range(-8, -1))


@pytest.mark.parametrize("family", STARTING)
def test_only_inside_starts_are_inside(family):
    expected = cc.Side.INSIDE if family == "inside-start" else cc.Side.OUTSIDE
    for scene in chunk(family):
        limbs = cc.Limbs.cylinders(scene.p1, scene.p2, scene.radius)
        assert (limbs[scene.shots.target].classify_points(scene.shots.start) == expected).all()


def test_a_start_inside_is_at_the_depth():
    for scene, limb, start, end, depth in rows("inside-start"):
        assert limb.explain_segment(start, start).clearance == pytest.approx(-depth, abs=rounding(scene, start, end))


def test_extremes_are_extreme():
    zero, longest, farthest = 0, 0.0, 0.0
    for scene, _, start, end, _ in rows("extremes", per_scene=30):
        zero += bool(np.array_equal(start, end))
        longest = max(longest, np.linalg.norm(end - start))
        farthest = max(farthest, np.abs(scene.p1).max())
    assert zero > 30
    assert longest > 1e6
    assert farthest > 1e5


def test_each_flight_step_starts_at_the_last_end():
    scene = chunk("same-line", 960)[0]
    shot = scene.shots
    steps = np.isnan(shot.depth)
    start, end = (points[steps].reshape(8, -1, 3) for points in (shot.start, shot.end))
    np.testing.assert_array_equal(start[1:], end[:-1])
    lines = shot.end[~steps].reshape(8, -1, 3)
    np.testing.assert_array_equal(lines, np.broadcast_to(lines[:1], lines.shape))


def test_an_elbow_shares_its_joint_and_bends():
    for scene in chunk("elbow"):
        np.testing.assert_array_equal(scene.p2[0], scene.p1[1])
        first, second = scene.p1[0] - scene.p2[0], scene.p2[1] - scene.p1[1]
        cosine = first @ second / np.linalg.norm(first) / np.linalg.norm(second)
        assert cosine == pytest.approx(np.cos(BEND), abs=1e-9)
        hits = cc.HitWorld(cc.Limbs.cylinders(scene.p1, scene.p2, scene.radius)).cast_segments(
            scene.shots.start, scene.shots.end
        )
        assert {0, 1} <= set(hits.limb.tolist())


def test_settings_are_swept():
    assert {scene.setup.margin for scene in chunk("margin-sweep")} == set(MARGINS)
    assert {scene.setup.construction for scene in chunk("construction")} == set(CONSTRUCTIONS)
    assert all(scene.setup.stale for scene in chunk("stale-boxes"))


@pytest.mark.parametrize(("share", "calls"), [(0, 1), (20_000, 1), (24_576, 2), (62_500, 4), (10**6, 4)])
def test_calls_are_as_many_as_fit_and_keep_their_size(share, calls):
    drawn = [(len(scene.shots.start), scene.as_lists) for scene in chunk("batch-limits", share)]
    assert drawn == list(CALLS[:calls])
    assert fitting(share) == (sum(count for count, _ in drawn) if share else 0)


@pytest.mark.parametrize("family", SINGLE)
def test_all_sizes_in_both_poses(family):
    scenes = chunk(family)
    assert {float(radius) for scene in scenes for radius in scene.radius} == {radius for radius, _ in SIZES}
    aligned = [np.count_nonzero(scene.p2 - scene.p1) == len(scene.p1) for scene in scenes]
    assert any(aligned)
    assert not all(aligned)


def test_the_humanoid_has_its_bullets():
    scenes = chunk("humanoid", 1200)
    assert sum(len(scene.shots.start) for scene in scenes) == 1200
    assert all(len(scene.radius) == 15 for scene in scenes)
    assert len({scene.p1.tobytes() for scene in scenes}) == len(scenes)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_chunk_depends_on_its_key_alone(family):
    def numbers(**key):
        scenes = chunk(family, **key)
        return [getattr(part, f.name) for s in scenes for part in (s.shots,) for f in fields(part)]

    one, again = numbers(), numbers()
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, again, strict=True))
    for other in (numbers(seed=6), numbers(number=1)):
        assert not np.array_equal(one[0], other[0])


def test_families_have_different_generators():
    keys = [ChunkKey(family, 0, 0).generator().random() for family in FAMILIES]
    assert len(set(keys)) == len(FAMILIES) == 16


@pytest.mark.parametrize("rays", [160, 16_000, 65_536, 131_071, 131_072, 400_000, 655_360])
def test_families_have_equal_shares_of_any_number(rays):
    plan = FamiliesPlan(FAMILIES, rays, 0)
    shares = dict.fromkeys(FAMILIES, 0)
    for key in plan.keys:
        shares[key.family] += plan.size_of(key.family)
    whole = shares.pop("batch-limits")
    assert abs(whole - rays / 16) <= 8193  # whole calls of 16,384
    assert len(set(shares.values())) == 1
    assert abs(shares["rim"] - rays / 16) <= 8193 / 15 + 20
    assert (plan.not_tried == [{"family": "batch-limits", "rays": 131_072}]) == (whole == 0) == (rays < 131_072)
