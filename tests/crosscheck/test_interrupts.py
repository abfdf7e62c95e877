"""Ctrl-C in the middle of every command: one line, status 130, nothing finished lost, no process left."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from support.cases.one_case import RECORD
from support.package import ABOVE_PACKAGE

from cylcollide.crosscheck.cases.case import Case, write_cases

pytestmark = pytest.mark.long  # whole processes, which compile if nothing is on disk

CHUNKS_KEPT = "cylcollide: interrupted; finished chunks are kept in the folder of --out, and the same command goes on"


def processes(group):
    """The numbers of the processes of a group that are alive, without zombies."""
    alive = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            _, _, rest = status.read_text().rpartition(") ")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(rest.split()[2]) == group and rest[0] != "Z":
            alive.append(status.parent.name)
    return alive


def ended(options, ready, end, *, path=(), wait=240.0):
    """Run a command as a terminal does, end it by `end` once `ready` is true; return status, output and errors.

    `path`: more folders that it imports from. Assert that no process of its group is left.
    """
    command = [sys.executable, "-m", "cylcollide", *map(str, options)]
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [*path, ABOVE_PACKAGE]))}
    limit, pipes = time.monotonic() + wait, {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, text=True, start_new_session=True, env=surroundings) as run:
        try:
            while not ready() and run.poll() is None:
                assert time.monotonic() < limit, "never got so far"
                time.sleep(0.02)
            assert run.poll() is None, (run.returncode, run.stderr.read())
            end(run)
            out, err = run.communicate(timeout=60)
            # The tracker of shared memory ends by itself when its pipe is closed.
            while left := processes(run.pid):
                assert time.monotonic() < limit, left
                time.sleep(0.02)
            return run.returncode, out, err
        finally:
            with suppress(ProcessLookupError):  # a failure leaves no process behind either
                os.killpg(run.pid, signal.SIGKILL)


def interrupted(options, ready, **how):
    """The output and the error line of a command whose whole group gets SIGINT."""
    status, out, err = ended(options, ready, lambda run: os.killpg(run.pid, signal.SIGINT), **how)
    assert status == 130, err
    (line,) = err.splitlines()
    assert line.startswith("cylcollide: interrupted")
    return out, line


def chunks(out):
    return {path.name: path.stat().st_mtime_ns for path in (out / "chunks").glob("[!.]*.npz")}


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("kind", [[], ["--families", "generic", "--families", "rim"]], ids=["poses", "families"])
def test_chunks_that_were_finished_are_kept_and_used_again(tmp_path, kind, jobs):
    options = ["crosscheck", *kind, "--rays", 120_000, "--jobs", jobs, "--out", tmp_path]
    _, line = interrupted(options, lambda: len(chunks(tmp_path)) >= 2)
    assert line.startswith(CHUNKS_KEPT)
    kept = chunks(tmp_path)
    assert len(kept) >= 2
    assert not list((tmp_path / "chunks").glob(".*.part"))
    interrupted(options, lambda: len(chunks(tmp_path)) > len(kept) + 1)
    assert kept.items() <= chunks(tmp_path).items()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_workers_end_with_the_command_for_any_signal(tmp_path, number):
    options = ["crosscheck", "--rays", 400_000, "--jobs", 2, "--out", tmp_path]
    status, _, _ = ended(options, lambda: chunks(tmp_path), lambda run: run.send_signal(number))
    assert status == (-number if number == signal.SIGKILL else 128 + number)


def test_interventions_are_interrupted_too(tmp_path):
    options = ["crosscheck", "--families", "rim", "--families", "elbow", "--rays", 12_000, "--jobs", 2]
    done = tmp_path / "chunks"
    _, line = interrupted([*options, "--out", tmp_path], lambda: len(list(done.glob("*.npz"))) == 2)
    assert line.startswith(CHUNKS_KEPT)


def test_workers_interrupted_during_import_print_nothing(tmp_path):
    pause = tmp_path / "pause"
    # The interrupt comes while the workers are still importing.
    (tmp_path / "sitecustomize.py").write_text(
        "import multiprocessing.spawn as s, pathlib, sys, time\n"
        "if '--multiprocessing-fork' in sys.argv and 'spawn_main' in ' '.join(sys.orig_argv):\n"
        f"    pathlib.Path({str(pause)!r}).touch(); time.sleep(3)\n"
    )
    options = ["crosscheck", "--rays", 2000, "--jobs", 2, "--out", tmp_path / "out"]
    interrupted(options, pause.exists, path=[tmp_path])


def test_the_scoreboard_is_kept_wholly_or_not_at_all(tmp_path):
    began = time.monotonic()
    options = ["crosscheck", "--engines", "bullet", "--rays", 60_000, "--out", tmp_path]
    _, line = interrupted(options, lambda: tmp_path.exists() and time.monotonic() > began + 8)
    assert line.startswith("cylcollide: interrupted; of the scoreboard nothing is kept")
    assert list(tmp_path.iterdir()) == []


def test_tables_of_finished_workloads_are_kept(tmp_path):
    options = ["bench", "--engines", "cylcollide", "--rays", 5000, "--rounds", 60, "--out", tmp_path]
    _, line = interrupted(options, (tmp_path / "rays.csv").exists)
    assert line.startswith("cylcollide: interrupted; finished tables are kept in the folder of --out")
    assert (tmp_path / "rays.csv").read_text().count("\n") > 1


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["table", "json"])
def test_replayed_cases_are_printed(tmp_path, options):
    case, asked = Case.read(RECORD), tmp_path / "asked"
    (tmp_path / "sitecustomize.py").write_text(
        "import pathlib, tempfile\n"
        "old = tempfile.TemporaryDirectory.__init__\n"
        f"def new(self, *a, **k): pathlib.Path({str(asked)!r}).open('a').write('x'); old(self, *a, **k)\n"
        "tempfile.TemporaryDirectory.__init__ = new\n"
    )
    write_cases(tmp_path / "cases.json", [case, *(Case.read(RECORD | {"row": row}) for row in range(1, 4000))])
    command = ["replay", tmp_path / "cases.json", *options]
    out, line = interrupted(command, lambda: asked.exists() and asked.stat().st_size > 200, path=[tmp_path])
    assert "what was finished is printed" in line
    assert out.count('"reproduced": true' if options else " yes") > 20


CLUSTER = """
import sys, time
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


def test_a_sweep_on_a_cluster_keeps_its_chunks_and_leaves_the_cluster(tmp_path):
    pytest.importorskip("distributed", reason="needs the extra cluster")
    surroundings = {**os.environ, "PYTHONPATH": str(ABOVE_PACKAGE)}
    script = tmp_path / "cluster.py"
    script.write_text(CLUSTER)
    with subprocess.Popen(
        [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=surroundings,
        start_new_session=True,
    ) as cluster:  # fmt: skip
        address = cluster.stdout.readline().strip()
        options = ["--families", "generic", "--rays", 120_000, "--scheduler", address, "--out", tmp_path / "out"]
        _, line = interrupted(["crosscheck", *options], lambda: len(chunks(tmp_path / "out")) >= 2)
        assert line.startswith(CHUNKS_KEPT)
        assert len(chunks(tmp_path / "out")) >= 2
        assert cluster.poll() is None
        cluster.stdin.close()
