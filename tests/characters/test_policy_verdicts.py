"""Policies against a plain reference: integer worlds on a line, with every tie, and random crowds."""

from collections import Counter
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed, shots_at
from support.check_cylinders import sized
from support.judge_reference import Crossing, Traced, Verdict, differences, in_order, seen_in, single_crossings, verdict

import cylcollide as cc
from cylcollide import Reason

pytestmark = pytest.mark.plain_python

LENGTH = 32
"""Length of the segments along the line: a power of two, so that fractions of integers are exact."""

POLICIES = {
    "first surface": cc.Policy.first_surface({1: 4.0, 2: 0.5}),
    "most important": cc.Policy.most_important([2, 0], {2: 3.0}, default=0.25),
    "longest chord": cc.Policy.longest_chord({"default": 2.0, 3: 8.0}),
    "penetration": cc.Policy.penetration({0: 1.0, 1: 2.0, 2: 4.0}, {1: 4.0, 2: 0.5}),
    "penetration, one loss": cc.Policy.penetration(1.0),
}

CORNERS = {
    *("tie of entries", "touch", "twice through one limb", "starts inside", "no energy", "nobody's limbs"),
    "a touch of no length",
}


class Line:
    """Limbs at integers along the x axis: boxes, balls, tubes across it, and balls that a ray just touches.

    The last ones are statics.
    """

    def __init__(self, rng: np.random.Generator, n: int, statics: int = 0) -> None:
        self.stretches: list[list[tuple[int, int]]] = []
        self.character, self.group = rng.integers(-1, 3, n), rng.integers(0, 4, n)
        self.first_static = n - statics
        self.character[self.first_static :] = -1
        parts = []
        for k in range(n):
            centre, half, kind = int(rng.integers(0, LENGTH)), int(rng.integers(1, 5)), int(rng.integers(0, 4))
            labels = {"character": int(self.character[k]), "hit_group": int(self.group[k])}
            if kind == 0:
                parts.append(cc.Limbs.boxes([centre, 0, 0], [0, 0, 0, 1], [half, 1, 1], **labels))
                self.stretches.append([(centre - half, centre + half)])
            elif kind == 1:
                parts.append(cc.Limbs.spheres([centre, 0, 0], half, **labels))
                self.stretches.append([(centre - half, centre + half)])
            elif kind == 2:
                parts.append(cc.Limbs.tubes([centre, 0, -1], [centre, 0, 1], 2 * half, half, **labels))
                self.stretches.append([(centre - 2 * half, centre - half), (centre + half, centre + 2 * half)])
            else:  # a ball that the ray touches
                parts.append(cc.Limbs.spheres([centre, half, 0], half, **labels))
                self.stretches.append([(centre, centre)])
        self.limbs = cc.Limbs.concat(parts)

    def world(self) -> cc.HitWorld:
        """Return a world of the limbs; statics have two handles."""
        made, statics = cc.HitWorld(self.limbs[: self.first_static]), self.limbs[self.first_static :]
        if len(statics):
            middle = (len(statics) + 1) // 2
            made.add_static(statics[:middle])
            made.add_static(statics[middle:])
        return made

    def crossings(self, start: int, step: int) -> list[Crossing]:
        """Return the crossings of the segment from x = start to start + step, in order."""
        found = []
        for k, stretches in enumerate(self.stretches):
            for low, high in stretches:
                times = sorted(Fraction(x - start, step) for x in (low, high))
                entry, leave = max(times[0], Fraction(0)), min(times[1], Fraction(1))
                if entry <= leave:
                    labels = (int(self.character[k]), int(self.group[k]))
                    thickness = (leave - entry) * abs(step)
                    found.append(Crossing(entry, leave, k, *labels, thickness, k >= self.first_static))
        return in_order(found)


class Shots(NamedTuple):
    """Shots along a line, with the crossings of each."""

    world: cc.HitWorld
    starts: np.ndarray
    ends: np.ndarray
    energy: np.ndarray
    crossings: list[list[Crossing]]


@cache
def shots_on_lines(seed: int, count: int, has_statics: bool) -> list[Shots]:
    """Twelve shots along each of some lines, the same for every policy."""
    rng, made = np.random.default_rng(seed), []
    for _ in range(count):
        n = int(rng.integers(1 + has_statics, 9))
        line = Line(rng, n, int(rng.integers(1, n + 1)) if has_statics else 0)
        start, step = rng.integers(-4, LENGTH + 4, 12), LENGTH * rng.choice([-1, 1], 12)
        energy = rng.integers(0, 25, 12) / 2
        starts, ends = np.zeros((2, 12, 3))
        starts[:, 0], ends[:, 0] = start, start + step
        crossings = [line.crossings(*way) for way in zip(start.tolist(), step.tolist(), strict=True)]
        made.append(Shots(line.world(), starts, ends, energy, crossings))
    return made


