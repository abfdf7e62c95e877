"""The figure of one segment and one limb: a cut through the limb along the segment, and its bounds as bars below."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.kernels.clearance import growths_to_reach
from cylcollide.kernels.limb_table import Limb, box_axes
from cylcollide.kernels.traits import ROUND, WITH_AXES
from cylcollide.limbs.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PIXELS = 400  # grid points along a side of the cut
LIMB, RAY, INSIDE, FAINT = "#c8d7e6", "#444444", "#d1495b", "#8aa1b8"
SHOWN = (-0.5, 1.5)  # range of fractions of the bars

Stretch = tuple[str, float, float]
"""A name, and the fractions of the segment at which the stretch begins and ends."""
Passed = Sequence[tuple[float, float, str]]
"""For each stretch inside the limb: fractions of the segment at entry and exit, and the name of the entry face."""


def draw(
    limb: Limb, segment: Float64Array, nearest: float, passed: Passed, bounds: Sequence[Stretch], title: str
) -> "Figure":
    """The figure: the cut, and below it the stretches of the segment within each bound.

    `segment` (2, 3) is start and end. `nearest` is the fraction of its point nearest to the limb, or deepest in it.
    """
    figure = new_figure("Explanation.plot", 7.0, 6.5)
    cut, bars = figure.subplots(2, 1, height_ratios=[3, 1])
    draw_cut(cut, limb, segment, nearest, passed)
    draw_bounds(bars, [*bounds, ("segment", 0.0, 1.0), *[("inside", entry, leave) for entry, leave, _ in passed]])
    figure.suptitle(title, fontsize=11)
    return figure


def cut_axes(limb: Limb, start: Float64Array, end: Float64Array) -> Float64Array:
    """Two unit vectors, rows of (2, 3), along and across the cut: the plane of the segment and the limb's axis.

    The axis of a box is its third one; a ball has none.
    """
    axis = np.array(box_axes(limb)[0][2] if limb.kind in WITH_AXES else limb.axis)
    candidates = [axis, end - start, start - np.array(limb.centre), *np.eye(3)]
    along = next(unit for v in candidates if (unit := _unit(v, [])) is not None)
    across = next(unit for v in candidates if (unit := _unit(v, [along])) is not None)
    return np.array([along, across])


def _unit(v: Float64Array, others: list[Float64Array]) -> Float64Array | None:
    """The unit vector of the part of v orthogonal to the others; None if only rounding errors are left."""
    size = np.abs(v).max()
    if size == 0.0:
        return None
    v = v / size
    for other in others:
        v = v - (v @ other) * other
    length = float(np.linalg.norm(v))
    return v / length if length > 1e-9 else None  # the drawing resolves 1e-3


def draw_cut(axes: Any, limb: Limb, segment: Float64Array, nearest: float, passed: Passed) -> None:
    """Draw the limb in the plane of the segment; dashed: its outline in the parallel plane through its centre."""
    (start, end), centre = segment, np.array(limb.centre)
    in_cut = cut_axes(limb, start, end)
    normal = np.cross(*in_cut)
    beside = float((start - centre) @ normal)
    ends = (segment - centre) @ in_cut.T
    near = ((start + nearest * (end - start))[None] - centre) @ in_cut.T
    low, high = _window(limb, ends, near[0])
    x, y = (np.linspace(low[k], high[k], PIXELS) for k in (0, 1))
    for offset, dashed in ((beside, False), (0.0, True)):
        growth = _growths(x, y, in_cut, centre + offset * normal, limb)
        if growth.min() < 0.0 < growth.max():
            if not dashed:
                axes.contourf(x, y, growth, levels=[growth.min(), 0.0], colors=[LIMB])
            axes.contour(x, y, growth, levels=[0.0], colors=[FAINT], linestyles="--" if dashed else "-")
    axes.plot(*ends.T, color=RAY, linewidth=1.0)
    tail, head = visible(ends, low, high)
    axes.annotate("", head, tail, arrowprops={"arrowstyle": "->", "color": RAY, "shrinkA": 0, "shrinkB": 0})
    for entry, leave, face in passed:
        stretch = (np.array([start + t * (end - start) for t in (entry, leave)]) - centre) @ in_cut.T
        axes.plot(*stretch.T, color=INSIDE, linewidth=2.5, marker="o", markersize=4)
        axes.annotate(face, stretch[0], (6, 6), textcoords="offset points", fontsize=8)
    axes.plot(*near[0], marker="x", color=RAY)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", xlabel="along the axis", ylabel="across")
    title = f"cut through the segment, {abs(beside):.3g} beside the centre; dashed: at the centre; ×: nearest"
    axes.set_title(title, fontsize=8)


def _growths(x: Float64Array, y: Float64Array, in_cut: Float64Array, origin: Float64Array, limb: Limb) -> Float64Array:
    """Growth at which the limb reaches each point of a grid in the plane through the origin, (len(y), len(x))."""
    right, up = np.meshgrid(x, y)
    growth = np.empty(right.size)
    growths_to_reach(origin + np.outer(right, in_cut[0]) + np.outer(up, in_cut[1]), limb, growth)
    return growth.reshape(right.shape)


def _window(limb: Limb, ends: Float64Array, near: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Corners of the window: it shows the limb, the nearest point, and the part of the segment that is not far away."""
    if limb.kind in WITH_AXES:
        reach = np.full(2, float(np.linalg.norm(box_axes(limb)[1])))
    else:
        reach = np.array([limb.half_length + (limb.kind in ROUND) * limb.radius, limb.radius])
    low, high = np.minimum(-reach, near), np.maximum(reach, near)
    far = 1.5 * float((high - low).max())
    low = np.minimum(low, np.maximum(ends.min(axis=0), low - 0.5 * far))
    high = np.maximum(high, np.minimum(ends.max(axis=0), high + 0.5 * far))
    margin = 0.08 * float((high - low).max())
    return low - margin, high + margin


def visible(ends: Float64Array, low: Float64Array, high: Float64Array) -> Float64Array:
    """The part of a segment (2, 2 or 3) in a window or box; the whole segment if no part is inside."""
    with np.errstate(divide="ignore", invalid="ignore"):
        times = (np.array([low, high]) - ends[0]) / (ends[1] - ends[0])
    first, last = np.fmax(0.0, np.nanmax(times.min(axis=0))), np.fmin(1.0, np.nanmin(times.max(axis=0)))
    return ends if not first < last else ends[0] + np.outer([first, last], ends[1] - ends[0])


def draw_bounds(axes: Any, rows: Sequence[Stretch]) -> None:
    """Draw a bar for each stretch, over the fraction of the segment; stretches of one name share a line."""
    names = list(dict.fromkeys(name for name, _, _ in rows))
    for name, begins, ends in rows:
        first, last = max(begins, SHOWN[0]), min(ends, SHOWN[1])
        color = {"segment": RAY, "inside": INSIDE, "bore": FAINT}.get(name, LIMB)
        if first <= last:
            # the edge keeps a bar of width 0, a touch, visible
            axes.barh(names.index(name), last - first, left=first, height=0.6, color=color, edgecolor=color)
    axes.axvspan(0.0, 1.0, color="#00000010")
    axes.set(xlim=SHOWN, yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5))
    axes.set_xlabel("fraction of the segment")
