"""Interrupts: a signal during any call raises its exception there, and leaves the world as it was.

Machine code that returns an array or a tuple builds it through the interpreter, where a pending signal is raised and
numba goes on with NULL: a segmentation fault. So every function that plain Python calls returns a number or nothing.
"""

import enum
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

from cylcollide.runtime.compile import ENTRY_POINTS

ROOT = Path(__file__).parents[2]
HARMLESS = {int, float, bool, None}


def test_what_python_calls_returns_a_number_or_nothing():
    for module in ("crosscheck.judge.rounded_cylinder", "bullet.pose_loops", "bullet.sheet_loops"):
        importlib.import_module(f"cylcollide.{module}")
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
import random, signal, sys, tempfile, time, traceback
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
rig, people = cc.Rig.humanoid(), cc.HitWorld()
ids = people.spawn(rig, 70)

def poses():
    joints = rig.rest_orientations + 0.1 * rng.normal(size=(70, 17, 4))
    return rig.forward(rng.uniform(-10, 10, (70, 3)), [0, 0, 0, 1], joints)

people.set_poses(ids, *poses())

def fields():
    hits = world.cast_segments(start, end)
    return hits.position, hits.normal, hits.exit_position, hits.thickness

def rebuild():
    # every limb goes elsewhere, so that a thread builds a new tree
    world.set_endpoints(limbs.p1[::-1], limbs.p1[::-1] + (limbs.p2 - limbs.p1))
    world.cast_segments(start, end)
    world.finish_rebuild()

def move_people():
    # all, and then few at a time, in place or, while an answer is held, into other columns
    positions, orientations = poses()
    people.set_poses(ids, positions, orientations)
    for k in range(20):
        held = people.cast_segments([0, 0, 0], [1, 1, 1]) if k % 4 == 0 else None
        chosen = rng.permutation(70)[: 1 + k % 3]
        people.set_poses(ids[chosen], positions[chosen] + 0.01, orientations[chosen])

def check_people():
    # limbs are where the bones have them, and rays see them there
    state = people.snapshot()
    positions, orientations = (column.reshape(70, 17, -1) for column in state.columns[4:6])
    fresh = cc.HitWorld(rig.place(positions, orientations, character=ids))
    for name in ("p1", "p2", "rows", "solid"):
        assert getattr(state.table, name).tobytes() == getattr(fresh.limbs.table, name).tobytes(), name
    got, want = people.cast_segments(start[:400], end[:400]), fresh.cast_segments(start[:400], end[:400])
    assert got.limb.tobytes() == want.limb.tobytes() and got.hit.any()

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
    "rebuild": rebuild,
    "grow": lambda: limbs.inflated(0.001),
    "classify": lambda: limbs[:1].classify_points(start),
    "move people": move_people,
}}

def mirror_jobs():
    # jobs of a mirror of bodies of every kind and a mesh, and its answers once the bodies are where they began
    from cylcollide._pybullet import data_folder, pybullet as p
    from cylcollide.bullet import Mirror
    from support.pybullet_scenes import geometry
    c = p.connect(p.DIRECT)
    p.setAdditionalSearchPath(str(data_folder()), physicsClientId=c)
    geometry(c, rng)
    duck = p.createCollisionShape(p.GEOM_MESH, fileName="duck.obj", meshScale=[0.1] * 3, physicsClientId=c)
    p.createMultiBody(0, duck, basePosition=[0, 0, 0.5], physicsClientId=c)
    state, mirror = p.saveState(physicsClientId=c), Mirror(c, mesh="wrap")
    first, last = start[:400] / 5.0, end[:400] / 5.0

    def step():
        p.stepSimulation(physicsClientId=c)
        mirror.sync()

    def add():
        p.createMultiBody(1.0, duck, basePosition=[2, 2, 2], physicsClientId=c)
        mirror.sync()

    bodies = p.getNumBodies(physicsClientId=c)

    def answers():
        while p.getNumBodies(physicsClientId=c) > bodies:
            p.removeBody(p.getBodyUniqueId(bodies, physicsClientId=c), physicsClientId=c)
        p.restoreState(state, physicsClientId=c)
        return mirror.rayTestBatch(first, last), mirror.rayTestBatch(first, last, reportHitNumber=1)

    return answers, {{
        "mirror sync": step,
        "mirror filters": lambda: mirror.sync(filters=True),
        "mirror bodies": add,
        "mirror rays": lambda: mirror.rayTestBatch(first, last),
        "mirror few rays": lambda: [mirror.rayTest(first[i], last[i]) for i in range(20)],
        "mirror numbered": lambda: mirror.rayTestBatch(first, last, reportHitNumber=1),
    }}

