"""Thresholds of `cylcollide.constants`, changed for a test in every Python module that reads them."""

import pytest

from cylcollide.process import threads
from cylcollide.query import chords, closest, points, scratch

READERS = (scratch, threads, closest, chords, points)
"""Modules that read thresholds when a query runs; compiled loops have them as constants."""


def set_threshold(patch: pytest.MonkeyPatch, name: str, value: int) -> None:
    """Put a value in place of a threshold wherever a query reads it."""
    readers = [module for module in READERS if name in vars(module)]
    assert readers, f"no module reads {name}"
    for module in readers:
        patch.setattr(module, name, value)
