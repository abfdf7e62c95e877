"""Memory that queries pass on to each other."""

import gc
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from support.check_cylinders import IS_COMPILED
from support.package import run_python

import cylcollide as cc
from cylcollide.constants import MOST_KEPT
from cylcollide.runtime import memory


def test_the_pool_keeps_at_most_its_limit():
    """Buffers of a query of millions are returned to the system."""
    loans = [memory.acquire(MOST_KEPT // 3) for _ in range(4)]
    few = [memory.acquire(1 << 18) for _ in range(20)]
    del loans, few
    kept = sum(lender.buffer.size for lenders in memory._pool.values() for lender in lenders)
    assert 1 << 18 < kept <= MOST_KEPT


def test_memory_is_lent_again_once_no_slice_is_held():
    """Not before: results that use the buffer would change."""
    first = memory.rows((1 << 15,))
    first[:] = 7.0
    held, address = first[5::3], first.__array_interface__["data"][0]
    del first
    other = memory.rows((1 << 15,))
    other[:] = 8.0
    assert (held == 7.0).all()
    assert other.__array_interface__["data"][0] != address
    del held
    again = [memory.rows((1 << 15,)) for _ in range(64)]
    assert address in {array.__array_interface__["data"][0] for array in again}
    assert np.unique([array.__array_interface__["data"][0] for array in again]).size == 64


def test_a_loan_ends_with_its_last_array():
    lender = memory.Lender(1 << 10)
    held = memoryview(np.ndarray((4, 8), np.float64, lender.lend(), 64)[1:][1:, ::2].T)
    assert not lender.is_free
    other = lender.lend()
    assert np.shares_memory(other, held)
    del held
    assert not lender.is_free
    thing, where = [other[5:]], []
    thread = threading.Thread(target=lambda: where.append(thing.pop()[3:]))
    thread.start()
    thread.join()
    del other
    assert not lender.is_free
    where.clear()
    gc.collect()
    assert lender.is_free
    assert lender.is_free


def test_read_only_loans_stay_read_only():
    lent = memory.Lender(64, is_read_only=True).lend()
    assert not lent.flags.writeable
    with pytest.raises(ValueError, match="WRITEABLE"):
        np.ndarray(8, np.float64, lent).setflags(write=True)


def test_threads_never_share_a_buffer_of_the_pool():
    def work(number: int) -> None:
        for k in range(2000):
            mine = memory.rows((1 << 14,))
            mine[:] = number
            held = mine[k % 100 :: 100]
            del mine
            assert (held == number).all()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))