def world_answer():
    if "move people" in kinds:
        check_people()
    if "rebuild" in kinds:
        world.set_endpoints(limbs.p1, limbs.p2)
    if "save" in kinds:
        assert cc.Limbs.load(file) == limbs
        for _ in range(1000):  # a save that was interrupted goes on until it has removed what it wrote
            left = [path.name for path in file.parent.iterdir() if path != file]
            if not left:
                break
            time.sleep(0.01)
        assert not left
    hits = world.cast_segments(start, end)
    return hits.limb.tobytes(), hits.fraction.tobytes(), world.chords_segments(start[:30], end[:30]).limb.tobytes()

answer = world_answer
if kinds[0].startswith("mirror"):
    answer, JOBS = mirror_jobs()

class Stop(BaseException):
    pass

fired, where = [0], []

def stop(*_):
    fired[0] += 1
    where[:] = traceback.format_stack()
    raise Stop

def storm(job):
    # interrupts a call again and again; returns how many signals fell into it
    job()
    times = []
    for _ in range(5):
        begun = time.perf_counter()
        job()
        times.append(time.perf_counter() - begun)
    length, delivered, fired[0] = max(min(times), 2e-4), 0, 0
    for k in range(count):
        try:
            signal.setitimer(signal.ITIMER_REAL, dice.uniform(0.02, 1.1) * length)
            job()
            signal.setitimer(signal.ITIMER_REAL, 0)
        except Stop:
            delivered += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert fired[0] == delivered, "an exception of the handler was swallowed:\\n" + "".join(where)
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
    "load", "save", "explain", "rebuild", "move people",
)  # fmt: skip
MIRROR_KINDS = ("mirror sync", "mirror filters", "mirror bodies", "mirror rays", "mirror few rays", "mirror numbered")


LOOKUPS = """
import enum
looked_up, lookup = [], enum.EnumMeta.__getattr__

def noting(cls, name):
    if name.startswith("__array"):
        looked_up.append(cls.__name__)
    return lookup(cls, name)

enum.EnumMeta.__getattr__ = noting
for kind in kinds:
    looked_up.clear()
    JOBS[kind]()
    print(kind, sorted(set(looked_up)), sep=": ", flush=True)
"""


@pytest.mark.skipif(not hasattr(enum.EnumMeta, "__getattr__"), reason="enumerations that look names up in Python")
@pytest.mark.parametrize("kinds", [(*KINDS, "grow", "classify"), MIRROR_KINDS], ids=["world", "mirror"])
def test_no_enumeration_reaches_numpy(kinds: Sequence[str]):
    """Numpy looks for __array_ufunc__ and the like in Python code of the enumeration's class, and discards all errors
    of that: an interrupt that falls into it is lost.
    """
    script = STORM.format(tests=str(ROOT / "tests")).partition("want = answer()")[0] + LOOKUPS
    run = subprocess.run(
        [sys.executable, "-c", script, ",".join(kinds), "1"],
        cwd=ABOVE_PACKAGE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [f"{kind}: []" for kind in kinds]


@pytest.mark.skipif(not JIT or not hasattr(signal, "setitimer"), reason="about machine code")
@pytest.mark.parametrize(
    ("kinds", "count"),
    [
        (KINDS, 10),
        (MIRROR_KINDS, 10),
        *(pytest.param([kind], 400, marks=pytest.mark.long, id=kind) for kind in (*KINDS, *MIRROR_KINDS)),
    ],
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
    print(run.stdout)
    delivered = dict(line.split(": ") for line in run.stdout.splitlines())
    assert list(delivered) == list(kinds)
    assert sum(map(int, delivered.values())) > len(kinds) * count / 5, "hardly any signal fell into a call"
