"""A scripted match: people in recorded motions who come, go, hide, leap and spin, over bare limbs that move."""

from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from support.character_life import all_shapes_rig

import cylcollide as cc
from cylcollide.characters import quaternions

CLIP = Path(__file__).parents[3] / "demos" / "data" / "jump.bvh"
UNIT = 0.0254 / 0.45
TICKS_A_SECOND = 60
TURN = np.radians(100.0)
"""Of a spinning person in a tick: boxes must hold whatever lies between."""


ROLES = ("walks", "walks", "walks", "spins", "leaps", "sleeps", "turns over", "walks")


@cache
def clip() -> cc.Clip:
    """Return the recorded motion, in metres, y up."""
    return cc.Clip.load_bvh(CLIP, scale=UNIT)


@cache
def actor_rig() -> cc.Rig:
    """Return a rig of the clip's skeleton: a limb a bone that is longer than 4 cm, of each shape in turn."""
    bones = np.flatnonzero(np.linalg.norm(clip().tips, axis=1) > 0.04)
    shapes = [
        lambda tip, name: cc.Limbs.capsules([0, 0, 0], tip, 0.06, name=name, hit_group=2),
        lambda tip, name: cc.Limbs.cylinders([0, 0, 0], tip, 0.07, name=name, hit_group=3),
        lambda tip, name: cc.Limbs.tapered_cylinders([0, 0, 0], tip, 0.08, 0.05, name=name, mask=3),
        lambda tip, name: cc.Limbs.boxes(0.5 * tip, [0.1, 0.2, 0.3, 0.9], [0.06, 0.05, 0.1], name=name),
        lambda tip, name: cc.Limbs.ellipsoids([0, 0, 0], tip, 0.07, name=name, hit_group=4, mask=4),
        lambda tip, name: cc.Limbs.tubes([0, 0, 0], tip, 0.07, 0.04, name=name),
        lambda tip, name: cc.Limbs.spheres(tip, 0.08, name=name, hit_group=1),
    ]
    parts = [shapes[i % 7](clip().tips[bone], clip().bone_names[bone]) for i, bone in enumerate(bones)]
    rest = np.tile(quaternions.IDENTITY, (len(clip().bone_names), 1))
    groups = {"head": 1, "torso": 2, "arm": 3, "leg": 4}
    return cc.Rig(clip().bone_names, clip().parents, clip().offsets, rest, cc.Limbs.concat(parts), bones, groups)


def bare_limbs() -> cc.Limbs:
    """Return a few limbs of nobody and of a label: what else moves on a field."""
    return cc.Limbs.concat([
        cc.Limbs.boxes([[0, 0.5, 4], [3, 0.5, -4]], [0.0, 0.3, 0.0, 0.9], [0.5, 0.5, 0.3], name="crate", character=7),
        cc.Limbs.capsules([-4, 0, 0], [-4, 2, 0], 0.2, name="post", mask=2, hit_group=9),
        cc.Limbs.tubes([[5, 0, 5], [-5, 0, 5]], [[5, 0, 6], [-5, 0, 6]], 0.4, 0.3, name="pipe"),
        cc.Limbs.spheres([0, 3, 0], 0.4, name="ball", character=3),
    ])  # fmt: skip


@dataclass
class Person:
    """One character: how it moves, and where it is."""

    rig: cc.Rig
    role: str
    place: np.ndarray
    heading: float
    phase: float
    first_tick: int
    swing: np.ndarray


