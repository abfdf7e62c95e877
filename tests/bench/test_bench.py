"""The benchmark: fair rays, settled verdicts, honest tables."""

import csv
import gc
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from importlib.metadata import EntryPoint

import numpy as np
import pytest

import cylcollide as cc
from cylcollide import engines
from cylcollide.bench import runner, tasks
from cylcollide.bench.crowd import LIMBS, SKELETON, Crowd
from cylcollide.bench.memory import nbytes
from cylcollide.bench.plots import plot_rays, plot_scaling
from cylcollide.bench.scaling import run_scaling
from cylcollide.bench.tables import duration, rate, rays_notes, write_csv
from cylcollide.bench.timing import interleaved
from cylcollide.bench.verdicts import Wrong, resolve_disagreements
from cylcollide.bench.workloads import WORKLOADS, Workload, crowd_of, points_near
from cylcollide.engines import EngineHits, registry
from cylcollide.engines.own import OwnEngine

pytestmark = pytest.mark.long  # half a minute of whole commands; asked for by .ci/run

SMALL = Workload("small", "20 humanoids", 20, 7.0)


def silent(_):
    pass


class Inflated(OwnEngine):
    """Every limb a fifth thicker, and slow: a millisecond a ray."""

    name = "Inflated"

    def build(self, limbs):
        super().build(cc.Limbs.cylinders(limbs.p1, limbs.p2, 1.2 * limbs.radius))

    def cast_segments(self, starts, ends):
        time.sleep(1e-3 * len(starts))
        return super().cast_segments(starts, ends)


class SpheresOnly(OwnEngine):
    """Holds no cylinder."""

    name = "Spheres"
    capabilities = engines.Capabilities(shapes=frozenset({cc.Shape.SPHERE}), inside="hit", accuracy=0.0)


class FewOnly(OwnEngine):
    """Does not like crowds."""

    name = "Few"
    capabilities = OwnEngine.capabilities.replaced(practical_limbs=100)


class Forgetful(OwnEngine):
    """Ourselves, but every tenth hit is lost."""

    def cast_segments(self, starts, ends):
        hits = super().cast_segments(starts, ends)
        limb = hits.limb.copy()
        limb[np.flatnonzero(limb >= 0)[::10]] = -1
        return EngineHits(limb, hits.fraction, hits.position, hits.normal)


@pytest.fixture
def planted(monkeypatch):
    here = {"inflated": Inflated, "spheres": SpheresOnly, "few": FewOnly, "forgetful": Forgetful}
    monkeypatch.setattr(runner, "create", lambda name: here[name]() if name in here else engines.create(name))


def test_the_skeleton_hangs_together_and_walks():
    crowd = Crowd(50, 30.0, seed=4)
    assert LIMBS == 17
    (p1, p2), (q1, q2) = crowd.ends(0.0), crowd.ends(0.25)
    p1, p2 = p1.reshape(50, 17, 3), p2.reshape(50, 17, 3)
    rows = {bone.name: k for k, bone in enumerate(SKELETON)}
    for k, bone in enumerate(SKELETON):
        if bone.parent and not any(bone.offset):
            np.testing.assert_allclose(p1[:, k], p2[:, rows[bone.parent]], atol=1e-5)
    tall = np.maximum(p1, p2)[..., 2].max(axis=1)
    assert ((tall > 1.5) & (tall < 2.2)).all()
    assert np.ptp(tall) > 0.1
    length = np.linalg.norm(p2 - p1, axis=2).reshape(-1)
    np.testing.assert_allclose(np.linalg.norm(q2 - q1, axis=1), length, atol=2e-5)
    moved = np.linalg.norm(q1 - p1.reshape(-1, 3), axis=1)
    assert 0.2 < np.median(moved) < 0.6  # 1.4 m/s for a quarter of a second is 0.35 m
    left, right = rows["left foot"], rows["right foot"]
    swing = (q2.reshape(50, 17, 3) - p2)[:, [left, right]]
    assert np.linalg.norm(swing[:, 0] - swing[:, 1], axis=1).max() > 0.2


@pytest.mark.parametrize("name", WORKLOADS)
def test_no_engine_has_to_round_the_rays(name):
    workload = WORKLOADS[name]
    limbs = workload.limbs()
    assert len(limbs) == {"W1": 1, "W2": 17, "W3": 17_000, "W4": 100_000}[name]
    world = cc.HitWorld(limbs)
    starts, ends = workload.segments(world, 2000)
    for values in (limbs.p1, limbs.p2, limbs.radius, starts, ends, ends - starts):
        np.testing.assert_array_equal(values, values.astype(np.float32))
    hits = world.cast_segments(starts, ends)
    assert not hits.started_inside.any()
    assert 0.2 < hits.hit.mean() < 0.6
    again = workload.segments(world, 2000)
    np.testing.assert_array_equal(starts, again.starts)


