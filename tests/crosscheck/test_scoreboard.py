"""The scoreboard: planted faults show, policies are no errors, an engine that fails is named and stops no other."""

import csv
import io
import json
import os
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from support.faulty_engines import InflatedEngine

import cylcollide as cc
from cylcollide import cli, engines
from cylcollide.crosscheck.cases.case import Case, read_cases, write_cases
from cylcollide.crosscheck.cases.replay.story import replayed
from cylcollide.crosscheck.causes.kinds_and_causes import Kind
from cylcollide.crosscheck.commands import crosscheck as crosscheck_command
from cylcollide.crosscheck.commands import scoreboard as scoreboard_command
from cylcollide.crosscheck.engine.setup import NamedEngine, PlainEngine
from cylcollide.crosscheck.generate.families import ChunkKey, draw_chunk
from cylcollide.crosscheck.generate.families.shots import Scene
from cylcollide.crosscheck.judge.exact_truth import clearances
from cylcollide.crosscheck.run.chunk import Work
from cylcollide.crosscheck.scoreboard import scoreboard as board
from cylcollide.crosscheck.scoreboard.cases import Place, Shelf, Told
from cylcollide.crosscheck.scoreboard.judge import Judge, Truth
from cylcollide.crosscheck.scoreboard.scoreboard import ASKED, Score, scoreboard
from cylcollide.engines import EngineHits, registry

FAULTY = ("Exact", "Inflated", "Open", "Blind", "Single", "Forgetful", "Leaving", "Passing", "Short")
FAILING = ("Raising", "Panicking", "Balls")
RAYS = 250 * len(ASKED)
SEED = 5
OURS = dict(registry._OURS)


def point(name, place):
    return EntryPoint(name, place, engines.GROUP)


@pytest.fixture(scope="module", name="planted")
def _planted():
    """Only the artificial engines and this library are known, and speeds are not worth much time."""
    with pytest.MonkeyPatch.context() as patch:
        points = [point(name.lower(), f"support.faulty_engines:{name}Engine") for name in (*FAULTY, *FAILING)]
        points.append(point("absent", "no_such_package.engine:Engine"))
        patch.setattr(registry, "_OURS", {"cylcollide": registry._OURS["cylcollide"]})
        patch.setattr(registry, "entry_points", lambda group: points if group == engines.GROUP else [])
        patch.setattr(board, "TIMED_RAYS", 300)
        patch.setattr(board, "ROUNDS", 3)
        yield patch


@pytest.fixture(scope="module")
def scores(request):
    request.getfixturevalue("planted")
    return {score.engine: score for score in scoreboard_by_name("all", rays=RAYS)}


def scoreboard_by_name(*names, rays=240, seed=SEED):
    """Scores whose engines go by the names they were asked by: all planted engines call themselves alike."""
    wanted = engines.names() if names == ("all",) else names
    return [replace(score, engine=name) for name, score in zip(wanted, scoreboard(names, rays, seed), strict=True)]


def verdicts(score):
    return {name: getattr(score, name) for name in ("missed", "phantom", "wrong_limb", "lost") if getattr(score, name)}


def test_an_exact_engine_has_nothing_against_it(scores):
    for name in ("cylcollide", "exact"):
        score = scores[name]
        assert score.error == ""
        assert 0.95 * RAYS < score.rays < 1.1 * RAYS
        assert verdicts(score) == {}
        assert score.distance_mm == score.normal_deg == (0.0, 0.0, 0.0)
        assert score.inside == "hit at once"
        assert score.families == dict.fromkeys(ASKED, 0)
        assert score.unproved == 0
        assert score.speed > 0


def test_an_inflated_engine_has_phantoms_and_is_early(scores):
    score = scores["inflated"]
    assert score.missed == score.lost == 0
    assert score.phantom > 100
    assert score.families["axis-parallel"] > 20
    # Limbs of 1 mm to 30 cm, 1 % thicker.
    assert 0.005 < score.distance_mm[0] < 5.0


def test_open_ends_are_missed_where_rays_run_along_the_axis(scores):
    score = scores["open"]
    assert score.phantom == score.lost == 0
    assert score.missed > 20
    assert score.families["axis-parallel"] > 10
    assert score.families["side-graze"] == 0
    assert score.distance_mm[2] > 100.0  # where the far wall is hit instead of the cap


