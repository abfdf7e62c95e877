"""Processes of Python, and where the package under test lies, which they import with its machine code.

In the repository `python -c` would import the sources of the working directory, and compile them anew.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cylcollide as cc

ABOVE_PACKAGE = Path(cc.__file__).parents[1]


def put_build_in_reach() -> None:
    """Make the folder `native` of the repository importable, behind the package, which may be an installed one."""
    if (root := str(Path(__file__).parents[2])) not in sys.path:
        sys.path.append(root)


def environment(root: Path = ABOVE_PACKAGE, **variables: str) -> dict[str, str]:
    """The environment without what says which machine code is used, with the package that lies in `root`."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("CYLCOLLIDE_")}
    return {**known, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1", **variables}


def run_python(*words: object, **how: Any) -> subprocess.CompletedProcess[str]:
    """A process of Python with these words behind it, and what it says; `how`: as of `subprocess.run`."""
    usual = {"cwd": ABOVE_PACKAGE, "capture_output": True, "text": True}
    return subprocess.run([sys.executable, *map(str, words)], check=False, **(usual | how))


def printed_by(*words: object, **how: Any) -> str:
    """What such a process prints; it must end well, and say nothing on standard error."""
    done = run_python(*words, **how)
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stdout}{done.stderr[-3000:]}"
    assert done.stderr == ""
    return done.stdout


def run_command(*words: object, hidden: Sequence[str] = (), **how: Any) -> subprocess.CompletedProcess[str]:
    """`cylcollide` with these words, in a process in which some packages are not installed."""
    code = "".join(f"sys.modules[{name!r}] = None; " for name in hidden)
    start = f"import sys; {code}sys.argv[0] = 'cylcollide'; import cylcollide.cli; cylcollide.cli.main()"
    return run_python("-c", start, *words, **how)
