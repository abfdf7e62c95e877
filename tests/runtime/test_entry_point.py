"""Plain Python until there is machine code: the same bits, one notice, and a process that ends with the program."""

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.check_cylinders import JIT
from support.processes import environment

pytestmark = [
    pytest.mark.skipif(not JIT, reason="about machine code"),
    pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes there"),
    pytest.mark.ci_long,
]

PREAMBLE = """
import json, logging, os, signal, sys, time
begun = time.perf_counter()
import numpy as np
import cylcollide as cc
from cylcollide.runtime import compile, entry_point
from cylcollide.query.loops.single import cast_single_rays

lines = []
handler = logging.Handler()
handler.emit = lambda record: lines.append(record.getMessage())
logging.getLogger("cylcollide").addHandler(handler)
logging.getLogger("cylcollide").setLevel(logging.INFO)
rng = np.random.default_rng(3)
p1 = rng.uniform(-3, 3, (30, 3))
tubes = cc.Limbs.tubes(p1, p1 + 1, 0.4, 0.2)
limbs = cc.Limbs.concat([cc.Limbs.cylinders(p1, p1 + rng.normal(size=(30, 3)), 0.3), tubes])
world = cc.HitWorld(limbs)
start, end = rng.uniform(-5, 5, (2, 40, 3))
def answers():
    hits = world.cast_segments(start, end)
    chords, points = world.chords_segments(start, end), world.contains_points(0.5 * (start + end))
    columns = (hits.limb, hits.fraction, hits.face, hits.position, hits.normal, hits.thickness, hits.exit_normal,
               chords.offsets, chords.limb, chords.entry_fraction, chords.thickness, points.limb, points.count,
               points.axis_distance_squared)
    return [column.tobytes().hex() for column in columns]
def told(**found):
    print(json.dumps({"numba": "numba" in sys.modules, "lines": lines, **found}), flush=True)
"""


