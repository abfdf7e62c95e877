"""A random life of characters and statics in a world, with a plain record of the characters and the statics' places."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from support.check_cylinders import same_bits

import cylcollide as cc

RIG_SIZES = (1.75, 1.2)


def all_shapes_rig(has_boxes: bool = True) -> cc.Rig:
    """A rig of four bones with limbs of every shape; two limbs are boxes, which have no rational contacts."""
    z, up = np.zeros(3), np.array([0.0, 0.0, 0.3])
    parts = [
        cc.Limbs.boxes([z, up], [[0.1, 0.2, 0.3, 0.9], [0, 0, 0, 2.0]], [0.2, 0.1, 0.3], name=["chest", "hip"]),
        cc.Limbs.cylinders(z, up, 0.1, name="arm", hit_group=3),
        cc.Limbs.tubes(z, up, 0.1, 0.05, name="sleeve", mask=2),
        cc.Limbs.tapered_cylinders(z, up, 0.1, 0.05, name="leg"),
        cc.Limbs.ellipsoids(z, up, 0.1, name="belly"),
        cc.Limbs.capsules([z, up], [up, up], 0.1, name=["thumb", "fist"]),
        cc.Limbs.spheres(up, 0.15, name="head", hit_group=1),
    ]
    limbs, bone = cc.Limbs.concat(parts[0 if has_boxes else 1 :]), [1, 0, 2, 2, 3, 0, 1, 3, 3][0 if has_boxes else 2 :]
    rest = [[0, 0, 0], [0, 0, 0.4], [0.3, 0, 0.4], [0, 0, 0.8]]
    return cc.Rig(["root", "b", "c", "d"], [-1, 0, 1, 1], rest, [[0, 0, 0, 1]] * 4, limbs, bone, {"head": 1, "arm": 3})


@dataclass
class Member:
    """The record of one living character."""

    rig: cc.Rig
    pose: tuple[np.ndarray, np.ndarray] | None = None
    mask: int | None = None


def level(rng: np.random.Generator, size: float, has_boxes: bool = True) -> cc.Limbs:
    """One to four solids of random shapes, some in random layers and hit groups."""
    at, up, half = rng.uniform(-size, size, (8, 3)), rng.normal(size=3), rng.uniform(0.1, 1.0, (2, 3))
    labels = {"mask": int(rng.choice([1, 6, 0xFFFFFFFF])), "hit_group": int(rng.integers(0, 9))}
    parts = [
        cc.Limbs.boxes(at[:2], rng.normal(size=(2, 4)), half, name=["wall", "door"], **labels),
        cc.Limbs.cylinders(at[2], at[2] + up, 0.3, name="pillar"),
        cc.Limbs.tubes(at[3], at[3] + up, 0.5, 0.3, **labels),
        cc.Limbs.tapered_cylinders(at[4], at[4] + up, 0.5, 0.3),
        cc.Limbs.ellipsoids(at[5], at[5] + up, 0.3, **labels),
        cc.Limbs.capsules(at[6], at[6] + up, 0.2),
        cc.Limbs.spheres(at[7], 0.5, name="ball"),
    ]
    rows = rng.permutation(np.arange(0 if has_boxes else 2, 8))
    return cc.Limbs.concat(parts)[rows[: rng.integers(1, 5)]]


@dataclass
class Standing:
    """The record of one static: its expected limbs in its frame, and its place."""

    limbs: cc.Limbs
    position: np.ndarray
    orientation: np.ndarray

    def placed(self) -> cc.Limbs:
        """The static's limbs in the world, placed as those of a rig."""
        rig = cc.Rig(["static"], [-1], [[0, 0, 0]], [[0, 0, 0, 1]], self.limbs, 0)
        return rig.place(self.position[None], self.orientation[None])


