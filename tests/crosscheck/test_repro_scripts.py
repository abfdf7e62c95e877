"""The ranking of the worst rays, and the scripts that show them with nothing but PyBullet."""

import ast
import math
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from support.runs.humanoid import sample_result
from support.runs.replay import cases, of_each_kind_and_cause

from cylcollide.crosscheck.cases.case import read_cases
from cylcollide.crosscheck.judge.result import KINDS
from cylcollide.crosscheck.report.repro_scripts import write_case_files, write_repros
from cylcollide.crosscheck.report.worst import WORST_KINDS, worst_rays


@pytest.fixture(scope="module")
def result():
    return sample_result(seed=1, rays=4000)


def test_worst_rays_take_turns(result):
    worst = worst_rays(result, 10)
    assert [ray.kind for ray in worst] == list(WORST_KINDS) * 2
    assert [ray.rank for ray in worst] == list(range(1, 11))
    wrong, error = result.disagreements, result.agreed.distance_error
    phantom, missed, _, early, late = (ray.severity for ray in worst[:5])
    assert phantom == wrong.clearance[wrong.kind == KINDS.index("phantom")].max()
    assert missed == wrong.clearance[wrong.kind == KINDS.index("missed")].max()
    assert (early, late) == (-error.min(), error.max())
    for first, second in zip(worst[:5], worst[5:], strict=True):
        assert first.severity >= second.severity > 0


def test_worst_rays_do_not_depend_on_the_order_of_rows(result):
    def shuffled(table, seed):
        order = np.random.default_rng(seed).permutation(len(table.ray))
        return replace(table, **{name: getattr(table, name)[order] for name in table.__dataclass_fields__})

    other = replace(result, agreed=shuffled(result.agreed, 1), disagreements=shuffled(result.disagreements, 2))
    assert [(r.ray, r.kind) for r in worst_rays(other, 25)] == [(r.ray, r.kind) for r in worst_rays(result, 25)]


def test_unknown_measures_come_last(result):
    wrong = result.disagreements
    clearance = np.where(np.arange(len(wrong.ray)) == np.nanargmax(wrong.clearance), np.nan, wrong.clearance)
    ray = wrong.ray[np.nanargmax(wrong.clearance)]
    everything = worst_rays(replace(result, disagreements=replace(wrong, clearance=clearance)), 10_000)
    kinds = [r.ray for r in everything if r.kind == KINDS[wrong.kind[np.nanargmax(wrong.clearance)]]]
    assert kinds[-1] == ray
    assert len(everything) == len(wrong.ray) + np.sum(result.agreed.distance_error != 0)


def test_every_script_shows_the_wrong_answer_beside_the_right_one(result, tmp_path):
    (tmp_path / "repro").mkdir()
    (tmp_path / "repro" / "99.py").write_text("stale")
    paths = write_repros(result, tmp_path)
    worst = worst_rays(result)
    assert paths == sorted((tmp_path / "repro").iterdir())
    assert len(paths) == len(worst) == 10
    for path, ray in zip(paths, worst, strict=True):
        run = subprocess.run([sys.executable, "-I", path], capture_output=True, text=True, timeout=60, check=False)
        assert run.returncode == 0, run.stderr
        source = path.read_text(encoding="utf-8")
        assert len(source.splitlines()) < 35  # short enough for a bug report
        assert imports(source) == {"fractions", "math", "pybullet"}
        length_m = math.dist(ray.start, ray.end)
        right, engine = answer(run.stdout, "Right:"), answer(run.stdout, "PyBullet:")
        assert right == expected(result, ray.limb_true, ray.fraction_true * length_m)
        assert engine == expected(result, ray.limb_engine, ray.fraction_engine * length_m)
        assert right != engine


