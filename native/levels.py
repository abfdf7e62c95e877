"""Levels of processors that machine code is made for: on x86-64 those of its ABI, elsewhere one."""

import platform
import sys
import sysconfig
from typing import NamedTuple

LEVELS = {"x86-64-v4": 4, "x86-64-v3": 3, "x86-64": 1}
"""Levels of x86-64, best first."""

TRIPLES = {
    ("linux", "x86_64"): "x86_64-unknown-linux-gnu",
    ("linux", "aarch64"): "aarch64-unknown-linux-gnu",
    ("darwin", "x86_64"): "x86_64-apple-macosx11.0.0",
    ("darwin", "aarch64"): "arm64-apple-macosx11.0.0",
    ("win32", "x86_64"): "x86_64-pc-windows-msvc",
    ("win32", "aarch64"): "aarch64-pc-windows-msvc",
}


class Platform(NamedTuple):
    """A system and an architecture."""

    system: str
    """As `sys.platform` has it."""
    machine: str

    @property
    def levels(self) -> list[str]:
        """Its levels, best first."""
        return list(LEVELS) if self.machine == "x86_64" else [self.machine]


class Target(NamedTuple):
    """What machine code is made for."""

    level: str
    platform: Platform
    triple: str
    cpu: str
    features: str
    number: int
    """The level as `module.c` checks it; 0 where there is one alone."""
    is_cross: bool
    """Whether the platform was named: then it is linked for old systems, too."""

    @property
    def module(self) -> str:
        """The name of the extension module."""
        return self.level.replace("-", "_")


def this_platform() -> Platform:
    """That of this Python."""
    machine = sysconfig.get_platform().rpartition("-")[2].lower()
    machine = platform.machine().lower() if machine == "universal2" else machine
    return Platform(sys.platform, {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine))


def target(level: str, named: Platform | None = None) -> Target:
    """What a level of a platform is made for, None: of this one; ValueError for a level that there is not."""
    of = named or this_platform()
    if level not in of.levels:
        raise ValueError(f"expected levels among {', '.join(of.levels)}, or all; got {level!r}")
    triple = TRIPLES.get(of, f"{of.machine}-unknown-linux-gnu")
    cpu = level if level in LEVELS else "apple-m1" if of.system == "darwin" else "generic"
    # vectors of eight float64 are one register of AVX-512: LLVM would rather halve them
    features = "-prefer-256-bit" if level == "x86-64-v4" else ""
    return Target(level, of, triple, cpu, features, LEVELS.get(level, 0), named is not None)


def own_level() -> str:
    """The best level of this processor."""
    of = this_platform()
    if of.machine != "x86_64":
        return of.machine
    from llvmlite import binding

    has = {name for name, there in binding.get_host_cpu_features().items() if there}
    if not {"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"} <= has:
        return "x86-64"
    return "x86-64-v4" if {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= has else "x86-64-v3"
