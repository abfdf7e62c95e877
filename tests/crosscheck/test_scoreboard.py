"""The scoreboard: planted faults count, policies are no errors, a failing engine is named and stops no other."""

from dataclasses import replace

import numpy as np
import pytest
from support.faulty_engines import HairlineEngine, InflatedEngine, Planted, flipped_world
from support.runs.scoreboard import OURS, RAYS, SEED, scoreboard_by_name, verdicts

from cylcollide.crosscheck.cases.case import Case, read_cases, write_cases
from cylcollide.crosscheck.cases.recast import recast
from cylcollide.crosscheck.causes.calibration import calibrations
from cylcollide.crosscheck.causes.compare_scene import compare
from cylcollide.crosscheck.compare.comparison import Comparison, usable
from cylcollide.crosscheck.compare.disagreements import Kind
from cylcollide.crosscheck.compare.truth import Truth
from cylcollide.crosscheck.engine import NamedEngine, Setup
from cylcollide.crosscheck.generate.families import ChunkKey, draw_chunk
from cylcollide.crosscheck.run.chunk import compute_chunk
from cylcollide.crosscheck.run.engine_errors import EngineErrors
from cylcollide.crosscheck.run.plan import FamiliesPlan
from cylcollide.crosscheck.run.scoreboard import SCORED_FAMILIES, scoreboard
from cylcollide.engines import EngineHits, registry


def test_an_exact_engine_has_no_errors(scores):
    for name in ("cylcollide", "exact"):
        score = scores[name]
        assert score.error == ""
        assert 0.95 * RAYS < score.rays < 1.1 * RAYS
        assert verdicts(score) == {}
        assert score.distance_mm == score.normal_deg == score.position_mm == (0.0, 0.0, 0.0)
        assert [score.early, score.late, score.normal, score.position, score.moved, score.cases] == [0] * 5 + [()]
        assert score.inside == "hit at once"
        assert score.families == dict.fromkeys(SCORED_FAMILIES, 0)
        assert score.unproved == 0
        assert score.speed > 0


def test_rays_lost_only_in_batches_are_lost(scores):
    score = scores["forgetful"]
    assert set(verdicts(score)) == {"lost"}
    assert 0 < score.lost <= RAYS // 1000 + 1
    assert score.distance_mm == (0.0, 0.0, 0.0)


def test_missing_answers_and_unknown_limbs_are_lost(scores):
    score = scores["short"]
    assert set(verdicts(score)) == {"lost"}
    assert score.lost > 2 * 5 * len(SCORED_FAMILIES)  # 2 of every scene
    assert score.families["generic"] == 2 * 6


@pytest.mark.parametrize(("name", "words"), [("leaving", "hit where it leaves"), ("passing", "no hit")])
def test_a_policy_is_no_error(scores, name, words):
    score = scores[name]
    assert score.inside == words
    assert verdicts(score) == {}
    assert score.distance_mm == (0.0, 0.0, 0.0)


def test_mixed_policies_are_listed_with_shares():
    errors = EngineErrors("planted", {})
    assert errors.inside == ""
    errors.policies = [10, 0, 30]
    assert errors.inside == "mixed: no hit 75 %, hit at once 25 %"
    errors.policies = [0, 999, 1]
    assert errors.inside == "hit where it leaves 99.9 %, no hit 0.1 %"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("raising", "extremes: ArithmeticError: a direction of length 0"),
        ("panicking", "elbow: PanicError: index out of bounds"),
        ("balls", "it holds no cylinders, and all families are about cylinders"),
        ("rayless", "it casts no rays"),
        ("absent", "No module named 'no_such_package'"),
    ],
)
def test_a_failed_engine_has_an_error_and_no_counts(scores, name, words):
    score = scores[name]
    assert score.error == words
    assert (score.rays, verdicts(score), score.families) == (0, {}, {})
    assert np.isnan([*score.distance_mm, *score.normal_deg, score.speed]).all()
    assert bool(score.limits) == (name != "absent")


@pytest.mark.usefixtures("planted")
def test_equal_seeds_give_equal_scores():
    def counts(seed):
        return [replace(score, speed=0.0) for score in scoreboard_by_name("inflated", rays=60, seed=seed)]

    first = counts(1)
    assert counts(1) == first != counts(2)


@pytest.mark.usefixtures("planted")
def test_bad_names_and_numbers_are_refused():
    with pytest.raises(ValueError, match=r"no engine 'havok'; known engines: cylcollide, exact, .* or all"):
        scoreboard(["exact", "havok"])
    with pytest.raises(ImportError, match="no_such_package"):
        scoreboard(["absent"])
    with pytest.raises(ValueError, match="rays must be at least 1, got 0"):
        scoreboard(["exact"], 0)


