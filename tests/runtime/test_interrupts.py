"""Interrupts: a signal during any call raises its exception there, and leaves the world as it was.

Machine code that returns an array or a tuple builds it through the interpreter, where a pending signal is raised and
numba goes on with NULL: a segmentation fault. So every function that plain Python calls returns a number or nothing.
"""

import importlib
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from inspect import get_annotations
from pathlib import Path

import pytest
from support.check_cylinders import JIT
from support.package import ABOVE_PACKAGE

from cylcollide.runtime.entry_point import ENTRY_POINTS

ROOT = Path(__file__).parents[2]
HARMLESS = {int, float, bool, None}


def test_what_python_calls_returns_a_number_or_nothing():
    importlib.import_module("cylcollide.crosscheck.causes.rounded_cylinder")
    results = {name: get_annotations(entry.function)["return"] for name, entry in ENTRY_POINTS.items()}
    assert len(results) > 20
    assert not {name: result for name, result in results.items() if result not in HARMLESS}


def test_no_destructor_runs_python():
    """An interrupt that is raised within one is printed and lost; weak references have callbacks, too."""
    for path in (ROOT / "cylcollide").rglob("*.py"):
        source = path.read_text()
        assert "__del__" not in source, path
        assert not re.search(r"\bWeak(Set|KeyDictionary|ValueDictionary)\b|weakref[. ](import )?finalize", source), path


STORM = """
import random, signal, sys, tempfile, time
from pathlib import Path
sys.path.insert(0, {tests!r})
import numpy as np
import cylcollide as cc
from support.mixed_questions import mixed_limbs, segments

kinds, count = sys.argv[1].split(","), int(sys.argv[2])
rng, dice = np.random.default_rng(1), random.Random(7)
limbs = mixed_limbs(1500, rng, 10.0)
start, end = segments(rng, 3000, 10.0)
world = cc.HitWorld(limbs)
file = Path(tempfile.mkdtemp()) / "limbs.npz"
limbs.save(file)
some = np.arange(0, 1500, 3)

def fields():
    hits = world.cast_segments(start, end)
    return hits.position, hits.normal, hits.exit_position, hits.thickness

JOBS = {{
    "build": lambda: cc.HitWorld(limbs),
    "move": lambda: world.set_endpoints(limbs.p1, limbs.p2),
    "move some": lambda: world.set_endpoints(limbs.p1[some], limbs.p2[some], limbs=some),
    "cast": lambda: world.cast_segments(start, end).limb,
    "few": lambda: [world.cast_segments(start[i], end[i]).limb for i in range(50)],
    "fields": fields,
    "chords": lambda: world.chords_segments(start, end).thickness,
    "few chords": lambda: world.chords_segments(start[:20], end[:20]).thickness,
    "points": lambda: world.contains_points(start).axis_distance_squared,
    "occluded": lambda: world.occluded_segments(start, end),
    "exact": lambda: cc.HitWorld(limbs[:1]).cast_segments(limbs.p1[:1] - 1, limbs.p1[:1]).limb,
    "load": lambda: cc.Limbs.load(file),
    "save": lambda: limbs.save(file),
    "explain": lambda: limbs.explain_segment(start[0], end[0], limb=3),
}}
def answer():
    hits = world.cast_segments(start, end)
    return hits.limb.tobytes(), hits.fraction.tobytes(), world.chords_segments(start[:30], end[:30]).limb.tobytes()

class Stop(BaseException):
    pass

def stop(*_):
    raise Stop

def storm(job):
    # interrupts a call again and again; returns how many signals fell into it
    job()
    begun = time.perf_counter()
    job()
    length, delivered = max(time.perf_counter() - begun, 2e-4), 0
    for k in range(count):
        try:
            signal.setitimer(signal.ITIMER_REAL, dice.uniform(0.02, 1.1) * length)
            job()
            signal.setitimer(signal.ITIMER_REAL, 0)
        except Stop:
            delivered += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
        if k % 5 == 0:
            assert answer() == want, k
    return delivered

want = answer()
signal.signal(signal.SIGALRM, stop)
for kind in kinds:
    print(kind, storm(JOBS[kind]), sep=": ", flush=True)
    assert answer() == want, kind
"""

KINDS = (
    "build", "move", "move some", "cast", "few", "fields", "chords", "few chords", "points", "occluded", "exact",
    "load", "explain",
)  # fmt: skip


@pytest.mark.skipif(not JIT or not hasattr(signal, "setitimer"), reason="about machine code")
@pytest.mark.parametrize(
    ("kinds", "count"), [(KINDS, 10), *(pytest.param([kind], 400, marks=pytest.mark.long) for kind in KINDS)]
)
def test_a_storm_of_signals(kinds: Sequence[str], count: int):
    """The exception of the handler and nothing else, nothing on standard error, and the next answer bit-equal."""
    script = STORM.format(tests=str(ROOT / "tests"))
    run = subprocess.run(
        [sys.executable, "-c", script, ",".join(kinds), str(count)],
        cwd=ABOVE_PACKAGE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, f"{run.stdout}{run.stderr[-2000:]}"
    assert run.stderr == ""
    delivered = dict(line.split(": ") for line in run.stdout.splitlines())
    assert list(delivered) == list(kinds)
    assert sum(map(int, delivered.values())) > len(kinds) * count / 5, "hardly any signal fell into a call"
