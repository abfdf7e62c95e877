"""Shots of many players, each at its own moment, and worlds that give the expected hits."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from support.character_life import Life

import cylcollide as cc
from cylcollide.history import PoseHistory

MASKS = np.array([0xFFFFFFFF, 0xFFFFFFFF, 1, 2, 5])


class Volley(NamedTuple):
    """Shots, one row per pellet, grouped by moment; (n, 3) and (n,)."""

    start: np.ndarray
    end: np.ndarray
    time: np.ndarray
    energy: np.ndarray
    shot: np.ndarray
    mask: np.ndarray
    ignore: np.ndarray
    reach: np.ndarray

    @property
    def radius(self) -> np.ndarray:
        """Return radii of thick segments, half of them 0."""
        return np.where(self.energy < 1.5, 0.0, 0.1 * self.energy)

    def rows(self, rows) -> "Volley":
        """Return the given rows."""
        return Volley(*(column[rows] for column in self))


@dataclass
class Moment:
    """One time, the limbs that may be hit then, and a world of these limbs without a history."""

    time: float
    rows: slice
    kept: np.ndarray  # rows of the state that are not protected
    world: cc.HitWorld


def moments_of(
    history: PoseHistory, times: np.ndarray, pellets: int, protected_since: dict[int, float] | None, bare: int
) -> list[Moment]:
    """Return a world for each time, clamped to the kept ones, without the characters that are protected then.

    Times without limbs are left out. Limbs without a character whose rows follow the bare ones are statics.
    """
    moments: list[Moment] = []
    for time in times.tolist():
        at = float(np.clip(time, *history.times[[0, -1]]))
        limbs = history.limbs_at(at)
        safe = [who for who, since in (protected_since or {}).items() if at >= since]
        kept = np.flatnonzero(~np.isin(limbs.character, safe))
        rows = slice(len(moments) * pellets, (len(moments) + 1) * pellets)
        if len(kept):
            static = (limbs.character[kept] == -1) & (kept >= bare)
            world = cc.HitWorld(limbs[kept[~static]])
            if static.any():
                world.add_static(limbs[kept[static]])
            moments.append(Moment(time, rows, kept, world))
    return moments


def draw_volley(moments: list[Moment], pellets: int, rng: np.random.Generator) -> Volley:
    """Return shots at limbs of each moment: most from afar; some graze, start in a limb, are points, or miss."""
    n = len(moments) * pellets
    aim, thick = np.zeros((n, 3)), np.full(n, 0.1)
    for moment in moments:
        limbs = moment.world.limbs
        k = rng.integers(0, len(limbs), pellets)
        aim[moment.rows] = limbs.p1[k] + rng.random((pellets, 1)) * (limbs.p2 - limbs.p1)[k]
        thick[moment.rows] = np.maximum(limbs.radius[k], 0.05)
    away = rng.normal(size=(n, 3)) * [1.0, 0.15, 1.0]
    away /= np.linalg.norm(away, axis=1)[:, None]
    across = np.cross(away, rng.normal(size=(n, 3)))
    across /= np.linalg.norm(across, axis=1)[:, None]
    kind = rng.integers(0, 10, (n, 1))
    axis, somewhere = np.zeros((n, 1)), rng.uniform(0.0, 2.0, (n, 1))
    offset = np.choose(kind, [somewhere, axis + 1.0, axis + 6.0, axis, somewhere, *[axis] * 5])
    aim = aim + offset * thick[:, None] * across
    far = rng.uniform(1.0, 40.0, (n, 1))
    start = np.where((kind == 3) | (kind == 4), aim, aim - far * away)
    end = np.where(kind == 4, start, np.where(kind == 5, aim, aim + rng.uniform(0.0, 20.0, (n, 1)) * away))
    known = [rng.choice(moment.world.limbs.character, pellets) for moment in moments]
    return Volley(
        start,
        end,
        np.repeat([moment.time for moment in moments], pellets),
        rng.uniform(0.0, 3.0, n),
        np.repeat(np.arange(len(moments)) * 3 + 1, pellets),
        rng.choice(MASKS, n),
        np.where(rng.random(n) < 0.3, np.concatenate(known), rng.integers(0, 64, n)),
        rng.uniform(0.0, 60.0, n),
    )


def record_life(life: Life, history: cc.PoseHistory, ticks: int, leaps: float = 0.0) -> None:
    """Record `ticks` ticks, with a few steps of the life before each; a share `leaps` of them has a teleport."""
    for _ in range(ticks):
        for _ in range(int(life.rng.integers(1, 4))):
            life.step()
        if leaps and life.rng.random() < leaps:
            life.teleport()
        history.record(float(len(history.times) and history.times[-1]) + life.rng.uniform(0.01, 0.05))


def past_limbs(history: cc.PoseHistory, rng: np.random.Generator, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Segments, each aimed near a limb of its time, if there is any."""
    start, aim = rng.uniform(-6, 6, (len(times), 3)), np.zeros((len(times), 3))
    for i, time in enumerate(times):
        limbs = history.limbs_at(time)
        aim[i] = limbs.p1[rng.integers(len(limbs))] + 0.1 * rng.normal(size=3) if len(limbs) else -start[i]
    return start, start + 2.0 * (aim - start)
