"""Draws docs/figures/disagreement.png, the picture of the README: ``python docs/figures/disagreement.py``.

Both panels come from one seeded cross-check. Left: one pose, ray-traced by this library, and some of the bullets fired
at it. Right: the share of all bullets that PyBullet reports as hits, by how far they pass outside or cut into a limb.
"""

from pathlib import Path
from typing import ClassVar

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

import cylcollide as cc
from cylcollide._types import BoolArray, Float64Array, Int64Array
from cylcollide.crosscheck.result import FAMILIES, KINDS, CrosscheckResult
from cylcollide.crosscheck.sweep import run_crosscheck
from cylcollide.crosscheck.truth import clearances
from cylcollide.engines import EngineHits
from cylcollide.engines.bullet import BulletEngine

BULLETS, SEED, MOTION, POSE = 60_000, 0, "spinkick", 7
GREEN, RED, BLUE, INK, GREY = "#15894a", "#d92b2b", "#2463c9", "#1f2933", "#6b7683"
TINTS = np.array([[0.72, 0.78, 0.88], [0.80, 0.85, 0.92], [0.76, 0.82, 0.90]])  # limbs in turn

# The camera: unit vectors (y is up) and left, right, bottom, top of the view in metres about the body's middle.
AZIMUTH, ELEVATION = np.radians((202.0, 11.0))
TOWARDS = np.array([np.cos(AZIMUTH) * np.cos(ELEVATION), np.sin(ELEVATION), np.sin(AZIMUTH) * np.cos(ELEVATION)])
RIGHT = np.array([np.sin(AZIMUTH), 0.0, -np.cos(AZIMUTH)])
UP = np.cross(TOWARDS, RIGHT)
VIEW = (-0.92, 0.92, -0.85, 0.75)


class Recorder(BulletEngine):
    """PyBullet, with the questions and answers of each pose written down."""

    seen: ClassVar[list[tuple[Float64Array, Float64Array, EngineHits]]] = []

    def cast_segments(self, starts: Float64Array, ends: Float64Array) -> EngineHits:
        """Ask PyBullet and remember."""
        self.seen.append((starts, ends, super().cast_segments(starts, ends)))
        return self.seen[-1][2]


def depths(result: CrosscheckResult) -> tuple[Float64Array, BoolArray, BoolArray]:
    """How deep each bullet cuts its limb, in mm, negative where it passes outside; and whether PyBullet reports a hit."""
    start, end = (np.concatenate([pose[side] for pose in Recorder.seen]) for side in (0, 1))
    engine = np.concatenate([hits.limb for _, _, hits in Recorder.seen])
    pose = np.repeat(np.arange(len(Recorder.seen)), [len(hits.limb) for _, _, hits in Recorder.seen])
    true = engine.copy()
    true[result.disagreements.ray] = result.disagreements.limb_true
    p1, p2, radius = result.poses.p1, result.poses.p2, result.poses.radius

    def gap(rows: Int64Array, limb: Int64Array) -> Float64Array:
        return clearances(start[rows], end[rows], p1[pose[rows], limb], p2[pose[rows], limb], radius[limb])

    depth, hit, miss = np.empty(len(start)), np.flatnonzero(true >= 0), np.flatnonzero(true < 0)
    depth[hit] = -gap(hit, true[hit].astype(np.int64))
    depth[miss] = -np.min([gap(miss, np.full(len(miss), limb)) for limb in range(len(radius))], axis=0)
    return 1e3 * depth, true >= 0, engine >= 0


def light(world: cc.HitWorld, point: Float64Array, normal: Float64Array, count: int = 160) -> Float64Array:
    """How much light of an overcast sky each point (n, 3) gets, as a share of the brightest, (n,)."""
    # Directions even on the sphere (Fibonacci spiral); brighter above, at the left and behind the viewer.
    k = np.arange(count) + 0.5
    height, turn = 1 - 2 * k / count, np.pi * (1 + np.sqrt(5)) * k
    sky = np.stack([np.sqrt(1 - height**2) * np.cos(turn), height, np.sqrt(1 - height**2) * np.sin(turn)], axis=1)
    bright = 0.35 + 0.65 * np.clip(sky @ (UP - 0.6 * RIGHT + 0.8 * TOWARDS), 0, None) ** 2
    total = np.zeros(len(point))
    for direction, strength in zip(sky, bright, strict=True):
        facing = np.flatnonzero(normal @ direction > 0)
        above = point[facing] + 1e-4 * normal[facing]  # a tenth of a millimetre, or the limb itself is in the way
        blocked = world.occluded_rays(above, np.broadcast_to(direction, above.shape), max_distance=2.0)
        total[facing] += strength * (normal[facing] @ direction) * ~blocked
    return total / total.max()


