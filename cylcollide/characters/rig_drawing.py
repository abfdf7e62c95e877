"""The figure of a rig at rest: outlines of its limbs, and its bones, from two sides."""

from collections.abc import Mapping
from os import PathLike
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from cylcollide._types import Float64Array, Int32Array, Shape
from cylcollide.limbs.limbs import Limbs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AROUND, ALONG = 48, 17
"""Points of an outline around the axis, and rings along it."""

COLORS = ("#8aa1b8", "#d1495b", "#edae49", "#00798c", "#66a182", "#7d5ba6", "#c8553d", "#2e4057")
"""Of hit groups, in the order of their names; the first of limbs of none."""

BONE = "#333333"


def draw(
    placed: Limbs, joints: Float64Array, parents: Int32Array, groups: Mapping[str, int], title: str,
    path: str | PathLike[str] | None,
) -> "Figure":  # fmt: skip
    """The figure of limbs and joints (b, 3) in the world; written to a file if a path is given."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415  # belongs to an extra: imported only to draw
    except ImportError:
        raise ImportError("Rig.plot needs matplotlib: pip install 'cylcollide[plot]'") from None
    outlines = [surface_points(placed, i) for i in range(len(placed))]
    everything = np.concatenate([joints, *outlines])
    up = int(np.argmax(np.ptp(everything, axis=0)))
    figure = Figure(figsize=(8.0, 7.0), layout="constrained")
    for axes, across in zip(figure.subplots(1, 2, sharex=True, sharey=True), [(up + 2) % 3, (up + 1) % 3], strict=True):
        colors = dict(zip(groups.values(), COLORS[1:] * len(groups), strict=False))
        for points, group in zip(outlines, placed.hit_group.tolist(), strict=True):
            x, y = hull(points[:, [across, up]]).T
            axes.fill(x, y, facecolor=colors.get(group, COLORS[0]), edgecolor=BONE, linewidth=0.6, alpha=0.45)
        for bone, parent in enumerate(parents.tolist()):
            if parent >= 0:
                x, y = joints[[parent, bone]][:, [across, up]].T
                axes.plot(x, y, color=BONE, linewidth=1.0)
        axes.plot(joints[:, across], joints[:, up], linestyle="", marker=".", color=BONE)
        axes.set(aspect="equal", xlabel="xyz"[across], ylabel="xyz"[up])
    for name, number in groups.items():
        figure.axes[0].fill([], [], facecolor=colors[number], alpha=0.45, label=f"{name} ({number})")
    if groups:
        figure.legend(loc="outside right center", fontsize=8)
    figure.suptitle(fill(title, 80), fontsize=10)
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure


def surface_points(limbs: Limbs, i: int) -> Float64Array:
    """Points (n, 3) on the surface of limb i whose convex hull is about the limb."""
    p1, p2, shape = limbs.p1[i], limbs.p2[i], Shape(limbs.kind[i])
    r1, r2 = float(limbs.radius[i]), float(limbs.radius2[i])
    if shape == Shape.BOX:
        corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1).T
        return np.asarray(p1 + (corners * limbs.half_extents[i]) @ limbs.box_axes[i])
    axis, angle = p2 - p1, np.linspace(-0.5 * np.pi, 0.5 * np.pi, ALONG)
    u = 0.5 + 0.5 * np.sin(angle)
    length = float(np.linalg.norm(axis))
    direction = axis / length if length else np.array([0.0, 0.0, 1.0])
    height, radius = u * length, np.full(ALONG, r1)
    if shape == Shape.TAPERED:
        radius = r1 + (r2 - r1) * u
    elif shape == Shape.ELLIPSOID:
        radius = r1 * np.cos(angle)
    elif shape in (Shape.CAPSULE, Shape.SPHERE):
        height, radius = np.where(angle > 0.0, length, 0.0) + r1 * np.sin(angle), r1 * np.cos(angle)
    side = np.cross(direction, np.eye(3)[np.argmin(np.abs(direction))])
    side /= np.linalg.norm(side)
    turn = np.linspace(0.0, 2.0 * np.pi, AROUND, endpoint=False)
    ring = np.outer(np.cos(turn), side) + np.outer(np.sin(turn), np.cross(direction, side))
    return np.asarray(p1 + height[:, None, None] * direction + radius[:, None, None] * ring).reshape(-1, 3)


def hull(points: Float64Array) -> Float64Array:
    """The corners (n, 2) of the convex hull of points (n, 2), around it (A. M. Andrew's two chains, 1979)."""
    ordered: list[Any] = sorted({(float(x), float(y)) for x, y in points})

    def chain(row: list[Any]) -> list[Any]:
        kept: list[Any] = []
        for x, y in row:
            while len(kept) > 1 and (
                (kept[-1][0] - kept[-2][0]) * (y - kept[-2][1]) <= (kept[-1][1] - kept[-2][1]) * (x - kept[-2][0])
            ):
                kept.pop()
            kept.append((x, y))
        return kept[:-1]

    return np.array((chain(ordered) + chain(ordered[::-1])) or ordered)
