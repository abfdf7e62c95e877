"""Chooses the machine code: that of the best installed level that this processor has, else none.

It is chosen once, when the package is imported. Without it, the same functions run as plain Python, with the same
results bit for bit.
"""

import os
import platform
import warnings
from contextlib import suppress
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

X86_LEVELS = ("x86-64-v4", "x86-64-v3", "x86-64")
"""Best first: with AVX-512, with AVX2, and any x86-64."""
PLAIN = "plain"
ROOT = Path(__file__).parents[2]
"""The folder that holds the package."""
FREE_THREADED = not any(suffix.startswith((".abi3", ".pyd")) for suffix in EXTENSION_SUFFIXES)
"""Whether this Python cannot load extension modules of the stable ABI."""

REMEDY = "pip install a wheel for this machine, or `pip install .` in a clone of the repository, which builds one"


class LevelChoice(NamedTuple):
    """The level in use, and why."""

    level: str
    reason: str
    machine_code: ModuleType | None = None


def machine() -> str:
    """The architecture, under one name on all systems."""
    name = platform.machine().lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(name, name)


def known() -> tuple[str, ...]:
    """The levels defined for this machine, best first."""
    return X86_LEVELS if machine() == "x86_64" else (machine(),)


def _name(level: str) -> str:
    return f"cylcollide.machine_code.{level.replace('-', '_')}"


def installed() -> list[str]:
    """The levels that are installed, best first."""
    with suppress(ModuleNotFoundError):  # a program frozen without `machine_code`
        return [level for level in known() if find_spec(_name(level)) is not None]
    return []


def module_of(level: str) -> ModuleType:
    """The extension module of an installed level."""
    return import_module(_name(level))


def usable() -> list[str]:
    """The installed levels that this processor has, best first."""
    return [level for level in installed() if module_of(level).supported()]


def digest_of_files(names: list[str]) -> str:
    """A digest of the names and contents of files of the checkout."""
    from hashlib import blake2b  # noqa: PLC0415  for editable installations only

    contents = [name.encode() + b"\0" + (ROOT / name).read_bytes() for name in names if (ROOT / name).is_file()]
    return blake2b(b"\0".join(contents), digest_size=16).hexdigest()


def choose(requested: str | None) -> LevelChoice:
    """The level to use: the requested one, or the best one if it is None.

    Raises
    ------
    ValueError
        If no level has the requested name.
    ImportError
        If the requested level is not installed, or this processor lacks it.
    """
    if requested == PLAIN:
        return LevelChoice(PLAIN, "CYLCOLLIDE_LEVEL asks for it")
    there, asks = installed(), f"CYLCOLLIDE_LEVEL asks for {requested}"
    if requested not in (None, *known()):
        raise ValueError(f"{asks}: expected {', '.join(known())} or {PLAIN}; unset it for the best one")
    if requested not in (None, *there):
        raise ImportError(f"{asks}, which is not installed; {', '.join(there) or 'no level'} is: unset it, or {REMEDY}")
    level = next((one for one in there if requested in (None, one) and module_of(one).supported()), None)
    if requested and not level:
        raise ImportError(f"{asks}, which this processor lacks; it has {', '.join(usable()) or PLAIN}: unset it")
    if not level and there:
        return _plain(f"this processor has none of the installed levels, {', '.join(there)}", REMEDY)
    if not level and FREE_THREADED:
        return _plain("this Python is free-threaded, for which there is no machine code", "use another one")
    if not level:
        return _plain("no machine code is installed", REMEDY)
    module = module_of(level)
    digest, *names = module.sources.split() or [""]  # in a wheel there are none
    is_checkout = any((ROOT / name).is_file() for name in names)
    if is_checkout and digest_of_files(names) != digest:
        return _plain("sources have changed since machine code was built", "build it again by `pip install -e .`")
    best = "the best one that is installed and that this processor has"
    return LevelChoice(level, "CYLCOLLIDE_LEVEL asks for it" if requested else best, module)


def _plain(reason: str, remedy: str) -> LevelChoice:
    """The choice of plain Python, with one warning."""
    slow = "queries run as plain Python, some thousand times slower"
    warnings.warn(f"cylcollide: {reason}: {slow}; {remedy}", RuntimeWarning, stacklevel=2)
    return LevelChoice(PLAIN, reason)


CHOICE = choose(os.environ.get("CYLCOLLIDE_LEVEL") or None)
MACHINE_CODE = CHOICE.machine_code
