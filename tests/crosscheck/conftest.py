"""Fixtures of the tests of the scoreboard."""

import pytest
from support.runs.scoreboard import RAYS, planted_engines, scoreboard_by_name, shared_truths

from cylcollide.crosscheck.generate import families


@pytest.fixture(scope="module", name="planted")
def _planted():
    """Register only the artificial engines and this library."""
    with planted_engines() as patch:
        yield patch


@pytest.fixture(scope="module")
def scores(request):
    """The scores of all these engines, by name."""
    request.getfixturevalue("planted")
    with shared_truths() as patch:
        patch.setattr(families, "SIZES", families.SIZES[1::2])  # half of them are enough
        return {score.engine: score for score in scoreboard_by_name("all", rays=RAYS)}
