"""Causes: calibration of the engine, geometry of the rounded solid, and faults planted in artificial engines."""

import numpy as np
import pytest
from support.faulty_engines import (
    BlindEngine,
    ExactEngine,
    InflatedEngine,
    LossyEngine,
    OpenEngine,
    Planted,
    SingleEngine,
    flipped_world,
)
from support.runs.pybullet_runs import SAMPLED, sampled

from cylcollide.crosscheck.causes.calibration import big_from, calibrate, reference
from cylcollide.crosscheck.compare.disagreements import Cause, Disagreements, Kind
from cylcollide.crosscheck.engine import BulletClient, Setup
from cylcollide.crosscheck.generate.families import ChunkKey, draw_chunk, margin_sweep
from cylcollide.crosscheck.generate.shots import Target
from cylcollide.crosscheck.run.chunk import cast_scene, compute_chunk
from cylcollide.crosscheck.run.plan import FamiliesPlan
from cylcollide.crosscheck.run.run import run_plan
from cylcollide.engines.rounded_cylinder import Rounded

pytestmark = [pytest.mark.long, pytest.mark.ci_long]  # a sweep of its own, run by .ci/run

# Geometry of the rounded solid ----------------------------------------------------------------------------------------


def rounded(n, radius=1.0, half=2.0, ball=0.25):
    end = np.tile([0.0, 0.0, half], (n, 1))
    return Rounded(-end, end, np.full(n, radius - ball), np.full(n, -ball), np.full(n, ball))


def test_distance_to_a_rounded_cylinder_by_hand():
    points = np.array([[3.0, 0, 0], [0, 0, 5], [0, 0, 0], [0.9, 0, 0], [1.75, 0, 2.75], [0, 0, -1.9]])
    expected = [2.0, 3.0, -1.0, -0.1, np.sqrt(2) - 0.25, -0.1]
    np.testing.assert_allclose(rounded(6).signed_distance(points), expected, rtol=0, atol=1e-15)
    # The edge itself is (√2 - 1) ball radii outside.
    np.testing.assert_allclose(rounded(1).signed_distance(np.array([[1.0, 0, 2.0]])), (np.sqrt(2) - 1) * 0.25)


def test_normal_is_the_gradient():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(500, 3)) * [1.2, 1.2, 2.2]
    normal, step = rounded(500).outward_normal(points), 1e-6
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1, rtol=1e-14)
    slope = [
        (rounded(500).signed_distance(points + step * e) - rounded(500).signed_distance(points - step * e)) / (2 * step)
        for e in np.eye(3)
    ]
    smooth = np.abs(np.linalg.norm(np.array(slope), axis=0) - 1) < 1e-6
    assert smooth.sum() > 450
    np.testing.assert_allclose(np.array(slope).T[smooth], normal[smooth], rtol=0, atol=1e-5)


def test_least_distance_and_first_reach_against_samples():
    rng = np.random.default_rng(1)
    start, end = rng.normal(size=(2, 200, 3)) * 4
    solid, share = rounded(200), np.linspace(0, 1, 2001)
    along = np.array([solid.signed_distance(start + f * (end - start)) for f in share])
    least = solid.least_distance(start, end)
    step = np.linalg.norm(end - start, axis=1) / 2000
    assert (least.distance <= along.min(axis=0) + 1e-12).all()
    assert (least.distance >= along.min(axis=0) - step).all()
    reach = solid.first_reach(start, end, least, np.full(200, 0.5))
    meets = along.min(axis=0) <= 0.5
    assert 20 < meets.sum() < 180
    assert np.isfinite(reach[meets]).all()
    assert np.isnan(reach[least.distance > 0.5]).all()
    first = share[np.argmax(along <= 0.5, axis=0)]
    assert (np.abs(reach - first)[meets] <= 1 / 2000 + 1e-12).all()


def test_the_first_claim_keeps_a_row():
    found = Disagreements.of_kind(np.arange(3), Kind.PHANTOM, np.zeros(3))
    found.claim(Cause.TERMINATION, np.array([True, False, False]), np.arange(3.0), 1.0)
    found.claim(Cause.RIM_ROUNDING, np.array([True, True, False]), np.arange(3.0) + 10, 2.0)
    found.claim(Cause.UNEXPLAINED, True, np.zeros(3), 3.0)
    assert found.cause.tolist() == [Cause.TERMINATION, Cause.RIM_ROUNDING, Cause.UNEXPLAINED]
    assert found.measured.tolist() == [0.0, 11.0, 0.0]
    assert found.bound.tolist() == [1.0, 2.0, 3.0]


# Calibration of the installed PyBullet --------------------------------------------------------------------------------


