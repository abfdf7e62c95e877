"""The figures over a whole run, one function a figure; each returns None where the run has no number for it.

Like the figures of :mod:`cylcollide.crosscheck.report.bullet_charts` they hold data, axes and colours; the page adds
the rest.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from cylcollide._types import BoolArray
from cylcollide.crosscheck.cases.cause_words import MEASURED
from cylcollide.crosscheck.causes.cause import Cause
from cylcollide.crosscheck.judge.disagreements import Kind
from cylcollide.crosscheck.number_format import SPACE, length
from cylcollide.crosscheck.records import JsonObject
from cylcollide.crosscheck.report.chart_style import COLORS, MM_TICKS, stacked_shares, thin_out
from cylcollide.crosscheck.report.measures import (
    STRAIGHT,
    arm,
    construction_rows,
    early_bound,
    gaps,
    margin_rows,
    scale_rows,
)
from cylcollide.crosscheck.report.sentences import facts, scale_words
from cylcollide.crosscheck.run.breakdowns import GRAZES, grazes
from cylcollide.crosscheck.run.run import Result

ENOUGH = 20
"""Values that a histogram needs at least."""


def by_family(result: Result) -> go.Figure | None:
    """Share of each family's segments with a wrong verdict or no answer, stacked by kind; counts stand in the bars."""
    rows = result.summary["families"]
    kinds = [kind for kind in ("phantom", "missed", "wrong limb", "lost") if rows[-1][kind.replace(" ", "_")]]
    return stacked_shares(rows if len(rows) > 2 else rows[:1], kinds, f"{result.plan.thing}s") if kinds else None


def by_bound(result: Result) -> go.Figure | None:
    """How near the disagreements of each cause come to its bound: median, 99th percentile and nearest."""
    kind, cause, measured, bound = (result.tally.column(name) for name in ("kind", "cause", "measured", "bound"))
    of_length = ~np.isin(kind, (Kind.NORMAL, Kind.LOST))
    some = np.isfinite(measured) & np.isfinite(bound) & (bound > 0) & of_length
    share = np.maximum(measured / np.where(some, bound, 1.0), 0.0)
    present = [c for c in reversed(MEASURED) if (share[some & (cause == c)] > 0).any()]
    if not present:
        return None
    shares = [share[some & (cause == c)] for c in present]
    figure = go.Figure()
    labels = [c.label for c in present]
    for name, part, symbol in (
        ("median", 50, "line-ns-open"),
        ("99 %", 99, "circle-open"),
        ("nearest", 100, "diamond"),
    ):
        figure.add_scatter(
            name=name,
            y=labels,
            x=[float(np.percentile(values, part)) for values in shares],
            mode="markers",
            marker={
                "size": 9,
                "symbol": symbol,
                "color": COLORS["late"],
                "line": {"width": 2, "color": COLORS["late"]},
            },
            hovertemplate=f"%{{y}}, {name}: %{{x:.6f}} of the bound<extra></extra>",
        )
    figure.update_xaxes(title="share of the bound", range=[-0.03, 1.06], tickformat=".0%")
    figure.update_yaxes(title="", dtick=1)
    figure.add_vline(x=1.0, line={"color": COLORS["early"], "width": 2}, layer="below")
    return figure


