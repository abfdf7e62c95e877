"""Which machine code is used: that of the best level that is installed and that this processor has, else none.

It is chosen once, when the package is imported. Without it, the same functions run as plain Python, with the same
results bit for bit.
"""

import os
import platform
import warnings
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from types import ModuleType
from typing import NamedTuple

X86_LEVELS = ("x86-64-v4", "x86-64-v3", "x86-64")
"""Best first: with AVX-512, with AVX2, and any x86-64."""
PLAIN = "plain"
FREE_THREADED = not any(suffix.startswith((".abi3", ".pyd")) for suffix in EXTENSION_SUFFIXES)
"""Whether this Python loads no extension modules in the stable interface."""

REMEDY = "pip install a wheel for this machine, or `pip install .` in a clone of the repository, which builds one"
REBUILD = "build it again by `pip install -e .`"


class Choice(NamedTuple):
    """The level in use, and why."""

    level: str
    reason: str
    machine_code: ModuleType | None = None


def machine() -> str:
    """The architecture, under one name on all systems."""
    name = platform.machine().lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(name, name)


def known() -> tuple[str, ...]:
    """The levels that there are for this machine, best first."""
    return X86_LEVELS if machine() == "x86_64" else (machine(),)


def installed() -> list[str]:
    """The levels that are installed, best first."""
    return [level for level in known() if find_spec(module_name(level)) is not None]


def module_name(level: str) -> str:
    """The extension module of a level."""
    return f"cylcollide.machine_code.{level.replace('-', '_')}"


def is_supported(level: str) -> bool:
    """Whether this processor has an installed level."""
    return bool(import_module(module_name(level)).supported())


def usable() -> list[str]:
    """The installed levels that this processor has, best first."""
    return list(filter(is_supported, installed()))


def choose(requested: str | None) -> Choice:
    """The level to use: the requested one, or the best one if it is None.

    Raises
    ------
    ValueError
        If no level has the requested name.
    ImportError
        If the requested level is not installed, or this processor lacks it.
    """
    if requested == PLAIN:
        return Choice(PLAIN, "CYLCOLLIDE_LEVEL asks for it")
    there = installed()
    if requested is not None:
        _check(requested, there)
        return _fresh(requested, "CYLCOLLIDE_LEVEL asks for it")
    if best := next(filter(is_supported, there), None):
        return _fresh(best, "the best one that is installed and that this processor has")
    if there:
        return _without(f"this processor has none of the installed levels, {', '.join(there)}", REMEDY)
    if FREE_THREADED:
        return _without("this Python is free-threaded, which machine code is not made for", "use another one")
    return _without("no machine code is installed", REMEDY)


def _check(level: str, there: list[str]) -> None:
    """Raise the error of a level that cannot be used."""
    asks = f"CYLCOLLIDE_LEVEL asks for {level}"
    if level not in known():
        raise ValueError(f"{asks}: expected {', '.join(known())} or {PLAIN}; unset it for the best one")
    if level not in there:
        raise ImportError(f"{asks}, which is not installed; {', '.join(there) or 'no level'} is: unset it, or {REMEDY}")
    if not is_supported(level):
        has = ", ".join(usable()) or PLAIN
        raise ImportError(f"{asks}, which this processor lacks; it has {has}: unset it")


def _fresh(level: str, reason: str) -> Choice:
    """A level, unless sources of an editable installation differ from those that it was made of."""
    module = import_module(module_name(level))
    if module.sources:  # their digest and names; in a wheel there are none
        from cylcollide.runtime.sources import digest_of_files  # noqa: PLC0415  hashes and paths take time

        digest, *names = module.sources.split()
        if digest_of_files(names) != digest:
            return _without("sources have changed since machine code was built", REBUILD)
    return Choice(level, reason, module)


def _without(reason: str, remedy: str) -> Choice:
    """No machine code; one warning says so."""
    slow = "queries run as plain Python, some thousand times slower"
    warnings.warn(f"cylcollide: {reason}: {slow}; {remedy}", RuntimeWarning, stacklevel=2)
    return Choice(PLAIN, reason)


CHOICE = choose(os.environ.get("CYLCOLLIDE_LEVEL") or None)
MACHINE_CODE = CHOICE.machine_code