def eyes(middle: Float64Array, pixels_per_metre: float) -> Float64Array:
    """Where the camera's parallel rays start, (height, width, 3)."""
    left, right, bottom, top = VIEW
    x, y = (np.arange(a, b, 1 / pixels_per_metre) for a, b in ((left, right), (-top, -bottom)))
    grid: Float64Array = middle + 5 * TOWARDS + x[None, :, None] * RIGHT - y[:, None, None] * UP
    return grid


def draw_body(axes: Axes, world: cc.HitWorld, middle: Float64Array, floor: float) -> None:
    """Ray-trace the soft shadow on the floor, coarsely, and the limbs."""
    eye = eyes(middle, 50)
    point = eye - ((eye[..., 1:2] - floor) / TOWARDS[1]) * TOWARDS
    shade = light(world, point.reshape(-1, 3), np.tile([0.0, 1.0, 0.0], (eye.size // 3, 1)), 800)
    away = np.linalg.norm(point - (middle + [0, floor - middle[1], 0]), axis=-1)  # fades before the picture ends
    shadow = np.dstack([np.zeros_like(eye), 0.6 * (1 - shade).reshape(eye.shape[:2]) * np.clip(1.2 - away, 0, 1)])
    axes.imshow(shadow, extent=VIEW, interpolation="bicubic")
    eye = eyes(middle, 800)
    hits = world.cast_rays(eye.reshape(-1, 3), np.broadcast_to(-TOWARDS, (eye.size // 3, 3)))
    body, on = np.ones((eye.size // 3, 4)) * [*TINTS[0], 0], np.flatnonzero(hits.hit)
    lit = light(world, hits.position[on], hits.normal[on])
    body[on, :3] = np.clip(1.25 * TINTS[hits.limb[on] % len(TINTS)] * lit[:, None], 0, 1)
    body[on, 3] = 1
    axes.imshow(body.reshape(*eye.shape[:2], 4), extent=VIEW, interpolation="antialiased")


def spread(flat: Float64Array, count: int, taken: list[Float64Array]) -> list[int]:
    """Rows of ``count`` points (n, 2) far from each other and from those taken by earlier calls."""
    chosen = []
    for _ in range(min(count, len(flat))):
        chosen.append(int(np.argmax(np.min([np.linalg.norm(flat - other, axis=1) for other in taken], axis=0))))
        taken.append(flat[chosen[-1]])
    return chosen


def draw_bullets(axes: Axes, result: CrosscheckResult, world: cc.HitWorld, middle: Float64Array) -> None:
    """Some phantoms, missed and true hits near the outlines that the camera sees, each with a piece of its path."""
    wrong, agreed, row = result.disagreements, result.agreed, result.rows[-1]
    screen, taken = np.stack([RIGHT, UP], axis=1), [np.array([VIEW[0], VIEW[3]])]
    mine = [wrong.kind == KINDS.index("phantom"), wrong.kind == KINDS.index("missed"), agreed.family == 0]
    texts = ("hit, with its normal", f"phantom: no limb is there ({row.phantom:,})", f"missed by PyBullet ({row.missed:,})")
    styles = (
        (wrong, mine[0], wrong.position_engine, wrong.normal_engine, RED, {"marker": "x", "ms": 13, "mew": 3.6}, 7, 0.3),
        (wrong, mine[1], wrong.position_true, wrong.normal_true, BLUE, {"marker": "o", "ms": 13, "mew": 3.2, "mfc": "none"}, 3, 0.3),
        (agreed, mine[2], agreed.position_true, agreed.normal_true, GREEN, {"marker": "o", "ms": 10.5, "mec": "white", "mew": 1.5}, 6, 0.0),
    )
    for table, kind, position, normal, color, marker, count, after in styles:
        path = (table.end - table.start) / np.linalg.norm(table.end - table.start, axis=1)[:, None]
        sideways = (np.abs(path @ TOWARDS) < 0.6) & (np.abs(normal @ TOWARDS) < 0.6)
        rows = np.flatnonzero(kind & sideways & (table.pose == POSE))
        rows = rows[visible(world, position[rows] + 0.003 * normal[rows])]
        for row in rows[spread((position[rows] - middle) @ screen, count, taken)]:
            reach = np.linspace(-0.34, after, 80)
            points = position[row] + reach[:, None] * path[row]
            alpha = np.clip((reach + 0.34) / 0.34, 0, 1) * np.where(visible(world, points + 0.003 * TOWARDS), 1, 0.15)
            flat = (points - middle) @ screen
            pieces = np.stack([flat[:-1], flat[1:]], axis=1)
            axes.add_collection(LineCollection(pieces, colors=color, alpha=alpha[1:], linewidths=2.2, capstyle="butt"))
            ahead = path[row] @ screen
            if after:
                axes.plot(*flat[-1], marker=(3, 0, np.degrees(np.arctan2(ahead[1], ahead[0])) - 90), ms=9, color=color, alpha=alpha[-1], mew=0)
            else:
                axes.plot(*(flat[-1] + np.outer([0, 0.11], normal[row] @ screen)).T, color=color, lw=3.4, solid_capstyle="round")
            axes.plot(*((position[row] - middle) @ screen), color=color, **marker)


def visible(world: cc.HitWorld, points: Float64Array) -> BoolArray:
    """Whether the camera sees each point (n, 3)."""
    return ~world.occluded_rays(points, np.broadcast_to(TOWARDS, points.shape))


def draw_verdicts(axes: Axes, result: CrosscheckResult, depth: Float64Array, truth: BoolArray, reported: BoolArray) -> None:
    """Share of hits against depth: the truth is a step at the surface, PyBullet's is elsewhere."""
    outer = 10.0 ** np.arange(-5, 1.01, 0.25)  # mm
    edges = np.concatenate([-outer[::-1], [0.0], outer])
    counts = np.histogram(depth, edges)[0]
    true, engine = (100 * np.histogram(depth[hit], edges)[0] / counts for hit in (truth, reported))
    axes.axvspan(0, outer[-1], color=TINTS[1], alpha=0.55, lw=0)
    axes.stairs(engine, edges, baseline=true, fill=True, color=RED, alpha=0.16)
    axes.stairs(engine, edges, baseline=None, color=RED, lw=3.2)
    axes.stairs(true, edges, baseline=None, color=GREEN, lw=4.2)
    axes.set_xscale("symlog", linthresh=outer[0], linscale=0.35)
    names = {1e-5: "10 nm", 1e-3: "1 µm", 1e0: "1 mm", 1e1: "1 cm"}
    ticks = [*(-np.array(list(names))[::-1]), *names]
    axes.set_xticks(ticks, [*reversed(names.values()), *names.values()])
    axes.set_yticks([0, 50, 100], ["0", "50 %", "100 %"])
    axes.xaxis.set_minor_locator(plt.NullLocator())
    axes.set(xlim=(-outer[-1], outer[-1]), ylim=(-3, 116))
    axes.spines[["top", "right", "left"]].set_visible(False)
    row = result.rows[-1]
    axes.text(-2e-3, 45, f"{row.phantom:,}\nphantom hits", color=RED, ha="center", va="center", fontsize=20)
    axes.text(2e-2, 45, f"{row.missed:,} missed", color=RED)


def main() -> None:
    """Fire, draw and write the picture beside this script."""
    plt.rcParams.update({"font.size": 15, "text.color": INK, "axes.labelcolor": INK, "xtick.color": GREY, "ytick.color": GREY})
    result = run_crosscheck(BULLETS, SEED, [MOTION], engine=Recorder)
    figure = plt.figure(figsize=(16, 7.6), dpi=100, facecolor="white")
    left, right = figure.add_axes((0.0, 0.0, 0.49, 0.9)), figure.add_axes((0.56, 0.13, 0.42, 0.74))
    p1, p2 = result.poses.p1[POSE], result.poses.p2[POSE]
    world = cc.HitWorld(cc.Limbs.cylinders(p1, p2, result.poses.radius))
    ends = np.concatenate([p1, p2])
    middle = (ends.min(axis=0) + ends.max(axis=0)) / 2
    draw_body(left, world, middle, ends[:, 1].min() - 0.04)
    draw_bullets(left, result, world, middle)
    left.set(xlim=VIEW[:2], ylim=VIEW[2:])
    left.axis("off")
    draw_verdicts(right, result, *depths(result))
    figure.savefig(Path(__file__).with_suffix(".png"))


if __name__ == "__main__":
    main()
