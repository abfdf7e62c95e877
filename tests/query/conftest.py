"""Shared by tests of queries: a fixture that records which solids are computed exactly."""

from typing import Any

import pytest

from cylcollide.exact import order


@pytest.fixture
def exactly(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the solids whose chords are computed exactly."""
    found: list[Any] = []
    limb_chords = order.limb_chords
    monkeypatch.setattr(order, "limb_chords", lambda ray, limb: found.append(limb) or limb_chords(ray, limb))
    return found
