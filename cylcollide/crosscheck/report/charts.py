"""The figures over a whole run, each None where it has no number for it: of a sweep over poses, then of families."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from cylcollide._types import BoolArray, Float64Array
from cylcollide.crosscheck.cases.words import MEASURED
from cylcollide.crosscheck.compare.disagreements import Kind
from cylcollide.crosscheck.number_format import SPACE, length, power, scale_words
from cylcollide.crosscheck.report import chart_style as style
from cylcollide.crosscheck.report import measures
from cylcollide.crosscheck.run.run import Result
from cylcollide.crosscheck.run.tally import ALL

FLOOR_MM, FLOOR_DEGREES = 1e-6, 1e-5
"""Smaller errors than a nanometre are rounding of the engine's answer; they are drawn at this level."""

DEGREE_TICKS = {-5: "10⁻⁵°", -4: "10⁻⁴°", -3: "0.001°", -2: "0.01°", -1: "0.1°", 0: "1°", 1: "10°", 2: "100°"}
LENGTH_TICKS = {-9: "1 nm", -8: "", -7: "", -6: "1 µm", -5: "", -4: "", -3: "1 mm", -2: "", -1: "", 0: "1 m"}
SHARE_TICKS = {decade: power(decade) for decade in range(-17, 1)}

Parts = Mapping[str, tuple[str, BoolArray, str]]
"""By name the colour of some hits, which they are, and what is said of each."""


