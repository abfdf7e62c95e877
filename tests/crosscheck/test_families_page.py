"""The page of a run by families: text and figures match the numbers; partial runs, advice, cases and their cuts."""

import copy
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from support.html_page import Page, numbers
from support.runs.pybullet_runs import paged, with_summary

from cylcollide.crosscheck.cases.wording import advice
from cylcollide.crosscheck.compare.disagreements import Cause, Kind
from cylcollide.crosscheck.report.chart_style import COLORS
from cylcollide.crosscheck.report.drawn_case import Drawn, shown_cases, worst_cases
from cylcollide.crosscheck.report.figures import earlier_than_bound, early_bound, facts
from cylcollide.crosscheck.report.page import page_html
from cylcollide.crosscheck.report.pictures import NAMES, _origin, cut, outward
from cylcollide.crosscheck.run.plan import FamiliesPlan
from cylcollide.crosscheck.run.run import run_plan

pytestmark = pytest.mark.long  # whole runs and pages: minutes where nothing is compiled yet


@pytest.fixture(scope="module")
def result():
    return paged()


@pytest.fixture(scope="module")
def page(result):
    return Page.parse(page_html(result))


# The page -------------------------------------------------------------------------------------------------------------


def test_text_matches_the_summary(result, page):
    summary = result.summary
    total, open_ = summary["families"][-1], summary["unexplained"]
    wrong = total["missed"] + total["phantom"] + total["wrong_limb"]
    assert wrong > 400
    assert f"PyBullet is wrong about {wrong:,} of {total['rays']:,} segments: here is why" in page.words
    said = (
        f"{total['phantom']:,} phantom hits, {total['missed']:,} missed and {total['wrong_limb']:,} on the wrong limb"
    )
    assert f"{said}; every one of these is proved" in page.words
    assert f"there are {open_['disagreements']:,} disagreements, and none left unexplained" in page.words
    for row in summary["causes"]:
        assert f"{row['count']:,}:" in page.words
    assert {f"cause-{place}" for place in range(1, len(summary["causes"]) + 1)} <= set(page.ids)
    assert "--families generic --families side-graze" in page.words
    assert "--rays 3000 --seed 3" in page.words
    assert not re.search(r"\b(nan|inf|None)\b|\{|\}", page.words)


def test_causes_fold_and_open_cases_and_failed_predictions_are_shown(result):
    summary = copy.deepcopy(result.summary)
    for row in summary["causes"]:
        row["interventions"]["changes"] = [{"change": "world x 10", "predicted": "shrinks", "held": 7, "failed": 0}]
    html = page_html(replace(result, summary=summary))
    assert "Not as predicted" not in html
    assert html.count('<details class="cause"') == len(summary["causes"]) > 2
    assert re.findall(r'id="(cause-\d+)" open', html) == ["cause-1"]
    summary["causes"][1]["interventions"]["changes"][0] |= {"held": 3, "failed": 2}
    summary["unexplained"]["count"] = 2
    summary["families"][-1] |= {"proved": 7, "lost": 5}
    html = page_html(replace(result, summary=summary))
    assert f'Not as predicted: <a href="#cause-2">{summary["causes"][1]["cause"]}</a> (2 of 5 trials).' in html
    words = Page.parse(html).words
    assert "only 7 of these is proved by rational arithmetic. 5 segments got no answer at all." in words
    assert "and 2 left unexplained" in words
    assert "here is why" not in words


def test_figures_hold_the_numbers_of_the_summary(result, page):
    summary = result.summary
    total = summary["families"][-1]
    bars = {bar["name"]: bar for bar in page.figure("family")["data"]}
    assert set(bars) == {"phantom", "missed"} <= set(COLORS)
    assert [bars[kind]["customdata"][0] for kind in bars] == [[total[kind], total["rays"]] for kind in bars]
    # Phantoms by scale: six sizes, the counts of the rows, and fewer where the world is larger.
    lines = {line["name"]: line for line in page.figure("scale")["data"]}
    assert set(lines) == {"generic", "side-graze", "rim"}
    for family, line in lines.items():
        rows = sorted((row for row in summary["setups"] if row["family"] == family), key=lambda row: row["radius"])
        assert line["customdata"] == [[row["phantom"], row["rays"] - row["hits"]] for row in rows]
        assert len(rows) == 6
        assert line["y"][0] > 2 * line["y"][-1]
    # Early hits: the points of one size of limb.
    traces = {trace["name"]: trace for trace in page.figure("distance")["data"]}
    rows = [row for row in summary["grazes"] if row["radius"] == 0.05 and row["early"]]
    assert len(numbers(traces["early"]["x"])) == sum(row["early"] for row in rows) > 10
    assert max(numbers(traces["early"]["y"])) < max(numbers(traces["bound"]["y"])) < 0.025
    # The medians are at the depths of the grazes.
    places = numbers(traces["median"]["x"])
    assert len(places) >= 5
    np.testing.assert_allclose(np.log10(places), np.round(np.log10(places)), atol=1e-6)
    # Causes by their bounds: the nearest case is that of the summary.
    nearest = {row["cause"]: row["nearest_to_bound"]["ratio"] for row in summary["causes"]}
    last = page.figure("bound")["data"][-1]
    drawn = dict(zip(last["y"], numbers(last["x"]), strict=True))
    assert drawn == {cause: pytest.approx(ratio) for cause, ratio in nearest.items() if (ratio or 0) > 0}
    assert len(drawn) >= 4
    built = {bar["name"].split(",")[0]: bar for bar in page.figure("construction")["data"]}
    some = [row for row in summary["setups"] if row["family"] == "construction" and 0.01 <= row["radius"] <= 1]
    assert sum(count for count, _ in built["phantom"]["customdata"]) == sum(row["phantom"] for row in some) > 20


