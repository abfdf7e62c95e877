"""The workloads: a cylinder or walking humanoids of 17 limbs, rays and points, all from a seed.

Starts, ends and their differences are float32 numbers: multiples of `GRID` below 1024 times a power of two. So no
engine has to round its input, and a wrong verdict is the engine's own. No segment starts inside a limb, where
conventions differ.
"""

from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from cylcollide._types import Float64Array, Int32Array
from cylcollide.limbs.limbs import Limbs
from cylcollide.world import HitWorld


@dataclass(frozen=True)
class WalkerBone:
    """One limb of the skeleton. x points forward, y to the left, z up; lengths in metres."""

    name: str
    parent: str  # "" for the root
    from_end: bool  # whether it is attached to its parent's end or start
    offset: tuple[float, float, float]  # of the bone's start from that point
    heading: tuple[float, float, float]
    length: float
    radius: float
    swing: float  # amplitude of its swing forward and back in a step, as a fraction of its length


TRUNK = (
    WalkerBone("pelvis", "", False, (0.0, 0.0, 0.92), (0.0, 0.0, 1.0), 0.14, 0.15, 0.03),
    WalkerBone("abdomen", "pelvis", True, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.16, 0.14, 0.04),
    WalkerBone("chest", "abdomen", True, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.26, 0.17, 0.05),
    WalkerBone("neck", "chest", True, (0.0, 0.0, 0.0), (0.1, 0.0, 1.0), 0.10, 0.055, 0.05),
    WalkerBone("head", "neck", True, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.22, 0.10, 0.05),
)
LEFT_SIDE = (
    WalkerBone("upper arm", "chest", True, (0.0, 0.21, -0.04), (0.0, 0.25, -1.0), 0.29, 0.05, 0.5),
    WalkerBone("forearm", "upper arm", True, (0.0, 0.0, 0.0), (0.35, 0.0, -1.0), 0.26, 0.04, 0.6),
    WalkerBone("hand", "forearm", True, (0.0, 0.0, 0.0), (0.3, 0.0, -1.0), 0.17, 0.035, 0.6),
    WalkerBone("thigh", "pelvis", False, (0.0, 0.10, 0.03), (0.0, 0.0, -1.0), 0.43, 0.08, -0.45),
    WalkerBone("shin", "thigh", True, (0.0, 0.0, 0.0), (-0.1, 0.0, -1.0), 0.42, 0.055, -0.35),
    WalkerBone("foot", "shin", True, (0.0, 0.0, 0.0), (1.0, 0.0, -0.1), 0.24, 0.045, 0.1),
)


def _mirrored(bone: WalkerBone, side: str) -> WalkerBone:
    sign = 1.0 if side == "left" else -1.0
    parent = f"{side} {bone.parent}" if bone.parent not in {"chest", "pelvis"} else bone.parent
    (x, y, z), (hx, hy, hz) = bone.offset, bone.heading
    # The sides swing in opposite phase.
    offset, heading = (x, sign * y, z), (hx, sign * hy, hz)
    return replace(
        bone, name=f"{side} {bone.name}", parent=parent, offset=offset, heading=heading, swing=sign * bone.swing
    )


SKELETON = (*TRUNK, *(_mirrored(bone, side) for side in ("left", "right") for bone in LEFT_SIDE))
LIMBS = len(SKELETON)
SPEED = 1.4  # metres a second, a walk
STEPS = 1.0  # double steps a second
SEED = 1