def test_a_missing_limb_is_missed_in_the_humanoid_alone(scores):
    score = scores["blind"]
    assert {family for family, count in score.families.items() if count} == {"humanoid"}
    assert score.phantom == score.lost == 0
    assert score.missed + score.wrong_limb > 3
    assert score.distance_mm == (0.0, 0.0, 0.0)


def test_single_precision_shows_in_the_distance_alone(scores):
    score = scores["single"]
    assert verdicts(score) == {}
    assert score.normal_deg == (0.0, 0.0, 0.0)
    assert 1e-8 < score.distance_mm[0] < 1e-2


def test_lost_rays_come_back_when_asked_alone(scores):
    score = scores["forgetful"]
    assert set(verdicts(score)) == {"lost"}
    assert 0 < score.lost <= RAYS // 1000 + 1
    assert score.distance_mm == (0.0, 0.0, 0.0)


def test_answers_that_do_not_come_or_name_no_limb_are_lost(scores):
    score = scores["short"]
    assert set(verdicts(score)) == {"lost"}
    assert score.lost > 2 * 10 * len(ASKED)  # two of every scene
    assert score.families["generic"] == 2 * 12


@pytest.mark.parametrize(("name", "words"), [("leaving", "hit where it leaves"), ("passing", "no hit")])
def test_a_policy_is_no_error(scores, name, words):
    score = scores[name]
    assert score.inside == words
    assert verdicts(score) == {}
    assert score.distance_mm == (0.0, 0.0, 0.0)


def test_policies_that_mix_are_told_with_their_shares():
    assert Judge(policies=[10, 0, 30]).inside == "mixed: no hit 75 %, hit at once 25 %"
    assert Judge(policies=[0, 999, 1]).inside == "hit where it leaves 99.9 %, no hit 0.1 %"
    assert Judge().inside == ""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("raising", "extremes: ArithmeticError: a direction of length 0"),
        ("panicking", "elbow: PanicError: index out of bounds"),
        ("balls", "generic: ValueError: planted holds no cylinders, and all families are about cylinders"),
        ("absent", "No module named 'no_such_package'"),
    ],
)
def test_an_engine_that_fails_says_so_and_has_no_counts(scores, name, words):
    score = scores[name]
    assert score.error == words
    assert (score.rays, verdicts(score), score.families) == (0, {}, {})
    assert np.isnan([*score.distance_mm, *score.normal_deg, score.speed]).all()


@pytest.mark.usefixtures("planted")
def test_equal_seeds_give_equal_scores():
    def counts(seed):
        return [replace(score, speed=0.0) for score in scoreboard_by_name("inflated", "open", seed=seed)]

    assert counts(1) == counts(1)
    assert counts(1) != counts(2)


@pytest.mark.usefixtures("planted")
def test_bad_names_and_numbers_are_refused():
    with pytest.raises(ValueError, match=r"no engine 'havok'; known engines: cylcollide, exact, .* or all"):
        scoreboard(["exact", "havok"])
    with pytest.raises(ImportError, match="no_such_package"):
        scoreboard(["absent"])
    with pytest.raises(ValueError, match="rays must be at least 1, got 0"):
        scoreboard(["exact"], 0)


@pytest.mark.usefixtures("planted")
def test_what_exact_arithmetic_does_not_confirm_is_no_fault_of_the_engine(monkeypatch):
    class Flipped(cc.HitWorld):
        def cast_segments(self, starts, ends, **options):
            hits = super().cast_segments(starts, ends, **options)
            hits.limb[np.flatnonzero(hits.limb >= 0)[::5]] = -1
            return hits

    monkeypatch.setattr("cylcollide.crosscheck.scoreboard.judge.HitWorld", Flipped)
    (score,) = scoreboard_by_name("exact")
    assert score.unproved > 10
    assert verdicts(score) == {}


def test_exact_arithmetic_is_asked_once(monkeypatch):
    scene = Scene(np.zeros((1, 3)), np.eye(3)[2:], np.array([0.5]), None)
    shots = type("Shots", (), {"start": np.array([[-2.0, 0, 0.5]] * 3), "end": np.array([[2.0, 0, 0.5]] * 3)})
    truth = Truth(replace(scene, shots=shots))
    assert truth.confirms(np.array([0, 2])).all()
    monkeypatch.setattr("cylcollide.crosscheck.scoreboard.judge.exact_first_limbs", lambda *a: np.full(len(a[0]), 7))
    assert truth.confirms(np.array([0, 1, 2])).tolist() == [True, False, True]


