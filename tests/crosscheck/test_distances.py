"""Distances of engines: points lie where they should, planted faults are counted, and PyBullet's errors have causes."""

import json

import numpy as np
import pytest
from support.html_page import Page
from support.runs.pybullet_runs import paged, with_summary

import cylcollide as cc
import cylcollide.crosscheck.run.distances as module
from cylcollide._types import Shape, Side
from cylcollide.crosscheck.generate.points import SHAPES, draw_points, rounded
from cylcollide.crosscheck.report.page import page_html
from cylcollide.crosscheck.report.tables import distance_tables
from cylcollide.crosscheck.run.distances import MARGIN, ShapeDistances, distances
from cylcollide.engines.own import OwnEngine

N = 180


@pytest.fixture(scope="module")
def found():
    return distances(("bullet", "cylcollide"), N)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name.lower())
def test_points_are_about_their_own_limb_on_both_sides_and_near_edges(shape):
    limbs, points, limb = draw_points(shape, N, 0)
    nearest = cc.HitWorld(limbs).closest_points(points)
    assert nearest.limb.tolist() == limb.tolist()
    assert 0.15 * N < (nearest.distance < 0).sum() < 0.85 * N
    near = np.abs(nearest.distance[np.arange(N) % 3 == 1])
    assert near.max() < 0.1001
    assert (near < 1e-5).sum() > N // 9
    if shape == Shape.CYLINDER:
        edge = (np.arange(N) % 3 == 2) & (nearest.distance > 0)
        assert len(set(nearest.face[edge].tolist())) == 3
    assert np.array_equal(draw_points(shape, N, 0)[1], points)
    assert not np.array_equal(draw_points(shape, N, 1)[1], points)


def test_a_margin_rounds_rims_and_corners():
    box, drum = cc.Limbs.boxes([[0, 0, 0]], [0, 0, 0, 1], [[1, 2, 3]]), cc.Limbs.cylinders([[0, 0, -1]], [[0, 0, 1]], 1)
    for limb, corner, off in ((box, [1, 2, 3], 3**0.5 - 1), (drum, [1, 0, 1], 2**0.5 - 1)):
        assert rounded(limb, np.array([corner], float), np.array([0.1])) == pytest.approx(0.1 * off, rel=1e-12)
        assert rounded(limb, np.array([[0, 0, 0.0]]), np.array([0.1])) == pytest.approx(-1.0)


def test_pybullets_errors_have_causes(found):
    rows = {(row["engine"], row["shape"]): row for row in found["rows"]}
    assert found["unproved"] == 0
    for shape in ("sphere", "capsule", "cylinder", "box", "ellipsoid"):
        own = rows["cylcollide", shape]
        assert (own["wrong_sign"], own["lost"], own["outside_mm"][2], own["inside_mm"][2]) == (0, 0, 0, 0)
    assert ("PyBullet", "ellipsoid") not in rows
    for shape in ("sphere", "capsule"):
        assert rows["PyBullet", shape]["wrong_sign"] == 0
        assert max(rows["PyBullet", shape][side][2] for side in ("outside_mm", "inside_mm")) < 1e-11
    causes = {(row["shape"], row["cause"]): row for row in found["causes"]}
    for shape, corner in (("cylinder", 2**0.5 - 1), ("box", 3**0.5 - 1)):
        row, margin = rows["PyBullet", shape], causes[shape, MARGIN]
        assert row["wrong_sign"] > 10
        assert row["outside_mm"][2] == pytest.approx(corner * margin["margin_mm"], rel=0.02)
        assert margin["largest_mm"] <= corner * margin["margin_mm"] * (1 + 1e-3)
        assert margin["proved"] > 0.95 * margin["count"] > 50
    assert {shape for shape, _ in causes} == {"cylinder", "box"}
    assert causes["cylinder", "GJK stops early"]["largest_mm"] < 0.1
    assert json.loads(json.dumps(found, allow_nan=False)) == found


class FaultyEngine(OwnEngine):
    """Returns in turn a wrong sign, NaN, a distance off by 2 mm, and the right distance."""

    def signed_distances(self, points, limb):
        told = super().signed_distances(points, limb).copy()
        told[0::4] *= -1.0
        told[1::4] = np.nan
        told[2::4] += 0.002 * np.sign(told[2::4])
        return told


def test_planted_faults_are_counted(monkeypatch):
    balls = ShapeDistances(Shape.SPHERE, 40, 0)
    with FaultyEngine() as engine:
        engine.build(balls.limbs)
        row, _ = balls.row(engine)
    assert (row["points"], row["wrong_sign"], row["lost"]) == (40, 10, 10)
    assert max(row["outside_mm"][2], row["inside_mm"][2]) == pytest.approx(
        2e3 * np.abs(balls.truth[0::4]).max(), rel=1e-9
    )
    assert balls.unproved == 0
    own = cc.Limbs.classify_points
    monkeypatch.setattr(
        cc.Limbs, "classify_points", lambda self, x: np.where(np.arange(len(x)) == 3, Side.SURFACE, own(self, x))
    )
    assert ShapeDistances(Shape.SPHERE, 40, 0).unproved == 1


def test_engines_without_distances_are_left_out(found):
    assert distances(("warp", "rapier", "jolt", "embree"), 6)["rows"] == []
    assert distance_tables({}) == []
    first, why = distance_tables(found)
    assert [row[0] for row in first.rows[:2]] == ["PyBullet: sphere", "PyBullet: capsule"]
    assert len({len(row) for row in first.rows} | {len(first.heads)}) == 1
    assert any(row[0] == f"box: {MARGIN}" for row in why.rows)


def test_an_engine_that_fails_stops_no_other(monkeypatch):
    class Failing(OwnEngine):
        def signed_distances(self, *_):
            raise LookupError("no distance today")

    known = {"failing": Failing, "own": OwnEngine}
    monkeypatch.setattr(module, "create", lambda name: known[name]())
    monkeypatch.setattr(module, "variants", lambda name: {"": {}})
    found = distances(("failing", "own"), 6)
    assert found["errors"] == {"failing": "LookupError: no distance today"}
    assert {row["engine"] for row in found["rows"]} == {"cylcollide"}


@pytest.mark.long
def test_distances_on_page(found):
    result = paged()
    assert "distances" not in Page.parse(page_html(result)).ids
    page = Page.parse(page_html(with_summary(result, distances=found)))
    assert "distances" in page.ids
    assert "Why PyBullet's distances are off" in page.words.replace("’", "'")
