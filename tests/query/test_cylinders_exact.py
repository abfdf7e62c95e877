"""Verdict, limb and faces equal those of real arithmetic, positions stay within 4 ulp: every family, every policy."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from support.cases.cylinder_rays import Segments
from support.cases.cylinder_rays_exact import FAMILIES, sample
from support.cases.cylinder_scenes import PLANS, Rays, Scene, sample_rays, scene
from support.check_cylinders import POSITION_ULPS, Tally, Truth, compare_hits, sized, truth_of
from support.oracle import cylinder as oracle
from support.oracle.cylinder import CAP1, CAP2, INSIDE, SIDE

import cylcollide as cc

pytestmark = pytest.mark.plain_python

POLICIES = ("hit", "exit", "ignore")


def row_truths(questions: Segments | Rays) -> list[dict[int, Truth]]:
    """Return, row by row, the truth about the limb of that row."""
    found = [truth_of(questions.limb(i), questions.query(i)) for i in range(len(questions))]
    return [{} if t is None else {i: t} for i, t in enumerate(found)]


@pytest.fixture(scope="module")
def segments() -> Segments:
    return sample(sized(2000, 900), seed=1)


@pytest.fixture(scope="module")
def truths(segments: Segments) -> list[dict[int, Truth]]:
    return row_truths(segments)


def cast(s: Segments, inside: str) -> cc.RayHits:
    return cc.Limbs.cylinders(s.p1, s.p2, s.radius).cast_segments(s.start, s.end, inside=inside)


def saw_enough(tally: Tally, inside: str, rows: int) -> None:
    """Assert that a sample of all families met every kind of answer, in shares that a broken sample would not have."""
    assert tally.rows >= rows
    assert min(tally.hits, tally.misses) > 0.1 * rows
    assert tally.started_inside > 0.1 * rows
    assert tally.touches > 0.02 * rows
    faces = {SIDE, CAP1, CAP2} | ({INSIDE} if inside == "hit" else set())
    assert set(tally.entry_faces) == faces
    assert min(tally.entry_faces.values()) > 0.05 * rows
    assert set(tally.exit_faces) == {SIDE, CAP1, CAP2, INSIDE}
    assert min(tally.exit_faces.values()) > 0.02 * rows


@pytest.mark.parametrize("inside", POLICIES)
def test_every_family_row_by_row(segments: Segments, truths: list[dict[int, Truth]], inside: str):
    hits = cast(segments, inside)
    tally = compare_hits(hits, truths, inside, segments.family)
    assert not tally.problems, tally.report()
    saw_enough(tally, inside, sized(2000, 900))
    assert set(segments.family) == set(FAMILIES)
    assert hits.rechecked > 0.1 * len(segments), "adversarial rays are what exact arithmetic is for"


def test_ordinary_rays_need_no_recheck():
    s = sample(sized(2000, 900), seed=2)
    s = s.take((s.family == "aimed") & (np.abs(s.p1).max(axis=1) < 1e3))
    assert len(s) > sized(2000, 900) // 40
    assert cast(s, "hit").rechecked == 0


@pytest.mark.parametrize("inside", POLICIES)
def test_rays_with_limits_row_by_row(inside: str):
    r = sample_rays(sized(1200, 500), seed=3)
    limbs = cc.Limbs.cylinders(r.p1, r.p2, r.radius)
    hits = limbs.cast_rays(r.origin, r.direction, max_distance=r.max_distance, inside=inside)
    tally = compare_hits(hits, row_truths(r), inside, r.family)
    assert not tally.problems, tally.report()
    saw_enough(tally, inside, sized(1140, 475))


def scene_truths(s: Scene) -> list[dict[int, Truth]]:
    """Return, ray by ray, the truth about every limb that it crosses."""
    limbs = s.limbs()
    rows = []
    for i in range(len(s.start)):
        query = s.query(i)
        rows.append({k: t for k, limb in enumerate(limbs) if (t := truth_of(limb, query)) is not None})
    return rows


@pytest.mark.parametrize("name", PLANS)
def test_the_first_limb_is_credited_in_exact_order(name: str):
    seen: Counter[str] = Counter()
    for seed in range(6):
        s = scene(name, sized(60), seed)
        world, found = cc.HitWorld(cc.Limbs.cylinders(s.p1, s.p2, s.radius)), scene_truths(s)
        for inside in POLICIES:
            hits = world.cast_segments(s.start, s.end, inside=inside)
            tally = compare_hits(hits, found, inside)
            assert not tally.problems, f"{name} {seed=} " + tally.report()
            assert np.array_equal(world.occluded_segments(s.start, s.end, inside=inside), hits.hit)
            seen[inside] += tally.hits
        seen["inside"] += tally.started_inside
        seen["ties"] += sum(_tied(row) for row in found)
    assert min(seen[inside] for inside in POLICIES) > 5
    assert seen["inside"] > 3
    assert seen["ties"] > 3 or name == "crowd"


def _tied(found: dict[int, Truth]) -> bool:
    """Return whether two limbs are met first at exactly the same point ahead of the start."""
    first = oracle.credited(((i, t.chord) for i, t in found.items()), "ignore")
    return first is not None and sum(oracle.compare(t.chord.entry, first.at) == 0 for t in found.values()) > 1


@pytest.mark.parametrize("name", PLANS)
def test_chords_are_all_limbs_crossed_in_exact_order(name: str):
    count = 0
    for seed in range(4):
        s = scene(name, sized(60), seed)
        chords = cc.HitWorld(cc.Limbs.cylinders(s.p1, s.p2, s.radius)).chords_segments(s.start, s.end)
        limbs = list(enumerate(s.limbs()))
        for i in range(len(s.start)):
            rows = slice(*chords.offsets[i : i + 2])
            want = oracle.chords(limbs, s.query(i))
            got = zip(chords.limb[rows], chords.entry_face[rows], chords.exit_face[rows], strict=True)
            assert [tuple(map(int, row)) for row in got] == [(k, c.entry_face, c.exit_face) for k, c in want], (
                f"{name} {seed=} ray {i}"
            )
            assert (chords.ray[rows] == i).all()
            _check_fractions(s, i, want, chords.entry_fraction[rows], chords.exit_fraction[rows])
            count += len(want)
    assert count > sized(60)


def _check_fractions(s: Scene, i: int, want: list, entries: np.ndarray, exits: np.ndarray) -> None:
    """Assert that fraction·direction is good to 4 ulp of the largest coordinate at both ends of each chord."""
    limbs = s.limbs()
    for (k, chord), *fractions in zip(want, entries.tolist(), exits.tolist(), strict=True):
        truth = Truth(limbs[k], s.query(i), chord)
        for t, point in zip(fractions, (truth.entry, truth.exit), strict=True):
            start, step = map(Fraction, truth.query.origin), truth.query.direction
            place = [o + Fraction(t) * d for o, d in zip(start, step, strict=True)]
            assert truth.ulps(point, place) <= POSITION_ULPS


@pytest.mark.long
@pytest.mark.parametrize("inside", POLICIES)
@pytest.mark.parametrize("part", range(10))
def test_a_hundred_thousand_segments(part: int, inside: str):
    s = sample(10_000, seed=100 + part)
    hits = cast(s, inside)
    tally = compare_hits(hits, row_truths(s), inside, s.family)
    assert not tally.problems, tally.report()
    saw_enough(tally, inside, 10_000)


@pytest.mark.long
@pytest.mark.parametrize("inside", POLICIES)
def test_many_rays_with_limits(inside: str):
    r = sample_rays(20_000, seed=200)
    limbs = cc.Limbs.cylinders(r.p1, r.p2, r.radius)
    hits = limbs.cast_rays(r.origin, r.direction, max_distance=r.max_distance, inside=inside)
    tally = compare_hits(hits, row_truths(r), inside, r.family)
    assert not tally.problems, tally.report()


@pytest.mark.long
@pytest.mark.parametrize("name", PLANS)
def test_many_scenes(name: str):
    for seed in range(1000, 1060):
        s = scene(name, 80, seed)
        world, found = cc.HitWorld(cc.Limbs.cylinders(s.p1, s.p2, s.radius)), scene_truths(s)
        for inside in POLICIES:
            tally = compare_hits(world.cast_segments(s.start, s.end, inside=inside), found, inside)
            assert not tally.problems, f"{name} {seed=} " + tally.report()