def check_shots(shots: Shots, policy: cc.Policy) -> Counter[str]:
    """Assert that shots along a line are judged like the reference; returns the counts of situations."""
    judged, seen = shots.world.judge_segments(shots.starts, shots.ends, policy, energy=shots.energy), Counter[str]()
    for i, crossings in enumerate(shots.crossings):
        want = verdict(policy, crossings, Fraction(shots.energy[i]), LENGTH)
        assert differences(judged, i, want) == [], (shots.starts[i, 0], shots.ends[i, 0], crossings)
        seen += seen_in(policy, want)
    return seen


@pytest.mark.parametrize("which", POLICIES)
def test_every_tie_on_a_line(which: str):
    """With integers the arithmetic of both the library and the reference is exact, and so are all columns."""
    policy, seen = POLICIES[which], Counter[str]()
    for shots in shots_on_lines(17, sized(32), False):
        seen += check_shots(shots, policy)
    for corner in CORNERS:
        assert seen[corner] > 10, (corner, seen)
    reasons = {
        "first surface": {"COUNTED", "NOT_FIRST"},
        "most important": {"COUNTED", "NOT_FIRST", "LESS_IMPORTANT"},
        "longest chord": {"COUNTED", "NOT_FIRST", "SHORTER"},
    }.get(which, {"PASSED_THROUGH", "STOPPED", "SPENT_BEFORE", "OVERLAPPED"})
    assert all(seen[reason] > 20 for reason in reasons), seen
    assert {reason.name for reason in Reason if seen[reason.name]} == reasons
    if which.startswith("penetration"):
        assert min(seen[x] for x in ("overlap in part", "overlap of two characters", "spent exactly at the exit")) > 10


@pytest.mark.parametrize("which", POLICIES)
def test_statics_stop_shots_and_take_damage_if_they_are_named(which: str):
    """Every tie on a line, some of whose limbs are statics; limbs behind one count for penetration only."""
    policy, seen = POLICIES[which], Counter[str]()
    for shots in shots_on_lines(23, sized(28), True):
        seen += check_shots(shots, policy)
    assert seen["behind a wall"] > 20
    assert (seen["a wall is harmed"] > 20) == bool(policy.damage)
    assert (seen["a victim behind a wall"] > 20) == (policy.kind == "penetration")


@cache
def shots_through_a_crowd(n: int) -> Shots:
    """Shots at limbs of all shapes, crossed one by one, the same for every policy."""
    solid, row = mixed(28).limbs(), np.arange(28, dtype=np.int32)
    character = np.where(row % 7 == 0, -1, row % 2).astype(np.int32)
    limbs = cc.Limbs(solid._table._replace(character=character), row % 5, solid.names)
    starts, ends = shots_at(mixed(28), n)
    energy = np.random.default_rng(19).uniform(0.0, 4.0, n)
    return Shots(cc.HitWorld(limbs), starts, ends, energy, single_crossings(limbs, starts, ends))


@pytest.mark.parametrize("which", POLICIES)
@pytest.mark.parametrize("n", [40, sized(340)])
def test_random_shots_through_a_crowd(which: str, n: int):
    """Few shots and many."""
    policy, seen, (world, starts, ends, energy, every) = POLICIES[which], Counter[str](), shots_through_a_crowd(n)
    judged = world.judge_segments(starts, ends, policy, energy=energy)
    for i, crossings in enumerate(every):
        length = np.hypot(np.hypot(*(ends[i] - starts[i])[:2]), (ends[i] - starts[i])[2])
        want = verdict(policy, crossings, energy[i].item(), length.item())
        assert differences(judged, i, want, close=1e-13) == []
        seen += seen_in(policy, want)
    assert judged.hit.sum() > n // 3
    assert (~judged.hit).sum() > n // 10
    if n > 100:
        assert seen["twice through one limb"] > 3
        assert seen["starts inside"] > 20
        kinds = {"first_surface": 2, "most_important": 3, "longest_chord": 3, "penetration": 4}
        assert sum(seen[reason.name] > 5 for reason in Reason) == kinds[policy.kind], seen


