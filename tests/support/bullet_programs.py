"""PyBullet programs run unedited: with PyBullet's own rays, or by `python -m cylcollide.bullet`."""

import atexit
import gc
import runpy
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

import pybullet as p
import pytest

from cylcollide.bullet import patching, unpatch
from cylcollide.bullet.__main__ import main


def run(program, *words, options=None):
    """Run a program with these arguments; return its output and errors.

    `options`: those of `python -m cylcollide.bullet`; None for PyBullet's own rays. The program's client has the number
    0. If a test before has left it connected, the program runs in a process of its own, which takes longer.
    """
    gc.collect()  # clients of earlier tests that nothing refers to
    if p.isConnected(0):
        how = [] if options is None else ["-m", "cylcollide.bullet", *options]
        command = list(map(str, [sys.executable, *how, program, *words]))
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout, done.stderr
    said, errors, late = StringIO(), StringIO(), []
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(said), redirect_stderr(errors):
        patch.setattr(sys, "argv", list(map(str, ["cylcollide.bullet", *(options or ()), program, *words])))
        patch.setattr(sys, "path", sys.path[:])
        patch.setitem(sys.modules, "__main__", sys.modules["__main__"])
        patch.setattr(atexit, "register", late.append)
        patch.setattr(patching, "observers", [])
        try:
            if options is None:
                del sys.argv[0]
                runpy.run_path(str(program), run_name="__main__")
            else:
                main()
            for function in late:
                function()
        finally:
            unpatch()
            gc.collect()  # a `BulletClient` among the program's names disconnects its number when it is collected
            if p.isConnected(0):
                p.disconnect(0)
    return said.getvalue(), errors.getvalue()
