"""The page of a run: one HTML file that needs no network, no server and no other file to be looked at.

It shows the sections for which the run has data: a sweep over poses has figures of grazing hits, families have causes
and advice, a run with ``--engines`` a scoreboard.
"""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from cylcollide.crosscheck import number_format
from cylcollide.crosscheck.cases.case import BULLET, Case
from cylcollide.crosscheck.cases.case_words import headline
from cylcollide.crosscheck.cases.cause_words import explained, measured_words, quantity
from cylcollide.crosscheck.causes.cause import Cause
from cylcollide.crosscheck.records import JsonObject
from cylcollide.crosscheck.report import bullet_charts, bullet_sentences, cause_charts, measures, sentences
from cylcollide.crosscheck.report.advice import advice
from cylcollide.crosscheck.report.case_choice import Drawn, clearest_cases, radius_of, worst_cases, worst_in_turns
from cylcollide.crosscheck.report.chart_style import COLORS
from cylcollide.crosscheck.report.close_up import cut
from cylcollide.crosscheck.report.rendering import Panel, as_json, template
from cylcollide.crosscheck.report.repro_scripts import write_case_files
from cylcollide.crosscheck.report.view_3d import views
from cylcollide.crosscheck.run.plan import PosesPlan
from cylcollide.crosscheck.run.run import Result

Chart = Callable[[Result], go.Figure | None]
Links = Sequence[tuple[str, str]]
"""Of each of the worst cases the file and the script, relative to the page."""

CHARTS: dict[str, tuple[tuple[Cause, ...], Chart, str, str]] = {
    "depth": (
        (Cause.TERMINATION,),
        cause_charts.early_by_depth,
        "The shallower the cut, the earlier the hit",
        "Segments that graze the side of a limb of {arm} radius. The line is the bound that follows from the "
        "measured stop for the flattest of them, at 30° to the axis; {earlier}.",
    ),
    "gap": (
        (Cause.TERMINATION, Cause.SEGMENT_END),
        cause_charts.phantoms_by_gap,
        "Phantoms end where the stop does",
        "Segments of the families {spread}, whose distance from the limb may be any, at limbs built by default. "
        "{beyond} beyond the stop of {stop}, which was measured on its own.",
    ),
    "scale": (
        (Cause.TERMINATION,),
        cause_charts.phantoms_by_scale,
        "Phantoms fade as the world grows",
        "The same segments at limbs of every size, in a world that grows with them: the share of the true misses "
        "that {engine} reports as hits.",
    ),
    "margin": (
        (Cause.NO_CORE_DISTANCE, Cause.RIM_ROUNDING, Cause.API_LIMIT, Cause.TERMINATION),
        cause_charts.misses_by_margin,
        "Too thin a margin loses hits, too thick a one as well",
        "Limbs of 1 cm to 1 m radius with the collision margin changed. Thin margins miss for want of a distance "
        "at the core; thick ones round the rim away and, once larger than the limb, turn it inside out.",
    ),
    "construction": (
        (Cause.SHAPE, Cause.TERMINATION),
        cause_charts.by_construction,
        "The same limb, built in four ways",
        "Limbs of 1 cm to 1 m radius by createCollisionShape (geom), loadMJCF, and loadURDF without and with "
        "URDF_USE_IMPLICIT_CYLINDER.",
    ),
    "calls": (
        (Cause.API_LIMIT,),
        cause_charts.answers_by_call,
        "Rays that a call loses",
        "Answers that came back from one call, beside the segments that went in.",
    ),
}
"""Figures over the whole run: the causes that they may stand with, the first that was found; how, title and caption."""


