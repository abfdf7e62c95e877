"""Change a threshold of `cylcollide.constants` for a test, in every Python module that reads it."""

import pytest

from cylcollide.process import threads
from cylcollide.query import chords, closest, points, scratch

READERS = (scratch, threads, closest, chords, points)
"""Modules that read thresholds at run time; compiled loops contain them as constants."""


def set_threshold(patch: pytest.MonkeyPatch, name: str, value: int) -> None:
    """Replace a threshold in every module that reads it in queries."""
    readers = [module for module in READERS if name in vars(module)]
    assert readers, f"no module reads {name}"
    for module in readers:
        patch.setattr(module, name, value)