class Crowd:
    """Humanoids that walk across a field, each with its own size, posture and phase; times in seconds.

    All coordinates and radii are float32 numbers, so that no engine rounds them.
    """

    def __init__(self, characters: int, field: float) -> None:
        rng = np.random.default_rng(SEED)
        self._root = rng.uniform(0.0, field, (characters, 2))
        self._yaw, self._phase = rng.uniform(0.0, 2 * np.pi, (2, characters))
        self._size = rng.uniform(0.9, 1.1, characters)
        self._posture = 0.1 * rng.standard_normal((characters, LIMBS, 3))
        radius = np.array([bone.radius for bone in SKELETON])
        self.radius: Float64Array = _float32((self._size[:, None] * radius).reshape(-1))

    def ends(self, time: float) -> tuple[Float64Array, Float64Array]:
        """Both ends of every limb, (17 characters, 3) each, character by character."""
        p1, p2 = self._standing(time)
        return self._placed(p1, time), self._placed(p2, time)

    def limbs(self, time: float = 0.0) -> Limbs:
        """All limbs as cylinders, `character` numbered from 0."""
        p1, p2 = self.ends(time)
        return Limbs.cylinders(p1, p2, self.radius, character=np.arange(len(p1)) // LIMBS)

    def _standing(self, time: float) -> tuple[Float64Array, Float64Array]:
        """The skeleton of every character at the origin, looking along x."""
        step = np.sin(2 * np.pi * STEPS * time + self._phase)
        p1, p2 = np.zeros((2, len(step), LIMBS, 3))
        row = {bone.name: k for k, bone in enumerate(SKELETON)}
        for k, bone in enumerate(SKELETON):
            joint = (p2 if bone.from_end else p1)[:, row[bone.parent]] if bone.parent else 0.0
            heading = np.array(bone.heading) + self._posture[:, k]
            heading[:, 0] += bone.swing * step
            p1[:, k] = joint + np.array(bone.offset)
            p2[:, k] = p1[:, k] + bone.length * heading / np.linalg.norm(heading, axis=1)[:, None]
        return p1, p2

    def _placed(self, points: Float64Array, time: float) -> Float64Array:
        cos, sin = np.cos(self._yaw)[:, None], np.sin(self._yaw)[:, None]
        x, y, z = np.moveaxis(self._size[:, None, None] * points, 2, 0)
        ahead = SPEED * time
        placed = np.stack([cos * (x + ahead) - sin * y, sin * (x + ahead) + cos * y, z], axis=2)
        placed[..., :2] += self._root[:, None]
        return _float32(placed.reshape(-1, 3))


def _float32(values: Float64Array) -> Float64Array:
    return values.astype(np.float32).astype(np.float64)


GRID = 2.0**-14  # 0.06 mm; coordinates below 1024 m have 24 bits
CAMERA_HEIGHT, CAMERA_DISTANCE = 6.0, 5.0  # metres, the latter from the corner of the field along both sides
IMAGE_ASPECT = 1.6  # columns over rows of a camera's image
CROWD_RANGE, CLOSE_RANGE = 200.0, 10.0  # metres, lengths of the segments
AREA_PER_CHARACTER = 10.0  # square metres on the field
FRAME = 1 / 60  # seconds


class Segments(NamedTuple):
    """Closed segments; (n, 3)."""

    starts: Float64Array
    ends: Float64Array

    def first(self, n: int) -> "Segments":
        """The first n segments."""
        return Segments(self.starts[:n], self.ends[:n])


def cast_limbs(world: HitWorld, segments: Segments, threads: int = 1) -> Int32Array:
    """The closest limb of each segment; no other field is computed."""
    return world.cast_segments(*segments, threads=threads).limb


@dataclass(frozen=True)
class Workload:
    """Limbs, and the distribution of segments cast at them."""

    name: str
    characters: int  # 0: a single cylinder
    field: float = 0.0  # metres, side of the square the characters walk on
    most_limbs: int | None = None
    eye_height: float = 1.5  # metres; start height of rays across the field
    steepest: float = 0.12  # rad, up or down, of such rays
    camera: bool = False  # whether rays are instead a camera's image of the field, row by row

    def limbs(self, frame: int = 0) -> Limbs:
        """The limbs in a frame of the animation."""
        if not self.characters:
            return Limbs.cylinders([[1.0, 2.0, 1.25]], [[1.125, 1.75, 1.625]], 0.078125)
        limbs = Crowd(self.characters, self.field).limbs(frame * FRAME)
        return limbs if self.most_limbs is None else limbs[: self.most_limbs]

    def segments(self, world: HitWorld, n: int) -> Segments:
        """Draw n random segments that do not start inside a limb of the world."""
        rng = np.random.default_rng([SEED, n])
        draw = self._image if self.camera else self._around if self.characters <= 1 else self._across
        starts, ends = draw(world.limbs, rng, n)
        while (inside := world.contains_points(starts).limb >= 0).any():
            starts[inside], ends[inside] = draw(world.limbs, rng, int(inside.sum()))
        return Segments(starts, ends)

    def _around(self, limbs: Limbs, rng: Generator, n: int) -> Segments:
        """Segments from 2 to 6 m away through a random point of the box around the limbs."""
        low = np.minimum(limbs.p1, limbs.p2).min(axis=0) - limbs.radius.max()
        high = np.maximum(limbs.p1, limbs.p2).max(axis=0) + limbs.radius.max()
        starts = 0.5 * (low + high) + rng.uniform(2.0, 6.0, (n, 1)) * _unit(rng.standard_normal((n, 3)))
        heading = _unit(rng.uniform(low, high, (n, 3)) - starts)
        return Segments(_on_grid(starts), _on_grid(starts + CLOSE_RANGE * heading))

    def _across(self, _: Limbs, rng: Generator, n: int) -> Segments:
        """Nearly level segments in any direction, from anywhere on the field at eye height."""
        starts = np.concatenate([rng.uniform(0.0, self.field, (n, 2)), np.full((n, 1), self.eye_height)], axis=1)
        azimuth, elevation = rng.uniform(0.0, 2 * np.pi, n), rng.uniform(-self.steepest, self.steepest, n)
        level = np.cos(elevation)
        heading = np.stack([level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)], axis=1)
        return Segments(_on_grid(starts), _on_grid(starts + CROWD_RANGE * heading))

    def _image(self, _: Limbs, __: Generator, n: int) -> Segments:
        """Segments from one camera to the points of a grid on the field, row by row: neighbours are almost parallel."""
        columns = ceil(sqrt(IMAGE_ASPECT * n))
        row, column = np.divmod(np.arange(n), columns)
        targets = np.stack([self.field * column / columns, self.field * row * columns / n, np.full(n, 0.5)], axis=1)
        starts = np.broadcast_to([-CAMERA_DISTANCE, -CAMERA_DISTANCE, CAMERA_HEIGHT], targets.shape)
        return Segments(_on_grid(starts), _on_grid(targets))


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("W1", 0),
        Workload("W2", 1, 2.0),
        Workload("W3", 1000, 100.0),
        Workload("W3H", 1000, 100.0, eye_height=1.2, steepest=0.01),
        Workload("W4", 5883, 300.0, most_limbs=100_000),
        Workload("C3", 1000, 100.0, camera=True),
    )
}


