"""The page of a run: one HTML file that needs no network, no server and no other file.

Its sentences are in ``templates/page.html.j2``. Beside it are the worst cases as files and as scripts, which show both
answers with only PyBullet and rational numbers. Bullet tests a ray against each body independently, so a script has
only the relevant limbs: the true one and the engine's.
"""

import gzip
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path

from plotly.offline import get_plotlyjs

from cylcollide.crosscheck.cases import wording
from cylcollide.crosscheck.cases.case import BULLET, Case, write_cases
from cylcollide.crosscheck.compare.disagreements import Cause, Kind
from cylcollide.crosscheck.generate.bullets import AIMED, BULLET_FAMILIES
from cylcollide.crosscheck.records import JsonObject
from cylcollide.crosscheck.report.chart_style import COLORS, as_json, bare, template
from cylcollide.crosscheck.report.drawn_case import Drawn, shown_cases, worst_cases
from cylcollide.crosscheck.report.figures import FIGURES, caption_facts, facts
from cylcollide.crosscheck.report.pictures import cut, view
from cylcollide.crosscheck.report.tables import distance_tables, limb_table, run_tables, score_tables
from cylcollide.crosscheck.run.plan import PosesPlan
from cylcollide.crosscheck.run.run import FinishedRun, wrong_count
from cylcollide.engines.bullet import MJCF, URDF, bodies
from cylcollide.process.files import write_text

MOST_CUTS = 2
"""Largest number of cases that are drawn with their cause."""


def write_page(result: FinishedRun, folder: Path) -> Path:
    """Write ``folder/index.html`` and the worst cases as files and scripts; return the page's path."""
    folder.mkdir(parents=True, exist_ok=True)
    write_case_files(_worst(result), folder)
    path = folder / "index.html"
    write_text(path, page_html(result))
    return path


def page_html(result: FinishedRun) -> str:
    """Return the page as text."""
    summary, worst, measured = result.summary, _worst(result), facts(result.summary)
    figures = _figures(result)
    causes = [_cause(result, row, figures) for row in summary["causes"]]
    changes = [row["interventions"]["changes"] for row in summary["causes"]]
    trials = [[sum(change[name] for change in of_cause) for name in ("failed", "held")] for of_cause in changes]
    posed = result.plan if isinstance(result.plan, PosesPlan) else None
    scored = [f"--engines {name}" for name in summary["engines"]]
    names = ("percent", "counted", "quantity", "kinds_words", "headline", "case_words")
    filters = {name: getattr(wording, name) for name in names}
    return template("page.html.j2", escape=True, **filters, metres=wording.length, number="{:,}".format).render(
        engine=summary["engine"],
        summary=summary,
        total=summary["families"][-1],
        wrong=wrong_count(summary["families"][-1]),
        thing=result.plan.thing,
        posed=not result.plan.finds_causes,
        aimed=next((row for row in summary["families"] if row["family"] == BULLET_FAMILIES[AIMED]), None),
        limbs=None if posed is None else limb_table(result.tally, posed),
        failed=[(place, counts[0], sum(counts)) for place, counts in enumerate(trials, 1) if counts[0]],
        colors=COLORS,
        tables=run_tables(summary, wide=True),
        scores=score_tables(summary["scoreboard"], wide=True) if len(summary["scoreboard"]) > 1 else [],
        distances=distance_tables(summary["distances"]),
        family_figure=[figures.pop("family")] if "family" in figures else [],
        bound_figure=[figures.pop("bound")] if "bound" in figures else [],
        figures=list(figures.values()),
        causes=causes,
        advice=wording.advice(summary, measured),
        rows=worst,
        poses=None if posed is None else posed.poses,
        scene=as_json([view(Drawn(case, summary["calibrations"])) for case in worst]),
        command=" ".join(["cylcollide crosscheck", *result.plan.options, *scored]),
        plotly=b64encode(gzip.compress(get_plotlyjs().encode(), mtime=0)).decode(),
    )


def _worst(result: FinishedRun) -> list[Case]:
    causes = [_code(row) for row in result.summary["causes"]]
    return worst_cases(result.tally.cases, causes, 20 if causes else 10)


def _code(row: JsonObject) -> Cause:
    return next(cause for cause in Cause if cause.label == row["cause"])


def _figures(result: FinishedRun) -> dict[str, JsonObject]:
    """The figures that have data, by name: title, caption and data."""
    said, drawn = caption_facts(result), {}
    for name, words in wording.TEXTS["figures"].items():
        figure = FIGURES[name](result)
        if figure is not None:
            caption = words["caption"].format(**said)
            drawn[name] = {"name": name, "title": words["title"], "caption": caption, "json": as_json(bare(figure))}
    return drawn


