"""Figures of a run, as PNG and SVG; functions return the paths written."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cylcollide.bench.runner import BASE, LEAN, Row
from cylcollide.bench.scaling import PastPoint, Point
from cylcollide.limbs.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OURS, THEIRS, INK, GRID = "#c2410c", "#64748b", "#1f2937", "#e5e7eb"


def plot_rays(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Speed of every engine over that of cylcollide, a panel per workload; wrong results beside the bars."""
    names = list(dict.fromkeys(row.workload for row in rows))
    panels = [[row for row in rows if row.workload == name and row.rays] for name in names]
    heights = [len(panel) + 1.5 for panel in panels]
    figure = new_figure("cylcollide bench", 8, 0.3 * sum(heights) + 0.8)
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    least = min(row.ratio_low for panel in panels for row in panel)
    most = max(row.ratio_high for panel in panels for row in panel)
    for axis, panel in zip(axes, panels, strict=True):
        _dots(axis, panel)
        axis.set_xlim(0.6 * least, 25 * most)
    axes[-1].set_xlabel("speed over cylcollide's, engines taking turns: median, least and largest round", color=INK)
    return _saved(figure, folder / "rays")


def _dots(axis: Any, panel: Sequence[Row]) -> None:
    """Draw a dot for each engine, with the range of its rounds and its number of wrong results."""
    axis.set_xscale("log")
    for place, row in enumerate(panel):
        color = OURS if row.engine in {BASE, LEAN} else THEIRS
        axis.plot([row.ratio_low, row.ratio_high], [place, place], color=color, linewidth=2.5, solid_capstyle="round")
        axis.plot(row.ratio, place, "o", color=color, markersize=7)
        wrong = row.wrong_verdicts + row.wrong_limbs
        label = f"{row.ratio:.2g}×   {wrong:,} wrong of {row.rays:,}"
        axis.text(1.2 * max(row.ratio, row.ratio_high), place, label, va="center", fontsize=8, color=INK)
    axis.set_yticks(range(len(panel)), [row.engine for row in panel])
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}×")
    axis.axvline(1.0, color=OURS, linewidth=0.8, linestyle=":")
    axis.set_ylim(len(panel) - 0.5, -0.5)
    count = panel[0].limbs
    axis.set_title(f"{panel[0].workload}: {count:,} limb{'s' * (count != 1)}", loc="left", fontsize=9.5, color=INK)
    _tidied(axis, "x")


def plot_scaling(points: Sequence[Point], folder: Path) -> list[Path]:
    """Rays per second against limbs and batch, and memory against limbs."""
    figure = new_figure("cylcollide bench", 11, 3.6)
    left, middle, right = figure.subplots(1, 3)
    by_limbs, by_batch = ([point for point in points if point.against == name] for name in ("limbs", "batch"))
    for axis, part, name, x in (
        (left, by_limbs, f"limbs ({by_limbs[0].batch:,} rays a call)", [p.limbs for p in by_limbs]),
        (middle, by_batch, f"rays a call ({by_batch[0].limbs:,} limbs)", [p.batch for p in by_batch]),
    ):
        axis.fill_between(x, [p.rate_low for p in part], [p.rate_high for p in part], color=OURS, alpha=0.15)
        _line(axis, x, [p.rate for p in part], name, RATE)
    _line(right, [p.limbs for p in by_limbs], [p.megabytes for p in by_limbs], "limbs", "memory of limbs and tree, MB")
    return _saved(figure, folder / "scaling")


def plot_past(points: Sequence[PastPoint], folder: Path) -> list[Path]:
    """Rays per second in the past and in the present, against ticks and limbs; and memory against both."""
    figure = new_figure("cylcollide bench", 11, 3.6)
    left, middle, right = figure.subplots(1, 3)
    for axis, against, fixed, color in ((left, "ticks", "limbs", OURS), (middle, "limbs", "ticks", INK)):
        part = [point for point in points if point.against == against]
        x, size = ([getattr(point, name) for point in part] for name in (against, fixed))
        axis.plot(x, [p.present_rate for p in part], "o:", color=THEIRS, markersize=4, label="the present")
        _line(axis, x, [p.rate for p in part], f"{against} ({size[0]:,} {fixed})", RATE, color, label="the past")
        axis.legend(frameon=False, fontsize=8.5)
        cells, size = [p.limbs * p.ticks for p in part], [p.megabytes for p in part]
        _line(right, cells, size, "limbs times ticks", "memory of the history, MB", color)
    return _saved(figure, folder / "past")


RATE = "rays a second, one thread"


def _line(
    axis: Any, x: Sequence[float], y: Sequence[float], name: str, title: str, color: str = OURS, **look: str
) -> None:
    axis.plot(x, y, "o-", color=color, markersize=4, **look)
    axis.set(xscale="log", yscale="log", xlabel=name, title=title)
    _tidied(axis)


def _tidied(axis: Any, lines: str = "both") -> None:
    axis.grid(axis=lines, which="major", color=GRID, linewidth=0.8)
    axis.set_axisbelow(True)
    axis.yaxis.set_minor_formatter("")
    axis.tick_params(colors=INK, labelsize=8.5)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


def _saved(figure: "Figure", stem: Path) -> list[Path]:
    paths = [stem.with_suffix(suffix) for suffix in (".png", ".svg")]
    for path in paths:
        figure.savefig(path, dpi=150, facecolor="white")
    return paths