def write_page(result: Result, folder: Path) -> Path:
    """Write ``folder/index.html``, and its worst cases as files and scripts, and return its path.

    Parameters
    ----------
    result
        A run; one family and a run without disagreements are fine.
    folder
        Where to write; made if needed. The other files of a run are linked to. An engine but PyBullet has no scripts,
        and the page no links to them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = write_case_files(_worst(result), folder) if result.plan.blamed["engine"] == BULLET else []
    links = [(case.relative_to(folder).as_posix(), script.relative_to(folder).as_posix()) for case, script in files]
    path = folder / "index.html"
    path.write_text(page_html(result, links), encoding="utf-8")
    return path


def page_html(result: Result, links: Links = ()) -> str:
    """Return the page as text; ``links`` are those of the worst cases, to their file and script."""
    summary, worst, posed = result.summary, _worst(result), isinstance(result.plan, PosesPlan)
    hits = measures.right_hits(result.tally)
    page = template("page.html.j2", escape=True, length_of=_length, angle_of=_angle, percent=_percent, fixed=_fixed)
    return page.render(
        title=sentences.title(summary, result.plan.thing),
        verdict=bullet_sentences.verdict(summary, hits.error, hits.tilt) if posed else sentences.verdict(summary),
        engine=summary["engine"],
        summary=summary,
        thing=result.plan.thing,
        posed=posed,
        colors=COLORS,
        not_tried=sentences.not_tried_words(summary),
        tiles=_tiles(summary, posed),
        by_family=_panel(result, "family", cause_charts.by_family, "Wrong verdicts by family", ""),
        by_bound=_panel(result, "bound", cause_charts.by_bound, "How near the causes come to their bounds", ""),
        panels=_bullet_panels(result) if posed else [],
        causes=[_cause(result, row) for row in summary["causes"]],
        advice=advice(summary),
        rows=[_view(result, rank, case, links) for rank, case in enumerate(worst, 1)],
        scene=as_json(views(summary["calibrations"], worst)),
        command=" ".join(["cylcollide crosscheck", *result.plan.options]),
        plotly=Markup(get_plotlyjs()),
    )


def _worst(result: Result) -> list[Case]:
    if not result.plan.finds_causes:
        return worst_in_turns(result.tally.cases)
    causes = [next(cause for cause in Cause if cause.label == row["cause"]) for row in result.summary["causes"]]
    return worst_cases(result.tally.cases, causes)


def _tiles(summary: JsonObject, posed: bool) -> list[dict[str, str]]:
    """The five numbers at the top."""
    total, open_ = summary["families"][-1], summary["unexplained"]
    counts = {"phantom hits": "phantom", "missed": "missed", "wrong limb": "wrong_limb"}
    tiles = [
        {"label": label, "value": f"{total[field]:,}", "color": field.replace("_", "-")}
        for label, field in counts.items()
    ]
    if posed:
        median, _, most = (_length(millimetres) for millimetres in total["early_mm"])
        wrong, proved = total["disagreements"], total["proved"]
        value = f"all {wrong:,}" if proved == wrong > 0 else f"{proved:,} of {wrong:,}"
        tiles.append({"label": f"early at worst, {median} in the median", "value": most, "color": "early"})
        return [*tiles, {"label": "disagreements proved", "value": value, "color": "true"}]
    known = open_["disagreements"] - open_["count"]
    value = "all" if not open_["count"] else f"{known:,}"
    tiles.append({"label": "without an answer", "value": f"{total['lost']:,}", "color": "lost"})
    label = f"of {open_['disagreements']:,} disagreements explained"
    return [*tiles, {"label": label, "value": value, "color": "true"}]


def _bullet_panels(result: Result) -> list[Panel]:
    """The figures of a sweep over poses with their titles and words."""
    hits, plots = measures.right_hits(result.tally), bullet_charts.figures(result)
    distance = bullet_sentences.graze_words(hits.depth, abs(hits.error), number_format.length, "distance error")
    normal = bullet_sentences.graze_words(hits.depth, hits.tilt, number_format.angle, "normal's error")
    family = cause_charts.by_family(result)
    return [
        Panel.of("distance", "Distance error of grazing hits", distance, plots["distance"]),
        Panel.of("normal", "Normal error of grazing hits", normal, plots["normal"]),
        Panel.of("family", "Wrong answers by family", bullet_sentences.family_words(result.summary), family),
        Panel.of(
            "phantom", "Phantom hits by gap to the limb", bullet_sentences.phantom_words(result), plots["phantom"]
        ),
        Panel.of("early", "How early the early hits are", bullet_sentences.early_words(result), plots["early"]),
    ]


def _cause(result: Result, row: JsonObject) -> JsonObject:
    """One cause with its words, its numbers and its figures."""
    summary = result.summary
    cause = next(cause for cause in Cause if cause.label == row["cause"])
    measured = sentences.facts(summary)
    cases = clearest_cases(result.tally.cases, cause)
    panels = [_cut_panel(summary, cause, case) for case in cases]
    present = [found["cause"] for found in summary["causes"]]
    for name, (causes, chart, title, caption) in CHARTS.items():
        home = next((c for c in causes if c.label in present), None)
        if home == cause and (panel := _panel(result, name, chart, title, caption)) is not None:
            panels.append(panel)
    return {
        **row,
        "name": cause.name.lower().replace("_", "-"),
        "text": explained(cause, summary["engine"], measured),
        "kinds": sentences.kinds_words(row["kinds"]),
        "worst": {kind: quantity(amount, kind) for kind, amount in row["worst"].items()},
        "bound": sentences.bound_words(row["nearest_to_bound"], cause),
        "changes": sentences.change_rows(row["interventions"]["changes"]),
        "panels": panels,
    }


def _panel(result: Result, name: str, chart: Chart, title: str, caption: str) -> Panel | None:
    """A figure of a run that finds causes, None where there is nothing to plot."""
    figure = chart(result) if result.plan.finds_causes else None
    return None if figure is None else Panel.of(name, title, caption.format(**_caption_facts(result)), figure)


def _caption_facts(result: Result) -> dict[str, str]:
    """What captions say about the run."""
    summary, measured = result.summary, sentences.facts(result.summary)
    radii = np.array([row["radius"] for row in summary["grazes"] if row["early"]])
    gaps = measures.gaps(result.tally)
    spread = [family for family in measures.SPREAD if family in result.tally.families]
    earlier = measures.earlier_than_bound(result)
    beyond = int(np.sum(gaps > measured["stop"] * (1 + 1e-9)))
    return {
        "engine": summary["engine"],
        "earlier": "no hit is earlier" if not earlier else f"{number_format.counted(earlier, 'hit')} lie beyond it",
        "spread": ", ".join(spread),
        "stop": number_format.length(measured["stop"]),
        "arm": sentences.scale_words(measures.arm(radii)) if len(radii) else "",
        "beyond": f"None of {len(gaps):,} lies" if not beyond else f"{beyond:,} of {len(gaps):,} lie",
    }


def _cut_panel(summary: JsonObject, cause: Cause, case: Case) -> Panel:
    text = sentences.case_words(case)
    size = f", {sentences.amount_words(case)}" if abs(case.amount or 0.0) > 1e-9 * radius_of(case) else ""
    measured = measured_words(summary["engine"], case)
    name = f"{cause.name}-{case.kind}".lower().replace("_", "-").replace(" ", "-")
    figure = cut(Drawn.of(case, summary["calibrations"]))
    return Panel.of(f"cut-{name}", f"{case.kind.capitalize()}{size}", f"{text} {measured}".strip(), figure)


def _view(result: Result, rank: int, case: Case, links: Links) -> JsonObject:
    """One of the worst cases as the viewer and the table name it."""
    file, script = links[rank - 1] if rank <= len(links) else ("", "")
    plan, about = result.plan, case.limb_engine if case.limb_engine >= 0 else case.limb_true
    if isinstance(plan, PosesPlan):
        words = {"limb": case.name(about), "text": headline(case), "motion": plan.poses.motion[case.scene]}
        words["time"] = f"{plan.poses.time[case.scene]:.2f} s"
    else:
        words = {"limb": case.cause, "text": sentences.case_words(case)}
    return {
        "rank": rank,
        "kind": case.kind,
        "cause": case.cause,
        "size": "" if case.amount is None else sentences.amount_words(case),
        **words,
        "family": case.family,
        "row": case.row,
        "after_true": _after(case.fraction_true, case.length),
        "after_engine": "no answer" if case.kind == "lost" else _after(case.fraction_engine, case.length),
        "file": file,
        "script": script,
    }


def _after(fraction: float | None, length: float) -> str:
    return "no hit" if fraction is None else f"{fraction * length:.7g} m"


def _length(millimetres: float | None) -> str:
    return number_format.length(math.nan if millimetres is None else millimetres / 1e3)


def _angle(degrees: float | None) -> str:
    return number_format.angle(math.nan if degrees is None else degrees)


def _fixed(number: float | None) -> str:
    return number_format.fixed(math.nan if number is None else number)


def _percent(share: float) -> str:
    return number_format.percent(round(share * 1e9), 10**9)
