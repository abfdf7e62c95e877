"""What the page of a run by families advises, the cases that it shows, and their cuts."""

import json
import math
import re

import numpy as np
import pytest
from support.html_page import Page
from support.runs.families import paged

from cylcollide.crosscheck.compare.disagreements import Cause, Kind
from cylcollide.crosscheck.report.advice import RULES, advice
from cylcollide.crosscheck.report.case_choice import Drawn, clearest_cases, worst_cases
from cylcollide.crosscheck.report.page import page_html
from cylcollide.crosscheck.report.pictures import NAMES, _origin, cut, outward
from cylcollide.crosscheck.report.sentences import change_rows, ratio_words
from cylcollide.engines.rounded_cylinder import signed_distance, taken

pytestmark = pytest.mark.long  # whole runs and pages: minutes where nothing is compiled yet


@pytest.fixture(scope="module")
def result():
    return paged()


@pytest.fixture(scope="module")
def page(result):
    return Page.parse(page_html(result))


# Advice ---------------------------------------------------------------------------------------------------------------


def test_advice_stands_on_numbers_of_the_run(result):
    given = {item.title: item for item in advice(result.summary)}
    assert {"Start rays outside of the limbs", "Load cylinders as cylinders"} <= set(given)
    assert not [title for title in given if "rays in a call" in title or "margin" in title or "boxes" in title]
    inside = next(row for row in result.summary["families"] if row["family"] == "inside-start")
    share = f"{100 * inside['missed'] / inside['hits']:.1f}"
    assert given["Start rays outside of the limbs"].evidence[0].startswith(share.removesuffix(".0"))
    assert all(item.evidence and all(re.search(r"\d", line) for line in item.evidence) for item in given.values())
    assert advice({**result.summary, "engine": "Other"}) == []
    nothing = {**result.summary, "families": result.summary["families"][-1:], "causes": [], "setups": [], "calls": []}
    assert advice(nothing) == []
    assert len(RULES) == 8


def test_advice_on_calls_and_margins_needs_their_numbers(result):
    calls = [
        {"asked": 16_383, "as_lists": False, "answered": 16_383},
        {"asked": 16_384, "as_lists": True, "answered": 16_383},
    ]
    titles = [item.title for item in advice({**result.summary, "calls": calls})]
    assert "Send at most 16,383 rays in a call" in titles
    assert "rays in a call" not in str(advice({**result.summary, "calls": calls[:1]}))
    setup = result.summary["setups"][0]["setup"]
    sweep = [
        {"family": "margin-sweep", "setup": {**setup, "margin": margin}, "radius": 0.05, "rays": 200, "hits": 100,
         "missed": missed, "phantom": 50, "wrong_limb": 0, "lost": 0}
        for margin, missed in ((0.0, 12), (1e-3, 0), (0.1, 11))
    ]  # fmt: skip
    kept = next(item for item in advice({**result.summary, "setups": sweep}) if "margin" in item.title)
    assert (
        kept.evidence[0].replace("\u00a0", " ").startswith("margin 0: 12 % of the hits are missed, 50 % of the misses")
    )
    # Where the default is no better, nothing is advised.
    sweep[1]["missed"] = 30
    assert not [item for item in advice({**result.summary, "setups": sweep}) if "margin" in item.title]


# Cases and their cuts -------------------------------------------------------------------------------------------------


def test_telling_cases_are_of_their_cause_and_worst_ones_take_turns(result):
    cases = result.tally.cases
    phantom, early = clearest_cases(cases, Cause.TERMINATION)
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
        for case in clearest_cases(result.tally.cases, cause):
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
                distance = signed_distance(taken(solid, np.zeros(len(points), dtype=int)), points)
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


def test_every_view_has_limbs_answers_and_a_cut(page):
    scene = json.loads(page.scripts["scene-data"])
    assert len(scene["rays"]) == len(scene["poses"]) >= 8
    for view in scene["rays"]:
        assert [trace["type"] for trace in scene["poses"][view["pose"]]].count("mesh3d") >= 1
        assert any(trace.get("fill") == "toself" for trace in view["section"]["data"])
        assert any(trace.get("name") in ("true hit", "reported hit") for trace in view["answers"])


def test_changes_of_one_direction_are_put_together():
    changes = [
        {"change": "world x 10", "predicted": "shrinks", "held": 2, "failed": 1},
        {"change": "world x 1000", "predicted": "shrinks", "held": 3, "failed": 0},
        {"change": "world x 0.1", "predicted": "shrinks", "held": 1, "failed": 0},
        {"change": "boxes refreshed", "predicted": "vanishes", "held": 4, "failed": 0},
    ]
    said = [(row["change"], row["must"], row["held"], row["failed"]) for row in change_rows(changes)]
    assert said == [
        ("world larger: × 10 to 1,000", "shrink", 5, 1),
        ("world smaller: × 0.1", "shrink", 1, 0),
        ("boxes refreshed", "vanish", 4, 0),
    ]


@pytest.mark.parametrize(
    ("ratio", "said"), [(0.36811, "36.8 %"), (0.99992, "99.992 %"), (0.9999999987, "99.9999999 %")]
)
def test_a_share_of_a_bound_is_not_rounded_to_the_whole(ratio, said):
    assert ratio_words(ratio).replace("\u00a0", " ") == said
    assert ratio_words(1.0).replace("\u00a0", " ") == "100 %"
