"""The guards are guarded: one expression of a copy of the package is broken on purpose, and the checks must go red.

Kernels are plain Python in these runs, so that a broken one needs no compiler. What is broken stands in
`support.mutations`.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.mutations import BROKEN, LAW_BREAKERS, SEEN_BY, SHARED, THOROUGH, Mutation
from support.oracle.shapes.table import SHAPE_ROWS

import cylcollide as cc

ROOT = Path(__file__).parents[2]

PROFILE = """
from hypothesis import Phase
settings.register_profile("guard", settings.get_profile("house"), max_examples=1500, phases=[Phase.generate])
settings.load_profile("guard")
"""
"""Appended to the copy's conftest.py: more cases than usual, and none made smaller once it has failed."""

PROPERTIES = "tests/query/test_shape_properties.py"
LAWS = re.findall(r"^def (test_\w+)", (ROOT / PROPERTIES).read_text(), re.MULTILINE)
CHECKS = {checks[-1]: checks for checks in (THOROUGH, *SEEN_BY.values(), [PROPERTIES])}
"""All lists of checks, by their last."""


def run(copy: Path, checks: list[str]) -> subprocess.CompletedProcess[str]:
    """Return the outcome of the checks on the package in `copy`, as plain Python, up to the first failure."""
    environment = {**os.environ, "CYLCOLLIDE_LEVEL": "plain", "PYTHONPATH": str(copy)}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", *checks]
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a copy of package and tests."""
    for name in ("cylcollide", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "machine_code"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / "tests" / "conftest.py").open("a") as conftest:
        conftest.write(PROFILE)
    return tmp_path


def places(mutation: Mutation, package: Path) -> int:
    """Return how often the text to be replaced occurs in its file."""
    return (package / mutation.file).read_text().count(mutation.old)


def about(what: str) -> str:
    """Return the part of the package that a row of `SHARED` is about."""
    return what.partition(":")[0]


def went_red(copy: Path, mutation: Mutation, checks: list[str]) -> None:
    """Assert that the checks fail, by a failed test and not by an error of the run, once the copy is broken."""
    path = copy / "cylcollide" / mutation.file
    assert places(mutation, copy / "cylcollide") == 1
    path.write_text(path.read_text().replace(mutation.old, mutation.new))
    outcome = run(copy, checks)
    assert outcome.returncode == pytest.ExitCode.TESTS_FAILED, outcome.stdout[-2000:] + outcome.stderr[-2000:]


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("checks", CHECKS.values(), ids=CHECKS)
def test_an_unbroken_copy_is_green(copy: Path, checks: list[str]):
    outcome = run(copy, checks)
    assert outcome.returncode == pytest.ExitCode.OK, outcome.stdout[-2000:]


def test_every_shape_and_every_law_is_broken():
    assert all(sum(shape == kind for shape, _ in BROKEN) >= 2 for kind in SHAPE_ROWS)
    assert set(LAW_BREAKERS) == set(LAWS)
    assert {about(what) for what in SHARED} == set(SEEN_BY)


def test_every_row_has_its_one_place():
    """Sources move; a row that is not found any more would break nothing."""
    rows = [*BROKEN.values(), *SHARED.values(), *LAW_BREAKERS.values()]
    lost = {(row.file, row.old): times for row in rows if (times := places(row, ROOT / "cylcollide")) != 1}
    assert not lost


@pytest.mark.long
@pytest.mark.parametrize(("shape", "what"), BROKEN, ids=lambda x: x.name.lower() if isinstance(x, cc.Shape) else x)
def test_a_broken_shape_is_seen(copy: Path, shape: cc.Shape, what: str):
    went_red(copy, BROKEN[shape, what], THOROUGH)


@pytest.mark.long
@pytest.mark.parametrize("what", SHARED)
def test_a_broken_step_is_seen(copy: Path, what: str):
    went_red(copy, SHARED[what], SEEN_BY[about(what)])


@pytest.mark.long
@pytest.mark.parametrize("law", LAW_BREAKERS)
def test_a_law_can_fail(copy: Path, law: str):
    went_red(copy, LAW_BREAKERS[law], [f"{PROPERTIES}::{law}"])
