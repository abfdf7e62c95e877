"""`python -m cylcollide.bullet --compare`: an unedited program, the number of different answers, why, and examples."""

import os
import shlex
import subprocess
import sys
from contextlib import contextmanager
from functools import partial

import pytest
from support.package import environment, run_python
from support.pybullet_scenes import GRAZE, THROUGH, ball

from cylcollide.bullet import patched, patching
from cylcollide.bullet.__main__ import ProgramComparison, main
from cylcollide.bullet.patching import observers


@contextmanager
def compared():
    """The comparison of the ray tests made meanwhile."""
    comparison = ProgramComparison()
    observers.append(comparison)
    try:
        with patched():
            yield comparison
    finally:
        observers.remove(comparison)


run = partial(run_python, "-m", "cylcollide.bullet", timeout=100)

PROGRAM = """
import atexit, sys, threading
import pybullet as p
p.connect(p.DIRECT)
p.createMultiBody(0, p.createCollisionShape(p.GEOM_SPHERE, radius=0.5))
p.stepSimulation()
ask = lambda: print(p.rayTest([-3.0, 0.0, 0.5004], [3.0, 0.0, 0.4999])[0][0], flush=True)
def late():
    main.join()
    ask()
main = threading.current_thread()
atexit.register(ask)
threading.Thread(target=late).start()
ask()
sys.exit(3)
"""


def test_a_program_its_threads_and_exit_functions_are_answered_exactly(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = run("--compare", tmp_path / "program.py")
    assert (done.returncode, done.stdout.split()) == (3, ["-1"] * 3)
    summary = "cylcollide: 3 rays in 3 calls; PyBullet's answer differs for 3 (within 1 mm: 3)\n"
    assert done.stderr.startswith(summary), "and nothing else is printed"
    named = "  within 1 mm: rayTest([-3.0, 0.0, 0.5004], [3.0, 0.0, 0.4999]): PyBullet hits body 0, link -1 at 0."
    assert named in done.stderr
    assert done.stderr.endswith(", exact misses\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing.py"], "nothing.py: expected a Python file"),
        (["."], ".: expected a Python file"),
        (["--tolerance", "-1", __file__], "tolerance: expected 0, or at least"),
        (["--tolerance", "nan", __file__], "tolerance: expected finite numbers"),
    ],
)
def test_bad_arguments_are_one_line(words, said, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["cylcollide.bullet", *words])
    monkeypatch.setattr(sys, "path", sys.path[:])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert f"error: {said}" in capsys.readouterr().err.splitlines()[-1]
    assert not patching._patches


AS_PYTHON = """
import atexit, os, pickle, sys
class Here: pass
atexit.register(lambda: print(pickle.loads(pickle.dumps(Here())).__class__ is sys.modules["__main__"].Here))
os.chdir("/")
print(sys.argv[1:], open(__file__).readline(), __spec__, __name__)
"""


@pytest.mark.skipif(os.name == "nt", reason="about descriptors of POSIX")
def test_a_program_runs_as_under_python(tmp_path):
    """Its arguments are its own, and standard error may be closed."""
    (tmp_path / "program.py").write_text(AS_PYTHON)
    command = f"{shlex.quote(sys.executable)} -m cylcollide.bullet program.py --compare -- -h 2>&-"
    how = {"cwd": tmp_path, "env": environment(), "stdout": subprocess.PIPE, "timeout": 100}
    done = subprocess.run(["sh", "-c", command], check=True, **how)
    assert done.stdout == b"['--compare', '--', '-h'] \n None __main__\nTrue\n"


def test_rays_in_the_frame_of_a_body_are_explained_in_the_world(clients):
    parent = ball(clients[0], 10.0)
    clients[0].performCollisionDetection()
    with compared() as comparison:
        starts, ends = ([[x - 10.0, y, z]] for x, y, z in GRAZE)
        assert clients[0].rayTestBatch(starts, ends, parentObjectUniqueId=parent)[0][0] == -1
    first, ray = str(comparison).splitlines()
    assert first.endswith("differs for 1 (within 1 mm: 1)")
    assert f"rayTest({GRAZE[0]}, {GRAZE[1]})" in ray


def test_the_first_rays_are_named_and_hits_elsewhere_on_the_link_are_counted(clients):
    """PyBullet's hit of a grazed ball is millimetres early; 6 rays that only PyBullet hits are counted, 5 named."""
    with compared() as comparison:
        flat = [-3.0, 0.0, 0.49999], [3.0, 0.0, 0.49999]
        clients[0].rayTestBatch([GRAZE[0]] * 6 + [flat[0]], [GRAZE[1]] * 6 + [flat[1]])
        clients[0].rayTest(*THROUGH)
    first, *rays = str(comparison).splitlines()
    assert len(rays) == 5
    assert "8 rays in 2 calls; PyBullet's answer differs for 6 (within 1 mm: 6); of 2 hits of the same link 1" in first
    assert float(first.split()[-2]) > 5.0


def test_rays_that_pybullet_does_not_answer_are_counted(clients):
    """It answers 16,383 in a call: of 16,384 it loses 1 in a list and all in an array; it refuses more."""
    for count, lost in ((16_384, 1), (16_385, 16_385)):
        with compared() as comparison:
            answers = clients[0].rayTestBatch([THROUGH[0]] * count, [THROUGH[1]] * count)
        assert len(answers) == count
        assert str(comparison).endswith(f"in 1 calls; PyBullet's answer differs for {lost:,} (limit: {lost:,})")


def test_hits_that_pybullet_counts_in_another_order_are_no_edges(clients):
    """Nine balls in a row, and one alone: a phantom and a start inside do not depend on the order."""
    for x in range(2, 18, 2):
        ball(clients[0], x)
    clients[0].performCollisionDetection()
    with compared() as comparison:
        for number in range(9):
            clients[0].rayTest([-3, 0.1, 0], [20, 0.1, 0], reportHitNumber=number)
        clients[1].rayTest([-2, 0, 0.5004], [4, 0, 0.4999], reportHitNumber=0)
        clients[1].rayTestBatch([[1.2, 0, 0]], [[-3, 0, 0]], reportHitNumber=0)
    causes = {cause: count for cause, count in comparison.causes.items() if count}
    assert causes.pop("hit number") > 2
    assert causes == {"within 1 mm": 1, "inside": 1}
    assert "hit number: " in str(comparison)


def test_a_solid_without_a_body_number_is_no_miss(clients, tmp_path):
    path = str(tmp_path / "ball.bullet")
    clients[0].saveBullet(path)
    clients[0].resetSimulation()
    clients[0].loadBullet(path)
    with compared() as comparison, pytest.warns(RuntimeWarning, match="without a body number"):
        assert clients[0].rayTest(*THROUGH)[0][0] == -1
    first, ray = str(comparison).splitlines()
    assert first.endswith("differs for 1 (no number: 1)")
    assert "PyBullet hits a solid without a number at 0.41" in ray