def test_normals_of_starts_inside_have_no_bound():
    summary = run_plan(FamiliesPlan(("inside-start",), 1200, 1, tried=1)).summary
    (row,) = (row for row in summary["causes"] if row["cause"] == "noisy normal")
    assert row["kinds"]["normal"] > 10
    assert row["nearest_to_bound"]["ratio"] is None


def test_groups_add_up_to_the_families(result):
    summary = result.summary
    for row in summary["families"][:-1]:
        mine = [group for group in summary["setups"] if group["family"] == row["family"]]
        for name in ("rays", "hits", "missed", "phantom", "wrong_limb", "lost"):
            assert sum(group[name] for group in mine) == row[name], (row["family"], name)
    assert len([group for group in summary["setups"] if group["family"] == "construction"]) == 24
    assert summary["calls"] == []
    assert summary["scoreboard"] == []


def test_no_hit_is_earlier_than_the_stop_allows(result):
    assert earlier_than_bound(result) == 0
    # With half the stop the bound is violated, so the test can fail.
    halved = [{**c, "stop": 0.5 * c["stop"]} for c in result.summary["calibrations"]]
    assert earlier_than_bound(with_summary(result, calibrations=halved)) > 5
    # Tangent to the side, across the axis: √(2 R τ + τ²), and twice that at 30°.
    assert math.isclose(early_bound(0.05, np.zeros(1), 1e-3)[0], 2 * math.sqrt(2 * 0.05 * 1e-3 + 1e-6), rel_tol=1e-12)


# Partial runs ---------------------------------------------------------------------------------------------------------


def sections(html):
    return re.findall(r'<section id="(\w+)"', html)


@pytest.mark.parametrize("family", ["inside-start", "near-start"])
def test_a_run_of_one_family_has_no_empty_section(family):
    html = page_html(run_plan(FamiliesPlan((family,), 240, 1, tried=1)))
    page = Page.parse(html)
    shown = ["table", "figures", "causes", "worst", "advice", "how"]
    assert sections(html) == [name for name in shown if name not in ("figures", "advice") or name in sections(html)]
    assert f"of the family “{family}”" in page.words
    assert "panel-construction" not in page.ids
    assert not re.search(r"\b(nan|inf|None)\b", page.words)
    assert "<ul></ul>" not in html
    assert not re.search(r"<tbody>\s*</tbody>", html)


def score(**fields):
    ran = {
        "engine": "Other", "versions": {"other": "1.2"}, "error": "", "rays": 500, "missed": 3, "phantom": 1234,
        "wrong_limb": 0, "lost": 0, "distance_mm": [0.001, 2.5, None], "normal_deg": [0.1, 2.0, 30.0],
        "inside": "hits at the far side", "limits": ["no caps"], "speed": 0.25, "families": {"rim": 7},
        "unproved": 0, "early": 11, "late": 22, "normal": 33, "position": 4444, "position_mm": [0.002, None, 5.0],
        "moved": 55,
    }  # fmt: skip
    return {**ran, **fields}


def test_a_family_without_room_is_listed_as_not_tried():
    html = page_html(run_plan(FamiliesPlan(("rim", "batch-limits"), 240, 1, tried=1)))
    assert "batch-limits was not tried" in html
    assert "16,384 are enough for one." in html
    assert "--families rim --families batch-limits --rays 240" in html


def test_scoreboard_shows_every_engine(result):
    none = dict.fromkeys(("rays", "missed", "phantom", "wrong_limb", "lost"), 0)
    page = Page.parse(page_html(with_summary(result, scoreboard=[score(), score(engine="Third")])))
    assert "scoreboard" in page.ids
    assert "Other 1122334,44455 " in page.words
    assert "familyOtherThird rim 77 " in page.words
    nan = {"distance_mm": [None] * 3, "normal_deg": [None] * 3, "speed": None}
    board = [score(), score(engine="<b>Absent</b>", error="package missing", **none, **nan)]
    html = page_html(with_summary(result, scoreboard=board))
    words = Page.parse(html).words
    assert "Other 50031,23400247.4 %0.25 " in words.replace("\u00a0", " ")
    assert "Other 0.0012.5–0.1230 " in words
    assert "Other hits at the far sideno capsother 1.2 " in words
    assert "not confirmed" not in words
    assert "<b>Absent</b> hits at the far sidepackage missing" in words
    assert "<b>Absent" not in html
    page = Page.parse(page_html(with_summary(result, scoreboard=[score(unproved=1200)])))
    assert "scoreboard" not in page.ids, "one engine needs none"
    assert "1,200 further disagreements with Other are not confirmed by exact arithmetic" in page.words


# Advice ---------------------------------------------------------------------------------------------------------------


def given(summary):
    return {item["title"]: item for item in advice(summary, facts(summary))}


def test_advice_cites_numbers_of_the_run(result):
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


def test_shown_cases_have_their_cause_and_worst_cases_alternate(result):
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
