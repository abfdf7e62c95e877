"""Our own speed from version to version, with pytest-benchmark; not part of the default test run.

    pip install '.[history]'
    pytest benchmarks/test_speed.py --benchmark-autosave          # adds a run to .benchmarks/
    pytest-benchmark compare --group-by=name --columns=median     # all runs so far

Runs on different machines, or on one that is busy now and then, do not compare: `cylcollide bench` gives ratios.
"""

import pytest

import cylcollide as cc
from cylcollide.bench.workloads import FRAME, WORKLOADS, Crowd, points_near

RAYS = 100_000


@pytest.fixture(scope="module", params=["W1", "W2", "W3", "W4"])
def workload(request):
    chosen = WORKLOADS[request.param]
    world = cc.HitWorld(chosen.limbs())
    return world, chosen.segments(world, RAYS)


@pytest.fixture(scope="module")
def crowd():
    return cc.HitWorld(WORKLOADS["W3"].limbs())


def test_closest_hit(benchmark, workload):
    world, (starts, ends) = workload
    hits = benchmark(lambda: world.cast_segments(starts, ends, threads=1))
    assert 0.1 < hits.hit.mean() < 0.9


def test_any_hit(benchmark, workload):
    world, (starts, ends) = workload
    blocked = benchmark(lambda: world.occluded_segments(starts, ends, threads=1))
    assert 0.1 < blocked.mean() < 0.9


def test_all_fields(benchmark, crowd):
    starts, ends = WORKLOADS["W3"].segments(crowd, RAYS)

    def work():
        hits = crowd.cast_segments(starts, ends, threads=1)
        return hits.position, hits.normal, hits.exit_position, hits.exit_normal, hits.thickness

    benchmark(work)


def test_chords(benchmark, crowd):
    starts, ends = WORKLOADS["W3"].segments(crowd, RAYS)
    chords = benchmark(lambda: crowd.chords_segments(starts, ends, threads=1))
    assert len(chords.limb) > 0.3 * RAYS


def test_points(benchmark, crowd):
    points = points_near(crowd.limbs, RAYS)
    found = benchmark(lambda: crowd.contains_points(points, threads=1))
    assert 0.1 < (found.limb >= 0).mean() < 0.5


def test_single_call(benchmark):
    world = cc.HitWorld(WORKLOADS["W2"].limbs())
    start, end = (column[:1] for column in WORKLOADS["W2"].segments(world, 64))
    benchmark(lambda: world.cast_segments(start, end).limb)


def test_build(benchmark):
    limbs = WORKLOADS["W3"].limbs()
    benchmark(lambda: cc.HitWorld(limbs))


def test_refit(benchmark):
    chosen = WORKLOADS["W3"]
    walkers = Crowd(chosen.characters, chosen.field, chosen.seed)
    world = cc.HitWorld(walkers.limbs())
    frames = [walkers.ends(frame * FRAME) for frame in range(4)]
    turn = iter(range(10**9))
    benchmark(lambda: world.set_endpoints(*frames[next(turn) % 4]))