# The command ----------------------------------------------------------------------------------------------------------


def crosscheck(monkeypatch, *options):
    monkeypatch.setattr(sys, "argv", ["x", "crosscheck", *map(str, options)])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    return stopped.value.code


@pytest.mark.usefixtures("planted")
def test_the_command_writes_json_and_csv(monkeypatch, tmp_path, capsys, scores):
    monkeypatch.setattr(scoreboard_command, "guarded_scoreboard", lambda *_: list(scores.values()))
    assert crosscheck(monkeypatch, "--engines", "all", "--out", tmp_path / "a") == 0
    text = capsys.readouterr().out
    for score in scores.values():
        assert score.engine in text
    assert "…" not in text  # fits in 80 columns
    assert "no_such_package" in text
    record = json.loads((tmp_path / "a" / "scoreboard.json").read_text())
    assert record["schema"] == scoreboard_command.SCHEMA
    assert record["scoreboard"] == [score.record() for score in scores.values()]
    assert record["scoreboard"][-1]["speed"] is None
    with (tmp_path / "a" / "scoreboard.csv").open() as file:
        rows = {row["engine"]: row for row in csv.DictReader(file)}
    assert int(rows["inflated"]["phantom"]) == scores["inflated"].phantom
    assert int(rows["blind"]["wrong in humanoid"]) == scores["blind"].families["humanoid"]
    assert float(rows["single"]["distance_mm_median"]) == scores["single"].distance_mm[0]
    assert rows["raising"]["speed"] == rows["raising"]["wrong in generic"] == ""