def crowd_of(limbs: int) -> Workload:
    """A workload with this number of limbs at the density of W3."""
    characters = max(-(-limbs // LIMBS), 2)
    side = float(np.sqrt(AREA_PER_CHARACTER * characters))
    return Workload(f"{limbs} limbs", characters, side, most_limbs=limbs)


def points_near(limbs: Limbs, n: int) -> Float64Array:
    """Draw n random points (n, 3), half of them within 0.2 m of a limb's axis, half in the box around all limbs."""
    rng = np.random.default_rng([SEED, n, 7])
    chosen = rng.integers(0, len(limbs), n)
    near = limbs.p1[chosen] + rng.random((n, 1)) * (limbs.p2 - limbs.p1)[chosen]
    near += rng.uniform(0.0, 0.2, (n, 1)) * _unit(rng.standard_normal((n, 3)))
    low, high = np.minimum(limbs.p1, limbs.p2).min(axis=0), np.maximum(limbs.p1, limbs.p2).max(axis=0)
    return np.where(rng.random((n, 1)) < 0.5, near, rng.uniform(low, high, (n, 3)))


def _on_grid(points: Float64Array) -> Float64Array:
    rounded: Float64Array = np.round(points / GRID) * GRID
    return rounded


def _unit(vectors: Float64Array) -> Float64Array:
    unit: Float64Array = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    return unit
