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


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    out = tmp_path_factory.mktemp("crosscheck") / ("a-long-name" * 10) / "report"
    options = ["--rays", 1200, "--seed", 3, "--motion", "walk", "--motion", "kick", "--jobs", 2]
    return run_python("-m", "cylcollide", "crosscheck", *options, "--out", out), out


def test_crosscheck_prints_the_table(finished):
    done, out = finished
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for word in ("aimed", "graze", "rim", "miss", "all", "missed", "phantom", "early", "normal"):
        assert word in done.stdout
    assert "…" not in done.stdout  # fits in 80 columns
    summary = json.loads((out / "summary.json").read_text())
    assert (summary["rays"], summary["seed"], summary["motions"]) == (1200, 3, ["walk", "kick"])
    assert f"{summary['families'][-1]['phantom']:,}" in done.stdout
    with np.load(out / "rays.npz") as rays:
        count = len(rays["ray"])
    assert f"{count:,} of {count:,} wrong verdicts are proved" in " ".join(done.stdout.split())
    assert str(out / "index.html") in done.stdout.splitlines()[-1]


def test_version():
    done = run_command("--version")
    assert (done.returncode, done.stdout.strip()) == (0, f"cylcollide {cc.__version__}")


UNBUFFERED, BUFFERED = "1", ""
"""Whether an error is met while the command writes, or at its end."""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize(
    ("words", "unbuffered"),
    [(["info"], BUFFERED), (["--version"], UNBUFFERED), (["--help"], BUFFERED), (["--help"], UNBUFFERED), ([], "")],
)
def test_standard_output_that_is_full_is_one_line(words: list[str], unbuffered: str):
    with Path("/dev/full").open("w") as full:
        how = {"capture_output": False, "stdout": full, "stderr": subprocess.PIPE}
        done = run_command(*words, **how, env=environment(PYTHONUNBUFFERED=unbuffered))
    assert done.returncode == 2
    assert re.fullmatch(r"cylcollide: .*No space left on device\n", done.stderr)


@pytest.mark.parametrize(
    ("words", "unbuffered"),
    [
        (["info"], BUFFERED),
        (["--version"], UNBUFFERED),
        (["replay", "case.json"], BUFFERED),
        (["replay", "case.json"], UNBUFFERED),
        (["crosscheck", "--rays", "1", "--motion", "walk", "--jobs", "1"], BUFFERED),
    ],
)
def test_standard_output_that_is_closed_is_one_line_and_no_finding(words: list[str], unbuffered: str, tmp_path: Path):
    """Status 1 would mean that a bug was found."""
    (tmp_path / "case.json").write_text(json.dumps(RECORD))
    reads, writes = os.pipe()
    os.close(reads)
    try:
        how = {"capture_output": False, "stdout": writes, "stderr": subprocess.PIPE, "cwd": tmp_path}
        done = run_command(*words, **how, env=environment(PYTHONUNBUFFERED=unbuffered))
    finally:
        os.close(writes)
    assert done.returncode == 2, done.stderr
    assert re.fullmatch(r"cylcollide: .*(Broken pipe|Invalid argument).*\n", done.stderr)


@pytest.mark.parametrize("unbuffered", [BUFFERED, UNBUFFERED])
@pytest.mark.parametrize("name", [None, "info"])
def test_help_to_a_closed_pipe_ends_quietly(name: str | None, unbuffered: str):
    reads, writes = os.pipe()
    os.close(reads)
    try:
        how = {"capture_output": False, "stdout": writes, "stderr": subprocess.PIPE}
        done = run_command(*filter(None, [name]), "--help", **how, env=environment(PYTHONUNBUFFERED=unbuffered))
    finally:
        os.close(writes)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(os.name != "posix", reason="needs a shell that limits files")
def test_a_file_that_cannot_be_finished_is_named_and_the_old_one_stays(tmp_path: Path):
    (tmp_path / "index.html").write_text("old")
    limited = ["sh", "-c", 'ulimit -f 1000; exec "$@"', "sh", sys.executable, "-m", "cylcollide"]
    words = ["crosscheck", "--rays", "1", "--motion", "walk", "--jobs", "1", "--out", str(tmp_path)]
    done = subprocess.run([*limited, *words], capture_output=True, text=True, check=False, env=environment())
    assert done.returncode == 2
    assert re.fullmatch(rf"cylcollide: .*File too large: '{tmp_path / 'index.html'}'\n", done.stderr)
    assert (tmp_path / "index.html").read_text() == "old"
    assert not list(tmp_path.glob(".index*"))


def test_the_command_alone_prints_examples():
    done = run_command()
    assert (done.returncode, done.stderr) == (0, "")
    for name in set(cli.COMMANDS) - {"warm-up"}:
        assert cli.example_of(name) in done.stdout
    assert max(map(len, done.stdout.splitlines())) < 140


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
    ("name", "package"),
    [
        *(("crosscheck", package) for package in ("typer", "rich", "pybullet", "jinja2", "plotly")),
        *(pytest.param("bench", package, marks=pytest.mark.long) for package in ("typer", "rich", "matplotlib")),
    ],
)
def test_without_the_extra_one_line_names_it(name, package):
    done = run_command(name, hidden=[package])
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"cylcollide: the command line needs {package}, which is missing: {to_install(name)}"
    ]


@pytest.mark.parametrize("name", ["info", "warm-up"])
def test_commands_of_the_core_need_no_extra(name):
    done = run_command(name, hidden=["typer", "rich"])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


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
    status, _, said = command("crosscheck", "--rays", 400, "--motion", "run", "--jobs", 1, "--out", tmp_path)
    assert status == 1
    assert "NOT confirmed" in said
    with np.load(tmp_path / "rays.npz") as rays:
        assert 0 < np.sum(~rays["proved"]) < len(rays["proved"])
