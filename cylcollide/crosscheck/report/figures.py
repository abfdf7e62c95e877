"""The figures of a run; each is None if the run has no numbers for it. ``wording.toml`` has titles and captions.

A figure has data, axes and one colour per meaning. The page sets fonts, lines and backgrounds for light and dark.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import plotly.graph_objects as go

from cylcollide._types import Float64Array
from cylcollide.crosscheck.cases.wording import CAUSES, length, power, scale_words
from cylcollide.crosscheck.compare.disagreements import COUNTED, Cause, Kind
from cylcollide.crosscheck.engine import DEFAULT
from cylcollide.crosscheck.records import JsonObject
from cylcollide.crosscheck.report.chart_style import (
    COLORS,
    add_dots,
    add_line,
    chart,
    logarithmic,
    percent_axis,
    share_words,
    shares,
    thin_out,
)
from cylcollide.crosscheck.report.drawn_case import HUMAN
from cylcollide.crosscheck.run.run import FinishedRun
from cylcollide.crosscheck.run.tally import ALL, GRAZES, Tally

ARM = 0.05
"""Metres: if limbs of several sizes were grazed, the figures show the size nearest to this radius."""
FLATTEST = np.pi / 6
"""Smallest angle between a segment of the grazing family and the axis."""
SPREAD = ("generic", "same-line", "elbow", "humanoid")
"""Families whose segments pass at any distance from the limb, not at powers of ten."""
STRAIGHT = {"generic": "neutral", GRAZES: "phantom", "rim": "wrong limb"}
"""Families whose shares of phantoms are drawn by limb size, with their colours: their worlds differ only in scale."""
FEWEST_HITS = 20
"""Least number of values for a histogram."""
NANOMETRE = 1e-9
"""Metres: smaller errors are rounding of the engine's fraction, and are drawn at this level."""

LENGTHS = {-9: "1 nm", -8: "", -7: "", -6: "1 µm", -5: "", -4: "0.1 mm", -3: "1 mm", -2: "1 cm", -1: "", 0: "1 m"}
DEGREES = {-5: "10⁻⁵°", -4: "10⁻⁴°", -3: "0.001°", -2: "0.01°", -1: "0.1°", 0: "1°", 1: "10°", 2: "100°"}
SHARES = {decade: power(decade) for decade in range(-17, 1)}
BUILT = {"geom": "GEOM_<br>CYLINDER", "mjcf": "loadMJCF", "urdf": "loadURDF", "urdf-implicit": "loadURDF,<br>implicit"}
"""Axis labels of the constructions."""


def facts(summary: JsonObject) -> dict[str, float]:
    """Measurements on limbs with the default setup, in metres: the stop, the rim's radius, the radius of big limbs."""
    default = [c for c in summary["calibrations"] if c["setup"] == asdict(DEFAULT)] or summary["calibrations"]
    big = [c["big_from"] for c in summary["calibrations"] if c["big_from"] is not None]
    most = {name: max((c[name] for c in default), default=math.nan) for name in ("stop", "rim")}
    return {**most, "big": min(big, default=math.nan)}


def caption_facts(result: FinishedRun) -> dict[str, str]:
    """The values of the fields in the captions."""
    stop, radius = facts(result.summary)["stop"], _arm(result)
    earlier, passed = earlier_than_bound(result), _gaps(result)
    beyond = int(np.sum(passed > stop * (1 + 1e-9)))
    lie = f"{beyond:,} of {len(passed):,} lie" if beyond else f"None of {len(passed):,} lies"
    bound = f" The line is the bound by the stop, for a segment at 30° to the axis: {earlier or 'no'} hits are earlier."
    return {
        "engine": result.summary["engine"],
        "grazed": f"limbs of {scale_words(radius)} radius" if radius else "limbs",
        "bound": bound if stop > 0 else "",
        "beyond": f" {lie} beyond the stop of {length(stop)}, which was measured separately." if stop > 0 else "",
    }


def _families(tally: Tally) -> Any:
    """The family of every disagreement, from the key of its chunk."""
    return np.repeat([key.family for key in tally.chunks], [len(c.columns["kind"]) for c in tally.chunks.values()])


def _arm(result: FinishedRun) -> float:
    """The grazed radius that is nearest to an arm's, in metres; 0 in a sweep over poses."""
    radii = np.array([row["radius"] for row in result.summary["grazes"]])
    return float(radii[np.argmin(np.abs(np.log(radii / ARM)))]) if len(radii) else 0.0


