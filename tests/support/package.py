"""Python processes that import the package under test with its machine code, and the package's location.

In the repository `python -c` would import the sources of the working directory and compile them again.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cylcollide as cc

ABOVE_PACKAGE = Path(cc.__file__).parents[1]


def make_build_importable() -> None:
    """Append the repository to `sys.path` to import its folder `native`; an installed package keeps precedence."""
    if (root := str(Path(__file__).parents[2])) not in sys.path:
        sys.path.append(root)


def environment(root: Path = ABOVE_PACKAGE, **variables: str) -> dict[str, str]:
    """The environment without variables that select machine code, with `root` as the folder of the package."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("CYLCOLLIDE_")}
    return {**known, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1", **variables}


def run_python(*words: object, **how: Any) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments and return the finished process; `how`: arguments of `subprocess.run`."""
    usual = {"cwd": ABOVE_PACKAGE, "capture_output": True, "text": True}
    return subprocess.run([sys.executable, *map(str, words)], check=False, **(usual | how))


def output_of(*words: object, **how: Any) -> str:
    """The standard output of a Python process; asserts exit code 0 and an empty standard error."""
    done = run_python(*words, **how)
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stdout}{done.stderr[-3000:]}"
    assert not done.stderr, f"standard error: {done.stderr[-3000:]}"
    return done.stdout


def run_command(*words: object, hidden: Sequence[str] = (), **how: Any) -> subprocess.CompletedProcess[str]:
    """Run `cylcollide` with these arguments in a process that cannot import the `hidden` packages."""
    code = "".join(f"sys.modules[{name!r}] = None; " for name in hidden)
    start = f"import sys; {code}sys.argv[0] = 'cylcollide'; import cylcollide.cli; cylcollide.cli.main()"
    return run_python("-c", start, *words, **how)
