"""Random programs over characters, statics and their history, with bad calls among them: kept states do not change.

Each answer about the past equals that of a fresh world of the limbs then, bullets agree with rational arithmetic,
and a refused call changes nothing.
"""

from collections import Counter

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run
from support.cases.everyday_worlds import make_crowd
from support.character_life import Life, Member, all_shapes_rig
from support.check_cylinders import differing, sized
from support.copies import COPIES
from support.matches.answers import of_worlds, queries
from support.matches.volley import draw_volley, moments_of
from support.oracle.moving_bullets import Bullet, Ticks

import cylcollide as cc

pytestmark = pytest.mark.attack

STEPS = (
    "spawn", "move_some", "move_all", "move_bare", "set_layers", "despawn", "fail",
    "add_static", "move_static", "remove_static",
)  # fmt: skip
LONG_INTEGER = 10**400
seen: Counter[str] = Counter()
"""Counts of answers over all programs."""

seeds = st.integers(0, 2**16)


class Histories(RuleBasedStateMachine):
    """A world of characters, its history, and a list of the recorded limbs."""

    @initialize(
        seed=seeds, interpolate=st.sampled_from(["bones", "ends"]), ticks=st.integers(0, 4),
        bare=st.sampled_from([0, 3]), boxes=st.booleans(),
    )  # fmt: skip
    def begin(self, seed: int, interpolate: str, ticks: int, bare: int, boxes: bool):
        self.life = Life(np.random.default_rng(seed), make_crowd(bare) if bare else cc.HitWorld().limbs, 2.0)
        self.life.rigs = [all_shapes_rig(), cc.Rig.humanoid()] if boxes else [all_shapes_rig(has_boxes=False)]
        self.life.has_boxes = boxes
        self.life.world.spawn(cc.Rig.humanoid(), 0)  # registers the hit groups
        self.bare, self.ticks, self.has_boxes = bare, ticks or 3, boxes
        self.history = cc.PoseHistory(self.life.world, ticks or 3, interpolate)
        self.kept: list[tuple[int, float, cc.Limbs]] = []
        self.jumps: set[tuple[int, int]] = set()
        self.count = 0
        for step in range(ticks):
            self.life.living.update({int(i): Member(rig) for rig in self.life.rigs for i in self.spawned(rig, 2)})
            self.life.move_all()
            self.record(0.25 + 0.125 * step)

    def spawned(self, rig: cc.Rig, count: int) -> list[int]:
        """Ids of newly spawned characters."""
        ids = self.life.world.spawn(rig, count).tolist()
        self.life.last_id = ids[-1]
        return ids

    # Changes ---------------------------------------------------------------------------------------------------------

    @rule(seed=seeds, names=st.lists(st.sampled_from(STEPS), min_size=1, max_size=3))
    def live(self, seed, names):
        self.life.rng = np.random.default_rng(seed)
        for name in names:
            getattr(self.life, name)()

    @rule(seed=seeds)
    def teleport(self, seed):
        self.life.rng = np.random.default_rng(seed)
        self.jumps.update((self.count - 1, who) for who in self.life.teleport())

    @rule(step=st.sampled_from([2.0**-30, 0.125, 0.25, 1000.0]))
    def record(self, step):
        time = self.kept[-1][1] + step if self.kept else -step
        assert self.history.record(time) == self.count
        self.count += 1
        self.kept = [*self.kept, (self.count - 1, time, self.life.expected())][-self.ticks :]

    @rule(wrong=st.sampled_from([np.nan, -np.inf, "now", None, 1e200, LONG_INTEGER, [1.0, 2.0], 1j, "before"]))
    def fail_to_record(self, wrong):
        if wrong == "before":
            wrong = self.kept[-1][1] if self.kept else np.inf
        with pytest.raises(ValueError, match="time: expected"):
            self.history.record(wrong)

    @rule(how=st.sampled_from([*COPIES.values()]))
    def copy_all(self, how):
        self.history = how(self.history)
        self.life.world = self.history.world

    # Queries ---------------------------------------------------------------------------------------------------------

    def times(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Kept times: anywhere, at ticks, and next to them."""
        kept = self.history.times
        at_ticks, between = rng.choice(kept, n), rng.uniform(kept[0], kept[-1], n)
        beside = np.nextafter(at_ticks, rng.choice([-np.inf, np.inf], n))
        return np.clip(np.choose(rng.integers(0, 3, n), [at_ticks, beside, between]), kept[0], kept[-1])

    @precondition(lambda self: self.kept)
    @rule(
        seed=seeds, inside=st.sampled_from(["hit", "exit", "ignore"]), policy=st.integers(0, 3), on_rays=st.booleans()
    )
    def ask(self, seed, inside, policy, on_rays):
        rng = np.random.default_rng(seed)
        times = self.times(rng, 6)
        safe = {int(who): float(times[0]) for who in rng.integers(0, 12, 2)} if seed % 3 == 0 else None
        moments = moments_of(self.history, times, 4, safe, self.bare)
        if not moments:
            return
        volley = draw_volley(moments, 4, rng)
        for name, query in queries(policy, on_rays).items():
            want = of_worlds(query, moments, volley, {"inside": inside})
            got = query(
                self.history, volley, {"inside": inside, "threads": 2, "time": volley.time, "protected_since": safe}
            )
            assert not differing(got, want), name
            seen[name] += int(want["hit"].sum() if "hit" in want else (want["limb"] >= 0).sum())

    @precondition(lambda self: self.kept and not self.has_boxes)
    @rule(seed=seeds)
    def fly(self, seed):
        rng = np.random.default_rng(seed)
        begin, end = np.sort(self.times(rng, 2))
        limbs = self.history.limbs_at(end)
        aim = limbs.p1[rng.integers(len(limbs))] + 0.1 * rng.normal(size=3) if len(limbs) else np.zeros(3)
        start = rng.uniform(-3, 3, 3)
        bullet = Bullet(start, start + rng.uniform(1, 3) * (aim - start), begin, end)
        hits = self.history.cast_moving(bullet.start, bullet.end, begin, end)
        want = Ticks(self.history, self.bare, lambda tick, who: (tick, who) in self.jumps).first_contact(bullet)
        assert hits.hit[0] == (want is not None)
        seen["flying"] += hits.hit[0]
        if want is not None:
            assert (hits.tick[0], hits.limb[0], hits.character[0], hits.face[0]) == (*want[:3], want.face)
            assert abs(hits.alpha[0] - want.alpha) <= 4 * 2.0**-53

    @invariant()
    def the_world_is_as_it_was_left(self):
        assert self.life.world.limbs == self.life.expected()
        assert self.life.world.characters.tolist() == sorted(self.life.living)
        assert self.life.world.statics.tolist() == sorted(self.life.standing)

    @invariant()
    def ticks_are_as_they_were_recorded(self):
        assert self.history.ticks.tolist() == [number for number, _, _ in self.kept]
        assert self.history.times.tolist() == [time for _, time, _ in self.kept]
        for number, time, limbs in self.kept[:1] + self.kept[-1:]:
            assert self.history.limbs_at(tick=number) == limbs
            assert self.history.limbs_at(time) == limbs


@pytest.mark.parametrize(
    ("examples", "steps", "least"),
    [(sized(6), 12, 0), pytest.param(600, 40, 50, marks=[pytest.mark.long, pytest.mark.timeout(7200)])],
)
def test_random_histories(examples: int, steps: int, least: int):
    seen.clear()
    run(Histories, settings=settings(max_examples=examples, stateful_step_count=steps, deadline=None))
    print(dict(seen))
    assert least <= min(seen[name] for name in ("cast_segments", "judge", "contains_points", "flying"))
