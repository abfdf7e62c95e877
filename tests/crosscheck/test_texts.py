"""Texts stored as data: each belongs to an item of the code, and refers only to what exists."""

from string import Formatter

from cylcollide.crosscheck.cases.trials import OF_CAUSE
from cylcollide.crosscheck.cases.wording import CAUSES, TEXTS
from cylcollide.crosscheck.compare.disagreements import Cause, Kind
from cylcollide.crosscheck.report.figures import FIGURES


def fields(text):
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_every_cause_has_a_text_with_known_fields_and_kinds():
    assert list(CAUSES) == list(Cause)  # in the order of the figure of the bounds
    for said in CAUSES.values():
        assert set(said) <= {"explained", "measured", "number", "shows"}
        assert fields(said["explained"]) <= {"engine", "stop", "rim", "big"}
        assert fields(said.get("measured", "")) <= {"engine", "measured", "bound"}
        assert all(kind in Kind.__members__ for kind in said.get("shows", ()))
        assert not {"measured", "number"} <= set(said)


def test_every_figure_has_a_text():
    assert set(TEXTS["figures"]) == set(FIGURES)
    for said in TEXTS["figures"].values():
        assert {"title", "caption"} <= set(said) <= {"causes", "title", "caption"}
        assert all(cause in Cause.__members__ for cause in said.get("causes", ()))
        assert fields(said["caption"]) <= {"engine", "grazed", "bound", "beyond"}


def test_every_advice_names_a_cause_with_trials():
    for said in TEXTS["advice"]:
        assert {"cause", "change", "title", "text"} <= set(said) <= {"cause", "change", "title", "text", "code"}
        assert Cause[said["cause"]] in OF_CAUSE
