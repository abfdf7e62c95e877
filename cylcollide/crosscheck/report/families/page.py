"""The page of a run by families: one HTML file that needs no network, no server and no other file to be looked at."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from cylcollide.crosscheck import number_format
from cylcollide.crosscheck.cases.case import Case
from cylcollide.crosscheck.causes.kinds_and_causes import Cause
from cylcollide.crosscheck.generate.families import FAMILIES
from cylcollide.crosscheck.report.chart_style import COLORS
from cylcollide.crosscheck.report.families import charts, measures, sentences
from cylcollide.crosscheck.report.families.advice import advice
from cylcollide.crosscheck.report.families.case_choice import Drawn, radius_of, telling_cases, worst_cases
from cylcollide.crosscheck.report.families.cause_texts import EXPLAINED
from cylcollide.crosscheck.report.families.close_up import cut
from cylcollide.crosscheck.report.families.view_3d import views
from cylcollide.crosscheck.report.html import Panel, as_json, bare
from cylcollide.crosscheck.report.template_loader import template
from cylcollide.crosscheck.run.families import FamiliesResult

Record = dict[str, Any]
Files = Sequence[tuple[Path, Path]]
CaseFiles = Callable[[list[Case], Path], Files]
"""Writes a file and a script of each case into a folder and returns their paths."""

Chart = Callable[[FamiliesResult], go.Figure | None]

CHARTS: dict[str, tuple[tuple[Cause, ...], Chart, str, str]] = {
    "depth": (
        (Cause.TERMINATION,),
        charts.early_by_depth,
        "The shallower the cut, the earlier the hit",
        "Segments that graze the side of a limb of {arm} radius. The line is the bound that follows from the "
        "measured stop "
        "for the flattest of them, at 30° to the axis; {earlier}.",
    ),
    "gap": (
        (Cause.TERMINATION, Cause.SEGMENT_END),
        charts.phantoms_by_gap,
        "Phantoms end where the stop does",
        "Segments of the families {spread}, whose distance from the limb may be any, at limbs built by default. "
        "{beyond} beyond the stop of {stop}, which was measured on its own.",
    ),
    "scale": (
        (Cause.TERMINATION,),
        charts.phantoms_by_scale,
        "Phantoms fade as the world grows",
        "The same segments at limbs of every size, in a world that grows with them: the share of the true misses "
        "that {engine} "
        "reports as hits.",
    ),
    "margin": (
        (Cause.NO_CORE_DISTANCE, Cause.RIM_ROUNDING, Cause.API_LIMIT, Cause.TERMINATION),
        charts.misses_by_margin,
        "Too thin a margin loses hits, too thick a one as well",
        "Limbs of 1 cm to 1 m radius with the collision margin changed. Thin margins miss for want of a distance "
        "at the core; "
        "thick ones round the rim away and, once larger than the limb, turn it inside out.",
    ),
    "construction": (
        (Cause.SHAPE, Cause.TERMINATION),
        charts.by_construction,
        "The same limb, built in four ways",
        "Limbs of 1 cm to 1 m radius by createCollisionShape (geom), loadMJCF, and loadURDF without and with "
        "URDF_USE_IMPLICIT_CYLINDER.",
    ),
    "calls": (
        (Cause.API_LIMIT,),
        charts.answers_by_call,
        "Rays that a call loses",
        "Answers that came back from one call, beside the segments that went in.",
    ),
}
"""Figures over the whole run: the causes that they may stand with, the first that was found; how, title and caption."""


def write_page(result: FamiliesResult, folder: Path, case_files: CaseFiles | None = None) -> Path:
    """Write ``folder/index.html``, and the files of its worst cases, and return its path.

    Parameters
    ----------
    result
        A run; one family and a run without disagreements are fine.
    folder
        Where to write; made if needed. ``summary.json``, ``cases.json`` and ``tables/`` are linked to.
    case_files
        Writes the cases that the page links to; None leaves the links out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    worst = _worst(result)
    files = [] if case_files is None else list(case_files(worst, folder))
    links = [(case.relative_to(folder).as_posix(), script.relative_to(folder).as_posix()) for case, script in files]
    path = folder / "index.html"
    path.write_text(page_html(result, links), encoding="utf-8")
    return path


def page_html(result: FamiliesResult, links: Sequence[tuple[str, str]] = ()) -> str:
    """Return the page as text; ``links`` are those of the worst cases, to their file and script."""
    summary, worst = result.summary, _worst(result)
    page = template("families.html.j2", escape=True, length_of=_length, angle_of=_angle, percent=_percent)
    return page.render(
        title=sentences.title(summary),
        verdict=sentences.verdict(summary),
        engine=summary["engine"],
        summary=summary,
        seed=summary["seed"],
        versions=summary["versions"],
        colors=COLORS,
        not_tried=sentences.not_tried_words(summary),
        tiles=_tiles(summary),
        by_family=_panel(result, "family", charts.by_family, "Wrong verdicts by family", ""),
        by_bound=_panel(result, "bound", charts.by_bound, "How near the causes come to their bounds", ""),
        causes=[_cause(result, row) for row in summary["causes"]],
        advice=advice(summary),
        rows=[_view(rank, case, links) for rank, case in enumerate(worst, 1)],
        scene=as_json(views(summary["calibrations"], worst)),
        command=_command(result),
        plotly=Markup(get_plotlyjs()),
    )


