"""From object files to an extension module, by the system's C compiler or by ziglang."""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from native.levels import Target
from native.signatures import Signature

SOURCE = Path(__file__).with_name("module.c")
STABLE = "0x030B0000"
"""The oldest Python whose stable interface is used."""
GLIBC = "2.17"
"""The oldest C library that a cross-built module runs with; wheels are tagged so (`hook.py`)."""


def compiler(target: Target) -> list[str]:
    """The command that compiles and links C for a target; empty if there is none."""
    zig = [sys.executable, "-m", "ziglang", "cc"] if find_spec("ziglang") else []
    if target.is_cross:
        return zig and [*zig, "-target", f"{target.machine}-linux-gnu.{GLIBC}"]
    if given := shlex.split(os.environ.get("CC", "")):
        return given
    found = next((path for name in ("cc", "gcc", "clang") if (path := shutil.which(name))), None)
    return [found] if found and sys.platform != "win32" else zig


def suffix(target: Target) -> str:
    """What the names of extension modules in the stable interface end with."""
    return ".pyd" if target.system == "win32" else ".abi3.so"


def symbol_of(loop: str) -> str:
    """The symbol of a loop, without the prefix that tells it from others in the process."""
    return loop.replace(".", "__")


def link(target: Target, signatures: dict[str, Signature], objects: list[Path], sources: str, made: Path) -> None:
    """Make the extension module of a level.

    Raises
    ------
    RuntimeError
        If there is no compiler, or it fails; with what it said.
    """
    command = compiler(target)
    if not command:
        raise RuntimeError("no C compiler found: install cc (gcc or clang) or `pip install ziglang`, or set CC")
    loops = made.with_suffix(".h")
    loops.write_text("".join(f'LOOP({symbol_of(name)}, "{one.format}")\n' for name, one in signatures.items()))
    macros = {
        "Py_LIMITED_API": STABLE,
        "LOOPS": f'"{loops.as_posix()}"',
        "MOST_WORDS": max(one.words for one in signatures.values()),
        "LEVEL": target.number,
        "MODULE": f'"{target.module}"',
        "INITIALISE": f"PyInit_{target.module}",
        "SOURCES": f'"{sources}"',
    }
    python, machine = sysconfig.get_path("include"), sysconfig.get_path("platinclude")
    of_system = {
        "darwin": ["-bundle", "-undefined", "dynamic_lookup"],
        "win32": ["-shared", f"-L{sys.base_prefix}/libs", "-lpython3"],
    }.get(target.system, ["-shared", "-Wl,--build-id=none", "-Wl,-z,noexecstack", "-lm"])
    arguments = [
        *("-O2", "-std=c11", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wno-unused-parameter", "-s"),
        *(f"-D{name}={value}" for name, value in macros.items()),
        *(f"-I{path}" for path in dict.fromkeys((python, machine, np.get_include()))),
        *(str(SOURCE), *map(str, objects), *of_system, "-o", str(made)),
    ]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
    loops.unlink()
    if done.returncode:
        if "Python.h" in done.stderr:
            raise RuntimeError(f"{python} has no Python.h: install Python's headers (python3-dev on Debian)")
        raise RuntimeError(f"{shlex.join(command)} failed:\n{done.stderr[-2000:]}")