def _graze_depth(result: FinishedRun) -> Float64Array:
    """Depth of the cut of every grazing hit as a share of the radius, nan for others; limbs of one size only."""
    depth: Float64Array = result.tally.column("depth")
    if not result.plan.finds_causes:
        return depth
    shown = (_families(result.tally) == GRAZES) & (result.tally.of_scene("radius") == _arm(result))
    return np.where(shown, depth / max(_arm(result), 1e-9), np.nan)


def early_bound(radius: Float64Array | float, depth: Float64Array, stop: float) -> Float64Array:
    """Largest early error of a segment at 30° to the axis by a shell of thickness ``stop``; metres.

    Across the axis a line at distance R - depth from it hits the shell √((R + stop)² - (R - depth)²) and the side
    √(R² - (R - depth)²) before its middle; for a segment at an angle both are divided by the sine.
    """
    passes = (radius - depth) ** 2
    across: Float64Array = np.sqrt((radius + stop) ** 2 - passes) - np.sqrt(radius**2 - passes)
    return np.asarray(across / np.sin(FLATTEST))


def earlier_than_bound(result: FinishedRun) -> int:
    """Number of hits of the grazing family that are earlier than the stop allows; limbs of all sizes."""
    kind, cause, amount, depth = (result.tally.column(n, GRAZES) for n in ("kind", "cause", "amount", "depth"))
    radius = result.tally.of_scene("radius", GRAZES)
    early = (kind == Kind.EARLY) & (cause == Cause.TERMINATION) & (depth > 0)
    allowed = early_bound(radius[early], depth[early], facts(result.summary)["stop"])
    # The depth is that of the construction, accurate to the rounding of its coordinates.
    return int(np.sum(-amount[early] > allowed * (1 + 1e-6)))


def _gaps(result: FinishedRun) -> Float64Array:
    """Gaps in metres between phantoms and limbs with the default setup, for the `SPREAD` families or a character."""
    tally = result.tally
    kind, amount = tally.column("kind"), tally.column("amount")
    shown = (kind == Kind.PHANTOM) & (amount > 0)
    if result.plan.finds_causes:
        usual = np.array([setup == asdict(DEFAULT) for setup in tally.of_scene("setup")], dtype=np.bool_)
        shown &= np.isin(_families(tally), SPREAD) & usual
    return np.asarray(amount[shown])


def pooled(rows: Sequence[JsonObject], of: Callable[[JsonObject], Any]) -> dict[Any, JsonObject]:
    """Sums of rows of ``setups`` by the value of ``of``, in its order; ``misses`` are the true ones."""
    fields, sums = ("rays", "hits", "missed", "phantom"), {}
    for value in sorted({of(row) for row in rows}):
        mine = {field: sum(row[field] for row in rows if of(row) == value) for field in fields}
        sums[value] = mine | {"misses": mine["rays"] - mine["hits"]}
    return sums


def _by_setup(result: FinishedRun, family: str, field: str) -> dict[Any, JsonObject]:
    """Sums of the rows of a family by a field of their setup, for limbs of human size."""
    rows = [row for row in result.summary["setups"] if row["family"] == family]
    return pooled([row for row in rows if HUMAN[0] <= row["radius"] <= HUMAN[1]], lambda row: row["setup"][field])


def by_family(result: FinishedRun) -> go.Figure | None:
    """Share of each family's segments with a wrong verdict or no answer, stacked by kind; counts are in the bars."""
    every, things = result.summary["families"], f"{result.plan.thing}s"
    rows = [row for row in reversed(every if len(every) > 2 else every[:1]) if row["rays"] > 0]
    kinds = [kind for kind in COUNTED if every[-1][kind.field]]
    if not kinds or not rows:
        return None
    figure = chart(percent_axis(f"share of the family's {things}"), {"dtick": 1}, barmode="stack", bargap=0.35)
    figure.update_layout(legend_traceorder="normal", uniformtext={"minsize": 9, "mode": "hide"})
    names = [f"all {things}" if row["family"] == ALL else row["family"] for row in rows]
    look = {"orientation": "h", "textposition": "inside", "insidetextanchor": "middle", "textangle": 0}
    for kind in kinds:
        parts = shares(rows, kind.field, "rays")
        text = [f"{count:,}" if count else "" for count, _ in parts["customdata"]]
        said = f"%{{y}}: {share_words(f' {kind.label}', axis='x')}<extra></extra>"
        look |= {"x": parts["y"], "customdata": parts["customdata"], "text": text, "hovertemplate": said}
        figure.add_bar(name=kind.label, y=names, marker_color=COLORS[kind.label], **look)
    return figure


