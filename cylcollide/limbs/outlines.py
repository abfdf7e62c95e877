"""Outlines of limbs as figures show them from one side, the colours of their hit groups, and the figure of a rig."""

from collections.abc import Iterable, Mapping
from os import PathLike
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from cylcollide._types import Float64Array, Int32Array, Shape
from cylcollide.limbs.figures import add_polygons, new_figure
from cylcollide.limbs.limbs import Limbs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AROUND, ALONG = 32, 13
"""Points of an outline around the axis, and rings along one that is not straight."""

TURNS = np.linspace(0.0, 2.0 * np.pi, 180, endpoint=False)
DIRECTIONS = np.array([np.cos(TURNS), np.sin(TURNS)])
"""The directions in which an outline is computed: every two degrees, (2, 180)."""

COLORS = ("#8aa1b8", "#d1495b", "#edae49", "#00798c", "#66a182", "#7d5ba6", "#c8553d", "#2e4057")
"""Colours of hit groups, in the order of their names. Limbs without a group have the first."""

LINE = "#333333"


def group_colors(groups: Mapping[str, int]) -> dict[int, str]:
    """Colours of hit groups by number."""
    return dict(zip(groups.values(), COLORS[1:] * len(groups), strict=False))


def fill_outlines(axes: Any, outlines: Iterable[Float64Array], colors: Iterable[str], **style: Any) -> None:
    """Fill the hulls of points (n, 2) with these colours; "none" leaves them empty."""
    filled = {"facecolors": list(colors), "edgecolors": LINE, "linewidths": 0.6, "alpha": 0.45, **style}
    add_polygons(axes, [hull(points) for points in outlines], **filled)


def surface_points(limbs: Limbs, i: int) -> Float64Array:
    """Points (n, 3) on the surface of limb i whose convex hull is nearly the limb."""
    p1, p2, shape = limbs.p1[i], limbs.p2[i], Shape(limbs.kind[i])
    r1, r2 = float(limbs.radius[i]), float(limbs.radius2[i])
    if shape == Shape.BOX:
        corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1).T
        return np.asarray(p1 + (corners * limbs.half_extents[i]) @ limbs.box_axes[i])
    rings = 2 if shape in (Shape.CYLINDER, Shape.TUBE, Shape.TAPERED) else ALONG
    axis, angle = p2 - p1, np.linspace(-0.5 * np.pi, 0.5 * np.pi, rings)
    u = 0.5 + 0.5 * np.sin(angle)
    length = float(np.linalg.norm(axis))
    direction = axis / length if length else np.array([0.0, 0.0, 1.0])
    height, radius = u * length, np.full(rings, r1)
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
    """Corners (n, 2) of the convex hull of points (n, 2), in order: the points that are farthest in some direction."""
    farthest = points[(points @ DIRECTIONS).argmax(axis=0)]
    return np.asarray(farthest[np.append(True, (np.diff(farthest, axis=0) != 0.0).any(axis=1))])


def draw_rig(
    placed: Limbs, joints: Float64Array, parents: Int32Array, groups: Mapping[str, int], title: str,
    path: str | PathLike[str] | None,
) -> "Figure":  # fmt: skip
    """The figure of limbs and joints (b, 3) in the world, from two sides; written to a file if a path is given."""
    figure = new_figure("Rig.plot", 8.0, 7.0)
    outlines = [surface_points(placed, i) for i in range(len(placed))]
    everything = np.concatenate([joints, *outlines])
    up = int(np.argmax(np.ptp(everything, axis=0)))
    colors = group_colors(groups)
    of_limbs = [colors.get(group, COLORS[0]) for group in placed.hit_group.tolist()]
    for axes, across in zip(figure.subplots(1, 2, sharex=True, sharey=True), [(up + 2) % 3, (up + 1) % 3], strict=True):
        fill_outlines(axes, [points[:, [across, up]] for points in outlines], of_limbs)
        for bone, parent in enumerate(parents.tolist()):
            if parent >= 0:
                x, y = joints[[parent, bone]][:, [across, up]].T
                axes.plot(x, y, color=LINE, linewidth=1.0)
        axes.plot(joints[:, across], joints[:, up], linestyle="", marker=".", color=LINE)
        axes.set(aspect="equal", xlabel="xyz"[across], ylabel="xyz"[up])
    for name, number in groups.items():
        figure.axes[0].fill([], [], facecolor=colors[number], alpha=0.45, label=f"{name} ({number})")
    if groups:
        figure.legend(loc="outside right center", fontsize=8)
    figure.suptitle(fill(title, 80), fontsize=10)
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure
