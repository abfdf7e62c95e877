"""The command line as a process: its output and its exit status."""

import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from support.cases.one_case import RECORD
from support.package import environment, output_of, run_command, run_python

import cylcollide as cc
from cylcollide import cli
from cylcollide._version import to_install
from cylcollide.crosscheck.compare import truth


def test_crosscheck_prints_the_table(command, monkeypatch, long_path: Path):
    monkeypatch.setenv("COLUMNS", "80")
    options = ["--rays", 200, "--seed", 3, "--motion", "walk", "--motion", "kick", "--jobs", 1]
    status, told, said = command("crosscheck", *options, "--out", long_path / "report")
    assert (status, said) == (0, "")
    for word in ("aimed", "graze", "rim", "miss", "all", "missed", "phantom", "early", "normal"):
        assert word in told
    assert "…" not in told  # fits in 80 columns
    summary = json.loads((long_path / "report" / "summary.json").read_text())
    assert (summary["rays"], summary["seed"], summary["motions"]) == (200, 3, ["walk", "kick"])
    assert f"{summary['families'][-1]['phantom']:,}" in told
    with np.load(long_path / "report" / "rays.npz") as rays:
        count = len(rays["ray"])
    assert f"{count:,} of {count:,} wrong verdicts are proved" in " ".join(told.split())
    assert str(long_path / "report" / "index.html") in told.splitlines()[-1]


BUFFERED, UNBUFFERED = False, True
"""Whether an error is met at the end of the command, or while it writes."""

RUNS = """import io, json, os, sys
from cylcollide import cli
given, ended = os.dup(1), []
for words, unbuffered in json.loads(sys.argv[1]):
    os.dup2(given, 1)
    raw = io.FileIO(1, "w", closefd=False)
    sys.stdout = io.TextIOWrapper(raw if unbuffered else io.BufferedWriter(raw), write_through=unbuffered)
    sys.stderr, sys.argv = io.StringIO(), ["cylcollide", *words]
    try:
        cli.main()
    except SystemExit as end:
        ended.append((end.code or 0, sys.stderr.getvalue()))
    sys.stdout.flush()  # as Python does at its end
sys.__stderr__.write(json.dumps(ended))
"""
"""One process that runs many commands into one standard output; it prints each status and standard error."""


def ends(stdout, cases, **how):
    """The status and standard error of commands, (words, unbuffered) each, whose standard output fails."""
    how = {"capture_output": False, "stdout": stdout, "stderr": subprocess.PIPE, "env": environment()} | how
    ended = json.loads(run_python("-c", RUNS, json.dumps(cases), **how).stderr)
    assert len(ended) == len(cases)
    return ended


