"""The report a person reads: one page that stands alone and says what the numbers say."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from support.html_page import Page, numbers, page_alone
from support.runs.humanoid import sample_result

from cylcollide.crosscheck.judge.result import KINDS
from cylcollide.crosscheck.number_format import length, percent
from cylcollide.crosscheck.report.chart_style import MOST_POINTS, thin_out
from cylcollide.crosscheck.report.humanoid.charts import figures
from cylcollide.crosscheck.report.humanoid.close_up import CORNERS, outline
from cylcollide.crosscheck.report.humanoid.page import report_html, write_report
from cylcollide.crosscheck.report.humanoid.sentences import verdict
from cylcollide.crosscheck.report.humanoid.view_3d import cylinder_mesh, cylinder_rings
from cylcollide.crosscheck.report.worst import worst_rays

PANELS = ("distance", "normal", "family", "phantom", "early")


@pytest.fixture(scope="module")
def result():
    return sample_result(seed=1, rays=4000)


@pytest.fixture(scope="module")
def page(result):
    return Page.parse(report_html(result))


# The page -------------------------------------------------------------------------------------------------------------


def test_page_stands_alone(result, tmp_path):
    write_report(result, tmp_path / "new")
    page = page_alone((tmp_path / "new" / "index.html").read_text(encoding="utf-8"))
    # Links lead into the page or to files of the same folder.
    assert len(page.links) >= 12
    assert not [link for link in page.links if ":" in link]


def test_figures_hold_the_data(result, page):
    for name in PANELS:
        figure = page.figure(name)
        assert "template" not in figure["layout"]
        assert all(len(numbers(trace["x"])) == len(numbers(trace["y"])) > 0 for trace in figure["data"]), name
    grazing = result.agreed.depth > 0
    points = sum(len(numbers(t["x"])) for t in page.figure("distance")["data"] if t["name"] in ("early", "late"))
    assert points == np.sum(grazing & (result.agreed.distance_error != 0)) > 100
    bars = {bar["name"]: bar for bar in page.figure("family")["data"]}
    assert set(bars) == set(KINDS)
    assert bars["phantom"]["customdata"][0][0] == result.rows[-1].phantom > 0
    assert math.isclose(numbers(page.figure("phantom")["data"][0]["y"]).sum(), 100.0)
    early = numbers(page.figure("early")["data"][0]["y"]).sum()
    assert early == np.sum(result.agreed.distance_error < 0) > 1000


def test_words_are_computed(result, page):
    total = result.rows[-1]
    wrong = len(result.disagreements.ray)
    assert f"PyBullet is wrong about {wrong:,} of 4,000 bullets" in page.words
    assert f"{total.phantom} phantom hits, {total.missed} missed and {total.wrong_limb} on the wrong limb" in page.words
    assert "every one is proved by rational arithmetic" in page.words
    assert "--rays 4000 --seed 1 --motion walk --motion run --motion kick" in page.words
    assert "pybullet 3.2.7" in page.words
    assert not re.search(r"\b(nan|inf|None)\b", page.words)


def test_unproved_disagreements_are_said(result):
    rows = (*result.rows[:-1], replace(result.rows[-1], proved=7))
    assert "only 7 of these are proved" in verdict(replace(result, rows=rows))[0]


def test_every_worst_ray_can_be_seen(result, page):
    scene = json.loads(page.scripts["scene-data"])
    worst = worst_rays(result)
    assert len(scene["rays"]) == len(worst) == 10
    for ray, view in zip(worst, scene["rays"], strict=True):
        limbs = [trace for trace in scene["poses"][view["pose"]] if trace["type"] == "mesh3d"]
        assert [trace["name"] for trace in limbs] == [name.replace("_", " ") for name in result.poses.limb_names]
        points = [t for t in view["answers"] if t["type"] == "scatter3d" and t["mode"] == "markers"]
        claims = [p for p in (ray.position_true, ray.position_engine) if not math.isnan(p[0])]
        assert [(t["x"][0], t["y"][0], t["z"][0]) for t in points] == claims
        cut = [trace for trace in view["section"]["data"] if trace.get("fill") == "toself"]
        assert len(cut) >= 1
        assert f"repro/{ray.rank:02d}.py" in page.links


def test_no_disagreement_is_a_fine_report():
    perfect = sample_result(seed=2, rays=600, perfect=True)
    page = Page.parse(report_html(perfect))
    assert "agrees on every verdict and every limb" in page.words
    assert "There is no phantom hit in this run." in page.words
    assert "figure-phantom" not in page.scripts
    assert {"early", "late"} == {ray.kind for ray in worst_rays(perfect)}


def test_no_hit_at_all_is_a_fine_report(result):
    def none(table):
        return replace(table, **{name: getattr(table, name)[:0] for name in table.__dataclass_fields__})

    nothing = (math.nan, math.nan, math.nan)
    zero = dict.fromkeys(("hits", "missed", "phantom", "wrong_limb", "proved"), 0)
    zero |= dict.fromkeys(("early_mm", "late_mm", "normal_deg"), nothing)
    rows = tuple(replace(row, **zero) for row in result.rows)
    empty = replace(result, rows=rows, agreed=none(result.agreed), disagreements=none(result.disagreements))
    page = Page.parse(report_html(empty))
    assert worst_rays(empty) == []
    assert "scene-data" not in page.scripts
    assert not re.search(r"\bnan\b", page.words)
    assert [name for name, plot in figures(empty).items() if plot is not None] == ["family"]


def test_names_cannot_break_the_page(result):
    evil = ('<script>alert("1")</script>',) * len(result.poses.limb_names)
    html = report_html(replace(result, poses=replace(result.poses, limb_names=evil)))
    assert "<script>alert" not in html
    assert Page.parse(html).ids == Page.parse(report_html(result)).ids


# Figures --------------------------------------------------------------------------------------------------------------


def test_thinning_keeps_extremes_and_spread():
    values = np.random.default_rng(5).lognormal(size=40_000)
    rows = thin_out(values)
    assert len(np.unique(rows)) == MOST_POINTS
    assert {values[rows].min(), values[rows].max()} == {values.min(), values.max()}
    for share in (10, 50, 90):
        assert math.isclose(np.percentile(values[rows], share), np.percentile(values, share), rel_tol=1e-2)


def test_cylinder_mesh_is_closed_and_faces_outward():
    p1, p2, radius = np.array([1.0, 2.0, 3.0]), np.array([1.5, 1.0, 3.7]), 0.3
    points, triangles = cylinder_mesh(p1, p2, radius, 200)
    a, b, c = (points[triangles[:, k]] - p1 for k in range(3))
    volume = np.sum(a * np.cross(b, c)) / 6
    assert math.isclose(volume, math.pi * radius**2 * np.linalg.norm(p2 - p1), rel_tol=1e-3)


def test_outline_of_a_cylinder_cut_open():
    across = outline(*cylinder_rings(np.array([3.0, 1.0, -2.0]), np.array([3.0, 1.0, 1.0]), 0.5, CORNERS))
    assert np.allclose(np.linalg.norm(across - [3.0, 1.0], axis=1), 0.5, rtol=4e-6)
    assert len(across) == CORNERS
    # Along the axis, off centre: a rectangle as long as the limb and as wide as the chord.
    lengthwise = outline(*cylinder_rings(np.array([0.0, 0.0, 0.3]), np.array([2.0, 0.0, 0.3]), 0.5, CORNERS))
    assert np.allclose(np.ptp(lengthwise, axis=0), [2.0, 0.8], atol=1e-5)
    assert outline(*cylinder_rings(np.array([0.0, 0.0, 1.0]), np.array([2.0, 0.0, 1.0]), 0.5, CORNERS)) is None


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
