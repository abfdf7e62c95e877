"""The figures of a sweep over poses; each function returns None where there is nothing to show."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from cylcollide._types import BoolArray, Float64Array
from cylcollide.crosscheck.number_format import power
from cylcollide.crosscheck.report.chart_style import (
    MM_TICKS,
    add_bars,
    add_dots,
    add_line,
    chart,
    logarithmic,
    shares,
    thin_out,
)
from cylcollide.crosscheck.report.measures import grazing_phantoms, right_hits
from cylcollide.crosscheck.run.run import Result

FLOOR_MM, FLOOR_DEGREES = 1e-6, 1e-5
"""Smaller errors than a nanometre are rounding of the engine's answer; they are drawn at this level."""

DEGREE_TICKS = {-5: "10⁻⁵°", -4: "10⁻⁴°", -3: "0.001°", -2: "0.01°", -1: "0.1°", 0: "1°", 1: "10°", 2: "100°"}
LENGTH_TICKS = {-9: "1 nm", -8: "", -7: "", -6: "1 µm", -5: "", -4: "", -3: "1 mm", -2: "", -1: "", 0: "1 m"}
SHARE_TICKS = {decade: power(decade) for decade in range(-17, 1)}

Parts = Mapping[str, tuple[str, BoolArray, str]]
"""By name the colour of some hits, which they are, and what is said of each."""


def figures(result: Result) -> dict[str, go.Figure | None]:
    """Every plot by name, None for one without data."""
    hits = right_hits(result.tally)
    sides: Parts = {
        "early": ("early", hits.error < 0.0, "%{y:.3g} mm early"),
        "late": ("late", hits.error > 0.0, "%{y:.3g} mm late"),
    }
    turned: Parts = {"one hit": ("neutral", hits.tilt > 0.0, "%{y:.3g}° off")}
    return {
        "distance": _graze_error(
            hits.depth, 1e3 * hits.error, sides, FLOOR_MM, logarithmic("distance error", MM_TICKS)
        ),
        "normal": _graze_error(hits.depth, hits.tilt, turned, FLOOR_DEGREES, logarithmic("normal error", DEGREE_TICKS)),
        "phantom": _phantom_depths(grazing_phantoms(result.tally)),
        "early": _early_distances(-hits.error[hits.error < 0.0]),
    }


def _graze_error(
    depth: Float64Array, error: Float64Array, parts: Parts, floor: float, axis: dict[str, object]
) -> go.Figure | None:
    """Errors of grazing hits against the depth of the graze, and their median in each half decade of depth."""
    grazing, size = depth > 0.0, np.abs(error)
    rows = np.flatnonzero(grazing & (size > 0.0))
    if len(rows) == 0:
        return None
    rows = rows[thin_out(error[rows])]
    figure = chart(logarithmic("depth of the cut ÷ radius", SHARE_TICKS), axis)
    for name, (color, which, said) in parts.items():
        some = rows[which[rows]]
        if len(some):
            # Single precision is plenty for a pixel.
            x, y = depth[some].astype(np.float32), np.maximum(size[some], floor).astype(np.float32)
            add_dots(figure, name, x, y, color, f"{said} at depth %{{x:.2e}}", size=4, opacity=0.55)
    step = np.floor(2.0 * np.log10(depth[grazing]))
    steps = np.unique(step)
    medians = np.array([np.median(size[grazing][step == s]) for s in steps])
    shown = medians > 0.0  # a logarithmic axis has no place for an error of nothing
    middles = 10.0 ** ((steps[shown] + 0.5) / 2.0)
    add_line(figure, "median", middles, medians[shown], "ink", "median %{y:.3g}", marker={"size": 5})
    return figure


def _phantom_depths(gaps: Float64Array) -> go.Figure | None:
    """Share of the grazing phantoms by how far outside the limb the bullet passes, in half decades."""
    if not len(gaps):
        return None
    outside = np.log10(gaps)
    edges = np.arange(np.floor(outside.min()), np.ceil(outside.max()) + 0.5, 0.5)
    counts, edges = np.histogram(outside, np.append(edges, edges[-1] + 0.5))
    decades = np.arange(np.floor(edges[0]), np.ceil(edges[-1]) + 1)
    below = {"title": "gap outside the limb ÷ radius", "tickvals": decades, "ticktext": [power(d) for d in decades]}
    figure = chart(below, shares("share of phantoms"))
    said = "%{customdata[0]} phantoms at %{customdata[1]:.1e} to %{customdata[2]:.1e}"
    custom = np.stack([counts, 10.0 ** edges[:-1], 10.0 ** edges[1:]], axis=1)
    add_bars(figure, edges, 100.0 * counts / counts.sum(), "phantom", said, custom)
    return figure


def _early_distances(early: Float64Array) -> go.Figure | None:
    """Histogram of how early the early hits are, logarithmic."""
    if len(early) == 0:
        return None
    # Below a nanometre the number is rounding of the engine's fraction: such hits share the first bar.
    logs = np.log10(np.maximum(early, 1e-9))
    counts, edges = np.histogram(logs, np.linspace(np.floor(logs.min()), np.ceil(logs.max() + 1e-9), 61))
    ticks = [tick for tick in LENGTH_TICKS if edges[0] <= tick <= edges[-1]]
    below = {"title": "reported early by", "tickvals": ticks, "ticktext": [LENGTH_TICKS[tick] for tick in ticks]}
    figure = chart(below, {"title": "hits", "tickformat": ","})
    said = "%{y:,} hits, %{customdata[0]:.2g} to %{customdata[1]:.2g} mm early"
    add_bars(figure, edges, counts, "early", said, 1e3 * 10.0 ** np.stack([edges[:-1], edges[1:]], axis=1))
    return figure
