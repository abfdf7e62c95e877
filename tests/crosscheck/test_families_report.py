"""The page of a run by families: stands alone, says what the numbers say, and shows only what the run has measured."""

import copy
import csv
import gzip
import json
import math
import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from support.faulty_engines import ExactEngine
from support.html_page import Page, numbers, page_alone

from cylcollide.crosscheck.causes.kinds_and_causes import Cause, Kind
from cylcollide.crosscheck.causes.rounded_cylinder import signed_distance, taken
from cylcollide.crosscheck.engine.setup import PlainEngine
from cylcollide.crosscheck.generate.families import ChunkKey, draw_chunk
from cylcollide.crosscheck.report.chart_style import COLORS
from cylcollide.crosscheck.report.csv_tables import DISAGREEMENTS, write_tables
from cylcollide.crosscheck.report.families.advice import RULES, advice
from cylcollide.crosscheck.report.families.case_choice import Drawn, telling_cases, worst_cases
from cylcollide.crosscheck.report.families.cause_texts import EXPLAINED
from cylcollide.crosscheck.report.families.close_up import NAMES, _origin, _outward, cut
from cylcollide.crosscheck.report.families.measures import earlier_than_bound, early_bound, scale_rows
from cylcollide.crosscheck.report.families.page import page_html, write_page
from cylcollide.crosscheck.report.families.sentences import change_rows, ratio_words, title, verdict
from cylcollide.crosscheck.run.families import Plan, local_processes, run_families
from cylcollide.crosscheck.run.tally import Tally

pytestmark = pytest.mark.long  # whole runs and pages: minutes where nothing is compiled yet

PLAN = Plan(("generic", "side-graze", "rim", "inside-start", "construction"), 3000, 3, tried=3)
CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), ""
)


@pytest.fixture(scope="module")
def result():
    return run_families(PLAN)


@pytest.fixture(scope="module")
def page(result):
    return Page.parse(page_html(result))


def with_summary(result, **fields):
    return replace(result, summary={**result.summary, **fields})


def case_files(cases, folder):
    """What the writer of cases and scripts does, in short."""
    written = []
    for number, case in enumerate(cases, 1):
        pair = folder / "cases" / f"{number:02d}.json", folder / "repro" / f"{number:02d}.py"
        for path in pair:
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(case.record()))
        written.append(pair)
    return written


# The page -------------------------------------------------------------------------------------------------------------


def test_page_stands_alone_and_its_links_lead_somewhere(result, tmp_path):
    write_tables(result, tmp_path)
    path = write_page(result, tmp_path, case_files)
    for name in ("summary.json", "cases.json"):
        (tmp_path / name).write_text("{}")
    page = page_alone(path.read_text(encoding="utf-8"))
    inside = {link[1:] for link in page.links if link.startswith("#")}
    ranks = {f"bullet-{rank}" for rank in range(1, 21)}
    assert ranks & inside
    assert inside - ranks <= set(page.ids)
    files = [link for link in page.links if not link.startswith("#")]
    assert len(files) > 20
    assert [link for link in files if not (tmp_path / link).is_file()] == []
    assert sorted(file.name for file in (tmp_path / "cases").iterdir())[0] == "01.json"


def test_words_are_those_of_the_summary(result, page):
    summary = result.summary
    total, open_ = summary["families"][-1], summary["unexplained"]
    wrong = total["missed"] + total["phantom"] + total["wrong_limb"]
    assert wrong > 400
    assert f"PyBullet is wrong about {wrong:,} of {total['rays']:,} segments: here is why" in page.words
    assert (
        f"{total['phantom']:,} phantom hits and {total['missed']:,} missed; every one of these is proved" in page.words
    )
    assert f"there are {open_['disagreements']:,} disagreements, and none is left unexplained" in page.words
    for row in summary["causes"]:
        assert f"{row['count']:,}:" in page.words
        assert (
            f"cause-{Cause(next(c for c in Cause if c.label == row['cause'])).name.lower().replace('_', '-')}"
            in page.ids
        )
    assert "--families generic --families side-graze" in page.words
    assert "--rays 3000 --seed 3" in page.words
    assert not re.search(r"\b(nan|inf|None)\b|\{|\}", page.words)


def test_what_is_open_is_said(result):
    summary = copy.deepcopy(result.summary)
    summary["unexplained"]["count"] = 2
    summary["families"][-1]["proved"] = 7
    summary["families"][-1]["lost"] = 5
    first, second = verdict(summary)
    assert "only 7 of these are proved" in first
    assert first.endswith("and 5 segments get no answer at all.")
    assert "2 are left unexplained" in second
    assert "here is why" not in title(summary)


