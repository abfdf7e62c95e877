"""`cylcollide bench` as a process: its output, its files and its exit status."""

import csv
import os

import pytest
from support.package import output_of, run_command

from cylcollide.runtime import levels

pytestmark = pytest.mark.long  # half a minute of whole runs


def bench(*words, hidden=()):
    return run_command(*words, hidden=hidden, env={**os.environ, "COLUMNS": "80"})


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    out = tmp_path_factory.mktemp("bench") / ("a-long-name" * 10) / "report"
    options = ["--workloads", "W1,W2", "--rays", 3000, "--rounds", 2, "--no-tasks", "--out", out]
    return bench("bench", "--engines", "bullet", *options), out


def test_command_prints_a_table_that_fits(finished):
    done, out = finished
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for words in ("W1  1 limb", "W2  17 limbs", "PyBullet", "cylcollide, lean", "rational arithmetic"):
        assert words in done.stdout or words in " ".join(done.stdout.split())
    assert "…" not in done.stdout
    assert max(map(len, done.stdout.splitlines()[:-1])) <= 80
    assert str(out / "rays.csv") in done.stdout.splitlines()[-1]


def test_command_writes_csv_and_figures(finished):
    _, out = finished
    assert sorted(path.name for path in out.iterdir()) == ["rays.csv", "rays.png", "rays.svg"]
    rows = list(csv.DictReader((out / "rays.csv").read_text().splitlines()))
    assert [row["engine"] for row in rows] == 2 * ["cylcollide", "cylcollide, lean", "PyBullet"]
    assert all(row["machine"] and row["date"] and row["python"] for row in rows)
    ours, _, bullet = rows[:3]
    assert (ours["ratio"], ours["wrong_verdicts"]) == ("1", "0")
    assert 0 < float(bullet["ratio"]) < 1
    assert int(bullet["wrong_verdicts"]) > 0


def test_every_level_that_runs_here_has_a_folder(tmp_path):
    options = ["--engines", "cylcollide", "--workloads", "W1", "--rays", 500, "--rounds", 1, "--no-tasks"]
    done = bench("bench", *options, "--levels", "all", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert levels.usable() == sorted((path.name for path in tmp_path.iterdir()), reverse=True)
    for level in levels.usable():
        assert f"Machine code of level {level}" in done.stdout
        (row, _) = csv.DictReader((tmp_path / level / "rays.csv").read_text().splitlines())
        assert row["level"] == level


def test_a_requested_but_missing_engine_is_one_line(tmp_path):
    done = bench("bench", "--engines", "bullet", "--out", tmp_path, hidden=["pybullet"])
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "pip install '.[crosscheck]' in a clone" in done.stderr


def test_bench_needs_none_of_the_other_commands_packages(tmp_path):
    hidden = ["pybullet", "plotly", "jinja2", "mujoco", "rapier3d", "embreex", "open3d", "warp", "culverin"]
    options = ["--workloads", "W1", "--rays", 500, "--rounds", 1, "--no-tasks", "--out", tmp_path]
    done = bench("bench", *options, hidden=hidden)
    assert done.returncode == 0, done.stderr
    assert "without mujoco: mujoco is needed here" in done.stdout
    output_of(
        "-c", "import sys; sys.modules['pydantic'] = None; import cylcollide.bench.command"
    )  # older Typers need none


def test_help_lists_every_command_even_one_whose_packages_are_missing():
    assert {"bench", "crosscheck"} <= set(bench("--help").stdout.replace("│", " ").split())
    done = bench("--help", hidden=["plotly"])
    assert "install the extra 'crosscheck'" in done.stdout
