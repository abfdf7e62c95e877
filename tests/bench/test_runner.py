"""Running engines side by side: turns, counts of wrong answers per engine, engines that are left out."""

import gc

import numpy as np
import pytest
from support.bench_engines import SMALL, DroppingEngine, plant, silent

import cylcollide as cc
from cylcollide.bench import runner
from cylcollide.bench.runner import resolve_disagreements
from cylcollide.bench.tables import rays_notes
from cylcollide.bench.timing import interleaved
from cylcollide.engines.own import OwnEngine

pytestmark = pytest.mark.long  # half a minute of whole runs


@pytest.fixture
def planted(monkeypatch):
    plant(monkeypatch)


def test_contenders_take_turns_without_the_garbage_collector():
    order, collecting = [], []
    works = {name: lambda name=name: (order.append(name), collecting.append(gc.isenabled())) for name in "abc"}
    times = interleaved(works, 3)
    assert "".join(order) == "abcabcabc"
    assert not any(collecting)
    assert gc.isenabled()
    assert all(len(times[name]) == 3 and (times[name] > 0).all() for name in "abc")


def test_wrong_answers_count_by_kind():
    limbs = SMALL.limbs()
    world = cc.HitWorld(limbs)
    segments = SMALL.segments(world, 3000)
    truth = world.cast_segments(*segments).limb
    lies = truth.copy()
    hit, miss = np.flatnonzero(truth >= 0), np.flatnonzero(truth < 0)
    lies[hit[:7]] = -1
    lies[miss[:5]] = 3
    lies[hit[7:10]] = (truth[hit[7:10]] + 40) % len(limbs)
    assert resolve_disagreements(limbs, segments, lies, truth).tolist() == [[12, 3], [0, 0]]
    assert resolve_disagreements(limbs, segments, truth, lies).tolist() == [[0, 0], [12, 3]]
    assert resolve_disagreements(limbs, segments, truth, truth).tolist() == [[0, 0], [0, 0]]


def test_two_wrong_answers_to_one_ray_both_count():
    limbs = cc.Limbs.cylinders([[0, 0, -1.0], [5, 0, -1], [9, 9, -1]], [[0, 0, 1.0], [5, 0, 1], [9, 9, 1]], 0.5)
    segments = runner.Segments(np.array([[-2.0, 3, 0]]), np.array([[2.0, 3, 0]]))
    nothing, first, third = (np.array([row], np.int32) for row in (-1, 0, 2))
    assert resolve_disagreements(limbs, segments, first, third).tolist() == [[1, 0], [1, 0]]
    assert resolve_disagreements(limbs, segments, first, nothing).tolist() == [[1, 0], [0, 0]]


@pytest.mark.usefixtures("planted")
def test_a_slow_engine_gets_fewer_rays_and_its_errors_count():
    rows = {row.engine: row for row in runner.run(SMALL, ["cylcollide", "inflated"], 6000, 2, silent)}
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
def test_engines_left_out_have_a_note():
    rows = {r.engine: r for r in runner.run(SMALL, ["cylcollide", "spheres", "few"], 300, 1, silent)}
    assert rows["Spheres"].note == "does not hold cylinder"
    assert rows["Few"].note == "left out above 100 limbs: building takes minutes"
    assert rows["Few"].rays == 0
    assert np.isnan(rows["Few"].ratio)
    assert "small, Few: left out above 100 limbs" in rays_notes(list(rows.values()))


def test_our_own_errors_are_counted(monkeypatch):
    monkeypatch.setattr(runner, "create", lambda name: DroppingEngine() if name == "cylcollide" else OwnEngine())
    rows = runner.run(SMALL, ["cylcollide", "true"], 2000, 1, silent)
    world = cc.HitWorld(SMALL.limbs())
    hit = world.cast_segments(*SMALL.segments(world, 2000)).hit
    assert rows[0].wrong_verdicts == len(np.flatnonzero(hit)[::10]) > 20
