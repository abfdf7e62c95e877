"""Other tasks, memory, scaling; CSV, figures and short numbers."""

import csv
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from support.bench_engines import SMALL, plant, silent

import cylcollide as cc
from cylcollide.bench import runner, tasks
from cylcollide.bench.memory import nbytes
from cylcollide.bench.plots import plot_rays, plot_scaling
from cylcollide.bench.scaling import run_scaling
from cylcollide.bench.tables import duration, rate, write_csv
from cylcollide.bench.workloads import crowd_of

pytestmark = pytest.mark.long  # half a minute of whole runs


@pytest.fixture
def planted(monkeypatch):
    plant(monkeypatch)


def test_tasks_are_all_measured():
    found = tasks.run_tasks(["cylcollide"], 2000, 1, silent)
    assert [task.task for task in found] == [
        "build, 17,000 limbs", "move, 17,000 limbs", "one ray, one humanoid", "one ray, one humanoid",
        "points, 17,000 limbs", "2 threads, W3", "import and first query", "memory, 100,000 limbs",
    ]  # fmt: skip
    assert all(task.value > 0 for task in found)
    assert [task.ratio for task in found[:3]] == [1.0, 1.0, 1.0]


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


@pytest.mark.usefixtures("planted")
def test_the_figure_names_every_engine(tmp_path):
    rows = runner.run([SMALL], ["cylcollide", "inflated", "few"], 2000, 1, silent)
    _, svg = plot_rays(rows, tmp_path)
    text = svg.read_text()
    for words in ("Inflated", "cylcollide, lean", "small: 340 limbs", "0 wrong of 2,000"):
        assert f"<!-- {words}" in text or words in text
    assert "Few" not in text


def test_numbers_are_short():
    assert [rate(x) for x in (1_234_567, 98_765, 12.3)] == ["1.23 M", "98.8 k", "12.3"]
    assert [duration(x) for x in (12.34, 0.0123)] == ["12.3 s", "12.3 ms"]
