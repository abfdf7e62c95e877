"""What the page of a run by families advises, the cases that it shows, and their cuts."""

import math
import re

import numpy as np
import pytest
from support.html_page import Page
from support.runs.families import paged

from cylcollide.crosscheck.cases.wording import advice
from cylcollide.crosscheck.compare.disagreements import Cause, Kind
from cylcollide.crosscheck.report.drawn_case import Drawn, shown_cases, worst_cases
from cylcollide.crosscheck.report.figures import facts
from cylcollide.crosscheck.report.page import page_html
from cylcollide.crosscheck.report.pictures import NAMES, _origin, cut, outward

pytestmark = pytest.mark.long  # whole runs and pages: minutes where nothing is compiled yet


@pytest.fixture(scope="module")
def result():
    return paged()


@pytest.fixture(scope="module")
def page(result):
    return Page.parse(page_html(result))


# Advice ---------------------------------------------------------------------------------------------------------------


def given(summary):
    return {item["title"]: item for item in advice(summary, facts(summary))}


def test_advice_stands_on_numbers_of_the_run(result):
    found = given(result.summary)
    assert {"Start rays outside of the limbs", "Load cylinders as cylinders"} <= set(found)
    assert not [title for title in found if "rays in a call" in title or "boxes" in title]
    inside = next(row for row in result.summary["causes"] if row["cause"] == Cause.INSIDE_START.label)
    first, second = found["Start rays outside of the limbs"]["evidence"]
    assert first.startswith(f"{inside['count']:,} disagreements of this cause, inside-start policy: ")
    assert re.match(r"(all )?\d+ (of \d+ )?trials did as predicted: start moved out of the limb", second)
    assert given({**result.summary, "engine": "Other"}) == given({**result.summary, "causes": []}) == {}


def test_advice_needs_a_trial_that_held(result):
    row = result.summary["causes"][0]
    lost = {"change": "asked alone", "predicted": "vanishes", "held": 2, "failed": 1}
    calls = [{"asked": n, "as_lists": True, "answered": 16_383} for n in (16_383, 16_384)]
    cause = {**row, "cause": Cause.API_LIMIT.label, "interventions": {**row["interventions"], "changes": [lost]}}
    said = given({**result.summary, "causes": [cause], "calls": calls})
    assert said["Send at most 16,383 rays in a call"]["evidence"][1] == "2 of 3 trials did as predicted: asked alone"
    lost["held"] = 0
    assert given({**result.summary, "causes": [cause], "calls": calls}) == {}


# Cases and their cuts -------------------------------------------------------------------------------------------------


def test_telling_cases_are_of_their_cause_and_worst_ones_take_turns(result):
    cases = result.tally.cases
    phantom, early = shown_cases(cases, Cause.TERMINATION)[:2]
    assert (phantom.kind_code, early.kind_code) == (Kind.PHANTOM, Kind.EARLY)
    for case in (phantom, early):
        like = [c for c in cases if (c.cause, c.kind, c.setup) == (case.cause, case.kind, case.setup)]
        pictured = [c for c in like if 0.01 <= c.radius[0] <= 1.0]
        assert case in pictured
        assert abs(case.amount) == max(abs(c.amount) for c in pictured)
    causes = [Cause.TERMINATION, Cause.RIM_ROUNDING, Cause.EARLY_EXIT]
    worst = worst_cases(cases, causes)
    assert [case.cause_code for case in worst[:3]] == causes
    assert len({(case.cause, case.kind) for case in worst}) == len(worst)
    assert worst_cases(list(reversed(cases)), causes) == worst


def test_a_cut_draws_the_surfaces_where_they_are(result):
    checked = dict.fromkeys(NAMES.values(), 0)
    for cause in (Cause.TERMINATION, Cause.RIM_ROUNDING, Cause.SHAPE):
        for case in shown_cases(result.tally.cases, cause)[:2]:
            drawn = Drawn(case, result.summary["calibrations"])
            assert drawn.calibration is not None
            figure = cut(drawn)
            unit = {"m": 1.0, "mm": 1e-3, "µm": 1e-6, "nm": 1e-9}[figure.layout.xaxis.title.text.split()[0]]
            low, high = figure.layout.xaxis.range
            origin, path, out = _origin(drawn), drawn.direction, outward(drawn)
            for trace in figure.data:
                if trace.name not in checked:
                    continue
                x, y = np.float64(trace.x), np.float64(trace.y)
                seen = (x > low) & (x < high) & (np.abs(y) < 0.5 * (high - low))
                points = origin + unit * (x[seen, None] * path + y[seen, None] * out)
                solid = drawn.held if trace.name != NAMES["true"] else drawn.true(drawn.limb)
                level = drawn.calibration.stop if trace.name == NAMES["shell"] else 0.0
                distance = solid.taken(np.zeros(len(points), dtype=int)).signed_distance(points)
                # Single precision of the picture.
                assert np.all(np.abs(distance - level) < 1e-5 * unit * (high - low))
                checked[trace.name] += len(points)
            hits = {trace.name: trace for trace in figure.data if trace.name in ("true hit", "reported hit")}
            if case.kind_code == Kind.EARLY:
                apart = hits["true hit"].x[0] - hits["reported hit"].x[0]
                assert math.isclose(apart * unit, -case.amount, rel_tol=1e-6)
            if case.kind_code == Kind.PHANTOM:
                assert "true hit" not in hits
                assert low < hits["reported hit"].x[0] < high
    assert min(checked.values()) > 100
