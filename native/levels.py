"""What machine code is made for: systems, and levels of their processors. On x86-64 these are its ABI's, else one."""

import sys
from typing import NamedTuple

from cylcollide.runtime.levels import X86_LEVELS, machine

TRIPLES = {"linux": "{}-unknown-linux-gnu", "darwin": "{}-apple-macosx11.0.0", "win32": "{}-pc-windows-msvc"}
"""LLVM's names of systems, without the architecture."""
CROSS = ("linux-x86_64", "linux-aarch64")
"""Platforms that any machine makes wheels for, by ziglang."""


class Target(NamedTuple):
    """What an extension module is made for."""

    level: str
    system: str  # as `sys.platform` has it
    machine: str
    is_cross: bool  # whether the platform was named: then ziglang links it, for old systems, too

    @property
    def triple(self) -> str:
        """LLVM's name of system and architecture."""
        return TRIPLES[self.system].format(self.machine)

    @property
    def module(self) -> str:
        """The name of the extension module."""
        return self.level.replace("-", "_")

    @property
    def cpu(self) -> str:
        """LLVM's name of the processor."""
        return self.level if self.level in X86_LEVELS else "apple-m1" if self.system == "darwin" else "generic"

    @property
    def features(self) -> str:
        """LLVM's options. A vector of eight float64 is one register of AVX-512; LLVM would rather halve it."""
        return "-prefer-256-bit" if self.level == "x86-64-v4" else ""

    @property
    def number(self) -> int:
        """The level as `module.c` checks it; 0 where the processor needs no check."""
        return int(self.level[-1]) if self.level.startswith("x86-64-v") else 0


def targets(levels: str = "", platform: str = "") -> list[Target]:
    """The targets of some levels: names with commas, "all", or by default that of this processor.

    A platform is named as in "linux-aarch64"; by default it is that of this Python.

    Raises
    ------
    ValueError
        If a name is unknown.
    """
    if platform and platform not in CROSS:
        raise ValueError(f"expected a platform among {', '.join(CROSS)}; got {platform!r}")
    system, architecture = platform.split("-") if platform else (sys.platform, machine())
    known = X86_LEVELS if architecture == "x86_64" else (architecture,)
    chosen = known if levels == "all" else [level for level in levels.split(",") if level] or [own_level()]
    if unknown := ", ".join(level for level in chosen if level not in known):
        raise ValueError(f"expected levels among {', '.join(known)}, or all; got {unknown}")
    return [Target(level, system, architecture, bool(platform)) for level in chosen]


def own_level() -> str:
    """The best level of this processor."""
    if machine() != "x86_64":
        return machine()
    from llvmlite import binding

    has = {name for name, there in binding.get_host_cpu_features().items() if there}
    if not {"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"} <= has:
        return "x86-64"
    return "x86-64-v4" if {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= has else "x86-64-v3"
