"""What tests of the scoreboard share."""

import pytest
from support.runs.scoreboard import RAYS, planted_engines, scoreboard_by_name


@pytest.fixture(scope="module", name="planted")
def _planted():
    """Only the artificial engines and this library are known."""
    with planted_engines() as patch:
        yield patch


@pytest.fixture(scope="module")
def scores(request):
    """The scores of all of them, by name."""
    request.getfixturevalue("planted")
    return {score.engine: score for score in scoreboard_by_name("all", rays=RAYS)}
