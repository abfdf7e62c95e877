"""Links object files to an extension module, by the system's C compiler or by ziglang."""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from native.backend import FEATURES, Target
from native.signatures import Signature

SOURCE = Path(__file__).with_name("module.c")
GLIBC = "2.17"  # the oldest C library that a cross-built module runs with; wheels are tagged so (`hook.py`)
OPTIONS = {
    "darwin": ["-bundle", "-undefined", "dynamic_lookup"],
    "linux": ["-shared", "-Wl,--gc-sections,--build-id=none,-z,noexecstack", "-lm"],
    "win32": ["-shared", f"-L{sys.base_prefix}/libs", "-lpython3"],
}
"""How an extension module is linked, by system; on Linux without functions that nothing calls."""


def compiler(target: Target) -> list[str]:
    """The command that compiles and links C for a target; RuntimeError if there is none."""
    if not target.is_cross and (given := shlex.split(os.environ.get("CC", ""))):
        return given
    found = next((path for name in ("cc", "gcc", "clang") if (path := shutil.which(name))), None)
    if found and not target.is_cross and sys.platform != "win32":
        return [found]
    if find_spec("ziglang") is None:
        raise RuntimeError("no C compiler found: install cc (gcc or clang) or `pip install ziglang`, or set CC")
    named = ["-target", f"{target.machine}-linux-gnu.{GLIBC}"] if target.is_cross else []
    return [sys.executable, "-m", "ziglang", "cc", *named]


def link(target: Target, signatures: dict[str, Signature], objects: list[Path], sources: str, into: Path) -> None:
    """Make the extension module of a level in a folder; RuntimeError: no compiler, or its message on failure."""
    command = compiler(target)
    module = target.level.replace("-", "_")
    loops = into / f"{module}.h"
    loops.write_text("".join(f'LOOP({one.symbol}, "{one.format}")\n' for one in signatures.values()))
    macros = {
        "LOOPS": f'"{loops.as_posix()}"',
        "MOST_WORDS": max(one.words for one in signatures.values()),
        "LEVEL": target.level[-1] if target.level in FEATURES else 0,
        "MODULE": f'"{module}"',
        "INITIALISE": f"PyInit_{module}",
        "SOURCES": f'"{sources}"',
    }
    python, machine = sysconfig.get_path("include"), sysconfig.get_path("platinclude")
    made = into / f"{module}{'.pyd' if target.system == 'win32' else '.abi3.so'}"
    arguments = [
        *("-O2", "-std=c11", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wno-unused-parameter", "-s"),
        *(f"-D{name}={value}" for name, value in macros.items()),
        *(f"-I{path}" for path in dict.fromkeys((python, machine, np.get_include()))),
        *(str(SOURCE), *map(str, objects), *OPTIONS[target.system], "-o", str(made)),
    ]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
    loops.unlink()
    if done.returncode:
        if "Python.h" in done.stderr:
            raise RuntimeError(f"{python} has no Python.h: install Python's headers (python3-dev on Debian)")
        raise RuntimeError(f"{shlex.join(command)} failed:\n{done.stderr[-2000:]}")
