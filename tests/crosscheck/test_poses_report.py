"""The page of a sweep over poses: it is self-contained and matches the numbers."""

import json
import math
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from support.faulty_engines import Planted, WobblyEngine
from support.html_page import Page, numbers, page_alone
from support.runs.pybullet_runs import PLAN, paged, right_hits, swept

from cylcollide.crosscheck.cases.wording import length, percent
from cylcollide.crosscheck.compare.disagreements import VERDICTS
from cylcollide.crosscheck.report.chart_style import MOST_POINTS, thin_out
from cylcollide.crosscheck.report.drawn_case import Drawn, worst_cases
from cylcollide.crosscheck.report.figures import FIGURES
from cylcollide.crosscheck.report.page import page_html, write_page
from cylcollide.crosscheck.report.pictures import CutPlane
from cylcollide.crosscheck.report.tables import limb_table, write_tables
from cylcollide.crosscheck.run.chunk_store import Chunk
from cylcollide.crosscheck.run.plan import PosesPlan
from cylcollide.crosscheck.run.run import run_plan, wrong_count
from cylcollide.crosscheck.run.tally import Tally

PANELS = ("distance", "normal", "family", "gap", "early")


@pytest.fixture(scope="module")
def result():
    return swept()


def written(result, folder):
    write_tables(result, folder)
    return write_page(result, folder)


@pytest.fixture(scope="module")
def index(result, tmp_path_factory):
    return written(result, tmp_path_factory.mktemp("report") / "new")


@pytest.fixture(scope="module")
def page(index):
    return Page.parse(index.read_text(encoding="utf-8"))


# The page -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("run", [None, pytest.param(paged, marks=pytest.mark.long)], ids=["poses", "families"])
def test_page_is_self_contained_and_its_links_exist(run, index, tmp_path):
    file = written(run(), tmp_path / "new") if run else index
    page, folder = page_alone(file.read_text(encoding="utf-8")), file.parent
    for rank in range(1, 11):
        assert {f"cases/{rank:02d}.json", f"repro/{rank:02d}.py"} <= set(page.links)
    files = {link for link in page.links if not link.startswith("#")} - {"summary.json", "cases.json", "rays.npz"}
    assert all((folder / link).is_file() for link in files)
    inside = {link[1:] for link in page.links if link.startswith("#")}
    assert {link for link in inside if not link.startswith("bullet-")} <= set(page.ids)


def test_the_sections_are_those_with_data(page):
    assert {"limbs", "table", "figures", "worst", "how"} <= set(page.ids)
    assert not {"scoreboard", "causes", "advice"} & set(page.ids)


def test_figures_hold_the_data(result, page):
    for name in PANELS:
        figure = page.figure(name)
        assert "template" not in figure["layout"]
        assert all(len(numbers(trace["x"])) == len(numbers(trace["y"])) > 0 for trace in figure["data"]), name
    (depth, error, _), total = right_hits(result.tally), result.summary["families"][-1]
    points = sum(len(numbers(t["x"])) for t in page.figure("distance")["data"] if t["name"] in ("early", "late"))
    assert points == np.sum((depth > 0) & (error != 0)) > 100
    bars = {bar["name"]: bar for bar in page.figure("family")["data"]}
    assert set(bars) == {kind.label for kind in VERDICTS}
    assert bars["phantom"]["customdata"][0][0] == total["phantom"] > 0
    assert numbers(page.figure("gap")["data"][0]["y"]).sum() == total["phantom"]
    early = numbers(page.figure("early")["data"][0]["y"]).sum()
    assert early == np.sum(error < 0) > 600


def test_text_is_computed(result, page):
    total = result.summary["families"][-1]
    wrong, aimed = wrong_count(total), result.summary["families"][0]
    first = f"PyBullet is wrong about {wrong_count(aimed)} of {aimed['rays']:,} bullets aimed at a limb"
    assert page.words.index(first) < page.words.index("With grazes and rims added"), "first what a user meets"
    assert f"PyBullet is wrong about {wrong:,} of {PLAN.rays:,} bullets" in page.words
    said = f"{total['phantom']} phantom hits, {total['missed']} missed and {total['wrong_limb']} on the wrong limb"
    assert f"{said}; every one of these is proved by rational arithmetic" in page.words
    assert " ".join(PLAN.options) in page.words
    assert "pybullet 3.2.7" in page.words
    assert not re.search(r"\b(nan|inf|None)\b", page.words)


def test_limbs_are_counted_from_the_thinnest(result):
    table = limb_table(result.tally, result.plan)
    counts = np.array([[int(cell.replace(",", "")) for cell in row[2:]] for row in table.rows])
    total, aimed = result.summary["families"][-1], result.summary["families"][0]
    assert counts.sum(axis=0).tolist() == [total["hits"], wrong_count(aimed), wrong_count(total)]
    assert [float(row[1].split("\u00a0")[0]) for row in table.rows] == sorted(
        float(f"{100 * radius:.3g}") for radius in result.plan.poses.radius
    )
    assert 0 < wrong_count(aimed) < wrong_count(total)


