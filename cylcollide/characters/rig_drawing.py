"""The figure of a rig at rest: outlines of its limbs, and its bones, from two sides."""

from collections.abc import Mapping
from os import PathLike
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from cylcollide._types import Float64Array, Int32Array
from cylcollide.limbs.figures import new_figure
from cylcollide.limbs.limbs import Limbs
from cylcollide.limbs.outlines import COLORS, LINE, fill_outlines, group_colors, surface_points

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(
    placed: Limbs, joints: Float64Array, parents: Int32Array, groups: Mapping[str, int], title: str,
    path: str | PathLike[str] | None,
) -> "Figure":  # fmt: skip
    """The figure of limbs and joints (b, 3) in the world; written to a file if a path is given."""
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