def early_by_depth(result: Result) -> go.Figure | None:
    """How early grazing hits of one size of limb are reported, against how deep they cut, with the bound on it."""
    radius, depth = grazes(result.tally)
    kind, cause, amount = (result.tally.column(name, GRAZES) for name in ("kind", "cause", "amount"))
    mine: BoolArray = (kind == Kind.EARLY) & (cause == Cause.TERMINATION) & (depth > 0)
    if not mine.any():
        return None
    size = arm(radius[mine])
    rows = np.flatnonzero(mine & (radius == size))
    rows = rows[thin_out(amount[rows])]
    stop = facts(result.summary)["stop"]
    figure = go.Figure()
    figure.add_scatter(
        name="one hit",
        x=1e3 * depth[rows],
        y=-1e3 * amount[rows],
        mode="markers",
        marker={"size": 5, "opacity": 0.5, "color": COLORS["early"]},
        hovertemplate="%{y:.3g} mm early where the cut is %{x:.2g} mm deep<extra></extra>",
    )
    cuts = np.geomspace(depth[rows].min(), depth[rows].max(), 60)
    figure.add_scatter(
        name="bound",
        x=1e3 * cuts,
        y=1e3 * early_bound(size, cuts, stop),
        mode="lines",
        line={"width": 2},
        meta="ink",
        hovertemplate="at most %{y:.3g} mm where the cut is %{x:.2g} mm deep<extra></extra>",
    )
    medians = [row for row in result.summary["grazes"] if row["radius"] == size and row["early"]]
    figure.add_scatter(
        name="median",
        x=[1e3 * row["depth"] * size for row in medians],
        y=[row["early_mm"][0] for row in medians],
        mode="lines+markers",
        line={"width": 2, "color": COLORS["late"]},
        marker={"size": 8, "color": COLORS["late"]},
        hovertemplate="median %{y:.3g} mm<extra></extra>",
    )
    # Every second decade below, where there are many.
    below = {decade: length(10.0 ** (decade - 3)) if decade % 2 else "" for decade in range(-9, 3)}
    for update, name, ticks in (
        (figure.update_xaxes, "depth of the cut", below),
        (figure.update_yaxes, "reported early by", MM_TICKS),
    ):
        update(title=name, type="log", tickvals=[10.0**decade for decade in ticks], ticktext=list(ticks.values()))
    figure.update_xaxes(tickangle=0)
    return figure


def phantoms_by_gap(result: Result) -> go.Figure | None:
    """How far from the limb phantom hits pass it, for limbs built by default, and where the walk stops."""
    found, stop = gaps(result.tally), facts(result.summary)["stop"]
    if len(found) < ENOUGH or not stop > 0:
        return None
    # Thirty bars of a twentieth of the stop: as far again as a half beyond it, so that nothing is seen to be there.
    width = 1e3 * stop / 20
    counts, edges = np.histogram(1e3 * found, width * np.arange(max(30, int(1e3 * found.max() / width) + 2)))
    figure = go.Figure()
    figure.add_bar(
        x=(edges[:-1] + edges[1:]) / 2,
        y=counts,
        width=0.92 * width,
        marker_color=COLORS["phantom"],
        hovertemplate="%{y:,} phantoms at about %{x:.3g} mm<extra></extra>",
    )
    figure.add_vline(x=1e3 * stop, line={"color": COLORS["early"], "width": 2, "dash": "dash"})
    figure.add_annotation(
        x=1e3 * stop, y=1.0, yref="paper", xanchor="left", showarrow=False, text=f" stop, {length(stop)}",
        font={"color": COLORS["early"]},
    )  # fmt: skip
    figure.update_xaxes(title="gap between segment and limb, mm", range=[0.0, float(edges[-1])])
    figure.update_yaxes(title="phantom hits", tickformat=",")
    figure.update_layout(showlegend=False)
    return figure


def phantoms_by_scale(result: Result) -> go.Figure | None:
    """Share of the true misses that are reported as hits, by the size of the limb and all that is around it."""
    figure = go.Figure()
    for family, color in zip(STRAIGHT, ("neutral", "phantom", "wrong limb"), strict=True):
        rows = scale_rows(result.summary, (family,))
        if len(rows) > 1:
            radii = [row["radius"] for row in rows]
            _add_shares(figure, family, radii, rows, ("phantom", "misses"), color, f"{family}: ")
    if not figure.data:
        return None
    radii = sorted({x for trace in figure.data for x in trace.x})
    names = [scale_words(radius) for radius in radii]
    figure.update_xaxes(title="radius of the limb", type="log", tickvals=radii, ticktext=names, tickangle=-45)
    figure.update_yaxes(title="misses reported as hits", ticksuffix=" %", rangemode="tozero")
    return figure


