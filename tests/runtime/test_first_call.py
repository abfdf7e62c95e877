"""In a fresh process the second call does what the sixth does, for any number of limbs and rays.

An earlier version kept few limbs with many rays in plain Python, some thousand times slower.
"""

import json

import pytest
from support.check_cylinders import IS_COMPILED
from support.package import environment, output_of

pytestmark = pytest.mark.skipif(not IS_COMPILED, reason="about machine code")

ASK = """
import collections, json, sys, time
import numpy as np
import cylcollide as cc

def seconds(call):
    begun = time.process_time()
    call()
    return time.process_time() - begun


def calls(call):  # how often it calls each function
    counts = collections.Counter()

    def count(frame, event, function):
        if event == "call":
            counts[f"{frame.f_code.co_filename}: {frame.f_code.co_name}"] += 1
        elif event == "c_call":
            counts[function.__qualname__] += 1

    sys.setprofile(count)
    call()
    sys.setprofile(None)  # how many buffers of the pool are looked at is not the same twice
    return {name: k for name, k in counts.items() if "memory.py" not in name and "deque" not in name}


rng, found = np.random.default_rng(0), {}
few = {"threads": 1}  # which of several threads takes a chunk is not the same twice
for n, m in ((2, 20_000), (17, 2000), (100, 1), (100, 20), (1700, 200), (20_000, 13_000)):
    side = max(2.0, n ** (1 / 3))
    p1, start, end = side * rng.random((n, 3)), side * rng.random((m, 3)), side * rng.random((m, 3))
    world = cc.HitWorld(cc.Limbs.cylinders(p1, p1 + rng.normal(size=(n, 3)), 0.1))
    past, at = cc.PoseHistory(world, 2), rng.random(m)
    past.record(0.0), past.record(1.0)
    for name, call in {
        "closest": lambda: world.cast_segments(start, end, **few).position,
        "any": lambda: world.occluded_segments(start, end, **few),
        "points": lambda: world.contains_points(start, **few).axis_distance_squared,
        "chords": lambda: world.chords_segments(start, end, **few).limb,
        "past": lambda: past.cast_segments(start, end, at, **few).position,
        "past, points": lambda: past.contains_points(start, at, **few).limb,
        "moved": lambda: world.set_endpoints(world.limbs.p1, world.limbs.p2),
    }.items():
        call()
        second, times = calls(call), [seconds(call) for _ in range(3)]
        found[f"{name}, {n} limbs, {m} rays"] = second, calls(call), min(times)
print(json.dumps(found))
"""


def test_the_second_call_runs_the_functions_of_the_sixth_at_the_speed_of_machine_code():
    """Equal counts of each function, except in moves: the first two make buffers, and a thread may build a tree."""
    found = json.loads(output_of("-c", ASK, env=environment(), timeout=300))
    assert len(found) == 42
    rates = {}
    for name, (second, sixth, seconds) in found.items():
        assert sum(sixth.values()) > 10, name
        assert second == sixth or name.startswith("moved"), name
        rates[name] = int(name.split()[-2]) / seconds
    of_many = {name: rate for name, rate in rates.items() if " 2000 rays" in name}
    assert len(of_many) == 7
    assert min(of_many.values()) > 50_000, of_many
