"""Several threads query while another moves the world: every answer belongs to one whole state.

The geometry encodes the state's number: in state k each limb stands on its slot, k above its height in state 0, and
rays come down from above at every slot. In one state the drop is the same for all of them; in a mixture it is not.
A shuffled tower also permutes its limbs among the slots every eight steps, so that the tree degrades and is rebuilt
in the background.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, wait
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from support.beside import repeated
from support.force_loop import POLICIES
from support.package import environment, output_of

import cylcollide as cc
from cylcollide.bvh.refit import tree_cost
from cylcollide.world import hit_world
from cylcollide.world.queries import Queries

STEPS = 64  # states
UP = np.array([0.0, 0.0, 1.0])
TOP = 1024.0  # height where rays start


class Tower:
    """Limbs on a grid of slots, all lifted by the same integer, and rays down through every slot."""

    def __init__(self, side: int, copies: int = 1, shuffled: bool = False) -> None:
        x, y = (v.ravel() * 4.0 for v in np.meshgrid(np.arange(side), np.arange(side)))
        rng = np.random.default_rng(side)
        self.foot = np.column_stack([x, y, np.zeros(side * side)])[rng.permutation(side * side)]
        deals = [rng.permutation(side * side) if shuffled and k else np.arange(side * side) for k in range(STEPS // 8)]
        self.slot = np.repeat(deals, 8, axis=0)  # (states, limbs): where each limb stands
        self.limb = np.argsort(self.slot, axis=1)  # (states, slots): the limb there
        self.world = cc.HitWorld(cc.Limbs.cylinders(self.foot, self.foot + UP, 1.0))
        self.slots = np.tile(np.arange(side * side), copies)
        off = np.random.default_rng(1).uniform(-0.5, 0.5, (len(self.slots), 2)).round(2)
        self.start = np.column_stack([self.foot[self.slots, :2] + off, np.full(len(self.slots), TOP)])
        self.end = self.start * [1, 1, -1]

    def lift(self, k: int) -> None:
        """Move the world to state k."""
        p1 = self.foot[self.slot[k]] + [0.0, 0.0, float(k)]
        self.world.set_endpoints(p1, p1 + UP)

    def questions(self) -> tuple[Callable[[Queries], set[int]], ...]:
        """Functions that each return the states that their answer shows: one, unless the answer is torn."""
        return self.by_cast, self.by_chords, self.by_occluded, self.by_points, self.by_limbs, self.by_snapshot

    def by_cast(self, asked: Queries, inside: str = "hit") -> set[int]:
        """The first limb below each start: the slot's own, at the height of the state."""
        hits = asked.cast_segments(self.start, self.end, inside=inside, threads=1)
        assert hits.hit.all(), "a ray lost its limb"
        return self._states(hits.position[:, 2] - 1, hits.limb)

    def by_chords(self, asked: Queries) -> set[int]:
        """One chord a ray, 1 long."""
        chords = asked.chords_segments(self.start, self.end, threads=1)
        assert np.array_equal(chords.ray, np.arange(len(self.slots)))
        assert np.allclose(chords.thickness, 1.0, atol=1e-9)
        return self._states(TOP - chords.entry_fraction * 2 * TOP - 1, chords.limb)

    def by_occluded(self, asked: Queries) -> set[int]:
        """Level rays at every height: all rays of the state's height are blocked, and no others."""
        height = np.repeat(np.arange(STEPS) + 0.5, 8)
        y = np.tile(np.resize(np.unique(self.foot[:, 1]), 8), STEPS)
        start = np.column_stack([np.full(len(height), -9.0), y, height])
        blocked = asked.occluded_segments(start, start + np.array([500.0, 0.0, 0.0]), threads=1).reshape(STEPS, 8)
        assert np.array_equal(blocked.any(axis=1), blocked.all(axis=1)), "half of a height is blocked"
        return set(np.flatnonzero(blocked.all(axis=1)).tolist())

    def by_points(self, asked: Queries) -> set[int]:
        """Points at every height above some slots: each slot contains those of one height."""
        some = np.arange(0, len(self.foot), 3)
        points = self.foot[np.tile(some, STEPS)] + np.repeat(np.arange(STEPS) + 0.5, len(some))[:, None] * [0, 0, 1]
        held = asked.contains_points(points, threads=1).limb.reshape(STEPS, -1)
        height, slot = np.nonzero(held >= 0)
        assert sorted(slot.tolist()) == list(range(len(some))), "each limb is at one height"
        assert np.array_equal(held[height, slot], self.limb[height, some[slot]])
        return set(height.tolist())

    def by_limbs(self, asked: Queries) -> set[int]:
        """The end points of all limbs."""
        limbs = asked.limbs
        assert np.array_equal(limbs.p2[:, 2], limbs.p1[:, 2] + 1)
        state = limbs.p1[:, 2].astype(int)
        assert np.array_equal(limbs.p1[:, :2], self.foot[self.slot[state, np.arange(len(limbs))], :2])
        return set(state.tolist())

    def by_snapshot(self, asked: Queries) -> set[int]:
        """All queries on one snapshot."""
        kept = asked.snapshot()
        return self.by_cast(kept) | self.by_limbs(kept) | self.by_chords(kept) | self.by_points(kept)

    def _states(self, height: np.ndarray, limb: np.ndarray) -> set[int]:
        """The states that have those limbs on the rays' slots at those heights."""
        state = np.rint(height).astype(int)
        assert np.abs(height - state).max() < 1e-9
        assert np.array_equal(limb, self.limb[state, self.slots]), "a ray met another slot's limb"
        return set(np.unique(state).tolist())