def measured(radius, half, **setup):
    return calibrate(BulletClient, Setup(**setup), radius, half)


def test_stop_and_degeneracy_of_pybullet():
    found = reference(BulletClient)
    # Bullet 3.2.7: btGjkConvexCast stops at 0.001, btVoronoiSimplexSolver treats 1e-8 m³ as flat.
    assert found.stop == pytest.approx(1e-3, abs=1e-12)
    assert found.degeneracy == pytest.approx(1e-8, rel=0.3)
    assert found.deep_misses == 0.0
    assert found.skin_hits == 1.0
    assert found.core_hits < 0.2
    assert not found.caps_open
    assert not found.single
    assert 0.3 < big_from(BulletClient) <= 10.0


@pytest.mark.parametrize(("radius", "half"), [(0.01, 0.05), (0.05, 0.2), (10.0, 30.0)])
@pytest.mark.parametrize("margin", [None, 1e-4, 5e-3])
def test_the_rim_is_the_margin(radius, half, margin):
    found = measured(radius, half, margin=margin)
    assert found.rim == pytest.approx(1e-3 if margin is None else margin, rel=1e-6)
    assert found.side_growth[1] == pytest.approx(0, abs=1e-12 * radius + 1e-15)
    assert found.cap_growth == pytest.approx(0, abs=1e-12 * half + 1e-15)


def test_a_hull_is_a_prism_of_32_sides_grown_by_the_margin():
    found = measured(0.3, 1.0, construction="urdf")
    sagitta = 0.3 * (1 - np.cos(np.pi / 32))
    assert found.facets
    assert found.side_growth == pytest.approx((1e-3 - sagitta * np.cos(0), 1e-3), abs=6e-5)
    assert found.cap_growth == pytest.approx(1e-3, abs=1e-12)
    implicit = measured(0.3, 1.0, construction="urdf-implicit")
    assert not implicit.facets
    assert implicit.side_growth[1] == pytest.approx(0, abs=1e-12)


def test_mjcf_has_a_margin_of_a_tenth():
    assert measured(0.05, 0.2, construction="mjcf").rim == pytest.approx(5e-3, rel=1e-6)


def test_without_margin_deep_hits_are_missed():
    assert measured(0.05, 0.2, margin=0.0).deep_misses > 0.05
    assert measured(0.05, 0.2).deep_misses == 0.0


# Every disagreement of the installed PyBullet has a cause -------------------------------------------------------------


def test_nothing_is_unexplained():
    found = sampled().summary
    assert found["unexplained"]["disagreements"] > 15_000
    assert found["unexplained"]["share"] < 1e-4
    assert found["engine"] == "PyBullet"
    assert {"stops early", "rounded rim"} == {finding["name"] for finding in found["findings"]}


def test_every_verdict_is_proved_and_counts_add_up():
    found = sampled()
    assert found.unproved == 0
    *families, total = found.summary["families"]
    assert [row["family"] for row in families] == list(SAMPLED)
    kinds = [kind.label.replace(" ", "_") for kind in Kind]
    for row in [*families, total]:
        assert sum(row[kind] for kind in kinds) == row["disagreements"] == sum(row["causes"].values())
    for name in ("rays", "hits", "disagreements", *kinds):
        assert total[name] == sum(row[name] for row in families)
    causes = {row["cause"]: row["count"] for row in found.summary["causes"]}
    assert causes == total["causes"]
    for row in found.summary["causes"]:
        assert sum(row["kinds"].values()) == row["count"]


@pytest.mark.parametrize(
    ("family", "kind", "cause"),
    [
        ("side-graze", "phantom", Cause.TERMINATION),
        ("axis-parallel", "phantom", Cause.TERMINATION),
        ("rim", "missed", Cause.RIM_ROUNDING),
        ("corner-cut", "normal", Cause.RIM_ROUNDING),
        ("generic", "late", Cause.EARLY_EXIT),
        ("generic", "normal", Cause.BIG_SHAPE),
        ("segment-ends", "phantom", Cause.SEGMENT_END),
        ("segment-ends", "missed", Cause.SEGMENT_END),
        ("inside-start", "missed", Cause.INSIDE_START),
        ("inside-start", "normal", Cause.NOISY_NORMAL),
        ("extremes", "missed", Cause.BROAD_PHASE),
        ("elbow", "wrong limb", Cause.TERMINATION),
        ("construction", "phantom", Cause.SHAPE),
        ("humanoid", "wrong limb", Cause.TERMINATION),
    ],
)
def test_a_family_produces_its_cause(family, kind, cause):
    tally = sampled().tally
    kinds, causes = tally.column("kind", family), tally.column("cause", family)
    code = next(k for k in Kind if k.label == kind)
    assert np.sum((kinds == code) & (causes == cause)) > 0


