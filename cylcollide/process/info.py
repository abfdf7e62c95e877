"""`info`, the facts for a bug report; and `warm_up`, which does nothing."""

from __future__ import annotations

import platform
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cylcollide._version import __version__
from cylcollide.process.signatures import Shown
from cylcollide.runtime import levels


@dataclass(frozen=True)
class Info(metaclass=Shown):
    """Versions, and the machine code in use."""

    version: str
    level: str
    """The level of machine code in use, or "plain" for plain Python."""
    reason: str
    """Why this level is in use."""
    installed: tuple[str, ...]
    """All levels that are installed, best first."""
    processor: str
    system: str
    python: str
    numpy: str

    def __str__(self) -> str:
        shown = vars(self) | {"installed": ", ".join(self.installed) or "none"}
        return "\n".join(f"{name:10} {value}" for name, value in shown.items())


def info() -> Info:
    """Versions, and the machine code in use; print it for a bug report."""
    installed = tuple(levels.installed())
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return Info(__version__, *levels.CHOICE[:2], installed, _processor(), platform.platform(), python, np.__version__)


def _processor() -> str:
    """The name of the processor."""
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def print_info() -> None:
    """Print versions and the machine code in use, for a bug report."""
    print(info())


NOTHING_TO_WARM_UP = "warm_up does nothing: machine code comes with the package; the next release is without it"


def warm_up(processes: int | None = None, progress: Callable[[int, int], None] | None = None) -> None:  # noqa: ARG001
    """Do nothing: machine code comes with the package. The next release is without this function."""
    warnings.warn(NOTHING_TO_WARM_UP, FutureWarning, stacklevel=2)


def print_nothing_to_warm_up() -> None:
    """Do nothing: machine code comes with the package."""
    print(f"cylcollide: {NOTHING_TO_WARM_UP}")