@pytest.mark.parametrize(("side", "shuffled"), [(1, False), (6, False), (6, True)])
def test_every_query_returns_the_state(side: int, shuffled: bool):
    """Without threads: checks the premise of the hammer tests."""
    tower = Tower(side, shuffled=shuffled)
    for k in (0, 7, STEPS - 1):
        tower.lift(k)
        assert all(ask(tower.world) == {k} for ask in tower.questions())
        assert all(tower.by_cast(tower.world, inside) == {k} for inside in POLICIES)


def test_every_query_detects_a_torn_state():
    """Half of the limbs are in one state, half in another: each query returns both."""
    tower = Tower(6)
    up = np.where(np.arange(36)[:, None] < 18, 3.0, 5.0) * [0, 0, 1]
    tower.world.set_endpoints(tower.foot + up, tower.foot + up + UP)
    assert all(ask(tower.world) == {3, 5} for ask in tower.questions())


def hammer(seconds: float, side: int, copies: int, shuffled: bool = False, enough: float = np.inf) -> Counter[str]:
    """Move the world continuously while every kind of query is made, each `enough` times; returns the counts."""
    tower, seen = Tower(side, copies, shuffled), Counter()
    assert all(len(ask(tower.world)) == 1 for ask in tower.questions())  # compile first
    states = [set() for _ in range(8)]
    tree = tower.world.snapshot()._tree
    kept = [(k, tower.world.snapshot()) for k in (0,) if tower.lift(k) is None]

    def counted(name: str, ask: Callable[[], object]) -> None:
        ask()
        seen[name] += 1

    def asking(mine: set[int], question: Callable[[Queries], set[int]]) -> Callable[[], None]:
        def ask() -> None:
            got = question(tower.world)
            assert len(got) == 1, f"an answer of states {sorted(got)}"
            mine.update(got)

        return ask

    def move() -> None:
        nonlocal tree
        k = seen["moves"] * 7 % STEPS
        tower.lift(k)
        tree, last = tower.world.snapshot()._tree, tree
        seen["rebuilds"] += tree.child is not last.child
        assert tower.by_limbs(tower.world) == {k}, "a state went back"
        if seen["moves"] % 50 == 0 and len(kept) < 12:
            kept.append((k, tower.world.snapshot()))

    def ask_old() -> None:
        for k, snapshot in list(kept):
            assert tower.by_cast(snapshot) == {k}, "a snapshot has moved"
            assert tower.by_limbs(snapshot) == {k}

    questions = {
        "cast": tower.by_cast,
        "cast too": lambda asked: tower.by_cast(asked, "ignore"),
        "chords": tower.by_chords,
        "occluded": tower.by_occluded,
        "points": tower.by_points,
        "snapshot": tower.by_snapshot,
        "limbs": tower.by_limbs,
    }
    jobs = {name: asking(states[i], q) for i, (name, q) in enumerate(questions.items())}
    with repeated(
        *(partial(counted, *job) for job in ({"moves": move, "old snapshots": ask_old} | jobs).items())
    ) as calls:
        until, names = time.monotonic() + seconds, ["moves", "old snapshots", *jobs, *["rebuilds"] * shuffled]
        while min(seen[name] for name in names) < enough and time.monotonic() < until:
            if wait(calls, 0.02, FIRST_EXCEPTION).done:
                break
    last = {(seen["moves"] - 1) * 7 % STEPS}
    assert tower.by_snapshot(tower.world) == last, "the last state is not the one that stays"
    tower.world.finish_rebuild()
    assert tower.by_snapshot(tower.world) == last
    assert not [thread for thread in threading.enumerate() if "rebuild" in thread.name]
    assert cost(tower.world) <= 1.5 * cost(cc.HitWorld(tower.world.limbs)), "the tree does not fit"
    seen["states"] = min(len(mine) for mine in states[: len(questions)])
    return seen