def by_bound(result: FinishedRun) -> go.Figure | None:
    """Shares of the bound that the disagreements of each cause reach: median, 99th percentile and nearest."""
    cause, share = result.tally.column("cause"), np.maximum(result.tally.ratios, 0.0)
    some = np.isfinite(share)
    by_cause = {c.label: values for c in reversed(CAUSES) if ((values := share[some & (cause == c)]) > 0).any()}
    if not by_cause:
        return None
    figure = chart({"title": "share of the bound", "range": [-0.03, 1.06], "tickformat": ".0%"}, {"dtick": 1})
    marks = {"median": (50, "line-ns-open"), "99 %": (99, "circle-open"), "nearest": (100, "diamond")}
    for name, (part, symbol) in marks.items():
        x = [float(np.percentile(values, part)) for values in by_cause.values()]
        look = {"size": 9, "symbol": symbol, "line": {"width": 2, "color": COLORS["late"]}}
        add_dots(figure, name, x, list(by_cause), "late", f"%{{y}}, {name}: %{{x:.6f}} of the bound", **look)
    figure.add_vline(x=1.0, line={"color": COLORS["early"], "width": 2}, layer="below")
    return figure


def distance_by_depth(result: FinishedRun) -> go.Figure | None:
    """Distance errors of grazing hits against the depth of the cut, with the bound on early ones if it is known."""
    sides = {Kind.EARLY: "%{y:.3g} m early", Kind.LATE: "%{y:.3g} m late"}
    figure = _by_depth(result, sides, logarithmic("distance error", LENGTHS), 1.0)
    radius, stop = _arm(result), facts(result.summary)["stop"]
    if figure is not None and radius and stop > 0:
        cuts = np.geomspace(1e-7, 0.1, 60)
        allowed, said = early_bound(radius, cuts * radius, stop), "at most %{y:.3g} m at depth %{x:.2g}"
        add_line(figure, "bound", cuts, allowed, "ink", said, mode="lines")
    return figure


def normal_by_depth(result: FinishedRun) -> go.Figure | None:
    """Normal errors of grazing hits against the depth of the cut."""
    return _by_depth(result, {Kind.NORMAL: "%{y:.3g}° off"}, logarithmic("normal error", DEGREES), math.degrees(1.0))


def _by_depth(result: FinishedRun, sides: dict[Kind, str], axis: JsonObject, unit: float) -> go.Figure | None:
    """Errors of grazing hits against the depth of the cut, and medians of both in each half decade of depth."""
    depth, kind = _graze_depth(result), result.tally.column("kind")
    size = unit * np.abs(result.tally.column("amount"))
    hits = np.flatnonzero(np.isin(kind, list(sides)) & (depth > 0.0) & (size > 0.0))
    if len(hits) == 0:
        return None
    figure = chart(logarithmic("depth of the cut ÷ radius", SHARES), axis)
    rows = hits[thin_out(size[hits])]
    for side, said in sides.items():
        some = rows[kind[rows] == side]
        # Single precision suffices for pixels.
        x, y = depth[some].astype(np.float32), np.maximum(size[some], NANOMETRE * unit).astype(np.float32)
        if len(some):
            add_dots(figure, side.label, x, y, side.label, f"{said} at depth %{{x:.2e}}", size=4, opacity=0.55)
    step = np.round(2.0 * np.log10(depth[hits]))
    depths, sizes = ([float(np.median(part[hits][step == s])) for s in np.unique(step)] for part in (depth, size))
    add_line(figure, "median", depths, sizes, "ink", "median %{y:.3g}", marker={"size": 5})
    return figure


def phantoms_by_gap(result: FinishedRun) -> go.Figure | None:
    """Gaps between phantom hits and their limbs, with the stop."""
    figure, stop = _histogram(_gaps(result), "phantom", "gap between segment and limb"), facts(result.summary)["stop"]
    if figure is not None and stop > 0:
        figure.add_vline(x=math.log10(stop), line={"color": COLORS["early"], "width": 2, "dash": "dash"})
        place = {"x": math.log10(stop), "y": 1.0, "yref": "paper", "xanchor": "left", "showarrow": False}
        figure.add_annotation(text=f" stop, {length(stop)}", font={"color": COLORS["early"]}, **place)
    return figure


def early_hits(result: FinishedRun) -> go.Figure | None:
    """Distance errors of the early hits."""
    amount = result.tally.column("amount")
    return _histogram(-amount[(result.tally.column("kind") == Kind.EARLY) & (amount < 0)], "early", "reported early by")


