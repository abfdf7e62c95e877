"""Draws docs/figures/disagreement.png, the picture of the README: ``python docs/figures/disagreement.py``.

Both panels show one seeded cross-check. Left: one of its poses, ray-traced by this library, and some of its bullets.
Right: the share of all its bullets that are reported as hits, by the distance by which they pass or cut a limb.
"""

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

import cylcollide as cc
from cylcollide._types import BoolArray, Float64Array
from cylcollide.crosscheck.compare.comparison import Comparison
from cylcollide.crosscheck.compare.disagreements import Kind
from cylcollide.crosscheck.engine import BulletClient
from cylcollide.crosscheck.generate.bullets import AIMED, PosedScene
from cylcollide.crosscheck.run.chunk import cast_scene
from cylcollide.crosscheck.run.plan import PosesPlan
from cylcollide.crosscheck.run.run import FinishedRun, run_plan, wrong_bullets
from cylcollide.engines.rounded_cylinder import Rounded

BULLETS, SEED, MOTION, POSE = 60_000, 0, "spinkick", 7
GREEN, RED, BLUE, INK, GREY = "#15894a", "#d92b2b", "#2463c9", "#1f2933", "#6b7683"
TINTS = np.array([[0.72, 0.78, 0.88], [0.80, 0.85, 0.92], [0.76, 0.82, 0.90]])  # limbs in turn

# The camera: unit vectors (y is up), and left, right, bottom, top of the view in metres about the body's middle.
AZIMUTH, ELEVATION = np.radians((202.0, 11.0))
TOWARDS = np.array([np.cos(AZIMUTH) * np.cos(ELEVATION), np.sin(ELEVATION), np.sin(AZIMUTH) * np.cos(ELEVATION)])
RIGHT = np.array([np.sin(AZIMUTH), 0.0, -np.cos(AZIMUTH)])
UP = np.cross(TOWARDS, RIGHT)
SCREEN = np.stack([RIGHT, UP], axis=1)
VIEW = (-0.97, 1.21, -0.93, 0.85)


PLAN = PosesPlan(BULLETS, SEED, (MOTION,))


def compared() -> list[tuple[PosedScene, Comparison]]:
    """Both answers at every pose."""
    scenes = [scene for key in PLAN.keys for scene in PLAN.draw(key) if isinstance(scene, PosedScene)]
    return [(scene, cast_scene(scene, BulletClient, explain=False).compared) for scene in scenes]


def depths() -> tuple[Float64Array, BoolArray, BoolArray]:
    """Per bullet: depth in its limb, mm (< 0: outside), whether it truly hits, whether PyBullet reports a hit."""
    answers = [both for _, both in compared()]
    start, end = (np.concatenate([getattr(both.truth, side) for both in answers]) for side in ("start", "end"))
    true, engine = (np.concatenate([getattr(both, side).limb for both in answers]) for side in ("ours", "theirs"))
    pose, depth = (
        np.repeat(np.arange(len(answers)), [len(both.answered) for both in answers]),
        np.full(len(true), -np.inf),
    )
    # A hit is measured at its limb, a miss at the limb it comes closest to.
    for limb, radius in enumerate(PLAN.poses.radius):
        rows = np.flatnonzero((true == limb) | (true < 0))
        p1, p2 = PLAN.poses.p1[pose[rows], limb], PLAN.poses.p2[pose[rows], limb]
        solids = Rounded.cylinders(p1, p2, np.full(len(rows), radius))
        depth[rows] = np.maximum(depth[rows], -1e3 * solids.least_distance(start[rows], end[rows]).distance)
    return depth, true >= 0, engine >= 0