def misses_by_margin(result: Result) -> go.Figure | None:
    """Shares missed and phantom by collision margin, for limbs as large as those of people."""
    rows = margin_rows(result.summary)
    if not rows:
        return None
    labels = [length(row["margin"]).replace(SPACE, "<br>") if row["margin"] else "0" for row in rows]
    figure = go.Figure()
    for name, whole in (("missed", "hits"), ("phantom", "misses")):
        _add_shares(figure, f"{name}, of the true {whole}", labels, rows, (name, whole), name, "margin %{x}: ")
    figure.update_xaxes(title="collision margin", type="category", tickangle=0, dtick=1)
    figure.update_yaxes(title="share", ticksuffix=" %", rangemode="tozero")
    return figure


def by_construction(result: Result) -> go.Figure | None:
    """Shares missed and phantom by the way in which the limb was built, for limbs as large as those of people."""
    rows = construction_rows(result.summary)
    if not rows:
        return None
    figure = go.Figure()
    for kind, whole in (("phantom", "misses"), ("missed", "hits")):
        figure.add_bar(
            name=f"{kind}, of the true {whole}",
            x=[BUILT[row["construction"]] for row in rows],
            y=[100.0 * row[kind] / max(row[whole], 1) for row in rows],
            customdata=[[row[kind], row[whole]] for row in rows],
            marker_color=COLORS[kind],
            hovertemplate=f"%{{x}}: {_of(whole)}",
        )
    figure.update_layout(barmode="group", bargap=0.35)
    figure.update_xaxes(title="built by", tickangle=0)
    figure.update_yaxes(title="share", ticksuffix=" %", rangemode="tozero")
    return figure


BUILT = {
    "geom": "GEOM_<br>CYLINDER",
    "mjcf": "loadMJCF",
    "urdf": "loadURDF",
    "urdf-implicit": "loadURDF,<br>implicit",
}
"""Ways to build a limb, on an axis."""


def answers_by_call(result: Result) -> go.Figure | None:
    """Answers that came to each call of a whole batch, beside the segments asked."""
    calls = result.summary["calls"]
    if not calls:
        return None
    labels = [f"{call['asked']:,}<br>{'as lists' if call['as_lists'] else 'as arrays'}" for call in calls]
    figure = go.Figure()
    for name, field, color in (("asked", "asked", "neutral"), ("answered", "answered", "true")):
        numbers = [call[field] for call in calls]
        said = [f"{n:,}" for n in numbers] if field == "answered" else None
        figure.add_bar(
            name=name, x=labels, y=numbers, text=said, textposition="outside", textangle=0, marker_color=COLORS[color]
        )
    figure.update_layout(barmode="overlay", bargap=0.45)
    figure.data[0].update(marker_color="rgba(127, 142, 163, 0.3)")
    figure.update_xaxes(title="segments in one call", type="category", tickangle=0)
    figure.update_yaxes(title="segments", tickformat=",", range=[0.0, 1.15 * max(call["asked"] for call in calls)])
    return figure


def _add_shares(
    figure: go.Figure,
    name: str,
    x: Sequence[float] | Sequence[str],
    rows: Sequence[JsonObject],
    share: tuple[str, str],
    color: str,
    hover: str,
) -> None:
    """A line of shares in per cent: one field of the rows, counted out of another."""
    part, whole = share
    figure.add_scatter(
        name=name,
        x=list(x),
        y=[100.0 * row[part] / max(row[whole], 1) for row in rows],
        customdata=[[row[part], row[whole]] for row in rows],
        mode="lines+markers",
        line={"width": 2, "color": COLORS[color]},
        marker={"size": 8, "color": COLORS[color]},
        hovertemplate=f"{hover}{_of(whole)}",
    )


def _of(whole: str) -> str:
    """A count, what it is a share of, and the share, as Plotly shows them."""
    return f"%{{customdata[0]:,}} of %{{customdata[1]:,}} {whole} (%{{y:.3g}} %)<extra></extra>"