def _histogram(lengths: Float64Array, color: str, title: str) -> go.Figure | None:
    """Histogram of metres by their logarithm; the first bar includes all below a nanometre."""
    if len(lengths) < FEWEST_HITS:
        return None
    logs = np.log10(np.maximum(lengths, NANOMETRE))
    counts, edges = np.histogram(logs, np.linspace(np.floor(logs.min()), np.ceil(logs.max() + 1e-9), 61))
    ticks = [tick for tick in LENGTHS if edges[0] <= tick <= edges[-1]]
    below = {"title": title, "tickvals": ticks, "ticktext": [LENGTHS[tick] for tick in ticks]}
    figure = chart(below, {"title": "hits", "tickformat": ","}, showlegend=False)
    said = "%{y:,} hits, %{customdata[0]:.2g} to %{customdata[1]:.2g} mm<extra></extra>"
    limits = 1e3 * 10.0 ** np.stack([edges[:-1], edges[1:]], axis=1)
    look = {"width": 0.92 * np.diff(edges), "marker_color": COLORS[color], "hovertemplate": said, "customdata": limits}
    figure.add_bar(x=(edges[:-1] + edges[1:]) / 2, y=counts, **look)
    return figure


def phantoms_by_scale(result: FinishedRun) -> go.Figure | None:
    """Share of the true misses that are reported as hits, by the scale of the limb and its surroundings."""
    usual = [row for row in result.summary["setups"] if row["setup"] == asdict(DEFAULT)]
    every = {f: pooled([row for row in usual if row["family"] == f], lambda row: row["radius"]) for f in STRAIGHT}
    every = {family: sums for family, sums in every.items() if any(row["phantom"] for row in sums.values())}
    radii = sorted({radius for sums in every.values() for radius in sums})
    sizes = {"tickvals": radii, "ticktext": [scale_words(radius) for radius in radii], "tickangle": -45}
    figure = chart({"title": "radius of the limb", "type": "log", **sizes}, percent_axis("misses reported as hits"))
    for family, sums in every.items():
        look = shares(list(sums.values()), "phantom", "misses")
        add_line(figure, family, list(sums), color=STRAIGHT[family], hover=f"{family}: {share_words()}", **look)
    return figure if every else None


def misses_by_margin(result: FinishedRun) -> go.Figure | None:
    """Shares missed and phantom by collision margin, for limbs of human size."""
    sums = _by_setup(result, "margin-sweep", "margin")
    labels = [length(margin) if margin else "0" for margin in sums]
    margins = {"title": "collision margin", "type": "category", "tickangle": -45, "dtick": 1}
    figure = chart(margins, percent_axis("share"))
    for kind, whole in (("missed", "hits"), ("phantom", "misses")):
        said, look = f"margin %{{x}}: {share_words()}", shares(list(sums.values()), kind, whole)
        add_line(figure, f"{kind}, of the true {whole}", labels, color=kind, hover=said, **look)
    return figure if sums else None


def by_construction(result: FinishedRun) -> go.Figure | None:
    """Shares missed and phantom by construction, for limbs of human size."""
    sums = _by_setup(result, "construction", "construction")
    figure = chart({"title": "built by", "tickangle": 0}, percent_axis("share"), barmode="group", bargap=0.35)
    for kind, whole in (("phantom", "misses"), ("missed", "hits")):
        look = {"marker_color": COLORS[kind], "hovertemplate": f"%{{x}}: {share_words()}<extra></extra>"}
        look |= shares(list(sums.values()), kind, whole)
        figure.add_bar(name=f"{kind}, of the true {whole}", x=[BUILT[way] for way in sums], **look)
    return figure if sums else None


def answers_by_call(result: FinishedRun) -> go.Figure | None:
    """Number of answers to each call of a whole batch, beside the number of segments."""
    calls = result.summary["calls"]
    labels = [f"{call['asked']:,}<br>{'as lists' if call['as_lists'] else 'as arrays'}" for call in calls]
    beside = {"title": "segments", "tickformat": ",", "range": [0, max((1.15 * c["asked"] for c in calls), default=1)]}
    below = {"title": "segments in one call", "type": "category", "tickangle": 0}
    figure = chart(below, beside, barmode="overlay", bargap=0.45)
    asked, answered = ([call[name] for call in calls] for name in ("asked", "answered"))
    figure.add_bar(name="asked", x=labels, y=asked, marker_color="rgba(127, 142, 163, 0.3)")
    said = {"text": [f"{n:,}" for n in answered], "textposition": "outside", "textangle": 0}
    figure.add_bar(name="answered", x=labels, y=answered, marker_color=COLORS["true"], **said)
    return figure if calls else None


FIGURES: dict[str, Callable[[FinishedRun], go.Figure | None]] = {
    "family": by_family,
    "bound": by_bound,
    "distance": distance_by_depth,
    "normal": normal_by_depth,
    "gap": phantoms_by_gap,
    "early": early_hits,
    "scale": phantoms_by_scale,
    "margin": misses_by_margin,
    "construction": by_construction,
    "calls": answers_by_call,
}
"""The functions of the figures, by the name in ``wording.toml``."""
