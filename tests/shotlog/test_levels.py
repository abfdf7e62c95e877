"""The match of the demo, logged by the best level, is judged again identically by all levels and in plain Python."""

import os
from pathlib import Path

import pytest
from support.package import ABOVE_PACKAGE, environment, output_of

import cylcollide as cc
from cylcollide.runtime import levels

MACHINE_CODE = [level for level in levels.installed() if levels.module_of(level).supported()]
MATCH = Path(__file__).parents[2] / "demos" / "match.py"

pytestmark = [pytest.mark.long, pytest.mark.skipif(not MACHINE_CODE, reason="about machine code")]


def run(level: str, *words: str | Path) -> str:
    """Output of a fresh process with this level."""
    reach = os.pathsep.join(map(str, (ABOVE_PACKAGE, MATCH.parent)))
    return output_of(*words, env=environment(CYLCOLLIDE_LEVEL=level, PYTHONPATH=reach))


def played(folder: Path, least: int, seconds: tuple[int, ...]) -> Path:
    """Log of the first match with at least `least` shots; on a busy machine shots start late."""
    for number, length in enumerate(seconds):
        path = folder / f"{number}.shots"
        run(MACHINE_CODE[0], MATCH, "--seconds", str(length), "--log", path)
        with cc.ShotLog.open(path) as log:
            if len(log) >= least:
                return path
    raise AssertionError(f"expected {least} shots, got {len(log)}")


@pytest.fixture(scope="module")
def match(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """20 seconds of the demo."""
    return played(tmp_path_factory.mktemp("match"), 1000, (20, 60))


@pytest.mark.parametrize("level", MACHINE_CODE)
def test_a_match_is_judged_again_identically_by_every_level(level: str, match: Path):
    said = run(level, "-m", "cylcollide", "rejudge", match, "--jobs", "1")
    assert "judged again identically" in said
    assert f"at {MACHINE_CODE[0]}" in said


def test_a_match_is_judged_again_identically_in_plain_python(tmp_path: Path):
    said = run(levels.PLAIN, "-m", "cylcollide", "rejudge", played(tmp_path, 100, (1, 2, 4, 8)), "--jobs", "1")
    assert "judged again identically" in said