def test_every_cause_is_explained_with_names_of_facts():
    assert set(EXPLAINED) == set(Cause)
    for text in EXPLAINED.values():
        assert "{" not in text.format(engine="E", stop="1 mm", rim="1 mm", big="10 m")


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
        rows = scale_rows(summary, (family,))
        assert line["customdata"] == [[row["phantom"], row["misses"]] for row in rows]
        assert len(rows) == 6
        assert line["y"][0] > 2 * line["y"][-1]
    # Early hits: the points of one size of limb, their medians those of the summary.
    hits, bound, medians = page.figure("depth")["data"]
    rows = [row for row in summary["grazes"] if row["radius"] == 0.05 and row["early"]]
    assert len(numbers(hits["x"])) == sum(row["early"] for row in rows) > 10
    assert list(numbers(medians["y"])) == [row["early_mm"][0] for row in rows]
    assert max(numbers(hits["y"])) < max(numbers(bound["y"])) < 25
    # Causes by their bounds: the nearest is the one of the summary, wherever that is a length.
    nearest = {row["cause"]: row["nearest_to_bound"] for row in summary["causes"]}
    last = page.figure("bound")["data"][-1]
    same = [
        (x, nearest[name]["ratio"])
        for name, x in zip(last["y"], numbers(last["x"]), strict=True)
        if nearest[name]["kind"] != "normal"
    ]
    assert len(same) >= 2
    assert all(math.isclose(x, ratio) for x, ratio in same)
    built = {bar["name"].split(",")[0]: bar for bar in page.figure("construction")["data"]}
    some = [row for row in summary["setups"] if row["family"] == "construction" and 0.01 <= row["radius"] <= 1]
    assert sum(count for count, _ in built["phantom"]["customdata"]) == sum(row["phantom"] for row in some) > 20


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
    # With half the stop the bound is broken: it is no empty one.
    halved = [{**c, "stop": 0.5 * c["stop"]} for c in result.summary["calibrations"]]
    assert earlier_than_bound(with_summary(result, calibrations=halved)) > 5
    # Tangent to the side, across the axis: √(2 R τ + τ²), and twice that at 30°.
    assert math.isclose(early_bound(0.05, np.zeros(1), 1e-3)[0], 2 * math.sqrt(2 * 0.05 * 1e-3 + 1e-6), rel_tol=1e-12)


# Partial runs ---------------------------------------------------------------------------------------------------------


def sections(html):
    return re.findall(r'<section id="(\w+)"', html)


@pytest.mark.parametrize("family", ["inside-start", "near-start"])
def test_a_run_of_one_family_has_no_empty_section(family):
    html = page_html(run_families(Plan((family,), 240, 1, tried=1)))
    page = Page.parse(html)
    assert sections(html) == [
        "scoreboard",
        "table",
        "causes",
        "worst",
        *(["advice"] * ("advice" in sections(html))),
        "how",
    ]
    assert f"of the family “{family}”" in page.words
    assert "panel-construction" not in page.ids
    assert "panel-depth" not in page.ids
    assert not re.search(r"\b(nan|inf|None)\b", page.words)
    assert "<ul></ul>" not in html
    assert not re.search(r"<tbody>\s*</tbody>", html)


def test_no_disagreement_is_a_fine_page():
    result = run_families(Plan(("rim",), 240, 1, PlainEngine(ExactEngine)))
    assert result.summary["unexplained"]["disagreements"] == 0
    html = page_html(result)
    assert sections(html) == ["scoreboard", "table", "how"]
    assert "gives the right verdict on 240 segments" in Page.parse(html).words


def score(**fields):
    ran = {
        "engine": "Other", "versions": {"other": "1.2"}, "error": "", "rays": 500, "missed": 3, "phantom": 1234,
        "wrong_limb": 0, "lost": 0, "distance_mm": [0.001, 2.5, None], "normal_deg": [0.1, 2.0, 30.0],
        "inside": "hits at the far side", "limits": ["no caps"], "speed": 0.25, "families": {"rim": 7},
        "unproved": 0,
    }  # fmt: skip
    return {**ran, **fields}


def test_a_family_without_room_is_said_not_to_be_tried():
    html = page_html(run_families(Plan(("rim", "batch-limits"), 240, 1, tried=1)))
    assert "batch-limits was not tried" in html
    assert "16,384 are enough for one." in html
    assert "--families rim --families batch-limits --rays 240" in html


def test_scoreboard_shows_every_engine(result):
    none = dict.fromkeys(("rays", "missed", "phantom", "wrong_limb", "lost"), 0)
    nan = {"distance_mm": [None] * 3, "normal_deg": [None] * 3, "speed": None}
    board = [score(), score(engine="<b>Absent</b>", error="package missing", **none, **nan)]
    html = page_html(with_summary(result, scoreboard=board))
    words = Page.parse(html).words
    assert "Other500 31,23400 1 µm2.5 mm–0.1°2°30° 0.25 ×" in words.replace("\u00a0", " ")
    assert "starts inside: hits at the far side limits: no caps other 1.2" in words
    assert "not confirmed" not in words
    assert "<b>Absent</b>Did not run: package missing" in words
    assert "<b>Absent" not in html
    html = page_html(with_summary(result, scoreboard=[score(unproved=1200)]))
    assert "1,200 further disagreements with Other are not confirmed by exact arithmetic" in Page.parse(html).words


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
    phantom, early = telling_cases(cases, Cause.TERMINATION)
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
        for case in telling_cases(result.tally.cases, cause):
            drawn = Drawn.of(case, result.summary["calibrations"])
            assert drawn.calibration is not None
            figure = cut(drawn)
            unit = {"m": 1.0, "mm": 1e-3, "µm": 1e-6, "nm": 1e-9}[figure.layout.xaxis.title.text.split()[0]]
            low, high = figure.layout.xaxis.range
            origin, path, out = _origin(drawn), drawn.direction, _outward(drawn)
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