def test_the_first_surface_is_the_closest_hit():
    """A limb that contains the start counts at the start, or not at all."""
    limbs = mixed(28).limbs()
    world, (starts, ends) = cc.HitWorld(limbs), shots_at(mixed(28), sized(600))
    for inside in ("hit", "ignore"):
        hits = world.cast_segments(starts, ends, inside=inside)
        judged = world.judge_segments(starts, ends, POLICIES["first surface"], inside=inside)
        for name in ("hit", "limb", "character", "position", "normal", "distance", "hit_group"):
            assert np.array_equal(getattr(judged, name), getattr(hits, name), equal_nan=True), name
        assert min(hits.hit.sum(), (~hits.hit).sum()) > len(starts) // 8


def on_a_line(*limbs: tuple[float, float, int, int]) -> cc.HitWorld:
    """Return a world of boxes from a to b on the x axis, each of a character and a group."""
    parts = [
        cc.Limbs.boxes([(a + b) / 2, 0, 0], [0, 0, 0, 1], [(b - a) / 2, 1, 1], character=who, hit_group=group)
        for a, b, who, group in limbs
    ]
    return cc.HitWorld(cc.Limbs.concat(parts))


ALONG = [[0, 0, 0]], [[16, 0, 0]]
HEAD, ARM, TORSO = 1, 2, 3


def test_the_reference_detects_wrong_verdicts():
    """Each compared column, with a wrong value."""
    world = on_a_line((2, 4, 1, ARM), (5, 6, 2, ARM))
    judged = world.judge_segments(*ALONG, cc.Policy.penetration(1.0), energy=10.0)
    right = verdict(
        cc.Policy.penetration(1.0), single_crossings(world.limbs, *map(np.array, ALONG))[0], Fraction(10), 16
    )
    assert differences(judged, 0, right) == []
    first, rest = right.trace[0], right.trace[1:]
    for name, value in (("energy_in", 9), ("energy_out", 9), ("damage", 1), ("reason", Reason.STOPPED)):
        wrong = Traced(**{**vars(first), name: value})
        assert differences(judged, 0, Verdict(0, right.damage, right.energy_left, [wrong, *rest])) == [
            f"impact 0 {name}"
        ]
    for name in Crossing._fields:
        wrong = Traced(**{**vars(first), "crossing": first.crossing._replace(**{name: 0.5})})
        assert differences(judged, 0, Verdict(0, right.damage, right.energy_left, [wrong, *rest])), name
    assert differences(judged, 0, Verdict(1, right.damage, right.energy_left, right.trace)) == ["limb"]
    assert differences(judged, 0, Verdict(0, 0, 0, right.trace)) == ["damage", "energy_left"]


def test_a_wall_between_arm_and_head():
    """The wall stops shots that reach it; unlike limbs without a character it is no hit and no victim."""
    policy = cc.Policy.most_important([HEAD, TORSO], {HEAD: 4.0})
    world = on_a_line((2, 3, 7, ARM), (8, 9, 7, HEAD), (10, 11, -1, ARM))
    wall = cc.Limbs.boxes([5, 0, 0], [0, 0, 0, 1], [0.5, 1, 1], name="wall")
    handle = world.add_static(wall)
    starts, ends = [[0, 0, 0], [4, 0, 0], [7, 0, 0], [9.5, 0, 0], [0, 3, 0]], np.array([16.0, 0, 0])
    judged = world.judge_segments(
        starts, ends + np.array([[0, 0, 0]] * 4 + [[0, 3, 0]]), policy, energy=10.0, shot=[1, 1, 2, 2, 3]
    )
    assert judged.hit_group.tolist() == [ARM, 0, HEAD, ARM, -1]
    assert judged.static.tolist() == [-1, handle, -1, -1, -1]
    assert judged.victim.tolist() == [7, -1, 7, -1, -1]
    assert judged.damage.tolist() == [10.0, 0.0, 40.0, 10.0, 0.0]
    assert judged.energy_left.tolist() == [0.0, 0.0, 0.0, 0.0, 10.0]
    assert [Reason(x).name for x in judged[0].impacts.reason] == ["COUNTED", "NOT_FIRST", "NOT_FIRST", "NOT_FIRST"]
    assert f"'wall' of static {handle}, hit group 0" in str(judged.explain(1)).replace("wall of", "'wall' of")
    totals = judged.by_shot()
    assert totals.hits.tolist() == [1, 2, 0]
    assert (totals.victims.shot.tolist(), totals.victims.character.tolist()) == ([1, 2, 2], [7, -1, 7])
    assert (totals.victims.rays.tolist(), totals.victims.damage.tolist()) == ([1, 1, 1], [10.0, 10.0, 40.0])