def visible(world: cc.HitWorld, points: Float64Array) -> BoolArray:
    """Whether the place 3 mm before each point, (..., 3), is visible to the camera."""
    points = points + 0.003 * TOWARDS
    sight = np.broadcast_to(TOWARDS, (points.size // 3, 3))
    return ~world.occluded_rays(points.reshape(-1, 3), sight).reshape(points.shape[:-1])


def light(world: cc.HitWorld, point: Float64Array, normal: Float64Array, count: int) -> Float64Array:
    """Light of an overcast sky at each point (n, 3), as a share of the brightest, (n,)."""
    # Directions even on the sphere (Fibonacci spiral); brighter above, at the left and behind the viewer.
    k = np.arange(count) + 0.5
    height, turn = 1 - 2 * k / count, np.pi * (1 + np.sqrt(5)) * k
    sky = np.stack([np.sqrt(1 - height**2) * np.cos(turn), height, np.sqrt(1 - height**2) * np.sin(turn)], axis=1)
    bright = 0.35 + 0.65 * np.clip(sky @ (UP - 0.6 * RIGHT + 0.8 * TOWARDS), 0, None) ** 2
    total = np.zeros(len(point))
    for direction, strength in zip(sky, bright, strict=True):
        facing = np.flatnonzero(normal @ direction > 0)
        above = point[facing] + 1e-4 * normal[facing]  # 0.1 mm off, so that the limb does not block itself
        blocked = world.occluded_rays(above, np.broadcast_to(direction, above.shape), max_distance=2.0)
        total[facing] += strength * (normal[facing] @ direction) * ~blocked
    return np.asarray(total / total.max())


def draw_body(axes: Axes, world: cc.HitWorld, middle: Float64Array, floor: float) -> None:
    """Ray-trace the soft shadow on the floor, coarsely, and the limbs."""
    for pixels_per_metre, is_floor in ((50, True), (800, False)):
        x, y = (np.arange(a, b, 1 / pixels_per_metre) for a, b in (VIEW[:2], (-VIEW[3], -VIEW[2])))
        eye = (middle + 5 * TOWARDS + x[None, :, None] * RIGHT - y[:, None, None] * UP).reshape(-1, 3)
        image = np.zeros((len(eye), 4))
        if is_floor:
            point = eye - ((eye[:, 1:2] - floor) / TOWARDS[1]) * TOWARDS
            fade = np.clip(1.2 - np.linalg.norm((point - middle)[:, ::2], axis=1), 0, 1)  # before the picture ends
            image[:, 3] = 0.6 * fade * (1 - light(world, point, np.tile([0.0, 1.0, 0.0], (len(eye), 1)), 800))
        else:
            hits = world.cast_rays(eye, np.broadcast_to(-TOWARDS, eye.shape))
            on, tint = np.flatnonzero(hits.hit), TINTS[hits.limb[hits.hit] % len(TINTS)]
            shade = 1.25 * light(world, hits.position[on], hits.normal[on], 160)[:, None]
            image[:] = [*TINTS[0], 0]
            image[on] = np.concatenate([np.clip(tint * shade, 0, 1), np.ones((len(on), 1))], axis=1)
        smooth = "bicubic" if is_floor else "antialiased"
        axes.imshow(image.reshape(len(y), len(x), 4), extent=VIEW, interpolation=smooth)


def draw_bullets(axes: Axes, world: cc.HitWorld, middle: Float64Array) -> None:
    """Some missed, phantom and true hits in plain sight and apart from each other, each with a piece of its path."""
    scene, both = compared()[POSE]
    taken = np.array([[VIEW[1], VIEW[2]]])
    aimed = both.right_hits[scene.family[both.right_hits] == AIMED]
    ring, cross, dot = {"mew": 3.2, "mfc": "none", "ms": 13}, {"mew": 3.6, "ms": 13}, {"mec": "white", "ms": 11}
    shown: tuple[tuple[Any, ...], ...] = (
        (both.wrong[Kind.MISSED], both.ours, 3, 0.3, BLUE, "o", ring, "missed by PyBullet"),
        (both.wrong[Kind.PHANTOM], both.theirs, 6, 0.3, RED, "x", cross, "phantom: PyBullet hits air"),
        (aimed, both.ours, 6, 0.0, GREEN, "o", dot, "true hit, with normal"),
    )
    for mine, answer, count, after, color, marker, style, name in shown:
        position, normal = answer.position, answer.normal
        path = (both.truth.end - both.truth.start) / both.truth.length[:, None]
        rows = mine[np.abs(normal[mine] @ TOWARDS) < 0.6]
        way = position[rows, None] + np.linspace(-0.34, after, 33)[:, None] * path[rows, None]
        flat = (way - middle) @ SCREEN
        x, y = flat[..., 0], flat[..., 1]
        framed = (x > VIEW[0] + 0.1) & (x < VIEW[1] - 0.1) & (y > VIEW[2] + 0.04) & (y < VIEW[3] - 0.04)
        long = np.linalg.norm(flat[:, -1] - flat[:, 0], axis=1) > 0.8 * (0.34 + after)  # not towards the camera
        clear = long & (framed & visible(world, way)).all(axis=1)
        rows, flat = rows[clear], flat[clear]
        for number in range(count):
            # The bullet whose path keeps farthest from those drawn so far.
            i = np.linalg.norm(flat[:, ::4, None] - taken, axis=-1).min(axis=(1, 2)).argmax()
            taken = np.concatenate([taken, flat[i, ::4]])
            lines, widths = list(np.stack([flat[i, :-1], flat[i, 1:]], axis=1)), np.linspace(0.2, 2.6, 32)
            axes.add_collection(LineCollection(lines, colors=color, linewidths=widths, capstyle="round"))
            point = (position[rows[i]] - middle) @ SCREEN
            arrow = (flat[i, -1], flat[i, -2], "-|>") if after else (point + 0.1 * normal[rows[i]] @ SCREEN, point, "-")
            look = {"arrowstyle": arrow[2], "color": color, "lw": 3, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", arrow[0], arrow[1], arrowprops=look)
            axes.plot(*point, marker, color=color, label=None if number else name, **style)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 0.2), frameon=False, labelcolor="linecolor")


def draw_verdicts(axes: Axes, result: FinishedRun) -> None:
    """Share of hits against depth: the truth is a step at the surface."""
    depth, truth, reported = depths()
    outer = 10.0 ** np.arange(-4, 2.01, 0.25)
    edges = np.concatenate([-outer[::-1], [0.0], outer])
    counts = np.histogram(depth, edges)[0]
    true, engine = (100 * np.histogram(depth[hit], edges)[0] / counts for hit in (truth, reported))
    axes.axvspan(0, outer[-1], color=TINTS[1], alpha=0.55, lw=0)
    for side, color in ((slice(len(outer) + 1), RED), (slice(len(outer), None), BLUE)):
        bins = slice(side.start, side.stop and side.stop - 1)
        axes.stairs(engine[bins], edges[side], baseline=true[bins], fill=True, color=color, alpha=0.16)
    axes.stairs(engine, edges, baseline=None, color=RED, lw=3.2)
    axes.stairs(true, edges, baseline=None, color=GREEN, lw=4.2)
    axes.set_xscale("symlog", linthresh=outer[0], linscale=0.35)
    axes.set_xticks([-100, -1, -1e-3, 0, 1e-3, 1, 100], ["10 cm", "1 mm", "1 µm", "0", "1 µm", "1 mm", "10 cm"])
    axes.set_yticks([0, 50, 100], ["0", "50 %", "100 %"])
    axes.set(xlim=(-outer[-1], outer[-1]), ylim=(-3, 122))
    axes.set_xlabel("distance between the bullet's path and the surface", labelpad=10)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(length=0, pad=8)
    axes.minorticks_off()
    row = result.summary["families"][-1]
    early, tilt = row["early_mm"][2], row["normal_deg"][2]
    worst = f"hits that PyBullet finds:\nup to {early:.0f} mm early,\nnormal up to {tilt:.0f}° off"
    for x, y, text, color, size in (
        (-0.06, 113, "path passes outside", GREY, 15.5),
        (0.06, 113, "path cuts the limb", GREY, 15.5),
        (-0.06, 97, "PyBullet", RED, 17),
        (0.06, 103, "cylcollide", GREEN, 17),
        (-0.007, 47, f"{row['phantom']:,}", RED, 30),
        (-0.007, 38, "phantom hits", RED, 15.5),
        (0.06, 82, f"{row['missed']:,} missed", BLUE, 15.5),
        (0.06, 35, worst, INK, 15.5),
    ):
        weight = "bold" if size > 16 else "normal"
        axes.text(x, y, text, color=color, size=size, weight=weight, ha="center", linespacing=1.4)


def main() -> None:
    """Fire, draw and write the picture beside this script."""
    plt.rcParams.update({"font.size": 15.5, "text.color": INK, "axes.labelcolor": GREY})
    plt.rcParams.update({"xtick.color": GREY, "ytick.color": GREY})
    result = run_plan(PLAN)
    p1, p2 = PLAN.poses.p1[POSE], PLAN.poses.p2[POSE]
    world, ends = cc.HitWorld(cc.Limbs.cylinders(p1, p2, PLAN.poses.radius)), np.concatenate([p1, p2])
    middle = (ends.min(axis=0) + ends.max(axis=0)) / 2
    figure = plt.figure(figsize=(16, 7.6), dpi=100, facecolor="white")
    left, right = figure.add_axes((0.0, 0.0, 0.505, 0.865)), figure.add_axes((0.575, 0.135, 0.395, 0.705))
    draw_body(left, world, middle, ends[:, 1].min() - 0.04)
    draw_bullets(left, world, middle)
    left.set(xlim=VIEW[:2], ylim=VIEW[2:])
    left.axis("off")
    draw_verdicts(right, result)
    wrong = wrong_bullets(result, PLAN)
    gap = 1e3 * wrong["clearance"][wrong["kind"] == Kind.PHANTOM].max()
    proof = f"{len(wrong['ray']):,} disagreements, {wrong['proved'].sum():,} of them proved in exact arithmetic"
    for x, title, subtitle in (
        (0.025, f"{result.plan.rays:,} bullets at PyBullet's humanoid", proof),
        (0.525, f"PyBullet hits air up to {gap:.2f} mm from a limb", "share of the bullets that are reported as hits"),
    ):
        figure.text(x, 0.925, title, size=21, weight="bold")
        figure.text(x, 0.875, subtitle, color=GREY)
    figure.savefig(Path(__file__).with_suffix(".png"))


if __name__ == "__main__":
    main()
