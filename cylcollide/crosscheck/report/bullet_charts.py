"""The plots of the report, one function a figure; each returns None where there is nothing to show.

Only data, axes and the colours of what is wrong are set here. Fonts, lines and backgrounds are set in the page, which
knows whether it is light or dark.
"""

import numpy as np
import plotly.graph_objects as go

from cylcollide._types import Float64Array
from cylcollide.crosscheck.report.bullet_sentences import power
from cylcollide.crosscheck.report.chart_style import COLORS, MM_TICKS, thin_out
from cylcollide.crosscheck.report.measures import RightHits, grazing_phantoms, right_hits
from cylcollide.crosscheck.run.run import Result

FLOOR_MM, FLOOR_DEGREES = 1e-6, 1e-5
"""Smaller errors than a nanometre are rounding of the engine's answer; they are drawn at this level."""

DEGREE_TICKS = {-5: "10⁻⁵°", -4: "10⁻⁴°", -3: "0.001°", -2: "0.01°", -1: "0.1°", 0: "1°", 1: "10°", 2: "100°"}
LENGTH_TICKS = {-9: "1 nm", -8: "", -7: "", -6: "1 µm", -5: "", -4: "", -3: "1 mm", -2: "", -1: "", 0: "1 m"}


def figures(result: Result) -> dict[str, go.Figure | None]:
    """Every plot by name, None for one without data."""
    hits = right_hits(result.tally)
    return {
        "distance": distance_error(hits),
        "normal": normal_error(hits),
        "phantom": phantom_depths(result),
        "early": early_distances(hits),
    }


def distance_error(hits: RightHits) -> go.Figure | None:
    """Distance error of grazing hits against graze depth, early and late, both logarithmic."""
    rows = np.flatnonzero((hits.depth > 0.0) & (hits.error != 0.0))
    if len(rows) == 0:
        return None
    rows = rows[thin_out(hits.error[rows])]
    error = hits.error[rows]
    figure = go.Figure()
    for name, mine in (("early", error < 0.0), ("late", error > 0.0)):
        millimetres = np.maximum(1e3 * np.abs(error[mine]), FLOOR_MM)
        _add_scatter(figure, name, hits.depth[rows][mine], millimetres, "%{y:.3g} mm " + name)
    _add_medians(figure, hits.depth, 1e3 * np.abs(hits.error))
    return _graze_axes(figure, "distance error", MM_TICKS)


def normal_error(hits: RightHits) -> go.Figure | None:
    """Normal error of grazing hits against graze depth, both logarithmic."""
    rows = np.flatnonzero((hits.depth > 0.0) & (hits.tilt > 0.0))
    if len(rows) == 0:
        return None
    rows = rows[thin_out(hits.tilt[rows])]
    figure = go.Figure()
    degrees = np.maximum(hits.tilt[rows], FLOOR_DEGREES)
    _add_scatter(figure, "neutral", hits.depth[rows], degrees, "%{y:.3g}° off")
    _add_medians(figure, hits.depth, hits.tilt)
    figure.data[0].name = "one hit"
    return _graze_axes(figure, "normal error", DEGREE_TICKS)


def phantom_depths(result: Result) -> go.Figure | None:
    """Share of the grazing phantoms by how far outside the limb the bullet passes, in half decades."""
    shares = grazing_phantoms(result.tally)
    if not len(shares):
        return None
    outside = np.log10(shares)
    edges = np.arange(np.floor(outside.min()), np.ceil(outside.max()) + 0.5, 0.5)
    counts, edges = np.histogram(outside, np.append(edges, edges[-1] + 0.5))
    figure = go.Figure()
    figure.add_bar(
        x=edges[:-1] + 0.25,
        y=100.0 * counts / counts.sum(),
        width=0.46,
        customdata=np.stack([counts, 10.0 ** edges[:-1], 10.0 ** edges[1:]], axis=1),
        marker_color=COLORS["phantom"],
        hovertemplate="%{customdata[0]} phantoms at %{customdata[1]:.1e} to %{customdata[2]:.1e}<extra></extra>",
    )
    decades = np.arange(np.floor(edges[0]), np.ceil(edges[-1]) + 1)
    figure.update_xaxes(title="gap outside the limb ÷ radius", tickvals=decades, ticktext=[power(d) for d in decades])
    figure.update_yaxes(title="share of phantoms", ticksuffix=" %", rangemode="tozero")
    return figure


def early_distances(hits: RightHits) -> go.Figure | None:
    """Histogram of how early the early hits are, logarithmic."""
    early = -hits.error[hits.error < 0.0]
    if len(early) == 0:
        return None
    # Below a nanometre the number is rounding of the engine's fraction: such hits share the first bar.
    logs = np.log10(np.maximum(early, 1e-9))
    edges = np.linspace(np.floor(logs.min()), np.ceil(logs.max() + 1e-9), 61)
    counts, edges = np.histogram(logs, edges)
    figure = go.Figure()
    figure.add_bar(
        x=(edges[:-1] + edges[1:]) / 2,
        y=counts,
        width=0.92 * np.diff(edges),
        customdata=1e3 * 10.0 ** np.stack([edges[:-1], edges[1:]], axis=1),
        marker_color=COLORS["early"],
        hovertemplate="%{y:,} hits, %{customdata[0]:.2g} to %{customdata[1]:.2g} mm early<extra></extra>",
    )
    ticks = [tick for tick in LENGTH_TICKS if edges[0] <= tick <= edges[-1]]
    figure.update_xaxes(title="reported early by", tickvals=ticks, ticktext=[LENGTH_TICKS[tick] for tick in ticks])
    figure.update_yaxes(title="hits", tickformat=",")
    return figure


def _add_scatter(figure: go.Figure, name: str, x: Float64Array, y: Float64Array, hover: str) -> None:
    """Small dots in the colour of their name; single precision is plenty for a pixel."""
    if len(x) > 0:
        figure.add_scatter(
            name=name,
            x=x.astype(np.float32),
            y=y.astype(np.float32),
            mode="markers",
            marker={"size": 4, "opacity": 0.55, "color": COLORS[name]},
            hovertemplate=hover + " at depth %{x:.2e}<extra></extra>",
        )


def _add_medians(figure: go.Figure, depth: Float64Array, error: Float64Array) -> None:
    """The median of all grazing hits in each half decade of depth, as a line."""
    grazing = depth > 0.0
    step = np.floor(2.0 * np.log10(depth[grazing]))
    steps = np.unique(step)
    medians = np.array([np.median(error[grazing][step == s]) for s in steps])
    shown = medians > 0.0  # a logarithmic axis has no place for an error of nothing
    figure.add_scatter(
        name="median",
        x=10.0 ** ((steps[shown] + 0.5) / 2.0),
        y=medians[shown],
        mode="lines+markers",
        line={"width": 2},
        marker={"size": 5},
        meta="ink",
        hovertemplate="median %{y:.3g}<extra></extra>",
    )


def _graze_axes(figure: go.Figure, title: str, ticks: dict[int, str]) -> go.Figure:
    """Logarithmic axes: depth of the cut below, an error at the left."""
    shares = {decade: power(decade) for decade in range(-17, 1)}
    below, left = (figure.update_xaxes, "depth of the cut ÷ radius", shares), (figure.update_yaxes, title, ticks)
    for update, name, marks in (below, left):
        update(title=name, type="log", tickvals=[10.0**decade for decade in marks], ticktext=list(marks.values()))
    return figure
