"""The page of a run: one HTML file that needs no network, no server and no other file to be looked at.

It shows the sections for which the run has data: a sweep over poses has figures of grazing hits, families have causes
and advice, a run with ``--engines`` a scoreboard.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from cylcollide.crosscheck import number_format
from cylcollide.crosscheck.cases.case import BULLET, Case
from cylcollide.crosscheck.cases.words import explained, headline, measured_words, quantity
from cylcollide.crosscheck.compare.disagreements import Cause
from cylcollide.crosscheck.records import JsonObject, texts
from cylcollide.crosscheck.report import charts, measures, sentences
from cylcollide.crosscheck.report.advice import advice
from cylcollide.crosscheck.report.case_choice import Drawn, clearest_cases, worst_cases, worst_in_turns
from cylcollide.crosscheck.report.chart_style import COLORS, Panel, as_json, template
from cylcollide.crosscheck.report.measures import facts, right_hits
from cylcollide.crosscheck.report.pictures import cut, views
from cylcollide.crosscheck.report.repro_scripts import write_case_files
from cylcollide.crosscheck.run.plan import PosesPlan
from cylcollide.crosscheck.run.run import Result

CHARTS = {
    "depth": charts.early_by_depth,
    "gap": charts.phantoms_by_gap,
    "scale": charts.phantoms_by_scale,
    "margin": charts.misses_by_margin,
    "construction": charts.by_construction,
    "calls": charts.answers_by_call,
}
"""Figures over the whole run that stand with a cause; their texts are in ``charts.toml``."""
FILTERS: dict[str, Callable[..., str]] = {
    "length_of": lambda millimetres: number_format.length(None if millimetres is None else millimetres / 1e3),
    "angle_of": number_format.angle,
    "percent": lambda share: number_format.percent(round(share * 1e9), 10**9),
    "fixed": number_format.fixed,
}


def write_page(result: Result, folder: Path) -> Path:
    """Write ``folder/index.html``, and its worst cases as files and scripts, and return its path.

    An engine but PyBullet has no scripts, and the page no links to them; the other files of a run are linked to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if linked := result.plan.blamed["engine"] == BULLET:
        write_case_files(_worst(result), folder)
    path = folder / "index.html"
    path.write_text(page_html(result, linked=linked), encoding="utf-8")
    return path


def page_html(result: Result, *, linked: bool = False) -> str:
    """Return the page as text; ``linked``: the worst cases have files and scripts."""
    summary, worst, posed, thing = result.summary, _worst(result), not result.plan.finds_causes, result.plan.thing
    by_family = Panel.of("family", "Wrong verdicts by family", "", charts.by_family(result))
    return template("page.html.j2", escape=True, **FILTERS).render(
        title=sentences.title(summary, thing),
        verdict=sentences.bullet_verdict(summary, right_hits(result.tally)) if posed else sentences.verdict(summary),
        engine=summary["engine"],
        summary=summary,
        thing=thing,
        posed=posed,
        colors=COLORS,
        not_tried=sentences.not_tried_words(summary),
        tiles=_tiles(summary, posed),
        by_family=[] if posed else _drawn([by_family]),
        by_bound=_drawn([Panel.of("bound", "How near the causes come to their bounds", "", charts.by_bound(result))]),
        panels=_bullet_panels(result) if posed else [],
        causes=_causes(result),
        advice=advice(summary),
        rows=[_view(result, rank, case, linked) for rank, case in enumerate(worst, 1)],
        scene=as_json(views(summary["calibrations"], worst)),
        command=" ".join(["cylcollide crosscheck", *result.plan.options]),
        plotly=Markup(get_plotlyjs()),
    )


def _worst(result: Result) -> list[Case]:
    if not result.plan.finds_causes:
        return worst_in_turns(result.tally.cases)
    return worst_cases(result.tally.cases, [_cause(row) for row in result.summary["causes"]])


def _cause(row: JsonObject) -> Cause:
    return next(cause for cause in Cause if cause.label == row["cause"])


def _drawn(panels: Sequence[Panel]) -> list[Panel]:
    """Those of the panels that have something to plot."""
    return [panel for panel in panels if panel.json]


def _tiles(summary: JsonObject, posed: bool) -> list[tuple[str, str, str]]:
    """The five numbers at the top: label, colour, value."""
    total, open_ = summary["families"][-1], summary["unexplained"]
    counts = {"phantom": "phantom hits", "missed": "missed", "wrong_limb": "wrong limb"}
    counts |= {} if posed else {"lost": "without an answer"}
    tiles = [(label, name.replace("_", "-"), f"{total[name]:,}") for name, label in counts.items()]
    if not posed:
        known = number_format.all_or(open_["disagreements"] - open_["count"], open_["disagreements"])
        return [*tiles, (f"of {open_['disagreements']:,} disagreements explained", "true", known)]
    median, _, most = map(FILTERS["length_of"], total["early_mm"])
    wrong, proved = total["disagreements"], total["proved"]
    said = f"all {wrong:,}" if proved == wrong > 0 else f"{proved:,} of {wrong:,}"
    early = f"early at worst, {median} in the median", "early", most
    return [*tiles, early, ("disagreements proved", "true", said)]