def test_script_repeats_the_numbers_to_the_last_bit(result, tmp_path):
    source = write_repros(result, tmp_path, count=1)[0].read_text(encoding="utf-8")
    assigned = [node for node in ast.parse(source).body if isinstance(node, ast.Assign)]
    values = {node.targets[0].id: node.value for node in assigned if isinstance(node.targets[0], ast.Name)}
    ray = worst_rays(result, 1)[0]
    assert ast.literal_eval(values["START"]) == ray.start
    assert ast.literal_eval(values["END"]) == ray.end
    (p1, p2, radius, *_) = ast.literal_eval(values["LIMBS"])[result.poses.limb_names[ray.limb_engine]]
    assert p1 == tuple(result.poses.p1[ray.pose, ray.limb_engine])
    assert p2 == tuple(result.poses.p2[ray.pose, ray.limb_engine])
    assert radius == result.poses.radius[ray.limb_engine]


def test_case_files_are_pairs_that_run_and_read_back(tmp_path):
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "77.json").write_text("stale")
    chosen = {case.kind: case for case in cases("rim")}
    written = write_case_files(list(chosen.values()), tmp_path)
    assert [record.name for record, _ in written] == [f"{n:02d}.json" for n in range(1, len(chosen) + 1)]
    assert sorted((tmp_path / "cases").iterdir()) == [record for record, _ in written]
    for (record, script), case in zip(written, chosen.values(), strict=True):
        assert read_cases(record) == [case]
        assert_shows(script, case)


def test_an_engine_without_scripts_is_refused_before_anything_is_written(tmp_path):
    case = replace(cases("rim")[0], engine="mujoco")
    with pytest.raises(ValueError, match=r"expected 'bullet'.*got a case of 'mujoco'"):
        write_case_files([cases("rim")[0], case], tmp_path)
    assert list(tmp_path.iterdir()) == []


SLOWER = ("elbow", "segment-ends", "extremes", "stale-boxes", "batch-limits")


@pytest.mark.parametrize(
    "family", ["construction", "inside-start", *(pytest.param(family, marks=pytest.mark.long) for family in SLOWER)]
)
def test_scripts_of_every_family_say_what_the_case_says(family, tmp_path):
    found = of_each_kind_and_cause(cases(family, 2000))
    for (_, script), case in zip(write_case_files(found, tmp_path), found, strict=True):
        assert_shows(script, case)


def assert_shows(script, case):
    """The script runs with nothing but PyBullet, and prints both answers of the case."""
    run = subprocess.run([sys.executable, "-I", script], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    assert imports(script.read_text(encoding="utf-8")) <= {
        "fractions",
        "math",
        "pybullet",
        "pathlib",
        "tempfile",
        "numpy",
    }
    if case.kind == "lost":
        assert f"{int(case.measured)} answers" in run.stdout
        return
    for who, limb, fraction, normal in (
        ("Right:", case.limb_true, case.fraction_true, case.normal_true),
        ("PyBullet:", case.limb_engine, case.fraction_engine, case.normal_engine),
    ):
        (line,) = (line for line in run.stdout.splitlines() if line.startswith(who))
        if limb < 0:
            assert "hits no limb" in line
            continue
        said = re.search(r"hits limb (\d+) after ([-\d.]+) m(?:, normal (.*))?", line)
        assert int(said[1]) == limb
        assert float(said[2]) == pytest.approx(fraction * case.length, abs=1e-9 + 1e-12 * case.length)
        if case.kind == "normal" and any(normal):
            atol = 2e-9 if who == "Right:" else 1e-6  # PyBullet's carry float32 noise
            np.testing.assert_allclose([float(x) for x in said[3].split()], normal, atol=atol)


def imports(source):
    found = set()
    for node in ast.walk(ast.parse(source)):
        found |= {node.module} if isinstance(node, ast.ImportFrom) else set()
        found |= {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()
    return found


def answer(out, who):
    """Limb and distance along the path, to a micrometre, as a script prints them."""
    (line,) = (line for line in out.splitlines() if line.startswith(who))
    limb, _, after = line.removeprefix(who).strip().removeprefix("hits ").partition(" after ")
    return limb, float(after.removesuffix(" m")) if after else None


def expected(result, limb, after):
    return ("no limb", None) if limb < 0 else (result.poses.limb_names[limb], pytest.approx(after, abs=1e-6))