@dataclass
class Life:
    """A world and its record."""

    rng: np.random.Generator
    bare: cc.Limbs
    size: float = 4.0
    living: dict[int, Member] = field(default_factory=dict)
    steps: dict[str, int] = field(default_factory=dict)
    kept: list[tuple[cc.Snapshot, tuple[Any, ...]]] = field(default_factory=list)
    standing: dict[int, Standing] = field(default_factory=dict)
    handles: int = 0
    has_boxes: bool = True  # among statics
    names: tuple[str, ...] = ()  # of steps; STEPS if none

    def __post_init__(self) -> None:
        self.world = cc.HitWorld(self.bare)
        self.rigs = [*(cc.Rig.humanoid(height) for height in RIG_SIZES), all_shapes_rig()]
        self.last_id = int(self.bare.character.max(initial=-1))
        self.names = self.names or self.STEPS

    def pose(self, rig: cc.Rig, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Random poses of k characters."""
        root, turn = self.rng.uniform(-self.size, self.size, (k, 3)), self.rng.normal(size=(k, 4))
        joints = rig.rest_orientations + 0.2 * self.rng.normal(size=(k, len(rig.bone_names), 4))
        return rig.forward(root, turn, joints)

    def rays(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Segments across the field, each aimed near a limb."""
        start = self.rng.uniform(-self.size, self.size, (n, 3)) * 1.5
        p1 = self.world.snapshot()._table.p1  # the state would keep `limbs`, and then is not changed in place
        if len(p1) == 0:
            return start, -start
        aim = p1[self.rng.integers(len(p1), size=n)] + self.rng.normal(scale=0.1, size=(n, 3))
        return start, start + 2.0 * (aim - start)

    def same_rig(self, ids: list[int]) -> list[int]:
        """The ids whose rigs have as many bones as the first one's."""
        bones = len(self.living[ids[0]].rig.bone_names)
        return [i for i in ids if len(self.living[i].rig.bone_names) == bones]

    def some(self, most: int) -> list[int]:
        """At most `most` living characters, in random order."""
        ids = list(self.living)
        self.rng.shuffle(ids)
        return [int(i) for i in ids[: self.rng.integers(1, most + 1)]]

    # Steps: each changes the world and the record alike --------------------------------------------------------------

    def spawn(self) -> None:
        """Spawn up to three characters of one rig."""
        rig, k = self.rigs[self.rng.integers(len(self.rigs))], int(self.rng.integers(0, 4))
        ids = self.world.spawn(rig, k)
        assert ids.dtype == np.int32
        assert ids.tolist() == list(range(self.last_id + 1, self.last_id + 1 + k))
        self.last_id += k
        self.living.update({int(i): Member(rig) for i in ids})

    def move_some(self) -> None:
        """Pose a few characters, some for the first time."""
        if self.living:
            self._move(self.same_rig(self.some(3)))

    def move_all(self) -> None:
        """Pose all characters with a pose, or all living ones."""
        posed = [i for i, member in self.living.items() if member.pose is not None]
        for bones in {len(member.rig.bone_names) for member in self.living.values()}:
            ids = [i for i in (posed if self.rng.random() < 0.7 else self.living) if self._bones(i) == bones]
            if ids:
                self._move(ids)

    def _bones(self, i: int) -> int:
        return len(self.living[i].rig.bone_names)

    def _move(self, ids: list[int]) -> None:
        poses = [self.pose(self.living[i].rig, 1) for i in ids]
        positions, orientations = (np.concatenate(column) for column in zip(*poses, strict=True))
        self.world.set_poses(ids if self.rng.random() < 0.5 else np.array(ids, np.int32), positions, orientations)
        for i, at, turn in zip(ids, positions, orientations, strict=True):
            self.living[i].pose = at, turn

    def move_bare(self) -> None:
        """Move some or all bare limbs."""
        if len(self.bare):
            rows = None if self.rng.random() < 0.5 else self.rng.permutation(len(self.bare))[:2]
            step = self.rng.normal(size=(1, 3)) * 0.1
            old = self.bare if rows is None else self.bare[rows]
            p1, p2 = old.p1 + step, old.p2 + step
            self.world.set_endpoints(p1, p2, limbs=rows)
            self.bare = self.bare.moved(p1, p2, limbs=rows)

    def set_layers(self) -> None:
        """Hide or show some characters, or put them into other layers."""
        if self.living:
            ids = self.some(3)
            mask = [int(self.rng.choice([0, 1, 6, 0xFFFFFFFF])) for _ in ids]
            self.world.set_layers(ids, mask)
            for i, one in zip(ids, mask, strict=True):
                self.living[i].mask = one

    def despawn(self) -> None:
        """Despawn some characters."""
        if self.living:
            for i in (ids := self.some(2)):
                del self.living[i]
            self.world.despawn(ids)

    def add_static(self) -> None:
        """Add a static, half of the time with layers and a hit group other than its limbs'."""
        limbs, labels = level(self.rng, self.size, self.has_boxes), {}
        if self.rng.random() < 0.5:
            labels = {"mask": int(self.rng.choice([0, 2, 0xFFFFFFFF])), "hit_group": int(self.rng.integers(0, 9))}
        handle = self.world.add_static(limbs, **labels)
        assert handle == self.handles
        self.handles += 1
        if labels:
            mask, group = (np.full(len(limbs), labels[name]) for name in ("mask", "hit_group"))
            table = limbs._table._replace(mask=mask.astype(np.uint32))
            limbs = cc.Limbs(table, group.astype(np.int32), limbs.names)
        self.standing[handle] = Standing(limbs, np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]))

    def move_static(self) -> None:
        """Move a static, like a door or a lift."""
        if self.standing:
            one = self.standing[handle := int(self.rng.choice(list(self.standing)))]
            one.position, one.orientation = self.rng.uniform(-1, 1, 3), self.rng.normal(size=4)
            self.world.move_static(handle, one.position, one.orientation)

    def remove_static(self) -> None:
        """Remove a static."""
        if self.standing:
            del self.standing[handle := int(self.rng.choice(list(self.standing)))]
            self.world.remove_static(handle)

    def teleport(self) -> list[int]:
        """Teleport up to two characters; return their ids."""
        ids = list(self.living)[:2]
        for i in ids:
            at, turn = self.pose(self.living[i].rig, 1)
            self.world.set_poses(i, at, turn, teleport=True)
            self.living[i].pose = at[0], turn[0]
        self.steps["teleport"] = self.steps.get("teleport", 0) + 1
        return ids

    def fail(self) -> None:
        """Make a call that must be refused and change nothing."""
        rig = self.rigs[0]
        at, turn = self.pose(rig, 1)
        broken = np.full_like(turn, 0.0) if self.rng.random() < 0.5 else turn * np.nan
        posed = [i for i, member in self.living.items() if member.rig is rig]
        calls = [
            lambda: self.world.despawn(self.last_id + 1),
            lambda: self.world.set_poses(self.last_id + 5, at, turn),
            lambda: self.world.set_layers([0, 0], 1),
            lambda: self.world.spawn("rig"),
            lambda: self.world.set_poses(posed[:1], at, broken) if posed else self.world.despawn(-1),
            lambda: self.world.set_poses(posed[:2], at[:, :3], turn[:, :3]) if posed else self.world.despawn(-1),
            lambda: self.world.set_poses(posed, at * np.inf, turn) if posed else self.world.despawn(-1),
        ]
        of_statics = [
            lambda: self.world.add_static(cc.Limbs.spheres([0, 0, 0], 1.0, character=self.last_id + 1)),
            lambda: self.world.add_static(level(self.rng, 1.0), mask=-1),
            lambda: self.world.move_static(self.handles, np.zeros(3), np.ones(4)),
            lambda: self.world.move_static(min(self.standing, default=-1), np.zeros(3), np.zeros(4)),
            lambda: self.world.move_static(min(self.standing, default=-1), np.full(3, 2.0**501), np.ones(4)),
            lambda: self.world.remove_static(-1),
        ]
        calls += of_statics if "add_static" in self.names else []
        try:
            calls[self.rng.integers(len(calls))]()
        except ValueError:
            return
        raise AssertionError("a bad call was taken")

    STEPS = ("spawn", "move_some", "move_some", "move_some", "move_all", "move_bare", "set_layers", "despawn", "fail")
    WITH_STATICS = (*STEPS, "add_static", "move_static", "remove_static")

    def step(self) -> str:
        """Take one random step; return its name."""
        name = self.names[self.rng.integers(len(self.names))]
        getattr(self, name)()
        self.steps[name] = self.steps.get(name, 0) + 1
        return name

    # Expected rows ---------------------------------------------------------------------------------------------------

    def expected(self) -> cc.Limbs:
        """The limbs that the state must have, by row."""
        parts = [self.bare]
        for i, member in sorted(self.living.items()):
            if member.pose is not None:
                parts.append(member.rig.place(*member.pose, character=i))
        limbs = cc.Limbs.concat([*parts, *(one.placed() for _, one in sorted(self.standing.items()))])
        mask = limbs.mask.copy()
        for i, member in self.living.items():
            if member.mask is not None:
                mask[limbs.character == i] = member.mask
        return cc.Limbs(limbs._table._replace(mask=mask), limbs.hit_group, limbs.names)

    def labels(self) -> list[tuple[str, int, int, int]]:
        """Name, bone, limb of the rig and character of every row."""
        rows = [(name, -1, -1, int(c)) for name, c in zip(self.bare.names, self.bare.character, strict=True)]
        for i, member in sorted(self.living.items()):
            if member.pose is not None:
                rig = member.rig
                named = zip(rig.limb_names, rig.limb_bone.tolist(), strict=True)
                rows += [(name, bone, limb, i) for limb, (name, bone) in enumerate(named)]
        return rows + [(name, -1, -1, -1) for _, one in sorted(self.standing.items()) for name in one.limbs.names]

    def static_rows(self) -> list[int]:
        """The static handle of every row, or -1."""
        handles = [handle for handle, one in sorted(self.standing.items()) for _ in one.limbs.names]
        return [-1] * (len(self.labels()) - len(handles)) + handles