def _worst(result: FamiliesResult) -> list[Case]:
    causes = [next(cause for cause in Cause if cause.label == row["cause"]) for row in result.summary["causes"]]
    return worst_cases(result.tally.cases, causes)


def _tiles(summary: Record) -> list[dict[str, str]]:
    """The five numbers at the top."""
    total, open_ = summary["families"][-1], summary["unexplained"]
    known = open_["disagreements"] - open_["count"]
    return [
        {"label": "phantom hits", "value": f"{total['phantom']:,}", "color": "phantom"},
        {"label": "missed", "value": f"{total['missed']:,}", "color": "missed"},
        {"label": "wrong limb", "value": f"{total['wrong_limb']:,}", "color": "wrong-limb"},
        {"label": "without an answer", "value": f"{total['lost']:,}", "color": "lost"},
        {
            "label": f"of {open_['disagreements']:,} disagreements explained",
            "value": "all" if not open_["count"] else f"{known:,}",
            "color": "true",
        },
    ]


def _cause(result: FamiliesResult, row: Record) -> Record:
    """One cause with its words, its numbers and its figures."""
    summary = result.summary
    cause = next(cause for cause in Cause if cause.label == row["cause"])
    measured = sentences.facts(summary)
    known = {name: number_format.length(measured[name]) for name in measured}
    cases = telling_cases(result.tally.cases, cause)
    panels = [_cut_panel(summary, cause, case) for case in cases]
    present = [found["cause"] for found in summary["causes"]]
    for name, (causes, chart, title, caption) in CHARTS.items():
        home = next((c for c in causes if c.label in present), None)
        if home == cause and (panel := _panel(result, name, chart, title, caption)) is not None:
            panels.append(panel)
    return {
        **row,
        "name": cause.name.lower().replace("_", "-"),
        "text": EXPLAINED[cause].format(engine=summary["engine"], **known),
        "kinds": sentences.kinds_words(row["kinds"]),
        "worst": {kind: sentences.quantity(amount, kind) for kind, amount in row["worst"].items()},
        "bound": sentences.bound_words(row["nearest_to_bound"], cause),
        "changes": sentences.change_rows(row["interventions"]["changes"]),
        "panels": panels,
    }


def _panel(result: FamiliesResult, name: str, chart: Chart, title: str, caption: str) -> Panel | None:
    figure = chart(result)
    if figure is None:
        return None
    return Panel(name, title, caption.format(**_caption_facts(result)), as_json(bare(figure)))


def _caption_facts(result: FamiliesResult) -> dict[str, str]:
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


def _cut_panel(summary: Record, cause: Cause, case: Case) -> Panel:
    drawn = Drawn.of(case, summary["calibrations"])
    text = sentences.case_words(case)
    size = f", {sentences.amount_words(case)}" if abs(case.amount or 0.0) > 1e-9 * radius_of(case) else ""
    measured = sentences.measured_words(summary["engine"], case)
    name = f"{cause.name}-{case.kind}".lower().replace("_", "-").replace(" ", "-")
    return Panel(
        f"cut-{name}", f"{case.kind.capitalize()}{size}", f"{text} {measured}".strip(), as_json(bare(cut(drawn)))
    )


def _view(rank: int, case: Case, links: Sequence[tuple[str, str]]) -> Record:
    """One of the worst cases as the viewer and the table name it."""
    length = math.dist(case.start, case.end)
    file, script = links[rank - 1] if rank <= len(links) else ("", "")
    return {
        "rank": rank,
        "kind": case.kind,
        "cause": case.cause,
        "size": "" if case.amount is None else sentences.amount_words(case),
        "limb": case.cause,
        "text": sentences.case_words(case),
        "family": case.family,
        "after_true": _after(case.fraction_true, length),
        "after_engine": "no answer" if case.kind == "lost" else _after(case.fraction_engine, length),
        "file": file,
        "script": script,
    }


def _after(fraction: float | None, length: float) -> str:
    return "no hit" if fraction is None else f"{fraction * length:.6g} m"


def _command(result: FamiliesResult) -> str:
    """The command line that finds the same again."""
    families = [*result.tally.families, *(left["family"] for left in result.summary["not_tried"])]
    asked = ["all"] if len(families) == len(FAMILIES) else families
    wanted = [f"--families {family}" for family in asked]
    return " ".join(
        ["cylcollide crosscheck", *wanted, f"--rays {result.summary['asked']}", f"--seed {result.summary['seed']}"]
    )


def _length(millimetres: float | None) -> str:
    return number_format.length(math.nan if millimetres is None else millimetres / 1e3)


def _angle(degrees: float | None) -> str:
    return number_format.angle(math.nan if degrees is None else degrees)


def _percent(share: float) -> str:
    return number_format.percent(round(share * 1e9), 10**9)
