"""Draws docs/figures/disagreement.png, the picture of the README: ``python docs/figures/disagreement.py``.

One seeded cross-check with PyBullet. Left the humanoid in one pose, ray-traced by this library, with some of the bullets
fired at it; right the share of all bullets that PyBullet reports as hits, by how far they pass outside or cut inside.
"""

from pathlib import Path
from typing import ClassVar

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

import cylcollide as cc
from cylcollide._types import BoolArray, Float64Array, Int32Array, Int64Array
from cylcollide.crosscheck.result import KINDS, CrosscheckResult
from cylcollide.crosscheck.sweep import run_crosscheck
from cylcollide.crosscheck.truth import clearances
from cylcollide.engines import EngineHits
from cylcollide.engines.bullet import BulletEngine

BULLETS, SEED, MOTION, POSE = 60_000, 0, "spinkick", 7
GREEN, RED, BLUE, INK, GREY = "#1a8f4c", "#d62f2f", "#2f6fd0", "#1f2933", "#7b8794"
TINTS = np.array([[0.70, 0.76, 0.86], [0.78, 0.83, 0.91], [0.74, 0.80, 0.89]])  # of neighbouring limbs

# Camera and light: metres, y is up.
AZIMUTH, ELEVATION = np.radians(202.0), np.radians(11.0)
TOWARDS = np.array(
    [np.cos(AZIMUTH) * np.cos(ELEVATION), np.sin(ELEVATION), np.sin(AZIMUTH) * np.cos(ELEVATION)]
)
RIGHT = np.array([np.sin(AZIMUTH), 0.0, -np.cos(AZIMUTH)])
UP = np.cross(TOWARDS, RIGHT)
VIEW = (-0.92, 0.86, -0.86, 0.82)  # left, right, bottom, top about the middle of the body
PIXELS_PER_METRE, SKY_DIRECTIONS, OFF_SURFACE = 820, 96, 1e-4


class Recorder(BulletEngine):
    """PyBullet, with every question and answer written down."""

    seen: ClassVar[list[tuple[Float64Array, Float64Array, EngineHits]]] = []

    def cast_segments(self, starts: Float64Array, ends: Float64Array) -> EngineHits:
        """Ask PyBullet and remember."""
        hits = super().cast_segments(starts, ends)
        self.seen.append((starts, ends, hits))
        return hits


def depths(result: CrosscheckResult) -> tuple[Float64Array, BoolArray]:
    """Return of every bullet how deep it cuts a limb, negative if it passes outside, in mm, and whether PyBullet hits."""
    start, end = (np.concatenate([part[side] for part in Recorder.seen]) for side in (0, 1))
    engine = np.concatenate([part[2].limb for part in Recorder.seen])
    pose = np.repeat(np.arange(len(Recorder.seen)), [len(part[0]) for part in Recorder.seen])
    true: Int32Array = engine.copy()
    true[result.disagreements.ray] = result.disagreements.limb_true

    def gap(rows: Int64Array, limb: Int32Array) -> Float64Array:
        ends_of = (result.poses.p1[pose[rows], limb], result.poses.p2[pose[rows], limb])
        return clearances(start[rows], end[rows], *ends_of, result.poses.radius[limb])

    depth = np.empty(len(start))
    hit, miss = np.flatnonzero(true >= 0), np.flatnonzero(true < 0)
    depth[hit] = -gap(hit, true[hit])
    limbs = range(len(result.poses.radius))
    depth[miss] = -np.min([gap(miss, np.full(len(miss), limb, np.int32)) for limb in limbs], axis=0)
    return 1e3 * depth, engine >= 0


def render(world: cc.HitWorld, middle: Float64Array, floor: float) -> Float64Array:
    """Ray-trace limbs and the floor's soft shadow under an open sky, (height, width, 3)."""
    left, right, bottom, top = VIEW
    x = np.arange(left, right, 1 / PIXELS_PER_METRE)
    y = np.arange(top, bottom, -1 / PIXELS_PER_METRE)
    grid = middle + x[None, :, None] * RIGHT + y[:, None, None] * UP
    eyes = grid.reshape(-1, 3) + 5 * TOWARDS
    hits = world.cast_rays(eyes, np.broadcast_to(-TOWARDS, eyes.shape))
    on_floor = eyes - ((eyes[:, 1] - floor) / TOWARDS[1])[:, None] * TOWARDS
    point = np.where(hits.hit[:, None], hits.position, on_floor)
    normal = np.where(hits.hit[:, None], hits.normal, [0.0, 1.0, 0.0])
    # Directions even on the sphere (Fibonacci spiral); brighter from above and from the upper left.
    k = np.arange(SKY_DIRECTIONS) + 0.5
    height, turn = 1 - 2 * k / SKY_DIRECTIONS, np.pi * (1 + np.sqrt(5)) * k
    sky = np.stack([np.sqrt(1 - height**2) * np.cos(turn), height, np.sqrt(1 - height**2) * np.sin(turn)], axis=1)
    strength = 0.35 + 0.65 * np.clip(sky @ (UP - 0.6 * RIGHT + 0.8 * TOWARDS), 0, None) ** 2
    light, open_light = np.zeros(len(point)), np.zeros(len(point))
    for direction, bright in zip(sky, strength, strict=True):
        facing = np.flatnonzero(normal @ direction > 0)
        falls = bright * (normal[facing] @ direction)
        blocked = world.occluded_rays(
            point[facing] + OFF_SURFACE * normal[facing], np.broadcast_to(direction, (len(facing), 3)), max_distance=1.5
        )
        light[facing] += falls * ~blocked
        open_light[facing] += falls
    tint = np.where(hits.hit[:, None], TINTS[hits.limb % len(TINTS)], 1.0)
    shade = np.where(hits.hit, 1.25 * light / open_light[hits.hit].max(), 0.45 + 0.55 * light / open_light)
    return np.clip(tint * shade[:, None], 0, 1).reshape(len(y), len(x), 3)