@pytest.fixture
def closed():
    """A pipe that nothing reads."""
    reads, writes = os.pipe()
    os.close(reads)
    yield writes
    os.close(writes)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_standard_output_that_is_full_is_one_line():
    with Path("/dev/full").open("w") as full:
        cases = [["info"], BUFFERED], [["--version"], UNBUFFERED], [["--help"], BUFFERED], [["--help"], UNBUFFERED]
        for status, said in ends(full, [*cases, ([], BUFFERED)]):
            assert status == 2
            assert re.fullmatch(r"cylcollide: .*No space left on device\n", said)
        done = run_command("info", capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert re.fullmatch(r"cylcollide: .*No space left on device\n", done.stderr)


def test_standard_output_that_is_closed_is_one_line_and_no_finding(closed: int, tmp_path: Path):
    """Status 1 would mean that a bug was found. Help ends quietly."""
    (tmp_path / "case.json").write_text(json.dumps(RECORD))
    calls = ["--help"], ["info", "--help"], ["info"], ["--version"], ["replay", "case.json"]
    ended = ends(closed, [(words, when) for words in calls for when in (BUFFERED, UNBUFFERED)], cwd=tmp_path)
    assert ended[:4] == [[0, ""]] * 4
    for status, said in ended[4:]:
        assert status == 2, said
        assert re.fullmatch(r"cylcollide: .*(Broken pipe|Invalid argument).*\n", said)
    done = run_command("--help", capture_output=False, stdout=closed, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_file_that_cannot_be_finished_is_named_and_the_old_one_stays(command, tmp_path: Path):
    resource = pytest.importorskip("resource", reason="limits of files")
    (tmp_path / "index.html").write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, before[1]))
    try:
        status, _, said = command("crosscheck", "--rays", 1, "--motion", "walk", "--jobs", 1, "--out", tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert status == 2
    assert re.fullmatch(rf"cylcollide: .*File too large: '{tmp_path / 'index.html'}'\n", said)
    assert (tmp_path / "index.html").read_text() == "old"
    assert not list(tmp_path.glob(".index*"))


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_help_has_an_example_that_is_parsed(name, command):
    import typer

    status, text, _ = command(name, "--help")
    assert status == 0
    assert cli.example_of(name) in " ".join(text.split())
    app, one = typer.Typer(), cli.COMMANDS[name]
    app.command()(getattr(import_module(one.module), one.function))
    parsed = typer.main.get_command(app).make_context(name, one.example.split())
    assert not parsed.args
    assert sum(parsed.get_parameter_source(key).name == "COMMANDLINE" for key in parsed.params) == sum(
        one.example.count(mark) for mark in ("--", ".npz --row", ".npz --html", ".shots")
    )


def test_help_imports_nothing_that_only_the_work_needs():
    code = f"""import sys
from cylcollide import cli
for words in [], *{[[name] for name in cli.COMMANDS]}:
    sys.argv = ["cylcollide", *words, "--help"]
    try:
        cli.main()
    except SystemExit as ended:
        assert not ended.code
    late = {{"matplotlib", "viser", "plotly", "jinja2", "pyarrow"}} | (set() if words else {{"pybullet", "sqlite3"}})
    assert not (there := late & set(sys.modules)), (words, there)
"""
    assert output_of("-c", code).count("Usage:") == 1 + len(cli.COMMANDS)


def test_remedies_work_without_an_index():
    said = "cylcollide["
    root = Path(__file__).parents[2]
    files = [*(root / "cylcollide").rglob("*.py"), *(root / "docs").rglob("*.md"), root / "README.md"]
    assert [one.name for one in files if said in one.read_text()] == ["_version.py"]


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("crosscheck", ("typer", "rich", "pybullet", "jinja2", "plotly")),
        pytest.param("bench", ("typer", "rich", "matplotlib"), marks=pytest.mark.long),
    ],
)
def test_without_the_extra_one_line_names_it(name, needs):
    """Its packages come back one after the other; the last one is missing again at the end."""
    code = """import sys
needs = sys.argv.pop().split()
sys.modules |= dict.fromkeys(needs)
from cylcollide import cli
for package in needs:
    try:
        cli.main()
    except SystemExit as ended:
        print(ended.code, file=sys.stderr)
    del sys.modules[package]
sys.modules[package] = None
cli.main()
"""
    done = run_python("-c", code, name, " ".join(needs))
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"cylcollide: the command line needs {package}, which is missing: {to_install(name)}"
        for package in (*needs, needs[-1])
    ]


def test_what_the_core_prints_needs_no_extra():
    code = """import sys
sys.modules |= {"typer": None, "rich": None}
from cylcollide import cli
for words in ["info"], ["warm-up"], [], ["--version"]:
    sys.argv = ["cylcollide", *words]
    print("---")
    cli.main()
"""
    info, warm_up, examples, version = output_of("-c", code).split("---\n")[1:]
    assert version == f"cylcollide {cc.__version__}\n"
    assert info
    assert warm_up
    for name in set(cli.COMMANDS) - {"warm-up"}:
        assert cli.example_of(name) in examples
    assert max(map(len, examples.splitlines())) < 140


def test_a_broken_import_of_our_own_is_not_blamed_on_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "cylcollide.crosscheck.commands.crosscheck", None)
    monkeypatch.setattr(sys, "argv", ["cylcollide", "crosscheck"])
    with pytest.raises(ImportError, match=r"cylcollide\.crosscheck\.command"):
        cli.main()


class WrongWorld(cc.HitWorld):
    """A world that reports limb 1, the chest, as limb 2."""

    def cast_segments(self, starts, ends, **options):
        hits = super().cast_segments(starts, ends, **options)
        limb = hits._row
        limb[limb == 1] = 2
        return hits


def test_an_unproved_verdict_fails_loudly_and_is_saved(monkeypatch, command, tmp_path):
    monkeypatch.setattr(truth, "HitWorld", WrongWorld)
    monkeypatch.setattr("cylcollide.crosscheck.report.page.write_page", lambda *_: None)  # it takes half of the time
    status, _, said = command("crosscheck", "--rays", 40, "--motion", "run", "--jobs", 1, "--out", tmp_path)
    assert status == 1
    assert "NOT confirmed" in said
    with np.load(tmp_path / "rays.npz") as rays:
        assert 0 < np.sum(~rays["proved"]) < len(rays["proved"])