def test_starts_inside_are_drawn_again():
    dense = Workload("dense", "a throng", 200, 6.0)  # as many as would stand shoulder to shoulder
    world = cc.HitWorld(dense.limbs())
    rng = np.random.default_rng([dense.seed, 500])
    first = dense._across(world.limbs, rng, 500)
    assert (world.contains_points(first.starts).limb >= 0).sum() > 50
    assert (world.contains_points(dense.segments(world, 500).starts).limb < 0).all()


def test_crowds_of_any_size_and_points():
    for n in (1, 17, 18, 1000):
        assert len(crowd_of(n).limbs()) == n
    limbs = SMALL.limbs()
    inside = cc.HitWorld(limbs).contains_points(points_near(limbs, 4000)).limb >= 0
    assert 0.1 < inside.mean() < 0.5


def test_contenders_take_turns_without_the_garbage_collector():
    order, collecting = [], []
    works = {name: lambda name=name: (order.append(name), collecting.append(gc.isenabled())) for name in "abc"}
    times = interleaved(works, 3)
    assert "".join(order) == "abcabcabc"
    assert not any(collecting)
    assert gc.isenabled()
    assert all(len(times[name]) == 3 and (times[name] > 0).all() for name in "abc")


def test_planted_lies_are_counted_by_kind():
    limbs = SMALL.limbs()
    world = cc.HitWorld(limbs)
    segments = SMALL.segments(world, 3000)
    truth = world.cast_segments(*segments).limb
    lies = truth.copy()
    hit, miss = np.flatnonzero(truth >= 0), np.flatnonzero(truth < 0)
    lies[hit[:7]] = -1
    lies[miss[:5]] = 3
    lies[hit[7:10]] = (truth[hit[7:10]] + 40) % len(limbs)
    assert resolve_disagreements(limbs, segments, lies, truth) == Wrong(12, 3, 0, 0)
    assert resolve_disagreements(limbs, segments, truth, lies) == Wrong(0, 0, 12, 3)
    assert resolve_disagreements(limbs, segments, truth, truth) == Wrong()


def test_two_wrong_answers_to_one_ray_both_count():
    limbs = cc.Limbs.cylinders([[0, 0, -1.0], [5, 0, -1], [9, 9, -1]], [[0, 0, 1.0], [5, 0, 1], [9, 9, 1]], 0.5)
    segments = runner.Segments(np.array([[-2.0, 3, 0]]), np.array([[2.0, 3, 0]]))
    nothing, first, third = (np.array([row], np.int32) for row in (-1, 0, 2))
    assert resolve_disagreements(limbs, segments, first, third) == Wrong(1, 0, 1, 0)
    assert resolve_disagreements(limbs, segments, first, nothing) == Wrong(1, 0, 0, 0)


@pytest.mark.usefixtures("planted")
def test_a_slow_wrong_engine_gets_fewer_rays_and_is_found_out():
    rows = {row.engine: row for row in runner.run_one(SMALL, ["cylcollide", "inflated"], 6000, 2, silent)}
    bad, ours, lean = rows["Inflated"], rows["cylcollide"], rows[runner.LEAN]
    assert 200 <= bad.rays < 1000
    assert bad.note == "slow: fewer rays"
    assert bad.wrong_verdicts > 0
    assert bad.ratio < 0.2
    assert bad.ratio_low <= bad.ratio <= bad.ratio_high
    assert 300 < bad.rate < 1000  # it waits a millisecond a ray, or more on a busy machine
    assert (ours.rays, ours.ratio, ours.wrong_verdicts, ours.wrong_limbs) == (6000, 1.0, 0, 0)
    assert lean.hits == ours.hits > 500
    assert "fewer rays" in rays_notes(list(rows.values()))


@pytest.mark.usefixtures("planted")
def test_engines_that_cannot_take_part_say_why():
    rows = {r.engine: r for r in runner.run_one(SMALL, ["cylcollide", "spheres", "few"], 300, 1, silent)}
    assert rows["Spheres"].note == "does not hold cylinder"
    assert rows["Few"].note == "left out above 100 limbs: building takes minutes"
    assert rows["Few"].rays == 0
    assert np.isnan(rows["Few"].ratio)
    assert "small, Few: left out above 100 limbs" in rays_notes(list(rows.values()))