def crowd_of(
    count: int, bare: cc.Limbs | None = None, field: float = 20.0
) -> tuple[cc.HitWorld, cc.Rig, np.ndarray, Life]:
    """A world of bare limbs and `count` posed characters, their rig and ids, and the life that can pose them."""
    life = Life(np.random.default_rng(count), bare or cc.HitWorld().limbs, field)
    rig = life.rigs[0]
    ids = life.world.spawn(rig, count)
    life.world.set_poses(ids, *life.pose(rig, count))
    return life.world, rig, ids, life


def answers(asked: cc.HitWorld | cc.Snapshot, rays: tuple[np.ndarray, np.ndarray], options: dict) -> tuple:
    """The results of casts, occlusion, chords and point tests of a state."""
    chords, points = asked.chords_segments(*rays, **options), asked.contains_points(rays[1])
    return (
        asked.cast_segments(*rays, **options), asked.occluded_segments(*rays, **options),
        (chords.offsets, chords.limb, chords.entry_fraction, chords.exit_fraction), (points.limb, points.count),
    )  # fmt: skip


def check_equal(got: tuple, want: tuple) -> int:
    """Assert that two results of `answers` have the same bits; return the number of hits."""
    assert not same_bits(got[0], want[0])
    for mine, other in zip((got[1], *got[2], *got[3]), (want[1], *want[2], *want[3]), strict=True):
        assert np.array_equal(mine, other)
    return int(got[0].hit.sum())