def run(script: str, tmp_path: Path, timeout: float = 240, **variables: str) -> dict[str, Any]:
    """Run a script in a fresh process with an empty cache; what it prints."""
    given = {"CYLCOLLIDE_COMPILE": "background", "NUMBA_CACHE_DIR": str(tmp_path), **variables}
    done = subprocess.run(
        [sys.executable, "-c", PREAMBLE + script],
        env=environment(**given), capture_output=True, text=True, check=False, timeout=timeout,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {**json.loads(done.stdout.splitlines()[-1]), "stderr": done.stderr}


def workers_of(folder: Path) -> list[int]:
    """Processes that compile into a directory, found by their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command, given = (process / "cmdline").read_bytes(), (process / "environ").read_bytes()
        except OSError:
            continue
        if b"compile_worker" in command and str(folder).encode() in given:
            found.append(int(process.name))
    return found


def soon(holds: Any, seconds: float = 10.0) -> bool:
    """Whether something holds within so many seconds."""
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return bool(holds())


def test_few_questions_need_no_compiler(tmp_path: Path):
    found = run("entry_point.PLAIN_SECONDS = 1e9\nanswers()\ntold()", tmp_path)
    assert not found["numba"]
    assert not found["lines"]
    assert not list(tmp_path.rglob("*.code"))


@pytest.mark.long
def test_machine_code_takes_over_with_the_same_bits(tmp_path: Path):
    """Every query, before, while and after its loops are compiled; and with machine code turned off."""
    script = """
first = answers()
entry_point.PLAIN_SECONDS = 0.0
differ, until = 0, time.monotonic() + 200
used = ("loops.single.cast_single_rays", "loops.surface.write_surface", "loops.chords.cast_chords")
while not all(compile.ENTRY_POINTS[f"query.{name}"].has_machine_code for name in used):
    assert time.monotonic() < until
    differ += answers() != first
    time.sleep(0.1)
differ += answers() != first
told(differ=differ, first=first)
"""
    found = run(script, tmp_path)
    assert found["differ"] == 0
    assert len(found["lines"]) == 1
    assert "compiling loops, once" in found["lines"][0]
    assert "warm-up" in found["lines"][0]
    assert soon(lambda: not workers_of(tmp_path))
    plain = run("told(first=answers())", tmp_path, NUMBA_DISABLE_JIT="1")
    warm = run("entry_point.PLAIN_SECONDS = 0.0\nanswers()\ntold(first=answers())", tmp_path)
    assert plain["first"] == warm["first"] == found["first"]
    assert not plain["numba"]


ASKED_FOR = "query.loops.points.locate_single_points"
NOT_ASKED_FOR = (
    "bvh.patch._renumber",
    "kernels.moments.find_moments",
    "kernels.swept.fill_bones",
    "query.loops.judge.judge_chords",
)


@pytest.mark.long
def test_what_was_not_asked_for_is_compiled_next(tmp_path: Path):
    """A program that has begun to pay for a compiler finds every loop ready some time later.

    It finds all loops but these, as they were made for this process: to compile all takes a minute.
    """
    from cylcollide.runtime import code_cache, machine_code
    from cylcollide.warm_up.warm_up import requests_of_every_query

    folder = tmp_path / "cylcollide"
    folder.mkdir()
    requests, missing = requests_of_every_query(code_cache.writable_directory()), {ASKED_FOR, *NOT_ASKED_FOR}
    assert missing < {request.name for request in requests}
    for request in requests:
        if request.name not in missing:
            paths = code_cache._paths(request.name, machine_code.tag(request.arguments))
            shutil.copy(next(path for path in paths if path.exists()), folder)
    loops = len(requests)
    process = begin_compiling(tmp_path, "input()\nneeded = cc.warm_up()\ntold(compiled=needed.compiled)")
    assert soon(lambda: len(list(tmp_path.rglob("*.code"))) > loops, 300)  # all loops, and the examples
    out, _ = process.communicate("go\n", timeout=60)
    assert json.loads(out)["compiled"] == []


def test_what_is_passed_on_once_serves_all_that_call_it(tmp_path: Path):
    """Two entry points with common callees are made by two processes, neither of which ends: not by the program."""
    from cylcollide.runtime import code_cache
    from cylcollide.warm_up.warm_up import requests_of_every_query

    names = {"bvh.refit._fit_some", "bvh.refit.fit_bounds", "bvh.refit._fit_united"}
    requests = [r for r in requests_of_every_query(code_cache.writable_directory()) if r.name in names]
    assert len(requests) == len(names)
    (tmp_path / "requests").write_bytes(pickle.dumps(requests))
    script = f"""
import pickle
from cylcollide.runtime import ahead
entry_point.EntryPoint._build = None
requests = pickle.load(open({str(tmp_path / "requests")!r}, "rb"))
list(ahead.make(requests, 2))
told(made=[compile.ENTRY_POINTS[r.name].has_machine_code for r in requests])
"""
    assert run(script, tmp_path)["made"] == [True] * len(names)


def test_only_calls_of_the_recording_thread_are_recorded():
    """What other threads call meanwhile may belong to rooms that the next process does not import."""
    from threading import Thread

    from cylcollide.runtime import entry_point

    seen = []
    with entry_point.recording():
        thread = Thread(target=lambda: seen.append(entry_point._recorder.calls))
        thread.start()
        thread.join()
        assert entry_point._recorder.calls == {}
    assert seen == [None]


def test_a_wrong_switch_is_one_sentence(tmp_path: Path):
    given = environment(CYLCOLLIDE_COMPILE="later", NUMBA_CACHE_DIR=str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", "import cylcollide"], env=given, capture_output=True, text=True, check=False
    )
    assert "CYLCOLLIDE_COMPILE: expected background or now, got 'later'" in done.stderr.splitlines()[-1]


def test_a_terminal_gets_one_line(tmp_path: Path):
    """And a program that ends while its loops are compiled ends at once, with the process that compiles them."""
    mine, theirs = os.openpty()
    script = "entry_point.PLAIN_SECONDS = 0.0\nanswers()\nanswers()\ntold(until=time.time())"
    done = subprocess.run(
        [sys.executable, "-c", PREAMBLE + script],
        env=environment(CYLCOLLIDE_COMPILE="background", NUMBA_CACHE_DIR=str(tmp_path)),
        stdout=subprocess.PIPE, stderr=theirs, text=True, check=True, timeout=120,
    )  # fmt: skip
    ended = time.time()
    os.close(theirs)
    shown = os.read(mine, 10_000).decode()
    os.close(mine)
    assert shown.count("\n") == 1
    assert shown.startswith("cylcollide: compiling loops, once")
    assert str(tmp_path) in shown
    assert ended - json.loads(done.stdout)["until"] < 5.0
    assert soon(lambda: not workers_of(tmp_path))


def begin_compiling(tmp_path: Path, more: str) -> subprocess.Popen[str]:
    """A process whose loops are being compiled, and what it does then: not before it reads a line, if that ends it."""
    script = "entry_point.PLAIN_SECONDS = 0.0\nfirst = answers()\nprint('compiling', flush=True)\n" + more
    process = subprocess.Popen(
        [sys.executable, "-c", PREAMBLE + script],
        env=environment(CYLCOLLIDE_COMPILE="background", NUMBA_CACHE_DIR=str(tmp_path)),
        stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "compiling\n"
    assert soon(lambda: len(workers_of(tmp_path)) == min(2, os.cpu_count() or 1))
    return process


def test_killed_while_compiling(tmp_path: Path):
    """The process that compiles ends with the program, and leaves nothing that is not whole."""
    process = begin_compiling(tmp_path, "time.sleep(60)")
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=10)
    assert soon(lambda: not workers_of(tmp_path))
    for path in tmp_path.rglob("*.code"):
        assert len(path.read_bytes()) > 1000
    found = run("answers()\ntold()", tmp_path, CYLCOLLIDE_COMPILE="background")
    assert found["lines"] == [] or "compiling" in found["lines"][0]


@pytest.mark.long
@pytest.mark.parametrize("role", ["lower", "optimise", ""])
def test_the_program_compiles_itself_if_another_process_is_killed(tmp_path: Path, role: str):
    """Whichever of the two it is, or both."""
    process = begin_compiling(
        tmp_path,
        "input()\nworld.cast_segments(start, end)\nworld.cast_segments(start, end)\n"
        "told(same=answers() == first, code=cast_single_rays.has_machine_code)",
    )
    killed = [
        worker
        for worker in workers_of(tmp_path)
        if f"{role}()".encode() in Path(f"/proc/{worker}/cmdline").read_bytes()
    ]
    assert killed
    for worker in killed:
        os.kill(worker, signal.SIGKILL)
    out, _ = process.communicate("go\n", timeout=120)
    assert json.loads(out)["same"]
    assert json.loads(out)["code"]
    assert soon(lambda: not workers_of(tmp_path))


def test_forked_while_compiling(tmp_path: Path):
    """The fork answers, compiles nothing of the parent's, and its end leaves the parent's process alone."""
    process = begin_compiling(
        tmp_path,
        """
input()
pid = os.fork()
if pid == 0:
    same = answers() == first
    os._exit(0 if same else 1)
status = os.waitpid(pid, 0)[1]
told(status=status, same=answers() == first, alive=entry_point._process.worker.is_alive())
""",
    )
    out, _ = process.communicate("go\n", timeout=200)
    found = json.loads(out)
    assert found["status"] == 0
    assert found["same"]
    assert found["alive"]
    assert soon(lambda: not workers_of(tmp_path))


def test_an_interrupt_while_loops_are_compiled_comes_out_and_nothing_else(tmp_path: Path):
    """A call that is held up by the compiler ends at once; the next ones are answered."""
    script = """
def stop(*_): raise KeyboardInterrupt
signal.signal(signal.SIGALRM, stop)
caught = []
for k in range(8):
    signal.setitimer(signal.ITIMER_REAL, 0.01 + 0.15 * k)
    try:
        while True:
            compile.ENTRY_POINTS["query.loops.surface.write_surface"].has_machine_code = False
            cc.HitWorld(limbs).cast_segments(start, end).position
    except KeyboardInterrupt:
        caught.append(k)
    except BaseException as error:
        caught.append(repr(error))
entry_point.PLAIN_SECONDS = 1e9
told(caught=caught, hits=int(world.cast_segments(start, end).hit.sum()))
"""
    found = run("entry_point.PLAIN_SECONDS = 0.0\n" + script, tmp_path)
    assert found["caught"] == list(range(8))
    assert found["hits"] > 5
