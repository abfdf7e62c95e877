"""The range without its page: a world and its history, shots at a past time, and PyBullet's answer to each shot."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cylcollide._types import Float64Array, Shape
from cylcollide.characters.judged import Judged
from cylcollide.characters.policy import Policy
from cylcollide.characters.rig import Rig
from cylcollide.engines.protocol import Engine
from cylcollide.history.pose_history import PoseHistory
from cylcollide.limbs.limbs import Limbs
from cylcollide.view.frames import Frame, frame_at
from cylcollide.view.marks import unit_direction
from cylcollide.view.people import People, clips_for
from cylcollide.world.hit_world import HitWorld

REACH = 100.0
"""Range of shots, metres."""
TICKS = 128
DISTANCE_TOLERANCE = 1e-4
"""Distances of both engines count as different if they differ by more, metres."""
POLICY = Policy.first_surface(damage={"head": 4.0, "torso": 1.0, "arm": 0.6, "leg": 0.75})
WALLS = Limbs.boxes(
    [[0.0, 6.5, 1.1], [-6.5, -1.0, 0.6]], [[0.0, 0.0, 0.0, 1.0]] * 2, [[2.5, 0.12, 1.1], [0.12, 1.6, 0.6]], name="wall"
)


@dataclass(frozen=True)
class Answer:
    """The answer of one engine to a shot: the first limb."""

    limb: int
    """Row of the limb, -1 for a miss."""
    distance: float
    """Metres from the muzzle; inf for a miss."""


@dataclass(frozen=True)
class FiredShot:
    """One shot, judged at the time that its shooter saw."""

    origin: Float64Array
    direction: Float64Array
    """Unit vector."""
    seen: float
    """The time that the shooter saw."""
    now: float
    """The time of the server."""
    frame: Frame
    """The limbs at the time `seen`."""
    judged: Judged
    live: Judged
    """The shot judged at the server's present, that is, without lag compensation."""
    ours: Answer
    gap: float
    """Distance from the nearest limb, metres; 0 for a hit."""
    bullet: Answer | None
    """PyBullet's answer; None without PyBullet, or if it does not have these shapes."""

    @property
    def nearest(self) -> float:
        """The smaller distance of both answers; inf if both are misses."""
        return min(self.ours.distance, np.inf if self.bullet is None else self.bullet.distance)

    @property
    def differs(self) -> bool:
        """Whether PyBullet reports another limb or another distance."""
        if self.bullet is None:
            return False
        far = self.ours.limb >= 0 and abs(self.bullet.distance - self.ours.distance) > DISTANCE_TOLERANCE
        return self.bullet.limb != self.ours.limb or far


class Firing:
    """A world of people that is advanced step by step, and shots at any time that is kept."""

    def __init__(self, people: People, world: HitWorld, policy: Policy = POLICY, energy: float = 25.0) -> None:
        self.world, self.history = world, PoseHistory(world, ticks=TICKS)
        self._people, self.policy, self.energy = people, policy, energy
        self.peer = _peer()

    def step(self, now: float) -> None:
        """Advance the world to a time, and record it."""
        self._people.pose(now)
        self.history.record(now)

    @property
    def now(self) -> float:
        """The server's time: that of the last tick."""
        return float(self.history.times[-1])

    def seen_with(self, latency: float) -> float:
        """The time that a client with a latency sees."""
        return max(self.now - latency, float(self.history.times[0]))

    def fire(self, origin: ArrayLike, direction: ArrayLike, seen: float) -> FiredShot:
        """Judge a shot at the time that its shooter saw."""
        start, way = np.asarray(origin, float), np.asarray(direction, float)
        way = unit_direction(way, way)  # `judge_rays` reports a zero direction
        options: Any = {"max_distance": REACH, "energy": self.energy}
        judged = self.history.judge_rays([start], [way], self.policy, time=seen, **options)
        live = self.world.judge_rays([start], [way], self.policy, **options)
        frame, impacts = frame_at(self.history, seen), judged.impacts
        first = Answer(-1, np.inf)
        if len(impacts.limb):
            first = Answer(int(impacts.limb[0]), float(impacts.chords.entry_distance[0]))
        gap = 0.0 if first.limb >= 0 else self.history.explain_miss(start, start + REACH * way, seen).gap
        bullet = self._bullet(frame.limbs, start, way)
        return FiredShot(start, way, seen, self.now, frame, judged, live, first, gap, bullet)

    def _bullet(self, limbs: Limbs, start: Float64Array, way: Float64Array) -> Answer | None:
        if self.peer is None or self.peer.capabilities.lacks(map(Shape, limbs.kind.tolist())):
            return None
        self.peer.build(limbs)
        hits = self.peer.cast_segments(start[None], (start + REACH * way)[None])
        limb = int(hits.limb[0])
        return Answer(limb, REACH * float(hits.fraction[0]) if limb >= 0 else np.inf)

    def past_a_limb(self, frame: Frame, origin: ArrayLike, gap: float, seed: int) -> Float64Array | None:
        """A direction that misses a limb visible from a place by a gap, and hits nothing; None if there is none.

        The limb is the first of the people's limbs, in an order that depends on the seed, that such a shot can pass.
        """
        start, rng = np.asarray(origin, float), np.random.default_rng(seed)
        grown = frame.limbs.inflated(gap)
        world, larger = HitWorld(frame.limbs), HitWorld(grown)
        for row in rng.permutation(np.flatnonzero(~frame.is_static)).tolist():
            middle = 0.5 * (frame.limbs.p1[row] + frame.limbs.p2[row])
            ahead = middle - start
            side = np.cross(ahead, rng.normal(size=3))
            side *= 4.0 * float(frame.limbs.radius[row]) / np.linalg.norm(side)
            low, high = 0.0, 1.0
            for _ in range(50):
                share = 0.5 * (low + high)
                hit = grown[row].cast_segments(start, start + 2.0 * (ahead + share * side)).hit[0]
                low, high = (share, high) if hit else (low, share)
            way = ahead + high * side
            way = unit_direction(way, way)
            inner = ahead + low * side
            touches = larger.cast_rays([start], [unit_direction(inner, inner)]).limb[0] == row
            if touches and not world.occluded_rays([start], [way], max_distance=REACH)[0]:
                return np.asarray(way)
        return None


def make_firing(
    rig: Rig, motions: list[Path], people: int = 16, seed: int = 0, policy: Policy = POLICY, energy: float = 25.0
) -> Firing:
    """A world of people and two walls; OSError or ValueError for a bad file, or a policy that does not suit the rig."""
    world = HitWorld()
    crowd = People(world, rig, clips_for(rig, motions), people, seed)
    world.add_static(WALLS)
    world.judge_rays([[0.0, 0.0, 0.0]], [[0.0, 0.0, 1.0]], policy, energy=energy)
    return Firing(crowd, world, policy, energy)


def _peer() -> Engine | None:
    """PyBullet, if it is installed."""
    from cylcollide.engines import registry  # noqa: PLC0415  imports what is installed

    try:
        return registry.create("bullet")
    except ImportError:
        return None