def figures(result: Result) -> dict[str, go.Figure | None]:
    """Every plot by name, None for one without data."""
    hits = measures.right_hits(result.tally)
    sides: Parts = {
        "early": ("early", hits.error < 0.0, "%{y:.3g} mm early"),
        "late": ("late", hits.error > 0.0, "%{y:.3g} mm late"),
    }
    turned: Parts = {"one hit": ("neutral", hits.tilt > 0.0, "%{y:.3g}° off")}
    return {
        "distance": _graze_error(
            hits.depth, 1e3 * hits.error, sides, FLOOR_MM, style.logarithmic("distance error", style.MM_TICKS)
        ),
        "normal": _graze_error(
            hits.depth, hits.tilt, turned, FLOOR_DEGREES, style.logarithmic("normal error", DEGREE_TICKS)
        ),
        "phantom": _phantom_depths(measures.grazing_phantoms(result.tally)),
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
    rows = rows[style.thin_out(error[rows])]
    figure = style.chart(style.logarithmic("depth of the cut ÷ radius", SHARE_TICKS), axis)
    for name, (color, which, said) in parts.items():
        some = rows[which[rows]]
        if len(some):
            # Single precision is plenty for a pixel.
            x, y = depth[some].astype(np.float32), np.maximum(size[some], floor).astype(np.float32)
            style.add_dots(figure, name, x, y, color, f"{said} at depth %{{x:.2e}}", size=4, opacity=0.55)
    step = np.floor(2.0 * np.log10(depth[grazing]))
    steps = np.unique(step)
    medians = np.array([np.median(size[grazing][step == s]) for s in steps])
    shown = medians > 0.0  # a logarithmic axis has no place for an error of nothing
    middles = 10.0 ** ((steps[shown] + 0.5) / 2.0)
    style.add_line(figure, "median", middles, medians[shown], "ink", "median %{y:.3g}", marker={"size": 5})
    return figure


def _phantom_depths(outside: Float64Array) -> go.Figure | None:
    """Share of the grazing phantoms by how far outside the limb the bullet passes, in half decades."""
    if not len(outside):
        return None
    logs = np.log10(outside)
    edges = np.arange(np.floor(logs.min()), np.ceil(logs.max()) + 0.5, 0.5)
    counts, edges = np.histogram(logs, np.append(edges, edges[-1] + 0.5))
    decades = np.arange(np.floor(edges[0]), np.ceil(edges[-1]) + 1)
    below = {"title": "gap outside the limb ÷ radius", "tickvals": decades, "ticktext": [power(d) for d in decades]}
    figure = style.chart(below, style.shares("share of phantoms"))
    said = "%{customdata[0]} phantoms at %{customdata[1]:.1e} to %{customdata[2]:.1e}"
    custom = np.stack([counts, 10.0 ** edges[:-1], 10.0 ** edges[1:]], axis=1)
    style.add_bars(figure, edges, 100.0 * counts / counts.sum(), "phantom", said, custom)
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
    figure = style.chart(below, {"title": "hits", "tickformat": ","})
    said = "%{y:,} hits, %{customdata[0]:.2g} to %{customdata[1]:.2g} mm early"
    style.add_bars(figure, edges, counts, "early", said, 1e3 * 10.0 ** np.stack([edges[:-1], edges[1:]], axis=1))
    return figure


ENOUGH = 20
"""Values that a histogram needs at least."""


def by_family(result: Result) -> go.Figure | None:
    """Share of each family's segments with a wrong verdict or no answer, stacked by kind; counts stand in the bars."""
    every, things = result.summary["families"], f"{result.plan.thing}s"
    rows = [row for row in reversed(every if len(every) > 2 else every[:1]) if row["rays"] > 0]
    kinds = [kind for kind in (Kind.PHANTOM, Kind.MISSED, Kind.WRONG_LIMB, Kind.LOST) if every[-1][kind.field]]
    if not kinds or not rows:
        return None
    figure = style.chart(style.shares(f"share of the family's {things}"), {"dtick": 1}, barmode="stack", bargap=0.35)
    figure.update_layout(legend_traceorder="normal", uniformtext={"minsize": 9, "mode": "hide"})
    names = [f"all {things}" if row["family"] == ALL else row["family"] for row in rows]
    look = {"orientation": "h", "textposition": "inside", "insidetextanchor": "middle", "textangle": 0}
    for kind in kinds:
        counted = style.parts_of(rows, kind.field, "rays")
        text = [f"{count:,}" if count else "" for count, _ in counted["customdata"]]
        said = f"%{{y}}: {style.of(part=f' {kind.label}', axis='x')}<extra></extra>"
        shown = {"x": counted["y"], "customdata": counted["customdata"], "text": text, "hovertemplate": said}
        figure.add_bar(name=kind.label, y=names, marker_color=style.COLORS[kind.label], **shown, **look)
    return figure


def by_bound(result: Result) -> go.Figure | None:
    """How near the disagreements of each cause come to its bound: median, 99th percentile and nearest."""
    kind, cause, measured, bound = (result.tally.column(name) for name in ("kind", "cause", "measured", "bound"))
    some = np.isfinite(measured) & np.isfinite(bound) & (bound > 0) & ~np.isin(kind, (Kind.NORMAL, Kind.LOST))
    share = np.maximum(measured / np.where(some, bound, 1.0), 0.0)
    by_cause = {c.label: share[some & (cause == c)] for c in reversed(MEASURED)}
    by_cause = {label: values for label, values in by_cause.items() if (values > 0).any()}
    if not by_cause:
        return None
    below = {"title": "share of the bound", "range": [-0.03, 1.06], "tickformat": ".0%"}
    figure = style.chart(below, {"title": "", "dtick": 1})
    for name, part, symbol in (
        ("median", 50, "line-ns-open"),
        ("99 %", 99, "circle-open"),
        ("nearest", 100, "diamond"),
    ):
        x = [float(np.percentile(values, part)) for values in by_cause.values()]
        look = {"size": 9, "symbol": symbol, "line": {"width": 2, "color": style.COLORS["late"]}}
        style.add_dots(figure, name, x, list(by_cause), "late", f"%{{y}}, {name}: %{{x:.6f}} of the bound", **look)
    figure.add_vline(x=1.0, line={"color": style.COLORS["early"], "width": 2}, layer="below")
    return figure


def early_by_depth(result: Result) -> go.Figure | None:
    """How early grazing hits of one size of limb are reported, against how deep they cut, with the bound on it."""
    radius, depth, amount = measures.early_grazes(result.tally)
    if not len(radius):
        return None
    size = measures.arm(radius)
    rows = np.flatnonzero(radius == size)
    rows = rows[style.thin_out(amount[rows])]
    # Every second decade below, where there are many.
    decades = {decade: length(10.0 ** (decade - 3)) if decade % 2 else "" for decade in range(-9, 3)}
    below = style.logarithmic("depth of the cut", decades, tickangle=0)
    figure = style.chart(below, style.logarithmic("reported early by", style.MM_TICKS))
    said = "%{y:.3g} mm early where the cut is %{x:.2g} mm deep"
    style.add_dots(figure, "one hit", 1e3 * depth[rows], -1e3 * amount[rows], "early", said, size=5, opacity=0.5)
    cuts = np.geomspace(depth[rows].min(), depth[rows].max(), 60)
    allowed = 1e3 * measures.early_bound(size, cuts, measures.facts(result.summary)["stop"])
    said = "at most %{y:.3g} mm where the cut is %{x:.2g} mm deep"
    style.add_line(figure, "bound", 1e3 * cuts, allowed, "ink", said, mode="lines")
    medians = [row for row in result.summary["grazes"] if row["radius"] == size and row["early"]]
    x, y = [1e3 * row["depth"] * size for row in medians], [row["early_mm"][0] for row in medians]
    style.add_line(figure, "median", x, y, "late", "median %{y:.3g} mm")
    return figure


def phantoms_by_gap(result: Result) -> go.Figure | None:
    """How far from the limb phantom hits pass it, for limbs built by default, and where the walk stops."""
    found, stop = measures.gaps(result.tally), measures.facts(result.summary)["stop"]
    if len(found) < ENOUGH or not stop > 0:
        return None
    # Thirty bars of a twentieth of the stop: as far again as a half beyond it, so that nothing is seen to be there.
    width = 1e3 * stop / 20
    counts, edges = np.histogram(1e3 * found, width * np.arange(max(30, int(1e3 * found.max() / width) + 2)))
    below = {"title": "gap between segment and limb, mm", "range": [0.0, float(edges[-1])]}
    figure = style.chart(below, {"title": "phantom hits", "tickformat": ","}, showlegend=False)
    style.add_bars(figure, edges, counts, "phantom", "%{y:,} phantoms at about %{x:.3g} mm")
    figure.add_vline(x=1e3 * stop, line={"color": style.COLORS["early"], "width": 2, "dash": "dash"})
    place = {"x": 1e3 * stop, "y": 1.0, "yref": "paper", "xanchor": "left", "showarrow": False}
    figure.add_annotation(text=f" stop, {length(stop)}", font={"color": style.COLORS["early"]}, **place)
    return figure


def phantoms_by_scale(result: Result) -> go.Figure | None:
    """Share of the true misses that are reported as hits, by the size of the limb and all that is around it."""
    every = {family: measures.scale_rows(result.summary, (family,)) for family in measures.STRAIGHT}
    drawn = {family: rows for family, rows in every.items() if len(rows) > 1}
    if not drawn:
        return None
    radii = sorted({row["radius"] for rows in drawn.values() for row in rows})
    sizes = {"tickvals": radii, "ticktext": [scale_words(radius) for radius in radii], "tickangle": -45}
    below = {"title": "radius of the limb", "type": "log", **sizes}
    figure = style.chart(below, style.shares("misses reported as hits"))
    colors = dict(zip(measures.STRAIGHT, ("neutral", "phantom", "wrong limb"), strict=True))
    for family, rows in drawn.items():
        x, counted = [row["radius"] for row in rows], style.parts_of(rows, "phantom", "misses")
        style.add_line(figure, family, x, color=colors[family], hover=f"{family}: {style.of(' misses')}", **counted)
    return figure


def misses_by_margin(result: Result) -> go.Figure | None:
    """Shares missed and phantom by collision margin, for limbs as large as those of people."""
    rows = measures.margin_rows(result.summary)
    if not rows:
        return None
    labels = [length(row["margin"]).replace(SPACE, "<br>") if row["margin"] else "0" for row in rows]
    below = {"title": "collision margin", "type": "category", "tickangle": 0, "dtick": 1}
    figure = style.chart(below, style.shares("share"))
    for kind, whole in (("missed", "hits"), ("phantom", "misses")):
        said, counted = f"margin %{{x}}: {style.of(f' {whole}')}", style.parts_of(rows, kind, whole)
        style.add_line(figure, f"{kind}, of the true {whole}", labels, color=kind, hover=said, **counted)
    return figure


def by_construction(result: Result) -> go.Figure | None:
    """Shares missed and phantom by the way in which the limb was built, for limbs as large as those of people."""
    rows = measures.construction_rows(result.summary)
    if not rows:
        return None
    figure = style.chart({"title": "built by", "tickangle": 0}, style.shares("share"), barmode="group", bargap=0.35)
    for kind, whole in (("phantom", "misses"), ("missed", "hits")):
        look = {"marker_color": style.COLORS[kind], "hovertemplate": f"%{{x}}: {style.of(f' {whole}')}<extra></extra>"}
        built = [BUILT[row["construction"]] for row in rows]
        figure.add_bar(name=f"{kind}, of the true {whole}", x=built, **style.parts_of(rows, kind, whole), **look)
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
    most = 1.15 * max(call["asked"] for call in calls)
    below = {"title": "segments in one call", "type": "category", "tickangle": 0}
    beside = {"title": "segments", "tickformat": ",", "range": [0.0, most]}
    figure = style.chart(below, beside, barmode="overlay", bargap=0.45)
    asked, answered = ([call[name] for call in calls] for name in ("asked", "answered"))
    figure.add_bar(name="asked", x=labels, y=asked, marker_color="rgba(127, 142, 163, 0.3)")
    said = {"text": [f"{n:,}" for n in answered], "textposition": "outside", "textangle": 0}
    figure.add_bar(name="answered", x=labels, y=answered, marker_color=style.COLORS["true"], **said)
    return figure