CALLS = """
import copy, gc, pickle, sys
sys.path.insert(0, {tests!r})
import numpy as np
import cylcollide as cc
from support.character_life import all_shapes_rig
from support.mixed_queries import mixed_limbs, segments

warm, count = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(5)
limbs = mixed_limbs(40, rng, 4.0)
start, end = segments(rng, 500, 4.0)
world = cc.HitWorld(limbs)
rig, policy = all_shapes_rig(), cc.Policy.penetration(0.25, {{"head": 2.0}})
arena = cc.HitWorld(limbs)
ids = arena.spawn(rig, 3)
history = cc.PoseHistory(arena, 8)

def tick(k):
    # a tick of a match: somebody comes, goes, is posed and hidden, shots into the past, bullets on their way
    walker = arena.spawn(rig)
    pose = np.zeros((4, 4, 3)) + [0.0, 0.0, k % 7 / 7.0], np.tile([0.0, 0.0, 0.0, 1.0], (4, 4, 1))
    arena.set_poses([*ids, *walker], *pose, teleport=k % 3 == 0)
    arena.set_layers(ids[:1], k % 4)
    arena.set_endpoints(limbs.p1, limbs.p2)
    history.record(float(k))
    if k % 5 == 0:
        copy.deepcopy(history), pickle.loads(pickle.dumps(arena))
    if len(history) > 2:
        first, last = history.times[0], history.times[-1]
        when = np.linspace(first, last, 40)
        history.cast_segments(start[:40], end[:40], when).present_position()
        history.chords_segments(start[:40], end[:40], when).thickness
        history.judge_segments(start[:40], end[:40], policy, when).impacts.reason
        history.cast_moving(start[:40], end[:40], first, when).position
        history.cast_moving(cc.flight(start[:5], end[:5] - start[:5], last - first, step=last - first, t0=first)).hit
        history.contains_points(start[:40], when).limb
        history.limbs_at(when[3])
        history.cast_segments(start[0], end[0], last).limb
        if k % 20 == 0:
            str(history.explain_miss(start[0], end[0], when[5]))
        for wrong in (first - 1.0, np.nan, "now"):
            try:
                history.cast_segments(start[:2], end[:2], wrong)
            except ValueError:
                pass
    arena.judge_segments(start[:40], end[:40], policy).by_shot()
    arena.despawn(walker)
    for refused in (arena.despawn, lambda gone: arena.set_poses(gone, *pose), lambda gone: history.record(k)):
        try:
            refused(walker)
        except ValueError:
            pass

def calls(k):
    i = k % 500
    hits = world.cast_segments(start[i], end[i])
    hits.position, hits.exit_fraction
    world.chords_segments(start[i], end[i]).thickness
    world.occluded_segments(start[i], end[i])
    world.contains_points(start[i]).axis_distance_squared
    if k % 160 == 0:  # ten ticks while it warms up, and ten more
        tick(k)
    if k % 50 == 0:
        world.set_endpoints(limbs.p1, limbs.p2)
        world.snapshot().cast_segments(start, end).normal
        try:
            world.cast_segments(start[i], [np.nan] * 3)
        except ValueError:
            pass

def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 2**20

def objects():
    return len(gc.get_objects())

for k in range(warm):
    calls(k)
before, things = resident(), objects()
for k in range(count):
    calls(warm + k)
    if k % max(1, count // 10) == 0:
        print(k, round(resident(), 2), file=sys.stderr, flush=True)
print(4 * count, before, resident(), things, objects())
"""


@pytest.mark.skipif(not IS_COMPILED or not Path("/proc/self/statm").exists(), reason="about machine code, and Linux")
@pytest.mark.parametrize(
    ("warm", "count"),
    [(1_600, 1_600), pytest.param(20_000, 2_500_000, marks=[pytest.mark.long, pytest.mark.timeout(7200)])],
)
def test_calls_leak_nothing(warm: int, count: int):
    """Not even 10 million calls: 100 bytes per call would be 1 GB."""
    script = CALLS.format(tests=str(Path(__file__).parents[1]))
    run = run_python("-c", script, warm, count)
    assert run.returncode == 0, run.stderr
    print(f"calls, MB before, MB after, objects before, objects after: {run.stdout}{run.stderr}")
    _, before, after, things, objects = map(float, run.stdout.split())
    assert after - before < 4.0
    assert abs(objects - things) < 50


@pytest.mark.parametrize("limbs", [1, 40])
def test_a_kept_column_keeps_no_rays(limbs: int):
    """A column of hits keeps the other columns of hits alive, a third of the query's memory."""
    n = 100_000
    world = cc.HitWorld(cc.Limbs.spheres(np.arange(3.0 * limbs).reshape(-1, 3), 0.5))
    starts = np.random.default_rng(limbs).normal(size=(n, 3))
    hits = world.cast_segments(starts, 100.0 - starts)
    for column in (hits.limb, hits.fraction, hits.face, hits.started_inside):
        assert memory_behind(column) < 32 * n, "a ray has six numbers"
        assert not np.shares_memory(column, hits._read("batch").rays.origin)


def memory_behind(array: np.ndarray) -> int:
    """Bytes of the buffer that an array keeps alive."""
    kept = array
    while (base := kept.obj if isinstance(kept, memoryview) else kept.base) is not None:
        kept = base
    return kept.nbytes
