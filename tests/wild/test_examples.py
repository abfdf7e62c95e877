"""Two programs of PyBullet's own folder of examples, run unedited, windows apart."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

WINDOWLESS = Path(__file__).parent / "windowless.py"
FRAMES = 300


@pytest.mark.parametrize(("example", "rays"), [("createVisualShapeArray", FRAMES), ("collisionFilter", 0)])
def test_an_example_runs_unedited(example, rays, tmp_path):
    """Its output is that of plain PyBullet, except for rays that PyBullet answers wrongly."""
    found = importlib.util.find_spec("pybullet_examples")
    if found is None:
        pytest.skip("this PyBullet comes without its examples")
    program = Path(found.submodule_search_locations[0]) / f"{example}.py"

    def run(*options):
        command = [sys.executable, *options, WINDOWLESS, program, FRAMES]
        return subprocess.run(
            list(map(str, command)), capture_output=True, text=True, check=True, timeout=300, cwd=tmp_path
        )

    def bodies(done):
        return [int(body) for body in re.findall(r"picked (\d+)", done.stdout)]

    plain, exact = run(), run("-m", "cylcollide.bullet", "--compare", "--mesh", "wrap")
    said = re.search(r"cylcollide: (\d+) rays in (\d+) calls; PyBullet's answer differs for (\d+)", exact.stderr)
    assert said is not None, exact.stderr
    asked, calls, differ = map(int, said.groups())
    assert asked == calls == rays
    assert len(bodies(plain)) >= 0.5 * rays
    assert sum(a != b for a, b in zip(bodies(plain), bodies(exact), strict=True)) <= differ
    if rays:
        assert len(set(bodies(plain))) > 3, "ducks, boxes and the plane"
