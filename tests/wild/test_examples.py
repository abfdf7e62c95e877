"""A program of PyBullet's own folder of examples, run unedited, windows apart."""

import importlib.util
import re
from pathlib import Path

import pytest
from support.package import run_python

WINDOWLESS = Path(__file__).parent / "windowless.py"
FRAMES = 300


def test_an_example_runs_unedited(tmp_path):
    """Its output is that of plain PyBullet, except for rays that PyBullet answers wrongly."""
    found = importlib.util.find_spec("pybullet_examples")
    if found is None:
        pytest.skip("this PyBullet comes without its examples")
    program = Path(found.submodule_search_locations[0]) / "createVisualShapeArray.py"

    def run(*options):
        done = run_python(*options, WINDOWLESS, program, FRAMES, timeout=300, cwd=tmp_path)
        return [int(body) for body in re.findall(r"picked (\d+)", done.stdout)], done.stderr

    (plain, _), (exact, said) = run(), run("-m", "cylcollide.bullet", "--compare", "--mesh", "wrap")
    asked, calls, differ = map(int, re.search(r"(\d+) rays in (\d+) calls; .* differs for (\d+)", said).groups())
    assert asked == calls == FRAMES
    assert len(plain) >= 0.5 * FRAMES
    assert sum(a != b for a, b in zip(plain, exact, strict=True)) <= differ
    assert len(set(plain)) > 3, "ducks, boxes and the plane"