def _cause(result: FinishedRun, row: JsonObject, figures: dict[str, JsonObject]) -> JsonObject:
    """A cause with its words, cases and figures, which are removed from ``figures``."""
    summary, cause = result.summary, _code(row)
    mine = [n for n in figures if cause.name in wording.TEXTS["figures"][n].get("causes", ())]
    cuts = [_cut(summary, cause, case) for case in shown_cases(result.tally.cases, cause)[:MOST_CUTS]]
    return row | {
        "name": cause.name.lower().replace("_", "-"),
        "text": wording.explained(cause, summary["engine"], facts(summary)),
        # A margin beyond the limb's size is a length, even for normals.
        "bound_kind": Kind.LATE.label if cause == Cause.API_LIMIT else row["nearest_to_bound"]["kind"],
        "cuts": cuts,
        "panels": [figures.pop(name) for name in mine],
    }


def _cut(summary: JsonObject, cause: Cause, case: Case) -> JsonObject:
    shown = abs(case.amount or 0.0) > wording.TOUCHES * case.radius[case.limb]
    return {
        "name": f"cut-{cause.name}-{case.kind}".lower().replace("_", "-").replace(" ", "-"),
        "title": case.kind.capitalize()
        + (f", {wording.quantity(abs(case.amount or 0.0), case.kind)}" if shown else ""),
        "caption": f"{wording.case_words(case)} {wording.measured_words(summary['engine'], case)}".strip(),
        "json": as_json(bare(cut(Drawn(case, summary["calibrations"])))),
    }


NEIGHBOURS_MATTER = (Cause.BROAD_PHASE.label, Cause.API_LIMIT.label)
"""Causes in which limbs of neither answer may take part: scripts include all limbs."""


def write_case_files(cases: Sequence[Case], folder: Path) -> list[tuple[Path, Path]]:
    """Write ``folder/cases/01.json`` and ``folder/repro/01.py`` and on, and return the pair of each case.

    Files of an earlier run are removed. ValueError for a case of an engine for which there is no script.
    """
    sources = [repro_source(case) for case in cases]
    for room, suffix in (("cases", "json"), ("repro", "py")):
        (folder / room).mkdir(parents=True, exist_ok=True)
        for stale in (folder / room).glob(f"[0-9][0-9].{suffix}"):
            stale.unlink()
    written = [(folder / f"cases/{n:02d}.json", folder / f"repro/{n:02d}.py") for n in range(1, len(cases) + 1)]
    for case, source, (record, script) in zip(cases, sources, written, strict=True):
        write_cases(record, case)
        write_text(script, source)
    return written


def repro_source(case: Case) -> str:
    """The text of one script; every coordinate is written so that it reads back as the same float64.

    The segment is called a bullet if its cause was not sought. ValueError if the engine is not PyBullet, or a limb is
    spun, which no family does.
    """
    setup = case.setup
    if case.engine != BULLET:
        raise ValueError(f"engine: expected {BULLET!r}, for which there are scripts, got a case of {case.engine!r}")
    if setup.spin:
        raise ValueError(f"spin: expected 0, got {setup.spin}; a script cannot spin a limb about its axis")
    chosen = range(len(case.radius)) if case.cause in NEIGHBOURS_MATTER else case.about
    changed = setup.margin is not None or bool(setup.moved)
    found = f"Cause: {case.cause}. Case {case.address}." if case.cause else f"Bullet {case.row} of seed {case.seed}."
    headline = f"{wording.headline(case)} {found}"
    # The text that the engine's adapter writes into a file, as the inside of an f-string.
    xml = MJCF.format('type="cylinder" size="{radius!r} {0.5 * height!r}"')
    if setup.construction != "mjcf":
        xml = " ".join(URDF.format('<cylinder radius="{radius!r}" length="{height!r}"/>').split())
    call = {"rays": int(case.bound or 0), "arrays": case.measured == 0.0} if case.kind_code == Kind.LOST else None
    return template("repro.py.j2", escape=False).render(
        # Text that is valid between triple quotes.
        headline=headline.replace("\u00a0", " ").replace("\\", "/").replace('"', "'"),
        path="segment" if case.cause else "bullet",
        case=case,
        chosen=chosen,
        # As the engine's adapter builds them: an ulp of the height can move a hit by half a millimetre.
        bodies=bodies(case.limbs),
        setup=setup,
        xml=xml,
        plain=setup.construction == "geom" and not changed,
        refresh=setup.fresh or (changed and not setup.stale),
        normals=case.kind_code == Kind.NORMAL,
        call=call,
    )
