"""Every level of machine code and plain Python give the same bits: digests of fixed queries.

A process evaluates them with the level in use: `python tests/runtime/test_equal_bits_of_levels.py SIZE`.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path

import pytest

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))

import numpy as np
from support.cases.recorded_world import recorded_world
from support.mixed_queries import HIT_FIELDS, NEAR_FIELDS, SWEPT_FIELDS, Answered, columns, digests
from support.package import environment

import cylcollide as cc
from cylcollide.runtime import levels

MOVING_FIELDS = (
    "hit", "limb", "face", "fraction", "time", "alpha", "position", "normal", "exit_time", "duration", "local_position",
)  # fmt: skip
POLICIES = (
    cc.Policy.first_surface({1: 2}),
    cc.Policy.most_important([3, 1]),
    cc.Policy.longest_chord(),
    cc.Policy.penetration({1: 0.5}, default=1.0),
)
SIZES = {"small": (0.004, 48), "usual": (0.006, 240), "large": (0.015, 600)}
"""Share of the mixed queries, and number of queries about the past."""
MACHINE_CODE = levels.usable()


def past_results(n: int) -> Iterator[Answered]:
    """Results about recorded ticks, flying bullets and judged shots."""
    rng = np.random.default_rng(4)
    for interpolate in ("bones", "ends"):
        history = recorded_world(interpolate)
        limbs = history.limbs_at(0.5)
        start = rng.uniform(-6.0, 6.0, (n, 3))
        end = start + 1.5 * (0.5 * (limbs.p1 + limbs.p2)[np.arange(n) % len(limbs)] - start)
        time = rng.random(n)
        hits = history.cast_segments(start, end, time)
        flown = history.cast_moving(start, end, 0.0, time)
        held = history.contains_points(start + (end - start) / 1.5, time)
        thick = history.cast_segments(start[: n // 4], end[: n // 4], time[: n // 4], radius=0.05)
        some = slice(n // 8)
        here, there, then = start[some], end[some], time[some]
        doubts = history.doubt_segments(here, there, 0.1, then, time_radius=0.05)
        swept = history.sweep_capsules(here, here + 0.5, there, there + 0.5, 0.05, 0.9 * then, then)
        judged = [history.judge_segments(start, end, policy, time) for policy in POLICIES]
        assert min(hits.hit.sum(), flown.hit.sum(), (held.count > 0).sum(), *(one.hit.sum() for one in judged)) > n // 8
        for answer, fields in (
            (hits, (*HIT_FIELDS, "local_position")),
            (thick, (*HIT_FIELDS, "undecided")),
            (flown, MOVING_FIELDS),
            (history.chords_segments(start, end, time), ("limb", "entry_position", "exit_normal")),
            (held, ("limb", "count", "axis_distance_squared")),
            (history.closest_points(start, time), NEAR_FIELDS),
            (hits[some], ("clearance", "clearance_limb")),
            (doubts, ("verdict", "offsets", "limb", "limb_verdict")),
            (history.overlap_capsules(here, there, 0.1, then), ("offsets", "limb", "undecided")),
            (history.overlap_boxes(here, [0, 0, 0.5, 1], [0.5, 1, 2], then), ("offsets", "limb", "undecided")),
            (swept, SWEPT_FIELDS),
            (history.points_within(end, 0.5, time), ("offsets", *NEAR_FIELDS)),
            *((one, ("limb", "damage", "energy_left", "position", "normal")) for one in judged),
            (limbs, ("p1", "p2")),
        ):
            yield interpolate, answer, fields
    flown = cc.flight(start, 30.0 * (end - start), 1.0, gravity=(0.0, 0.0, -9.8), drag=0.01)
    yield "flight", flown, ("starts", "ends", "t0", "error")


def answered(size: str) -> dict[str, str]:
    """The level in use, and a digest of each column."""
    share, n = SIZES[size]
    found: dict[str, blake2b] = {}
    for name, data in columns(past_results(n)):
        found.setdefault(name, blake2b(digest_size=8)).update(data)
    return {"level": levels.CHOICE.level, **digests(share), **{name: one.hexdigest() for name, one in found.items()}}


@cache
def digests_of_level(level: str, size: str) -> dict[str, str]:
    """Digests of a fresh process, or of this one if it uses this level."""
    if level == levels.CHOICE.level:
        return {name: digest for name, digest in answered(size).items() if name != "level"}
    done = subprocess.run(
        [sys.executable, __file__, size], env=environment(CYLCOLLIDE_LEVEL=level), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    answers = json.loads(done.stdout)
    assert answers.pop("level") == level
    return answers


@pytest.mark.skipif(not MACHINE_CODE, reason="about machine code")
@pytest.mark.parametrize(
    ("level", "size"),
    [
        *((level, "usual") for level in MACHINE_CODE[1:]),
        *(pytest.param(level, "large", marks=pytest.mark.long) for level in MACHINE_CODE[1:]),
        pytest.param(levels.PLAIN, "small", marks=[pytest.mark.long, pytest.mark.ci_long]),
    ],
)
def test_bits_are_those_of_the_best_level(level: str, size: str):
    want, got = digests_of_level(MACHINE_CODE[0], size), digests_of_level(level, size)
    assert len(want) > 100
    assert [name for name in want.keys() | got.keys() if want.get(name) != got.get(name)] == []


if __name__ == "__main__":
    print(json.dumps(answered(sys.argv[1])))
