"""A random life of characters whose shots are logged, with the judged results to compare with the log."""

from pathlib import Path
from typing import Any

import numpy as np
from support.character_life import Life

import cylcollide as cc

POLICIES = (
    cc.Policy.first_surface(damage={"head": 4.0}, groups={"head": 1}),
    cc.Policy.most_important(order=[1, 3], default=0.5),
    cc.Policy.longest_chord(),
    cc.Policy.penetration(loss=3.0, damage={1: 2.0}),
)
STEPS = ("spawn", "move_some", "move_all", "move_all", "move_bare", "set_layers", "despawn", "fail", "teleport")
STATIC_STEPS = ("add_static", "add_static", "move_static", "remove_static")


class LoggedLife:
    """A logged world and history, and the results of its shots."""

    def __init__(self, path: Path, seed: int, bare: cc.Limbs, ticks: int = 5, **options: Any) -> None:
        self.rng = np.random.default_rng(seed)
        self.life = Life(self.rng, bare, 2.0)
        self.life.world.spawn(self.life.rigs[0], 0)  # registers the hit groups of this rig
        interpolate = "ends" if seed % 3 == 1 else "bones"
        distance = 3.0 if seed % 2 else np.inf
        self.history = cc.PoseHistory(self.life.world, ticks, interpolate, distance)
        self.time, self.answers = 0.0, []
        for _ in range(seed % 4):  # some steps before the log begins
            self.step()
        self.log = cc.ShotLog(path, self.life.world, self.history, **options)
        self.answers.clear()

    def step(self) -> None:
        """Take two random steps, record a tick, judge shots."""
        for name in self.rng.choice((*STEPS, *STATIC_STEPS), 2):
            getattr(self.life, name)()
        self.time += float(self.rng.choice([0.125, 0.3, 1.0]))
        self.history.record(self.time)
        self.shoot()

    def shoot(self) -> None:
        """Judge shots in the present and in the past, with several policies and all filters."""
        rng, world, history = self.rng, self.life.world, self.history
        first, second = self.life.rays(4)
        several: Any = [POLICIES[k] for k in rng.integers(0, 4, 4)]
        filters: Any = {
            "mask": rng.choice([1, 0xFFFFFFFF], 4), "ignore_character": [None, 1, [0, 1, 2, -1]][rng.integers(3)],
            "inside": ("hit", "exit", "ignore")[rng.integers(3)], "energy": rng.uniform(0, 3, 4),
        }  # fmt: skip
        policy = POLICIES[rng.integers(4)]
        self.keep(world.judge_segments(first, second, policy, shot=[5, 5, 9, 9], **filters))
        self.keep(world.judge_rays(first, second - first, several, max_distance=rng.uniform(1, 9, 4), mask=3))
        times = rng.uniform(history.times[0] - 0.5, history.times[-1] + 0.5, 4)
        on_old = ("clamp", "miss")[rng.integers(2)]
        safe = {int(who): float(times[0]) for who in rng.integers(0, 12, 2)}
        self.keep(
            history.judge_segments(
                first, second, policy, time=times, on_old=on_old, protected_since=safe, **filters
            )
        )  # fmt: skip
        tick = int(rng.choice(history.ticks))
        alpha = 0.0 if tick == history.ticks[-1] else 0.25
        self.keep(
            history.judge_rays(first, second - first, several, tick=tick, alpha=alpha, radius=[0.0, 0.1, 0.05, 0.0])
        )
        self.keep(history.judge_rays(first[0], second[0] - first[0], policy, time=float(history.times[-1])))

    def keep(self, judged: cc.Judged) -> None:
        """Store the limb and the explanation of each shot."""
        self.answers += [(judged.limb[i].item(), str(judged.explain(i)).partition(", ")[2]) for i in range(len(judged))]