def test_our_own_mistakes_count_against_us(monkeypatch):
    monkeypatch.setattr(runner, "create", lambda name: Forgetful() if name == "cylcollide" else OwnEngine())
    rows = runner.run_one(SMALL, ["cylcollide", "true"], 2000, 1, silent)
    world = cc.HitWorld(SMALL.limbs())
    hit = world.cast_segments(*SMALL.segments(world, 2000)).hit
    assert rows[0].wrong_verdicts == len(np.flatnonzero(hit)[::10]) > 20


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


def bench(*arguments, hidden=()):
    code = "".join(f"sys.modules[{name!r}] = None; " for name in hidden)
    start = f"import sys; {code}sys.argv[0] = 'cylcollide'; import cylcollide.cli; cylcollide.cli.main()"
    words = [sys.executable, "-c", start, *map(str, arguments)]
    environment = {**os.environ, "COLUMNS": "80"}
    return subprocess.run(words, capture_output=True, text=True, check=False, env=environment)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    out = tmp_path_factory.mktemp("bench") / "a" / "report"
    options = ["--workloads", "W1,W2", "--rays", 3000, "--rounds", 2, "--no-tasks", "--out", out]
    return bench("bench", "--engines", "bullet", *options), out


def test_command_prints_a_table_that_fits(finished):
    done, out = finished
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for words in ("W1  1 limb", "W2  17 limbs", "PyBullet", "cylcollide, lean", "rational arithmetic"):
        assert words in done.stdout or words in " ".join(done.stdout.split())
    assert "…" not in done.stdout
    assert max(map(len, done.stdout.splitlines()[:-1])) <= 80
    assert str(out / "rays.csv") in done.stdout.splitlines()[-1]


def test_command_writes_csv_and_figures(finished):
    _, out = finished
    assert sorted(path.name for path in out.iterdir()) == ["rays.csv", "rays.png", "rays.svg"]
    rows = list(csv.DictReader((out / "rays.csv").read_text().splitlines()))
    assert [row["engine"] for row in rows] == 2 * ["cylcollide", "cylcollide, lean", "PyBullet"]
    assert all(row["machine"] and row["date"] and row["python"] for row in rows)
    ours, _, bullet = rows[:3]
    assert (ours["ratio"], ours["wrong_verdicts"]) == ("1", "0")
    assert 0 < float(bullet["ratio"]) < 1
    assert int(bullet["wrong_verdicts"]) > 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--engines", "havok"], ("no engine 'havok'", "bullet")),
        (["--workloads", "W9"], ("no workload 'W9'", "W1, W2, W3, W4")),
        (["--out", "/dev/null/report"], ("cannot write to", "--out")),
    ],
)
def test_bad_usage_is_one_line(options, words, tmp_path):
    done = bench("bench", "--engines", "cylcollide", "--out", tmp_path, *options)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert all(word in done.stderr for word in words)


@pytest.mark.parametrize("package", ["typer", "rich", "matplotlib"])
def test_without_the_extra_one_line_names_it(package):
    done = bench("bench", hidden=[package])
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"cylcollide: the command line needs {package}, which is missing: pip install 'cylcollide[bench]'"
    ]


def test_an_engine_asked_for_by_name_but_missing_is_one_line(tmp_path):
    done = bench("bench", "--engines", "bullet", "--out", tmp_path, hidden=["pybullet"])
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "pip install 'cylcollide[crosscheck]'" in done.stderr


def test_bench_needs_none_of_the_other_commands_packages(tmp_path):
    hidden = ["pybullet", "plotly", "jinja2", "mujoco", "rapier3d", "embreex", "open3d", "warp", "culverin"]
    options = ["--workloads", "W1", "--rays", 500, "--rounds", 1, "--no-tasks", "--out", tmp_path]
    done = bench("bench", *options, hidden=hidden)
    assert done.returncode == 0, done.stderr
    assert "without mujoco: mujoco is needed here" in done.stdout


def test_help_lists_every_command_even_one_whose_packages_are_missing():
    assert {"bench", "crosscheck"} <= set(bench("--help").stdout.replace("│", " ").split())
    done = bench("--help", hidden=["plotly"])
    assert "install the extra 'crosscheck'" in done.stdout


def test_an_entry_point_takes_part(monkeypatch):
    class Point(EntryPoint):
        def load(self):
            return FewOnly

    monkeypatch.setattr(registry, "entry_points", lambda group: [Point("few", "theirs:FewOnly", group)])
    rows = runner.run_one(WORKLOADS["W2"], ["cylcollide", "few"], 300, 1, silent)
    assert (rows[-1].engine, rows[-1].rays) == ("Few", 300)
