"""The laws of shapes once more, by other and many more examples than a usual run draws."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_laws_hold_for_thousands_of_examples():
    environment = {**os.environ, "HYPOTHESIS_PROFILE": "explore"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/query/test_shape_properties.py",
    ]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == pytest.ExitCode.OK, done.stdout[-3000:]