@pytest.mark.usefixtures("planted")
def test_unconfirmed_disagreements_do_not_count_for_the_engine(monkeypatch):
    monkeypatch.setattr("cylcollide.crosscheck.compare.truth.HitWorld", flipped_world(5))
    (score,) = scoreboard_by_name("exact")
    assert score.unproved > 10
    assert verdicts(score) == {}


@pytest.mark.usefixtures("planted")
@pytest.mark.parametrize("name", ["inflated", "blind"])
def test_the_worst_case_of_every_family_and_kind_replays_on_its_engine(scores, name, tmp_path):
    write_cases(tmp_path / "cases.json", list(scores[name].cases))
    found = read_cases(tmp_path / "cases.json")
    wrong = {family for family, count in scores[name].families.items() if count}
    errors = {"early", "late", "normal", "position"}
    assert {case.family for case in found if case.kind not in errors and not case.was} == wrong
    assert {case.kind for case in found} & errors == {kind for kind in errors if getattr(scores[name], kind)}
    assert len({(case.family, case.kind, bool(case.was)) for case in found}) == len(found)
    assert {case.engine for case in found} <= {name}
    assert [case.place for case in found if not recast(case).reproduced] == []


def test_differences_within_rounding_are_no_errors():
    scene = draw_chunk(key := ChunkKey("side-graze", SEED, 0), 2000)[4]
    errors, truth = EngineErrors("planted", {}), Truth(scene)
    with HairlineEngine() as engine:
        both = Comparison.of(engine, truth)
        errors.add(key, 4, both, engine.cast_segments)
    rows = both.right_hits
    assert (np.abs(both.distance_error(rows)) > truth.rounding(rows, truth.hits.limb[rows])).sum() > 5
    assert (errors.wrong[key.family]["early"], errors.wrong[key.family]["late"]) == (0, 0)
    _, found = compare(scene, Planted(factory=HairlineEngine), calibrations(Planted(factory=HairlineEngine), scene))
    assert not np.isin(found.kind, (Kind.EARLY, Kind.LATE)).any()


@pytest.mark.usefixtures("planted")
def test_a_run_by_families_names_its_engine_in_its_cases():
    plan = FamiliesPlan(("rim",), 240, SEED, NamedEngine("inflated"))
    found = [Case.read(case) for case in compute_chunk(plan, plan.keys[0]).record["cases"]]
    assert {case.engine for case in found} == {"inflated"}
    assert recast(found[0]).again == found[0]
    plan = FamiliesPlan(("rim",), 240, SEED, Planted(factory=InflatedEngine))
    unnamed = compute_chunk(plan, plan.keys[0]).record["cases"]
    assert {case["engine"] for case in unnamed} == {"planted"}
    with pytest.raises(ValueError, match=r"expected one of .*, got 'planted'"):
        recast(Case.read(unnamed[0]))


@pytest.mark.usefixtures("planted")
def test_cases_distinguish_variants():
    both = EngineErrors("embree", {"sides": 256}), EngineErrors("bullet", {"margin": 0.0})
    key = ChunkKey("generic", SEED, 0)
    scene = draw_chunk(key, 240)[4]
    truth = Truth(scene)

    def answers(start, _):
        return EngineHits(np.zeros(len(start), np.int32), np.zeros(len(start)), start, np.zeros((len(start), 3)))

    for each in both:
        each.add(key, 4, Comparison(truth, *usable(answers(truth.start, truth.end), 20, 1), True), answers)
    polygon, bare = (each.worst["generic", "phantom"][1] for each in both)
    assert (polygon.engine, polygon.options, polygon.setup) == ("embree", {"sides": 256}, Setup())
    assert (bare.engine, bare.options, bare.setup.margin) == ("bullet", {}, 0.0)
    gaps = truth.clearances(np.arange(20), np.zeros(20, np.int32))
    assert bare.amount == polygon.amount == gaps[~truth.hits.hit].max() > 0


@pytest.mark.long
def test_pybullet_as_it_is(monkeypatch):
    monkeypatch.setattr(registry, "_OURS", OURS)  # earlier tests may have planted others
    found = {score.engine.removeprefix("PyBullet, "): score for score in scoreboard(["bullet"], 12 * 600, SEED)}
    assert set(found) == {"GEOM_CYLINDER", "margin 0", "URDF", "URDF implicit", "MJCF"}
    for score in found.values():
        assert score.error == ""
        assert score.unproved == score.lost == 0
        assert score.phantom > 100
        assert score.inside.startswith("mixed: no hit")
        assert 0 < score.speed < 1
    assert found["margin 0"].missed > 3 * found["GEOM_CYLINDER"].missed
    assert found["URDF"].distance_mm[0] > 0.5  # the margin lies outside the hull
    assert found["GEOM_CYLINDER"].distance_mm[0] < 0.5
