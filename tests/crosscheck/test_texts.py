"""The texts that are data: each stands for something of the code, and names nothing that is not there."""

from string import Formatter

import pytest

from cylcollide.crosscheck.cases.words import TEXTS
from cylcollide.crosscheck.compare.disagreements import Cause, Kind
from cylcollide.crosscheck.records import texts
from cylcollide.crosscheck.report import advice
from cylcollide.crosscheck.report.page import CHARTS


def fields(text):
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_every_cause_has_a_text_with_known_fields_and_kinds():
    assert list(TEXTS) == list(Cause)  # in this order, too: that of the figure of the bounds
    for said in TEXTS.values():
        assert set(said) <= {"explained", "measured", "number", "shows"}
        assert fields(said["explained"]) <= {"engine", "stop", "rim", "big"}
        assert fields(said.get("measured", "")) <= {"engine", "measured", "bound"}
        assert all(kind in Kind.__members__ for kind in said.get("shows", ()))
        assert not {"measured", "number"} <= set(said)


def test_every_chart_has_a_text_and_a_cause_to_stand_with():
    words = texts("report/charts.toml")
    assert set(words) == set(CHARTS)
    for said in words.values():
        assert set(said) == {"causes", "title", "caption"}
        assert said["causes"]
        assert all(cause in Cause.__members__ for cause in said["causes"])
        assert fields(said["caption"]) <= {"engine", "earlier", "spread", "stop", "arm", "beyond"}


def test_every_advice_has_a_rule():
    assert [rule.__name__.removeprefix("_") for rule in advice.RULES] == list(advice.TEXTS)
    assert all(set(said) <= {"title", "text", "code"} for said in advice.TEXTS.values())


def test_a_file_that_is_not_there():
    with pytest.raises(FileNotFoundError):
        texts("report/nonesuch.toml")
