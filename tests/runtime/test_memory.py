"""Memory that queries pass on to each other."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.check_cylinders import JIT
from support.package import ABOVE_PACKAGE

from cylcollide.constants import MOST_KEPT
from cylcollide.runtime import memory


def test_no_more_is_kept_than_there_may_be():
    """What a query of millions needed once goes back to the system."""
    loans = [memory.acquire(MOST_KEPT // 3) for _ in range(4)]
    few = [memory.acquire(1 << 18) for _ in range(20)]
    del loans, few
    kept = sum(memory.size for buffers in memory._pool.values() for memory in buffers)
    assert 1 << 18 < kept <= MOST_KEPT


def test_memory_is_lent_again_once_no_slice_is_held():
    """Not before: the numbers of somebody's answer would change."""
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


def test_what_is_held_until_the_end_goes_in_silence():
    """By then the names of modules are gone, and what a destructor says of that cannot be caught."""
    script = "import numpy; from cylcollide.runtime import memory; numpy.held = memory, memory.rows((1 << 15,))"
    root = Path(__file__).parents[2]
    run = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True)
    assert run.stderr == ""


CALLS = """
import gc, sys
sys.path.insert(0, {tests!r})
import numpy as np
import cylcollide as cc
from support.mixed_questions import mixed_limbs, segments

warm, count = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(5)
limbs = mixed_limbs(40, rng, 4.0)
start, end = segments(rng, 500, 4.0)
world = cc.HitWorld(limbs)

def calls(k):
    i = k % 500
    hits = world.cast_segments(start[i], end[i])
    hits.position, hits.exit_fraction
    world.chords_segments(start[i], end[i]).thickness
    world.occluded_segments(start[i], end[i])
    world.contains_points(start[i]).axis_distance_squared
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
    calls(k)
    if k % max(1, count // 10) == 0:
        print(k, round(resident(), 2), file=sys.stderr, flush=True)
print(4 * count, before, resident(), things, objects())
"""


@pytest.mark.skipif(not JIT or not Path("/proc/self/statm").exists(), reason="about machine code, and Linux")
@pytest.mark.parametrize(
    ("warm", "count"),
    [(2000, 10_000), pytest.param(20_000, 2_500_000, marks=[pytest.mark.long, pytest.mark.timeout(7200)])],
)
def test_calls_leave_nothing(warm: int, count: int):
    """Ten million of them as little as forty thousand: an object of 100 bytes each would be a gigabyte."""
    script = CALLS.format(tests=str(Path(__file__).parents[1]))
    command = [sys.executable, "-c", script, str(warm), str(count)]
    run = subprocess.run(command, cwd=ABOVE_PACKAGE, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    print(f"calls, MB before, MB after, objects before, objects after: {run.stdout}{run.stderr}")
    _, before, after, things, objects = map(float, run.stdout.split())
    assert after - before < 4.0
    assert abs(objects - things) < 50
