"""Shared by tests of queries: fixtures that record which rays float64 leaves undecided, and which need exact solids."""

from typing import Any

import pytest

from cylcollide.exact import order
from cylcollide.query import exact_fallback


@pytest.fixture
def exactly(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the solids whose chords are computed exactly."""
    found: list[Any] = []
    limb_chords = order.limb_chords
    monkeypatch.setattr(order, "limb_chords", lambda ray, limb: found.append(limb) or limb_chords(ray, limb))
    return found


@pytest.fixture
def undecided(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the rows that float64 bounds leave undecided, of one query after another."""
    found: list[Any] = []
    settle_rows = exact_fallback.settle_rows

    def counting(*args: Any) -> int:
        found.extend(args[2].tolist())
        return settle_rows(*args)

    monkeypatch.setattr(exact_fallback, "settle_rows", counting)
    return found
