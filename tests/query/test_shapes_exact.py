"""Every shape: verdict, limb and faces equal those of real arithmetic, positions stay within 4 ulp."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from support.cases.shape_rays import SHAPES, sample, sample_rays
from support.check_cylinders import sized
from support.check_shapes import Asked, ShapeTally, compare_chords, compare_hits, row_truths
from support.oracle import any_shape
from support.oracle import cylinder as oracle
from support.oracle.cylinder import INSIDE
from support.oracle.lines import CAPSULE, CYLINDER, TAPERED, TUBE, Solid
from support.oracle.shapes.rows import Shots, shapes, shots
from support.oracle.shapes.table import NAMES, SHAPE_ROWS

import cylcollide as cc

pytestmark = pytest.mark.plain_python

POLICIES = ("hit", "exit", "ignore")
COUNT = 2200


def check_coverage(tally: ShapeTally, inside: str, rows: int) -> None:
    """Assert that every shape had every kind of answer, in shares that a broken sample would not reach."""
    assert tally.rows >= rows
    each = rows / len(SHAPES)
    for kind in SHAPES:
        seen = {what: tally.seen[kind, what] for what in ("hit", "miss", "touch")}
        assert seen["hit"] > 0.3 * each, (NAMES[kind], seen)
        assert seen["miss"] > 0.1 * each, (NAMES[kind], seen)
        assert seen["touch"] > 0.02 * each, (NAMES[kind], seen)
        more = {INSIDE} if inside == "hit" else set()
        assert {face for k, face in tally.entry_seen if k == kind} == SHAPE_ROWS[kind].faces | more
        assert {face for k, face in tally.exit_seen if k == kind} == SHAPE_ROWS[kind].faces | {INSIDE}
    assert tally.seen[TUBE, "two chords"] > 0.1 * each
    assert tally.started_inside > 0.1 * rows


@pytest.fixture(scope="module")
def segments() -> Shots:
    return sample(COUNT, seed=31)


@pytest.fixture(scope="module")
def truths(segments: Shots) -> list[Asked]:
    return row_truths(segments)


@pytest.mark.parametrize("inside", POLICIES)
def test_every_shape_and_family_row_by_row(segments: Shots, truths: list[Asked], inside: str):
    # Every row under "hit", a third of each family under the other policies.
    rows = np.arange(0, len(segments), 1 if inside == "hit" else 3)
    asked = segments.take(rows)
    hits = asked.cast(inside)
    tally = compare_hits(hits, [truths[i].alone(k) for k, i in enumerate(rows)], inside, asked.family)
    assert not tally.problems, tally.report()
    check_coverage(tally, inside, len(rows))
    assert hits.rechecked > 0.05 * len(asked), "adversarial rays are what exact arithmetic is for"


def test_rays_with_limits_row_by_row():
    r = sample_rays(600, seed=32)
    true = row_truths(r)
    for inside in POLICIES:
        tally = compare_hits(r.cast(inside), true, inside, r.family)
        assert not tally.problems, tally.report()
        check_coverage(tally, inside, 550)


def test_ordinary_rays_need_no_recheck():
    s = sample(COUNT, seed=33)
    near = (np.char.find(s.family, ": aimed") >= 0) & (np.abs(s.shapes.p1).max(axis=1) < 1e3)
    for kind in SHAPES:
        ordinary = s.take(near & (s.shapes.kind == kind))
        assert len(ordinary) > COUNT // 300
        assert ordinary.cast().rechecked < 0.35 * len(ordinary), NAMES[kind]


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")  # interpreted kernels warn, compiled ones do not
@pytest.mark.parametrize("power", [-250, -90, 90, 250])
def test_lengths_of_any_unit(segments: Shots, power: int):
    """Adversarial rows in units of 10⁻⁷⁵ to 10⁷⁵, whose eighth powers exceed float64: the same verdicts and faces."""
    s, factor = segments.take(np.arange(power % 7, len(segments), 7)), 2.0**power
    scaled = replace(s, shapes=s.shapes.scaled(factor), start=s.start * factor, end=s.end * factor)
    one, two = s.cast(), scaled.cast()
    for name in ("hit", "limb", "face", "exit_face", "started_inside"):
        differ = np.flatnonzero(getattr(one, name) != getattr(two, name))
        assert not len(differ), (name, s.family[differ], differ)
    assert np.allclose(one.fraction, two.fraction, rtol=1e-15, atol=0)
    assert np.allclose(one.exit_fraction, two.exit_fraction, rtol=1e-15, atol=1e-32)
    largest = np.abs([s.start, s.end, s.shapes.p1, s.shapes.p2]).max(axis=(0, 2))[one.hit]
    for name in ("position", "exit_position"):
        off = np.abs(getattr(one, name) - getattr(two, name) / factor)[one.hit].max(axis=1)
        assert (off <= 8 * np.spacing(largest)).all(), name


@pytest.mark.parametrize("kind", [CYLINDER, TUBE, CAPSULE, TAPERED])
def test_rays_almost_parallel_below_kernel_resolution(kind: int):
    """The axis is turned by 10⁻²⁵ to 10⁻⁴⁰; the rays touch the wall, or bore, of the limb before that turn."""
    turn = np.repeat([0.0, *10.0 ** -np.arange(25.0, 41.0)], 6)
    n, rng = len(turn), np.random.default_rng(8)
    sign = rng.choice([-1.0, 1.0], (n, 4))
    p2 = np.column_stack([12 * sign[:, 0], turn * sign[:, 1], turn * rng.integers(-1, 2, n)])
    limbs = shapes(kind, np.zeros((n, 3)), p2, radius=np.full(n, 4.0), radius2=np.full(n, 2.0 * (kind != CAPSULE)))
    across = rng.choice([2.0, 4.0], n) * sign[:, 2]
    place = np.where((rng.random(n) < 0.5)[:, None], np.column_stack([across, 0 * across]), 0.0)
    place = np.where((place == 0.0).all(axis=1)[:, None], np.column_stack([0 * across, across]), place)
    start, end = (np.column_stack([x * sign[:, 3], place]) for x in (np.full(n, -20.0), rng.choice([0.0, 12, 40], n)))
    s = shots(limbs if kind in (TUBE, TAPERED) else replace(limbs, radius2=np.zeros(n)), start, end)
    truth, rows = row_truths(s), s.shapes.limbs()
    each = [rows[i] for i in range(n)]
    for inside in POLICIES:
        hits = s.cast(inside)
        tally = compare_hits(hits, truth, inside)
        assert not tally.problems, tally.report()
        alone = [limb.cast_segments(start[i], end[i], inside=inside).hit[0] for i, limb in enumerate(each)]
        assert alone == hits.hit.tolist()
    assert 0.05 * n < tally.hits
    assert tally.hits < 0.95 * n or kind == CAPSULE, "whose balls are touched where its wall is not"


def test_every_chord_of_every_row(segments: Shots, truths: list[Asked]):
    """Each row in a world of its own: all chords of the tubes, with entry and exit."""
    two, wrong = 0, []
    rows = np.flatnonzero((segments.shapes.kind == TUBE) | (np.arange(len(segments)) % 20 == 0))
    limbs = segments.shapes.limbs()
    for i in rows[:: max(1, len(rows) // sized(120))].tolist():
        asked = truths[i].alone(0)
        world, row = cc.HitWorld(limbs[i]), (segments.start[i : i + 1], segments.end[i : i + 1])
        for inside in POLICIES:
            count, problems = compare_chords(world.chords_segments(*row, inside=inside), [asked], inside)
            wrong += [f"{segments.family[i]} {problem}" for problem in problems]
            two += count == 2
    assert not wrong, f"{len(wrong)} differ: {wrong[:3]}"
    assert two > sized(120) // 10


def test_points_of_every_shape(segments: Shots):
    """Ends of the adversarial segments as points: exact side, and the squared distance from the axis."""
    limbs, solids, seen = segments.shapes.limbs(), segments.shapes.solids(), Counter()
    for half, points in enumerate((segments.start, segments.end)):
        side, squared = limbs.classify_points(points).tolist(), limbs.axis_distance_squared(points).tolist()
        for i, solid in list(enumerate(solids))[half::2]:
            want = any_shape.classify(solid, points[i].tolist())
            assert side[i] == want, (segments.family[i], solid, points[i].tolist())
            check_distance(solid, points[i].tolist(), want != oracle.POINT_OUTSIDE, squared[i])
            seen[solid.kind, want] += 1
    assert all(seen[kind, want] > len(segments) / 600 for kind in SHAPES for want in range(3)), seen


def check_distance(solid: Solid, point: list[float], inside: bool, squared: float) -> None:
    """Assert a squared distance from the axis (a centre, a box's z axis): its root is within ulps of coordinates."""
    if not inside:
        assert squared == -1.0
        return
    true = float(any_shape.axis_distance_squared(solid, point))
    slack = 16 * 2.0**-52 * max(map(abs, (*point, *solid.p1, *solid.p2)))
    assert abs(squared - true) <= 1e-14 * true + 2 * true**0.5 * slack + slack**2, (solid, point, squared, true)


@pytest.mark.long
@pytest.mark.parametrize("part", range(50))
def test_a_million_segments_and_rays(part: int):
    s = sample(16_000, seed=1000 + part)
    inside = POLICIES[part % 3]
    tally = compare_hits(s.cast(inside), row_truths(s), inside, s.family)
    assert not tally.problems, tally.report()
    check_coverage(tally, inside, 16_000)
    r = sample_rays(6000, seed=2000 + part)
    tally = compare_hits(r.cast(inside), row_truths(r), inside, r.family)
    assert not tally.problems, tally.report()