def test_bounds_hold():
    tally = sampled().tally
    cause, measured_, bound = (tally.column(name) for name in ("cause", "measured", "bound"))
    for code in (Cause.TERMINATION, Cause.EARLY_EXIT, Cause.RIM_ROUNDING, Cause.SEGMENT_END, Cause.BIG_SHAPE):
        mine = cause == code
        assert mine.sum() > 10
        assert (measured_[mine] <= bound[mine] * (1 + 1e-12)).all()
    stopped = (cause == Cause.TERMINATION) & np.isin(tally.column("kind"), (Kind.PHANTOM, Kind.EARLY))
    # The bound is tight: Bullet does stop that far away.
    assert 0.99e-3 < measured_[stopped].max() <= 1.0000001e-3


def fired(scene):
    return cast_scene(scene, BulletClient)


def by_cause(findings: Disagreements, kind):
    rows = findings.kind == kind
    return {Cause(c): int(np.sum(findings.cause[rows] == c)) for c in np.unique(findings.cause[rows])}


def test_margins():
    rng = np.random.default_rng(2)
    body = Target.draw(rng, 0.05, 0.2, aligned=False)
    found = {scene.setup.margin: fired(scene).found for scene in margin_sweep(rng, body, 3300)}
    assert by_cause(found[0.0], Kind.MISSED)[Cause.NO_CORE_DISTANCE] > 5
    assert Cause.NO_CORE_DISTANCE not in by_cause(found[1e-3], Kind.MISSED)
    assert set(by_cause(found[0.04], Kind.MISSED)) == {Cause.RIM_ROUNDING}
    assert set(by_cause(found[0.1], Kind.PHANTOM)) == {Cause.API_LIMIT}


def test_whole_batches():
    scenes = draw_chunk(ChunkKey("batch-limits", 0, 0), 65_536)
    lost = [by_cause(fired(scene).found, Kind.LOST) for scene in scenes]
    # Of 16,384 in lists one is lost; 16,383 are answered; 16,384 in arrays give nothing; 16,385 are refused.
    assert lost == [{Cause.API_LIMIT: 1}, {}, {Cause.API_LIMIT: 16_384}, {Cause.API_LIMIT: 16_385}]


# Planted faults -------------------------------------------------------------------------------------------------------


def planted(engine, *families, rays=3000):
    return run_plan(FamiliesPlan(families or ("generic", "humanoid"), rays, 1, Planted(factory=engine))).summary


def names(summary):
    return [finding["name"] for finding in summary["findings"]]


def test_an_exact_engine_has_nothing_to_explain():
    found = planted(ExactEngine, "generic", "rim", "segment-ends", "inside-start", "humanoid", rays=6000)
    assert found["unexplained"]["disagreements"] == 0
    assert names(found) == []
    assert found["families"][-1]["hits"] > 3000


@pytest.mark.parametrize(
    ("engine", "families", "rays", "name", "cause", "least"),
    [
        (InflatedEngine, (), 3000, "inflated", Cause.SHAPE, 1000),
        (OpenEngine, (), 3000, "ends open", Cause.SHAPE, 100),
        (BlindEngine, ("humanoid",), 3000, "limb missing", Cause.BROAD_PHASE, 0),
        (SingleEngine, (), 3000, "single precision", Cause.SINGLE_PRECISION, 1000),
        (LossyEngine, ("humanoid",), 24_000, "rays lost", Cause.API_LIMIT, 5),
    ],
)
def test_a_planted_fault_is_named(engine, families, rays, name, cause, least):
    found = planted(engine, *families, rays=rays)
    assert names(found) == [name]
    assert {row["cause"] for row in found["causes"]} == {cause.label}
    assert found["causes"][0]["count"] > least
    evidence = found["findings"][0]["evidence"]
    if engine is InflatedEngine:
        assert [evidence["side_share"], evidence["cap_share"]] == pytest.approx([0.01, 0.01], rel=1e-6)
    if engine is BlindEngine:
        assert evidence["limbs"] == [BlindEngine.blind]
    if engine is LossyEngine:
        assert evidence["lost"] > 5


def test_own_verdicts_are_checked(monkeypatch):
    monkeypatch.setattr("cylcollide.crosscheck.compare.truth.HitWorld", flipped_world(50))
    plan = FamiliesPlan(("generic",), 600, 0, Planted(factory=ExactEngine))
    record = compute_chunk(plan, plan.keys[0]).record
    assert [row["proved"] for row in record["families"]] == [0]
    assert len(record["cases"]) > 0
