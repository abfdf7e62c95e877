"""The first contact of a flying bullet by brute force: every limb of every tick, in rational arithmetic.

It reads ticks by a history's public queries and uses no box, list or bound; the test gives the characters that jump.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import cylcollide as cc
from cylcollide._types import Shape
from cylcollide.exact.contacts import Contact
from cylcollide.exact.moving import Motion, contact_face, contact_intervals, tick_interval
from cylcollide.history import PoseHistory

Triple = tuple[float, float, float]

STATIC = -2
"""Stands for the character of a static, which stands still until the next tick."""


class Bullet(NamedTuple):
    """A bullet, the times of its targets, and its filters."""

    start: NDArray[np.float64]
    end: NDArray[np.float64]
    target_t0: float
    target_t1: float
    mask: int = 0xFFFFFFFF
    ignored: int = -1


class Contacted(NamedTuple):
    """The first contact of a bullet."""

    tick: int
    limb: int  # row of the state
    character: int
    fraction: float
    alpha: float
    face: int


class Ticks:
    """The recorded limbs of a history, tick by tick, and which limb of the next tick each one is."""

    def __init__(self, history: PoseHistory, bare: int, jumps: Callable[[int, int], bool] = lambda tick, who: False):
        self.numbers, self.times = history.ticks.tolist(), history.times.tolist()
        self.limbs = [history.limbs_at(tick=tick) for tick in self.numbers]
        keys = [list(self._keys(limbs, bare)) for limbs in self.limbs]
        self.next: list[list[int]] = []
        for number, mine, theirs in zip(self.numbers, keys, [*keys[1:], []], strict=False):
            row = {key: k for k, key in enumerate(theirs)}
            stays = [key[0] == STATIC or jumps(number, key[0]) for key in mine]
            self.next.append([-1 if stay else row.get(key, -1) for key, stay in zip(mine, stays, strict=True)])

    def _keys(self, limbs: cc.Limbs, bare: int):
        """Each row's owner (character, -1 for a bare limb, or STATIC) and its index among the owner's rows."""
        counts: dict[int, int] = {}
        for row, who in enumerate(limbs.character.tolist()):
            owner = -1 if row < bare else who if who >= 0 else STATIC
            counts[owner] = counts.get(owner, -1) + 1
            yield owner, counts[owner]

    def first_contact(self, bullet: Bullet, shapes: tuple[int, ...] = tuple(Shape)[:-1]) -> Contacted | None:
        """The first contact with a limb of these shapes, over all tick intervals."""
        for k, time in enumerate(self.times):
            after = self.times[k + 1] if k + 1 < len(self.times) else None
            interval = tick_interval(bullet.target_t0, bullet.target_t1, time, after)
            first: tuple[Contact, int, Motion] | None = None
            for row in range(len(self.limbs[k])) if interval is not None else ():
                if self._is_considered(k, row, bullet, shapes):
                    motion = self._motion(k, row, bullet, interval)
                    contacts = contact_intervals(motion)
                    if contacts and (first is None or contacts[0].compare_entry(first[0]) < 0):
                        first = contacts[0], row, motion
            if first is not None:
                s, row = first[0].entry, first[1]
                alpha = s.rounded(interval.alpha0, interval.alpha1)
                who = int(self.limbs[k].character[row])
                return Contacted(self.numbers[k], row, who, s.rounded(), alpha, int(contact_face(first[2], first[0])))
        return None

    def _is_considered(self, k: int, row: int, bullet: Bullet, shapes: tuple[int, ...]) -> bool:
        limbs = self.limbs[k]
        ignored = bullet.ignored >= 0 and limbs.character[row] == bullet.ignored
        return not ignored and (int(limbs.mask[row]) & bullet.mask) != 0 and int(limbs.kind[row]) in shapes

    def _motion(self, k: int, row: int, bullet: Bullet, interval) -> Motion:
        here, following = self.limbs[k], self.next[k][row]
        there, far = (self.limbs[k + 1], following) if following >= 0 else (here, row)
        a, b, c, d = (triple(p[i]) for p, i in ((here.p1, row), (there.p1, far), (here.p2, row), (there.p2, far)))
        radii = here._table.radius.item(row), here._table.radius2.item(row)
        return Motion(triple(bullet.start), triple(bullet.end), Shape(here.kind[row]), (a, b), (c, d), *radii, interval)


def triple(place: NDArray[np.float64]) -> Triple:
    x, y, z = place.tolist()
    return x, y, z