@dataclass
class Match:
    """The match: one step a tick. All that is random comes from `rng`."""

    rng: np.random.Generator
    people: int
    field_size: float = 12.0
    living: dict[int, Person] = field(default_factory=dict)
    hidden: set[int] = field(default_factory=set)
    events: Counter[str] = field(default_factory=Counter)
    tick: int = 0

    def __post_init__(self) -> None:
        self.world = cc.HitWorld(bare_limbs())
        self.rigs = (actor_rig(), actor_rig(), cc.Rig.humanoid(1.75, up="y"), all_shapes_rig())
        for k in range(self.people):
            self._join(0, self.rigs[k % len(self.rigs)])

    @property
    def time(self) -> float:
        """Return the time of the present tick in seconds."""
        return self.tick / TICKS_A_SECOND

    def step(self) -> None:
        """Move everybody by a tick; some come, go, hide, are shown, or leap."""
        self.tick += 1
        if self.rng.random() < 0.05 and self.living:
            self._leave()
        if self.rng.random() < 0.05 or len(self.living) < 0.9 * self.people:
            self._join(int(self.rng.integers(0, 5)), self.rigs[self.rng.integers(len(self.rigs))])
        if self.rng.random() < 0.08 and self.living:
            self._set_layers()
        self._move_bare()
        self._move_people()

    def _join(self, ticks_until_posed: int, rig: cc.Rig) -> None:
        k = int(self.rng.integers(len(ROLES)))
        place = self.rng.uniform(-self.field_size, self.field_size, 2)
        swing = self.rng.normal(size=(len(rig.bone_names), 4))
        first = self.tick + ticks_until_posed
        heading, phase = self.rng.uniform(0, 2 * np.pi), self.rng.uniform(0, clip().duration)
        person = Person(rig, ROLES[k], place, heading, phase, first, swing)
        self.living[int(self.world.spawn(rig)[0])] = person
        self.events["joins"] += 1

    def _leave(self) -> None:
        gone = int(self.rng.choice(list(self.living)))
        self.world.despawn(gone)
        del self.living[gone]
        self.hidden.discard(gone)
        self.events["leaves"] += 1

    def _set_layers(self) -> None:
        some = self.hidden if self.hidden and self.rng.random() < 0.5 else self.living
        who, mask = int(self.rng.choice(sorted(some))), int(self.rng.choice([0, 0, 1, 2, 6, 0xFFFFFFFF]))
        self.world.set_layers(who, mask)
        self.events["hides" if mask == 0 else "shows" if who in self.hidden else "layers"] += 1
        (self.hidden.add if mask == 0 else self.hidden.discard)(who)

    def _move_bare(self) -> None:
        limbs = self.world.limbs[: len(bare_limbs())]
        if self.rng.random() < 0.1:  # a pipe turned over by its ends has no axis half-way
            self.world.set_endpoints(limbs.p2[3], limbs.p1[3], [3])
            self.events["turns over"] += 1
        rows = self.rng.permutation(len(limbs))[:3]
        rows = rows[rows != 3]
        step = self.rng.normal(scale=0.02, size=(len(rows), 3))
        self.world.set_endpoints(limbs.p1[rows] + step, limbs.p2[rows] + step, rows)

    def _move_people(self) -> None:
        """Give new poses to those that move in this tick, one call a rig and one more for those that leap."""
        calls: dict[tuple[int, bool], list[int]] = {}
        for who, person in self.living.items():
            asleep = person.role == "sleeps" and self.tick % 20 and person.first_tick != self.tick
            if self.tick < person.first_tick or asleep:
                continue
            calls.setdefault((id(person.rig), self._moves_at_once(person)), []).append(who)
        for (_, at_once), ids in calls.items():
            self.world.set_poses(ids, *self._poses(ids), teleport=at_once)

    def _moves_at_once(self, person: Person) -> bool:
        """Whether the person is put elsewhere by a teleport; others walk, or leap without saying so."""
        person.place = person.place + 1.4 / TICKS_A_SECOND * np.array([np.sin(person.heading), np.cos(person.heading)])
        person.heading += {"spins": TURN, "turns over": np.pi}.get(person.role, 0.02)
        if person.role != "leaps" or self.rng.random() > 0.1:
            return False
        person.place = self.rng.uniform(-self.field_size, self.field_size, 2)
        flagged = bool(self.rng.random() < 0.5)
        self.events["teleports" if flagged else "leaps"] += 1
        return flagged

    def _poses(self, ids: list[int]) -> tuple[np.ndarray, np.ndarray]:
        people = [self.living[i] for i in ids]
        rig, half = people[0].rig, 0.5 * np.array([person.heading for person in people])
        turn = np.stack([0.0 * half, np.sin(half), 0.0 * half, np.cos(half)], axis=1)
        times = np.array([person.phase for person in people]) + self.time
        root = np.array([[x, 0.0, z] for x, z in (person.place for person in people)])
        if rig is not actor_rig():
            swing = np.sin(4.0 * times)[:, None, None] * np.array([person.swing for person in people])
            return rig.forward(root, turn, rig.rest_orientations + 0.3 * swing)
        at, roots, joints = clip().at(times, rig, loop=True)
        at = quaternions.rotated(turn, at * [0.3, 1.0, 0.1])
        return rig.forward(root + at, quaternions.product(turn, roots), joints)
