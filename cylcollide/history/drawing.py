"""Figures of the past: limbs then and now, and the gap of a miss with the times of a hit beneath it."""

from collections.abc import Mapping
from os import PathLike
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cylcollide._types import NO_LIMB, Float64Array
from cylcollide.limbs.figures import new_figure
from cylcollide.limbs.limbs import Limbs
from cylcollide.limbs.outlines import COLORS, LINE, fill_outlines, group_colors, surface_points

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEAREST, OTHER, GAP, NOW = "#edae49", "#c8d7e6", "#d1495b", "#5f7285"
SHORTEST = 1e-9
"""Below this length beside that of the picture, a gap has no direction."""

VIEWS = ((0, 2), (1, 2), (0, 1))
"""The axes that go right and up: whichever axis of a world points up, two views show it."""


class Gap(NamedTuple):
    """A segment, and the limb that it misses by least; points are (3,)."""

    start: Float64Array
    end: Float64Array
    on_segment: Float64Array
    on_limb: Float64Array
    limb: int
    length: float


class Timeline(NamedTuple):
    """When a segment would have hit."""

    ticks: Float64Array
    intervals: Float64Array  # (k, 2)
    time: float


def draw_rewound(
    past: Limbs, present: Limbs, groups: Mapping[str, int], title: str, path: str | PathLike[str] | None
) -> "Figure":
    """The figure of limbs as they were, filled, and as they are, dashed; from three sides."""
    figure = new_figure("PoseHistory.plot", 13.0, 5.0)
    colors = group_colors(groups)
    then, now = ([surface_points(limbs, i) for i in range(len(limbs))] for limbs in (past, present))
    of_group = [colors.get(group, COLORS[0]) for group in past.hit_group.tolist()]
    for axes, view in zip(figure.subplots(1, 3), VIEWS, strict=True):
        flat = [[points[:, view] for points in outlines] for outlines in (now, then)]
        fill_outlines(axes, flat[0], ["none"] * len(now), edgecolors=NOW, linestyles="--", linewidths=1.0, alpha=1.0)
        fill_outlines(axes, flat[1], of_group)
        axes.set(aspect="equal", xlabel="xyz"[view[0]], ylabel="xyz"[view[1]])
    first = figure.axes[0]
    for name, number in groups.items():
        first.fill([], [], facecolor=colors[number], alpha=0.45, label=f"{name} ({number})")
    first.fill([], [], facecolor="none", edgecolor=NOW, linestyle="--", label="now")
    figure.legend(loc="outside right center", fontsize=8)
    return _finished(figure, title, path)


def draw_gap(limbs: Limbs, gap: Gap, timeline: Timeline, title: str, path: str | PathLike[str] | None) -> "Figure":
    """The figure of a gap as seen along the segment, and of the times of a hit."""
    figure = new_figure("MissExplanation.plot", 8.0, 7.0)
    view, times = figure.subplots(2, 1, height_ratios=[7, 1])
    if gap.limb == NO_LIMB:
        view.set_axis_off()
    else:
        _draw_view(view, limbs, gap)
    _draw_timeline(times, timeline)
    return _finished(figure, title, path)


def _finished(figure: "Figure", title: str, path: str | PathLike[str] | None) -> "Figure":
    figure.suptitle("\n".join(fill(line, 100) for line in title.split("\n")), fontsize=10)
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure


def _draw_view(axes: Any, limbs: Limbs, gap: Gap) -> None:
    """Draw limbs and gap as seen along the segment: the limb's character, and what else is near it."""
    centre, own = 0.5 * limbs.p1 + 0.5 * limbs.p2 - gap.on_segment, int(limbs.character[gap.limb])
    same = limbs.character == own if own >= 0 else np.arange(len(limbs)) == gap.limb
    outlines = {i: surface_points(limbs, i) - gap.on_segment for i in np.flatnonzero(same).tolist()}
    everything = np.concatenate([*outlines.values(), [gap.on_limb - gap.on_segment]])
    size = float(np.abs(everything).max())
    right, up, forward = _view(gap, np.ptp(everything, axis=0), size)
    near = (np.linalg.norm(centre, axis=1) < 3.0 * size) & ~same
    outlines.update({i: surface_points(limbs, i) - gap.on_segment for i in np.flatnonzero(near).tolist()})
    order = sorted(outlines, key=lambda i: (i == gap.limb, -float(centre[i] @ forward)))
    colors = [NEAREST if i == gap.limb else OTHER for i in order]
    plane = np.array([right, up]).T
    fill_outlines(axes, [outlines[i] @ plane for i in order], colors, alpha=[0.5 if same[i] else 0.15 for i in order])
    touch, flat = (gap.on_limb - gap.on_segment) @ plane, everything @ plane
    axes.plot([0.0, touch[0]], [0.0, touch[1]], color=GAP, linewidth=1.5)
    axes.plot(0.0, 0.0, marker="x", markersize=8, color=GAP)
    axes.annotate(
        f"{gap.length:.4g}" if gap.length else "hit",
        0.5 * touch,
        (8, 6),
        textcoords="offset points",
        color=GAP,
        fontsize=10,
    )
    low, high = np.minimum(flat.min(axis=0), 0.0), np.maximum(flat.max(axis=0), 0.0)
    (x, y), half = 0.5 * (low + high), 0.6 * float((high - low).max())
    axes.set(aspect="equal", xlim=(x - half, x + half), ylim=(y - half, y + half))
    axes.set_title("seen along the segment, which is at the cross", fontsize=9)


def _view(gap: Gap, extent: Float64Array, size: float) -> Float64Array:
    """Unit vectors (3, 3) to the right, up and forward of who looks along the segment; up is where limbs are longest.

    For a segment without length that is along the gap, or any way.
    """
    ways = (gap.end - gap.start, gap.on_limb - gap.on_segment, np.eye(3)[int(np.argmin(extent))])
    forward = next(v / np.linalg.norm(v) for v in ways if np.linalg.norm(v) > SHORTEST * size)
    axes = np.eye(3)[np.argsort(-extent, kind="stable")]
    left = (v - (v @ forward) * forward for v in axes)
    up = next(v / np.linalg.norm(v) for v in left if np.linalg.norm(v) > 0.5)
    return np.array([np.cross(forward, up), up, forward])


def _draw_timeline(axes: Any, timeline: Timeline) -> None:
    """Draw when it would have hit, beneath the ticks, and the time that was asked about."""
    ticks, spans = timeline.ticks, timeline.intervals
    width = float(ticks[-1] - ticks[0]) or 1.0
    axes.vlines(ticks, -0.5, -0.3, color=COLORS[0], linewidth=0.6)
    for begin, end in spans.tolist():
        axes.barh(0.0, end - begin, left=begin, height=0.6, color=GAP, edgecolor=GAP)
    axes.axvline(timeline.time, color=LINE, linewidth=1.2)
    axes.set(xlim=(ticks[0] - 0.02 * width, ticks[-1] + 0.02 * width), ylim=(-0.5, 0.5), yticks=[])
    axes.set(xlabel="time; line: the shot; bars: the same segment would have hit")