def _bullet_panels(result: Result) -> list[Panel]:
    """The figures of a sweep over poses with their titles and words."""
    hits, plots = right_hits(result.tally), charts.figures(result)
    distance = sentences.graze_words(hits.depth, abs(hits.error), number_format.length, "distance error")
    normal = sentences.graze_words(hits.depth, hits.tilt, number_format.angle, "normal's error")
    family, phantom = charts.by_family(result), sentences.phantom_words(result)
    return [
        Panel.of("distance", "Distance error of grazing hits", distance, plots["distance"]),
        Panel.of("normal", "Normal error of grazing hits", normal, plots["normal"]),
        Panel.of("family", "Wrong answers by family", sentences.family_words(result.summary), family),
        Panel.of("phantom", "Phantom hits by gap to the limb", phantom, plots["phantom"]),
        Panel.of("early", "How early the early hits are", sentences.early_words(result), plots["early"]),
    ]


def _causes(result: Result) -> list[JsonObject]:
    """Every cause with its words, its numbers and its figures."""
    summary, rows = result.summary, result.summary["causes"]
    found, measured = [_cause(row) for row in rows], facts(result.summary)
    said, words = _caption_facts(result) if rows else {}, texts("report/charts.toml")
    homes = {name: next((c for c in word["causes"] if Cause[c] in found), "") for name, word in words.items()}
    causes = []
    for cause, row in zip(found, rows, strict=True):
        mine = {name: word for name, word in words.items() if homes[name] == cause.name}
        panels = [_cut_panel(summary, cause, case) for case in clearest_cases(result.tally.cases, cause)]
        panels += _drawn(
            [Panel.of(n, w["title"], w["caption"].format(**said), CHARTS[n](result)) for n, w in mine.items()]
        )
        more = {
            "name": cause.name.lower().replace("_", "-"),
            "text": explained(cause, summary["engine"], measured),
            "kinds": sentences.kinds_words(row["kinds"]),
            "worst": {kind: quantity(amount, kind) for kind, amount in row["worst"].items()},
            "bound": sentences.bound_words(row["nearest_to_bound"], cause),
            "changes": sentences.change_rows(row["interventions"]["changes"]),
            "panels": panels,
        }
        causes.append(row | more)
    return causes


def _caption_facts(result: Result) -> dict[str, str]:
    """What captions say about the run."""
    summary, stop = result.summary, facts(result.summary)["stop"]
    radii = np.array([row["radius"] for row in summary["grazes"] if row["early"]])
    passed, earlier = measures.gaps(result.tally), measures.earlier_than_bound(result)
    beyond = int(np.sum(passed > stop * (1 + 1e-9)))
    return {
        "engine": summary["engine"],
        "earlier": "no hit is earlier" if not earlier else f"{number_format.counted(earlier, 'hit')} lie beyond it",
        "spread": ", ".join(family for family in measures.SPREAD if family in result.tally.families),
        "stop": number_format.length(stop),
        "arm": number_format.scale_words(measures.arm(radii)) if len(radii) else "",
        "beyond": f"None of {len(passed):,} lies" if not beyond else f"{beyond:,} of {len(passed):,} lie",
    }


def _cut_panel(summary: JsonObject, cause: Cause, case: Case) -> Panel:
    size = f", {sentences.amount_words(case)}" if abs(case.amount or 0.0) > 1e-9 * case.radius[case.limb] else ""
    caption = f"{sentences.case_words(case)} {measured_words(summary['engine'], case)}".strip()
    name = f"cut-{cause.name}-{case.kind}".lower().replace("_", "-").replace(" ", "-")
    return Panel.of(name, f"{case.kind.capitalize()}{size}", caption, cut(Drawn(case, summary["calibrations"])))


def _view(result: Result, rank: int, case: Case, linked: bool) -> JsonObject:
    """One of the worst cases as the viewer and the table name it."""
    plan, about = result.plan, case.limb_engine if case.limb_engine >= 0 else case.limb_true
    words = {"limb": case.cause, "text": sentences.case_words(case)}
    if isinstance(plan, PosesPlan):
        words = {"limb": case.name(about), "text": headline(case), "motion": plan.poses.motion[case.scene]}
        words["time"] = f"{plan.poses.time[case.scene]:.2f} s"
    hits = {
        side: "no hit" if fraction is None else f"{fraction * case.length:.7g} m"
        for side, fraction in (("after_true", case.fraction_true), ("after_engine", case.fraction_engine))
    }
    return {
        **{name: getattr(case, name) for name in ("kind", "cause", "family", "row")},
        **{"rank": rank, "size": "" if case.amount is None else sentences.amount_words(case)},
        **words,
        **hits,
        **({"after_engine": "no answer"} if case.kind == "lost" else {}),
        "file": f"cases/{rank:02d}.json" if linked else "",
        "script": f"repro/{rank:02d}.py" if linked else "",
    }