def test_every_worst_bullet_can_be_seen(result, page):
    scene = json.loads(page.scripts["scene-data"])
    worst = worst_cases(result.tally.cases)
    assert len(scene) == len(worst) == 10
    for case, view in zip(worst, scene, strict=True):
        limbs = [trace for trace in view["limbs"] if trace["type"] == "mesh3d"]
        assert [trace["name"] for trace in limbs] == [name.replace("_", " ") for name in result.plan.poses.limb_names]
        points = [t for t in view["answers"] if t["type"] == "scatter3d" and t["mode"] == "markers"]
        claims = [hit for side in ("true", "engine") if (hit := Drawn(case, []).hit(side)) is not None]
        assert [(t["x"][0], t["y"][0], t["z"][0]) for t in points] == [tuple(claim) for claim in claims]
        cut = [trace for trace in view["section"]["data"] if trace.get("fill") == "toself"]
        assert len(cut) >= 1


def test_a_report_without_disagreements():
    perfect = run_plan(PosesPlan(300, 2, ("walk",), Planted(factory=WobblyEngine)))
    page = Page.parse(page_html(perfect))
    assert "Both sides agree on every verdict and every limb" in page.words
    assert "figure-gap" not in page.scripts
    assert {"early", "late"} == {case.kind for case in worst_cases(perfect.tally.cases)}


def test_a_report_without_hits(result):
    def none(chunk):
        columns = {name: column[:0] for name, column in chunk.columns.items()}
        counts = [{**row, "hits": 0, "proved": 0} for row in chunk.record["families"]]
        return Chunk(columns, {**chunk.record, "families": counts, "cases": []})

    tally = Tally({key: none(chunk) for key, chunk in result.tally.chunks.items()})
    empty = replace(result, tally=tally, summary={**result.summary, "families": tally.rows()})
    page = Page.parse(page_html(empty))
    assert worst_cases(tally.cases) == []
    assert "scene-data" not in page.scripts
    assert not re.search(r"\bnan\b", page.words)
    assert [name for name, plot in FIGURES.items() if plot(empty) is not None] == []


def test_names_cannot_break_the_page_and_unproved_cases_are_stated(result, page):
    evil = ('<script>alert("1")</script>',) * 15
    renamed = [replace(case, names=evil) for case in result.tally.cases]
    rows = [*result.summary["families"][:-1], {**result.summary["families"][-1], "proved": 7}]
    summary = {**result.summary, "families": rows}
    html = page_html(replace(result, tally=with_cases(result.tally, renamed), summary=summary))
    assert "alert(" in html
    assert "<script>alert" not in html
    other = Page.parse(html)
    assert other.ids == page.ids
    assert "only 7 of these is proved" in other.words


def with_cases(tally, cases):
    """The tally with other cases, all in one chunk."""
    records = [[case.record() for case in cases], *[[] for _ in list(tally.chunks)[1:]]]
    chunks = zip(tally.chunks.items(), records, strict=True)
    return Tally({key: Chunk(chunk.columns, {**chunk.record, "cases": some}) for (key, chunk), some in chunks})


# Figures --------------------------------------------------------------------------------------------------------------


def test_thinning_keeps_extremes_and_spread():
    values = np.random.default_rng(5).lognormal(size=40_000)
    rows = thin_out(values)
    assert len(np.unique(rows)) == MOST_POINTS
    assert {values[rows].min(), values[rows].max()} == {values.min(), values.max()}
    for share in (10, 50, 90):
        assert math.isclose(np.percentile(values[rows], share), np.percentile(values, share), rel_tol=1e-2)


def test_outline_of_a_cylinder_cut_open():
    def outline(p1, p2):
        drawn = SimpleNamespace(p1=np.array([p1]), p2=np.array([p2]), case=SimpleNamespace(radius=[0.5]))
        plane = CutPlane(np.array([3.0, 1.0, 0.0]), *np.eye(3)[:2], reach=8.0)
        corners = plane.region(Drawn.true(drawn, 0), 0.0)
        return None if corners is None else corners + np.array([3.0, 1.0])

    across = outline([3.0, 1.0, -2.0], [3.0, 1.0, 1.0])
    assert np.allclose(np.linalg.norm(across - [3.0, 1.0], axis=1), 0.5, rtol=4e-6)
    assert len(across) > 80
    # Along the axis, off centre: a rectangle as long as the limb and as wide as the chord.
    lengthwise = outline([2.0, 1.0, 0.3], [4.0, 1.0, 0.3])
    assert np.allclose(np.ptp(lengthwise, axis=0), [2.0, 0.8], atol=1e-5)
    assert outline([2.0, 1.0, 1.0], [4.0, 1.0, 1.0]) is None


@pytest.mark.parametrize(
    ("metres", "said"),
    [
        (0.00087, "870 µm"),
        (0.00099999, "1 mm"),
        (0.0123, "12.3 mm"),
        (-2.5, "-2.5 m"),
        (3e-9, "3 nm"),
        (0.0, "0 mm"),
        (math.nan, "–"),
    ],
)
def test_lengths_read_well(metres, said):
    assert length(metres).replace("\u00a0", " ") == said


@pytest.mark.parametrize(
    ("part", "whole", "said"),
    [(0, 9, "0 %"), (9, 9, "100 %"), (1, 10**6, "less than 0.01 %"), (99_999, 10**5, "over 99.9 %"), (1, 8, "12.5 %")],
)
def test_shares_are_never_rounded_to_all_or_nothing(part, whole, said):
    assert percent(part, whole).replace("\u00a0", " ") == said
