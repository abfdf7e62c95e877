"""``cylcollide replay``: a saved case is replayed and explained; a case that cannot be replayed is one line."""

import json
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from support.package import run_python
from support.runs.pybullet_runs import cases, of_each_kind_and_cause, swept

from cylcollide.crosscheck.cases.case import read_cases, write_cases
from cylcollide.crosscheck.cases.recast import answers_apart, recast
from cylcollide.crosscheck.engine import BulletClient
from cylcollide.crosscheck.run.run import write_numbers
from cylcollide.engines import registry

pytestmark = pytest.mark.long  # whole runs and pages: minutes where nothing is compiled yet


@pytest.fixture
def replay(command):
    return partial(command, "replay")


@pytest.fixture
def alone(monkeypatch):
    """Run no other engine, for speed."""
    monkeypatch.setattr("cylcollide.crosscheck.cases.recast.answers_apart", lambda names, _: dict.fromkeys(names, "no"))


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "cases.json"
    write_cases(path, cases("rim"))
    return path


def test_all_cases_of_a_file_are_reproduced(replay, saved):
    status, out, _ = replay(saved)
    count = len(cases("rim"))
    assert status == 0
    assert f"{count} of {count} reproduced" in out
    assert out.count(" yes") == count


@pytest.mark.usefixtures("alone")
def test_one_case_is_shown_in_steps(replay, saved, long_path):
    row = next(row for row, case in enumerate(cases("rim")) if case.kind == "phantom")
    case = cases("rim")[row]
    small, script = long_path / "case.json", long_path / "case.py"
    status, out, _ = replay(saved, "--row", row, "--out", small, "--repro", script)
    assert status == 0
    assert f"Case: {small}\nScript: {script}\n" in out
    words = " ".join(out.split())
    for step in range(1, 6):
        assert f"{step}. " in out
    assert f"{case.address}: phantom" in words
    assert "Rational arithmetic: the segment hits no limb; this library says the same." in words
    assert "Termination tolerance." in words
    assert "it stops 1 mm in front of a surface" in words
    assert "predicted: it vanishes it does" in words
    assert "Reproduced to the last bit" in words


@pytest.mark.usefixtures("alone")
def test_the_place_of_a_segment_shows_all_kinds(replay, saved):
    twice = [case for case in cases("rim") if sum(other.address == case.address for other in cases("rim")) == 2]
    status, out, _ = replay(saved, "--place", twice[0].address)
    assert status == 0
    assert [f"{twice[0].address}: {case.kind}" in out for case in twice[:2]] == [True, True]


@pytest.mark.usefixtures("alone")
def test_a_smaller_case_and_its_script(replay, saved, tmp_path):
    row = next(row for row, case in enumerate(cases("rim")) if case.kind == "missed")
    small, script = tmp_path / "small.json", tmp_path / "small.py"
    status, out, _ = replay(saved, "--row", row, "--minimise", "--out", small, "--repro", script)
    assert status == 0
    assert "Minimised: segment" in out
    (case,) = read_cases(small)
    assert case.kind == "missed"
    assert case.address == cases("rim")[row].address
    done = run_python("-I", script)
    assert (done.returncode, re.sub(r"^pybullet build time: .*\n", "", done.stderr)) == (0, "")
    assert "PyBullet: hits no limb" in done.stdout
    assert replay(small)[0] == 0


@pytest.mark.usefixtures("alone")
def test_a_humanoid_bullet_is_a_case_too(replay, refused, tmp_path):
    rays = tmp_path / "rays.npz"
    write_numbers(swept(), tmp_path)
    status, out, _ = replay(rays, "--row", 0)
    assert status == 0
    assert "Reproduced to the last bit" in " ".join(out.split())
    assert "14 other limbs" in out or "13 other limbs" in out
    refused("replay", rays, "--row", 10_000)


@pytest.mark.usefixtures("alone")
def test_a_case_not_reproduced_shows_the_new_answer(replay, tmp_path):
    case = next(case for case in cases("rim") if case.kind == "phantom")
    far = tuple(np.array([case.start, case.end]) + 100.0)
    gone = replace(case, start=tuple(far[0].tolist()), end=tuple(far[1].tolist()))
    write_cases(tmp_path / "gone.json", gone)
    status, out, _ = replay(tmp_path / "gone.json")
    assert status == 1
    assert "NOT reproduced: PyBullet and this library agree." in out


@pytest.mark.usefixtures("alone")
def test_json_output(replay, saved):
    status, out, _ = replay(saved, "--row", 0, "--json")
    (record,) = json.loads(out)
    assert status == 0
    assert record["schema"] == 1
    assert record["reproduced"] is True
    assert record["again"]["fraction_engine"] == record["case"]["fraction_engine"]
    assert record["engines"][0]["engine"] == "PyBullet"
    assert record["explained"][0].startswith("limb 0, cylinder")


def test_the_case_file_is_not_overwritten(refused, saved):
    before = saved.read_bytes()
    for option in ("--out", "--repro"):
        assert f"{option}: expected another file" in refused("replay", saved, "--row", 0, option, saved)
    assert saved.read_bytes() == before


def test_an_engine_that_is_not_installed(refused, tmp_path, monkeypatch):
    monkeypatch.setitem(registry._OURS, "ghost", "ghost:Ghost")
    write_cases(tmp_path / "ghost.json", replace(cases("rim")[0], engine="ghost"))
    assert "ghost" in refused("replay", tmp_path / "ghost.json")


@pytest.mark.long
def test_other_engines_run_apart_and_may_crash():
    case = replace(cases("rim")[0], end=cases("rim")[0].start)
    others = [name for name, why_not in registry.available().items() if why_not is None and name != "bullet"]
    said = answers_apart([*others, "nonesuch"], case)
    assert set(said) == {*others, "nonesuch"}
    assert said["cylcollide"][0] == "cylcollide"
    assert "expected one of" in said["nonesuch"]


@pytest.mark.long
@pytest.mark.parametrize(
    "family", ["side-graze", "elbow", "construction", "segment-ends", "inside-start", "extremes", "batch-limits"]
)
def test_cases_of_every_family_are_reproduced(family):
    for case in of_each_kind_and_cause(cases(family, 2000)):
        live = recast(case, BulletClient)
        assert live.proved
        assert live.again == case