def cost(world: cc.HitWorld) -> float:
    tree = world.snapshot()._tree
    return tree_cost(tree.bounds, tree.frame.scale)


@pytest.mark.parametrize(("side", "copies"), [(6, 1), (6, 40)])
def test_hammer(side: int, copies: int):
    """Small batches, which go ray by ray, and large ones, which go as streams."""
    seen = hammer(60.0, side, copies, enough=10)
    assert seen.pop("rebuilds") == 0
    assert min(seen.values()) >= 1, seen


@pytest.mark.parametrize("side", [6, 9])
def test_hammer_with_rebuilds(side: int, monkeypatch: pytest.MonkeyPatch):
    """Trees are built in the background and put in place between the moves."""
    monkeypatch.setattr(hit_world, "REBUILT_AT_ONCE", 0)
    seen = hammer(60.0, side, 1, shuffled=True, enough=5)
    assert min(seen.values()) >= 1, seen


@pytest.mark.long
@pytest.mark.parametrize(
    ("side", "copies", "shuffled"), [(1, 200, False), (4, 3, False), (30, 10, False), (33, 10, True), (110, 1, True)]
)
def test_hammer_for_a_minute(side: int, copies: int, shuffled: bool):
    """33 × 33 limbs and more are rebuilt in the background."""
    seen = hammer(60.0, side, copies, shuffled)
    assert (seen.pop("rebuilds") > 20) == shuffled
    assert min(count for name, count in seen.items() if name != "states") > 20, seen
    assert seen["states"] > 10, seen


FIRST_CALLS = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
sys.path.insert(0, {tests!r})
import numpy as np
import cylcollide as cc
from support.cases.everyday_shape_worlds import shots_at
from support.cases.everyday_worlds import make_crowd
limbs = make_crowd(40)
world, (start, end) = cc.HitWorld(limbs), shots_at(limbs, 500)
barrier = threading.Barrier(4)

def ask(k):
    barrier.wait()
    hits = world.cast_segments(start, end, threads=1)
    few = world.cast_segments(start[:9], end[:9])
    world.set_endpoints(limbs.p1, limbs.p2)
    held, chords = world.contains_points(start), world.chords_segments(start, end)
    columns = hits.limb, hits.fraction, hits.position, few.limb, held.limb, chords.limb
    return [x.tobytes() for x in (*columns, world.occluded_segments(start, end))]

with ThreadPoolExecutor(4) as threads:
    answers = list(threads.map(ask, range(4)))
assert all(a == answers[0] for a in answers)
assert np.frombuffer(answers[0][0], np.int32).max() > 0
print("asked")
"""


def test_first_calls_at_once():
    """Four threads of a fresh process make its first calls."""
    code = FIRST_CALLS.format(tests=str(Path(__file__).parents[1]))
    assert output_of("-c", code, env=environment()) == "asked\n"
