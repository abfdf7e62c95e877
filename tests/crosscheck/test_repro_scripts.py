"""The ranking of the worst bullets, and the scripts that show them with nothing but PyBullet."""

import ast
import re
from dataclasses import replace

import numpy as np
import pytest
from support.package import run_python
from support.runs.pybullet_runs import cases, of_each_kind_and_cause, right_hits, swept

from cylcollide.crosscheck.cases.case import read_cases
from cylcollide.crosscheck.compare.disagreements import Kind
from cylcollide.crosscheck.report.drawn_case import worst_cases
from cylcollide.crosscheck.report.page import write_case_files
from cylcollide.crosscheck.run.chunk import WORST_KINDS
from cylcollide.crosscheck.run.run import wrong_bullets


@pytest.fixture(scope="module")
def result():
    return swept()


def test_worst_bullets_take_turns(result):
    worst = worst_cases(result.tally.cases)
    # PyBullet's positions agree with its fractions.
    assert [case.kind_code for case in worst] == [kind for kind in WORST_KINDS if kind != Kind.POSITION] * 2
    kind, clearance = (wrong_bullets(result, result.plan)[name] for name in ("kind", "clearance"))
    error = right_hits(result.tally)[1]
    phantom, missed, _, early, late = (case.amount for case in worst[:5])
    assert phantom == clearance[kind == Kind.PHANTOM].max()
    assert missed == clearance[kind == Kind.MISSED].max()
    assert (early, late) == (error.min(), error.max())
    for first, second in zip(worst[:5], worst[5:], strict=True):
        assert abs(first.amount) >= abs(second.amount) > 0


def test_worst_bullets_do_not_depend_on_the_order_of_rows(result):
    found = result.tally.cases
    shuffled = [found[row] for row in np.random.default_rng(1).permutation(len(found))]
    assert worst_cases(shuffled, most=25) == worst_cases(found, most=25)


def test_unknown_measures_come_last(result):
    found = result.tally.cases
    worst = worst_cases(found, most=1)[0]
    unknown = [replace(case, amount=None) if case == worst else case for case in found]
    everything = worst_cases(unknown, most=10_000)
    assert [case.address for case in everything if case.kind == worst.kind][-1] == worst.address
    assert len(everything) == len(found)


def test_a_case_is_a_pair_of_files_that_replay_and_show_it(result, tmp_path):
    """Files of an earlier report go."""
    for folder, stale in (("cases", "77.json"), ("repro", "99.py")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / stale).write_text("stale")
    worst = worst_cases(result.tally.cases)
    shown = [*worst, *{case.kind: case for case in cases("rim")}.values()]
    written = write_case_files(shown, tmp_path)
    assert [record.name for record, _ in written] == [f"{n:02d}.json" for n in range(1, len(shown) + 1)]
    for folder, files in zip(("cases", "repro"), zip(*written, strict=True), strict=True):
        assert sorted((tmp_path / folder).iterdir()) == list(files)
    for (record, script), case in zip(written, shown, strict=True):
        assert read_cases(record) == [case]
        short = len(script.read_text(encoding="utf-8").splitlines()) < 35
        assert short or case not in worst, "fit for a bug report"
    assert len(worst) == 10
    first, *_ = assert_scripts_show([script for _, script in written], shown)
    assert run_python("-I", written[0][1]).stdout == first


def test_script_repeats_the_numbers_to_the_last_bit(result, tmp_path):
    case = worst_cases(result.tally.cases, most=1)[0]
    ((_, script),) = write_case_files([case], tmp_path)
    assigned = [node for node in ast.parse(script.read_text(encoding="utf-8")).body if isinstance(node, ast.Assign)]
    values = {node.targets[0].id: node.value for node in assigned if isinstance(node.targets[0], ast.Name)}
    assert ast.literal_eval(values["START"]) == case.start
    assert ast.literal_eval(values["END"]) == case.end
    poses = result.plan.poses
    (p1, p2, radius, *_) = ast.literal_eval(values["LIMBS"])[poses.limb_names[case.limb_engine]]
    assert p1 == tuple(poses.p1[case.scene, case.limb_engine])
    assert p2 == tuple(poses.p2[case.scene, case.limb_engine])
    assert radius == poses.radius[case.limb_engine]


def test_an_engine_without_scripts_is_refused_before_anything_is_written(tmp_path):
    case = replace(cases("rim")[0], engine="mujoco")
    with pytest.raises(ValueError, match=r"expected 'bullet'.*got a case of 'mujoco'"):
        write_case_files([cases("rim")[0], case], tmp_path)
    assert list(tmp_path.iterdir()) == []


SLOWER = ("construction", "elbow", "segment-ends", "extremes", "stale-boxes", "batch-limits")


@pytest.mark.parametrize(
    "family", ["inside-start", *(pytest.param(family, marks=pytest.mark.long) for family in SLOWER)]
)
def test_scripts_of_every_family_print_the_case(family, tmp_path):
    found = of_each_kind_and_cause(cases(family, 2000))
    assert_scripts_show([script for _, script in write_case_files(found, tmp_path)], found)


ONE_AFTER_ANOTHER = """
import sys, pybullet
for script in sys.argv[1:]:
    names = {}
    exec(open(script, encoding="utf-8").read(), names)
    pybullet.disconnect(names["client"])
    print(end="\\0", flush=True)
"""


def assert_scripts_show(scripts, shown):
    """The scripts run with nothing but PyBullet, and print both answers of their cases; return what they print."""
    run = run_python("-I", "-c", ONE_AFTER_ANOTHER, *scripts, timeout=60)
    assert run.returncode == 0, run.stderr
    printed = run.stdout.split("\0")[:-1]
    for script, case, text in zip(scripts, shown, printed, strict=True):
        allowed = {"fractions", "math", "pybullet", "pathlib", "tempfile", "numpy"}
        assert imports(script.read_text(encoding="utf-8")) <= allowed
        assert_shows(text, case)
    return printed


def assert_shows(text, case):
    """The text has both answers of the case."""
    if case.kind == "lost":
        assert f"{int(case.measured)} answers" in text
        return
    for who, limb, fraction, normal in (
        ("Right:", case.limb_true, case.fraction_true, case.normal_true),
        ("PyBullet:", case.limb_engine, case.fraction_engine, case.normal_engine),
    ):
        (line,) = (line for line in text.splitlines() if line.startswith(who))
        if limb < 0:
            assert "hits no limb" in line
            continue
        said = re.search(r"hits (.*) after ([-\d.]+) m(?:, normal (.*))?", line)
        assert said[1] == (case.names[limb] if case.names else f"limb {limb}")
        assert float(said[2]) == pytest.approx(fraction * case.length, abs=1e-9 + 1e-12 * case.length)
        if case.kind == "normal" and any(normal):
            atol = 2e-9 if who == "Right:" else 1e-6  # PyBullet's have float32 noise
            np.testing.assert_allclose([float(x) for x in said[3].split()], normal, atol=atol)


def imports(source):
    found = set()
    for node in ast.walk(ast.parse(source)):
        found |= {node.module} if isinstance(node, ast.ImportFrom) else set()
        found |= {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()
    return found