# Tables and equal runs ------------------------------------------------------------------------------------------------


def test_tables_hold_every_row(result, tmp_path):
    paths = write_tables(result, tmp_path)
    families, causes, setups = (list(csv.DictReader(path.read_text().splitlines())) for path in paths[:3])
    assert [row["family"] for row in families] == [*PLAN.families[:4], "construction", "all"]
    assert int(families[-1]["phantom"]) == result.summary["families"][-1]["phantom"]
    assert [int(row["count"]) for row in causes] == [row["count"] for row in result.summary["causes"]]
    assert len(setups) == len(result.summary["setups"])
    with gzip.open(paths[3], "rt") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == result.summary["unexplained"]["disagreements"]
    assert tuple(rows[0]) == DISAGREEMENTS
    # A row says which segment it is: drawn again, it is that of the case.
    found = {tuple(row[name] for name in ("family", "chunk", "scene", "row", "kind")): row for row in rows}
    for case in result.tally.cases[::40]:
        row = found[(case.family, str(case.chunk), str(case.scene), str(case.row), case.kind)]
        assert row["cause"] == case.cause
        assert (
            (row["amount"] == "")
            if case.amount is None
            else math.isclose(float(row["amount"]), case.amount, rel_tol=1e-5)
        )
        shots = draw_chunk(ChunkKey(case.family, case.seed, case.chunk), PLAN.size_of(case.family))[case.scene].shots
        assert tuple(shots.start[case.row].tolist()) == case.start
    before = [path.read_bytes() for path in paths]
    assert [path.read_bytes() for path in write_tables(result, tmp_path)] == before


def test_the_order_of_chunks_changes_nothing(result):
    chunks = result.tally.chunks
    turned = replace(result, tally=Tally({key: chunks[key] for key in reversed(chunks)}))
    assert page_html(turned) == page_html(result)


@pytest.mark.long
def test_two_workers_give_the_same_files(result, tmp_path):
    with local_processes(2) as executor:
        other = run_families(PLAN, executor)
    for name, run in (("one", result), ("two", other)):
        write_page(with_summary(run, seconds=0.0), tmp_path / name, case_files)
        write_tables(run, tmp_path / name)
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file())
    assert len(files) > 20
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes(), file


# In a browser ---------------------------------------------------------------------------------------------------------

FRAME = """<!DOCTYPE html><body>
<iframe src="index.html" style="width:{width}px;height:30000px;border:0"></iframe><script>
addEventListener("load", () => setTimeout(() => {{
  const page = document.querySelector("iframe").contentDocument, plots = [...page.querySelectorAll("[data-figure]")];
  const report = {{
    plots: plots.length,
    drawn: plots.filter((plot) => plot.querySelector(".main-svg")).length,
    scene: page.querySelectorAll("#scene .gl-container, #section .main-svg").length,
    wide: page.documentElement.scrollWidth,
    spilt: plots.filter((plot) => plot.querySelector(".main-svg")?.getBoundingClientRect().right > {width}).length,
  }};
  document.body.innerHTML = `<pre id="report">${{JSON.stringify(report)}}</pre>`;
}}, 4000));
</script>"""


@pytest.mark.long
@pytest.mark.skipif(not CHROMIUM, reason="no Chromium is installed")
@pytest.mark.parametrize("width", [1400, 390])
def test_the_page_in_a_browser(result, tmp_path, width):
    write_page(result, tmp_path)
    (tmp_path / "frame.html").write_text(FRAME.format(width=width), encoding="utf-8")
    options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--allow-file-access-from-files",
        "--enable-logging=stderr",
    ]
    options += ["--virtual-time-budget=30000", "--window-size=1500,30000"]
    options += [f"--user-data-dir={tmp_path / 'profile'}"]
    # Whatever asks for the network gets an error, which the console tells.
    options += ["--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom"]
    address = (tmp_path / "frame.html").as_uri()
    done = subprocess.run([CHROMIUM, *options, address], capture_output=True, text=True, check=True, timeout=300)
    said = re.search(r'<pre id="report">(.*?)</pre>', done.stdout)
    assert said, done.stderr
    report = json.loads(said[1])
    assert report["plots"] == report["drawn"] > 10
    assert report["scene"] >= 2
    assert report["wide"] <= width
    assert report["spilt"] == 0
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not [line for line in console if re.search(r"Uncaught|Error|ERR_|Failed to load", line)]