@pytest.mark.usefixtures("planted")
def test_the_command_fails_if_this_library_is_wrong(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(crosscheck_command, "run_scoreboard", lambda *_: [Score("E", {}, "", rays=9, unproved=2)])
    assert crosscheck(monkeypatch, "--engines", "exact", "--out", tmp_path) == 1
    assert "2 disagreements with E are NOT confirmed" in capsys.readouterr().err


@pytest.mark.usefixtures("planted")
def test_an_unknown_engine_is_one_line_that_names_the_known(monkeypatch, tmp_path, capsys):
    assert crosscheck(monkeypatch, "--engines", "havok", "--out", tmp_path / "a") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("cylcollide: no engine 'havok'; known engines: cylcollide, exact, ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("planted")
def test_a_folder_that_cannot_be_written_is_one_line(monkeypatch, tmp_path, capsys):
    (tmp_path / "taken").write_text("")
    assert crosscheck(monkeypatch, "--engines", "exact", "--out", tmp_path / "taken" / "report") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("cylcollide: cannot write to")


@pytest.mark.usefixtures("planted")
@pytest.mark.parametrize("name", ["inflated", "open", "blind", "single", "passing"])
def test_the_worst_of_every_family_and_kind_replays_on_the_engine_it_came_from(scores, name, tmp_path):
    write_cases(tmp_path / "cases.json", list(scores[name].cases))
    found = read_cases(tmp_path / "cases.json")
    wrong = {family for family, count in scores[name].families.items() if count}
    assert {case.family for case in found} == wrong
    assert len({(case.family, case.kind) for case in found}) == len(found)
    assert {case.engine for case in found} <= {name}
    for case in found[:3]:
        assert replayed(case).reproduced


@pytest.mark.usefixtures("planted")
def test_a_run_by_families_names_its_engine_in_its_cases():
    record = Work({"rim": 240}, NamedEngine("inflated"))(ChunkKey("rim", SEED, 0)).record
    found = [Case.read(case) for case in record["cases"]]
    assert {case.engine for case in found} == {"inflated"}
    assert replayed(found[0]).again == found[0]
    unnamed = Work({"rim": 240}, PlainEngine(InflatedEngine))(ChunkKey("rim", SEED, 0)).record["cases"]
    assert {case["engine"] for case in unnamed} == {"planted"}
    with pytest.raises(ValueError, match=r"expected one of .*, got 'planted'"):
        replayed(Case.read(unnamed[0]))


@pytest.mark.usefixtures("planted")
def test_variants_are_told_from_each_other_in_cases():
    shelf = Shelf("embree", {"sides": 256})
    margin = Shelf("bullet", {"margin": 0.0})
    scene = draw_chunk(ChunkKey("generic", SEED, 0), 240)[4]
    truth = Truth(scene)
    none = np.zeros((20, 3))
    phantom = EngineHits(np.zeros(20, np.int32), np.zeros(20), none, none)
    told = Told(Place("generic", SEED, 4), truth.limbs, truth.start, truth.end, truth.hits, phantom)
    for each in (shelf, margin):
        each.keep(Kind.PHANTOM, np.flatnonzero(~truth.hits.hit), told)
    (polygon,), (bare,) = shelf.cases, margin.cases
    assert (polygon.engine, polygon.options, polygon.built.is_default) == ("embree", {"sides": 256}, True)
    assert (bare.engine, bare.options, bare.built.margin) == ("bullet", {}, 0.0)
    gaps = clearances(truth.start, truth.end, *(np.repeat(x, 20, axis=0) for x in (scene.p1, scene.p2, scene.radius)))
    assert bare.amount == polygon.amount == gaps[~truth.hits.hit].max() > 0


@pytest.mark.usefixtures("planted")
def test_a_motion_does_not_go_with_engines(monkeypatch, tmp_path, capsys):
    assert crosscheck(monkeypatch, "--engines", "all", "--motion", "walk", "--out", tmp_path) == 2
    assert "--motion does not go with --engines" in capsys.readouterr().err


def test_markup_in_an_error_is_text():
    console = Console(file=io.StringIO(), width=100)
    console.print(scoreboard_command._limits([Score("E", {}, "generic: ValueError: [/bold] [3]")]))
    assert "[/bold] [3]" in console.file.getvalue()


# Whole processes ------------------------------------------------------------------------------------------------------

FATAL = """
import os
from support.faulty_engines import ExactEngine
class Engine(ExactEngine):
    name = "Fatal"
    def build(self, limbs):
        if len(limbs) > 1:
            os.abort()
        super().build(limbs)
"""


@pytest.fixture
def installed(tmp_path):
    """An environment in which two more packages declare engines: one ends its process, one lacks what it needs."""
    for name, code in (("fatal", FATAL), ("lacking", "import no_such_package")):
        (tmp_path / "site" / f"{name}-1.0.dist-info").mkdir(parents=True)
        (tmp_path / "site" / f"{name}.py").write_text(code)
        about = tmp_path / "site" / f"{name}-1.0.dist-info"
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[{engines.GROUP}]\n{name} = {name}:Engine\n")
    path = [str(tmp_path / "site"), str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


def run(environment, *options):
    command_line = [sys.executable, "-m", "cylcollide", "crosscheck", *map(str, options)]
    return subprocess.run(command_line, capture_output=True, text=True, check=False, env=environment)


@pytest.mark.long
def test_an_engine_that_ends_its_process_is_named_and_the_others_go_on(installed, tmp_path):
    out = tmp_path / "out"
    done = run(installed, "--engines", "fatal", "--engines", "cylcollide", "--rays", 240, "--out", out)
    assert done.returncode == 0, done.stderr
    fatal, own = json.loads((out / "scoreboard.json").read_text())["scoreboard"]
    assert fatal["error"] == "elbow: it ended the process (SIGABRT)"
    assert own["error"] == ""
    assert own["rays"] > 200


@pytest.mark.long
def test_a_missing_package_is_one_line_if_it_was_named(installed, tmp_path):
    done = run(installed, "--engines", "lacking", "--out", tmp_path / "out")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "no_such_package" in line


@pytest.mark.long
def test_families_and_engines_together(tmp_path):
    options = ["--families", "generic", "--rays", 600, "--jobs", 1, "--engines", "cylcollide"]
    done = run(dict(os.environ), *options, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    (score,) = json.loads((tmp_path / "summary.json").read_text())["scoreboard"]
    assert (score["engine"], score["missed"], score["error"]) == ("cylcollide", 0, "")
    assert 600 <= score["rays"] < 800  # "same-line" fires sixteen at a time


@pytest.mark.long
def test_pybullet_as_it_is(monkeypatch):
    monkeypatch.setattr(registry, "_OURS", OURS)  # tests before may have planted others
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
