"""``cylcollide crosscheck --engines``: its tables, its files, and engines that end the process."""

import csv
import io
import json
import os
import re
from functools import partial
from pathlib import Path

import pytest
from rich.console import Console
from support.package import run_command
from support.runs.scoreboard import scoreboard_by_name

from cylcollide import engines
from cylcollide.crosscheck.commands import crosscheck as crosscheck_command
from cylcollide.crosscheck.report.tables import score_tables
from cylcollide.crosscheck.run.scoreboard import SCORED_FAMILIES, Score

# The command ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def crosscheck(command):
    return partial(command, "crosscheck")


@pytest.mark.usefixtures("planted")
def test_the_command_writes_json_and_csv(monkeypatch, long_path, crosscheck):
    names = ("inflated", "blind", "single", "raising")
    scores = {score.engine: score for score in scoreboard_by_name(*names, rays=36 * len(SCORED_FAMILIES))}
    scores["absent"] = Score("absent", {}, "No module named 'no_such_package'")
    monkeypatch.setattr(crosscheck_command, "scoreboard", lambda *_, **__: list(scores.values()))
    monkeypatch.setenv("COLUMNS", "80")
    status, text, _ = crosscheck("--engines", "all", "--out", long_path)
    assert status == 0
    assert f"Scoreboard: {long_path / 'scoreboard.json'}\n" in text
    for score in scores.values():
        assert score.engine in text
    assert "…" not in text  # fits in 80 columns
    assert "no_such_package" in text
    record = json.loads((long_path / "scoreboard.json").read_text())
    assert record["schema"] == crosscheck_command.SCORE_SCHEMA
    assert record["scoreboard"] == [score.record() for score in scores.values()]
    assert record["scoreboard"][-1]["speed"] is None
    assert record["distances"]["unproved"] == 0
    with (long_path / "scoreboard.csv").open() as file:
        rows = {row["engine"]: row for row in csv.DictReader(file)}
    assert int(rows["inflated"]["phantom"]) == scores["inflated"].phantom
    assert int(rows["blind"]["wrong in humanoid"]) == scores["blind"].families["humanoid"]
    assert float(rows["single"]["distance_mm_median"]) == scores["single"].distance_mm[0]
    assert rows["raising"]["speed"] == rows["raising"]["wrong in generic"] == ""


@pytest.mark.usefixtures("planted")
@pytest.mark.parametrize(
    ("verdicts", "signs", "said"),
    [
        (2, 0, "2 disagreements with E are NOT confirmed"),
        (0, 2, "2 signs of this library's distances are NOT confirmed"),
    ],
)
def test_the_command_fails_if_this_library_is_wrong(monkeypatch, tmp_path, crosscheck, verdicts, signs, said):
    score = Score("E", {}, "", rays=9, unproved=verdicts)
    monkeypatch.setattr(crosscheck_command, "scoreboard", lambda *_, **__: [score])
    monkeypatch.setattr(crosscheck_command, "distances", lambda *_, **__: {"unproved": signs})
    status, _, error = crosscheck("--engines", "exact", "--out", tmp_path)
    assert status == 1
    assert said in error


def test_markup_in_an_error_is_text():
    console = Console(file=io.StringIO(), width=100)
    record = Score("E", {}, "generic: ValueError: [/bold] [3]").record()
    crosscheck_command._print_tables(console, score_tables([record], wide=False))
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


@pytest.mark.long
def test_an_engine_that_ends_its_process_is_named_and_the_others_go_on(tmp_path):
    """Another package declares the engine."""
    about, out = tmp_path / "site" / "fatal-1.0.dist-info", tmp_path / "out"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: fatal\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[{engines.GROUP}]\nfatal = fatal:Engine\n")
    (tmp_path / "site" / "fatal.py").write_text(FATAL)
    path = [str(tmp_path / "site"), str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    options = ["--engines", "fatal", "--engines", "cylcollide", "--rays", 240, "--out", out]
    done = run_command("crosscheck", *options, env={**os.environ, "PYTHONPATH": os.pathsep.join(path)})
    assert done.returncode == 0, done.stderr
    fatal, own = json.loads((out / "scoreboard.json").read_text())["scoreboard"]
    assert fatal["error"] == "elbow: it ended its process"
    assert own["error"] == ""
    assert own["rays"] > 200


@pytest.mark.usefixtures("planted")
def test_a_missing_package_is_one_line_if_it_was_named(crosscheck, tmp_path):
    status, _, said = crosscheck("--engines", "absent", "--out", tmp_path)
    assert status == 2
    (line,) = said.splitlines()
    assert "no_such_package" in line


@pytest.mark.long
def test_families_and_engines_together(crosscheck, tmp_path):
    options = ["--families", "generic", "--rays", 600, "--jobs", 1, "--engines", "cylcollide"]
    status, _, said = crosscheck(*options, "--out", tmp_path)
    assert (status, said) == (0, "")
    (score,) = json.loads((tmp_path / "summary.json").read_text())["scoreboard"]
    assert (score["engine"], score["missed"], score["error"]) == ("cylcollide", 0, "")
    assert 600 <= score["rays"] < 800  # "same-line" fires 16 at a time
    assert "--families generic --rays 600 --seed 0 --engines cylcollide<" in (tmp_path / "index.html").read_text()
    # Another run into the folder removes files that it does not write.
    assert (tmp_path / "tables" / "setups.csv").exists()
    assert crosscheck("--rays", 50, "--motion", "walk", "--out", tmp_path, "--jobs", 1)[0] == 0
    left = [path.name for path in tmp_path.rglob("*") if path.is_file() and path.parent.name not in ("chunks", "repro")]
    left = {name for name in left if not re.fullmatch(r"\d\d\.json", name)}
    assert left == {"index.html", "summary.json", "rays.npz"}
