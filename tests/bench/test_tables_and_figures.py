"""Other tasks, memory, scaling; CSV, figures and short numbers."""

import csv
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from support.bench_engines import SMALL, plant, silent

import cylcollide as cc
from cylcollide.bench import runner, tasks
from cylcollide.bench.past import SPEED, RecordedCrowd
from cylcollide.bench.plots import plot_past, plot_rays, plot_scaling
from cylcollide.bench.scaling import run_past_scaling, run_scaling
from cylcollide.bench.tables import duration, rate, write_csv
from cylcollide.bench.timing import nbytes
from cylcollide.bench.workloads import crowd_of

pytestmark = pytest.mark.long  # half a minute of whole runs


def test_tasks_are_all_measured():
    found = tasks.run_tasks(["cylcollide"], 2000, 1, silent)
    assert [task.task for task in found] == [
        "build, 17,000 limbs", "move, 17,000 limbs", "one ray, one humanoid", "one ray, one humanoid",
        *["past: 2,000 rays, 17,000 limbs"] * 2, *["past: 200 shots, 64 characters"] * 2,
        *["past: 2,000 points, 64 characters"] * 2, *["record, 17,000 limbs"] * 2,
        "points, 17,000 limbs", "2 threads, W3", "import and first query", "memory, 100,000 limbs",
    ]  # fmt: skip
    assert all(task.value > 0 for task in found)
    assert [task.ratio for task in found[:3]] == [1.0, 1.0, 1.0]
    past = [task for task in found if task.engine == "cylcollide, 64 ticks"]
    assert len(past) == 4
    assert all(0.001 < task.ratio < 100.0 for task in past)


def test_memory_counts_every_buffer_once():
    a = np.zeros(1000)
    holder = {"a": a, "view": a[10:], "list": [a, (np.zeros(10, np.int8),)], "text": "x" * 100}
    assert nbytes(holder) == 8000 + 10
    once, twice = (nbytes(cc.HitWorld(crowd_of(n).limbs())) for n in (1700, 3400))
    assert once > 1700 * 8 * 7  # two ends and a radius at least
    assert 1.8 < twice / once < 2.2


def test_scaling_and_its_figure(tmp_path):
    points = run_scaling(500, 1, silent, decades=3)
    assert [(p.against, p.limbs, p.batch) for p in points] == [
        ("limbs", 100, 500), ("limbs", 1000, 500), *(("batch", 17_000, 10**k) for k in range(4)),
    ]  # fmt: skip
    assert all(p.rate_low <= p.rate <= p.rate_high for p in points)
    assert points[1].megabytes > 5 * points[0].megabytes
    write_csv(points, tmp_path / "scaling.csv")
    png, svg = plot_scaling(points, tmp_path)
    assert png.read_bytes()[:4] == b"\x89PNG"
    assert ET.parse(svg).getroot().tag.endswith("svg")
    assert len(list(csv.DictReader((tmp_path / "scaling.csv").read_text().splitlines()))) == 6


def test_the_recorded_crowd_walks():
    """At the speed of the workloads' humanoids, with swinging arms; times are spread over all ticks."""
    crowd = RecordedCrowd(SMALL, 8)
    assert crowd.history.ticks.tolist() == list(range(8))
    first, last = (crowd.history.limbs_at(tick=tick) for tick in (0, 7))
    assert len(first) == 17 * SMALL.characters
    rows = slice(0, None, 17)  # the pelvis of each
    way = np.linalg.norm((last.p1 - first.p1)[rows], axis=1)
    np.testing.assert_allclose(way, SPEED * 7 / 60, rtol=1e-3)
    names = first.names[:17]
    left, right = names.index("left_hand"), names.index("right_hand")
    apart = (last.p2 - first.p2)[left::17] - (last.p2 - first.p2)[right::17]
    assert np.linalg.norm(apart, axis=1).max() > 0.05
    times = crowd.times(1000)
    assert times.min() >= crowd.history.times[0]
    assert set(np.searchsorted(crowd.history.times, times, side="right") - 1) == set(range(7))


def test_the_past_and_its_figure(tmp_path):
    points = run_past_scaling(300, 1, silent, steps=2)
    assert [(p.against, p.limbs, p.ticks) for p in points] == [
        ("ticks", 1088, 4), ("ticks", 1088, 16), ("limbs", 68, 64), ("limbs", 272, 64),
    ]  # fmt: skip
    assert all(p.ratio_low <= p.ratio <= p.ratio_high and p.record_ms > 0 for p in points)
    assert 3.0 < points[1].megabytes / points[0].megabytes < 4.1
    assert 3.0 < points[3].megabytes / points[2].megabytes < 4.1
    png, svg = plot_past(points, tmp_path)
    assert png.read_bytes()[:4] == b"\x89PNG"
    assert "the present" in svg.read_text()
    write_csv(points, tmp_path / "past.csv")
    assert len(list(csv.DictReader((tmp_path / "past.csv").read_text().splitlines()))) == 4


def test_the_figure_names_every_engine(tmp_path, monkeypatch):
    plant(monkeypatch)
    rows = runner.run(SMALL, ["cylcollide", "inflated", "few"], 2000, 1, silent)
    _, svg = plot_rays(rows, tmp_path)
    text = svg.read_text()
    for words in ("Inflated", "cylcollide, lean", "small: 340 limbs", "0 wrong of 2,000"):
        assert f"<!-- {words}" in text or words in text
    assert "Few" not in text


def test_numbers_are_short():
    assert [rate(x) for x in (1_234_567, 98_765, 12.3)] == ["1.23 M", "98.8 k", "12.3"]
    assert [duration(x) for x in (12.34, 0.0123)] == ["12.3 s", "12.3 ms"]
